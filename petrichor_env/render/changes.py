"""What happened between two states of a game, in words: a comparison, whatever lay between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from petrichor_env.component_files import load_tables
from petrichor_env.render.decisions import WEATHER_WORDS, action_text
from petrichor_env.render.text import cards_text, dice_text, winds_card_text
from petrichor_env.state import CROP_NAMES, NOBODY, NUM_TILES, Cloud, Decision, Growing, State
from petrichor_env.words import owner_names, tile_name

__all__ = ["action_text", "changes"]


def changes(before: State, after: State, viewer: int | None = None, tables: np.ndarray | None = None) -> list[str]:
    """One sentence for each thing that differs in `after`: cards, clouds, drops, crops, votes, dice, points, rounds.

    Arguments:
        before, after: records of dtype STATE of the same game, such as before and after a step.
        viewer: seat that looks on: of cards that others take only the number is told. None tells everything.
        tables: (1,) TABLES that the game is played with; None for the shipped numbers.
    """
    t = (load_tables() if tables is None else tables)[0]
    return [
        *_cards(before, after, viewer),
        *_winds(before, after, t),
        *_passing(before, after),
        *_clouds(before, after),
        *_drops(before, after),
        *_growing(before, after),
        *_votes(before, after),
        *_scores(before, after),
        *_progress(before, after),
    ]


def _names(s: State) -> tuple[str, ...]:
    return owner_names(int(s["players"]))


def _place(s: State, tile: int) -> str:
    return tile_name(int(s["players"]), tile)


def _difference(before: State, after: State, field: str) -> np.ndarray:
    return after[field].astype(np.int64) - before[field]


# --- cards ----------------------------------------------------------------------------------------------------------


def _cards(before: State, after: State, viewer: int | None) -> Iterator[str]:
    if (after["deck"] > before["deck"]).any() or (after["discards"] < before["discards"]).any():
        yield "The discards are shuffled into a new deck."
    for seat in range(after["players"]):
        name = _names(after)[seat]
        hand = _difference(before, after, "hand")[seat]
        lost, gained = np.maximum(-hand, 0), np.maximum(hand, 0)
        if lost.any():
            yield f"{name} discards {cards_text(lost)}."
        if gained.any():
            verb = "keeps" if before["decision"] == Decision.DRAFT else "gets"
            yield f"{name} {verb} {_shown(gained, viewer in (None, seat))}."
        if (before["pack"][seat] == 0).all() and after["pack"][seat].any():
            yield f"{name} is dealt a pack of {_shown(after['pack'][seat], viewer in (None, seat))}."


def _shown(cards: np.ndarray, shown: bool) -> str:
    number = int(cards.sum())
    return cards_text(cards) if shown else f"{number} card{'' if number == 1 else 's'}"


def _winds(before: State, after: State, t: State) -> Iterator[str]:
    """The Southern Winds cards revealed since; the log starts anew with each turn of the player."""
    if before["winds_deck"].any() and (after["winds_deck"] > before["winds_deck"]).any():
        yield "Southern Winds card 9 came up: all nine cards are shuffled into a new deck."
    logged = int(before["winds_revealed"])
    for field in ("winds_card", "winds_roll", "winds_target"):
        if (before[field][:logged] != after[field][:logged]).any():
            logged = 0
    for i in range(min(logged, int(after["winds_revealed"])), after["winds_revealed"]):
        yield winds_card_text(after, t, i)


def _passing(before: State, after: State) -> Iterator[str]:
    if after["passed"] != before["passed"] and after["passed"] != NOBODY:
        yield f"{_names(after)[after['passed']]} has passed first."


# --- the Fields -----------------------------------------------------------------------------------------------------


def _clouds(before: State, after: State) -> Iterator[str]:
    names = _names(after)
    had, has = before["cloud"] != Cloud.NONE, after["cloud"] != Cloud.NONE
    came = {tile for tile in range(NUM_TILES) if has[tile] and not had[tile]}
    for tile in range(NUM_TILES):
        if had[tile] and not has[tile]:
            yield _gone_cloud(before, after, tile, came)
    for tile in sorted(came):
        kind = "light cloud" if after["cloud"][tile] == Cloud.LIGHT else "thundercloud"
        yield f"A new {kind} on {_place(after, tile)}: {_amounts(after['cloud_drops'][tile], names)}."
    for tile in range(NUM_TILES):
        if had[tile] and has[tile]:
            yield from _kept_cloud(before, after, tile)


def _gone_cloud(before: State, after: State, tile: int, came: set[int]) -> str:
    """Where a cloud went: on, into another one, onto the tile, or back to the supply. A move is taken out of `came`."""
    drops, place = before["cloud_drops"][tile], _place(after, tile)
    if not drops.any():
        return f"The empty cloud on {place} goes."
    for to in range(NUM_TILES):
        there = after["cloud_drops"][to]
        if to in came and (there == drops).all():
            came.remove(to)
            return f"The cloud on {place} moves to {_place(after, to)}."
        if (
            to != tile
            and before["cloud"][to]
            and after["cloud"][to]
            and (there == before["cloud_drops"][to] + drops).all()
        ):
            return f"The cloud on {place} moves to {_place(after, to)} and merges with the cloud there."
    fell = _difference(before, after, "drops")
    if (fell[tile] >= drops).all():
        return f"The cloud on {place} pours out: {_amounts(drops, _names(after))}."
    for to in range(NUM_TILES):
        gone_too = to != tile and before["cloud"][to] and not after["cloud"][to]
        if gone_too and (fell[to] >= drops + before["cloud_drops"][to]).all():
            return f"The cloud on {place} moves to {_place(after, to)} and merges; the cloud there overflows."
    return f"The cloud on {place} is gone."


def _kept_cloud(before: State, after: State, tile: int) -> Iterator[str]:
    place, names = _place(after, tile), _names(after)
    change = _difference(before, after, "cloud_drops")[tile]
    for seat in np.flatnonzero(change).tolist():
        verb = "gets" if change[seat] > 0 else "loses"
        now = after["cloud_drops"][tile, seat]
        yield f"The cloud on {place} {verb} {_number(abs(change[seat]))} of {names[seat]}, now {now}."
    if before["cloud"][tile] == Cloud.LIGHT and after["cloud"][tile] == Cloud.THUNDER:
        yield f"The cloud on {place} becomes a thundercloud."


def _drops(before: State, after: State) -> Iterator[str]:
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
        parts = []
        for seat in np.flatnonzero(change[tile]).tolist():
            verb = "gets" if change[tile, seat] > 0 else "loses"
            now = after["drops"][tile, seat]
            parts.append(f"{verb} {_number(abs(change[tile, seat]))} of {names[seat]}, now {now}")
        yield f"{_crop_on(after, tile)} {'; '.join(parts)}."


def _one_moved(change: np.ndarray) -> tuple[int, int, int] | None:
    """From, to and owner if exactly one drop went from one tile to another."""
    if np.abs(change).sum() != 2 or change.sum() != 0:
        return None
    (start, seat), (to, other) = np.argwhere(change < 0)[0], np.argwhere(change > 0)[0]
    return (int(start), int(to), int(seat)) if seat == other else None


def _growing(before: State, after: State) -> Iterator[str]:
    for tile in np.flatnonzero(before["growing"] != after["growing"]).tolist():
        crop, had, has = _crop_on(after, tile), before["growing"][tile], after["growing"][tile]
        if _is_harvested(before, after, tile):
            drops = _number(int(before["drops"][tile].sum()))
            yield f"{crop} is harvested; its {drops} go back to their owners."
        elif has == Growing.NONE:
            yield f"{crop} {'does not grow any more' if _may_have_had_harvest(before, after) else 'dries out'}."
        elif has == Growing.SPROUTING:
            yield f"{crop} sprouts."
        elif had == Growing.SPROUTING:
            yield f"{crop} develops."
        else:
            yield f"{crop} grows."


def _is_harvested(before: State, after: State, tile: int) -> bool:
    gone = before["growing"][tile] != Growing.NONE and not after["drops"][tile].any()
    return bool(gone and _may_have_had_harvest(before, after))


def _may_have_had_harvest(before: State, after: State) -> bool:
    return bool(after["harvested"] or before["round"] != after["round"] or after["decision"] == Decision.GAME_OVER)


def _crop_on(s: State, tile: int) -> str:
    return f"{CROP_NAMES[s['crop'][tile]].capitalize()} on {_place(s, tile)}"


def _amounts(drops: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(f"{_number(count)} of {names[seat]}" for seat, count in enumerate(drops) if count) or "nothing"


def _number(count: int) -> str:
    return f"{count} drop{'' if count == 1 else 's'}"


# --- the board ------------------------------------------------------------------------------------------------------


def _votes(before: State, after: State) -> Iterator[str]:
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
            yield f"{name} places {number} on {WEATHER_WORDS[kind]}, now {after['votes'][kind, seat]}."
        for kind in lost:
            number = "a vote" if own[kind] == -1 else f"{-own[kind]} votes"
            yield f"{name} gets {number} back from {WEATHER_WORDS[kind]}."


def _scores(before: State, after: State) -> Iterator[str]:
    names = _names(after)
    if (before["dice"] != after["dice"]).any():
        yield f"Harvest dice: {dice_text(before['dice'])} become {dice_text(after['dice'])}."
    points, wins, tokens = (_difference(before, after, field) for field in ("points", "voting_wins", "wheat_tokens"))
    for seat, name in enumerate(names):
        if wins[seat]:
            yield f"{name} advances to {after['voting_wins'][seat]} on the Voting Wins track."
        if tokens[seat]:
            number = "a Wheat token" if tokens[seat] == 1 else f"{tokens[seat]} Wheat tokens"
            yield f"{name} takes {number}, now {after['wheat_tokens'][seat]}."
        if points[seat]:
            number = "1 point" if points[seat] == 1 else f"{points[seat]} points"
            yield f"{name} scores {number}, now {after['points'][seat]}."


def _progress(before: State, after: State) -> Iterator[str]:
    names = _names(after)
    if before["first_player"] != after["first_player"]:
        yield f"{names[after['first_player']]} is now first player."
    new = (after["selected"] == 1) & (before["selected"] == 0)
    for kind in np.flatnonzero(new).tolist():
        yield f"{WEATHER_WORDS[kind]} is selected."
    if before["round"] != after["round"]:
        yield f"Round {after['round']} begins."
    if after["decision"] == Decision.GAME_OVER and before["decision"] != Decision.GAME_OVER:
        if after["forfeited"] != NOBODY:
            yield f"{names[after['forfeited']]} forfeits the game."
        yield "The game is over."
