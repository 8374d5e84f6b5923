"""What happened between two states of a game, in words. Only the two states are compared.

One step can hold the weather, a Harvest and the beginning of a round. Points are stored by source, so they tell what
was harvested. Where the states leave open how something came about, only the present state is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from petrichor_env.actions import FORECAST
from petrichor_env.component_files import load_tables
from petrichor_env.config import VARIANTS
from petrichor_env.drawing.card_texts import forecast_cards_text, forecast_text, power_text
from petrichor_env.drawing.text import cards_seen, cards_text, cloud_words, dice_text, winds_card_text
from petrichor_env.rules.clouds import OVERFLOWS_AT
from petrichor_env.rules.fields import NEIGHBOURS
from petrichor_env.state import (
    CROP_NAMES,
    FACE_DOWN,
    NOBODY,
    NUM_TILES,
    PLAYED,
    SOURCE_NAMES,
    Cloud,
    Crop,
    Decision,
    Growing,
    Module,
    Phase,
    Power,
    State,
    Timing,
    Weather,
)
from petrichor_env.words import WEATHER_WORDS, owner_names, source_title, tile_name
from tabletop_engine.text.words import counted

_DROPS_ON_TILE = {1: 1, 2: 2}
"""Neutral drops that Southern Winds cards put on a tile, by the card."""
_NEUTRAL = 1
"""The neutral player's seat."""


def changes(before: State, after: State, viewer: int | None = None, tables: np.ndarray | None = None) -> list[str]:
    """One sentence for each thing that differs in `after`: cards, clouds, drops, crops, votes, dice, points, rounds.

    Arguments:
        before, after: records of dtype STATE of the same game, such as before and after a step.
        viewer: the seat that reads: of cards that others take, only the number is told. None tells everything.
        tables: (1,) TABLES that the game is played with; None for the shipped numbers.
    """
    t = (load_tables() if tables is None else tables)[0]
    earlier, later = _winds_revealed(before, after)
    cards = [*_dealt(before, after, viewer), *_powers(before, after), *_forecasts(before, after, viewer)]
    dice = [*_dice(before, after)]
    new_round = before.round != after.round
    return [
        *_discarded(before, after),
        *([] if new_round else cards),
        *_reshuffled_winds(before, after),
        *(winds_card_text(after, t, i) for i in earlier),
        *_passing(before, after),
        *_laying(before, after),
        *_clouds(before, after),
        *_drops(before, after),
        *_growing(before, after),
        *_harvested_somewhere(before, after),
        *_tokens(before, after),
        *_votes(before, after),
        *([] if new_round else dice),
        *_scores(before, after),
        *_progress(before, after),
        *([*dice, *cards] if new_round else []),
        *(winds_card_text(after, t, i) for i in later),
    ]


def _names(s: State) -> tuple[str, ...]:
    return owner_names(s.players)


def _place(s: State, tile: int) -> str:
    return tile_name(s.players, tile)


def _differ(before: State, after: State, *fields: str) -> bool:
    """Whether any of these fields differs. Most steps change a few, and telling of the others takes longer."""
    return any(before[field].tobytes() != after[field].tobytes() for field in fields)


def _difference(before: State, after: State, field: str) -> np.ndarray:
    return after[field].astype(np.int64) - before[field]


# --- cards ----------------------------------------------------------------------------------------------------------


def _discarded(before: State, after: State) -> Iterator[str]:
    if not _differ(before, after, "hand"):
        return
    for seat in range(after.players):
        lost = np.maximum(-_difference(before, after, "hand")[seat], 0)
        if lost.any():
            yield f"{_names(after)[seat]} discards {cards_text(lost)}."


