"""The form of a described position: the keys of `scenarios`, as in `tabletop_engine.described.forms`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from petrichor_env.config import MODULES, Config
from petrichor_env.rules.setup import BASE_GAME, MODULE_OF_CROP
from petrichor_env.scenarios import DICE, DIE_SIDES, MODULE_OF_KEY, limits
from petrichor_env.state import (
    CROP_NAMES,
    DECISION_NAMES,
    FACE_DOWN,
    HARVEST,
    NUM_FORECASTS,
    PHASE_NAMES,
    POWER_NAMES,
    SOURCE_NAMES,
    TIMING_NAMES,
    WEATHER_NAMES,
    WINDS_LOG,
    Crop,
    Module,
    State,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import (
    CLOUD_NAMES,
    FACE_DOWN_NAME,
    FIELDS,
    GROWING_NAMES,
    owner_names,
    source_title,
    tile_name,
)
from tabletop_engine.described import forms
from tabletop_engine.described.forms import Form
from tabletop_engine.described.scenarios import MOST

_QUESTIONS = {
    "game_over": "none, the game is over",
    "draft": "which card to keep",
    "setup_cloud": "where the first cloud goes",
    "turn": "the turn: a card, or to pass",
    "optional_action": "whether to play a second card",
    "pay": "what to pay with",
    "frost_tile": "where the new cloud goes",
    "sun_cloud": "which cloud the Sun is for",
    "wind_cloud": "which cloud the Wind moves",
    "wind_direction": "where the Wind moves it",
    "rain_drop": "which drop rains",
    "rain_second_drop": "which second drop rains",
    "take_drop": "where a drop comes from",
    "vote": "what to vote for",
    "move_vote": "which vote to move",
    "discard": "which card to discard",
    "choose_weather": "which of tied weathers comes",
    "sun_weather_cloud": "which cloud grows in the Sun weather",
    "wind_weather_drop": "which drop the Wind weather moves",
    "wind_weather_direction": "where the Wind weather moves it",
    "fertilizer_tile": "where a Fertilizer token goes",
    "frost_cloud": "which cloud gets the drops of a Frost action",
    "frost_power": "whether to use the Frost power",
    "wind_tile": "where the Wind power moves the cloud",
    "forecast": "whether to play a forecast card",
    "forecast_tile": "which tile the forecast card is for",
    "forecast_drop": "which drop the forecast card is for",
    "forecast_direction": "where the forecast card moves it",
    "forecast_vote": "which vote the forecast card is for",
    "pod_tile": "where a pod goes",
    "keep_drop": "where a drop is kept",
}
"""What the actor is asked, by the name of the decision, for people who set a position up."""
_PHASES = ("setup", "Action", "Weather", "Harvest", "Clean-up", "the end")
_TIMINGS = (
    *("the Action Phase", "the start of the Weather Phase", "the turn with the Sun", "before the Wind"),
    *("before the Rain", "before a Harvest", "after a tile was scored", "after a Harvest"),
)


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches."""
    config = Config.of(state)
    low_and_high = limits(config)
    agents, owners = config.agents, owner_names(config.players)
    tiles = [tile_name(config.players, tile) for tile in FIELDS[config.players]]

    def number(key: str, none: bool = False) -> Form:
        return forms.number(*low_and_high[key], none)

    def counted(names: Iterable[str], high: int = MOST) -> Form:
        return forms.table({name: forms.usual(forms.number(0, high), 0) for name in names})

    def owned(count: Form) -> Form:
        return forms.table({name: forms.at(forms.usual(count, 0), ("owner", name)) for name in owners})

    def by_agent(own: Form) -> Form:
        return forms.table({name: forms.at(own, ("owner", name)) for name in agents})

    def following(own: Form, words: str) -> Form:
        return forms.following(forms.said(own, words))

    agent_or_none, weather_or_none = forms.choice(agents, none=True), forms.choice(WEATHER_NAMES, none=True)
    cards, drops, points = counted(WEATHER_NAMES), counted(owners), counted(owners, low_and_high["scored"][1])
    stocks = ("deck", str(int(state["deck"].sum())))
    primrose = [tile_name(config.players, tile) for tile in np.flatnonzero(state["crop"] == Crop.PRIMROSE).tolist()]
    controller = following(agent_or_none, "Who controls the Primrose")
    rolled = [] if (state["crop"] == FACE_DOWN).any() else state["dice"].tolist()
    sides = ["harvest" if side == HARVEST else str(side) for side in rolled]
    side = forms.said(forms.choice(DIE_SIDES), labels=["1 vote", "2 votes", "3 votes", "4 votes", "Harvest"])
    dice = forms.said(forms.listing(side, DICE, shortest=DICE), "Harvest dice")
    weather = {name: forms.said(drops, f"Votes for {name.capitalize()}") for name in WEATHER_NAMES}
    keys = {
        **_switches(config),
        "round": number("round"),
        "phase": following(forms.said(forms.choice(PHASE_NAMES), labels=_PHASES), "Phase"),
        "first_player": forms.choice(agents),
        "passed": following(agent_or_none, "Who passed first"),
        "turns": following(number("turns"), "First turns that are over"),
        "last_turns": following(number("last_turns"), "Turns left after a pass"),
        "harvested": following(forms.switch(), "This round had its Harvest"),
        "forfeited": forms.said(agent_or_none, "Who lost by an illegal action"),
        "decision": forms.said(
            forms.choice(DECISION_NAMES), "The question", labels=[_QUESTIONS[name] for name in DECISION_NAMES]
        ),
        "actor": following(agent_or_none, "Who is asked"),
        "field": forms.table({tile: forms.at(_tile(config, tile, drops), ("tile", tile)) for tile in tiles}),
        "hands": forms.said(by_agent(cards), "Hand"),
        "packs": forms.said(
            by_agent(cards) if config.drafting else forms.table(dict.fromkeys(agents, cards)), "Cards to draft from"
        ),
        "deck": forms.at(following(cards, "Deck"), stocks),
        "discards": forms.at(forms.said(cards, "Discards"), stocks),
        "votes": forms.table({name: forms.at(votes, ("weather", name)) for name, votes in weather.items()}),
        "dice": forms.at(dice, ("dice", ",".join(sides))),
        "points": owned(number("points")),
        "scored": following(
            forms.table({name: forms.said(points, source_title(name)) for name in SOURCE_NAMES}), "Points by source"
        ),
        "voting_wins": owned(forms.number(0, MOST)),
        "wheat_tokens": owned(forms.number(0, MOST)),
        "controller": forms.at(controller, ("tile", primrose[0])) if primrose else controller,
        "power": by_agent(forms.choice(POWER_NAMES)),
        "forecasts": forms.said(by_agent(forms.listing(number("forecasts"), NUM_FORECASTS)), "Forecast cards"),
        "forecasts_played": following(
            forms.listing(number("forecasts"), NUM_FORECASTS), "Forecast cards out of the game"
        ),
        "pending": following(
            forms.table(
                {
                    "card": forms.said(weather_or_none, "The action"),
                    "optional": forms.said(forms.switch(), "It is the second action"),
                    "cards_left": forms.said(number("pending.cards_left"), "Cards still to pay"),
                    "lowest_card": forms.choice(WEATHER_NAMES),
                    "draft_step": forms.said(number("pending.draft_step", none=True), "Packs passed on"),
                    "target": forms.said(forms.choice((*tiles, *WEATHER_NAMES), none=True), "Chosen tile or weather"),
                    "target_owner": forms.said(forms.choice(owners, none=True), "Whose drop was chosen"),
                    "selected": forms.said(forms.names(WEATHER_NAMES), "Weather that is selected"),
                    "weather": forms.said(weather_or_none, "Weather that is resolved"),
                    "turn_index": forms.said(number("pending.turn_index"), "Players who are done"),
                    "forecast": forms.said(number("pending.forecast"), "Forecast card"),
                    "choices_left": forms.said(number("pending.choices_left"), "Choices left"),
                    "timing": forms.said(forms.choice(TIMING_NAMES), "Time in the round", labels=_TIMINGS),
                    "timing_index": forms.said(number("pending.timing_index"), "Players who are done then"),
                    "counts_clouds": forms.said(forms.names(agents), "Whose drops in clouds count"),
                    "chosen_drops": drops,
                    "scored_drops": forms.table(dict.fromkeys(tiles, drops)),
                    "no_actions": forms.said(forms.names(agents), "Who plays no more action cards"),
                }
            ),
            "What has been chosen so far",
        ),
        "southern_winds": forms.table(
            {
                "deck": following(
                    forms.listing(number("southern_winds.deck"), RESHUFFLE), "Cards in the deck, by number"
                ),
                "revealed": forms.listing(
                    forms.table(
                        {
                            "card": number("southern_winds.revealed.card"),
                            "roll": forms.said(number("southern_winds.revealed.roll", none=True), "Die"),
                            "target": forms.choice(tiles, none=True),
                        }
                    ),
                    WINDS_LOG,
                ),
            }
        ),
        "random": forms.said(number("random"), "What chance will bring"),
    }
    left_out = {key for key, module in MODULE_OF_KEY.items() if MODULES[module] not in config.modules}
    left_out |= set() if config.solo else {"southern_winds"}
    return forms.grouped(
        forms.table({key: value for key, value in keys.items() if key not in left_out}),
        ("Round and question", ("round", "first_player", "decision", "actor", "phase"), False),
        ("Southern Winds", ("southern_winds",), False),
        ("Passing and Harvest", ("passed", "turns", "last_turns", "harvested"), True),
        ("More about the question", ("pending",), True),
        ("Points and cards of before", ("scored", "forecasts_played"), True),
        ("Other", ("controller", *(() if config.drafting else ("packs",)), "forfeited", "random"), True),
    )


