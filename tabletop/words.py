"""Words that every game has: counts, names, who won, and what a position says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST = 330
"""How many letters the last line of a picture has room for that can be read."""


@dataclass(frozen=True)
class Facts:
    """What stands above a game, as far as its viewer may know it."""

    phase: str  # the part of the round, such as "action phase"; empty in a game without phases
    asked: str  # a sentence: who is asked what, or how the game ended
    actor: int  # the seat that is asked; NOBODY where that is hidden, and at the end


@dataclass(frozen=True)
class Lesson:
    """What somebody who plays for the first time is told, of a decision or before the game."""

    title: str
    text: tuple[str, ...] = ()  # paragraphs
    section: str = ""  # the rulebook's heading under which more is said


def paragraphs(*groups: Sequence[str]) -> tuple[str, ...]:
    """Sentences, each group as a paragraph; empty ones are left out."""
    joined_ones = (" ".join(sentence for sentence in group if sentence) for group in groups)
    return tuple(one for one in joined_ones if one)


def counted(number: int, thing: str) -> str:
    """`1 card`, `2 cards`, `1,000 games`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def either(values: Sequence[object]) -> str:
    """`2`, `2 or 3`, `2, 3, 4 or 5`."""
    *most, last = map(str, values)
    return " or ".join([", ".join(most), last] if most else [last])


def joined(values: Sequence[object]) -> str:
    """`3,0`."""
    return ",".join(map(str, values))


def win_text(winners: Sequence[str]) -> str:
    """`player_0 wins`, `player_0 and player_2 win`."""
    return f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}"


def name_or_none(names: Sequence[str], index: int) -> str | None:
    """The name of that index, None for one that names nothing: -1, and what stands in the middle of a step."""
    return names[index] if 0 <= index < len(names) else None


def player_names(players: int) -> tuple[str, ...]:
    """`player_0` and so on."""
    return tuple(f"player_{seat}" for seat in range(players))


def in_brief(sentences: Iterable[str], important: Sequence[str] = (), longest: int = _LONGEST) -> str:
    """The sentences as far as there is room, `longest` letters. The first one, what was done, stays.

    Those with one of the `important` words are left out last.
    """
    told = list(sentences)
    kept = list(told)
    for kind in (False, True):
        for one in reversed(told[1:]):
            if sum(map(len, kept)) + len(kept) > longest and any(word in one for word in important) == kind:
                kept.remove(one)
    return " ".join([*kept, "…"] if len(kept) < len(told) else kept)
