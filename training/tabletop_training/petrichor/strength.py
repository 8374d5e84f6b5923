"""`petrichor strength`: what each part of the search with a network brings in solo, and what more time to think does.

Two parts: *ablations*, the search with one thing changed at a time, in the hardest game; and the *curve*, its win rate
by the number of simulations, in an easy, a middle and the hardest game. What is measured is kept in `strength.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from matplotlib.ticker import PercentFormatter
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop.agents import check_agents
from tabletop.errors import ConfigError, TabletopError
from tabletop.files import read_limited
from tabletop_agents import Agent, Decisions, make_agent
from tabletop_agents.guided_search import DEFAULT_SETTINGS, GuidedSearchAgent
from tabletop_training.evaluation import EVALUATION_SEED, Estimate, EvaluationStopped, Playing
from tabletop_training.evaluation_files import OnResult, new_table, percent, plus_minus, unheard, write_json
from tabletop_training.job import Job, Stopped
from tabletop_training.matches import evaluate, get_ready
from tabletop_training.petrichor.report_plots import error_bars
from tabletop_training.petrichor.summaries import set_name
from tabletop_training.plays import agent_hash
from tabletop_training.plots import INK, looks, picture
from tabletop_training.settings import check_at_least_one

FILE = "strength.json"
PICTURE = "strength.png"
GAMES = 400
"""Of each row with a search."""
POLICY_GAMES = 10
"""Times as many games of a policy alone, which cost next to nothing."""

HARDEST = "all four variants"
MIDDLE = ("double_card", "one_more_turn")
"""Of the 16 sets the one in which `policy:solo` wins nearest to half way between the base game and the hardest set."""
SETS: Mapping[str, tuple[str, ...]] = {"base game": (), "Double card + One More Turn": MIDDLE, HARDEST: VARIANTS}
"""The sets of variants of the curve by their titles, from the easiest; the ablations are of the last one."""

_POLICY_COST = 5
"""Simulations that take about as long as a policy's decision: for the progress bar."""
_BAR_WIDTH = 40
"""Columns of a screen that the progress bar takes without the words beside it."""

# --- What is measured ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Player:
    """A policy alone, or the search that it guides.

    Attributes:
        simulations: of each decision; 0 for the policy alone.
        what: says in words what it does or what is changed.
        settings: of the search, in place of `guided_search.DEFAULT_SETTINGS`.
        drawn: whether the policy alone draws its actions instead of taking the likeliest one.
    """

    simulations: int
    what: str = "as shipped"
    settings: Mapping[str, float] = field(default_factory=dict)
    drawn: bool = False

    @property
    def kind(self) -> str:
        """The agent's name without that of the policy."""
        if self.simulations:
            return f"search-{self.simulations}"
        return "policy-sample" if self.drawn else "policy"

    def agent(self, policy: str) -> Agent:
        """It plays with this policy, by one thread. Raises CheckpointError where it can't be loaded."""
        agent = make_agent(f"{self.kind}:{policy}", GAME)
        if isinstance(agent, GuidedSearchAgent):
            return replace(agent, settings=self.settings, num_threads=1)
        return agent

    def games(self, games: int) -> int:
        """How many it plays where a search plays so many."""
        return games if self.simulations else POLICY_GAMES * games

    @property
    def cost(self) -> int:
        """Of a decision, in simulations."""
        return self.simulations or _POLICY_COST


def _changed(setting: str, value: float, meaning: str = "") -> Player:
    """The search with one setting changed, which does what `meaning` says."""
    change = f"{setting} {value:g}, not {DEFAULT_SETTINGS[setting]:g}"
    return Player(200, f"{meaning} ({change})" if meaning else change, {setting: value})


_BARE = Player(0, "no search: the likeliest action")
_ABLATIONS = (
    _BARE,
    Player(0, "no search: actions drawn by the policy", drawn=True),
    Player(200),
    Player(800),
    _changed("temperature", 1.0),
    _changed("exploration", 0.5),
    _changed("exploration", 3.0),
    # 1,000 times the square root of the tries is more than there are tries: no simulation meets the bound
    _changed("widening", 1000.0, "chance is drawn anew each time"),
    _changed("widening", 0.5, "few outcomes of chance"),
    _changed("margin", 0.0, "victory alone"),
    # beside points that count 1,000 victories each the victory is nothing; only differences count, so the scale is free
    _changed("margin", 1000.0, "margin alone"),
)
_CURVE = (_BARE, *(Player(simulations) for simulations in (25, 50, 100, 200, 400, 800)))

PARTS: Mapping[str, Sequence[tuple[Player, str]]] = {
    "ablations": [(player, HARDEST) for player in _ABLATIONS],
    "curve": [(player, title) for title in SETS for player in _CURVE],
}
"""Who plays which of `SETS`, in the order of the tables. What both parts have is measured once."""

