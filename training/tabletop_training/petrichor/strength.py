"""`petrichor strength`: the effect of each part of the guided search in solo, and of more time to think.

It has two parts. The *ablations* change one thing of the search at a time, in the hardest game. The *curve* is the win
rate by number of simulations, in an easy, a middle and the hardest game. Results are kept in `strength.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from matplotlib.ticker import NullFormatter, PercentFormatter
from rich.table import Table

from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import Agent, Decisions, make_agent
from tabletop_agents.search.guided_search import DEFAULT_SETTINGS, GuidedSearchAgent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import read_limited
from tabletop_engine.play.agents import check_agents
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_training.files.job import Job, Stopped
from tabletop_training.files.plots import INK, looks, picture
from tabletop_training.files.provenance import agent_hash
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import OnResult, new_table, percent, plus_minus, unheard, write_json
from tabletop_training.measure.evaluation import EVALUATION_SEED, EvaluationStopped, Playing, get_ready
from tabletop_training.measure.matches import evaluate
from tabletop_training.measure.results import Estimate
from tabletop_training.petrichor.report_plots import error_bars, set_title
from tabletop_training.petrichor.summaries import set_name

FILE = "strength.json"
PICTURE = "strength.png"
GAMES = 400
"""The games of each row with a search."""
POLICY_GAMES = 10
"""A policy alone plays so many times as many games, because they take very little time."""

HARDEST = set_title(VARIANTS)
MIDDLE = ("double_card", "one_more_turn")
"""The set in which the win rate of `policy:solo` is nearest to the middle between the base game and the hardest set."""
SETS: Mapping[str, tuple[str, ...]] = {"base game": (), "Double card + One More Turn": MIDDLE, HARDEST: VARIANTS}
"""The sets of variants of the curve by title, the easiest first; the ablations use the last one."""

_POLICY_COST = 5
"""The simulations that take about as long as a policy's decision, for the progress bar."""
_BAR_WIDTH = 40
"""The columns of the progress bar without the words beside it."""

# --- What is measured ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Player:
    """A policy alone, or the search that it guides.

    Attributes:
        simulations: for each decision; 0 for the policy alone.
        what: what it does, or what is changed, in words.
        settings: of the search, replacing `guided_search.DEFAULT_SETTINGS`.
        drawn: whether the policy alone draws its actions instead of choosing the likeliest one.
    """

    simulations: int
    what: str = "as shipped"
    settings: Mapping[str, float] = field(default_factory=dict)
    drawn: bool = False

    @property
    def kind(self) -> str:
        """The agent's name without the policy's name."""
        if self.simulations:
            return f"search-{self.simulations}"
        return "policy-sample" if self.drawn else "policy"

    def agent(self, policy: str) -> Agent:
        """Create the agent with this policy, on one thread. Raises CheckpointError if the policy can't be loaded."""
        agent = make_agent(f"{self.kind}:{policy}", GAME)
        if isinstance(agent, GuidedSearchAgent):
            return replace(agent, settings=self.settings, num_threads=1)
        return agent

    def games(self, games: int) -> int:
        """The number of games that it plays if a search plays this many."""
        return games if self.simulations else POLICY_GAMES * games

    @property
    def cost(self) -> int:
        """The cost of a decision, in simulations."""
        return self.simulations or _POLICY_COST


def _changed(setting: str, value: float, meaning: str = "") -> Player:
    """The search with one setting changed; `meaning` says what this does."""
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
    # 1,000 times the square root of the tries is more than all tries, so no simulation reaches the bound
    _changed("widening", 1000.0, "chance is drawn anew each time"),
    _changed("widening", 0.5, "few outcomes of chance"),
    _changed("margin", 0.0, "victory alone"),
    # if a point counts as much as 1,000 victories, victories count nothing; the scale does not matter
    _changed("margin", 1000.0, "margin alone"),
)
_CURVE = (_BARE, *(Player(simulations) for simulations in (25, 50, 100, 200, 400, 800)))

PARTS: Mapping[str, Sequence[tuple[Player, str]]] = {
    "ablations": [(player, HARDEST) for player in _ABLATIONS],
    "curve": [(player, title) for title in SETS for player in _CURVE],
}
"""The players of each of `SETS`, in the order of the tables. Rows of both parts are measured once."""

Row = dict[str, Any]
Key = tuple[str, tuple[tuple[str, float], ...], str]
"""The key of a row: the kind of player, its settings, its `set_name`."""


