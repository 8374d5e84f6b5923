"""All tables of a server. Tables are created, found by their links, saved in a folder, and loaded from it again.

For each table the folder holds its game as a replay, such as `chess-2p.json`, which `play --resume` and `replay` open
too. The file `chess-2p.links` beside it says who has which link. Tables that nobody looks at are dropped from memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tabletop_engine.errors import TabletopError
from tabletop_engine.files import free_path, hold, make_folder, read_limited, whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.replays.replay import Replay
from tabletop_engine.text.words import counted
from tabletop_play.catalogue import Catalogue
from tabletop_play.session import PERSON, Session
from tabletop_play.web.clock import Clock, clock_of
from tabletop_play.web.line import Line
from tabletop_play.web.messages import Refused, object_of
from tabletop_play.web.people import are_browsers, names_of
from tabletop_play.web.tables import KINDS, Link, Table, new_link

_WRITING = ThreadPoolExecutor(1, "saving games")
"""One thread writes, so that a file whose task was cancelled is finished before it is written anew."""
_log = logging.getLogger(__name__)

HERE, APART = "here", "apart"
"""What a person's seat is called in a request: at the device that asks, or with a link of its own."""
_FORMAT = 1
_MOST_TABLES = 100_000
"""The most known tables, in memory or in files."""
_MOST_READY = 100
"""Tables kept in memory; there are more only while pages look at them."""
_MOST_LINKS_BYTES = 10_000
_SECONDS = 1.0
"""The longest time between a change and saving it."""
_LINKS = ".links"
"""The ending of the file that says who has which link."""


