"""The parser of answers: clear answers are understood, unclear ones are questioned, and prose is never played."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evergreen_env.config import Config as Evergreen
from petrichor_env.config import MODULES, Config
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.answers import (
    MOST_READ,
    SEVERAL,
    TRUNCATED,
    UNKNOWN,
    UNREADABLE,
    Option,
    declared_answers,
    legal_options,
    read_answer,
)
from tests.games import connect_four, leduc_poker

TEXTS = ("play a Frost card", "play a Sun card", "play two other cards as a Sun card", "vote for Sun", "take P1", "P10")
NAMES = ("play frost", "play sun", "substitute sun", "vote sun", "tile P1", "tile P10")
OPTIONS = [Option(10 + i, text, (name,)) for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))]
CONFIGS = [
    Config(),
    Config(players=2, drafting=True),
    Config(players=5, modules=MODULES),
    Evergreen(2),
    connect_four.Config(),
    leduc_poker.Config(),
]


def found(typed: str, options: list[Option] = OPTIONS) -> int | str:
    """The index of the option that is meant, or the problem."""
    read = read_answer(typed, options)
    assert (read.action is None) == bool(read.problem) == bool(read.message)
    return read.problem if read.action is None else [option.action for option in options].index(read.action)


MEANT: list[tuple[int | str, list[str]]] = [
    # whole texts, parts of texts, beginnings of words
    (0, ["play a frost card", "PLAY  A FROST card", "play a fr", "play Frost card"]),
    (3, ["vote sun", "vo su"]),
    (2, ["two"]),
    (4, ["p1"]),
    (5, ["P10"]),
    # numbers
    (0, ["1"]),
    (5, ["06"]),
    (3, ["[4]", "(4)", "#4", "4.", "4)", "option 4", "4. vote for Sun", "4) vote for Sun.", "4: sun"]),
    # punctuation and Markdown
    (0, ["play a Frost card.", "**play a Frost card**"]),
    (3, ["- *vote for Sun*!", "`vote for Sun`", "“vote for Sun”", "> vote for Sun;"]),
    # lead-ins
    (0, ["I play a Frost card.", "I will play a Frost card"]),
    (3, ["I'll vote for Sun", "We choose to vote for Sun", "My answer is: vote for Sun.", "Answer: 4", "I choose 4"]),
    (3, ["OK, let me vote for Sun"]),
    # plain names
    (0, ["play frost"]),
    (2, ["substitute sun"]),
    (4, ["tile P1"]),
    # unclear
    (SEVERAL, ["sun", "a sun card", "play", "4. play a Frost card"]),
    (UNKNOWN, ["p1 p2", "snow", "ote", "7", "0", "-1", "999999", "I", "a", "to the"]),
    (0, ["- 1"]),  # a point of a list
    (UNREADABLE, ["", "   ", "**"]),
]


def test_what_is_meant() -> None:
    for meant, texts in MEANT:
        for typed in texts:
            assert found(typed) == meant, typed


@pytest.mark.parametrize(
    "prose",
    [
        "not 4",
        "I won't vote for Sun",
        "I do not play a Frost card",
        "never play a Frost card",
        "anything but vote for Sun",
        "rather not vote for Sun",
        "vote for Sun would be bad",
        "play a Frost card? No",
        "no Sun",
        "instead of play a Frost card",
        "vote for Sun, or play a Frost card",
    ],
)
def test_what_is_rejected_is_not_played(prose: str) -> None:
    assert found(prose) == UNKNOWN
    assert declared_answers(f"Let me think.\n{prose}\nHm.").problem == UNREADABLE


def test_the_messages() -> None:
    assert read_answer("sun", OPTIONS).message == (
        '"sun" may be 2 (play a Sun card), 3 (play two other cards as a Sun card) or 4 (vote for Sun).'
    )
    assert read_answer("9", OPTIONS).message == '"9": the answers are numbered from 1 to 6.'
    assert read_answer("snow\x1b[31m", OPTIONS).message == '"snow\\x1b[31m" is none of the 6 answers.'
    many = [Option(i, f"take {i}") for i in range(40)]
    assert read_answer("take", many).message.endswith("8 (take 7) or others.")


def test_texts_that_are_numbers() -> None:
    """A number in the list and a number as a text are told apart, or the answer is unclear."""
    bids = [Option(i, text) for i, text in enumerate(("1", "2", "5"))]
    assert [found(typed, bids) for typed in ("1", "2", "5", "4")] == [0, 1, 2, UNKNOWN]
    turned = [Option(i, text) for i, text in enumerate(("2", "1"))]
    assert [found(typed, turned) for typed in ("1", "2")] == [SEVERAL, SEVERAL]


FENCED = '```json\n{"answer": "2"}\n```'


@pytest.mark.parametrize(
    ("reply", "declared"),
    [
        # one short line counts as a whole
        ("4", ("4",)),
        ("  vote for Sun  ", ("vote for Sun",)),
        # one object, with anything around it
        ('{"answer": "vote for Sun"}', ("vote for Sun",)),
        ('{"answer": 4}', ("4",)),
        ('{"Answer": "pass"}', ("pass",)),
        ('{ "ANSWER " : "pass" }', ("pass",)),
        ('{"reason": "{", "answer": ["play a Sun card", 3]}', ("play a Sun card", "3")),
        ('{"reason": "a \\"}\\" ends {it", "answer": "2"}', ("2",)),
        ('{"reason": "two\nlines", "answer": "2"}', ("2",)),
        ('{"seen": {"votes": {"sun": 3}}, "answer": "2", "sure": 0.9}', ("2",)),
        ('{"result": {"answer": "2"}}', ("2",)),
        ('[{"answer": "2"}]', ("2",)),
        ('**{"answer": "2"}**', ("2",)),
        ('Answer: `{"answer": "2"}`', ("2",)),
        (f"Rain.\n{FENCED}", ("2",)),
        (f"Rain.\n{FENCED}\nGood luck!", ("2",)),
        (f"~~~\n{FENCED}\n~~~", ("2",)),
        ('Rain.\n<answer>{"answer": "2"}</answer>', ("2",)),
        ('{"answer": "2"} {"confidence": 0.9}', ("2",)),
        ('{"answer": "2"}\nThe tiles {b1, c1} are mine.', ("2",)),
        # a final answer
        ("Sun is bad.\n**Final Answer:** vote for Sun", ("vote for Sun",)),
        ("Sun is bad.\n### Final Answer:\n2", ("2",)),
        ("Final Answer:\n```\n2\n```", ("2",)),
        ('I write {"answer": soon.\n{}}\nFinal Answer: 1', ("1",)),
        # the same answer several times
        ('{"answer": "2"}\nAgain: {"answer": 2}', ("2",)),
        ('{"answer": "Vote for Sun"}\nFinal Answer: **vote for Sun.**', ("vote for Sun",)),
        ('Final Answer: {"answer": "2"}', ("2",)),
        (f"**Final Answer:**\n\n{FENCED}", ("2",)),
        ("Final Answer: 2\nSo it is.\nFinal answer: 2", ("2",)),
        # the form of the answer is quoted before it
        ('I must answer as {"answer": "…"}.\n{"answer": "2"}', ("2",)),
        ('One {"answer": "..."} or {"answer": ["…", "…"]}.\n{"answer": "2"}', ("2",)),
        ('It has to be {"answer": ...}.\n{"answer": "2"}', ("2",)),
        # thoughts
        ('<think>{"answer": "1"}? No.</think>\n{"answer": "2"}', ("2",)),
        ('{"answer": "1"}? No. {"answer": "\n</think>\n\n{"answer": "2"}', ("2",)),
        ("<Thinking>\nFinal Answer: 1\n</Thinking>\nFinal Answer: 2", ("2",)),
        ("<think>one\ntwo</think>\n4", ("4",)),
        ("<think>" + "so on " * MOST_READ + "</think>4", ("4",)),
        # it breaks off after the last complete declaration
        ('Perhaps {"answer": "1"}? No. So {"answer": "2', TRUNCATED),
        ('Perhaps {"answer": "1"}? No. So {"ans', TRUNCATED),
        ('Perhaps {"answer": "1"}? No. So {', TRUNCATED),
        ('Perhaps {"answer": "1"}? No. So {"reason": "use } here", "answer', TRUNCATED),
        ('Perhaps {"answer": "1"}? No. So {\'answer\': 2}', TRUNCATED),
        ('Perhaps {"answer": "1"}? No. So {answer: 2}', TRUNCATED),
        ('{"weighed": [{"answer": "1"}], "best": {"ans', TRUNCATED),
        ('Final Answer: 1\nNo! {"answer": "2', TRUNCATED),
        ('Final Answer: {"answer": "2', TRUNCATED),
        ('Well\n{"answer": "vote for', TRUNCATED),
        ("{'answer': 4}\nor so", TRUNCATED),
        ("{“answer”: “4”}", TRUNCATED),
        ('<think>{"answer": "1"} is', TRUNCATED),
        ('{"answer": "1"}<think>or', TRUNCATED),
        # declarations that differ
        ('I could say {"answer": "1"}.\nNo:\n```json\n{"answer": "2"}\n```', SEVERAL),
        ('{"answer": "1"}\nNo.\nFinal Answer: 2', SEVERAL),
        ('Final Answer: 1\nNo.\n{"answer": "2"}', SEVERAL),
        ("final answer: 1\nfinal answer: 2", SEVERAL),
        ('{"answer": "1", "answer": "2"}', SEVERAL),
        ('{"answer": "1", "Answer": "2"}', SEVERAL),
        ('[{"answer": "1"}, {"answer": "2"}]', SEVERAL),
        ('{"answer": {"answer": "1"}}', SEVERAL),
        ('{"answer": ["1", "2"]} {"answer": "1"}', SEVERAL),
        ('{"answer": "1"} {"answer": null}', SEVERAL),
        # nothing that is an answer
        ("", UNREADABLE),
        ("\n \n", UNREADABLE),
        ("<think>1</think>", UNREADABLE),
        ("I think about Sun.\nIt is good.", UNREADABLE),
        ('{"action": "pass"}', UNREADABLE),
        ('Well:\n{"move": {"kind": "pass"}}', UNREADABLE),
        ('{"answer": ""}', UNREADABLE),
        ('{"answer": []}', UNREADABLE),
        ('{"answer": [[1]]}', UNREADABLE),
        ('{"answer": true}', UNREADABLE),
        ('{"answer": 1.5}', UNREADABLE),
        ('{"answer": null}', UNREADABLE),
        ('{"answer": 1e999}', UNREADABLE),
        (json.dumps({"answer": ["1"] * 101}), UNREADABLE),
        ("word " * 100, UNREADABLE),
    ],
)
def test_what_a_reply_declares(reply: str, declared: tuple[str, ...] | str) -> None:
    """The answers, or the problem of a reply that is asked again."""
    said = declared_answers(reply)
    assert (said.problem or said.answers) == declared
    assert bool(said.problem) == bool(said.message) != bool(said.answers)


@pytest.mark.parametrize(
    ("reply", "declared"),
    [
        ('Well\n{"answer": "2"}', ("2",)),
        (f"Well\n{FENCED}\n", ("2",)),
        (FENCED[:-2], ("2",)),
        ('Perhaps {"answer": "1"}? No, that', TRUNCATED),
        ('{"answer": "1"}\nFinal Answer: 2', TRUNCATED),
        ("Final Answer: 1", TRUNCATED),
        ("1", TRUNCATED),
    ],
)
def test_what_a_reply_declares_that_was_cut_off(reply: str, declared: tuple[str, ...] | str) -> None:
    said = declared_answers(reply, truncated=True)
    assert (said.problem or said.answers) == declared


def test_what_is_said_of_declarations() -> None:
    said = {
        '{"action": "pass"}': 'The JSON has no key "answer".',
        '{"answer": "1"} {"answer": ["2", "x\x1b"]}': 'different answers: "1" and "2; x\\x1b".',
        '{"answer": "1"} {"answer": "2': "ends within its answer, or its JSON is broken.",
    }
    for reply, message in said.items():
        assert f'{message} Give your answer on the last line, as {{"answer": "…"}}' in declared_answers(reply).message


@pytest.mark.parametrize(
    "reply",
    [
        "{" * 1_000_000,
        '{"answer":' * 100_000,
        "[" * 1_000_000,
        '{"a": "' * 100_000,
        "\\" * 1_000_000,
        "x" * 1_000_000,
        "final answer:" * 50_000,
        "Final Answer: " + "*" * 1_000_000,
        "I " * 500_000,
        "so " * 100_000 + "4",
        "\x00\x1b\u202e" * 300_000,
        "final answer" + " " * 1_000_000,
        "\n" * 1_000_000,
        "<think>" * 200_000,
        '{"answer": ""}' * 100_000,
    ],
    ids=lambda reply: repr(reply[:12]),
)
def test_a_reply_of_a_megabyte_is_read_in_time(reply: str) -> None:
    start = time.process_time()
    said = declared_answers(reply)
    for one in said.answers:
        assert len(read_answer(one, OPTIONS).message) < 1000
    read_answer(reply, OPTIONS)
    assert time.process_time() - start < 5  # a thousand times the usual time; a slow parser would hang here
    assert len(said.message) < 300


def test_only_the_end_of_a_long_reply_is_read() -> None:
    reply = '{"answer": "1"}' + " and so on" * MOST_READ
    assert declared_answers(reply).problem == UNREADABLE
    assert declared_answers(reply + '\n{"answer": "2"}').answers == ("2",)


def positions(config: Any, games: int = 2) -> Iterator[tuple[Any, list[Option]]]:
    batch = Batch(config, games, seed=5, autoreset="disabled")
    while (batch.actors != NOBODY).any():
        for state in batch.states[batch.actors != NOBODY]:
            yield state, legal_options(config.game, state)
        batch.step(batch.random_actions(), which=batch.actors != NOBODY)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")
def test_every_answer_reads_back_to_itself(config: Any) -> None:
    """In every form: number, text and names, with a full stop, in bold, after "I …"."""
    forms = ("{}", "{}.", "**{}**", "`{}`", "I {}", "I choose {}.", "- {}", "{}!")
    checked = 0
    for _, options in positions(config, 1):
        for number, option in enumerate(options, 1):
            assert len({one.text.lower() for one in options}) == len(options)
            for said in (str(number), option.text, f"{number}. {option.text}", *option.names):
                for form in forms:
                    read = read_answer(form.format(said), options)
                    assert read.action == option.action, (form.format(said), read, options)
                    checked += 1
            declared = declared_answers(json.dumps({"answer": option.text}))
            assert read_answer(declared.answers[0], options).action == option.action
    assert checked > 100


@pytest.mark.parametrize("config", CONFIGS[:4], ids=lambda config: f"{config.game.name}-{config.name}")
def test_parts_of_answers_never_mean_another_one(config: Any) -> None:
    """Some words of a text, in their order, mean this answer, or are unclear."""
    generator = np.random.default_rng(0)
    for _, options in positions(config, 1):
        option = options[generator.integers(len(options))]
        words = option.text.split()
        first = int(generator.integers(len(words)))
        part = " ".join(words[first : first + 1 + int(generator.integers(len(words)))])
        if part.isdecimal():
            continue  # the number of an answer
        read = read_answer(part, options)
        named = [one.action for one in options if part in one.names]
        assert read.action in (option.action, None, *named), (part, read, options)
