"""What the numbers of a key may be, where nobody has read them: the `range` beside a value in a component file.

| in the file | for | the values that it allows |
|---|---|---|
| `[4, 6]` | one number | 4, 5 and 6 |
| `[[4, 6], 2, [0, 1]]` | a list of numbers | each number by itself; 2 stands for [2, 2] |
| `["east", "west"]`, `[false, true]` | one word or switch | each of them |
| `{one_of = [["none"], [3, 4]]}` | any key | each of these whole values |
| `{sets_of = ["sun", "rain"]}` | a list of words | each list that the key allows of different words of these |
| `"permuted"` | a key of a group | the numbers of all keys of the group that are permuted, dealt out anew |
| another word | a key that has a maker of this name | what the maker makes |
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from tabletop_engine.described.keys import Key, Value

PERMUTED = "permuted"


@dataclass(frozen=True)
class Each:
    """Each number by itself: what it may be, in rising order."""

    choices: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class OneOf:
    """One of these whole values."""

    values: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True)
class Permuted:
    """The numbers of all keys of this group that are permuted, dealt out anew."""

    group: str


@dataclass(frozen=True)
class Made:
    """What the key's maker of this name makes."""

    maker: str


Range: TypeAlias = Each | OneOf | Permuted | Made


class BadRange(Exception):
    """A range that its key does not allow. Its argument is the problem."""


def allowed_ranges(key: Key) -> str:
    """The ranges that a key can have, in words."""
    value = f"where a value is {key.allowed}"
    forms = ["{one_of = [values]}"]
    if key.places is None:
        forms.insert(0, "[words]" if key.is_switch or not key.numbers else "[least, most]")
    elif key.numbers and key.spelling is None:
        forms.insert(0, "a list with [least, most] or a number for each place")
    else:
        forms.append("{sets_of = [words]}")
    if key.permuted is not None:
        forms.append(f'"{PERMUTED}"')
    forms += [f'"{name}"' for name in key.makers]
    return f"{', '.join(forms[:-1])}{' or ' if forms[1:] else ''}{forms[-1]}, {value}"


def range_of(key: Key, stated: Any, count: int) -> Range:
    """The range that a file states for a key with `count` values. Raises BadRange."""
    if isinstance(stated, str):
        return _named(key, stated)
    if isinstance(stated, dict) and len(stated) == 1:
        ((form, values),) = stated.items()
        if isinstance(values, list) and form == "one_of":
            return _one_of(key, [value if isinstance(value, list) else [value] for value in values])
        if isinstance(values, list) and form == "sets_of" and key.places is not None:
            words = [value for value in key.words if value in values]
            if len(words) < len(values):  # checked before the lists are made, whose number grows fast
                raise BadRange(f"{values!r:.80} are not different words of {', '.join(key.words) or 'none'}")
            sizes = range(key.fewest, min(len(key.places), len(values)) + 1)
            lists = [tuple(some) for size in sizes for some in combinations(values, size)]
            return _one_of(key, [some for some in lists if key.wrong_together(some) is None])
    if not isinstance(stated, list):
        raise BadRange(f"{stated!r:.80} is none")
    if key.places is None:
        if any(isinstance(value, str | bool) for value in stated):
            return _one_of(key, [[value] for value in stated])
        return Each((_interval(key, stated, ""),))
    if len(stated) != count:
        raise BadRange(f"{stated!r:.80} is for {len(stated)} values, there are {count}")
    return Each(tuple(_interval(key, one, f"{key.places[i]}: ") for i, one in enumerate(stated)))


def _named(key: Key, name: str) -> Range:
    if name == PERMUTED and key.permuted is not None:
        return Permuted(key.permuted)
    if name not in key.makers:
        raise BadRange(f"{name!r:.80} is none")
    return Made(name)


def _one_of(key: Key, values: list[Any]) -> OneOf:
    if not values:
        raise BadRange("allows nothing")
    for value in values:
        most = 1 if key.places is None else len(key.places)
        least = 1 if key.places is None else key.fewest
        if not least <= len(value) <= most or not all(key.allows(one) for one in value):
            raise BadRange(f"{value!r:.80} is not allowed")
        if (wrong := key.wrong_together(tuple(value))) is not None:
            raise BadRange(f"{value!r:.80} {wrong[0]}")
    kept = tuple(tuple(value) for value in values)
    if len(set(kept)) < len(kept):
        raise BadRange("names a value twice")
    return OneOf(kept)


def _interval(key: Key, stated: Any, where: str) -> tuple[Value, ...]:
    """The values of [least, most], or of one number. `where` names it for errors."""
    ends = stated if isinstance(stated, list) else [stated, stated]
    if len(ends) != 2 or not all(key.allows(end) and not isinstance(end, bool) for end in ends):
        raise BadRange(f"{where}{stated!r:.80} is not allowed")
    if ends == [ends[0]] * 2:
        return (ends[0],)
    if not all(isinstance(end, int) for end in ends):
        raise BadRange(f"{where}{stated!r:.80} has an end that is not a whole number")
    if ends[0] > ends[1]:
        raise BadRange(f"{where}{stated!r:.80} is empty: its least number is above its most")
    return tuple(range(ends[0], ends[1] + 1))


def stated(found: Range, key: Key) -> Any:
    """The key's range in the shortest form that a file can state, for JSON and TOML."""
    single = key.places is None
    match found:
        case Permuted():
            return PERMUTED
        case Made(maker):
            return maker
        case OneOf(values):
            words = [value[0] for value in values if len(value) == 1]
            for short in (words, {"sets_of": words}):
                if _means(key, short, found):
                    return short
            return {"one_of": [value[0] if single else list(value) for value in values]}
        case Each(choices):
            ends = [one[0] if len(one) == 1 else [one[0], one[-1]] for one in choices]
            return [choices[0][0], choices[0][-1]] if single else ends


def _means(key: Key, form: Any, found: Range) -> bool:
    try:
        return range_of(key, form, 0) == found
    except BadRange:
        return False


def allows(found: Range, values: tuple[Value, ...]) -> bool | None:
    """Whether the values are in the range; None for what the values of one key do not tell."""
    match found:
        case OneOf(lists):
            return values in lists
        case Each(choices):
            return len(values) == len(choices) and all(map(lambda one, some: one in some, values, choices))
    return None
