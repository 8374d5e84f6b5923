"""The form of a described position: the keys of `scenarios`, as in `tabletop_engine.described.forms`."""

from __future__ import annotations

from collections.abc import Callable

from evergreen_env.config import Config
from evergreen_env.scenarios import FACE_DOWN, limits
from evergreen_env.state import (
    BIOME_NAMES,
    CARD_NAMES,
    DECISION_NAMES,
    MAX_MARKET,
    NO_CARD,
    NUM_BIOMES,
    NUM_CARDS,
    PIECE_NAMES,
    PLACE_NAMES,
    POWER_NAMES,
    SOURCE_NAMES,
    State,
)
from evergreen_env.words import PIECE_WORDS, POWER_WORDS, places_in
from tabletop_engine.described import forms
from tabletop_engine.described.forms import Form

_QUESTIONS = {
    "game_over": "none, the game is over",
    "draft": "which card to take",
    "turn": "how to use the card",
    "plant": "where to plant",
    "grow": "where to grow",
    "plant_and_grow": "where to plant or grow",
    "anywhere": "where to plant and grow, anywhere",
    "power": "where to use the power",
    "lake": "where the lake lets plants grow",
}
"""What the actor is asked, by the name of the decision, for people who set a position up."""


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches, on its planet."""
    players = int(state["players"])
    agents = Config(players).agents
    low_and_high = limits(players, int(state["rounds"]))
    spaces = [PLACE_NAMES[place] for place in places_in(state["outline"])]
    piles = ("deck", str(int(state["deck"]).bit_count()))

    def number(key: str, none: bool = False) -> Form:
        return forms.number(*low_and_high[key], none)

    def count(key: str, words: str | None = None) -> Form:
        return forms.said(forms.usual(number(key), 0), words)

    def by_agent(own: Callable[[str], Form]) -> Form:
        return forms.table({name: own(name) for name in agents})

    def beside(own: Form) -> Form:
        """A table of what each player has, with its place beside the player's pieces."""
        return by_agent(lambda name: forms.at(own, ("player", name)))

    def card(name: str) -> Form:
        held = int(state["card"][agents.index(name)])
        place = ("player", name), ("card", "" if held == NO_CARD else CARD_NAMES[held])
        return forms.at(forms.said(forms.choice(CARD_NAMES), f"Card of {name}", blank="none, or any"), *place)

    def planet(name: str) -> Form:
        on_spaces = {}
        for space in spaces:
            piece = forms.said(pieces, f"Space {space} of {name}", blank="nothing")
            on_spaces[space] = forms.at(piece, ("player", name), ("space", space))
        return forms.at(forms.table(on_spaces), ("player", name), ("planet", name))

    def levels(name: str) -> Form:
        of_powers = {}
        for power, words in zip(POWER_NAMES, POWER_WORDS, strict=True):
            level = count("levels", f"Power {words} of {name}")
            of_powers[power] = forms.at(level, ("player", name), ("power", power))
        return forms.at(forms.table(of_powers), ("player", name))

    agent_or_none = forms.choice(agents, none=True)
    pieces = forms.said(forms.choice(PIECE_NAMES), labels=PIECE_WORDS)
    in_zone = [card + side for side in ("", FACE_DOWN) for card in CARD_NAMES]
    cards = forms.names(CARD_NAMES)
    slots = [(("market", str(slot + 1)),) for slot in range(players + 1)]
    zone = forms.said(forms.listing(forms.choice(in_zone), NUM_CARDS), "Fertility zone")
    asked = forms.said(
        forms.choice(DECISION_NAMES), "The question", labels=[_QUESTIONS[name] for name in DECISION_NAMES]
    )
    form = forms.table(
        {
            "players": forms.fixed(players),
            "round": number("round"),
            "decision": asked,
            "actor": forms.following(forms.said(agent_or_none, "Who is asked")),
            "forfeited": forms.said(agent_or_none, "Who lost by an illegal action"),
            "first_player": forms.choice(agents),
            "next_first": forms.said(agent_or_none, "First player of the next round"),
            "marked": forms.following(forms.said(number("marked", none=True), "Slot with the first player marker")),
            "market": forms.listing(
                forms.choice(CARD_NAMES, none=True),
                MAX_MARKET,
                places=slots if (state["market"] != NO_CARD).any() else (),
            ),
            "cards": forms.said(by_agent(card), "Card"),
            "deck": forms.at(forms.following(forms.said(cards, "Deck")), piles),
            "discards": forms.at(forms.said(cards, "Discards"), piles),
            "collected": forms.at(forms.said(cards, "Put aside until the season ends"), piles),
            "zone": forms.also_at(zone, [(("biome", biome),) for biome in BIOME_NAMES[:NUM_BIOMES]]),
            "points": forms.following(beside(count("points"))),
            "earned": forms.said(beside(count("earned")), "Points that Buds brought in this round"),
            "scored": forms.following(
                forms.said(
                    forms.table(dict.fromkeys(SOURCE_NAMES, by_agent(lambda _: count("scored")))), "Points by source"
                )
            ),
            "levels": by_agent(levels),
            "planets": by_agent(planet),
            "shown": forms.following(
                forms.said(
                    forms.table(
                        {
                            "planets": by_agent(lambda _: forms.table(dict.fromkeys(spaces, pieces))),
                            "levels": by_agent(lambda _: forms.table(dict.fromkeys(POWER_NAMES, count("levels")))),
                        }
                    ),
                    "What the others know",
                )
            ),
            "finished": forms.said(forms.names(agents), "Who has finished the turn"),
            "pending": forms.following(
                forms.said(
                    forms.table(
                        {
                            "action_open": forms.said(forms.switch(), "The action can still be used"),
                            "power_open": forms.said(forms.switch(), "The power can still be used"),
                            "plants_left": forms.said(number("pending.plants_left"), "Sprouts left to plant"),
                            "growths_left": forms.said(number("pending.growths_left"), "Growths left"),
                            "uses_left": forms.said(number("pending.uses_left"), "Uses of the power left"),
                            "open_spaces": forms.said(forms.names(PLACE_NAMES), "Where it can be used"),
                        }
                    ),
                    "What is left of the turn",
                )
            ),
            "random": forms.said(number("random"), "What chance will bring"),
        }
    )
    return forms.grouped(
        form,
        ("Round and question", ("round", "first_player", "decision", "actor"), False),
        ("Market", ("market", "marked", "next_first"), False),
        ("More about the turn", ("pending", "finished"), True),
        ("Points by source", ("scored",), True),
        ("What the others know", ("shown",), True),
        ("Other", ("forfeited", "random"), True),
    )
