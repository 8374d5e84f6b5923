"""Each key of a description of a position, declared once: `scenarios` reads and writes it, `form` is its editor's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from evergreen_env.config import Config
from evergreen_env.drawing.decisions import ASKED
from evergreen_env.observation import LAYOUT
from evergreen_env.state import (
    BIOME_NAMES,
    CARD_NAMES,
    DECISION_NAMES,
    MAX_MARKET,
    MAX_PLAYERS,
    NO_CARD,
    NOBODY,
    NUM_BIOMES,
    NUM_CARDS,
    NUM_POWERS,
    PIECE_NAMES,
    PLACE_NAMES,
    PLACES,
    POWER_NAMES,
    SOURCE_NAMES,
    Decision,
    State,
)
from evergreen_env.words import PIECE_WORDS, PLANET_FIELDS, POWER_WORDS, SHOWN_FIELDS, cards_in, places_in
from tabletop_engine.described import forms
from tabletop_engine.described.fields import (
    By,
    Fixed,
    Key,
    Kind,
    Listed,
    Marked,
    Name,
    Number,
    Switch,
    Table,
    plain,
)
from tabletop_engine.described.forms import Form
from tabletop_engine.described.scenarios import MOST, choice
from tabletop_engine.drawing.svg import Place

FACE_DOWN = " (face down)"


def scope_of(config: Config, record: State) -> Any:
    """The names and numbers that the declarations refer to; the record has the rounds and the planet of the game."""
    places = places_in(record.outline)
    return SimpleNamespace(
        players=config.players,
        rounds=record.rounds,
        agents=config.agents,
        places=places,
        spaces=tuple(PLACE_NAMES[place] for place in places),
        state=plain(record),
    )


# --- Kinds of values of this game -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cards(Listed):
    """A set of cards."""

    def form(self, scope: Any) -> Form:
        return forms.names(CARD_NAMES)


@dataclass(frozen=True)
class _ZoneCard(Kind):
    """A card of the fertility zone, and whether it lies face down."""

    def read(self, value: Any, where: str, scope: Any) -> tuple[int, bool]:
        flipped = isinstance(value, str) and value.endswith(FACE_DOWN)
        return choice(value.removesuffix(FACE_DOWN) if flipped else value, where, CARD_NAMES), flipped

    def describe(self, value: tuple[int, bool], scope: Any) -> str:
        return CARD_NAMES[value[0]] + (FACE_DOWN if value[1] else "")

    def form(self, scope: Any) -> Form:
        return forms.choice([card + side for side in ("", FACE_DOWN) for card in CARD_NAMES])


# --- The keys ---------------------------------------------------------------------------------------------------------


def _at_piles(scope: Any) -> list[Place]:
    return [(("deck", str(int(scope.state.deck).bit_count())),)]


def _at_slots(scope: Any) -> list[Place]:
    empty = all(card == NO_CARD for card in scope.state.market)
    return [] if empty else [(("market", str(slot + 1)),) for slot in range(scope.players + 1)]


def _planets(fields: tuple[str, ...]) -> Callable[[Any], list[list[int]]]:
    """The Piece in each space of each player's planet, or -1, in a plain record."""

    def on_planets(s: Any) -> list[list[int]]:
        by_seat = zip(*(getattr(s, field) for field in fields), strict=True)
        return [
            [
                next((piece for piece, there in enumerate(sets) if there >> place & 1), -1)
                for place in places_in(s.outline)
            ]
            for sets in by_seat
        ]

    return on_planets


def _is_in_turn(s: Any) -> bool:
    """Whether there is something to say of a turn."""
    in_turn = s.decision not in (Decision.GAME_OVER, Decision.DRAFT)
    return bool(in_turn or s.action_open or s.power_open or s.open_spaces)


_NOBODY_OR = Name("agents", none=True)
_POINTS, _LEVEL = Number(0, LAYOUT.most("points"), usual=0), Number(0, MOST, usual=0)
_LEVELS = By(POWER_NAMES, _LEVEL, (NUM_POWERS,), sparse=True)
_PLANET = By(
    "spaces",
    Name(PIECE_NAMES, absent=True, labels=PIECE_WORDS),
    rows=lambda scope: range(len(scope.spaces)),
    sparse=True,
)
_BY_POWER, _BY_SOURCE = (MAX_PLAYERS, NUM_POWERS), (MAX_PLAYERS, len(SOURCE_NAMES))
_CARD_SET = _Cards(Name(CARD_NAMES), NUM_CARDS)
_QUESTIONS = [ASKED[decision].label for decision in Decision]