class TableStore:
    """The tables of a server.

    Arguments:
        folder: where games are saved. It is created, and locked against other processes until `stop`.
        threads: they run the agents and create games.

    Attributes:
        problem: why some games can't be saved at present; "" if all are saved.

    Raises TabletopError if the folder can't be created, or if another process writes there.
    """

    def __init__(self, catalogue: Catalogue, folder: Path, threads: Executor) -> None:
        self.catalogue, self.folder, self._threads = catalogue, make_folder(folder), threads
        self._let_go = hold(self.folder)
        self.problem = ""
        self._missing = (
            "there is no such table here; to go on with games of earlier starts, start the server with --resume"
        )
        self._known: dict[str, Path] = {}  # the replay's file by the key of each link
        self._ready: OrderedDict[Path, Table] = OrderedDict()
        self._loading: dict[Path, asyncio.Task[Table]] = {}
        self._changed: dict[Path, bool] = {}  # files to be saved, and whether something is newer than what is written

    # --- making tables ---

    async def make(self, order: dict[str, Any]) -> Table:
        """Create the table that a request asks for (`messages.TABLE`). Raises Refused or ConfigError."""
        session = await asyncio.get_running_loop().run_in_executor(self._threads, self._session, order)
        clock = clock_of(order["clock"], session.people)
        if clock is not None and order["kind"] != "play":
            raise Refused("clock: only for a game of people")
        return self.add(session, order["kind"], self._links(order, session), order["learn"], clock)

    def add(
        self, session: Session, kind: str, links: Sequence[Link], learn: bool = False, clock: Clock | None = None
    ) -> Table:
        """Add a table for a game. From now on the game is saved.

        Raises Refused if there are too many tables, or if its files can't be written.
        """
        if len(self._known) >= _MOST_TABLES:
            raise Refused("there are too many tables; start with another folder")
        path = free_path(self.folder / f"{session.game.name}-{session.config.name}.json")
        files = (path, path.with_suffix(_LINKS))
        table = self._table(path, session, kind, links, learn, clock)
        try:
            for file in files:
                _write(file, self._text_of(file))
        except OSError as error:
            del self._ready[path]
            for file in files:
                self._changed.pop(file, None)
                with contextlib.suppress(OSError):
                    file.unlink()
            raise Refused(
                f"{self.folder}: the game can't be saved there ({error.strerror}), so it was not made"
            ) from None
        for link in links:
            self._known[link.key] = path
        return table

    def again(self, table: Table) -> Table:
        """Another game of the same people and agents. Several people move on by a seat, so that two change seats.

        After a first game it is a whole one.

        Raises Refused as `add`.
        """
        old = table.session
        players, by = old.config.players, int(len(old.people) > 1)

        def moved(seat: int) -> int:
            return (seat - by) % players

        anew = old.replay.seed is not None or table.first is not None
        start = None if anew else old.replay.states[0]
        agents = {moved(seat): agent for seat, agent in old.agents.items()}
        session = Session(old.config, agents, seed=secrets.randbits(32), start=start)
        session.given_names = {moved(seat): name for seat, name in old.given_names.items()}
        links = [new_link(map(moved, link.seats), link.visitors.let_in) for link in table.links]
        clock = clock_of(None if table.clock is None else table.clock.order, session.people)
        return self.add(session, table.kind, links, table.learn, clock)

    async def players_of(self, asked: dict[str, Any]) -> int:
        """The number of players of a scenario (`messages.SCENARIO`). Raises Refused; ScenarioError if it is none."""

        def players() -> int:
            game = self.catalogue.compiled(asked["game"])
            return int(game.config.of(_scenario_of(asked, game)).players)

        return await asyncio.get_running_loop().run_in_executor(self._threads, players)

    def _table(
        self, path: Path, session: Session, kind: str, links: Sequence[Link], learn: bool, clock: Clock | None
    ) -> Table:
        def on_change(table: Table) -> None:
            self._changed[path] = True

        def on_people(table: Table) -> None:
            self._changed[path.with_suffix(_LINKS)] = True

        table = Table(
            session,
            kind,
            links,
            self.catalogue,
            self._threads,
            learn=learn,
            clock=clock,
            on_change=on_change,
            on_people=on_people,
            again=self.again,
        )
        self._ready[path] = table
        self._leave_idle()
        return table

    def _session(self, order: dict[str, Any]) -> Session:
        """The game of a request. Made in a thread, because rules may have to be compiled and networks loaded."""
        game = self.catalogue.compiled(order["game"])
        kind, start = order["kind"], order["start"] or {}
        if kind not in KINDS:
            raise Refused(f"kind: {', '.join(KINDS)}")
        if kind == "analyse" and "replay" in start:
            if len(start) > 1:
                raise Refused("start: a replay cannot be combined with anything else")
            replay = Replay.parse(json.dumps(_content_of(start, "replay")).encode(), game)
            return Line.through(replay, order["step"])
        config, first, seed = self._start(order, game, start)
        if kind == "analyse":
            return Line(config, seed=seed, start=first)
        seats = order["seats"]
        if len(seats) != config.players:
            raise Refused(f"seats: {len(seats)} given, but the game has {config.players} players")
        agents = {
            seat: self.catalogue.agent(name, game) for seat, name in enumerate(seats) if name not in (HERE, APART)
        }
        if kind == "watch" and len(agents) < len(seats):
            raise Refused("seats: to watch, choose an agent for every seat")
        if kind == "play" and len(agents) == len(seats):
            raise Refused("seats: to play, leave at least one for a person")
        session = Session(config, agents, seed=seed, start=first)
        session.given_names = self._given_names(order["names"], session)
        return session

    def _given_names(self, names: Sequence[str], session: Session) -> dict[int, str]:
        """The names that people gave, by their seats. Raises Refused as `names_of`, and for too many."""
        if len(names) > session.config.players:
            raise Refused(f"names: {len(names)} given, but the game has {session.config.players} players")
        return names_of(session, dict(enumerate(names)), self.catalogue)

    def _start(self, order: dict[str, Any], game: Game, start: dict[str, Any]) -> tuple[Config, Any, int]:
        """The configuration, the first state if the request describes one, and the seed."""
        if len(start) > 1 or not start.keys() <= {"seed", "scenario", "first"}:
            raise Refused("start: a seed, a scenario, the first game, or for an analysis a replay")
        if "first" in start:
            first = game.words.first_game
            if first is None:
                raise Refused(f"start: {game.title} has no first game")
            state = game.scenario(first.scenario, None)
            return game.config.of(state), state, first.seed
        seed = start.get("seed", secrets.randbits(32))
        if type(seed) is not int or not 0 <= seed < 2**32:
            raise Refused("seed: a whole number from 0 to 4,294,967,295")
        if "scenario" not in start:
            return self.catalogue.config(game, order["players"], order["options"]), None, seed
        state = _scenario_of(start, game)
        return game.config.of(state), state, seed

    def _links(self, order: dict[str, Any], session: Session) -> list[Link]:
        if order["kind"] != "play":
            return [new_link(())]
        here = [seat for seat in session.people if order["seats"][seat] == HERE]
        apart = [seat for seat in session.people if order["seats"][seat] == APART]
        return [*([new_link(here)] if here else []), *(new_link([seat]) for seat in apart)]

    # --- finding them ---

    async def find(self, key: str) -> tuple[Table, Link]:
        """The table of a link. Raises Refused if there is none; TabletopError if its file can no longer be read."""
        path = self._known.get(key)
        if path is None:
            raise Refused(self._missing)
        while path not in self._ready:  # again, if it was dropped at once to make room for others
            if path not in self._loading:
                self._loading[path] = asyncio.create_task(self._load(path))
            await asyncio.shield(self._loading[path])
        table = self._ready[path]
        self._ready.move_to_end(path)
        return table, table.link(key)

    def turns(self, keys: Sequence[str]) -> dict[str, str]:
        """Whose turn it is (`Table.turn`) by the keys of links; "gone" for links without a table here.

        Tables that are not in memory are left out: loading them would take too long.
        """
        turns = {key: "gone" for key in keys if key not in self._known}
        for key in self._known.keys() & set(keys):
            table = self._ready.get(self._known[key])
            if table is not None:
                turns[key] = table.turn(table.link(key))
        return turns

    async def _load(self, path: Path) -> Table:
        try:
            notes = _notes(path.with_suffix(_LINKS))
            session = await asyncio.get_running_loop().run_in_executor(
                self._threads, self._session_of_file, path, notes
            )
            links = [Link(one["key"], tuple(one["seats"]), let_in=one.get("let_in", [])) for one in notes["links"]]
            clock = Clock.of_notes(notes.get("clock"), session.people)
            return self._table(path, session, notes["kind"], links, notes["learn"], clock)
        finally:
            del self._loading[path]

    def _session_of_file(self, path: Path, notes: dict[str, Any]) -> Session:
        game = self.catalogue.compiled(notes["game"])
        replay = Replay.load(path, game)
        if notes["kind"] == "analyse":
            return Line.through(replay, len(replay.actions))
        agents = {seat: self.catalogue.agent(name, game) for seat, name in enumerate(replay.names) if name != PERSON}
        session = Session.of(replay, agents)
        session.given_names = self._given_names(notes.get("names", []), session)
        return session

    def resume(self) -> int:
        """Load all tables of the folder and return their number. Other files are left alone."""
        self._missing = "there is no such table here"
        before = len(set(self._known.values()))
        for path in sorted(self.folder.glob(f"*{_LINKS}")):
            try:
                notes = _notes(path)
                self.catalogue.game(notes["game"])
            except TabletopError:
                continue
            for link in notes["links"]:
                self._known[link["key"]] = path.with_suffix(".json")
        return len(set(self._known.values())) - before

    # --- keeping them ---

    async def keep_going(self) -> None:
        """Save changed games again and again, until the task is cancelled."""
        while True:
            await asyncio.sleep(_SECONDS)
            await self.keep()

    async def keep(self) -> None:
        """Save the games that have changed, and what has changed of their people.

        What can't be written stays changed, so that the next call tries it again. Pages and the log tell of it.
        """
        problems: dict[Path, str] = {}  # by the replays' files
        for path in tuple(self._changed):
            self._changed[path] = False
            try:
                await asyncio.get_running_loop().run_in_executor(_WRITING, _write, path, self._text_of(path))
            except Exception as error:  # a full disk; and a user's own game may raise anything
                problems[path.with_suffix(".json")] = getattr(error, "strerror", None) or f"{error!r:.200}"
            else:
                if not self._changed[path]:
                    del self._changed[path]
        for path, table in self._ready.items():
            table.tell_whether_saved(problems.get(path, ""))
        reasons = ", ".join(sorted(set(problems.values())))
        problem = f"{counted(len(problems), 'game')} can't be saved ({reasons})" if problems else ""
        if bool(problem) != bool(self.problem):
            told = f"{problem}. The server tries again each second; until then what is new is only in its memory."
            _log.warning("%s: %s", self.folder, told if problem else "all games are saved again.")
        self.problem = problem

    async def stop(self) -> None:
        """Stop all games, save them and unlock the folder."""
        await asyncio.gather(*(table.stop() for table in self._ready.values()), return_exceptions=True)
        await self.keep()
        self._let_go()

    def _text_of(self, path: Path) -> str:
        """What one of a table's two files says now."""
        table = self._ready[path.with_suffix(".json")]
        if path.suffix == _LINKS:
            return json.dumps(_notes_of(table))
        return table.session.whole.text

    def _leave_idle(self) -> None:
        """Drop tables that nobody looks at from memory, the least recently used ones first.

        The last one stays, because somebody is about to look at it.
        """
        for path, table in tuple(self._ready.items())[:-1]:
            if len(self._ready) <= _MOST_READY:
                return
            if table.idle and path not in self._changed and path.with_suffix(_LINKS) not in self._changed:
                del self._ready[path]