Row = dict[str, Any]
Key = tuple[str, tuple[tuple[str, float], ...], str]
"""What tells a row from the others: the kind of player, its settings, its `set_name`."""


def key_of(player: Player, title: str) -> Key:
    """Of the row of this player in the set of this title."""
    return player.kind, tuple(sorted(player.settings.items())), set_name(SETS[title])


def rows_of(part: str, rows: Mapping[Key, Row]) -> list[Row]:
    """Those of a part that are measured, in its order."""
    return [rows[key] for key in (key_of(*one) for one in PARTS[part]) if key in rows]


class Timed:
    """An agent, and how long it takes for a decision that leaves it a choice.

    Attributes:
        seconds: that this thread's processor took; what else runs on the machine doesn't count.
        decisions: of those with more than one legal action, how many it has answered.
    """

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name
        self.seconds, self.decisions = 0.0, 0

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        """(N,) int64, the agent's actions."""
        start = time.thread_time()
        actions = self._agent.act(decisions, generator)
        self.seconds += time.thread_time() - start
        self.decisions += int((decisions.action_masks.sum(axis=1) > 1).sum())
        return actions


def measure(
    player: Player, title: str, policy: str, games: int = GAMES, seed: int = EVALUATION_SEED, **playing: Unpack[Playing]
) -> Row:
    """Games of one player, of the set of this title: a JSON-able row, whose estimates are [value, low, high].

    `petrichor evaluate` plays the same games, if no setting is changed. `milliseconds` are of one core, for a decision
    that leaves a choice; a search takes one after the other, a policy alone those of all games together.

    Raises EvaluationStopped if it is stopped before the last game has ended, CheckpointError and ConfigError for a
    policy that can't play this.
    """
    config = Config(variants=SETS[title])
    agent = player.agent(policy)
    get_ready([agent], config)
    timed = Timed(agent)
    evaluation = evaluate([timed], config, games, seed, **playing)
    if evaluation.stopped == "interrupted":
        raise EvaluationStopped
    report = evaluation.reports[0]
    return {
        "player": player.kind,
        "what": player.what,
        "simulations": player.simulations,
        "settings": dict(player.settings),
        "variants": set_name(config.variants),
        "games": report.games,
        "seed": seed,
        "win_rate": list(report.estimates["win_rate"]),
        "margin": list(report.estimates["margin"]),
        "decisions": timed.decisions,
        "milliseconds": float(f"{1000 * timed.seconds / timed.decisions:.3g}"),
    }


# --- The command -----------------------------------------------------------------------------------------------------


def main(
    policy: str = "solo",
    *,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    part: str | None = None,
    output: str | Path = "runs/strength",
    on_result: OnResult = unheard,
) -> Path:
    """Measure the rows that the folder's `strength.json` lacks; print tables, draw the curve; returns the folder.

    A row is kept as soon as it is measured, and Ctrl-C loses only the one at hand.

    Arguments:
        policy: a checkpoint with an outlook, or the name of a shipped one.
        games: of each row with a search; `POLICY_GAMES` times as many of a policy alone.
        seed: of the first game of each row, so that all rows are of the same seeds.
        part: one of `PARTS`; None for all.
        on_result: told the rows that are printed, as `strength.json` has them.

    Raises ConfigError for bad arguments, CheckpointError for a policy that can't be searched with, TabletopError for a
    file with rows of another network, of other rules, or of a search with other settings.
    """
    if part is not None and part not in PARTS:
        raise ConfigError(f"part={part!r}: {' or '.join(PARTS)}")
    check_at_least_one(games=games)
    wanted = {key_of(*one): one for name in PARTS if part in (None, name) for one in PARTS[name]}
    with Console().status("loading the policy"):
        check_agents([Player(1).agent(policy)], Config())
    checkpoint = agent_hash(f"policy:{policy}", GAME)
    rows = _read(Path(output) / FILE, checkpoint)
    missing = {key: one for key, one in wanted.items() if key not in rows}
    header = {"game": GAME.name, "package_version": GAME.version, "state_version": GAME.rules_version}
    header |= {"policy": policy, "checkpoint": checkpoint, "settings": DEFAULT_SETTINGS}
    with Job(output, resume=True) as job:
        if not missing:
            job.console.print("All of this is measured already.")
        for key, row in _measured(job, missing, policy, games, seed):
            rows[key] = row
            write_json(job.folder / FILE, {**header, "rows": list(rows.values())})
        if not rows:
            raise Stopped
        write_json(job.folder / FILE, {**header, "rows": list(rows.values())})  # the name may be a new one
        if not missing.keys() <= rows.keys():
            job.console.print("Stopped early. The same command continues.")
        for name in PARTS:
            if part in (None, name) and (measured := rows_of(name, rows)):
                job.console.print(_table(name, measured, policy))
        on_result({**header, "rows": [row for key, row in rows.items() if key in wanted]})
        if part != "ablations" and (curve := rows_of("curve", rows)):
            plot_thinking(job.folder / PICTURE, curve)
    return job.folder


