"""Words that every game uses: counts, names, winners, pages of rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

_LONGEST = 330
"""The number of readable letters that fit into the last line of a picture."""
_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


class Section(NamedTuple):
    """A part of the rules of a game: a heading, and points of one or more sentences."""

    heading: str
    points: Iterable[str]


def rules_page(title: str, sections: Iterable[Section]) -> str:
    """The rules of a game as Markdown: a title, and a heading with a list for each section."""
    parts = (f"## {one.heading}\n" + "\n".join(f"- {point}" for point in one.points) for one in sections)
    return "\n\n".join([f"# {title}", *parts])


def plain_rules(text: str) -> str:
    """The rules of a game for a terminal: Markdown without its marks for headings and code."""
    lines = (line.lstrip("#").strip() if line.startswith("#") else line for line in text.split("\n"))
    return "\n".join(line for line in lines if line.strip() != "```")


def shown(text: str) -> str:
    """The text on one line, as anything can show it.

    What does not print, such as a control character or a byte of a path that is not UTF-8, is written as in a string of
    Python: `\\x1b`.
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def asked_of(question: str, name: str = "") -> str:
    """A question (`Words.question`) as a sentence without a full stop: to a reader, or with a name about that player.

    `to pay with a card` becomes "Pay with a card", or "player_0 is asked to pay with a card".
    """
    if name:
        return f"{name} is asked {question}"
    plain = question.removeprefix("to ")
    return f"You are asked {question}" if plain == question else plain[0].upper() + plain[1:]


def in_a_row(texts: Sequence[str]) -> str:
    """The texts of answers that are given one after another. Where two differ in one word, what is before it stays out.

    `plant a sprout on c1` and `plant a sprout on d2` become "plant a sprout on c1, d2".
    """
    parts: list[str] = []
    before: list[str] = []
    for text in texts:
        words = text.split(" ")
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(words, before, strict=False)))
        if words == before:
            same -= 2  # something has to be said once more
        alike = len(words) == len(before) and same > 1 and words[same + 1 :] == before[same + 1 :]
        parts.append(" ".join(words[same:] if alike else words))
        before = words
    return ", ".join(parts)


def counted(number: int | float, thing: str) -> str:
    """A number and a noun: `1 card`, `2 cards`, `1,000 games`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def spelled(number: int) -> str:
    """A number from two to six as a word, any other in figures."""
    return _WORDS.get(number, str(number))


def either(values: Sequence[object]) -> str:
    """Values joined by commas and "or": `2`, `2 or 3`, `2, 3, 4 or 5`."""
    *most, last = map(str, values)
    return " or ".join([", ".join(most), last] if most else [last])


def joined(values: Sequence[object]) -> str:
    """Values joined by commas: `3,0`."""
    return ",".join(map(str, values))


def win_text(winners: Sequence[str]) -> str:
    """The winners in words: `player_0 wins`, `player_0 and player_2 win`."""
    return f"{' and '.join(winners)} {'win' if len(winners) > 1 else 'wins'}"


def name_or_none(names: Sequence[str], index: int) -> str | None:
    """The name of that index; None for -1 and for other indices without a name, which occur in the middle of a step."""
    return names[index] if 0 <= index < len(names) else None


def player_names(players: int) -> tuple[str, ...]:
    """`player_0` and so on."""
    return tuple(f"player_{seat}" for seat in range(players))


def in_brief(sentences: Iterable[str], important: Sequence[str] = ()) -> str:
    """The sentences that fit into the last line of a picture. The first one, which tells the action, always stays.

    Sentences with one of the `important` words are left out last.
    """
    every = list(sentences)
    kept = list(every)
    for kind in (False, True):
        for one in reversed(every[1:]):
            if sum(map(len, kept)) + len(kept) > _LONGEST and any(word in one for word in important) == kind:
                kept.remove(one)
    return " ".join([*kept, "…"] if len(kept) < len(every) else kept)
