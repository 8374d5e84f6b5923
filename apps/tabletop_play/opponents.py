"""What players are called for people: by the names that they gave, and agents by the names of their levels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tabletop_agents.levels import LEVELS

YOU = "You"
LEVEL_NAMES = ("Ada", "Ben", "Cara", "Dan", "Edda", "Finn", "Gwen", "Hugo")
"""The names of the levels, the weakest first. They are in alphabetical order, so that one can tell who is stronger."""
_IRREGULAR = {"": "", " is": " are", " has": " have", " was": " were", " does": " do", " goes": " go"}
_LEVEL = re.compile("level-([1-9][0-9]*)")


def level_of(agent: str) -> int | None:
    """The level of an agent of this name, from 1; None for an agent that is none."""
    found = _LEVEL.fullmatch(agent)
    number = int(found[1]) if found else 0
    return number if 1 <= number <= LEVELS else None


def called(agents: Sequence[str | None], given: Mapping[int, str], own: int | None = None) -> tuple[str, ...]:
    """What the players are called, by seat; all differ.

    Arguments:
        agents: the agents' names by seat, None for a person.
        given: the names that people gave, by their seats.
        own: the seat of who reads it, "You" without a name; None if there is none.
    """
    names: list[str] = []
    for seat, name in enumerate(agents):
        if name is None:
            names.append(given.get(seat) or (YOU if seat == own else f"Player {seat + 1}"))
            continue
        level = level_of(name)
        base = name if level is None else LEVEL_NAMES[level - 1]
        among = [base, *(f"{base} {number}" for number in range(2, len(agents) + 2))]
        names.append(next(one for one in among if one not in names))
    return tuple(names)


def in_names(text: str, seats: Sequence[str], names: Sequence[str]) -> str:
    """A text with these names in place of the seats' own, such as `player_0`; whoever is "You" is spoken to."""
    if not any(seat in text for seat in seats):
        return text
    by_seat = dict(zip(seats, names, strict=True))

    def said(found: re.Match[str]) -> str:
        of, seat, whose, verb = found.groups(default="")
        if by_seat[seat] != YOU:
            return f"{of}{by_seat[seat]}{whose}{verb}"
        if of:
            return f"{of}yours{verb}"
        you = "your" if whose else "you"
        begins = found.start() == 0 or text[: found.start()].endswith((". ", ": "))
        return (you.capitalize() if begins else you) + (verb if whose else _to_you(verb))

    return re.sub(rf"\b(of )?({'|'.join(map(re.escape, by_seat))})\b('s)?( [a-z]+s\b)?", said, text)


def _to_you(verb: str) -> str:
    """A verb of the third person, after a blank, in the second."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    return verb[:-2] if verb.endswith(("sses", "ches", "shes", "xes")) else verb[:-1]
