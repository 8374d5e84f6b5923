"""What a person or a language model has answered in words: one parser for all.

It never guesses. What is not clearly one answer is not played, and the reply says what would be clear. In a longer
text only a declared answer is read, so an answer that is weighed or rejected in the prose is never played.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tabletop_engine.game import Game
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.text.words import either, shown

MOST_ANSWERS = 100
"""Answers that one reply may declare."""
MOST_READ = 20_000
"""Characters of a reply that are read, from its end."""
_LONGEST_LINE = 300
"""Characters of a reply without a declared answer, at most."""
_MOST_OBJECTS = 200
_MOST_LISTED = 8

UNREADABLE, UNKNOWN, SEVERAL, TRUNCATED = "unreadable", "unknown", "several", "truncated"
"""The problems of a reply: no answer is declared; none is meant; several may be meant; it was cut off."""

HOW_TO_DECLARE = 'Give your answer on the last line, as {"answer": "…"}'


class Option(NamedTuple):
    """A possible answer.

    Attributes:
        action: the legal action.
        text: its meaning in words (`Words.action_text`).
        names: its plain names (`Words.answer_name`, `Game.actions`).
    """

    action: int
    text: str
    names: tuple[str, ...] = ()


def legal_options(game: Game, state: Any) -> list[Option]:
    """The legal actions of a record as `read_answer` takes them."""
    words, names = game.words, game.actions
    return [
        Option(one, words.action_text(state, one), (words.answer_name(state, one), names[one]))
        for one in legal_actions(state).tolist()
    ]


class Reading(NamedTuple):
    """What one answer means.

    Attributes:
        action: the action; None if there is a problem.
        problem: UNREADABLE, UNKNOWN, SEVERAL or TRUNCATED; "" if there is none.
        message: a sentence that says what is wrong and what would be right; "" if nothing is wrong.
    """

    action: int | None
    problem: str = ""
    message: str = ""


class Declared(NamedTuple):
    """The answers that a reply declares, one after another; none if there is a problem, as in `Reading`."""

    answers: tuple[str, ...]
    problem: str = ""
    message: str = ""


# --- The answers in a reply ------------------------------------------------------------------------------------------

_FINAL = re.compile(r"^[^\w\n]*final answer[^\w\n]*?[:：]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = r"(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_THOUGHT_BEGINS, _THOUGHT_ENDS = (re.compile(f"<{slash}{_THOUGHT}>", re.IGNORECASE) for slash in ("", "/"))
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)\w*[ \t]*$", re.MULTILINE)
_BEGUN = re.compile(r"\{\s*(?:[\"'“”‘’]|answer\b)", re.IGNORECASE)
_OBJECT = "\0"
"""It stands for an object with an answer in the text around it."""


def declared_answers(reply: str, truncated: bool = False) -> Declared:
    """The answers that a reply declares, after the end of thoughts in tags such as `<think>`.

    A JSON object with the key `answer` declares them: a text, a number, or a list of them for several decisions in a
    row. A line `Final Answer: …` declares one, and without a declaration a reply of one short line counts as a whole.
    Declarations that differ are a problem, and so is an object after the last one that breaks off. Of a reply that was
    cut off (`truncated`) only an object at its end counts, since anything else may lack its end.
    """
    said = _THOUGHT_ENDS.split(reply)[-1]
    tail = _FENCE.sub("", said[-MOST_READ:].replace(_OBJECT, " "))
    values, others, rest = _objects(tail)
    finals = [line for line in _FINAL.finditer(rest) if _OBJECT not in line[1] and line[1].strip()]
    declared = [*map(_listed, values), *(Declared((_plain(line[1]),)) for line in finals)]
    meant = {tuple(_plain(answer).lower() for answer in one.answers): one for one in declared}
    if len(meant) > 1:  # examples such as {"answer": "…"} mean nothing
        meant = {words: one for words, one in meant.items() if one.problem or any(words)}
    last = max(rest.rfind(_OBJECT), finals[-1].start() if finals else -1)
    if _THOUGHT_BEGINS.search(said) or (truncated and not rest.rstrip("*_` \t\r\n").endswith(_OBJECT)):
        return Declared((), TRUNCATED, f"The reply was cut off before its answer. {HOW_TO_DECLARE}.")
    if rest.count("{") > rest.count("}") or _BEGUN.search(rest, last + 1):
        return Declared((), TRUNCATED, f"The reply ends within its answer, or its JSON is broken. {HOW_TO_DECLARE}.")
    if len(meant) > 1:
        first, other = (f'"{shown("; ".join(one.answers))[:40]}"' for one in [*meant.values()][:2])
        return Declared((), SEVERAL, f"The reply declares different answers: {first} and {other}. {HOW_TO_DECLARE}.")
    if meant:
        return next(iter(meant.values()))
    if others:
        return Declared((), UNREADABLE, f'The JSON has no key "answer". {HOW_TO_DECLARE}.')
    lines = [line for line in tail.splitlines() if line.strip()]
    if len(lines) == 1 and len(lines[0].strip()) <= _LONGEST_LINE and len(said) <= MOST_READ:
        return Declared((lines[0].strip(),))
    if not lines:
        return Declared((), UNREADABLE, f"The reply is empty. {HOW_TO_DECLARE}.")
    return Declared((), UNREADABLE, f"No answer is declared in this text, which is not searched. {HOW_TO_DECLARE}.")


def _objects(text: str) -> tuple[list[Any], int, str]:
    """The answers in the JSON objects of a text, the number of objects without one, and the text around all these."""
    answers: list[Any] = []
    others, around, at = 0, "", 0

    def noted(pairs: list[tuple[str, Any]]) -> None:
        inside.extend(value for key, value in pairs if key.strip().lower() == "answer")

    decoder = json.JSONDecoder(object_pairs_hook=noted, parse_constant=_no_constant, strict=False)
    for start in [match.start() for match in re.finditer(r"\{", text)][-_MOST_OBJECTS:]:
        if start < at:
            continue  # inside the object before
        inside: list[Any] = []
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        answers += inside
        others += not inside
        around, at = around + text[at:start] + _OBJECT * bool(inside), end
    return answers, others, around + text[at:]


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _listed(given: Any) -> Declared:
    answers = given if isinstance(given, list) else [given]
    if not answers or len(answers) > MOST_ANSWERS or not all(_is_answer(one) for one in answers):
        return Declared((), UNREADABLE, f"The answer is a text, a number, or a list of up to {MOST_ANSWERS} of them.")
    return Declared(tuple(str(one).strip()[:_LONGEST_LINE] for one in answers))


def _is_answer(value: Any) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or (type(value) is int and abs(value) < 10**6)


# --- The meaning of an answer ----------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?:(?:number|no|option|answer|action|choice)\b\.?\s*|#\s*)?[\[(]?([0-9]{1,6})[\])]?(?:[.:)]|(?!\w))\s*(.*)",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:(?:so|then|ok|okay|now|well|finally),?\s+)*"
    r"(?:my (?:final )?(?:answer|choice|action|move) (?:is|would be)[:,]?\s*"
    r"|(?:answer|action|choice|move)\s*[:=]\s*"
    r"|(?:please|let us|let's|let me)\s+"
    r"|(?:i|we)(?:'ll|'d| will| would| shall)?(?: now| then)?"
    r"(?: like to| want to| choose(?: to)?| pick| select| decide to| go (?:for|with))?(?:\s+|$))",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[-–—•>]+\s+")
_EDGES = " \t\r\n*_~`\"'“”‘’„.,;:!?…"
_ARTICLES = {"a", "an", "the"}
_SMALL_WORDS = {*_ARTICLES, "and", "as", "for", "i", "in", "is", "it", "of", "on", "or", "to", "with"}
"""Words that mean no answer without others."""


def read_answer(typed: str, options: Sequence[Option]) -> Reading:
    """The option that a typed answer means.

    It takes a number from 1, the whole text, words of a text that no other has (also their beginnings), or a plain
    name, in any case, with Markdown and punctuation around it, or after "I choose …".
    """
    wanted = _plain(typed)
    if not wanted:
        return Reading(None, UNREADABLE, f"The answer is empty: choose from 1 to {len(options)}.")
    found = [i for i, option in enumerate(options) if _is_whole(wanted.lower(), option)]
    if _is_number(wanted):  # it can be the text of another answer
        found = sorted({*_numbered(wanted, options), *found})
    elif not found:
        lead = _LEAD_IN.match(wanted)
        found = _meant(wanted if lead is None else _plain(wanted[lead.end() :]), options)
    if len(found) == 1:
        return Reading(options[found[0]].action)
    quoted = f'"{shown(_plain(typed))[:40]}"'
    if found:
        choices = [f"{number + 1} ({options[number].text})" for number in found[:_MOST_LISTED]]
        more = ["others"] if len(found) > _MOST_LISTED else []
        return Reading(None, SEVERAL, f"{quoted} may be {either([*choices, *more])}.")
    if _is_number(wanted):
        return Reading(None, UNKNOWN, f"{quoted}: the answers are numbered from 1 to {len(options)}.")
    return Reading(None, UNKNOWN, f"{quoted} is none of the {len(options)} answers.")


def _plain(typed: str) -> str:
    """The answer without marks of emphasis and lists, and without quotes and punctuation around it; single spaces."""
    text = " ".join(re.sub(r"\*\*|__|`", "", typed[:_LONGEST_LINE]).split())
    return _BULLET.sub("", text, count=1).strip(_EDGES) if _BULLET.match(text) else text.strip(_EDGES)


def _meant(wanted: str, options: Sequence[Option]) -> list[int]:
    """The indices of the options that may be meant; empty if there are none."""
    number = _NUMBER.fullmatch(wanted)
    if number is None:
        return _named(wanted.lower(), options)
    numbered, rest = _numbered(number[1], options), _plain(number[2])
    if not rest:
        return numbered
    said = _named(rest.lower(), options)
    if numbered and numbered[0] in said:
        return numbered
    return _named(wanted.lower(), options) or sorted({*numbered, *said} if said else [])


def _numbered(number: str, options: Sequence[Option]) -> list[int]:
    """The option of this number, counted from 1; none if there is no such option."""
    return [int(number) - 1] if len(number) < 7 and 0 < int(number) <= len(options) else []


def _is_whole(part: str, option: Option) -> bool:
    return part in (option.text.lower(), *option.names) or part.replace("_", " ") in map(_name, option.names)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _name(name: str) -> str:
    return name.lower().replace("_", " ")


def _named(part: str, options: Sequence[Option]) -> list[int]:
    """The options whose text or name fits best.

    From best to worst fit: the whole text, a plain name, some words of the text in a row, its beginning, beginnings of
    some of its words.
    """
    texts = [_words(option.text) for option in options]
    names = [[_name(name) for name in option.names] for option in options]
    words = _words(part)
    if set(words) <= _SMALL_WORDS:
        return []
    kept = [word for word in words if word not in _ARTICLES] or words
    phrase = f" {' '.join(words)} "
    fits: tuple[Callable[[int], bool], ...] = (
        lambda i: texts[i] == words,
        lambda i: part.replace("_", " ") in names[i],
        lambda i: phrase in f" {' '.join(texts[i])} ",
        lambda i: " ".join(texts[i]).startswith(" ".join(words)),
        lambda i: begin_words(kept, options[i].text),
    )
    for fit in fits:
        found = [i for i in range(len(options)) if fit(i)]
        if found:
            return found
    return []


def begin_words(parts: Sequence[str], text: str) -> bool:
    """Whether each of the parts, in lower case, begins a word of the text."""
    words = _words(text)
    return all(
        any(word == part or (word.startswith(part) and not _is_number(part)) for word in words) for part in parts
    )


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return re.findall(r"[\w'/+-]+", text.lower())
