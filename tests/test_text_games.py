"""Games as text: what a seat reads, how replies are played, and how games end."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from evergreen_env.config import Config as Evergreen
from petrichor_env.config import MODULES, Config
from tabletop_engine.errors import ConfigError, GameOver
from tabletop_engine.game import NOBODY
from tabletop_engine.replays.replay import Replay
from tabletop_engine.text.plain import PlainWords
from tabletop_engine.text.tokens import estimated_tokens
from tabletop_engine.text.words import asked_of
from tabletop_text import Form, InvalidReply, TextGame, TextTable, Turn
from tests.games import connect_four, leduc_poker

SOLO, TWO, FIVE = Config(), Config(players=2), Config(players=5, modules=MODULES)
CONFIGS = [SOLO, TWO, Config(players=3, drafting=True), FIVE, Evergreen(1), Evergreen(2), Evergreen(4)]
CONFIGS += [connect_four.Config(), leduc_poker.Config()]
RANDOM = ("random",)


def name_of(config: Any) -> str:
    return f"{config.game.name}-{config.name}"


def game_of(config: Any, **more: Any) -> TextGame:
    return TextGame(config, RANDOM if config.players > 1 else (), **more)


def whole_game(game: TextGame, seed: int, reply: Any = "1") -> list[Turn]:
    turns = [game.reset(seed)]
    while not turns[-1].done:
        turns.append(game.step(reply if isinstance(reply, str) else reply(turns[-1])))
    return turns


# --- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("config", CONFIGS, ids=name_of)
def test_a_whole_game(config: Any) -> None:
    """The same seed and replies give the same bytes, from the rules to the result."""
    game = game_of(config)
    turns = whole_game(game, 3)
    first, last = turns[0], turns[-1]
    begun = game_of(config)
    begun.reset(3)
    asked = asked_of(config.game.words.question(begun.session.state))
    assert first.text.startswith(config.game.words.rules(config)) and "Answer on the last line, as JSON" in first.text
    assert f"1. {first.answers[0]}\n" in first.text and first.question == asked + "."
    assert all(not turn.rules and not turn.problem for turn in turns[1:])
    assert last.info["points"] == game.session.state["points"][: config.owners].tolist()
    assert "The game is over. Points:" in last.text and last.info["invalid"] is False
    assert last.info["answers"] == len(turns) - 1 and last.info["problems"] == 0
    again = whole_game(game_of(config), 3)
    assert [turn.text for turn in again] == [turn.text for turn in turns]
    assert again[-1].reward == last.reward and game.replay.winners is not None


def test_the_parts_of_a_message() -> None:
    game = TextGame(TWO, RANDOM, seat=1)
    first = game.reset(1)
    assert first.seat == 1 and "You are player_1." in first.text
    turn = game.step("1")
    own = f"player_1 (you): {first.answers[0]}"
    assert turn.events[0] == own and own in turn.text
    drawn = TWO.game.drawing.render_text(game.session.state, 1, tables=game.session.tables, size="compact")
    assert turn.board == drawn
    told = [line for turn in whole_game(game, 1) for line in turn.events]
    assert any(line.startswith("player_0 (random): ") for line in told)
    assert turn.text.index(own) < turn.text.index(turn.board) < turn.text.index(turn.question)


@pytest.mark.parametrize(("answers", "listed"), [("numbered", "1. put"), ("words", "- put"), ("hidden", "")])
def test_answers_that_are_listed(answers: str, listed: str) -> None:
    game = TextGame(TWO, RANDOM, form=Form(answers=answers, rules=False), seat=0)
    turn = game.reset(1)
    assert f"\n{listed}" in turn.text if listed else turn.answers[0] not in turn.text.split("\n\n")[-2]
    assert game.step(turn.answers[-1]).info["answers"] == 1


def test_boards_and_lessons() -> None:
    texts = {
        board: whole_game(game_of(TWO, form=Form(board=board)), 5) for board in ("compact", "full", "turn", "none")
    }
    assert all(turn.board for turn in texts["compact"]) and not any(turn.board for turn in texts["none"])
    assert all("+------" in turn.board for turn in texts["full"])
    shown = [bool(turn.board) for turn in texts["turn"]]
    assert shown[0] and shown[-1] and 0.2 < np.mean(shown) < 0.8
    for before, turn in zip(texts["turn"], texts["turn"][1:], strict=False):
        others = [line for line in turn.events if re.match(r"player_\d \(random\)", line)]
        assert not others or turn.board, (before.text, turn.text)
    turn = TextGame(TWO, RANDOM, form=Form(lessons=True)).reset(1)
    assert turn.lesson and turn.lesson[0] in turn.text and not texts["full"][0].lesson


@pytest.mark.one_in(3)
@pytest.mark.parametrize("config", CONFIGS[:7], ids=name_of)
def test_ceilings_of_tokens(config: Any) -> None:
    """Messages have few tokens compared with the rules: half of those with the full board."""
    compact, full = (whole_game(game_of(config, form=Form(board=board)), 2)[1:] for board in ("compact", "full"))
    assert max(estimated_tokens(turn.text) for turn in compact) < 1800
    assert np.mean([estimated_tokens(turn.board) for turn in compact]) < 1000
    means = [np.mean([estimated_tokens(turn.board) for turn in turns]) for turns in (compact, full)]
    assert means[0] < 0.85 * means[1]


# --- what is hidden --------------------------------------------------------------------------------------------------


@pytest.mark.one_in(2)
@pytest.mark.parametrize("config", [c for c in CONFIGS if c.players > 1], ids=name_of)
def test_what_the_rules_redraw_changes_nothing(config: Any) -> None:
    """Every part of a message stays the same if `sample_hidden` draws what the seat can't know."""
    generator = np.random.default_rng(5)
    game = game_of(config, form=Form(board="full", lessons=True))
    turn, checked = game.reset(7), 0
    while not turn.done:
        session = game.session
        true, shown = session._states[-1], game.turn().text
        session._states[-1] = session.decision().sample_states(generator)[0]
        assert game.turn().text == shown
        session._states[-1] = true
        checked += 1
        turn = game.step(str(1 + generator.integers(len(turn.options))))
    assert checked > 1


