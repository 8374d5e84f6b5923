"""A game that people play, alone or with agents. The terminal and the browser share it.

It knows whose turn it is, the possible answers and what happened, and it undoes, gives hints, saves and resumes.
`tabletop_play.typed` adds typed lines and screens of text, `tabletop_play.web` adds pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from tabletop_agents.checkpoint import configs_of, read_notes
from tabletop_agents.names import check_trusted, checkpoint_path, shipped_policies
from tabletop_engine import seeds
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, IllegalAction
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.play.agents import Agent, Decisions, ask
from tabletop_engine.play.batch import Batch, check_config, legal_actions
from tabletop_engine.play.names import agents_of, make_agent
from tabletop_engine.play.past import past_of, remember
from tabletop_engine.record import FORFEIT, copied, told_points
from tabletop_engine.replays.files import check_names
from tabletop_engine.replays.replay import Replay, told_steps, words_for
from tabletop_engine.text.answers import Option, legal_options
from tabletop_engine.text.words import counted, win_text
from tabletop_play.combinations import Chains, Combination, combinations
from tabletop_play.opponents import called
from tabletop_play.preview import Preview, preview
from tabletop_play.taking_back import may_be_taken_back

PERSON = "person"
"""The name that a replay gives to a seat played by a person."""
HINTS, GUIDED_HINTS = "ismcts-2000", "search-800"
"""The agent that gives hints, and the one used instead if a shipped network was trained for this configuration."""

_TAKING_BACK, _PREVIEW = 2, 3
"""The purposes of random numbers (`Session.generator`): to tell whether an answer showed something, and previews."""


def hints_for(config: Config) -> Agent:
    """The agent that gives hints by default: a search, guided by a shipped network if one was trained for this game."""
    return make_agent(hints_name(config), config.game)


def hints_name(config: Config) -> str:
    """The name of the agent that `hints_for` makes."""
    game = config.game
    if find_spec("torch") is not None:
        for name in shipped_policies(game):
            path = checkpoint_path(name, game)
            if config in configs_of(game, read_notes(game, path).get("training", {}), path):
                return f"{GUIDED_HINTS}:{name}"
    return HINTS


@dataclass(frozen=True)
class Step:
    """One answer that was given in a game."""

    number: int  # of answers before it
    before: Any  # the record before it
    action: int
    owner: int  # the seat that gave it
    done: str  # the answer in words, as far as the viewer may know it; "" if all of it is hidden


S = TypeVar("S", bound="Session")


class Session:
    """One game of people and agents, from its start until the people leave it.

    Arguments:
        agents: the agents by seat, objects or names for `tabletop_agents.make_agent`; people play the other seats.
        seed: of the game. The agents' own randomness also comes from it, separately for every decision, so a resumed
            game continues as it would have without the break.
        start: the first state, a record, instead of the set-up of that seed.
        hints: the agent that gives hints; None: as `hints_for` chooses.

    Attributes:
        changes: how often an answer was given or taken back. While it stays the same, so does the position.

    Raises ConfigError for seats that do not exist, for agents that cannot play this game, and for names of agents that
    a replay cannot hold; StateError for a first state that breaks the rules.
    """

    @checked
    def __init__(
        self,
        config: Config,
        agents: Mapping[int, Agent | str] | None = None,
        *,
        seed: int = 0,
        start: Any = None,
        hints: Agent | str | None = None,
    ) -> None:
        self.game = game = check_config(config)
        self.config = config
        given = agents or {}
        self.agents = dict(zip(given, agents_of([*given.values()], config), strict=True))
        self._hints = None if hints is None else agents_of([hints], config, "hints")[0]
        self.given_names: dict[int, str] = {}  # the names that people gave, by their seats
        self.agent_names: dict[int, str] = {}  # what agents are called in place of their own names, by their seats
        self.seed = seed
        self.people = tuple(seat for seat in range(config.players) if seat not in self.agents)
        if not self.agents.keys() <= set(range(config.players)):
            taken = ", ".join(map(str, sorted(self.agents)))
            raise ConfigError(f"agents in seats {taken}: the seats are 0 to {config.players - 1}")
        check_names(self.seats, config)  # otherwise the game could never be saved
        self._batch = Batch(config, 1, seed, autoreset="disabled", illegal_action="raise")
        if any(getattr(agent, "remembers", False) for agent in self.agents.values()):
            remember(self._batch)
        if start is not None:
            if getattr(start, "dtype", None) != game.state or start.shape != ():
                raise ConfigError(f"start={start!r:.80}: must be one record of {game.title}")
            self._batch.set_states(np.array([start]))
        self._start: Any = seed if start is None else copied(self._batch.states[0])
        self._states = [copied(self._batch.states[0])]
        self._actions: list[int] = []
        self._options: list[Option] | None = None  # of the present decision, once somebody has asked for them
        self._combinations: list[Combination] | None = None
        self._chosen: set[int] = set()  # the numbers of the answers with which a person's choices began
        self.changes = 0

    @property
    def hints(self) -> Agent:
        """The agent that gives hints. It is created at its first use, because a network takes seconds to load."""
        if self._hints is None:
            self._hints = hints_for(self.config)
        return self._hints

    @classmethod
    @checked
    def resume(cls, path: str | Path, game: Game, hints: Agent | None = None, trusted: Sequence[str] = ()) -> Self:
        """Resume the game in a file. The file may name agents of your own only if they are `trusted`.

        Raises ReplayError for a file that is not a valid replay of this game, ConfigError for a game that is over or
        has no person, and whatever `make_agent` raises.
        """
        replay = Replay.load(path, game)
        if replay.winners is not None:
            raise ConfigError(f"{path}: this game is over; look at it with {game.command} replay")
        if PERSON not in replay.names:
            raise ConfigError(
                f"{path}: no seat is called {PERSON!r}, so nobody can continue; look at it with {game.command} replay"
            )
        check_trusted(path, replay.names, trusted)
        agents = {seat: make_agent(name, game) for seat, name in enumerate(replay.names) if name != PERSON}
        return cls.of(replay, agents, hints)

    @classmethod
    @checked
    def of(cls, replay: Replay, agents: Mapping[int, Agent | str], hints: Agent | str | None = None) -> Self:
        """The game of a replay after its last action, with these agents. Raises as `Replay.states` does."""
        session = cls(replay.config, agents, seed=replay.seed or 0, hints=hints)
        session._states = list(replay.states.copy())
        session._actions = list(replay.actions)
        session._start = session._states[0] if replay.seed is None else replay.seed
        session._go_to_last()
        session._chosen = {number for number in range(session.number) if session._is_choice(number)}
        return session

    # --- what is asked of whom ---

    @property
    def state(self) -> Any:
        """The game now, one record; not to be changed."""
        return self._states[-1]

    @property
    def tables(self) -> np.ndarray:
        """(1,) the numbers on the pieces that it is played with."""
        return self._batch.tables

    @property
    def actor(self) -> int:
        """The seat that is asked, NOBODY when the game is over."""
        return int(self.state["actor"])

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.actor == NOBODY

    @property
    def waits_for_agent(self) -> bool:
        """Whether the game goes on with an agent's answer."""
        return self.actor in self.agents

    @property
    def replay(self) -> Replay:
        """The game so far, without answers that were taken back."""
        return Replay.of(self.config, self._start, self._actions, names=self.seats)

    @property
    def whole(self) -> Replay:
        """The game so far; `Line` adds what follows the present position."""
        return self.replay

    @property
    def signed(self) -> Replay:
        """As `replay`, with the names that people gave. It is for a finished game: nobody can continue it."""
        names = [self.given_names.get(seat, name) for seat, name in enumerate(self.seats)]
        return Replay.of(self.config, self._start, self._actions, names=names)

    @property
    def seats(self) -> tuple[str, ...]:
        """The names of the players by seat, as in a replay."""
        seats = range(self.config.players)
        return tuple(PERSON if seat in self.people else self.agents[seat].name for seat in seats)

    @property
    def number(self) -> int:
        """The number of answers so far."""
        return len(self._actions)

    def until(self, number: int) -> Self:
        """The game after so many of its answers, only to be looked at."""
        if number == self.number:
            return self
        seen = copy(self)
        seen._states, seen._actions = self._states[: number + 1], self._actions[:number]
        return seen

    def answers(self) -> list[tuple[int, str]]:
        """The legal actions, each with its meaning in words."""
        state, text = self.state, self.game.words.action_text
        return [(action, text(state, action)) for action in legal_actions(state).tolist()]

    def combinations(self) -> list[Combination]:
        """The possible answers, each together with those that go on with it (`tabletop_play.combinations`)."""
        if self._combinations is None:
            self._combinations = combinations(self.game, self.state, self.tables)
        return self._combinations

    def chain(self, actions: Sequence[int]) -> Combination:
        """Answers that go on with each other (`tabletop_play.combinations`). Raises IllegalAction if they don't."""
        found = Chains(self.game, self.tables).of(self.state, actions) if actions else None
        if found is None:
            raise IllegalAction("the answers do not go on with each other")
        return found

    def steps(self, first: int, viewer: int | None) -> Iterator[Step]:
        """The answers from the given number on, in the words that a viewer may know (a seat; None: everything)."""
        for number in range(first, len(self._actions)):
            before, action = self._states[number], self._actions[number]
            done = words_for(self.game, before, action, viewer)
            yield Step(number, before, action, int(before["actor"]), done)

    def events(self, first: int, viewer: int | None) -> Iterator[tuple[str, Sequence[str]]]:
        """What happened from the given answer on, as a viewer may know it, up to now.

        Yields pairs of who answered what ("" if that is hidden), and sentences about what it did.
        """
        steps = [*zip(self._states[first:-1], self._actions[first:], strict=True)]
        return told_steps(self.game, steps, viewer, self.tables, self.label)

    def options(self) -> list[Option]:
        """The possible answers as `read_answer` takes them."""
        if self._options is None:
            self._options = legal_options(self.game, self.state)
        return self._options

    def drew_chance(self, number: int) -> bool:
        """Whether anything was drawn at random after the answer of this number."""
        before, after = self._states[number], self._states[number + 1]
        return bool((before["rng"] != after["rng"]).any())

    def own_last(self, seat: int) -> int:
        """The number of this seat's last answer; -1 if it has not answered yet."""
        numbers = reversed(range(len(self._actions)))
        return next((number for number in numbers if self._states[number]["actor"] == seat), -1)

    def answered(self, seat: int) -> int:
        """How many answers this seat has given."""
        return sum(int(state["actor"]) == seat for state in self._states[:-1])

    # --- what happens ---

    def let_agent_act(self) -> None:
        """Let the agent whose turn it is answer. Raises IllegalAction, which names the agent, for an illegal answer."""
        self.take(self.agent_answer())

    def agent_answer(self) -> int:
        """What the agent whose turn it is would answer. Nothing changes, so this may run in another thread."""
        return self.agent_question()()

    def agent_question(self) -> Callable[[], int]:
        """A function that does what `agent_answer` does now, also after the game has gone on or back."""
        agent, decision, generator = self.agents[self.actor], self.decision(), self.generator()
        return lambda: int(ask(agent, decision, generator)[0])

    def play(self, action: int) -> None:
        """Answer the pending decision. Raises IllegalAction for an illegal answer; then nothing changes."""
        self._batch.step([action])
        self._took(action)

    def give(self, actions: Sequence[int]) -> None:
        """Answer for a person, with several answers one after another if their actor can foresee all but the last.

        Raises IllegalAction for anything else; then nothing changes.
        """
        if not actions:
            raise IllegalAction("there is no answer")
        if Chains(self.game, self.tables).of(self.state, actions) is None:
            self.preview(actions, of_all=True)
        first, actor = self.number, self.actor
        for action in actions:
            if self.number > first and (self.actor != actor or action not in legal_actions(self.state)):
                break  # one of very few games that go on in another way than those that were compared
            self.play(action)
        self._chosen.add(first)

    def preview(self, actions: Sequence[int], of_all: bool = False) -> Preview:
        """What answers would do (`tabletop_play.preview`). Raises IllegalAction as it does.

        `of_all`: also if not all of them can be foreseen.
        """
        found = preview(self.game, self.state, actions, self.tables, self.generator(_PREVIEW))
        if of_all and len(found.given.actions) < len(actions):
            raise IllegalAction("nobody can foresee all these answers")
        return found

    def take(self, answer: int) -> None:
        """Play what an agent has answered: a legal action, or FORFEIT, by which it loses the game."""
        if answer != FORFEIT:
            self.play(answer)
            return
        self._batch.forfeit(np.ones(1, np.bool_))
        self._took(FORFEIT)

    def _took(self, action: int) -> None:
        self._options = self._combinations = None
        self.changes += 1
        self._states.append(copied(self._batch.states[0]))
        self._actions.append(action)

    def undo(self, number: int | None = None) -> bool:
        """Take back the last answer, or all answers after the first `number`, with all chance that followed them.

        Returns whether there was an answer to take back.
        """
        first = self.number - 1 if number is None else number
        if not 0 <= first < self.number:
            return False
        del self._actions[first:]
        self._chosen = {one for one in self._chosen if one < first}
        self._go_to_last()
        return True

    def way_back(self) -> int | None:
        """The number of answers that are left when a person takes back what was chosen last; None if nobody may.

        A person who plays alone or only with agents may take back any choice, together with the agents' answers since
        then. Where several people play, only the person who is asked may take back, and only within the turn: since the
        choice only that seat has answered, and no answer drew chance or showed anything (`tabletop_play.taking_back`).
        """
        first = max(self._chosen, default=None)
        if first is None or len(self.people) == 1:
            return first
        within = all(int(self._states[number]["actor"]) == self.actor for number in range(first, self.number))
        if not within or self.actor not in self.people:
            return None
        return first if all(self._may_be_taken_back(number) for number in range(first, self.number)) else None

    def _may_be_taken_back(self, number: int) -> bool:
        generator = seeds.generator(self.seed, seeds.Stream.PLAY, number, _TAKING_BACK)
        before, action, after = self._states[number], self._actions[number], self._states[number + 1]
        return may_be_taken_back(self.game, before, action, after, self.tables, generator)

    def _is_choice(self, number: int) -> bool:
        """Whether a person chose the answer of this number: not the only answer, nor the rest of a combination."""
        before = self._states[number]
        if int(before["actor"]) not in self.people or len(legal_actions(before)) == 1:
            return False
        return number == 0 or not (
            self._states[number - 1]["actor"] == before["actor"]
            and self.game.words.continues_answer(self._states[number - 1], before)
        )

    def decision(self) -> Decisions:
        """The pending decision as its actor sees it; a copy, which stays as it is when the game goes on."""
        return Decisions.of(self._batch, np.array([0]))

    def generator(self, *purpose: int) -> np.random.Generator:
        """Randomness for this point of the game; `purpose` tells one use from another."""
        return seeds.generator(self.seed, seeds.Stream.PLAY, len(self._actions), *purpose)

    def _go_to_last(self) -> None:
        """Set the batch to the present position."""
        del self._states[len(self._actions) + 1 :]
        self._options = self._combinations = None
        self.changes += 1
        self._batch.states[0] = self._states[-1]
        self._batch.refresh(check=False)
        past = past_of(self._batch)
        if past is not None:
            past.begin_with(0, [*zip(self._states, self._actions, strict=False)])

    # --- words ---

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the seats, then of an opponent that the rules play."""
        return self.game.words.owner_names(self.config.players)

    def called(self, own: int | None = None, given: Mapping[int, str] | None = None) -> tuple[str, ...]:
        """As `names`, for people (`opponents.called`). `given`: in place of the names that people gave."""
        agents = [None if name == PERSON else self.agent_names.get(seat, name) for seat, name in enumerate(self.seats)]
        names = called(agents, self.given_names if given is None else given, own)
        return (*names, *self.names[self.config.players :])

    def label(self, seat: int) -> str:
        """`player_1 (greedy)`."""
        if seat in self.agents:
            return f"{self.names[seat]} ({self.agents[seat].name})"
        if seat in self.given_names:
            return self.given_names[seat]
        return f"{self.names[seat]} (you)" if self.people == (seat,) else self.names[seat]

    @property
    def alone(self) -> bool:
        """Whether the game has a single seat, so that answers can be taken back."""
        return self.config.players == 1

    @property
    def against(self) -> str:
        """` against …`: the opponent that the rules play in a game for one; "" if there is none."""
        return f" against {self.game.words.opponent}" if self.game.words.opponent else ""

    def verdict(self, own: int | None = None) -> str:
        """The result of a finished game, for the people who played it, or for the one in the seat `own`."""
        winners = self.game.winners(self.state)
        if self.alone and self.against:
            points, others = told_points(self.state["points"][:2])
            how = "win" if 0 in winners else "lose"
            return f"You {how}{self.against}, {points} to {others}."
        if self.config.owners == 1:
            who = "You have" if self.people else "All together have"
            return f"{who} {counted(told_points(self.state['points'][:1])[0], 'point')}."
        if not winners:
            return "Nobody wins."
        if tuple(winners) == (own,):
            return "You win."
        names = self.called(own)
        return f"{win_text([names[seat] for seat in winners])}."

    def points(self) -> list[tuple[str, Sequence[int | float]]]:
        """Rows of points by source, and the total: a word, and a number for each of `names`."""
        total = self.game.named_points(self.state)
        return [*self.game.words.sources(self.state), ("points", total)]


@checked
def started(
    kind: type[S],
    game: Game,
    opponents: Sequence[str] = (),
    *,
    people: Sequence[int] = (),
    seed: int | None = None,
    hints: str = "",
    resume: str | Path | None = None,
    trust: Sequence[str] = (),
    **settings: Any,
) -> S:
    """Start or resume a game as the command `play` does.

    Arguments:
        kind: the class of sessions.
        opponents: names of agents (`make_agent`) for the seats without people, in order. Without opponents one person
            plays the game for one.
        people: the seats of people at this machine; () means seat 0.
        seed: None takes one from the operating system.
        hints: the agent that gives hints; empty: as `hints_for` chooses.
        resume: the file of a saved game, which keeps its settings.
        trust: agents of your own that this file may name.
        settings: fields of the game's configuration besides the number of players; None, False and empty ones are
            left out.

    Raises ConfigError, CheckpointError or ComponentsError for what cannot be played, ReplayError for a file that is not
    a valid replay of this game.
    """
    given = {name: value for name, value in settings.items() if _is_given(value)}
    adviser = make_agent(hints, game) if hints else None
    if resume is not None:
        refused = {"agents": tuple(opponents), "people": tuple(people), **given, "seed": seed}
        names = ", ".join(name for name, value in refused.items() if _is_given(value))
        if names:
            raise ConfigError(f"{names}: not with --resume, which keeps its settings")
        return kind.resume(resume, game, adviser, trust)
    own_seats = tuple(people) or (0,)
    config = game.config(players=len(opponents) + len(own_seats), **given)
    agents = (make_agent(name, game) for name in opponents)
    seats = dict(zip(_free_seats(config, own_seats), agents, strict=True))
    chosen = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    return kind(config, seats, seed=chosen, hints=adviser)


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value not in ((), [])


def _free_seats(config: Config, people: Sequence[int]) -> list[int]:
    """The seats of the agents. Raises ConfigError unless the people's seats are different and exist in the game."""
    if len(set(people)) < len(people) or not set(people) <= set(range(config.players)):
        seats = ", ".join(map(str, people))
        raise ConfigError(f"people={seats}: must be different seats from 0 to {config.players - 1}")
    return [seat for seat in range(config.players) if seat not in people]
