"""The form of a described position: the keys of `scenarios`, as in `tabletop_engine.described.forms`."""

from __future__ import annotations

from collections.abc import Iterable

from petrichor_env.config import MODULES, Config
from petrichor_env.rules.setup import BASE_GAME, MODULE_OF_CROP
from petrichor_env.scenarios import DICE, DIE_SIDES, MODULE_OF_KEY, limits
from petrichor_env.state import (
    CROP_NAMES,
    DECISION_NAMES,
    NUM_FORECASTS,
    PHASE_NAMES,
    POWER_NAMES,
    SOURCE_NAMES,
    TIMING_NAMES,
    WEATHER_NAMES,
    WINDS_LOG,
    Module,
    State,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import CLOUD_NAMES, FACE_DOWN_NAME, FIELDS, GROWING_NAMES, owner_names, tile_name
from tabletop_engine.described import forms
from tabletop_engine.described.forms import Form
from tabletop_engine.described.scenarios import MOST


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches."""
    config = Config.of(state)
    low_and_high = limits(config)
    agents, owners = config.agents, owner_names(config.players)
    tiles = [tile_name(config.players, tile) for tile in FIELDS[config.players]]

    def number(key: str, none: bool = False) -> Form:
        return forms.number(*low_and_high[key], none)

    def counted(names: Iterable[str], high: int = MOST) -> Form:
        return forms.table({name: forms.number(0, high) for name in names})

    def owned(count: Form) -> Form:
        return forms.table({name: forms.at(count, ("owner", name)) for name in owners})

    def by_agent(own: Form) -> Form:
        return forms.table({name: forms.at(own, ("owner", name)) for name in agents})

    agent_or_none, weather_or_none = forms.choice(agents, none=True), forms.choice(WEATHER_NAMES, none=True)
    cards, drops, points = counted(WEATHER_NAMES), counted(owners), counted(owners, low_and_high["scored"][1])
    keys = {
        **_switches(config),
        "round": number("round"),
        "phase": forms.choice(PHASE_NAMES),
        "first_player": forms.choice(agents),
        "passed": agent_or_none,
        "turns": number("turns"),
        "last_turns": number("last_turns"),
        "harvested": forms.switch(),
        "forfeited": agent_or_none,
        "decision": forms.choice(DECISION_NAMES),
        "actor": agent_or_none,
        "field": forms.table({tile: forms.at(_tile(config, drops), ("tile", tile)) for tile in tiles}),
        "hands": by_agent(cards),
        "packs": by_agent(cards),
        "deck": cards,
        "discards": cards,
        "votes": forms.table({weather: forms.at(drops, ("weather", weather)) for weather in WEATHER_NAMES}),
        "dice": forms.listing(forms.choice(DIE_SIDES), DICE, shortest=DICE),
        "points": owned(number("points")),
        "scored": forms.table(dict.fromkeys(SOURCE_NAMES, points)),
        "voting_wins": owned(forms.number(0, MOST)),
        "wheat_tokens": owned(forms.number(0, MOST)),
        "controller": agent_or_none,
        "power": by_agent(forms.choice(POWER_NAMES)),
        "forecasts": by_agent(forms.listing(number("forecasts"), NUM_FORECASTS)),
        "forecasts_played": forms.listing(number("forecasts"), NUM_FORECASTS),
        "pending": forms.table(
            {
                "card": weather_or_none,
                "optional": forms.switch(),
                "cards_left": number("pending.cards_left"),
                "lowest_card": forms.choice(WEATHER_NAMES),
                "draft_step": number("pending.draft_step", none=True),
                "target": forms.choice((*tiles, *WEATHER_NAMES), none=True),
                "target_owner": forms.choice(owners, none=True),
                "selected": forms.names(WEATHER_NAMES),
                "weather": weather_or_none,
                "turn_index": number("pending.turn_index"),
                "forecast": number("pending.forecast"),
                "choices_left": number("pending.choices_left"),
                "timing": forms.choice(TIMING_NAMES),
                "timing_index": number("pending.timing_index"),
                "counts_clouds": forms.names(agents),
                "chosen_drops": drops,
                "scored_drops": forms.table(dict.fromkeys(tiles, drops)),
                "no_actions": forms.names(agents),
            }
        ),
        "southern_winds": forms.table(
            {
                "deck": forms.listing(number("southern_winds.deck"), RESHUFFLE),
                "revealed": forms.listing(
                    forms.table(
                        {
                            "card": number("southern_winds.revealed.card"),
                            "roll": number("southern_winds.revealed.roll", none=True),
                            "target": forms.choice(tiles, none=True),
                        }
                    ),
                    WINDS_LOG,
                ),
            }
        ),
        "random": number("random"),
    }
    left_out = {key for key, module in MODULE_OF_KEY.items() if MODULES[module] not in config.modules}
    left_out |= set() if config.solo else {"southern_winds"}
    return forms.table({key: value for key, value in keys.items() if key not in left_out})


def _switches(config: Config) -> dict[str, Form]:
    """The forms of the switches, with values as in `scenarios.described`."""
    return {
        **{key: forms.fixed(getattr(config, key)) for key in ("players", "rounds", "drafting")},
        **{key: forms.fixed(list(getattr(config, key))) for key in ("variants", "modules", "powers", "readings")},
    }


def _tile(config: Config, drops: Form) -> Form:
    there = {BASE_GAME, *(MODULES.index(name) for name in config.modules)}
    crops = [name for name, module in zip(CROP_NAMES, MODULE_OF_CROP.tolist(), strict=True) if module in there]
    if Module.FERTILIZER in there:
        crops.append(FACE_DOWN_NAME)
    return forms.table(
        {
            "crop": forms.choice(crops),
            "growing": forms.choice(GROWING_NAMES),
            "drops": drops,
            "cloud": forms.table({"kind": forms.choice(CLOUD_NAMES[1:]), "drops": drops}),
            "fertilizer": forms.switch(),
            "pod": forms.switch(),
            "blooms": forms.number(*limits(config)["field.blooms"]),
        }
    )