def _measured(
    job: Job, wanted: Mapping[Key, tuple[Player, str]], policy: str, games: int, seed: int
) -> Iterator[tuple[Key, Row]]:
    """Rows one after the other, beside a progress bar; it ends early after Ctrl-C, without the row at hand."""
    if not wanted:
        return
    with job.bar("measuring", sum(player.games(games) * player.cost for player, _ in wanted.values())) as bar:
        for key, (player, title) in wanted.items():
            bar.show(f"{player.kind}, {title}"[: max(0, job.console.width - _BAR_WIDTH)])

            def advance(ended: int, cost: int = player.cost) -> None:
                bar.advance(ended * cost)

            playing: Playing = {"should_stop": job.should_stop, "on_finished": advance}
            try:
                yield key, measure(player, title, policy, player.games(games), seed, **playing)
            except EvaluationStopped:
                return


def read_rows(content: Mapping[str, Any]) -> dict[Key, Row]:
    """The rows of what `strength.json` holds. Raises KeyError, TypeError or AttributeError where it is none."""
    return {(row["player"], tuple(sorted(row["settings"].items())), row["variants"]): row for row in content["rows"]}


def _read(path: Path, checkpoint: str | None) -> dict[Key, Row]:
    """The file's rows; none where there is no file. Raises TabletopError for one that can't be gone on with."""
    if not path.exists():
        return {}
    try:
        kept = json.loads(read_limited(path))
        rows = read_rows(kept)
        version, measured, settings = kept["state_version"], kept["checkpoint"], kept["settings"]
        for name in PARTS:
            _table(name, rows_of(name, rows), kept["policy"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TabletopError(f"{path}: no measurements of this command ({error})") from None
    if version != GAME.rules_version:
        raise TabletopError(
            f"{path}: measured with state version {version}, this is {GAME.rules_version}: move it away"
        )
    if measured != checkpoint:
        raise TabletopError(f"{path}: measured with another network than this one: give another --output")
    if settings != DEFAULT_SETTINGS:
        raise TabletopError(f"{path}: measured when the search had other settings: give another --output")
    return rows


def _table(part: str, rows: Sequence[Row], policy: str) -> Table:
    """For a screen."""
    ablations = part == "ablations"
    title = f"{policy}, {HARDEST}, one thing changed" if ablations else f"{policy}, more time to think"
    numbers = ("simu-\nlations", "games", "win rate", "margin", "ms")
    caption = "ms: milliseconds of one core for a decision that leaves a choice."
    table = new_table(escape(f"{title}: 95 % intervals"), ["search" if ablations else "set"], numbers, caption)
    titles = {set_name(variants): name for name, variants in SETS.items()}
    for row in rows:
        table.add_row(
            Text(row["what"] if ablations else titles[row["variants"]]),
            f"{row['simulations']:,}",
            f"{row['games']:,}",
            percent(Estimate(*row["win_rate"])),
            plus_minus(Estimate(*row["margin"]), signed=True),
            f"{row['milliseconds']:g}",
        )
    return table


def plot_thinking(path: Path, rows: Sequence[Row]) -> None:
    """Win rate over the time for a decision, a line for each set, with 95 % intervals; `rows` are of the curve."""
    look = looks(list(SETS))
    with picture(path, "What more time to think brings", 1, 1, figsize=(8.5, 5.2)) as (figure, axes):
        for title, variants in SETS.items():
            own = [row for row in rows if row["variants"] == set_name(variants)]
            if not own:
                continue
            colour, marker = look[title]
            times = [row["milliseconds"] for row in own]
            rates, *ends = np.array([row["win_rate"] for row in own]).T
            bars = error_bars(rates, *ends)
            axes.errorbar(times, rates, yerr=bars, fmt=f"{marker}-", color=colour, label=title, elinewidth=1.4)
            below: Any = {"textcoords": "offset points", "fontsize": 8, "ha": "center", "color": INK}
            if title == HARDEST:  # the times of the other sets are much the same
                for row, when, lowest in zip(own, times, ends[0], strict=True):
                    number = f"{row['simulations']:,}" if row["simulations"] else "no search"
                    axes.annotate(number, (when, lowest), xytext=(0, -12), **below)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("milliseconds of one core for a decision (small numbers: simulations)")
        axes.set_ylim(-0.06, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_title("Games won against the Southern Winds, 95 % intervals")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=len(SETS), frameon=False)