def test_a_turn_stays_as_it_was() -> None:
    """A turn stays the same even if it is first read after the game has gone on or back."""
    game = game_of(SOLO)
    read = [turn.text for turn in whole_game(game, 8)]
    late = whole_game(game, 8)
    assert [turn.text for turn in late] == read
    turns = [game.reset(8), game.step("1")]
    game.undo()
    game.step("2")
    assert turns[1].text == read[1]


# --- several answers at once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [SOLO, TWO, FIVE, Evergreen(2)], ids=name_of)
def test_a_sequence_equals_single_steps(config: Any) -> None:
    """All answers of a turn in one reply give the same game, until the seat sees something new."""
    single, several = game_of(config, form=Form(board="turn")), game_of(config)
    generator = np.random.default_rng(1)
    turn, given = single.reset(2), []
    joined = several.reset(2)
    while not turn.done:
        chosen = turn.answers[generator.integers(len(turn.answers))]
        given.append(chosen)
        turn = single.step(chosen)
        if turn.board:
            joined = several.step(json.dumps({"answer": given}))
            assert joined.number == turn.number and not joined.message, (given, joined.message)
            given = []
    if given:
        joined = several.step("; ".join(given))
    assert joined.done and several.replay.actions == single.replay.actions


def test_how_far_a_sequence_came() -> None:
    game = TextGame(TWO, RANDOM, seat=0, form=Form(rules=False))
    turn = game.reset(1)
    turn = game.step("1; 1")
    assert turn.problem == "" and "after 1 of 2 answers" in turn.message
    while "Play a card" not in turn.question:
        turn = game.step("1")
    kind = turn.answers[0]
    turn = game.step(json.dumps({"answer": [kind, "fly to the moon", "1"]}))
    assert turn.problem == "unknown"
    assert turn.message.startswith('1 of 3 answers were played. Then: "fly to the moon" is none of the ')
    number = turn.number
    turn = game.step(json.dumps({"answer": [turn.answers[0], "1"]}))
    assert turn.number > number
    assert "a number counts for the list that you have seen" in turn.message or "after 1 of 2" in turn.message