def _write(path: Path, text: str) -> None:
    with whole_file(path) as unfinished:
        if path.suffix == _LINKS:
            unfinished.touch(mode=0o600)  # whoever has a link can play with it
        unfinished.write_text(text, encoding="utf-8")


def _notes_of(table: Table) -> dict[str, Any]:
    """What the file of links says of a table now."""
    session = table.session
    return {
        "table": _FORMAT,
        "game": session.game.name,
        "kind": table.kind,
        "learn": table.learn,
        "names": [session.given_names.get(seat, "") for seat in range(session.config.players)],
        "clock": None if table.clock is None else table.clock.notes,
        "links": [{"key": one.key, "seats": one.seats, "let_in": one.visitors.let_in} for one in table.links],
    }


def _scenario_of(start: dict[str, Any], game: Game) -> Any:
    """The state that a scenario describes."""
    return game.scenario(_content_of(start, "scenario"), None)


def _content_of(start: dict[str, Any], what: str) -> dict[str, Any]:
    """The content of a file. It may be sent as text, because browsers would round large numbers in it."""
    content = start[what]
    if isinstance(content, str):
        content = object_of(content)
    if not isinstance(content, dict):
        raise Refused(f"{what}: the file does not hold one")
    return content


def _notes(path: Path) -> dict[str, Any]:
    """The content of a file of links. Raises Refused for another kind of file, and if it can't be read."""
    try:
        notes = json.loads(read_limited(path, _MOST_LINKS_BYTES))
        links = notes["links"]
        sound = (
            notes["table"] == _FORMAT
            and notes["kind"] in KINDS
            and isinstance(notes["learn"], bool)
            and isinstance(notes["game"], str)
            and isinstance(notes.get("names", []), list)
            and all(isinstance(one, str) for one in notes.get("names", []))
            and all(isinstance(one["key"], str) and all(type(seat) is int for seat in one["seats"]) for one in links)
            and all(are_browsers(one.get("let_in", [])) for one in links)
        )
    except OSError as error:
        raise Refused(f"{os.path.basename(path)}: can't be read ({error.strerror})") from None
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    if not sound:
        raise Refused(f"{os.path.basename(path)}: not a file of links")
    return dict(notes)
