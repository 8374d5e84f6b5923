"""The files of evaluations and tournaments: tables for a screen, a page and a CSV file, JSON, and replays."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from tabletop_engine.errors import ConfigError
from tabletop_engine.files import make_folder, whole_file
from tabletop_engine.game import Game
from tabletop_engine.replays.files import THOUSANDTHS, printable
from tabletop_engine.replays.replay import Replay, replays_of
from tabletop_engine.text.words import counted, shown
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE, Recording
from tabletop_training.measure.results import NO_ESTIMATE, Estimate, Results

_LONGEST_SLUG = 40
"""The most bytes of a slug. Five slugs fit into the name of a file."""

OnResult = Callable[[Any], None]
"""Called with the content of a command's tables as JSON values (`plain`)."""


def ignore(result: Any) -> None:
    """An `OnResult` that does nothing."""


def write_games(path: Path, games: Iterable[tuple[Results, Sequence[str]]]) -> None:
    """Write `games.csv`: a line for every seat of every game, from results and the names of their agents.

    What a seat has, such as points, is what its team has; only its decisions are its own.

    Columns: game, seed, seat, agent, points, won (the share of the victory), place, margin, decisions, length, then the
    points by source if the game counts them. An opponent that the rules play has lines too, with points only.
    """
    columns = ("game", "seed", "seat", "agent", "points", "won", "place", "margin", "decisions", "length")
    number = 0
    with csv_file(path) as file:
        writer = csv.writer(file)
        for results, labels in games:
            config = results.config
            names = config.game.words.owner_names(config.players)
            owners = (*results.teams, *range(max(results.teams) + 1, config.owners))
            if number == 0:
                writer.writerow((*columns, *config.game.scored))
            shares, margins = results.win_shares, results.margins_by_seat
            for game in range(len(results)):
                for seat, owner in enumerate(owners):
                    agent, won, place, margin, decisions = names[seat], "", "", "", ""
                    if seat < config.players:
                        agent = labels[results.lineups[game, seat]]
                        won, margin = f"{shares[game, seat]:.4g}", f"{margins[game, seat]:.4g}"
                        place, decisions = results.places[game, seat], results.decisions[game, seat]
                    start = (number, results.seeds[game], seat, agent, results.points[game, owner])
                    scored = results.scored[game, owner] if config.game.scored else ()
                    writer.writerow([*start, won, place, margin, decisions, results.lengths[game], *scored])
                number += 1


class ReplayFiles:
    """A folder with a replay of every game, or of the first ones, such as `000012-greedy-random.json`.

    The number is that of the game in `games.csv`; the names are those of the agents by seat.

    Arguments:
        folder: `open` creates it; if it already has files, a new one beside it is used. None keeps no replays.
        most: the number of games to keep in each of its subfolders; None for all.
        probabilities: also keep the agents' probabilities.

    Raises ConfigError for a number of games below 1, and for options without a folder.
    """

    def __init__(self, folder: str | Path | None, most: int | None = None, probabilities: bool = False) -> None:
        if folder is None and (most is not None or probabilities):
            raise ConfigError("replay_games, replay_probabilities: only with save_replays, a folder for the replays")
        check_at_least_one(replay_games=1 if most is None else most)
        self._wanted = folder
        self._folder: Path | None = None
        self._most = most
        self._probabilities = probabilities
        self._games: Counter[Path] = Counter()
        self._kept = 0
        self._game: Game | None = None

    @property
    def recording(self) -> Recording:
        """What functions that play games have to record for the replays."""
        wanted = self._wanted is not None
        return {"record_actions": wanted, "record_probabilities": wanted and self._probabilities}

    def open(self, output: Path | None = None) -> None:
        """Create the folder before any game is played.

        Raises TabletopError if that fails, ConfigError if it is `output`, the folder of the results.
        """
        if self._wanted is not None and self._folder is None:
            if output is not None and Path(self._wanted).resolve() == output.resolve():
                raise ConfigError(f"save_replays={self._wanted}: must be another folder than that of the results")
            self._folder = make_folder(self._wanted, new=True)

    def add(self, results: Results, labels: Sequence[str], within: Path = Path()) -> None:
        """Save these games in the subfolder `within`, which has its own count; `labels` are the agents' names.

        Raises TabletopError if a file cannot be written, ConfigError for results without actions.
        """
        if self._wanted is None:
            return
        if results.actions is None:
            raise ConfigError("results: without their actions (record_actions) there are no replays")
        self.open()
        assert self._folder is not None
        self._game = results.config.game
        first = self._games[within]
        kept = len(results) if self._most is None else max(0, min(len(results), self._most - first))
        self._games[within] += len(results)
        self._kept += kept
        folder = make_folder(self._folder / within)
        for start in range(0, kept, MAX_GAMES_AT_ONCE):
            part = slice(start, min(kept, start + MAX_GAMES_AT_ONCE))
            for number, replay in enumerate(_replays(results, labels, part), first + start):
                replay.save(folder / f"{number:06}-{'-'.join(map(slug, replay.names))}.json")

    def tell(self, console: Console) -> None:
        """Print where the replays are, if any were saved."""
        if self._game is not None and self._kept:
            example = f"{self._game.command} replay FILE"
            text = f": {counted(self._kept, 'replay')}; look at one with {example}"
            console.print(Text.assemble("In ", (shown(str(self._folder)), "bold"), text), soft_wrap=True)