def _dealt(before: State, after: State, viewer: int | None) -> Iterator[str]:
    if not _differ(before, after, "deck", "discards", "hand", "pack"):
        return
    dealt_first = (before.crop == FACE_DOWN).any()
    if not dealt_first and ((after.deck > before.deck).any() or (after.discards < before.discards).any()):
        yield "The discards are shuffled into a new deck."
    for seat in range(after.players):
        name = _names(after)[seat]
        gained = np.maximum(_difference(before, after, "hand")[seat], 0)
        if gained.any():
            verb = "keeps" if before.decision == Decision.DRAFT else "gets"
            yield f"{name} {verb} {cards_seen(gained, viewer in (None, seat))}."
        if (before.pack[seat] == 0).all() and after.pack[seat].any():
            yield f"{name} is dealt a pack of {cards_seen(after.pack[seat], viewer in (None, seat))}."


def _powers(before: State, after: State) -> Iterator[str]:
    for seat in np.flatnonzero(before.power != after.power):
        if after.power[seat] != Power.NONE:
            yield f"{_names(after)[seat]} has the {power_text(after.power[seat])}."


def _forecasts(before: State, after: State, viewer: int | None) -> Iterator[str]:
    """Cards dealt to others are hidden.

    Cards that are played, and the last one that is discarded with them, are open.
    """
    if not after.modules[Module.FORECASTS] or not _differ(before, after, "forecast_holder"):
        return
    had, has = before.forecast_holder, after.forecast_holder
    for seat in range(after.players):
        name = _names(after)[seat]
        dealt = (np.flatnonzero((has == seat) & (had != seat)) + 1).tolist()
        gone = (np.flatnonzero((has == PLAYED) & (had == seat)) + 1).tolist()
        if dealt:
            cards = forecast_cards_text(dealt) if viewer in (None, seat) else counted(len(dealt), "forecast card")
            yield f"{name} gets {cards}."
        played = _played(before, after, seat, gone)
        if played:
            rest = [number for number in gone if number != played]
            discarded = f" and discards {forecast_cards_text(rest)}" if rest else ""
            yield f"{name} plays {forecast_text(played)}{discarded}."
        elif gone:
            number = "one" if len(gone) == 2 else "two"
            yield f"{name} plays {number} of {forecast_cards_text(gone)} and discards the other."


def _played(before: State, after: State, seat: int, gone: list[int]) -> int:
    """Which of the cards that are gone was played rather than discarded; 0 if the states don't tell."""
    if len(gone) == 1:
        return gone[0]
    if after.forecast in gone:
        return after.forecast
    if before.actor != seat:
        return 0
    allowed = [number for number in gone if _was_legal(before, FORECAST + number - 1)]
    return allowed[0] if len(allowed) == 1 else 0