def key_of(player: Player, title: str) -> Key:
    """The key of this player's row for the set of this title."""
    return player.kind, tuple(sorted(player.settings.items())), set_name(SETS[title])


def rows_of(part: str, rows: Mapping[Key, Row]) -> list[Row]:
    """The measured rows of a part, in its order."""
    return [rows[key] for key in (key_of(*one) for one in PARTS[part]) if key in rows]


class Timed:
    """An agent that measures its time for decisions with more than one legal action.

    Attributes:
        seconds: processor time of this thread; other programs on the machine do not count.
        decisions: the number of answered decisions with more than one legal action.
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
    """Measure one player in the set of this title. Returns a JSON-able row with estimates [value, low, high].

    `petrichor evaluate` plays the same games if no setting is changed. `milliseconds` are those of one core for a
    decision with more than one legal action. A search decides one game at a time, a policy alone all games together.

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


@checked
def main(
    policy: str = "solo",
    *,
    games: int = GAMES,
    seed: int = EVALUATION_SEED,
    part: str | None = None,
    output: str | Path = "runs/strength",
    on_result: OnResult = unheard,
) -> Path:
    """Measure the rows missing in the folder's `strength.json`, print the tables and draw the curve.

    Returns the folder. Each row is saved as soon as it is measured; Ctrl-C loses only the present one.

    Arguments:
        policy: a checkpoint with win and margin heads, or the name of a shipped one.
        games: for each row with a search; a policy alone plays `POLICY_GAMES` times as many.
        seed: of the first game of each row; all rows use the same seeds.
        part: one of `PARTS`; None for all.
        on_result: told the rows that are printed, as `strength.json` has them.

    Raises ConfigError for bad arguments, CheckpointError for a policy without such heads, TabletopError for a file with
    rows of another network, of other rules, or of a search with other settings.
    """
    if part is not None and part not in PARTS:
        raise ConfigError(f"part={part!r}: must be {' or '.join(PARTS)}")
    check_at_least_one(games=games)
    wanted = {key_of(*one): one for name in PARTS if part in (None, name) for one in PARTS[name]}
    with Screen().status("loading the policy"):
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
    """Yield the measured rows, with a progress bar. Ctrl-C ends it early, without the present row."""
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
    """The rows of a loaded `strength.json`. Raises KeyError, TypeError or AttributeError for other content."""
    return {(row["player"], tuple(sorted(row["settings"].items())), row["variants"]): row for row in content["rows"]}


def _read(path: Path, checkpoint: str | None) -> dict[Key, Row]:
    """The file's rows; none if there is no file. Raises TabletopError for a file that cannot be continued."""
    if not path.exists():
        return {}
    try:
        kept = json.loads(read_limited(path))
        rows = read_rows(kept)
        version, measured, settings = kept["state_version"], kept["checkpoint"], kept["settings"]
        for name in PARTS:
            _table(name, rows_of(name, rows), kept["policy"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TabletopError(f"{path}: not a file of this command ({error})") from None
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
    """A table of rows for a screen."""
    ablations = part == "ablations"
    title = f"{policy}, {HARDEST}, one thing changed" if ablations else f"{policy}, more time to think"
    numbers = ("simu-\nlations", "games", "win rate", "margin", "ms")
    caption = "ms: milliseconds of one core for a decision that leaves a choice."
    table = new_table(f"{shown(title)}: 95 % intervals", ["search" if ablations else "set"], numbers, caption)
    titles = {set_name(variants): name for name, variants in SETS.items()}
    for row in rows:
        table.add_row(
            shown(row["what"] if ablations else titles[row["variants"]]),
            f"{row['simulations']:,}",
            f"{row['games']:,}",
            percent(Estimate(*row["win_rate"])),
            plus_minus(Estimate(*row["margin"]), signed=True),
            f"{row['milliseconds']:g}",
        )
    return table


def plot_thinking(path: Path, rows: Sequence[Row]) -> None:
    """Draw the curve: win rate over the time for a decision, a line for each set, with 95 % intervals."""
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
        axes.xaxis.set_minor_formatter(NullFormatter())  # its own labels are formulas
        axes.set_xlabel("milliseconds of one core for a decision (small numbers: simulations)")
        axes.set_ylim(-0.06, 1.02)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.set_title("Games won against the Southern Winds, 95 % intervals")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower left", ncols=len(SETS), frameon=False)