def _replays(results: Results, labels: Sequence[str], part: slice) -> list[Replay]:
    assert results.actions is not None
    names = [[printable(labels[agent]) for agent in lineup] for lineup in results.lineups[part]]
    actions = [taken.tolist() for taken in results.actions[part]]
    shares = list(map(_by_decision, results.lengths[part].tolist(), (results.probabilities or ())[part]))
    seeds, editions = results.seeds[part].tolist(), results.edition_of_games[part]
    made: dict[int, Replay] = {}
    for edition in np.unique(editions).tolist():  # replays of one configuration are made together
        own: Any = replace(results.config, components=results.editions[edition]) if results.editions else results.config
        games = np.flatnonzero(editions == edition).tolist()
        starts, taken = [seeds[game] for game in games], [actions[game] for game in games]
        seated, probabilities = [names[game] for game in games], [shares[game] for game in games] if shares else []
        made |= zip(games, replays_of(own, starts, taken, names=seated, probabilities=probabilities), strict=True)
    return [made[game] for game in range(len(seeds))]


def _by_decision(length: int, lines: np.ndarray) -> list[dict[int, float]]:
    shares: list[dict[int, float]] = [{} for _ in range(length)]
    for decision, action, thousandths in lines.tolist():
        shares[decision][action] = thousandths / THOUSANDTHS
    return shares


def slug(name: str) -> str:
    """A name as part of a file name: the end of `policy:runs/best.zip` becomes `policy_runs_best.zip`."""
    end = re.sub(r"[^\w.+]+", "_", name).encode()[-_LONGEST_SLUG:]
    return end.decode(errors="ignore").strip("_.")


@contextmanager
def csv_file(path: Path, new: bool = True) -> Iterator[TextIO]:
    """A CSV file to write as a whole (`whole_file`), or with `new=False` to append to.

    What UTF-8 cannot hold is written as `shown` shows it.
    """
    with (
        whole_file(path) if new else nullcontext(path) as written,
        written.open("w" if new else "a", newline="", encoding="utf-8", errors="backslashreplace") as file,
    ):
        yield file


def write_rows(path: Path, rows: Sequence[dict[str, Any]], form: str = ".6f") -> None:
    """Write rows from `flat` as a CSV file: floats in this format, empty cells for infinite ones and NaN."""

    def cell(value: Any) -> Any:
        if not isinstance(value, float):
            return value
        return format(value, form) if math.isfinite(value) else ""

    write_log(path, flat(rows[0]), ({key: cell(value) for key, value in flat(row).items()} for row in rows))


def write_log(path: Path, columns: Iterable[str], rows: Iterable[dict[str, Any]], new: bool = True) -> None:
    """Write a log with its header; with `new=False` append to it."""
    with csv_file(path, new) as file:
        writer = csv.DictWriter(file, list(columns))
        if new:
            writer.writeheader()
        writer.writerows(rows)


def read_log(path: Path, last: int) -> list[dict[str, Any]]:
    """The rows of a log up to `last` steps; none if there is no file."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if int(row["steps"]) <= last]


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write an indented JSON file, with estimates as objects and null for infinite ends and NaN.

    If that fails, the file is as it was.
    """
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(plain(content), indent=2, allow_nan=False) + "\n", encoding="utf-8")