def _switches(config: Config) -> dict[str, Form]:
    """The forms of the switches, with values as in `scenarios.described`."""
    return {
        **{key: forms.fixed(getattr(config, key)) for key in ("players", "rounds", "drafting")},
        **{key: forms.fixed(list(getattr(config, key))) for key in ("variants", "modules", "powers", "readings")},
    }


def _tile(config: Config, tile: str, drops: Form) -> Form:
    there = {BASE_GAME, *(MODULES.index(name) for name in config.modules)}
    crops = [name for name, module in zip(CROP_NAMES, MODULE_OF_CROP.tolist(), strict=True) if module in there]
    if Module.FERTILIZER in there:
        crops.append(FACE_DOWN_NAME)
    kind = forms.said(forms.choice(CLOUD_NAMES[1:]), labels=("light cloud", "thundercloud"))
    keys = {
        "crop": forms.choice(crops),
        "drops": drops,
        "cloud": forms.table({"kind": forms.following(kind), "drops": drops}),
        "growing": forms.said(forms.following(forms.choice(GROWING_NAMES)), "Growing token"),
        "fertilizer": forms.said(forms.switch(), "Fertilizer token"),
        "pod": forms.switch(),
        "blooms": forms.said(forms.number(*limits(config)["field.blooms"]), "Bloom tokens"),
    }
    modules = {"fertilizer": Module.FERTILIZER, "pod": Module.FLOWER_TILES, "blooms": Module.FLOWER_TILES}
    used = {key: one for key, one in keys.items() if key not in modules or modules[key] in there}
    return forms.said(forms.table(used), f"Tile {tile}")