PENDING = Table(
    (
        Key("action_open", Switch(), words="The action can still be used"),
        Key("power_open", Switch(), words="The power can still be used"),
        Key("plants_left", Number(0, max(asked.left[0] for asked in ASKED.values())), words="Sprouts left to plant"),
        Key("growths_left", Number(0, max(asked.left[1] for asked in ASKED.values())), words="Growths left"),
        Key("uses_left", Number(0, MOST), words="Uses of the power left"),
        Key(
            "open_spaces",
            Marked(PLACE_NAMES, shape=(PLACES,)),
            value=lambda s: [s.open_spaces >> place & 1 for place in range(PLACES)],
            words="Where it can be used",
        ),
    )
)
SHOWN = Table(
    (
        Key("levels", By("agents", _LEVELS, _BY_POWER, sparse=True), field="shown_level"),
        Key("planets", By("agents", _PLANET), value=_planets(SHOWN_FIELDS)),
    )
)
KEYS = Table(
    (
        Key("players", Fixed(lambda scope: scope.players)),
        Key("round", Number(1, lambda scope: scope.rounds)),
        Key("decision", Name(DECISION_NAMES, labels=_QUESTIONS), words="The question"),
        Key("actor", _NOBODY_OR, words="Who is asked", follows=True),
        Key("forfeited", _NOBODY_OR, words="Who lost by an illegal action", when=lambda s: s.forfeited != NOBODY),
        Key("first_player", Name("agents")),
        Key("next_first", _NOBODY_OR, words="First player of the next round"),
        Key(
            "marked",
            Number(1, lambda scope: scope.players + 1, none=0),
            value=lambda s: s.marker + 1,
            words="Slot with the first player marker",
            follows=True,
        ),
        Key(
            "market",
            Listed(Name(CARD_NAMES, none=True), MAX_MARKET, places=_at_slots),
            value=lambda s: s.market[: s.players + 1] if s.decision == Decision.DRAFT else [],
        ),
        Key("cards", By("agents", Name(CARD_NAMES, absent=True), sparse=True), field="card", words="Card"),
        Key("deck", _CARD_SET, value=lambda s: cards_in(s.deck), words="Deck", follows=True, at=_at_piles),
        Key("discards", _CARD_SET, value=lambda s: cards_in(s.discards), words="Discards", at=_at_piles),
        Key(
            "collected",
            _CARD_SET,
            value=lambda s: cards_in(s.collected),
            words="Put aside until the season ends",
            at=_at_piles,
        ),
        Key(
            "zone",
            Listed(_ZoneCard(), NUM_CARDS),
            value=lambda s: [(card, bool(s.face_down >> card & 1)) for card in s.zone[: s.zone_size]],
            words="Fertility zone",
            at=lambda scope: [(("biome", biome),) for biome in BIOME_NAMES[:NUM_BIOMES]],
        ),
        Key("points", By("agents", _POINTS, at="player"), follows=True),
        Key(
            "earned",
            By("agents", _POINTS, (MAX_PLAYERS,), sparse=True, at="player"),
            words="Points that Buds brought in this round",
        ),
        Key(
            "scored",
            By(SOURCE_NAMES, By("agents", _POINTS, (MAX_PLAYERS,), sparse=True), _BY_SOURCE, axis=1, sparse=True),
            words="Points by source",
            follows=True,
        ),
        Key("levels", By("agents", _LEVELS, _BY_POWER, sparse=True), field="level"),
        Key("planets", By("agents", _PLANET), value=_planets(PLANET_FIELDS)),
        Key("shown", SHOWN, value=lambda s: s, words="What the others know", follows=True),
        Key("finished", Marked("agents", shape=(MAX_PLAYERS,)), words="Who has finished the turn"),
        Key("pending", PENDING, value=lambda s: s, words="What is left of the turn", follows=True, when=_is_in_turn),
        Key("random", Number(0, 2**64 - 1), field="rng", words="What chance will bring"),
    )
)


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches, on its planet."""
    scope = scope_of(Config(state.players), state)
    whole = KEYS.form(scope)
    cards, levels, planets = (whole["keys"][key]["keys"] for key in ("cards", "levels", "planets"))
    for name, held in zip(scope.agents, scope.state.card, strict=False):  # what a player has stands at its pieces
        player = ("player", name)
        card = ("card", "" if held == NO_CARD else CARD_NAMES[held])
        cards[name] = forms.at(forms.said(cards[name], f"Card of {name}", blank="none, or any"), player, card)
        levels[name] = forms.table(
            {
                power: forms.at(forms.said(level, f"Power {words} of {name}"), player, ("power", power))
                for (power, level), words in zip(levels[name]["keys"].items(), POWER_WORDS, strict=True)
            }
        )
        levels[name] = forms.at(levels[name], player)
        planets[name] = forms.table(
            {
                space: forms.at(
                    forms.said(piece, f"Space {space} of {name}", blank="nothing"), player, ("space", space)
                )
                for space, piece in planets[name]["keys"].items()
            }
        )
        planets[name] = forms.at(planets[name], player, ("planet", name))
    return forms.grouped(
        whole,
        ("Round and question", ("round", "first_player", "decision", "actor"), False),
        ("Market", ("market", "marked", "next_first"), False),
        ("More about the turn", ("pending", "finished"), True),
        ("Points by source", ("scored",), True),
        ("What the others know", ("shown",), True),
        ("Other", ("forfeited", "random"), True),
    )
