"""`petrichor strength`: the effect of each part of the guided search in solo, and of more time to think.

It has two parts. The *ablations* change one thing of the search at a time, in the hardest game. The *curve* is the win
rate by number of simulations, in an easy, a middle and the hardest game. Results are kept in `strength.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import NullFormatter, PercentFormatter

from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import Agent, make_agent
from tabletop_agents.search.guided_search import DEFAULT_SETTINGS, GuidedSearchAgent
from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.play.agents import check_agents
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import shown
from tabletop_training.files.job import Stopped
from tabletop_training.files.plots import INK, error_bars, legend, looks, picture
from tabletop_training.files.provenance import agent_hash, software
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.files.tables import MARGIN, PLAYED, WIN_RATE, Column, OnResult, Table, ignore, plain, write_json
from tabletop_training.measure.evaluation import EVALUATION_SEED, HERE, Workers, get_ready
from tabletop_training.measure.matches import report_agents
from tabletop_training.measure.results import Results
from tabletop_training.petrichor.report_plots import set_title
from tabletop_training.petrichor.summaries import set_name
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import finished_cells
from tabletop_training.study.settings import arguments, job_of

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

WHAT = Column("search", "what", words=True)
MILLISECONDS = Column("ms", "milliseconds", "{:g}".format)

Row = dict[str, Any]
Key = tuple[str, tuple[tuple[str, float], ...], str]
"""The key of a row: the kind of player, its settings, its `set_name`."""


def key_of(player: Player, title: str) -> Key:
    """The key of this player's row for the set of this title."""
    return player.kind, tuple(sorted(player.settings.items())), set_name(SETS[title])


def rows_of(part: str, rows: Mapping[Key, Row]) -> list[Row]:
    """The measured rows of a part, in its order."""
    return [rows[key] for key in (key_of(*one) for one in PARTS[part]) if key in rows]


def cell_of(player: Player, title: str, policy: str, games: int = GAMES, seed: int = EVALUATION_SEED) -> Cell:
    """The games of a player in the set of this title; `petrichor evaluate` plays the same if no setting is changed.

    Raises CheckpointError and ConfigError for a policy that can't play this.
    """
    config, agent = Config(variants=SETS[title]), player.agent(policy)
    check_agents([agent], config)
    key = " ".join([agent.name, *(f"{name} {value:g}" for name, value in player.settings.items()), title])
    settings = {**DEFAULT_SETTINGS, **player.settings}
    number = player.games(games)
    return Cell(key, [agent], config, number, seed, growing=True, about={"settings of the search": settings})


def row_of(player: Player, results: Results) -> Row:
    """A JSON-able row with estimates [value, low, high].

    `milliseconds` are those of one core for a decision with more than one legal action. A search decides one game at a
    time, a policy alone all games together.
    """
    assert isinstance(results.config, Config)
    (report,) = report_agents(results, results.agents)
    seconds, decisions = results.thinking[0].tolist()
    return {
        "player": player.kind,
        "what": player.what,
        "simulations": player.simulations,
        "settings": dict(player.settings),
        "variants": set_name(results.config.variants),
        "games": report.games,
        "seed": results.seed,
        "win_rate": list(report.estimates["win_rate"]),
        "margin": list(report.estimates["margin"]),
        "decisions": int(decisions),
        "milliseconds": float(f"{1000 * seconds / decisions:.3g}"),
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
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Measure the rows, print the tables and draw the curve; returns the folder with `strength.json`.

    Arguments:
        policy: a checkpoint with win and margin heads, or the name of a shipped one.
        games: for each row with a search; a policy alone plays `POLICY_GAMES` times as many.
        seed: of the first game of each row; all rows use the same seeds.
        part: one of `PARTS`; None for all.

    All else is as in `tabletop_training.measure`.
    """
    if part is not None and part not in PARTS:
        raise ConfigError(f"part={part!r}: must be {' or '.join(PARTS)}")
    check_at_least_one(games=games)
    parts = [name for name in PARTS if part in (None, name)]
    wanted = {key_of(*one): one for name in parts for one in PARTS[name]}
    with Screen().status("loading the policy"):
        get_ready([Player(1).agent(policy), Player(0).agent(policy)], Config())
        cells = {key: cell_of(*one, policy, games, seed) for key, one in wanted.items()}
    asked = {"policy": policy, "games": games, "seed": seed, "part": part}
    with job_of("strength", GAME, output, asked, cells=cells.values()) as (job, store):
        done = finished_cells(job, list(cells.values()), store, workers, record_thinking=True)
        rows = {key: row_of(wanted[key][0], done[cell]) for key, cell in cells.items() if cell in done}
        if not rows:
            raise Stopped
        header = {"policy": policy, "checkpoint": agent_hash(f"policy:{policy}", GAME), "settings": DEFAULT_SETTINGS}
        content = plain({**software(GAME), **header, "rows": list(rows.values())})
        write_json(job.folder / FILE, content)
        for name in parts:
            if measured := rows_of(name, rows):
                job.console.print(table_of(name, measured, policy).screen())
        if "curve" in parts and (curve := rows_of("curve", rows)):
            plot_thinking(job.folder / PICTURE, curve)
        on_result(content)
    return job.folder


def resume(folder: str | Path, **how: Any) -> Path:
    """Go on with what is measured in a folder; `how` are further arguments of `main`."""
    return main(**arguments(folder, "strength", GAME, "policy", "games", "seed", "part"), output=folder, **how)


def read_rows(content: Mapping[str, Any]) -> dict[Key, Row]:
    """The rows of the content of a `strength.json`, by their keys."""
    return {(row["player"], tuple(sorted(row["settings"].items())), row["variants"]): row for row in content["rows"]}


def table_of(part: str, rows: Sequence[Row], policy: str) -> Table:
    """The rows of a part, for a screen; the docs have further columns."""
    titles = {set_name(variants): name for name, variants in SETS.items()}
    if part == "ablations":
        title, first = f"{policy}, {HARDEST}, one thing changed", WHAT
    else:
        title, first = f"{policy}, more time to think", Column("set", "variants", words=True)
        rows = [{**row, "variants": titles[row["variants"]]} for row in rows]
    columns = (first, Column("simu-\nlations", "simulations", "{:,}".format), PLAYED, WIN_RATE, MARGIN, MILLISECONDS)
    caption = "ms: milliseconds of one core for a decision that leaves a choice."
    return Table(columns, rows, f"{shown(title)}: 95 % intervals", caption)


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
        legend(figure, axes, len(SETS))