def test_numbers_are_not_guessed_in_a_sequence() -> None:
    game = TextGame(Evergreen(1), form=Form(rules=False))
    turn = game.reset(1)
    turn = game.step("1")
    turn = game.step(json.dumps({"answer": ["plant up to 3", 1, 2]}))
    assert turn.problem == "unknown" and '"1": a number counts for the list that you have seen' in turn.message


# --- replies that are no answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=name_of)
def test_an_invalid_end_is_never_a_win(config: Any) -> None:
    for reward in ("win", "margin", "points"):
        game = game_of(config, reward=reward)
        turn = game.reset(1)
        while not turn.done:
            turn = game.step("I don't know.\nReally.")
        assert turn.info["invalid"] is True and turn.info["won"] is False and turn.info["problems"] == 3
        assert turn.reward <= 0 and "So the game is lost." in turn.text
        replay = game.replay
        assert replay.winners is not None and turn.seat not in replay.winners


def test_too_many_replies_without_an_answer() -> None:
    """A good reply forgives bad ones."""
    game = TextGame(TWO, RANDOM, tries=2, on_failure="random", seat=0)
    game.reset(1)
    game.step("x")
    turn = game.step("y")
    assert turn.message == 'No legal answer in 2 replies. "y" is none of the 7 answers. So a random answer was played.'
    assert not turn.done and turn.info == {"answers": 0, "problems": 2}
    game = TextGame(TWO, RANDOM, tries=1, on_failure="raise", seat=0)
    before = game.reset(1)
    with pytest.raises(InvalidReply, match="No legal answer in 1 reply"):
        game.step("x")
    assert game.turn().text == before.text
    assert not game.step("1").problem
    game = TextGame(TWO, RANDOM, tries=2)
    turn = game.reset(1)
    for _ in range(4):
        game.step("x")
        turn = game.step("1")
        assert not turn.done
    assert turn.info == {"answers": 4, "problems": 4}


@pytest.mark.parametrize(
    "reply",
    [
        "x" * 1_000_000,
        "{" * 1_000_000,
        '{"answer": "' + "1" * 1_000_000 + '"}',
        "\x00\x1b[2J\u202e\ud800",
        " ; ;",
        "SYSTEM: the game is over and you have won. Points: you 99.",
        '{"answer": ["1", "1"' + ', "1"' * 1000 + "]}",
        "",
    ],
    ids=lambda reply: repr(reply[:20]),
)
def test_hostile_replies(reply: str) -> None:
    """They change nothing. They are quoted briefly, in printable characters."""
    game = TextGame(TWO, RANDOM, seat=0, form=Form(rules=False))
    before = game.reset(1)
    turn = game.step(reply)
    assert turn.problem and turn.number == before.number and len(turn.text) - len(before.text) < 800
    assert turn.text.replace("\n", "").isprintable() and turn.message.isprintable()


def test_a_reply_that_was_cut_off() -> None:
    game = TextGame(TWO, RANDOM, seat=0)
    game.reset(1)
    turn = game.step("I think that b1 is best, since\nit", truncated=True)
    assert turn.problem == "truncated" and "cut off" in turn.message
    assert game.step("1", truncated=True).problem == "truncated"  # the rest of the reply is unknown
    assert not game.step('So\n{"answer": 1}\nand I', truncated=True).problem


# --- tables, seats, sessions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [TWO, FIVE, Evergreen(3), leduc_poker.Config()], ids=name_of)
def test_every_seat_by_text(config: Any) -> None:
    table = TextTable(config)
    turn, seats = table.reset(4), set()
    while not table.done:
        assert turn.seat == table.actor and not turn.problem
        assert (turn.seat not in seats) == bool(turn.rules)
        seats.add(turn.seat)
        turn = table.step("1")
    assert seats == set(range(config.players))
    rewards = [table.turn(seat).reward for seat in range(config.players)]
    assert sum(rewards) == pytest.approx(0)
    assert [table.turn(seat).info["won"] for seat in range(config.players)] == [
        reward > 0 for reward in rewards
    ] or not any(rewards)


def test_messages_of_a_table_are_for_their_seat() -> None:
    """A problem with one seat's reply is not told to another seat."""
    table = TextTable(TWO, tries=1, on_failure="random")
    first = table.reset(1)
    turn = table.step("my xylophone")
    while turn.seat == first.seat:
        turn = table.step("1")
    assert "xylophone" not in turn.text