def _was_legal(s: State, action: int) -> bool:
    return bool(int(s.legal[action // 64]) >> action % 64 & 1)


def _reshuffled_winds(before: State, after: State) -> Iterator[str]:
    if before.winds_deck.any() and (after.winds_deck > before.winds_deck).any():
        yield "Southern Winds card 9 came up: all nine cards are shuffled into a new deck."


def _winds_revealed(before: State, after: State) -> tuple[range, range]:
    """Which of the log's Southern Winds cards were revealed since, before and after a new round has begun.

    The log starts anew with each turn of the player.
    """
    logged = before.winds_revealed
    for field in ("winds_card", "winds_roll", "winds_target"):
        if (before[field][:logged] != after[field][:logged]).any():
            logged = 0
    revealed = after.winds_revealed
    first = min(logged, revealed)
    a_turn = 2 if after.variants[VARIANTS.index("double_card")] else 1
    begun = max(first, revealed - a_turn) if before.round != after.round else revealed
    return range(first, begun), range(begun, revealed)


def _passing(before: State, after: State) -> Iterator[str]:
    if after.passed != before.passed and after.passed != NOBODY:
        yield f"{_names(after)[after.passed]} has passed first."


# --- the Fields -----------------------------------------------------------------------------------------------------


def _laying(before: State, after: State) -> Iterator[str]:
    for tile in np.flatnonzero(_difference(before, after, "fertilizer") > 0).tolist():
        yield f"A Fertilizer token is placed on {_place(after, tile)}."
    if (before.crop == FACE_DOWN).any() and not (after.crop == FACE_DOWN).any():
        yield "The tiles are turned face up."


def _clouds(before: State, after: State) -> Iterator[str]:
    if not _differ(before, after, "cloud", "cloud_drops"):
        return
    names = _names(after)
    had, has = before.cloud != Cloud.NONE, after.cloud != Cloud.NONE
    came = {tile for tile in range(NUM_TILES) if has[tile] and not had[tile]}
    for tile in range(NUM_TILES):
        if had[tile] and not has[tile]:
            yield _gone_cloud(before, after, tile, came)
    for tile in sorted(came):
        yield f"A new {cloud_words(after, tile)} on {_place(after, tile)}: {_amounts(after.cloud_drops[tile], names)}."
    for tile in range(NUM_TILES):
        if had[tile] and has[tile]:
            yield from _kept_cloud(before, after, tile)


def _gone_cloud(before: State, after: State, tile: int, came: set[int]) -> str:
    """Where a cloud went: to another tile, into another cloud, onto its tile, or back to the supply.

    A move leaves `came`.
    """
    drops, place = before.cloud_drops[tile], _place(after, tile)
    if not drops.any():
        return f"The empty cloud on {place} goes."
    fell = _difference(before, after, "drops")
    if (fell[tile] >= drops).all():
        return f"The cloud on {place} pours out: {_amounts(drops, _names(after))}."
    for to in range(NUM_TILES):
        there = after.cloud_drops[to]
        if to in came and (there == drops).all():
            came.remove(to)
            return f"The cloud on {place} moves to {_place(after, to)}."
        if to != tile and before.cloud[to] and after.cloud[to] and (there == before.cloud_drops[to] + drops).all():
            return f"The cloud on {place} moves to {_place(after, to)} and merges with the cloud there."
    for to in range(NUM_TILES):
        gone_too = to != tile and before.cloud[to] and not after.cloud[to]
        if gone_too and (fell[to] >= drops + before.cloud_drops[to]).all():
            return f"The cloud on {place} moves to {_place(after, to)} and merges; the cloud there overflows."
    if after.modules.any():
        return _gone_cloud_with_modules(before, after, tile, came)
    return f"The cloud on {place} is gone."


_MOST_ADDED = 3
"""The most drops that a cloud gets by the effect that moves it: three on the Lake, one by forecast card 10."""


def _gone_cloud_with_modules(before: State, after: State, tile: int, came: set[int]) -> str:
    """A cloud may also give its drops back, or get some as it moves: on the Lake, or by forecast card 10."""
    names, place = _names(after), _place(after, tile)
    drops = before.cloud_drops[tile].astype(np.int64)
    fell, back = _difference(before, after, "drops"), _difference(before, after, "supply")
    if _gives_back(before, tile) and (back >= drops).all():
        return f"The cloud on {place} pours out: {_amounts(drops, names)}, back to their owners."
    for to in range(NUM_TILES):
        if to == tile:
            continue
        moves, together = f"The cloud on {place} moves to {_place(after, to)}", drops + before.cloud_drops[to]
        if after.cloud[to]:
            added = after.cloud_drops[to] - together
            if (added < 0).any() or np.count_nonzero(added) != 1 or added.sum() > _MOST_ADDED:
                continue
            if to in came:
                came.remove(to)
                return f"{moves} and gets {_amounts(added, names)}."
            return f"{moves} and merges with the cloud there."
        if together.sum() + _MOST_ADDED < OVERFLOWS_AT:
            continue
        if (fell[to] >= together).all():
            return f"{moves} and overflows."
        if _gives_back(before, to) and (back >= together).all():
            return f"{moves} and overflows: {_amounts(together, names)}, back to their owners."
    return f"The cloud on {place} is gone."


def _gives_back(s: State, tile: int) -> bool:
    """Whether drops that land there go back to their owners: the Lake, a closed Snowdrop."""
    crop = s.crop[tile]
    return bool(crop == Crop.LAKE or (crop == Crop.SNOWDROP and not s.blooms[tile]))


def _kept_cloud(before: State, after: State, tile: int) -> Iterator[str]:
    place, names = _place(after, tile), _names(after)
    change = _difference(before, after, "cloud_drops")[tile]
    for seat in np.flatnonzero(change).tolist():
        now = after.cloud_drops[tile, seat]
        back = ", back to the owner" if change[seat] < 0 and _gives_back(before, tile) else ""
        yield f"The cloud on {place} {_gets(change[seat])} of {names[seat]}{back}, now {now}."
    if before.cloud[tile] == Cloud.LIGHT and after.cloud[tile] == Cloud.THUNDER:
        yield f"The cloud on {place} becomes a thundercloud."


def _drops(before: State, after: State) -> Iterator[str]:
    if not _differ(before, after, "drops"):
        return
    names = _names(after)
    change = _difference(before, after, "drops")
    moved = _one_moved(change)
    if moved is not None:
        start, to, seat = moved
        yield f"A drop of {names[seat]} moves from {_place(after, start)} to {_place(after, to)}."
        return
    for tile in np.flatnonzero(change.any(axis=1)).tolist():
        if _is_harvested(before, after, tile):
            continue
        if _may_be_harvested(before, after, tile):
            if not _difference(before, after, "scored")[:, after.crop[tile]].any():  # otherwise it is told as harvested
                yield f"{_crop_on(after, tile)} is empty now."
            continue
        kept = _keeper(before, change[tile])
        if kept != NOBODY:
            yield f"{names[kept]} keeps a drop on {_place(after, tile)}."
            continue
        lake = _lake_beside(before, tile)
        if lake is not None and change.sum() == -1 and np.abs(change).sum() == 1:
            seat = int(np.flatnonzero(change[tile])[0])
            landed = f"the Lake on {_place(after, lake)}, back to the owner"
            yield f"A drop of {names[seat]} moves from {_place(after, tile)} to {landed}."
            continue
        parts = (
            f"{_gets(change[tile, seat])} of {names[seat]}, now {after.drops[tile, seat]}"
            for seat in np.flatnonzero(change[tile])
        )
        yield f"{_crop_on(after, tile)} {'; '.join(parts)}."


def _one_moved(change: np.ndarray) -> tuple[int, int, int] | None:
    """From, to and owner if exactly one drop went from one tile to another."""
    if np.abs(change).sum() != 2 or change.sum() != 0:
        return None
    (start, seat), (to, other) = np.argwhere(change < 0)[0], np.argwhere(change > 0)[0]
    return (int(start), int(to), int(seat)) if seat == other else None


def _keeper(before: State, change: np.ndarray) -> int:
    """Who keeps a drop there with the Harvest power, or NOBODY."""
    if before.timing != Timing.SCORED or change.sum() != 1 or np.abs(change).sum() != 1:
        return NOBODY
    seat = int(np.flatnonzero(change)[0])
    return seat if before.power[seat] == Power.HARVEST else NOBODY


def _lake_beside(s: State, tile: int) -> int | None:
    """The Lake if a drop can have moved there from this tile: in Wind weather."""
    lakes = np.flatnonzero(s.crop == Crop.LAKE)
    if s.weather != Weather.WIND or not lakes.size or lakes[0] not in NEIGHBOURS[tile]:
        return None
    return int(lakes[0])


def _growing(before: State, after: State) -> Iterator[str]:
    if not _may_have_had_harvest(before, after) and not _differ(before, after, "growing"):
        return
    for tile in range(NUM_TILES):
        is_harvested = _is_harvested(before, after, tile)
        if before.growing[tile] == after.growing[tile] and not is_harvested:
            continue
        if not is_harvested and _may_be_harvested(before, after, tile):
            continue  # told with its drops
        crop, had, has = _crop_on(after, tile), before.growing[tile], after.growing[tile]
        if is_harvested:
            number = int(before.drops[tile].sum()) if before.phase == Phase.HARVEST else 0
            back = " goes back to its owner" if number == 1 else " go back to their owners"
            yield f"{crop} is harvested{f'; its {_number(number)}{back}' if number else ''}."
        elif has == Growing.NONE:
            yield f"{crop} {'does not grow any more' if _may_have_had_harvest(before, after) else 'dries out'}."
        elif has == Growing.SPROUTING:
            yield f"{crop} sprouts."
        elif has == Growing.DROWNED:
            yield f"{crop} drowns."
        elif had == Growing.SPROUTING:
            yield f"{crop} develops."
        else:
            yield f"{crop} grows."


def _harvested_somewhere(before: State, after: State) -> Iterator[str]:
    """Crops that scored, where the states don't tell on which tiles, or what these tiles looked like then."""
    scored = _difference(before, after, "scored")[:, : len(CROP_NAMES)]
    scored[:, Crop.PRIMROSE] = 0  # whoever controls it scores, without a Harvest
    for crop in np.flatnonzero(scored.any(axis=0)).tolist():
        tiles = np.flatnonzero(after.crop == crop).tolist()
        if any(after.growing[tile] or _is_harvested(before, after, tile) for tile in tiles):
            continue  # told with the tile, here or when it is cleared
        emptied = [_place(after, tile) for tile in tiles if _is_emptied(before, after, tile)]
        where = f" on {' or '.join(emptied)} or both" if len(emptied) == 2 else ""
        yield f"{CROP_NAMES[crop].capitalize()} is harvested{where}."


def _is_harvested(before: State, after: State, tile: int) -> bool:
    """Whether this tile was harvested for certain: its crop scored, and no other tile of the crop can have."""
    if not _is_emptied(before, after, tile):
        return False
    if after.scored_drops[tile].any() and not before.scored_drops[tile].any():
        return True
    crop = int(after.crop[tile])
    if not _difference(before, after, "scored")[:, crop].any():
        return bool(before.phase == Phase.HARVEST and before.growing[tile] != Growing.NONE)
    alike = [other for other in np.flatnonzero(after.crop == crop) if _is_emptied(before, after, int(other))]
    return len(alike) == 1 or bool(before.growing[tile] != Growing.NONE)


def _may_be_harvested(before: State, after: State, tile: int) -> bool:
    """Whether this tile may have been harvested: it is empty now, and there may have been a Harvest."""
    return _is_emptied(before, after, tile) and bool(
        before.growing[tile] != Growing.NONE or _difference(before, after, "scored")[:, : len(CROP_NAMES)].any()
    )


def _is_emptied(before: State, after: State, tile: int) -> bool:
    """Whether drops left a tile in a step that may have had a Harvest, apart from drops that a new round brings."""
    if not _may_have_had_harvest(before, after) or after.growing[tile] != Growing.NONE:
        return False
    there = after.drops[tile].astype(np.int64)
    for i in _winds_revealed(before, after)[1]:
        if after.winds_target[i] == tile and after.winds_card[i] in _DROPS_ON_TILE:
            there[_NEUTRAL] -= _DROPS_ON_TILE[int(after.winds_card[i])]
    if there.any():
        return False
    return bool(before.drops[tile].any() or before.growing[tile] or before.cloud[tile])


def _may_have_had_harvest(before: State, after: State) -> bool:
    over = after.decision == Decision.GAME_OVER and after.forfeited == NOBODY
    return bool(after.harvested or before.round != after.round or over)


def _tokens(before: State, after: State) -> Iterator[str]:
    """Pods, bloom tokens, and who controls the Primrose."""
    if before.controller != after.controller and after.controller != NOBODY:
        yield f"{_names(after)[after.controller]} takes control of the Primrose."
    pods = _difference(before, after, "pods")
    for tile in np.flatnonzero(pods > 0).tolist():
        yield f"A pod is placed on {_place(after, tile)}."
    if (pods < 0).any():
        yield f"Pods go back from {', '.join(_place(after, tile) for tile in np.flatnonzero(pods < 0).tolist())}."
    for tile in np.flatnonzero(before.blooms != after.blooms).tolist():
        blooms = int(after.blooms[tile])
        if after.crop[tile] == Crop.SNOWDROP:
            yield f"{_crop_on(after, tile)} {'opens' if blooms else 'closes'}."
        else:
            yield f"{_crop_on(after, tile)} has {counted(blooms, 'bloom')} now."


def _crop_on(s: State, tile: int) -> str:
    return f"{CROP_NAMES[s.crop[tile]].capitalize()} on {_place(s, tile)}"


def _amounts(drops: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(f"{_number(count)} of {names[seat]}" for seat, count in enumerate(drops) if count) or "nothing"


def _number(count: int) -> str:
    return counted(count, "drop")


def _gets(change: int) -> str:
    return f"{'gets' if change > 0 else 'loses'} {_number(abs(change))}"


# --- the board ------------------------------------------------------------------------------------------------------


def _votes(before: State, after: State) -> Iterator[str]:
    if not _differ(before, after, "votes"):
        return
    names, change = _names(after), _difference(before, after, "votes")
    supply = _difference(before, after, "vote_supply")
    for seat, name in enumerate(names):
        own = change[:, seat]
        lost, gained = np.flatnonzero(own < 0), np.flatnonzero(own > 0)
        if supply[seat] == 0 and len(lost) == 1 and len(gained) == 1 and own[gained[0]] == 1:
            yield f"{name} moves a vote from {WEATHER_WORDS[lost[0]]} to {WEATHER_WORDS[gained[0]]}."
            continue
        for kind in gained:
            number = "a vote" if own[kind] == 1 else f"{own[kind]} votes"
            yield f"{name} places {number} on {WEATHER_WORDS[kind]}, now {after.votes[kind, seat]}."
        for kind in lost:
            number = "a vote" if own[kind] == -1 else f"{-own[kind]} votes"
            yield f"{name} gets {number} back from {WEATHER_WORDS[kind]}."


def _dice(before: State, after: State) -> Iterator[str]:
    if (before.dice != after.dice).any():
        first = (before.crop == FACE_DOWN).any()
        yield f"Harvest dice: {'' if first else dice_text(before.dice) + ' become '}{dice_text(after.dice)}."


def _scores(before: State, after: State) -> Iterator[str]:
    if not _differ(before, after, "points", "voting_wins", "wheat_tokens"):
        return
    names = _names(after)
    points, wins, tokens = (_difference(before, after, field) for field in ("points", "voting_wins", "wheat_tokens"))
    for seat, name in enumerate(names):
        if wins[seat]:
            yield f"{name} advances to {after.voting_wins[seat]} on the Voting Wins track."
        if tokens[seat]:
            number = "a Wheat token" if tokens[seat] == 1 else f"{tokens[seat]} Wheat tokens"
            yield f"{name} takes {number}, now {after.wheat_tokens[seat]}."
        if points[seat]:
            scored = _difference(before, after, "scored")[seat]
            yield f"{name} scores {counted(points[seat], 'point')}{_sources(scored)}, now {after.points[seat]}."


def _sources(scored: np.ndarray) -> str:
    """` for Cotton`, ` (3 for Cotton, 5 for Voting Wins)`; nothing for a vote on a die, which was told before."""
    parts = [(source_title(name), count) for name, count in zip(SOURCE_NAMES, scored.tolist(), strict=True) if count]
    if len(parts) > 1:
        return f" ({', '.join(f'{count} for {name}' for name, count in parts)})"
    return f" for {parts[0][0]}" if scored[: len(CROP_NAMES)].any() else ""


def _progress(before: State, after: State) -> Iterator[str]:
    names = _names(after)
    if before.first_player != after.first_player:
        yield f"{names[after.first_player]} is now first player."
    new = (after.selected == 1) & (before.selected == 0)
    for kind in np.flatnonzero(new).tolist():
        yield f"{WEATHER_WORDS[kind]} is selected."
    if before.round != after.round:
        yield f"Round {after.round} begins."
    if after.decision == Decision.GAME_OVER and before.decision != Decision.GAME_OVER:
        if after.forfeited != NOBODY:
            yield f"{names[after.forfeited]} forfeits the game."
        yield "The game is over."
