"""Games as messages: one seat against agents (`TextGame`), or every seat by text (`TextTable`)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tabletop_engine import seeds
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, GameOver, TabletopError
from tabletop_engine.game import NOBODY, Config, game_of
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.batch import check_config, choice
from tabletop_engine.play.learner_games import check_seat
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.scores import margins
from tabletop_engine.record import FORFEIT
from tabletop_engine.text.answers import UNKNOWN, declared_answers, read_answer
from tabletop_play.session import Session
from tabletop_text.turn import FAILURES, Form, Turn

REWARDS = {"win": "win", "margin": "margin", "points": "points"}

_NUMBERED = "a number counts for the list that you have seen; later answers of a list need words"


class InvalidReply(TabletopError):
    """A player gave no legal answer in as many replies as are allowed (on_failure="raise")."""


@dataclass
class _Seat:
    """What a seat that answers by text has said and heard. Numbers count the answers in the game before.

    Attributes:
        since: the number before its last reply of which something was played.
        told: the number at its last message; -1 before the first one.
        given: the numbers of the answers that its replies gave.
        problems: how many of its replies had something wrong.
        answers: those of its last reply; the first `played` of them were played.
        problem, message: about its last reply, for its next message.
    """

    since: int = 0
    told: int = -1
    given: list[int] = field(default_factory=list)
    problems: int = 0
    answers: Sequence[str] = ()
    played: int = 0
    problem: str = ""
    message: str = ""


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
            `Batch` has it; "margin": points less the mean of the others'; "points": its points. Partners get the same.
            Where all have one result, alone without an opponent or together, the reward is always the points. A game
            that a seat loses by its replies is no victory for it: its margin is at most 0, and its points are 0.

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
    def reset(self, seed: int | None = None) -> Turn:
        """Start the game of a seed; None draws one. Returns the message to the first seat that answers by text."""
        return self._begin(_seed_or_random(seed), self._agents)

    def _begin(self, seed: int, agents: dict[int, Agent]) -> Turn:
        self._session = Session(self.config, dict(agents), seed=seed)
        self._failed = 0  # replies in a row
        self._seats = [_Seat() for _ in range(self.config.players)]
        self._loser = NOBODY
        self._go_on()
        return self.turn()

    @checked
    def step(self, reply: str, truncated: bool = False) -> Turn:
        """Answer for the seat that is asked.

        A reply may declare several answers. They are played one after another, as often as its seat is asked, until one
        is not understood, or the seat has seen something new: an answer of another one, or chance. Its next message
        then says how far it came.

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
        seat = session.actor
        own, declared = self._seats[seat], declared_answers(reply, truncated)
        own.answers, own.played = self._split_at_semicolons(declared.answers), 0
        own.problem = own.message = ""
        if declared.problem:
            self._refuse(seat, declared.problem, declared.message)
        self._go_on()
        to = seat if session.over else session.actor
        next_one = self._seats[to]
        problem, message, next_one.problem, next_one.message = next_one.problem, next_one.message, "", ""
        return self._turn(to, problem, message, anew=next_one.told < 0 or self._is_new(to, next_one.told))

    def _go_on(self) -> None:
        """Let agents act, and play what was answered in advance, until a seat has to be asked by text."""
        session = self.session
        while not session.over:
            if session.waits_for_agent:
                session.let_agent_act()
            elif self._seats[session.actor].answers:
                self._play_next(session.actor)
            else:
                break

    def _play_next(self, seat: int) -> None:
        """Play the next answer of the seat's last reply; without one, or if it can't be played, forget the others."""
        own, session = self._seats[seat], self.session
        left = own.answers[own.played :]
        if own.played and left and self._is_new(seat, own.given[-1]):
            far = f"{own.played} of {len(own.answers)} answers"
            own.message = f"Something new happened after {far}; the others were not played."
        elif own.played and left and left[0].isdecimal():
            self._refuse(seat, UNKNOWN, f'"{left[0]}": {_NUMBERED}.')
        elif left:
            read = read_answer(left[0], session.options())
            if read.action is None:
                self._refuse(seat, read.problem, read.message)
            else:
                own.since = own.since if own.played else session.number
                own.given.append(session.number)
                own.played += 1
                self._failed = 0
                session.play(read.action)
                return
        own.answers = ()

    def _is_new(self, seat: int, first: int) -> bool:
        """Whether, from this answer on, chance was drawn, or another seat has answered what this one may know."""
        session = self.session
        steps = session.steps(min(first, session.number), seat)
        return any((step.done and step.owner != seat) or session.drew_chance(step.number) for step in steps)

    def undo(self) -> Turn:
        """Take the last answer of a game for one back, with all chance that followed it.

        Raises ConfigError in games of several players.
        """
        session = self.session
        if not session.alone:
            raise ConfigError("undo: only in a game for one")
        undone = session.undo()
        self._failed, self._loser = 0, NOBODY
        self._seats[0].given = [number for number in self._seats[0].given if number < session.number]
        return self._turn(0, message="" if undone else "There is nothing to take back.")

    def turn(self, seat: int | None = None) -> Turn:
        """The present message to a seat. None: to the seat that is asked; after the end to seat 0."""
        if seat is None:
            seat = 0 if self.session.over else self.session.actor
        return self._turn(seat)

    def _turn(self, seat: int, problem: str = "", message: str = "", anew: bool = True) -> Turn:
        session, own = self.session, self._seats[seat]
        asked, answered = session.actor == seat, session.answered(seat)
        own.told = session.number
        return Turn(
            self.config,
            session.tables,
            session.state,
            seat,
            form=self.form,
            number=answered,
            first=not answered and asked and not problem,
            options=session.options() if asked else (),
            events=session.events(min(own.since, session.number), seat),
            anew=anew,
            problem=problem,
            message=message,
            reward=self._reward(seat) if session.over else 0.0,
            info=self._info(seat),
        )

    def _split_at_semicolons(self, answers: Sequence[str]) -> Sequence[str]:
        """The answers. A text that is no answer as a whole is split at its semicolons."""
        if len(answers) != 1 or ";" not in answers[0]:
            return answers
        if read_answer(answers[0], self.session.options()).action is not None:
            return answers
        return [one for one in answers[0].split(";") if one.strip()] or answers

    def _refuse(self, seat: int, problem: str, message: str) -> None:
        """Note what is wrong with the seat's reply. After `tries` such replies in a row, do what `on_failure` says."""
        own = self._seats[seat]
        own.problems += 1
        if own.played:
            message = f"{own.played} of {len(own.answers)} answers were played. Then: {message}"
        else:
            self._failed += 1
        if self._failed == self.tries:
            problem, message = "", self._fail(seat, message)
        own.problem, own.message = problem, message

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
        drawn = seeds.generator(self.session.seed, seeds.Stream.TEXT_SEATS, 2, seat, self.session.answered(seat))
        self.session.play(int(drawn.choice(actions)))
        return f"{failed} So a random answer was played."

    def _reward(self, seat: int) -> float:
        state, config = self.session.state, self.config
        points, teams = state["points"][: config.owners].astype(np.float64), self.game.teams(config)
        own = teams[seat]
        invalid = self._loser != NOBODY and teams[self._loser] == own
        if self.reward == "points" or config.owners == 1:
            return 0.0 if invalid else float(points[own])
        if self.reward == "margin":
            margin = float(margins(points[None, :])[0, own])
            return min(0.0, margin) if invalid else margin
        winners = {teams[one] for one in self.game.winners(state) if one < config.players}
        losers = set(teams) - winners
        if len(set(teams)) == 1:
            return 1.0 if winners else -1.0
        return 0.0 if not losers else 1.0 / len(winners) if own in winners else -1.0 / len(losers)

    def _info(self, seat: int) -> dict[str, Any]:
        session = self.session
        info: dict[str, Any] = {"answers": len(self._seats[seat].given), "problems": self._seats[seat].problems}
        if session.over:
            info["points"] = self.game.named_points(session.state)
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
    def reset(self, seed: int | None = None) -> Turn:
        """Start the game of a seed; None draws one. Returns the first message to the caller's seat."""
        players, seed = self.config.players, _seed_or_random(seed)
        drawn = seeds.generator(seed, seeds.Stream.TEXT_SEATS).integers(players)
        self.seat = int(drawn) if self._wanted_seat < 0 else self._wanted_seat
        agents = {(self.seat + 1 + i) % players: agent for i, agent in enumerate(self._opponents)}
        return self._begin(seed, agents)

    def turn(self, seat: int | None = None) -> Turn:
        """The present message to the caller's seat."""
        return super().turn(self.seat)


def _seed_or_random(seed: int | None) -> int:
    """The seed; one from the operating system instead of None."""
    return secrets.randbelow(2**32) if seed is None else whole("seed", seed, 0, 2**32 - 1)