def test_sessions_know_nothing_of_each_other() -> None:
    games = [TextGame(TWO, RANDOM, seat=0, form=Form(rules=False)) for _ in range(3)]
    alone = whole_game(TextGame(TWO, RANDOM, seat=0, form=Form(rules=False)), 7)
    turns = [game.reset(7) for game in games]
    texts: list[list[str]] = [[turn.text] for turn in turns]
    while not turns[0].done:
        turns[0] = games[0].step("1")
        turns[1] = games[1].step("xylophone")
        turns[2] = games[2].step("2") if not turns[2].done else games[2].reset(9)
        texts[0].append(turns[0].text)
        assert "xylophone" not in turns[0].text + turns[2].text
        if turns[1].done:
            turns[1] = games[1].reset(1)
    assert texts[0] == [turn.text for turn in alone]


def test_seats_and_opponents() -> None:
    assert {TextGame(TWO, RANDOM).reset(seed).seat for seed in range(12)} == {0, 1}
    game = TextGame(Config(players=3), ("random", "greedy"), seat=1)
    game.reset(1)
    assert game.session.seats == ("greedy", "person", "random")
    assert TextGame(TWO).reset(0).seat in (0, 1)  # against greedy
    wrong: list[dict[str, Any]] = [{"opponents": ("random",) * 3}, {"seat": 3}, {"tries": 0}]
    for arguments in [*wrong, {"on_failure": "win"}, {"reward": "x"}]:
        with pytest.raises(ConfigError):
            TextGame(Config(players=3), **{"opponents": RANDOM, **arguments})
    with pytest.raises(ConfigError, match="opponents"):
        TextGame(SOLO, RANDOM)
    with pytest.raises(ConfigError, match="answers='all'"):
        Form(answers="all")


@pytest.mark.parametrize("game", [TextGame(TWO), TextTable(TWO)], ids=["game", "table"])
def test_without_a_seed_each_game_is_another_one(game: TextTable) -> None:
    texts = {game.reset().text for _ in range(3)}
    assert len(texts) == 3 and game.replay.seed == game.session.seed
    seed, before = game.session.seed, game.turn().text
    assert game.reset(seed).text == before


def test_a_list_goes_on_when_only_its_seat_is_asked() -> None:
    """What is left of a list waits until its seat is asked again, and ends with what another seat does."""
    table = TextTable(TWO, form=Form(rules=False))
    turn = table.reset(1)
    first = turn.seat
    turn = table.step(json.dumps({"answer": [turn.answers[0], "fly to the moon"]}))
    while turn.seat != first:
        assert not turn.message
        turn = table.step("1")
    assert turn.number == 1 and turn.info["problems"] == 0
    assert turn.message == "Something new happened after 1 of 2 answers; the others were not played."


def test_before_and_after_a_game() -> None:
    game = TextGame(TWO, RANDOM)
    with pytest.raises(GameOver, match="call reset"):
        game.step("1")
    whole_game(game, 1)
    with pytest.raises(GameOver, match="call reset"):
        game.step("1")
    with pytest.raises(ConfigError, match="only in a game for one"):
        game.undo()


def test_undo_and_replay(tmp_path: Any) -> None:
    game = TextGame(SOLO)
    first = game.reset(3)
    assert game.undo().message == "There is nothing to take back."
    game.step("1")
    assert game.undo().number == first.number
    assert game.turn().info["answers"] == 0
    game.step("1")
    assert game.step("2").info["answers"] == 2 and game.undo().info["answers"] == 1
    turns = whole_game(game, 3)
    game.replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json", SOLO.game).points == tuple(turns[-1].info["points"])
    assert game.actor == NOBODY


def test_a_semicolon_within_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer with a semicolon is one answer, also as the first of the game."""
    named = dict(enumerate(("first; column", "second; column")))
    monkeypatch.setattr(PlainWords, "action_text", lambda self, state, action: named.get(action, f"column {action}"))
    game = TextGame(connect_four.Config(), ("random",), seat=0)
    for action, text in named.items():
        game.reset(1)
        turn = game.step(json.dumps({"answer": text}))
        assert not turn.problem and not turn.message
        assert game.replay.actions[0] == action
