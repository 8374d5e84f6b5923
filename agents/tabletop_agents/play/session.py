"""A game that people play at a terminal, alone or with agents: what is to be seen, and what a typed line does.

Nothing here reads or prints; `tabletop_agents.play.terminal` does.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np

from tabletop.agents import Decisions, ask, check_agents
from tabletop.batch import Batch, check_config, legal_actions
from tabletop.drawing.lines import Words, in_columns, joined
from tabletop.errors import ConfigError, TabletopError
from tabletop.game import NOBODY, Config, Game
from tabletop.replays.files import check_names
from tabletop.replays.replay import Replay
from tabletop.terminal import BOLD, COLUMNS, FAINT, painted
from tabletop.words import win_text
from tabletop_agents import Agent, check_trusted, checkpoint_path, make_agent, own_agents, shipped_policies
from tabletop_agents.checkpoint import configs_of, read_notes

PERSON = "person"
"""The name of a seat in a replay that a person played."""
HINTS, GUIDED_HINTS = "ismcts-2000", "search-800"
"""The agent that is asked for hints, and the one where a shipped network has learned just what is played."""

_MOST_SHOWN = 3
"""Actions in a hint."""
_LONG_LIST = 12
"""Answers that stand one below the other; more are set in columns."""

_HELP = """\
Answer by the number of an action, or by a part of its name that no other has{examples}.
  ?            a hint: what {hints} would do{shares}
  u, undo      {undo}
  s, save      save the game, to go on with it later or to look at it; "s FILE" says where
  q, quit      leave; it asks whether to save
  h, help      this help
  Enter        show everything once more; where there is one answer only, give it"""
_UNDO = "take the last answer back; chance stays: the same answer has the same consequences"


def hints_for(config: Config) -> Agent:
    """Who is asked for hints where nobody is named: a search, guided by a shipped network that was trained for this."""
    game = config.game
    if find_spec("torch") is not None:
        for name in shipped_policies(game):
            path = checkpoint_path(name, game)
            if config in configs_of(game, read_notes(game, path).get("training", {}), path):
                return make_agent(f"{GUIDED_HINTS}:{name}", game)
    return make_agent(HINTS, game)


@dataclass(frozen=True)
class Reply:
    """What a line has done."""

    text: str = ""  # to be shown
    moved: bool = False  # there is something new to be seen on `Session.screen`
    left: bool = False  # the person is done
    unbroken: bool = False  # the text has a command to be copied: its lines are not to be broken


class Session:
    """One game, from where it starts until the people at the terminal leave it.

    Arguments:
        agents: who plays which seat; people play the others, at least one.
        seed: of the game. The agents' own randomness comes from it too, separately for every decision, so that a
            resumed game goes on as it would have gone.
        hints: who is asked for a hint; None: as `hints_for` chooses.

    Raises ConfigError for seats that there aren't, for nobody to play, for agents that can't play this, and for names
    of agents that a replay can't hold.
    """

    def __init__(
        self, config: Config, agents: Mapping[int, Agent] | None = None, *, seed: int = 0, hints: Agent | None = None
    ) -> None:
        self.game = game = check_config(config)
        # the file that its numbers are read from may be gone before the game is
        self.config = config = replace(config, components=game.own_numbers(config.components))
        self.agents = dict(agents or {})
        self._hints = hints
        self.seed = seed
        self.people = tuple(seat for seat in range(config.players) if seat not in self.agents)
        if not self.agents.keys() <= set(range(config.players)) or not self.people:
            taken = ", ".join(map(str, sorted(self.agents)))
            raise ConfigError(f"agents in seats {taken}: of 0 to {config.players - 1}, with one free for a person")
        check_agents([*self.agents.values(), *([] if hints is None else [hints])], config)
        check_names(self._seats, config)  # else it could never be saved
        self._batch = Batch(config, 1, seed, autoreset="disabled", illegal_action="raise")
        self._start: Any = seed
        self._states = [self._batch.states[0].copy()]
        self._actions: list[int] = []
        self._saved: tuple[int, ...] = ()  # the actions of the game as it was last saved
        self._path: Path | None = None  # where that was
        self._leaving = False
        self._at_screen = self.people[0] if len(self.people) == 1 else NOBODY

    @property
    def hints(self) -> Agent:
        """Who is asked for a hint; made when it is first wanted, because a network takes seconds to load."""
        if self._hints is None:
            self._hints = hints_for(self.config)
        return self._hints

    @classmethod
    def resume(cls, path: str | Path, game: Game, hints: Agent | None = None, trusted: Sequence[str] = ()) -> Self:
        """The game that a file keeps, where it was left. Of agents of one's own it may name those that are `trusted`.

        Raises ReplayError for a file that is no sound replay of this game, ConfigError for a game that is over or that
        no person plays, and as `make_agent` does.
        """
        replay = Replay.load(path, game)
        if replay.winners is not None:
            raise ConfigError(f"{path}: this game is over; look at it with {game.name} replay")
        if PERSON not in replay.names:
            raise ConfigError(f"{path}: no seat is called {PERSON!r}, so nobody can go on; {game.name} replay shows it")
        check_trusted(path, replay.names, trusted)
        agents = {seat: make_agent(name, game) for seat, name in enumerate(replay.names) if name != PERSON}
        session = cls(replay.config, agents, seed=replay.seed or 0, hints=hints)
        session._states = list(replay.states.copy())
        session._actions = list(replay.actions)
        session._start = session._states[0] if replay.seed is None else replay.seed
        session._saved = replay.actions
        session._path = Path(path)
        session._go_to_last()
        return session

    # --- what is asked of whom ---

    @property
    def state(self) -> Any:
        """The game now, one record; not to be changed."""
        return self._states[-1]

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state["actor"] == NOBODY)

    @property
    def waits_for_agent(self) -> bool:
        """Whether the game goes on with an agent's answer."""
        return not self._leaving and int(self.state["actor"]) in self.agents

    @property
    def changes_hands(self) -> bool:
        """Whether another person than the one at the screen is asked, who is to see nothing of the others' cards."""
        return int(self.state["actor"]) in self.people and int(self.state["actor"]) != self._at_screen

    @property
    def unsaved(self) -> bool:
        """Whether something would be lost by leaving: an answer of a person, or how the game ended."""
        answered = any(state["actor"] in self.people for state in self._states[: len(self._actions)])
        return answered and self._saved != tuple(self._actions)

    @property
    def prompt(self) -> str:
        """What a line is asked for with."""
        return "save? " if self._leaving or self.over else "> "

    @property
    def replay(self) -> Replay:
        """The game so far, without what was taken back."""
        return Replay.of(self.config, self._start, self._actions, names=self._seats)

    @property
    def _seats(self) -> tuple[str, ...]:
        """Who plays, by the names that a replay has."""
        seats = range(self.config.players)
        return tuple(PERSON if seat in self.people else self.agents[seat].name for seat in seats)

    def let_agent_act(self) -> None:
        """Let the agent that is asked answer. Raises IllegalAction, which names it, where it answers wrongly."""
        agent = self.agents[int(self.state["actor"])]
        self._play(int(ask(agent, Decisions.of(self._batch), self._generator())[0]))

    def _generator(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, len(self._actions), *purpose])

    def _play(self, action: int) -> None:
        self._batch.step([action])
        self._states.append(self._batch.states[0].copy())
        self._actions.append(action)

    def _go_to_last(self) -> None:
        """Let the batch be where the game is."""
        del self._states[len(self._actions) + 1 :]
        self._batch.states[0] = self._states[-1]
        self._batch.refresh(check=False)

    # --- what is to be seen ---

    def screen(self, columns: int = COLUMNS, colour: bool = False) -> str:
        """What happened since the last own decision, the board, and what is asked with all answers, in words."""
        if self.changes_hands:
            name = self._names[self.state["actor"]]
            return f"{name} is asked. {name}, press Enter when nobody else looks at the screen."
        # who is asked stands above the answers, too
        board = self.game.drawing.text_blocks(self.state, self._viewer, colour, self._batch.tables, asked=False)
        above = [painted("=" * min(columns, COLUMNS), FAINT, colour), *self._since(colour)]
        below = [*self._result(colour), *self._offer()] if self.over else self._asked(columns, colour)
        return joined([Words(above), *board, Words(below)], columns)

    @property
    def _viewer(self) -> int:
        """Whose view it is."""
        return self.people[0] if self._at_screen == NOBODY or self.over else self._at_screen

    @property
    def _names(self) -> tuple[str, ...]:
        return self.game.words.owner_names(self.config.players)

    def _label(self, seat: int) -> str:
        """`player_1 (greedy)`."""
        if seat in self.agents:
            return f"{self._names[seat]} ({self.agents[seat].name})"
        return f"{self._names[seat]} (you)" if self.people == (seat,) else self._names[seat]

    def _since(self, colour: bool) -> Iterator[str]:
        """Who did what since the viewer last answered, with what it changed; at first, who sits where."""
        words = self.game.words
        own = (i for i in reversed(range(len(self._actions))) if self._states[i]["actor"] == self._viewer)
        first = next(own, NOBODY)
        if first == NOBODY:
            yield self._seating()
            yield ""
            first = 0
        for i in range(first, len(self._actions)):
            before, action = self._states[i], self._actions[i]
            done = words.told_action(before, action, self._viewer)
            if done:
                yield painted(f"{self._label(int(before['actor']))}: {done}", BOLD, colour)
            yield from (f"- {one}" for one in words.events(before, action, self._viewer, self._batch.tables))
        if first < len(self._actions):
            yield ""

    def _asked(self, columns: int, colour: bool) -> list[str]:
        who = "You are" if len(self.people) == 1 else f"{self._names[self.state['actor']]} is"
        entries = [f"{number:4}  {text}" for number, (_, text) in enumerate(self._answers(), 1)]
        undo = ", u undo" if self._alone else ""
        keys = f"a number, or part of a name; ? hint{undo}, s save, q quit, h help"
        shown = entries if len(entries) <= _LONG_LIST else in_columns(entries, columns)
        question = painted(f"{who} asked {self.game.words.question(self.state)}:", BOLD, colour)
        return ["", question, *shown, painted(keys, FAINT, colour)]

    def _answers(self) -> list[tuple[int, str]]:
        """The legal actions, each with what it means."""
        state, text = self.state, self.game.words.action_text
        return [(action, text(state, action)) for action in legal_actions(state).tolist()]

    def _result(self, colour: bool) -> list[str]:
        """The points by where they came from, and who won."""
        owners = range(self.config.owners)
        labels = [self._label(seat) if seat < self.config.players else self._names[seat] for seat in owners]
        rows = [("", labels), *self.game.words.sources(self.state), ("points", self.state["points"].tolist())]
        table = [
            f"{name:14}" + "".join(f"  {one:{len(label)}}" for one, label in zip(row, labels, strict=False))
            for name, row in rows
        ]
        seed = [f"The seed was {self._start}."] if isinstance(self._start, int) else []
        return ["", *table, "", self._verdict(colour), *seed]

    def _verdict(self, colour: bool) -> str:
        winners = self.game.winners(self.state)
        if self._alone and self._against:
            own, other = self.state["points"][:2].tolist()
            how = "win" if 0 in winners else "lose"
            text = f"You {how}{self._against}, {own} to {other}."
        elif self.people == tuple(winners):
            text = "You win."
        elif not winners:
            text = "Nobody wins."
        else:
            text = f"{win_text([self._label(seat) for seat in winners])}."
        return painted(text, BOLD, colour)

    @property
    def _alone(self) -> bool:
        """Whether nobody else has a seat, so that an answer can be taken back."""
        return self.config.players == 1

    @property
    def _against(self) -> str:
        """` against …`: the opponent whom the rules play against one who plays alone."""
        return f" against {self.game.words.opponent}" if self.game.words.opponent else ""

    def _offer(self) -> list[str]:
        """What can be typed where one leaves, or after the end."""
        kept = "The replay" if self.over else "The game"
        if self.unsaved:
            lines = [f"{kept} is not saved.", f"  Enter   save it in {self._default_path()}"]
            lines += ["  s FILE  save it there", "  n       leave without"]
        else:
            lines = [f"{kept} is saved in {self._path}.", "  Enter   leave"]
        if not self.over:
            lines.append("  c       go on playing")
        elif self._alone:
            lines.append("  u       take the last answer back")
        return ["", *lines]

    # --- what a line does ---

    def answer(self, line: str) -> Reply:
        """Obey a line, whatever it is. Nothing but `left` in the reply ends a game."""
        command, _, rest = line.strip().partition(" ")
        command, rest = command.lower(), rest.strip()
        if command in ("h", "help"):
            return Reply(self._help())
        if command in ("s", "save", "s!", "save!") and not (command == "s" and self._is_answer(line)):
            return self._save(_unquoted(rest), replacing=command.endswith("!"))
        if command in ("u", "undo") and not rest:
            return self._undo()
        if self._leaving or self.over:
            return self._leave(command if not rest else line)
        if command in ("q", "quit") and not rest:
            return self._ask_to_leave()
        if self.changes_hands:
            if line.strip():
                return Reply("Press Enter first.")
            self._at_screen = int(self.state["actor"])
            return Reply(moved=True)
        if self.asks_for_hint(line):
            return self._hint()
        return self._choose(line)

    def asks_for_hint(self, line: str) -> bool:
        """Whether the answer to this line is a hint, which the agent has to think about."""
        return line.strip().lower() in ("?", "hint") and not (self._leaving or self.over or self.changes_hands)

    def interrupt(self) -> Reply:
        """What Ctrl-C does: the same as `q`, and the second time it leaves and keeps the game."""
        self._go_to_last()  # it may have come in the middle of something
        return Reply(self.keep(), left=True, unbroken=True) if self._leaving else self._ask_to_leave()

    def keep(self) -> str:
        """Save a game that nobody can be asked about any more, and say where it is; a finished one is not saved."""
        if not self.unsaved:
            return ""
        if self.over:
            return "The replay of the finished game was not saved."
        problem = ""
        for folder in (Path(), Path(tempfile.gettempdir())):
            path = self._default_path(folder)
            try:
                self.replay.save(path)
            except TabletopError as error:
                problem, self._path = str(error), None
                continue
            return f"The game is kept. Go on with: {self._command(path)}"
        return f"The game could not be kept: {problem}"

    def _help(self) -> str:
        examples = ", ".join(f'"{one}"' for one in self.game.words.examples)
        undo = _UNDO if self._alone else self._no_undo
        shares = (
            "; its numbers say how sure it is, not how often one wins" if hasattr(self.hints, "probabilities") else ""
        )
        commands = _HELP.format(
            hints=self.hints.name, shares=shares, undo=undo, examples=f": {examples}" if examples else ""
        )
        return "\n\n".join([commands, *self.game.words.guide, self._seating()])

    def _seating(self) -> str:
        """Who sits where, and in which game; not the seed, which tells all that is hidden."""
        seats = [self._label(seat) for seat in range(self.config.players)]
        against = f"{self._against} ({self._names[1]})" if self._alone and self._against else ""
        return f"{', '.join(seats)}{against}. The game is {self.config.name}."

    @property
    def _no_undo(self) -> str:
        return f"only in the game alone{self._against}"

    def _is_answer(self, line: str) -> bool:
        """Whether "s su" is meant as "select Sun": it begins words of an answer, and looks like no path of a file."""
        words = line.lower().split()
        if len(words) < 2 or set("./\\\"'") & set(line) or self._leaving or self.over or self.changes_hands:
            return False
        return any(_begin_words(words, text.lower()) for _, text in self._answers())

    def _choose(self, line: str) -> Reply:
        answers = self._answers()
        wanted = line.strip()
        if not wanted:
            if len(answers) > 1:
                return Reply(moved=True)
            found = [0]
        elif wanted.isascii() and wanted.isdecimal():
            found = [int(wanted) - 1] if len(wanted) < 10 and 0 < int(wanted) <= len(answers) else []
            if not found:
                return Reply(f"{wanted:.40}: the answers are numbered from 1 to {len(answers)}.")
        else:
            found = matches(wanted, [text for _, text in answers])
        if not found:
            return Reply(f"{wanted!r:.40} is in none of the answers. h: help")
        if len(found) > 1:
            listed = (f"{i + 1:4}  {answers[i][1]}" for i in found)
            return Reply("\n".join([f"{wanted!r:.40} may be", *listed]))
        self._play(answers[found[0]][0])
        return Reply(moved=True)

    def _hint(self) -> Reply:
        decisions, name = Decisions.of(self._batch), self.hints.name
        texts = {action: (number, text) for number, (action, text) in enumerate(self._answers(), 1)}
        try:
            if hasattr(self.hints, "probabilities"):
                shares = self.hints.probabilities(decisions, self._generator(1))[0]
                likeliest = sorted(texts, key=lambda action: -shares[action])[:_MOST_SHOWN]
            else:
                likeliest = ask(self.hints, decisions, self._generator(1)).tolist()
        except TabletopError as error:
            return Reply(f"No hint: {error}")
        lines = ["{} would answer {}: {}".format(name, *texts[likeliest[0]])]
        if len(likeliest) > 1:
            lines += ["{:6.1%} {:4}  {}".format(shares[action], *texts[action]) for action in likeliest]
        return Reply("\n".join(lines))

    def _undo(self) -> Reply:
        if not self._alone:
            return Reply(f"No undo: {self._no_undo}.")
        if not self._actions:
            return Reply("Nothing to take back.")
        self._actions.pop()
        self._leaving = False
        self._go_to_last()
        return Reply(moved=True)

    def _save(self, name: str, replacing: bool) -> Reply:
        path = Path(os.path.expanduser(name)) if name else self._default_path()
        if os.path.isdir(path):
            return Reply(f"Not saved: {path} is a folder")
        if os.path.exists(path) and not replacing and path != self._path:
            return Reply(f"{path} is there already: another name, or s! {path} to replace it")
        try:
            self.replay.save(path)
        except TabletopError as error:
            return Reply(f"Not saved: {error}")
        self._saved, self._path = tuple(self._actions), path
        left = self._leaving or self.over
        verb = "Look at it" if self.over else "Go on later"
        return Reply(f"Saved. {verb} with: {self._command(path)}", left=left, unbroken=True)

    def _command(self, path: Path) -> str:
        """With which the saved game is shown, or goes on."""
        file, trusted = shlex.quote(str(path)), ",".join(own_agents(self._seats))
        if self.over:
            return f"{self.game.name} replay {file}"
        return f"{self.game.name} play --resume {file}{f' --trust {trusted}' if trusted else ''}"

    def _ask_to_leave(self) -> Reply:
        """Leave where nothing would be lost, else ask whether to save."""
        if not self.unsaved:
            return Reply(left=True)
        self._leaving = True
        return Reply("\n".join(self._offer()))

    def _leave(self, command: str) -> Reply:
        """Answers whether to save."""
        if command in ("", "y", "yes"):
            return self._save("", replacing=False) if self.unsaved else Reply(left=True)
        if command in ("n", "no"):
            return Reply(left=True)
        if command in ("c", "continue") and not self.over:
            self._leaving = False
            return Reply(moved=True)
        return Reply("\n".join(self._offer()))

    def _default_path(self, folder: Path = Path()) -> Path:
        return self._path or _free(folder / f"{self.game.name}-{self.config.name}.json")


def matches(wanted: str, texts: Sequence[str]) -> list[int]:
    """Which of the texts a typed part of one means: those that fit it best, without regard to case.

    From best to worst: the text itself, some of its words, its beginning, the beginnings of some of its words, parts
    of some of its words.
    """
    part = " ".join(wanted.lower().split())
    words = part.split()
    lower = [text.lower() for text in texts]
    fits = (
        lambda text: text == part,
        lambda text: f" {part} " in f" {text} ",
        lambda text: text.startswith(part),
        lambda text: _begin_words(words, text),
        lambda text: all(word in text for word in words),
    )
    for fit_of in fits:
        found = [i for i, text in enumerate(lower) if fit_of(text)]
        if found and part:
            return found
    return []


def _begin_words(parts: Sequence[str], text: str) -> bool:
    """Whether each of them begins a word of the text."""
    return all(any(word.startswith(part) for word in text.split()) for part in parts)


def _unquoted(name: str) -> str:
    """A file's name as a shell would take it."""
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'" else name


def _free(path: Path) -> Path:
    """This path, or the first with a number that no file has yet."""
    numbered, number = path, 1
    while os.path.exists(numbered):
        number += 1
        numbered = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return numbered
