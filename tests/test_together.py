"""Answers that are given as one, and which answers may be taken back where several people play."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from evergreen_env.state import Decision as EvergreenDecision
from petrichor_env import Config
from petrichor_env.state import NOBODY, Decision
from tabletop_engine.errors import IllegalAction
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.words import asked_of, in_a_row
from tabletop_play.combinations import MOST, Chains, combinations
from tabletop_play.session import Session
from tabletop_play.taking_back import may_be_taken_back
from tests.games import leduc_poker
from tests.support.configurations import OF_SEVERAL_GAMES


def steps(config: Any, seed: int = 1) -> Any:
    """A random game: the batch before each step, and the action."""
    batch = Batch(config, 1, seed, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        action = int(batch.random_actions()[0])
        yield batch, action
        batch.step([action])


@pytest.mark.parametrize("config", OF_SEVERAL_GAMES, ids=lambda config: f"{config.game.name}-{config.name}")
def test_combinations(config: Any) -> None:
    """Each can be given. None continues after chance or with another player. Every legal action begins one."""
    game, generator, longest = config.game, np.random.default_rng(0), 1
    for batch, _ in steps(config):
        state = batch.states[0].copy()
        found = combinations(game, state, batch.tables)
        legal = legal_actions(state).tolist()
        assert state.tobytes() == batch.states[0].tobytes()
        assert sorted({one.actions[0] for one in found}) == legal
        assert [one.actions for one in found] == sorted({one.actions for one in found})
        assert len(found) <= max(MOST, len(legal))
        assert len({one.text(game.words.action_text) for one in found}) == len(found)
        one = found[generator.integers(len(found))]
        copy = batch.copy()
        for before, action in zip(one.states, one.actions, strict=True):
            now = copy.states[0]
            assert now.tobytes() == before.tobytes() and action in legal_actions(now)
            assert now["actor"] == state["actor"] and (now["rng"] == state["rng"]).all()
            copy.step([action])
        for before, after in zip(one.states[:-1], one.states[1:], strict=True):
            assert game.words.continues_answer(before, after)
        longest = max(longest, *(len(one.actions) for one in found))
    assert (longest > 1) == (game.name in ("petrichor", "evergreen"))


@pytest.mark.parametrize(
    "config", [one for one in OF_SEVERAL_GAMES if one.players > 1], ids=lambda config: str(config.name)
)
def test_combinations_tell_nothing(config: Any) -> None:
    """They are the same, whatever is hidden from the actor."""
    game, generator = config.game, np.random.default_rng(2)
    for batch, _ in steps(config, 2):
        if generator.integers(4):
            continue
        other = batch.states.copy()
        seats = other["actor"].astype(np.int64)
        game.kernels.sample_hidden_games(other, batch.tables, seats, generator.integers(0, 2**64, 1, np.uint64))
        found = [combinations(game, state, batch.tables) for state in (batch.states[0], other[0])]
        texts = [[(one.actions, one.text(game.words.action_text)) for one in those] for those in found]
        assert texts[0] == texts[1]


def may(batch: Batch, action: int) -> bool:
    """Whether an answer could be taken back."""
    before, after = batch.states[0].copy(), batch.copy()
    after.step([action])
    generator = np.random.default_rng(0)
    return may_be_taken_back(batch.game, before, action, after.states[0], batch.tables, generator)


def test_packs_that_are_passed_on() -> None:
    """In a draft a pick may be taken back, but not the last one, because then all get other packs."""
    config, found = Config(players=3, drafting=True), set()
    for batch, action in steps(config):
        if batch.states[0]["decision"] != Decision.DRAFT:
            continue
        after = batch.copy()
        after.step([action])
        packs = [one.states[0]["pack"].sum(axis=1).tolist() for one in (batch, after)]
        passed = sum(a != b for a, b in zip(*packs, strict=True)) > 1
        drew = (batch.states["rng"] != after.states["rng"]).any()
        found.add((passed, may(batch, action)))
        assert not (drew and may(batch, action))
    assert (False, True) in found and (True, True) not in found


def test_turns_that_end() -> None:
    """Evergreen: the last answer of a round shows what the others did; within a turn nothing is shown."""
    within, ended = 0, 0
    for batch, action in steps(EvergreenConfig(3)):
        before = batch.states[0].copy()
        after = batch.copy()
        after.step([action])
        if before["decision"] in (EvergreenDecision.GAME_OVER, EvergreenDecision.DRAFT):
            continue
        if after.states[0]["round"] != before["round"] or after.actors[0] == NOBODY:
            assert not may(batch, action)
            ended += 1
        elif after.actors[0] == before["actor"]:
            assert may(batch, action)
            within += 1
    assert within > 20 and ended > 10


def test_what_a_card_shows() -> None:
    """An answer that turned up a card can't be taken back. An illegal action that loses the game is no choice."""
    config, found = leduc_poker.Config(), set()
    for seed in range(20):
        for batch, action in steps(config, seed):
            after = batch.copy()
            after.step([action])
            shown = after.states[0]["round"] != batch.states[0]["round"]
            found.add((bool(shown), may(batch, action)))
    assert found == {(False, True), (True, False)}
    batch = Batch(Config(players=2), 1, 1, autoreset="disabled")
    before = batch.states[0].copy()
    assert not may_be_taken_back(batch.game, before, FORFEIT, before, batch.tables, np.random.default_rng(0))


