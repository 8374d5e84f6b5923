"""The form of a described position: the keys of `scenarios`, as in `tabletop_engine.described.forms`."""

from __future__ import annotations

from collections.abc import Callable

from evergreen_env.config import Config
from evergreen_env.scenarios import FACE_DOWN, limits
from evergreen_env.state import (
    CARD_NAMES,
    DECISION_NAMES,
    MAX_MARKET,
    NUM_CARDS,
    PIECE_NAMES,
    PLACE_NAMES,
    POWER_NAMES,
    SOURCE_NAMES,
    State,
)
from evergreen_env.words import places_in
from tabletop_engine.described import forms
from tabletop_engine.described.forms import Form


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches, on its planet."""
    players = int(state["players"])
    agents = Config(players).agents
    low_and_high = limits(players, int(state["rounds"]))
    spaces = [PLACE_NAMES[place] for place in places_in(state["outline"])]

    def number(key: str, none: bool = False) -> Form:
        return forms.number(*low_and_high[key], none)

    def by_agent(own: Callable[[str], Form]) -> Form:
        return forms.table({name: own(name) for name in agents})

    def beside(own: Form) -> Form:
        """A table of what each player has, with its place beside the player's pieces."""
        return by_agent(lambda name: forms.at(own, ("player", name)))

    def planet(name: str) -> Form:
        piece = forms.choice(PIECE_NAMES)
        on_spaces = {space: forms.at(piece, ("player", name), ("space", space)) for space in spaces}
        return forms.at(forms.table(on_spaces), ("player", name), ("planet", name))

    def levels(name: str) -> Form:
        level = number("levels")
        of_powers = {power: forms.at(level, ("player", name), ("power", power)) for power in POWER_NAMES}
        return forms.at(forms.table(of_powers), ("player", name))

    agent_or_none = forms.choice(agents, none=True)
    in_zone = [card + side for side in ("", FACE_DOWN) for card in CARD_NAMES]
    return forms.table(
        {
            "players": forms.fixed(players),
            "round": number("round"),
            "decision": forms.choice(DECISION_NAMES),
            "actor": agent_or_none,
            "forfeited": agent_or_none,
            "first_player": forms.choice(agents),
            "next_first": agent_or_none,
            "marked": number("marked", none=True),
            "market": forms.listing(forms.choice(CARD_NAMES, none=True), MAX_MARKET),
            "cards": beside(forms.choice(CARD_NAMES)),
            **dict.fromkeys(("deck", "discards", "collected"), forms.names(CARD_NAMES)),
            "zone": forms.listing(forms.choice(in_zone), NUM_CARDS),
            **{key: beside(number(key)) for key in ("points", "earned")},
            "scored": forms.table(dict.fromkeys(SOURCE_NAMES, by_agent(lambda _: number("scored")))),
            "levels": by_agent(levels),
            "planets": by_agent(planet),
            "shown": forms.table(
                {
                    "planets": by_agent(lambda _: forms.table(dict.fromkeys(spaces, forms.choice(PIECE_NAMES)))),
                    "levels": by_agent(lambda _: forms.table(dict.fromkeys(POWER_NAMES, number("levels")))),
                }
            ),
            "finished": forms.names(agents),
            "pending": forms.table(
                {
                    "action_open": forms.switch(),
                    "power_open": forms.switch(),
                    **{key: number(f"pending.{key}") for key in ("plants_left", "growths_left", "uses_left")},
                    "open_spaces": forms.names(PLACE_NAMES),
                }
            ),
            "random": number("random"),
        }
    )
