"""A seat gets by text nothing that depends on a question that another seat is asked in secret.

Each game is played twice. Only the hidden forecast cards of the other seats differ, and nobody else plays one. The seat
gets the same bytes in both, whoever was asked for a card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from petrichor_env import GAME, Config
from petrichor_env.actions import DECLINE, FORECAST
from petrichor_env.config import MODULES
from petrichor_env.state import NUM_FORECASTS, PLAYED, Decision
from tabletop_engine.play.agents import Decisions
from tabletop_play.catalogue import Catalogue
from tabletop_play.session import Session
from tabletop_text import Form, ModelAgent, Reply, TextGame, TextTable, Turn
from tabletop_text.model import Message
from tabletop_text.tools import Player
from tests.support.effort import games

CONFIGS = [
    Config(players=2, modules=("forecasts",)),
    Config(players=3, drafting=True, modules=("forecasts", "powers")),
    Config(players=5, modules=MODULES),
]
SEEDS = range(games(2, 6))
FORECASTS = range(FORECAST, FORECAST + NUM_FORECASTS)


class Quiet:
    """An agent that plays at random, but no forecast cards. Its choices do not depend on questions for these."""

    name = "quiet"

    def __init__(self, seed: int) -> None:
        self.drawn = np.random.default_rng(seed)

    def chosen(self, legal: Sequence[int]) -> int:
        open_ones = [action for action in legal if action not in FORECASTS]
        return DECLINE if open_ones == [DECLINE] else int(self.drawn.choice(open_ones))

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.array([self.chosen(np.flatnonzero(mask).tolist()) for mask in decisions.action_masks])


class Exchange:
    """Gives the other seats other forecast cards, once they have some; with `other=False` their own again."""

    def __init__(self, seat: int, seed: int, other: bool) -> None:
        self.seat, self.seed, self.other, self.done = seat, seed, other, False

    def __call__(self, session: Session) -> bool:
        """Whether it was done now."""
        holders = session.state["forecast_holder"]
        if self.done or not (holders >= 0).any():
            return False
        hidden = (holders != self.seat) & (holders != PLAYED)
        if self.other:
            holders[hidden] = np.random.default_rng(self.seed).permutation(holders[hidden])
        session._go_to_last()
        GAME.kernels.refresh_legal(session._batch.states, session.tables)
        session._states[-1] = session._batch.states[0].copy()
        self.done = True
        return True


def replies(seed: int) -> Callable[[Sequence[str]], str]:
    """Replies to lists of answers: one of them, often followed by others that may fit the next decisions; or none."""
    drawn = np.random.default_rng(seed)
    seen: list[str] = []

    def reply(answers: Sequence[str]) -> str:
        seen.extend(answer for answer in answers if answer not in seen)
        if drawn.random() < 0.2:
            return "I see no answer.\nNone."
        first = answers[int(drawn.integers(len(answers)))]
        more = [seen[i] for i in drawn.integers(len(seen), size=drawn.integers(4))]
        return json.dumps({"answer": [first, *more, *["pass", "do nothing more"] * bool(more)]})

    return reply


def everything(turn: Turn) -> Any:
    """All that a message holds."""
    parts = (turn.text, turn.rules, turn.events, turn.board, turn.question, turn.lesson, turn.options, turn.message)
    return *parts, turn.seat, turn.number, turn.problem, turn.reward, turn.done, dict(turn.info)


def secret(session: Session) -> list[int]:
    """After how many answers that everybody knows the steps came that nobody else knows."""
    steps = [(int(s["decision"]), int(a)) for s, a in zip(session._states, session._actions, strict=False)]
    hidden = [decision == Decision.FORECAST and action == DECLINE for decision, action in steps]
    return [number - sum(hidden[:number]) for number, one in enumerate(hidden) if one]


def at_a_table(config: Config, seed: int, seat: int, form: Form, other: bool) -> tuple[list[Any], Session]:
    """What a seat gets where all seats answer by text."""
    table = TextTable(config, form=form, on_failure="random", tries=2)
    reply, quiet = replies(seed), [Quiet(100 * seed + one) for one in range(config.players)]
    turn, got = table.reset(seed), []
    exchange = Exchange(seat, seed, other)
    while not turn.done:
        if turn.seat == seat:
            got.append(everything(turn))
        elif exchange(table.session):
            turn = table.turn()
        if turn.seat == seat:
            turn = table.step(reply(turn.answers))
        else:
            action = quiet[turn.seat].chosen([option.action for option in turn.options])
            (text,) = (option.text for option in turn.options if option.action == action)
            turn = table.step(json.dumps({"answer": text}))
    return [*got, everything(table.turn(seat))], table.session


def against_agents(config: Config, seed: int, seat: int, form: Form, other: bool) -> tuple[list[Any], Session]:
    """What a seat gets against agents."""
    agents = [Quiet(100 * seed + one) for one in range(config.players - 1)]
    game, reply = TextGame(config, agents, seat=seat, form=form, on_failure="random", tries=2), replies(seed)
    turn, exchange = game.reset(seed), Exchange(seat, seed, other)
    got = [everything(turn)]
    while not turn.done:
        exchange(game.session)
        turn = game.step(reply(turn.answers))
        got.append(everything(turn))
    return got, game.session


def by_tools(config: Config, seed: int, seat: int, form: Form, other: bool) -> tuple[list[Any], Session]:
    """What a client of the tools gets."""
    catalogue = Catalogue(["petrichor_env.game"])
    numbers = iter(range(config.players))
    catalogue.agent = lambda name, game: Quiet(100 * seed + next(numbers))  # type: ignore[method-assign]
    player, reply = Player(catalogue, GAME), replies(seed)
    options = {"modules": [*config.modules], "drafting": config.drafting}
    settings = {"players": config.players, "seat": seat, "seed": seed, "board": form.board, "options": options}
    got = [player.call("new_game", {**settings, "opponents": ["random"] * (config.players - 1)})]
    assert player._table is not None
    session, exchange = player._table.session, Exchange(seat, seed, other)
    while not session.over:
        exchange(session)
        listed = player.call("legal", {})
        answers = [line.partition(". ")[2] for line in listed.text.splitlines()[1:]]
        got += [listed, player.call("act", {"answer": reply(answers)}), player.call("look", {})]
    return got, session


def as_a_model(config: Config, seed: int, seat: int, form: Form, other: bool) -> tuple[list[Any], Session]:
    """What a model is sent that remembers the game."""
    got: list[Any] = []
    reply = replies(seed)

    def ask(messages: Sequence[Message]) -> Reply:
        got.append((len(messages), messages[0]["content"], messages[-1]["content"]))
        lists = [re.findall(r"^\d+\. (.*)$", message["content"], re.MULTILINE) for message in messages[1:]]
        return Reply(reply([answers for answers in lists if answers][-1]), 0, 0)

    agents: dict[int, Any] = {one: Quiet(100 * seed + one) for one in range(config.players)}
    agents[seat] = ModelAgent(ask, memory="game", form=form, tries=50, parallel=1)
    session, exchange = Session(config, agents, seed=seed), Exchange(seat, seed, other)
    while not session.over:
        if session.actor == seat:
            exchange(session)
        session.let_agent_act()
    return got, session


def pairs(config: Config, play: Any, form: Form) -> Iterator[bool]:
    """For each game: whether others were asked in secret at different times. What the seat got is compared."""
    for seed in SEEDS:
        seat = seed % config.players
        (one, first), (two, second) = (play(config, seed, seat, form, other) for other in (False, True))
        for before, after in zip(one, two, strict=False):
            assert before == after
        assert len(one) == len(two)
        yield secret(first) != secret(second)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("board", ["turn", "full"])
@pytest.mark.parametrize("play", [at_a_table, against_agents, by_tools, as_a_model])
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_a_secret_question_leaves_no_trace(config: Config, play: Any, board: str) -> None:
    assert any([*pairs(config, play, Form(board=board, lessons=board == "full"))])
