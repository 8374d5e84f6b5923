"""A game that people play at a terminal: its screens as text, and the meaning of typed lines.

Nothing here reads or prints; `tabletop_play.terminal` does that.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tabletop_agents.names import own_agents
from tabletop_engine.checks import checked
from tabletop_engine.drawing.lines import Block, Words, in_columns, in_groups, joined, width, wrapped
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import free_path
from tabletop_engine.game import NOBODY, Config, Game
from tabletop_engine.play.agents import Agent
from tabletop_engine.text.answers import Option, begin_words, read_answer
from tabletop_engine.text.terminal import BOLD, COLUMNS, FAINT, painted
from tabletop_engine.text.words import asked_of, plain_rules, shown
from tabletop_play.advice import advise, estimate_text
from tabletop_play.opponents import in_names, level_of
from tabletop_play.session import Session

_MOST_SHOWN = 3
"""The number of actions in a hint."""
_LONG_LIST = 12
"""Up to this many answers are listed in one column, more in several."""
_SMALL = 80
"""The columns of the smallest terminal for which there are small boards."""

_HELP = """\
Answer by the number of an action, or by a part of its name that no other has{examples}.
  ?            a hint: what {hints} would do, and what it expects
  u, undo      {undo}
  s, save      save the game, to go on with it later or to look at it; "s FILE" says where
  q, quit      leave; it asks whether to save
  rules        the complete rules of this game
  h, help      this help
  Enter        show everything once more; where there is one answer only, give it"""
_UNDO = "take the last answer back; chance stays: the same answer has the same consequences"


@dataclass(frozen=True)
class Reply:
    """The effect of a typed line."""

    text: str = ""  # to be shown
    moved: bool = False  # there is something new to be seen on `TypedSession.screen`
    left: bool = False  # the person is done
    unbroken: bool = False  # the text has a command to be copied: its lines are not to be broken


class TypedSession(Session):
    """One game, from its start until the people at the terminal leave it. Arguments as for `Session`.

    Raises what `Session` raises, and ConfigError if no seat is left for a person.
    """

    @checked
    def __init__(
        self, config: Config, agents: Mapping[int, Agent] | None = None, *, seed: int = 0, hints: Agent | None = None
    ) -> None:
        super().__init__(config, agents, seed=seed, hints=hints)
        if not self.people:
            raise ConfigError(f"agents in all seats, 0 to {config.players - 1}: leave one for a person")
        self._saved: tuple[int, ...] = ()  # the actions of the game as it was last saved
        self._path: Path | None = None  # to which file
        self._leaving = False
        self._at_screen = self.people[0] if len(self.people) == 1 else NOBODY

    @classmethod
    def resume(cls, path: str | Path, game: Game, hints: Agent | None = None, trusted: Sequence[str] = ()) -> Self:
        """As `Session.resume`. The game is saved to the same file again."""
        session = super().resume(path, game, hints, trusted)
        session._saved, session._path = tuple(session._actions), Path(path)
        return session

    # --- what is asked of whom ---

    @property
    def waits_for_agent(self) -> bool:
        """Whether the game goes on with an agent's answer."""
        return not self._leaving and super().waits_for_agent

    @property
    def changes_hands(self) -> bool:
        """Whether it is the turn of another person than the one at the screen, who must not see the others' cards."""
        return self.actor in self.people and self.actor != self._at_screen

    @property
    def unsaved(self) -> bool:
        """Whether leaving would lose something: a person's answer, or the end of the game."""
        answered = any(state["actor"] in self.people for state in self._states[: len(self._actions)])
        return answered and self._saved != tuple(self._actions)

    @property
    def prompt(self) -> str:
        """The prompt of the next line."""
        return "save? " if self._leaving or self.over else "> "

    # --- what is to be seen ---

    @cached_property
    def _own(self) -> int | None:
        """The seat that is called "You"; None where several people play."""
        return self.people[0] if len(self.people) == 1 else None

    @cached_property
    def _called(self) -> tuple[str, ...]:
        return self.called(self._own)

    def label(self, seat: int) -> str:
        """As people are called."""
        return self._called[seat]

    def answers(self) -> list[tuple[int, str]]:
        """As for `Session`, with people's names."""
        return [(action, self._named(text)) for action, text in super().answers()]

    def options(self) -> list[Option]:
        """As for `Session`, with people's names."""
        return [one._replace(text=self._named(one.text)) for one in super().options()]

    def _named(self, text: str) -> str:
        """The text with people's names in place of those of the seats."""
        return in_names(text, self.names, self._called)

    def screen(self, columns: int = COLUMNS, colour: bool = False, rows: int | None = None) -> str:
        """What happened since the person's last decision, the board, and the question with all answers, in words.

        Where the board and the question don't fit into `rows` lines, both are made smaller. What happened stands above
        them.
        """
        if self.changes_hands:
            name = self.label(self.actor)
            return f"{name} is asked. {name}, press Enter when nobody else looks at the screen."
        # who is asked stands above the answers, too
        board = self._board(colour, asked=False)
        above = [painted("=" * min(columns, COLUMNS), FAINT, colour), *self._since(colour)]
        below = [*self._result(colour), *self._offer()] if self.over else self._asked(columns, colour)
        high = len(joined([*board, Words(below)], columns).split("\n")) + 1  # with the line that is typed
        if rows is not None and high > rows and columns >= _SMALL and not self.over:
            board = self._board(colour, size="small")
            below = self._asked(columns, colour, rows - 1 - sum(len(block.lines(columns)) for block in board[-2:]))
        return joined([Words(above), *board, Words(below)], columns)

    def _board(self, colour: bool, **how: Any) -> list[Block]:
        """The board with people's names."""
        blocks = self.game.drawing.text_blocks(self.state, self._viewer, colour, self.tables, **how)
        return [_Named(one, self.names, self._called) for one in blocks]

    @property
    def _viewer(self) -> int:
        """The seat whose view is shown."""
        return self.people[0] if self._at_screen == NOBODY or self.over else self._at_screen

    def _since(self, colour: bool) -> Iterator[str]:
        """What everybody did since the viewer's last answer, with its effects; at the start, who sits where."""
        first = self.own_last(self._viewer)
        if first < 0:
            yield self._seating()
            yield ""
            first = 0
        for answer, sentences in self.events(first, self._viewer):
            if answer:
                yield painted(self._named(answer), BOLD, colour)
            yield from (f"- {self._named(one)}" for one in sentences)
        if first < len(self._actions):
            yield ""

    def _asked(self, columns: int, colour: bool, rows: int | None = None) -> list[str]:
        """The question and the answers; close together where they have more than `rows` lines."""
        who = "" if len(self.people) == 1 else self.label(self.actor)
        entries = [f"{number:4}  {text}" for number, (_, text) in enumerate(self.answers(), 1)]
        undo = ", u undo" if self.alone else ""
        keys = f"a number, or part of a name; ? hint{undo}, s save, q quit, h help"
        shown = entries if len(entries) <= _LONG_LIST else in_columns(entries, columns)
        asked = asked_of(self._named(self.game.words.question(self.state)), who)
        question = painted(f"{asked}:", BOLD, colour)
        if rows is None:
            return ["", question, *shown, painted(keys, FAINT, colour)]
        room = rows - len(wrapped(question, columns)) - len(wrapped(keys, columns))
        texts = [text for _, text in self.answers()]
        lists = [
            Words(shown).lines(columns),
            in_columns(entries, columns),
            *(in_groups(texts, columns, n) for n in (3, 2)),
        ]
        best = next((one for one in lists if len(one) <= room), min(lists, key=len))
        return [*([""] if len(best) < room else []), question, *best, painted(keys, FAINT, colour)]

    def _result(self, colour: bool) -> list[str]:
        """The points by source, and who won."""
        labels = self._called
        rows = [("", labels), *self.points()]
        table = [
            f"{name:14}" + "".join(f"  {one:{len(label)}}" for one, label in zip(row, labels, strict=False))
            for name, row in rows
        ]
        seed = [f"The seed was {self._start}."] if isinstance(self._start, int) else []
        return ["", *table, "", painted(self.verdict(self._own), BOLD, colour), *seed]

    def _offer(self) -> list[str]:
        """What can be typed when somebody leaves, or after the end."""
        kept = "The replay" if self.over else "The game"
        if self.unsaved:
            lines = [f"{kept} is not saved.", f"  Enter   save it in {self._default_path()}"]
            lines += ["  s FILE  save it there", "  n       leave without"]
        else:
            lines = [f"{kept} is saved in {self._path}.", "  Enter   leave"]
        if not self.over:
            lines.append("  c       go on playing")
        elif self.alone:
            lines.append("  u       take the last answer back")
        return ["", *lines]

    # --- what a line does ---

    def answer(self, line: str) -> Reply:
        """Do what a typed line says. The game ends only if the reply has `left`."""
        command, _, rest = line.strip().partition(" ")
        command, rest = command.lower(), rest.strip()
        if command in ("h", "help"):
            return Reply(self._help())
        if command == "rules" and not rest:
            try:
                return Reply(plain_rules(self.game.words.rules(self.config, self.tables)))
            except ConfigError as error:  # a variant of one's own whose text is not written yet
                return Reply(f"{error}.")
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
            self._at_screen = self.actor
            return Reply(moved=True)
        if self.asks_for_hint(line):
            return self._hint()
        return self._choose(line)

    def asks_for_hint(self, line: str) -> bool:
        """Whether this line asks for a hint, which takes the agent time to think."""
        return line.strip().lower() in ("?", "hint") and not (self._leaving or self.over or self.changes_hands)

    def interrupt(self) -> Reply:
        """The effect of Ctrl-C: the first time as `q`; the second time it saves the game and leaves."""
        self._go_to_last()  # Ctrl-C may have come in the middle of an action
        return Reply(self.keep(), left=True, unbroken=True) if self._leaving else self._ask_to_leave()

    def keep(self) -> str:
        """Save a game when nobody can be asked any more, and say where it is. A finished game is not saved."""
        if not self.unsaved:
            return ""
        if self.over:
            return "The replay of the finished game was not saved."
        folders, problem = [Path()], ""
        with suppress(OSError):  # there is no folder for temporary files
            folders.append(Path(tempfile.gettempdir()))
        for folder in folders:
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
        undo = _UNDO if self.alone else self._no_undo
        commands = _HELP.format(hints=shown(self.hints.name), undo=undo, examples=f": {examples}" if examples else "")
        brief = self.game.words.rules(self.config, brief=True)
        return "\n\n".join([commands, *([brief] if brief else []), self._seating()])

    def _seating(self) -> str:
        """Who sits where, and in which game. The seed is left out, because it reveals everything hidden."""
        seats = [self._seated(seat) for seat in range(self.config.players)]
        against = f"{self.against} ({self.names[1]})" if self.alone and self.against else ""
        return f"{', '.join(seats)}{against}. The game is {self.config.name}."

    def _seated(self, seat: int) -> str:
        """`Ben (level-2)`: a player, and the agent where its name doesn't tell it."""
        agent = self.seats[seat]
        return self.label(seat) if level_of(agent) is None else f"{self.label(seat)} ({agent})"

    @property
    def _no_undo(self) -> str:
        return f"only in the game alone{self.against}"

    def _is_answer(self, line: str) -> bool:
        """Whether a line such as "s su" means the answer "select Sun" rather than saving to a file "su".

        It does if its words begin words of an answer, and it does not look like a path.
        """
        words = line.lower().split()
        if len(words) < 2 or set("./\\\"'") & set(line) or self._leaving or self.over or self.changes_hands:
            return False
        return any(begin_words(words, text) for _, text in self.answers())

    def _choose(self, line: str) -> Reply:
        options = self.options()
        if not line.strip():
            if len(options) > 1:
                return Reply(moved=True)
            self.play(options[0].action)
            return Reply(moved=True)
        read = read_answer(line, options)
        if read.action is None:
            return Reply(f"{read.message} h: help")
        self.play(read.action)
        return Reply(moved=True)

    def _hint(self) -> Reply:
        texts = {action: (number, text) for number, (action, text) in enumerate(self.answers(), 1)}
        try:
            advice = advise(self.hints, self.decision(), self.generator(1))
        except TabletopError as error:
            return Reply(f"No hint: {error}")
        numbers = advice.shares or advice.estimates
        likeliest = sorted(numbers, key=lambda action: (action != advice.best, -numbers[action]))[:_MOST_SHOWN]
        estimates = {one: estimate_text(given, advice.estimated) for one, given in advice.estimates.items()}
        meanings = [one for one in (advice.meaning, advice.estimated if estimates else "") if one]
        lines = ["{} would answer {}: {}".format(shown(advice.agent), *texts[advice.best])]
        for action in likeliest if len(texts) > 1 else ():
            share = f"{advice.shares[action]:6.1%}" if advice.shares else ""
            number, text = texts[action]
            lines.append(f"{share}{estimates.get(action, ''):>9}{number:5}  {text}")
        below = [f"In front: {', '.join(meanings)}."] if len(lines) > 1 else []
        if advice.estimate is not None:
            expected = estimate_text(advice.estimate, advice.estimated)
            named = "" if below and estimates else f", {advice.estimated}"
            below.append(f"With best play{named}: {expected}.")
        return Reply("\n".join([*lines, *([" ".join(below)] if below else [])]))

    def _undo(self) -> Reply:
        if not self.alone:
            return Reply(f"No undo: {self._no_undo}.")
        if not self.undo():
            return Reply("Nothing to take back.")
        self._leaving = False
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
        """The command that shows the saved game or resumes it."""
        file, trusted = shlex.quote(str(path)), ",".join(own_agents(self.seats))
        if self.over:
            return f"{self.game.command} replay {file}"
        return f"{self.game.command} play --resume {file}{f' --trust {trusted}' if trusted else ''}"

    def _ask_to_leave(self) -> Reply:
        """Leave if nothing would be lost; otherwise ask whether to save."""
        if not self.unsaved:
            return Reply(left=True)
        self._leaving = True
        return Reply("\n".join(self._offer()))

    def _leave(self, command: str) -> Reply:
        """Handle the answer to whether the game should be saved."""
        if command in ("", "y", "yes"):
            return self._save("", replacing=False) if self.unsaved else Reply(left=True)
        if command in ("n", "no"):
            return Reply(left=True)
        if command in ("c", "continue") and not self.over:
            self._leaving = False
            return Reply(moved=True)
        return Reply("\n".join(self._offer()))

    def _default_path(self, folder: Path = Path()) -> Path:
        return self._path or free_path(folder / f"{self.game.name}-{self.config.name}.json")


@dataclass(frozen=True)
class _Named:
    """A part of the board with people's names. Beside a mark such as `p1` they are as wide as the seat's own."""

    block: Block
    seats: Sequence[str]
    names: Sequence[str]

    def lines(self, columns: int) -> list[str]:
        """As of a block."""
        return [part for line in self.block.lines(columns) for part in self._named(line, columns)]

    def _named(self, line: str, columns: int) -> list[str]:
        before = width(line)
        for seat, name in zip(self.seats, self.names, strict=True):
            line = re.sub(rf"(?<=p\d ){seat}\b", f"{name:{len(seat)}.{len(seat)}}", line)
        return wrapped(in_names(line, self.seats, self.names), max(columns, before))


def _unquoted(name: str) -> str:
    """A file's name as a shell reads it."""
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] and name[0] in "\"'" else name
