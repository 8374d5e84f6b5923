"""Games as messages: one seat against agents (`TextGame`), or every seat by text (`TextTable`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tabletop_agents.play.session import Session
from tabletop_agents.text.turn import FAILURES, Form, Turn
from tabletop_engine import seeds
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, GameOver, TabletopError
from tabletop_engine.game import NOBODY, Config, game_of
from tabletop_engine.play.agents import Agent, agents_of
from tabletop_engine.play.batch import check_config, choice
from tabletop_engine.play.scores import margins
from tabletop_engine.play.versus import check_seat
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.answers import UNKNOWN, declared_answers, read_answer

REWARDS = {"win": "win", "margin": "margin", "points": "points"}

_NUMBERED = "a number counts for the list that you have seen; later answers of a list need words"


class InvalidReply(TabletopError):
    """A player gave no legal answer in as many replies as are allowed (on_failure="raise")."""


class TextTable:
    """One game in which every seat answers by text. One seat is asked at a time.

    Arguments:
        config: what is played.
        agents: agents, or their names, by seat; the other seats answer by text.
        form: what the messages show.
        tries: after so many replies in a row without a legal answer `on_failure` happens.
        on_failure: "lose": the game ends and the seat has lost it; "random": a random legal action is played; "raise":
            InvalidReply is raised, and the game stays as it is.
        reward: what a finished game brings a seat: "win": +1 shared by the winners, -1 by the others (0 if all win), as
            `Batch` has it; "margin": points less the mean of the others'; "points": its points. In a game for one
            without an opponent the reward is always the points. A game that a seat loses by its replies is no victory
            for it: its margin is at most 0, and its points are 0.

    Raises ConfigError for bad arguments and for agents that cannot play this.
    """

    @checked
    def __init__(
        self,
        config: Config,
        agents: dict[int, Agent | str] | None = None,
        *,
        form: Form | None = None,
        tries: int = 3,
        on_failure: str = "lose",
        reward: str = "win",
    ) -> None:
        self.game = check_config(config)
        self.config, self.form = config, form or Form()
        self.tries = whole("tries", tries, 1, 100)
        self.on_failure = choice("on_failure", on_failure, FAILURES)
        self.reward = choice("reward", reward, REWARDS)
        given = agents or {}
        self._agents: dict[int, Agent] = dict(zip(given, agents_of([*given.values()], config), strict=True))
        self._session: Session | None = None

    # --- what is asked of whom ---

    @property
    def session(self) -> Session:
        """The game itself. Raises GameOver before the first reset."""
        if self._session is None:
            raise GameOver("there is no game yet: call reset")
        return self._session

    @property
    def actor(self) -> int:
        """The seat that is asked; NOBODY when the game is over."""
        return self.session.actor

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self.session.over

    @property
    def replay(self) -> Any:
        """The game so far, as a `Replay`."""
        return self.session.replay

    # --- playing ---

    @checked
    def reset(self, seed: int = 0) -> Turn:
        """Start the game of a seed; returns the message to the first seat that answers by text."""
        return self._begin(seed, self._agents)

    def _begin(self, seed: int, agents: dict[int, Agent]) -> Turn:
        self._session = Session(self.config, dict(agents), seed=whole("seed", seed, 0, 2**32 - 1))
        self._failed = 0  # replies in a row
        self._since = [0] * self.config.players  # the number of answers before each seat's last reply
        self._loser = NOBODY
        self._counts = {seat: {"answers": 0, "problems": 0} for seat in range(self.config.players)}
        self._let_agents_act()
        return self.turn()

    @checked
    def step(self, reply: str, truncated: bool = False) -> Turn:
        """Answer for the seat that is asked.

        A reply may declare several answers. They are played one after another until one is not understood, another seat
        is asked, or chance has shown something new; the message then says how far it came.

        Arguments:
            reply: any text.
            truncated: whether the reply was cut off, such as by a limit of tokens. Then it is read only if it declares
                an answer nevertheless.

        Returns the message to the seat that is asked next; after the end, to the seat that answered. Raises GameOver
        after the end, and InvalidReply with on_failure="raise".
        """
        session = self.session
        if session.over:
            raise GameOver("the game is over: call reset")
        seat, first = session.actor, session.number
        declared = declared_answers(reply, truncated)
        problem, message = declared.problem, declared.message
        answers, played = self._separated(declared.answers), 0
        for typed in answers:
            if played and (stop := self._stops(seat)):
                message = f"{stop} after {played} of {len(answers)} answers; the others were not played."
                break
            if played and typed.isdecimal():
                problem, message = UNKNOWN, f'"{typed}": {_NUMBERED}.'
                break
            read = read_answer(typed, session.options())
            if read.action is None:
                problem, message = read.problem, read.message
                break
            session.play(read.action)
            played += 1
        self._counts[seat]["answers"] += played
        self._counts[seat]["problems"] += bool(problem)
        if played and problem:
            message = f"{played} of {len(answers)} answers were played. Then: {message}"
        if played:
            self._since[seat] = first
        self._failed = 0 if played else self._failed + 1
        if self._failed == self.tries:
            problem, message = "", self._fail(seat, message)
        own = session.number
        self._let_agents_act()
        chance = any(session.drew_chance(number) for number in range(first, own))
        to = seat if session.over else session.actor
        same = to == seat
        anew = chance or session.number > own or not same
        return self.turn(to, problem=problem if same else "", message=message if same else "", anew=anew)

    def undo(self) -> Turn:
        """Take the last answer of a game for one back, with all chance that followed it.

        Raises ConfigError in games of several players.
        """
        if not self.session.alone:
            raise ConfigError("undo: only in a game for one")
        undone = self.session.undo()
        self._failed, self._loser = 0, NOBODY
        return self.turn(message="" if undone else "There is nothing to take back.")

    def turn(self, seat: int | None = None, *, problem: str = "", message: str = "", anew: bool = True) -> Turn:
        """The present message to a seat. None: to the seat that is asked; after the end to seat 0."""
        session = self.session
        if seat is None:
            seat = 0 if session.over else session.actor
        asked = session.actor == seat
        return Turn(
            self.config,
            session.tables,
            session.state,
            seat,
            form=self.form,
            number=session.number,
            first=session.own_last(seat) < 0 and asked and not problem,
            options=session.options() if asked else (),
            told=session.telling(min(self._since[seat], session.number), seat),
            anew=anew,
            problem=problem,
            message=message,
            reward=self._reward(seat) if session.over else 0.0,
            info=self._info(seat),
        )

    def _separated(self, answers: Sequence[str]) -> Sequence[str]:
        """The answers. A text that is no answer as a whole is split at its semicolons."""
        if len(answers) != 1 or ";" not in answers[0]:
            return answers
        if read_answer(answers[0], self.session.options()).action is not None:
            return answers
        return [one for one in answers[0].split(";") if one.strip()]

    def _stops(self, seat: int) -> str:
        """Why an answer that was given in advance is not played; "" if it is."""
        session = self.session
        if session.over:
            return "The game ended"
        if session.actor != seat:
            return "Another player was asked"
        return "Chance showed something new" if session.drew_chance(session.number - 1) else ""

    def _fail(self, seat: int, message: str) -> str:
        """What happens after too many replies without a legal answer; returns it as a sentence."""
        self._failed = 0
        failed = f"No legal answer in {self.tries} {'reply' if self.tries == 1 else 'replies'}. {message}"
        if self.on_failure == "raise":
            raise InvalidReply(failed)
        if self.on_failure == "lose":
            self._loser = seat
            self.session.take(FORFEIT)
            return f"{failed} So the game is lost."
        actions = [option.action for option in self.session.options()]
        self.session.play(int(self.session.generator(2).choice(actions)))
        return f"{failed} So a random answer was played."

    def _let_agents_act(self) -> None:
        while self.session.waits_for_agent:
            self.session.let_agent_act()

    def _reward(self, seat: int) -> float:
        state, config = self.session.state, self.config
        points = state["points"][: config.owners].astype(np.float64)
        invalid = self._loser == seat
        if self.reward == "points" or config.owners == 1:
            return 0.0 if invalid else float(points[seat])
        if self.reward == "margin":
            margin = float(margins(points[None, :])[0, seat])
            return min(0.0, margin) if invalid else margin
        winners = [one for one in self.game.winners(state) if one < config.players]
        if config.players == 1:
            return 1.0 if seat in winners else -1.0
        if len(winners) == config.players:
            return 0.0
        return 1.0 / len(winners) if seat in winners else -1.0 / (config.players - len(winners))

    def _info(self, seat: int) -> dict[str, Any]:
        session = self.session
        info: dict[str, Any] = dict(self._counts[seat])
        if session.over:
            info["points"] = session.state["points"][: self.config.owners].tolist()
            info["won"] = seat in self.game.winners(session.state)
            info["invalid"] = self._loser == seat
        return info


class TextGame(TextTable):
    """One game in which the caller plays one seat by text, and agents play the others.

    The other arguments are those of `TextTable`.

    Arguments:
        opponents: agents, or names for `tabletop_agents.make_agent`; one plays all other seats, players - 1 sit
            clockwise from the caller. None: greedy.
        seat: the caller's seat, or "random": drawn by the seed of the game.
    """

    @checked
    def __init__(
        self,
        config: Config,
        opponents: Sequence[Agent | str] | None = None,
        *,
        seat: int | str = "random",
        form: Form | None = None,
        tries: int = 3,
        on_failure: str = "lose",
        reward: str = "win",
    ) -> None:
        super().__init__(config, form=form, tries=tries, on_failure=on_failure, reward=reward)
        others = config.players - 1
        given = (("greedy",) if others else ()) if opponents is None else opponents
        self._opponents = agents_of(given, config, "opponents")
        if len(self._opponents) not in ({0} if not others else {1, others}):
            raise ConfigError(f"opponents: {len(self._opponents)} given; there are {others} other seats")
        if len(self._opponents) == 1:
            self._opponents *= others
        self._wanted_seat = check_seat(seat, config.players)
        self.seat = 0

    @classmethod
    def of(
        cls,
        home: str,
        config: Mapping[str, Any] | None,
        form: Mapping[str, Any] | None,
        options: Mapping[str, Any],
        **more: Any,
    ) -> TextGame:
        """The game from plain values, as frameworks give them.

        Arguments:
            home: the home module of the game (`tabletop_engine.game.game_of`).
            config: settings of the game's configuration, by their names; None for its defaults.
            form: what the messages show, by the names of `Form`.
            options, more: further arguments of `TextGame`.

        Raises ConfigError for what cannot be played.
        """
        try:
            return cls(game_of(home).config(**(config or {})), form=Form(**(form or {})), **options, **more)
        except TypeError as error:  # a name that is no setting
            raise ConfigError(f"game {home!r}: {error}") from None

    @checked
    def reset(self, seed: int = 0) -> Turn:
        """Start the game of a seed; returns the first message to the caller's seat."""
        players = self.config.players
        drawn = seeds.generator(whole("seed", seed, 0, 2**32 - 1), seeds.Stream.TEXT_SEATS).integers(players)
        self.seat = int(drawn) if self._wanted_seat < 0 else self._wanted_seat
        agents = {(self.seat + 1 + i) % players: agent for i, agent in enumerate(self._opponents)}
        return self._begin(seed, agents)

    def turn(self, seat: int | None = None, *, problem: str = "", message: str = "", anew: bool = True) -> Turn:
        """The present message to the caller's seat."""
        return super().turn(self.seat, problem=problem, message=message, anew=anew)
