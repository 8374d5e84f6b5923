"""Each key of a description of a position, declared once: `scenarios` reads and writes it, `form` is its editor's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from petrichor_env.config import MODULES, Config
from petrichor_env.drawing.decisions import ASKED
from petrichor_env.observation import LAYOUT
from petrichor_env.rules.drafting import PICKS
from petrichor_env.rules.setup import BASE_GAME, MODULE_OF_CROP
from petrichor_env.state import (
    BLANK,
    CROP_NAMES,
    DECISION_NAMES,
    FACE_DOWN,
    HARVEST,
    MAX_PLAYERS,
    NO_TILE,
    NOT_DRAFTING,
    NUM_FORECASTS,
    NUM_KINDS,
    NUM_TILES,
    PHASE_NAMES,
    PLAYED,
    POWER_NAMES,
    SOURCE_NAMES,
    TILE_NAMES,
    TIMING_NAMES,
    WEATHER_NAMES,
    WINDS_LOG,
    Crop,
    Decision,
    Module,
    Source,
    State,
)
from petrichor_env.tables import RESHUFFLE
from petrichor_env.words import (
    CLOUD_NAMES,
    FACE_DOWN_NAME,
    FIELDS,
    GROWING_NAMES,
    SOLO_NAMES,
    crop_name,
    owner_names,
    source_title,
    tile_name,
)
from tabletop_engine.checks import is_whole
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
    Records,
    Switch,
    Table,
    counts,
    out_of_range,
    plain,
)
from tabletop_engine.described.forms import Form
from tabletop_engine.described.invariants import Check
from tabletop_engine.described.scenarios import MOST, a_list, choice, wrong
from tabletop_engine.drawing.svg import Place
from tabletop_engine.text.words import name_or_none

DICE = 3
DIE_SIDES: tuple[int | str, ...] = (1, 2, 3, 4, "harvest")
MOST_POINTS = LAYOUT.most("points")
_PHASES = ("setup", "Action", "Weather", "Harvest", "Clean-up", "the end")
_TIMINGS = (
    *("the Action Phase", "the start of the Weather Phase", "the turn with the Sun", "before the Wind"),
    *("before the Rain", "before a Harvest", "after a tile was scored", "after a Harvest"),
)


def scope_of(config: Config, state: State | None = None) -> Any:
    """The names and numbers that the declarations refer to; `state` is the record that a form is for."""
    places = SOLO_NAMES if config.solo else {TILE_NAMES[tile]: tile for tile in FIELDS[config.players]}
    return SimpleNamespace(
        config=config,
        players=config.players,
        rounds=config.rounds,
        agents=config.agents,
        owners=owner_names(config.players),
        field=FIELDS[config.players],
        tiles=tuple(places),
        places=places,
        state=None if state is None else plain(state),
    )


# --- Kinds of values of this game -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TileName(Kind):
    """A position such as `b2`, in solo also `P4`; null is NO_TILE."""

    def read(self, value: Any, where: str, scope: Any) -> int:
        if value is None:
            return NO_TILE
        tiles = {TILE_NAMES[tile]: tile for tile in scope.field} | scope.places
        if isinstance(value, str) and value in tiles:
            return int(tiles[value])
        raise wrong(where, f"{value!r} is not a position of this field; allowed are {', '.join(scope.places)}")

    def describe(self, value: int, scope: Any) -> str | None:
        return None if value == NO_TILE else tile_name(scope.players, value)

    def form(self, scope: Any) -> Form:
        return forms.choice(scope.tiles, none=True)


@dataclass(frozen=True)
class _Target(Kind):
    """A position or a weather space, as a pair (`target_space`, `target`). What it can be depends on the decision."""

    def read(self, value: Any, where: str, scope: Any) -> Any:
        return value  # `scenarios` reads it when it knows the decision

    def describe(self, value: tuple[int, int], scope: Any) -> str | None:
        return name_or_none(WEATHER_NAMES, value[0]) or TileName().describe(value[1], scope)

    def form(self, scope: Any) -> Form:
        return forms.choice((*scope.tiles, *WEATHER_NAMES), none=True)


@dataclass(frozen=True)
class _Field(By):
    """The tiles of the field by position."""

    def read(self, value: Any, where: str, scope: Any) -> dict[int, dict[str, Any]]:
        if not isinstance(value, Mapping):
            raise wrong(where, f"{value!r} is not a table of tiles such as {{'b1': {{'crop': 'wheat'}}}}")
        given: dict[int, dict[str, Any]] = {}
        for name, tile in value.items():
            position = TileName().read(name, where, scope)
            if position == NO_TILE:
                raise wrong(where, "null is not a position")
            if position in given:
                raise wrong(f"{where}.{name}", "this position is given twice")
            if isinstance(tile, Mapping):  # null stands for what follows from the drops, and for no cloud
                tile = {key: tile[key] for key in tile if key not in ("growing", "cloud") or tile[key] is not None}
            given[position] = self.kind.read(tile, f"{where}.{tile_name(scope.players, position)}", scope)
        return given


@dataclass(frozen=True)
class _CropName(Kind):
    """The crop of a tile. The form has those of the modules that are played."""

    def read(self, value: Any, where: str, scope: Any) -> int:
        crop = choice(value, where, (*CROP_NAMES, FACE_DOWN_NAME))
        return crop if crop < len(CROP_NAMES) else FACE_DOWN

    def describe(self, value: int, scope: Any) -> str:
        return crop_name(value)

    def form(self, scope: Any) -> Form:
        there = {BASE_GAME, *(MODULES.index(name) for name in scope.config.modules)}
        crops = [name for name, module in zip(CROP_NAMES, MODULE_OF_CROP.tolist(), strict=True) if module in there]
        return forms.choice([*crops, FACE_DOWN_NAME] if Module.FERTILIZER in there else crops)

    def check(self, states: Records, field: str, scope: Any, depth: int = 1) -> Iterator[Check]:
        yield out_of_range(states, field, FACE_DOWN, len(Crop) - 1)


@dataclass(frozen=True)
class _Die(Kind):
    """What a Harvest die shows: 1 to 4 votes, or HARVEST."""

    def read(self, value: Any, where: str, scope: Any) -> int:
        if value == "harvest":
            return HARVEST
        if not is_whole(value) or value not in DIE_SIDES:
            raise wrong(where, f"{value!r}; a Harvest die shows 1, 2, 3, 4 or 'harvest'")
        return int(value)

    def describe(self, value: int, scope: Any) -> int | str:
        return "harvest" if value == HARVEST else value

    def form(self, scope: Any) -> Form:
        return forms.said(forms.choice(DIE_SIDES), labels=["1 vote", "2 votes", "3 votes", "4 votes", "Harvest"])


@dataclass(frozen=True)
class _Dice(Listed):
    """The three dice."""

    def read(self, value: Any, where: str, scope: Any) -> list[int]:
        if len(a_list(value, where, DICE)) != DICE:
            raise wrong(where, f"{list(value)!r}; there are {DICE} Harvest dice")
        return sorted(super().read(value, where, scope))


@dataclass(frozen=True)
class _WindsDeck(Listed):
    """The numbers of the cards in the deck, each once."""

    def read(self, value: Any, where: str, scope: Any) -> list[int]:
        numbers: list[int] = super().read(value, where, scope)
        if len(set(numbers)) != len(numbers):
            raise wrong(where, f"{list(value)!r} names a card twice; there is one of each of 1 to {RESHUFFLE}")
        return numbers


# --- The keys ---------------------------------------------------------------------------------------------------------


def _only_with(module: Module) -> Callable[[Any], str | None]:
    name = MODULES[module]
    return lambda scope: None if name in scope.config.modules else f"only with the module {name!r}"


def _only_in_solo(scope: Any) -> str | None:
    return None if scope.config.solo else f"only in solo (players 1), not with players {scope.players}"


def _at_stocks(scope: Any) -> list[Place]:
    return [(("deck", str(sum(scope.state.deck))),)]


def _at_dice(scope: Any) -> list[Place]:
    sides = [] if FACE_DOWN in scope.state.crop else [_Die().describe(side, scope) for side in scope.state.dice]
    return [(("dice", ",".join(map(str, sides))),)]


def _at_primrose(scope: Any) -> list[Place]:
    crops = scope.state.crop
    return [(("tile", tile_name(scope.players, crops.index(Crop.PRIMROSE))),)] if Crop.PRIMROSE in crops else []


def _tiles_of(s: Any) -> list[Any]:
    """The tiles of a plain record, with their fields."""
    fields = ("crop", "growing", "drops", "cloud", "cloud_drops", "fertilizer", "pods", "blooms")
    tiles = zip(*(getattr(s, field) for field in fields), strict=True)
    return [SimpleNamespace(**dict(zip(fields, tile, strict=True))) for tile in tiles]


def _numbers(cards: list[int], wanted: int) -> list[int]:
    """The numbers of the cards with this mark; cards are numbered from 1."""
    return [number for number, mark in enumerate(cards, 1) if mark == wanted]


def _revealed(s: Any) -> list[Any]:
    log = list(zip(s.winds_card, s.winds_roll, s.winds_target, strict=True))[: s.winds_revealed]
    return [SimpleNamespace(card=card, roll=roll, target=target) for card, roll, target in log]


_NOBODY_OR, _WEATHER_OR_NONE = Name("agents", none=True), Name(WEATHER_NAMES, none=True)
_CARDS, _DROPS = counts(WEATHER_NAMES, NUM_KINDS), counts("owners", MAX_PLAYERS)
_BY_HAND, _BY_TILE, _BY_SOURCE = (MAX_PLAYERS, NUM_KINDS), (NUM_TILES, MAX_PLAYERS), (MAX_PLAYERS, len(Source))
_OWN = counts("owners", MAX_PLAYERS, full=True, at="owner")
_POINTS = counts("owners", MAX_PLAYERS, MOST_POINTS, full=True, at="owner")
_SCORED = counts("owners", MAX_PLAYERS, MOST_POINTS)
_FORECASTS = Listed(Number(1, NUM_FORECASTS), NUM_FORECASTS)
_CLOUD_KIND = Name(CLOUD_NAMES[1:], labels=("light cloud", "thundercloud"))
_QUESTIONS = [ASKED[decision].label for decision in Decision]

_CLOUD = Table(
    (
        Key("kind", _CLOUD_KIND, value=lambda tile: tile.cloud - 1, follows=True),
        Key("drops", _DROPS, value=lambda tile: tile.cloud_drops),
    )
)
TILE = Table(
    (
        Key("crop", _CropName()),
        Key("growing", Name(GROWING_NAMES), words="Growing token", follows=True),
        Key("drops", _DROPS),
        Key("cloud", _CLOUD, value=lambda tile: tile if tile.cloud else None),
        Key("fertilizer", Switch(), words="Fertilizer token", refused=_only_with(Module.FERTILIZER)),
        Key("pod", Switch(), field="pods", refused=_only_with(Module.FLOWER_TILES)),
        Key("blooms", Number(0, MOST), words="Bloom tokens", refused=_only_with(Module.FLOWER_TILES)),
    ),
    blank=SimpleNamespace(crop=None, growing=0, drops=[0] * MAX_PLAYERS, cloud=0, fertilizer=0, pods=0, blooms=0),
)
PENDING = Table(
    (
        Key("card", _WEATHER_OR_NONE, words="The action"),
        Key("optional", Switch(), words="It is the second action"),
        Key("cards_left", Number(0, 12), words="Cards still to pay"),
        Key("lowest_card", Name(WEATHER_NAMES)),
        Key("target", _Target(), value=lambda s: (s.target_space, s.target), words="Chosen tile or weather"),
        Key("target_owner", Name("owners", none=True), words="Whose drop was chosen"),
        Key("selected", Marked(WEATHER_NAMES, shape=(NUM_KINDS,)), words="Weather that is selected"),
        Key("weather", _WEATHER_OR_NONE, words="Weather that is resolved"),
        Key(
            "turn_index",
            Number(0, lambda scope: 2 * scope.players),
            value=lambda s: s.turn_index + s.pod_turns,  # pods come after every player's turn with the Wind
            words="Players who are done",
        ),
        Key("draft_step", Number(0, len(PICKS) - 1, none=NOT_DRAFTING), words="Packs passed on"),
        Key("forecast", Number(0, NUM_FORECASTS), words="Forecast card"),
        Key("choices_left", Number(0, max(asked.choices for asked in ASKED.values())), words="Choices left"),
        Key("timing", Name(TIMING_NAMES, labels=_TIMINGS), words="Time in the round"),
        Key("timing_index", Number(0, lambda scope: 2 * scope.players), words="Players who are done then"),
        Key("counts_clouds", Marked("agents", shape=(MAX_PLAYERS,)), words="Whose drops in clouds count"),
        Key("no_actions", Marked("agents", shape=(MAX_PLAYERS,)), words="Who plays no more action cards"),
        Key("chosen_drops", _DROPS),
        Key("scored_drops", By("tiles", _DROPS, _BY_TILE, rows=lambda scope: scope.field, sparse=True)),
    ),
    blank=plain(BLANK[0]),
)
_REVEALED = Table(
    (
        Key("card", Number(1, RESHUFFLE - 1)),
        Key("roll", Number(1, 6, none=0), words="Die"),
        Key("target", TileName()),
    )
)
_WINDS = Table(
    (
        Key(
            "deck",
            _WindsDeck(Number(1, RESHUFFLE), RESHUFFLE),
            value=lambda s: _numbers(s.winds_deck, 1),
            words="Cards in the deck, by number",
            follows=True,
        ),
        Key("revealed", Listed(_REVEALED, WINDS_LOG), value=_revealed),
    )
)
KEYS = Table(
    (
        Key("players", Fixed(lambda scope: scope.players)),
        Key("rounds", Fixed(lambda scope: scope.rounds)),
        Key("drafting", Fixed(lambda scope: scope.config.drafting)),
        Key("variants", Fixed(lambda scope: list(scope.config.variants))),
        Key("modules", Fixed(lambda scope: list(scope.config.modules)), when=lambda s: any(s.modules)),
        Key("powers", Fixed(lambda scope: list(scope.config.powers)), when=lambda s: any(s.chosen_power)),
        Key("readings", Fixed(lambda scope: list(scope.config.readings)), when=lambda s: any(s.readings)),
        Key("round", Number(1, lambda scope: scope.rounds)),
        Key("phase", Name(PHASE_NAMES, labels=_PHASES), words="Phase", follows=True),
        Key("first_player", Name("agents")),
        Key("passed", _NOBODY_OR, words="Who passed first", follows=True),
        Key("turns", Number(0, lambda scope: scope.players), words="First turns that are over", follows=True),
        Key("last_turns", Number(0, lambda scope: scope.players - 1), words="Turns left after a pass", follows=True),
        Key("harvested", Switch(), words="This round had its Harvest", follows=True),
        Key("forfeited", _NOBODY_OR, words="Who lost by an illegal action"),
        Key("decision", Name(DECISION_NAMES, labels=_QUESTIONS), words="The question"),
        Key("actor", _NOBODY_OR, words="Who is asked", follows=True),
        Key(
            "field",
            _Field("tiles", TILE, rows=lambda scope: scope.field, at="tile", words=lambda tile: f"Tile {tile}"),
            value=_tiles_of,
        ),
        Key("hands", By("agents", _CARDS, _BY_HAND, at="owner"), field="hand", words="Hand"),
        Key(
            "packs",
            By("agents", _CARDS, _BY_HAND, at=lambda scope: "owner" if scope.config.drafting else None),
            field="pack",
            words="Cards to draft from",
        ),
        Key("deck", _CARDS, words="Deck", follows=True, at=_at_stocks),
        Key("discards", _CARDS, words="Discards", at=_at_stocks),
        Key(
            "votes",
            By(
                WEATHER_NAMES,
                _DROPS,
                (NUM_KINDS, MAX_PLAYERS),
                at="weather",
                words=lambda name: f"Votes for {name.capitalize()}",
            ),
        ),
        Key("dice", _Dice(_Die(), DICE, shortest=DICE), words="Harvest dice", at=_at_dice),
        Key("points", _POINTS),
        Key(
            "scored",
            By(SOURCE_NAMES, _SCORED, _BY_SOURCE, axis=1, sparse=True, words=source_title),
            words="Points by source",
            follows=True,
        ),
        Key("voting_wins", _OWN),
        Key("wheat_tokens", _OWN),
        Key(
            "controller",
            _NOBODY_OR,
            words="Who controls the Primrose",
            follows=True,
            at=_at_primrose,
            refused=_only_with(Module.FLOWER_TILES),
        ),
        Key("power", By("agents", Name(POWER_NAMES), at="owner"), refused=_only_with(Module.POWERS)),
        Key(
            "forecasts",
            By("agents", _FORECASTS, at="owner"),
            value=lambda s: [_numbers(s.forecast_holder, seat) for seat in range(s.players)],
            words="Forecast cards",
            refused=_only_with(Module.FORECASTS),
        ),
        Key(
            "forecasts_played",
            _FORECASTS,
            value=lambda s: _numbers(s.forecast_holder, PLAYED),
            words="Forecast cards out of the game",
            follows=True,
            refused=_only_with(Module.FORECASTS),
        ),
        Key("pending", PENDING, value=lambda s: s, words="What has been chosen so far", follows=True),
        Key("southern_winds", _WINDS, value=lambda s: s, refused=_only_in_solo),
        Key("random", Number(0, 2**64 - 1), field="rng", words="What chance will bring"),
    )
)


def form(state: State) -> Form:
    """The form of a description of a game with this record's switches."""
    config = Config.of(state)
    return forms.grouped(
        KEYS.form(scope_of(config, state)),
        ("Round and question", ("round", "first_player", "decision", "actor", "phase"), False),
        ("Southern Winds", ("southern_winds",), False),
        ("Passing and Harvest", ("passed", "turns", "last_turns", "harvested"), True),
        ("More about the question", ("pending",), True),
        ("Points and cards of before", ("scored", "forecasts_played"), True),
        ("Other", ("controller", *(() if config.drafting else ("packs",)), "forfeited", "random"), True),
    )