def test_a_session_gives_and_takes_back() -> None:
    session = Session(Config(), seed=5)
    found = max(session.combinations(), key=lambda one: len(one.actions))
    assert len(found.actions) > 1 and session.way_back() is None
    start = session.state.tobytes()
    for wrong in ((), (*found.actions, 0), (found.actions[0], 10**9)):
        with pytest.raises(IllegalAction):
            session.give(wrong)
        assert session.state.tobytes() == start and session.number == 0
    session.give(found.actions)
    assert session.number == len(found.actions) and session.way_back() == 0
    assert session.undo(0) and session.state.tobytes() == start and not session.undo(0) and session.way_back() is None


def test_answers_in_any_order() -> None:
    """Whatever space is chosen first, all others can be added; the answers come in the order of the rules."""
    session = Session(EvergreenConfig(), seed=4)
    while session.state["decision"] != EvergreenDecision.PLANT:
        session.play(legal_actions(session.state)[0])
    chains, spaces = Chains(session.game, session.tables), legal_actions(session.state).tolist()
    for first in spaces:
        added = dict(chains.joined(session.chain([first])))
        assert {*spaces} - {first} <= added.keys()
        for space in set(spaces) - {first}:
            assert added[space].actions == tuple(sorted((first, space)))
            third = dict(chains.joined(added[space]))
            assert {*spaces} - {first, space} <= third.keys()
            assert all([*chains.joined(one)] == [] for key, one in third.items() if key in spaces)
    session.give((spaces[0], spaces[1]))
    assert session.replay.actions[-2:] == (spaces[0], spaces[1])


def test_a_growth_before_the_sprout() -> None:
    """Who names the growth first can still add the sprout, which the rules want before it."""
    session, generator = Session(EvergreenConfig(), seed=0), np.random.default_rng(1)
    seen = 0
    while not session.over and seen < 5:
        if session.state["decision"] == EvergreenDecision.PLANT_AND_GROW:
            for action in legal_actions(session.state).tolist():
                given = session.chain([action])
                for other, both in Chains(session.game, session.tables).joined(given):
                    seen += both.actions == (other, action)
        session.play(int(generator.choice(legal_actions(session.state))))
    assert seen


def test_each_answer_since_the_choice_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where several people play, a choice stays if any of its answers, the first or a later one, may not go."""
    session = Session(Config(players=2), seed=5)
    generator = np.random.default_rng(2)
    first = 0
    while session.way_back() is None or session.number < first + 2:
        first = session.number
        found = session.combinations()
        session.give(found[generator.integers(len(found))].actions)
    assert session.way_back() == first
    for fixed in range(first, session.number):
        monkeypatch.setattr(Session, "_may_be_taken_back", lambda self, number, fixed=fixed: number != fixed)
        assert session.way_back() is None


def test_choices_of_a_game_that_is_resumed() -> None:
    """Combined answers are one choice again, also if there were too many to offer them together."""
    session, starts = Session(Config(), seed=5), []
    generator = np.random.default_rng(1)
    for _ in range(15):
        found = session.combinations()
        starts.append(session.number)
        session.give(found[generator.integers(len(found))].actions)
    resumed = Session.of(session.replay, {})
    left = [resumed.number]
    while (number := resumed.way_back()) is not None:
        assert number in starts and resumed.undo(number)
        left.append(number)
    assert left[-1] == 0 and len(left) > 8


def test_words_of_several_answers() -> None:
    assert (
        in_a_row(["plant a sprout on c1", "plant a sprout on d2", "stop here"]) == "plant a sprout on c1, d2, stop here"
    )
    assert in_a_row(["pay with a Rain card", "pay with a Rain card"]) == "pay with a Rain card, Rain card"
    assert in_a_row(["move the cloud on b2", "move it north"]) == "move the cloud on b2, move it north"
    assert (
        in_a_row(["plant a sprout and grow", "plant a sprout on b2"]) == "plant a sprout and grow, plant a sprout on b2"
    )
    assert in_a_row(["pass"]) == "pass"
    assert asked_of("to play a card") == "Play a card" and asked_of("for a move") == "You are asked for a move"
    assert asked_of("to play a card", "ann") == "ann is asked to play a card"