def plain(content: Any) -> Any:
    """The content as JSON values: estimates as objects, tuples as lists, None for infinite ends and NaN."""
    if isinstance(content, Estimate):
        content = content._asdict()
    if isinstance(content, dict):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def markdown_table(heads: Sequence[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """A table in Markdown. All but the `left` first columns are aligned to the right."""
    rule = "|---" * left + "|---:" * (len(heads) - left) + "|"
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |" for cells in (heads, *rows)]
    return "\n".join([lines[0], rule, *lines[1:]])


def markdown_code(text: str) -> str:
    """The text as code in Markdown, unchanged whatever it contains."""
    code = shown(text) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", code)), default=0))
    space = " " if not code.isspace() and (code[0] in "` " or code[-1] in "` ") else ""  # readers of Markdown remove it
    return f"{fence}{space}{code}{space}{fence}"


def agent_title(agent: str) -> str:
    """An agent's name as pictures show it, with only the last two parts of a checkpoint's path."""
    kind, _, rest = agent.partition(":")
    parts = Path(rest).parts[-2:]
    title = shown(f"{kind}:{'/'.join([*parts[:-1], Path(parts[-1]).stem])}" if parts else agent)
    return f" {title}" if title.startswith("_") else title  # legends leave out what starts with _


def agent_code(agent: str) -> str:
    """The same title as code in Markdown."""
    return markdown_code(agent_title(agent))


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row in which each estimate has three columns: its value, its `_low` and its `_high`."""
    columns: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Estimate):
            columns |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            columns[name] = value
    return columns


def format_estimate(
    estimate: Sequence[float | None],
    unit: str = "",
    *,
    factor: float = 1,
    sign: str = "",
    interval: str = "–",
    form: str = ".1f",
) -> str:
    """An estimate with its interval, such as `63.1 % (59.0–67.1)`, `+3.2 ± 1.1` or `3.2 points (2.1 to 4.3)`.

    Arguments:
        estimate: value, lower and upper end; None, as in a JSON file, for ends that are infinite.
        unit: a word after the value; with "%" a rate is written in per cent.
        factor: of all numbers; 100 for a rate under a heading that says per cent.
        sign: "+" to write it before positive numbers, too.
        interval: what stands between the ends in brackets, "–" or "to"; "±" writes the larger distance between value
            and ends, so bounded values need brackets; "" leaves the interval out.
        form: the format of each number.
    """
    value, low, high = (factor if unit != "%" else 100) * np.array(estimate, float)
    number = f"{sign}z{form}"  # what is rounded to 0 has no minus
    text = f"{value:{number}} {unit}".rstrip()
    known = math.isfinite(low)  # the mean of a single number has no interval
    if interval == "±":
        return f"{text} ± {format(max(high - value, value - low), form) if known else '–'}"
    if interval and not known:
        return f"{text} (no interval)"
    between = f" {interval} " if interval == "to" else interval
    return f"{text} ({low:{number}}{between}{high:{number}})" if interval else text


@dataclass(frozen=True)
class Column:
    """A column of a `Table`.

    Attributes:
        heading: its first line. key: of its values in the rows.
        write: the text of a value that is no text.
        words: whether it has words, which begin at the left. Columns of words come first.
        code: whether these come from outside, such as the names of agents: code on a page.
        style: how a screen shows the value of a row, such as "bold".
        wraps: whether a narrow screen may break its numbers.
    """

    heading: str
    key: str
    write: Callable[[Any], str] = str
    words: bool = False
    code: bool = False
    style: Callable[[Mapping[str, Any]], str] = lambda row: ""
    wraps: bool = False


@dataclass(frozen=True)
class Table:
    """Results for a screen and for a page. The rows are those of the CSV file, with all that it has.

    Attributes:
        rows: values by the keys of the columns: texts, numbers and estimates.
        blank: what stands for None and `NO_ESTIMATE`.
    """

    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    title: str = ""
    caption: str = ""
    blank: str = ""

    def screen(self) -> RichTable:
        """The table for a `Screen`."""
        table = RichTable(title=self.title, title_justify="left", caption=self.caption or None, caption_justify="left")
        for column in self.columns:
            if column.words:
                table.add_column(column.heading, overflow="fold")
            else:
                table.add_column(column.heading, justify="right", no_wrap=not column.wraps)
        for row in self.rows:
            styled = zip(self._texts(row, shown), (column.style(row) for column in self.columns), strict=True)
            table.add_row(*(Text(text, style) if style else text for text, style in styled))
        return table

    def markdown(self) -> str:
        """The table in Markdown."""
        rows = (self._texts(row, markdown_code) for row in self.rows)
        return markdown_table([one.heading for one in self.columns], rows, sum(one.words for one in self.columns))

    def _texts(self, row: Mapping[str, Any], code: Callable[[str], str]) -> Iterator[str]:
        for column in self.columns:
            value = row.get(column.key)
            if value is None or value is NO_ESTIMATE:
                yield self.blank
            else:
                text = value if isinstance(value, str) else column.write(value)
                yield code(text) if column.code else text


AGENT = Column("agent", "agent", words=True, code=True)
PLAYED = Column("games", "games", "{:,}".format)
WIN_RATE = Column("win rate", "win_rate", partial(format_estimate, unit="%"))
MARGIN = Column("margin", "margin", partial(format_estimate, sign="+", interval="±"))
