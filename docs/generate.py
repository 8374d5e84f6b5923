"""Write the pages and tables that come from code or measurements: `make docs`, or `python -m docs.generate`.

`BLOCKS` lists every generated part of a page, with the command that measures its figures; the page names that command
under the table. `WHOLE_PAGES` lists the pages that a command writes as a whole. Figures that no command of ours writes
into a file are kept in `measured.json`, with how they were measured. Pages that come from a game's modules are in
`docs/game_pages.py`, pictures of positions in `docs/pictures.py`. `tests/test_docs_numbers.py` compares the pages with
what this writes, and refuses tables of figures that stand outside a block.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import baselines, exploiters, learning_curve, levels, values
from benchmarks.advice import CLASSES
from benchmarks.cluster import LONG, SHORT, THIS_PROCESS
from benchmarks.run import shown
from docs import api_pages, command_pages, library_snippets, text_pages
from docs.game_pages import EVERGREEN, EVERGREEN_BLOCKS, GAMES
from docs.pictures import FOLDER, WIDTH, drawings
from tabletop_agents.levels import FILE as LEVELS_FILE
from tabletop_engine.drawing.raster import save_png
from tabletop_engine.play.agents import CHANCE_TO_WIN, POINTS, POINTS_AHEAD
from tabletop_engine.text.words import counted
from tabletop_play import catalogue
from tabletop_training.evergreen import tasks as evergreen_tasks
from tabletop_training.files.tables import AGENT, MARGIN, PLAYED, WIN_RATE, Table, format_estimate, markdown_table
from tabletop_training.measure import ladder
from tabletop_training.measure.evaluation import MAX_GAMES_AT_ONCE
from tabletop_training.petrichor import tasks as petrichor_tasks
from tabletop_training.petrichor.strength import FILE as STRENGTH_FILE
from tabletop_training.petrichor.strength import MILLISECONDS, SETS, WHAT, Row, plot_thinking, read_rows, rows_of
from tabletop_training.petrichor.strength import PICTURE as STRENGTH_PICTURE
from tabletop_training.petrichor.summaries import set_name
from tabletop_training.suite.runs import read_scores
from tabletop_training.suite.tasks import task_table

DOCS = Path(__file__).parent
DIFFICULTY = (
    "petrichor difficulty random greedy policy:solo search-200:solo --search-games 1000 --output docs/difficulty"
)
STRENGTH = "petrichor strength --games 300"


# --- Tables ----------------------------------------------------------------------------------------------------------


def _read(name: str, folder: Path = DOCS) -> dict[str, Any]:
    """The content of a file of measurements."""
    content: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return content


def performance_table(folder: Path = DOCS) -> str:
    report = _read("performance.json", folder)
    met = {None: "", True: "yes", False: "**no**"}
    rows = (
        (one["name"], one["what"], f"{shown(one['value'])} {one['unit']}", one["target_text"], met[one["met"]])
        for one in report["results"]
    )
    return (
        f"Measured on {report['date']}: {report['cores']} cores, Python {report['python']}, NumPy {report['numpy']}, "
        f"Numba {report['numba']}; medians of {report['repeats']} runs, contenders in turns in one process.\n\n"
        + markdown_table(("benchmark", "what", "measured", "target", "met"), rows, left=2)
    )


_OVER_EDITIONS = "policy:solo"
"""The agent whose win rates over many editions stand beside those with the shipped numbers."""


def difficulty_table() -> str:
    """Win rates in the base game, with each variant alone, and with all of them."""
    won: dict[str, dict[str, str]] = {}
    for row in _difficulty_rows("difficulty.csv"):
        if row["agent"] != "random":  # it hardly wins a game
            ends = [float(row[key]) for key in ("win_rate", "win_rate_low", "win_rate_high")]
            won.setdefault(row["variants"], {})[row["agent"]] = format_estimate(ends, "%", interval="to")
    editions = {row["set"]: row for row in _difficulty_rows("editions.csv") if row["agent"] == _OVER_EDITIONS}
    most = max(variants.count("+") for variants in won)
    rows = []
    for variants, by_agent in won.items():
        if variants.count("+") in (0, most):
            keys = ("median", "nine_tenths_low", "nine_tenths_high")
            median, low, high = (100 * float(editions[variants][key]) for key in keys)
            words = variants.replace("+", ", ").replace("_", " ")
            rows.append((words, *by_agent.values(), f"{median:.0f} %, {low:.0f} to {high:.0f}"))
    agents, number = won["base"], editions["base"]["editions"]
    return markdown_table(
        ("variants", *(f"`{agent}` wins" for agent in agents), f"`{_OVER_EDITIONS}` over {number} editions"), rows
    )


def _difficulty_rows(name: str) -> list[dict[str, str]]:
    with (DOCS / "difficulty" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ladder_table(folder: Path = DOCS) -> str:
    return replace(ladder.table_of(_read("ladder.json", folder)["steps"]), blank="–").markdown()


def strength_rows(part: str, folder: Path = DOCS) -> tuple[str, list[Row]]:
    """The policy that `petrichor strength` measured, and the rows of a part."""
    content = _read(STRENGTH_FILE, folder)
    return content["policy"], rows_of(part, read_rows(content))


def ablations_table(folder: Path = DOCS) -> str:
    policy, measured = strength_rows("ablations", folder)
    columns = (AGENT, replace(WHAT, heading="what"), replace(WIN_RATE, heading="won"), MARGIN, PLAYED)
    rows = [{**row, "agent": f"{row['player']}:{policy}"} for row in measured]
    table = Table([*columns, replace(MILLISECONDS, heading="ms a decision")], rows).markdown()
    return f"{table}\n\n{_games_of(measured)}"


def thinking_table(folder: Path = DOCS) -> str:
    """Win rates and times by simulations and set, with the picture."""
    _, measured = strength_rows("curve", folder)
    cells = {
        (row["simulations"], row["variants"]): f"{WIN_RATE.write(row['win_rate'])}, {row['milliseconds']:g} ms"
        for row in measured
    }
    rows = (
        (
            f"{simulations:,}" if simulations else "no search",
            *(cells.get((simulations, set_name(variants)), "–") for variants in SETS.values()),
        )
        for simulations in sorted({row["simulations"] for row in measured})
    )
    table = markdown_table(("simulations", *SETS), rows, left=0)
    drawn = f"![Win rate over the time for a decision, in three sets of variants]({STRENGTH_PICTURE})"
    return f"{table}\n\n{_games_of(measured)}\n\n{drawn}"


def _games_of(rows: Sequence[Row]) -> str:
    games, seeds = ([f"{number:,}" for number in sorted({row[key] for row in rows})] for key in ("games", "seed"))
    return f"{' or '.join(games)} games a figure, seeds from {' or '.join(seeds)}."


def cluster_table() -> str:
    """Games a second of several workers, and what handing out a block costs."""
    content = _read("cluster.json")
    measured = {(row["who"], row["blocks"]): row for row in content["rows"]}
    rows = []
    for who in dict.fromkeys(row["who"] for row in content["rows"]):
        here, long, short = who == THIS_PROCESS, measured.get((who, LONG)), measured[who, SHORT]
        first, own = ["–"] * 3, f"{short['own_milliseconds_a_block']:.1f}"
        if long:
            share = "–" if here else f"{_own_share(long):.1%}".replace("%", " %")
            first = [f"{long['games_per_second']:,.0f}", f"{long['decisions_per_second']:,.0f}", share]
        rows.append((who, *first, f"{short['blocks_per_second']:,.0f}", "–" if here else own))
    heads = (
        "who plays",
        "long blocks: games/s",
        "long: decisions/s",
        "long: the command's share of a core",
        "short blocks: blocks/s",
        "short: the command's ms a block",
    )
    return (
        f"Measured on {content['date']}: {content['cores']} cores, medians of {content['rounds']} rounds, in turns.\n\n"
        + markdown_table(heads, rows)
    )


def _own_share(row: dict[str, Any]) -> float:
    """The share of a core that the process that hands out blocks needs, for each core that plays."""
    workers = int(row["who"].split(", ")[1])
    return float(row["own_milliseconds_a_block"] * row["blocks_per_second"] / 1000 / workers)


def cluster_model(folder: Path = DOCS, games: int = 10_000_000, cores: int = 1000) -> str:
    """The cost of so many games on so many cores, from measurements on few cores."""
    measured = {(row["who"], row["blocks"]): row for row in _read("cluster.json", folder)["rows"]}
    own = measured["nodes, 1", LONG]["own_milliseconds_a_block"] / 1000
    seconds = {"`greedy`, two players": 1 / measured[THIS_PROCESS, LONG]["games_per_second"]}
    for row in _read(STRENGTH_FILE, folder)["rows"]:
        if row["variants"] == "base" and row["player"] == "search-800":
            seconds["`search-800:solo`, base game"] = row["milliseconds"] / 1000 * row["decisions"] / row["games"]
    rows = []
    for what, one in seconds.items():
        block = MAX_GAMES_AT_ONCE * one
        ends, most = cores / block, 1 / own
        hours = games / MAX_GAMES_AT_ONCE / min(ends, most) / 3600
        takes = f"{60 * hours:.1f} minutes" if hours < 1 else f"{hours:.1f} hours"
        hours_of_cores = f"{games * one / 3600:,.1f}"
        rows.append((what, hours_of_cores, f"{block:,.1f} s", f"{ends:,.1f} blocks", f"{most:,.0f}", takes))
    heads = (
        f"{games:,} games of",
        "core hours",
        "a block takes",
        f"{cores:,} cores end, a second",
        "the command can hand out, a second",
        "in all",
    )
    return markdown_table(heads, rows)


def parallel_table() -> str:
    """Decisions learned a second by one worker and by several."""
    content = _read("parallel.json")
    rows = [
        (row["what"], str(row["workers"]), f"{row['decisions_per_second']:,}", f"{row['times_one']:.2f}")
        for row in content["rows"]
    ]
    return (
        f"Measured on {content['date']}: {content['cores']} cores, medians of {content['rounds']} rounds, in turns.\n\n"
        + markdown_table(("what is learned", "workers, a core each", "decisions/s", "times one worker"), rows)
    )


def editions_table() -> str:
    """How much slower agents are if games have different printed numbers."""
    content = _read("editions.json")
    rows = [
        (
            row["what"],
            row["beside"],
            *(f"{speed:,}" for speed in row["speeds"]),
            "{:.2f} ({:.2f} to {:.2f})".format(*row["ratio"]),
        )
        for row in content["rows"]
    ]
    return (
        f"Measured on {content['date']}: one core of {content['cores']}, Python {content['python']}; processor time, "
        f"medians of {content['rounds']} rounds in turns, and the smallest and largest ratio.\n\n"
        + markdown_table(("what", "beside", "games/s", "games/s beside", "ratio"), rows)
    )


def learning_table() -> str:
    """How long the learner plays and updates for each decision."""
    content = _read("learning.json")
    first = content["rows"][0]["decisions_per_second"]
    rows = []
    for row in content["rows"]:
        speed = row["decisions_per_second"]
        figures = (f"{row['rollout']:.1f}", f"{row['update']:.1f}", f"{speed:,}", f"{speed / first:.1f}")
        rows.append((row["what"], *figures))
    return (
        f"Measured on {content['date']}: one core of {content['cores']}, Python {content['python']}, PyTorch "
        f"{content['torch']}; processor time, medians of {content['rounds']} rounds in turns.\n\n"
        + markdown_table(("what", "rollout, µs", "update, µs", "decisions/s", "times the first row"), rows)
    )


def values_table() -> str:
    """How well the shipped networks judge positions."""
    content = _read("values.json")
    return f"{values.table(content['rows'])}\n\nMeasured on {content['date']}; seeds from {content['seed']:,}."


def exploiters_table() -> str:
    """How far the shipped policies of several players can be exploited."""
    content = _read("exploiters.json")
    best = f"the best of {content['runs']}" if content["runs"] > 1 else "one"
    how = (
        f"Measured on {content['date']}: {best} that learned for {content['minutes']:g} minutes of a core, over"
        f" {content['games']:,} games; searches over {content['searches']:,}; seeds from {content['seed']:,}. 95 %"
        " intervals."
    )
    return f"{exploiters.table(content)}\n\n{how}"


def baselines_table() -> str:
    """What learners get in tasks of the suite."""
    scores = read_scores(DOCS / "baselines.csv")
    versions = ", ".join(sorted({row.version for row in scores}))
    how = f"Version {versions}. Interquartile means of the runs, 95 % intervals of a bootstrap over them."
    return f"{baselines.table(scores)}\n\n{how}"


def learning_curve_table() -> str:
    """What each contender wins after some decisions, and when each seed first wins 90 %; with the picture."""
    rows = learning_curve.read(DOCS / learning_curve.FILE)
    shown_looks, lines = (1, 3, 4, 6), []
    for what in learning_curve.CONTENDERS:
        runs = learning_curve.runs_of(rows, what)
        percent = 100 * runs[:, shown_looks, 2].T
        won = [f"{seeds.mean():.1f} %, {seeds.min():.0f} to {seeds.max():.0f}" for seeds in percent]
        first = [run[run[:, 2] >= 0.9][0, :2] for run in runs if run[:, 2].max() >= 0.9]
        reached = ["–", "–"]
        if len(first) == len(runs):
            ends = [
                (f"{low:,.0f}", f"{high:,.0f}") for low, high in zip(np.min(first, 0), np.max(first, 0), strict=True)
            ]
            reached = [low if low == high else f"{low} to {high}" for low, high in ends]
        lines.append((what, str(len(runs)), *won, *reached, f"{runs[:, -1, 1].mean():.0f}"))
    at = [f"won after {learning_curve.LOOKS[look]:,}" for look in shown_looks]
    (greedy,) = (row for row in rows if row["what"] == learning_curve.GREEDY)
    return (
        f"Measured on {greedy['date']}: base games won at the first look after so many decisions, all seeds' mean and "
        f"range, and processor seconds of one core; PyTorch {greedy['torch']}, {greedy['games']:,} games a run and "
        f"look. `greedy` wins {100 * greedy['won']:.1f} %.\n\n"
        + markdown_table(("what learns", "seeds", *at, "decisions to 90 %", "seconds to 90 %", "seconds in all"), lines)
        + f"\n\n![Learning curves: base games won over decisions and over seconds]({learning_curve.PICTURE})"
    )


def web_table() -> str:
    """How long answers of many games at once take, and the server's memory."""
    content = _read("web.json")
    rows = (
        (
            f"{row['think']:g}",
            f"{row['answers_per_second']:.0f}",
            *(f"{row[name]:.0f} ms" for name in ("median", "p95", "p99")),
        )
        for row in content["answers"]
    )
    heads = ("seconds between a client's answers", "answers/s", "median", "95 % within", "99 % within")
    grown = ", ".join(f"{row['megabytes']:.0f} MB after {row['games']:,}" for row in content["memory"])
    return (
        f"{content['tables']} games at once on {content['cores']} cores, clients included, measured on "
        f"{content['date']} with Python {content['python']}:\n\n{markdown_table(heads, rows, left=0)}\n\n"
        f"Memory of the server over games that follow each other: {grown}."
    )


def hands_table() -> str:
    """How soon the page goes on after a click."""
    content = _read("hands.json")
    rows = (
        (
            name,
            f"{row['clicks']}",
            *(f"{row[key]} ms" for key in ("move_p50", "move_p95", "question_p50", "question_p95")),
        )
        for name, row in content["tables"].items()
    )
    heads = ("game", "clicks", "own move, median", "95 % within", "next question, median", "95 % within")
    where = f"{content['cores']} cores, for which {content['load']:g} other processes competed when it began"
    slow = content["slow"]
    opened = (
        f"Over a network of {slow['latency']} ms and {slow['throughput'] // 1000} kB a second the first question of a"
        f" game alone is there {slow['empty'] / 1000:.1f} s after its link is opened, or {slow['full'] / 1000:.1f} s if"
        f" the page is known (medians of {slow['times']})."
    )
    return f"Measured on {content['date']} on {where}:\n\n{markdown_table(heads, rows, left=1)}\n\n{opened}"


def hints_table() -> str:
    """Agents' estimates in the first and the last round of their games, and the results."""
    forms = {CHANCE_TO_WIN: "{:.2f}", POINTS_AHEAD: "{:+.1f}", POINTS: "{:.0f}"}
    rows = []
    for row in _read("advice.json")["hints"]:
        form = forms[row["estimated"]]
        rounds = (f"{form.format(row[one][0])} said, {form.format(row[one][1])} came" for one in ("first", "last"))
        rows.append((row["game"], f"`{row['agent']}`", f"{row['games']}", row["estimated"].split(" as ")[0], *rounds))
    return markdown_table(("game", "agent", "games", "what", "first round", "last round"), rows, left=2)


def chances_table() -> str:
    """The share of decisions whose game was won, by the chance that the agent gave."""
    rows = []
    for row in _read("advice.json")["hints"]:
        if "classes" in row:
            cells = (f"{100 * won:.0f} %" if decisions else "–" for won, decisions in row["classes"])
            rows.append((row["game"], f"`{row['agent']}`", *cells))
    ends = [100 * end // CLASSES for end in range(CLASSES + 1)]
    said = (f"said {low} to {high} %" for low, high in pairwise(ends))
    return markdown_table(("game", "agent", *said), rows, left=2)


def reviews_table() -> str:
    """How well two reviews of the same games agree."""
    rows = []
    for row in _read("advice.json")["reviews"]:
        form = "{:.1%}" if row["estimated"] == CHANCE_TO_WIN else "{:.1f}"
        drops = (form.format(row[name]).replace("%", " %") for name in ("drop", "noise"))
        numbers = (f"{row['decisions']:.0f}", f"{row['correlation']:.2f}", *drops, f"{100 * row['alike']:.0f} %")
        rows.append((row["game"], f"`{row['played']}`", f"`{row['agent']}`", *numbers, f"{row['seconds']:.1f}"))
    heads = ("decisions", "correlation", "drop, mean", "noise of a drop", "top three alike", "seconds")
    return markdown_table(("game", "who played", "who looks back", *heads), rows, left=3)


def openspiel_rates() -> str:
    content = _read("openspiel.json")
    rows = ((game, f"{rate['median']:,}", f"{rate['best']:,}") for game, rate in content["rates"].items())
    table = markdown_table(("decisions a second", "median", "best"), rows)
    return f"{content['runs']} runs of each game, with {content['players']} players:\n\n{table}"


def openspiel_operations() -> str:
    of_games = _read("openspiel.json")["operations"]
    names = list(next(iter(of_games.values())))
    rows = ((name, *(f"{of_game[name]:,.0f} µs" for of_game in of_games.values())) for name in names)
    return markdown_table(("operation, median", *of_games), rows)


def openspiel_lengths() -> str:
    content = _read("openspiel.json")
    rows = ((game, f"{one['limit']:,}", f"{one['longest']:,}") for game, one in content["lengths"].items())
    return markdown_table(("game", "`max_game_length`", f"longest of {content['games']:,} random games"), rows)


def measured_table(name: str) -> str:
    """A table of `measured.json`, and a sentence on how it was measured.

    `columns` gives each head the format of its cells. A cell is a text, a number, a list of numbers such as a win rate
    with its interval, or null.
    """
    content = _read("measured.json")[name]
    columns, rows = content["columns"], content["rows"]
    texts = [all(isinstance(cell, str) for cell in column) for column in zip(*rows, strict=True)]
    table = markdown_table(
        list(columns), (map(_cell, columns.values(), row) for row in rows), left=[*texts, False].index(False)
    )
    return f"{table}\n\n{content['made']} Published on {content['date']}."


def _cell(form: str, value: str | float | list[float] | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return form.format(*value) if isinstance(value, list) else form.format(value)


# --- What is written -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A generated part of a page, between `<!-- name -->` and `<!-- end of name -->`.

    Attributes:
        page: relative to `docs/`. name: of the markers.
        make: gives the text.
        command: the command that measures the figures; "" where they come from the code, or where the text itself names
            it.
    """

    page: str
    name: str
    make: Callable[[], str]
    command: str = ""

    @property
    def text(self) -> str:
        return f"{self.make()}\n\nMade by `{self.command}`." if self.command else self.make()


def levels_table(folder: Path = DOCS) -> str:
    return levels.table(json.loads(LEVELS_FILE.read_text(encoding="utf-8")))


def _benchmark(name: str) -> str:
    """The command that writes `docs/NAME.json`."""
    return f"python -m benchmarks.{name} --json docs/{name}.json"


def _measured(page: str, *names: str) -> tuple[Block, ...]:
    return tuple(Block(page, name, partial(measured_table, name)) for name in names)


BLOCKS = (
    Block("../README.md", "difficulty", difficulty_table, DIFFICULTY),
    Block("agents.md", "ladder", ladder_table, "petrichor ladder"),
    Block("agents.md", "levels", levels_table, "python -m benchmarks.levels --json agents/tabletop_agents/levels.json"),
    Block("agents.md", "ablations", ablations_table, STRENGTH),
    Block("agents.md", "thinking", thinking_table, STRENGTH),
    Block(
        "evergreen/agents.md",
        "ladder",
        partial(ladder_table, EVERGREEN.folder),
        "evergreen ladder",
    ),
    *_measured("evergreen/agents.md", "evergreen_versus"),
    *_measured("../CONTRIBUTING.md", "house"),
    *_measured("training.md", "images", "convolutions"),
    *_measured(
        "shipped-policies.md",
        "shipped",
        "versus",
        "longer_exploiters",
        "expert_gate",
    ),
    Block("shipped-policies.md", "exploiters", exploiters_table, _benchmark("exploiters")),
    Block("shipped-policies.md", "values", values_table, _benchmark("values")),
    Block("cluster.md", "parallel", parallel_table, _benchmark("parallel")),
    Block("performance.md", "editions", editions_table, _benchmark("editions")),
    Block("performance.md", "learning", learning_table, _benchmark("learning")),
    Block(
        "performance.md",
        "learning_curve",
        learning_curve_table,
        "python -m benchmarks.learning_curve --csv docs/learning_curve.csv",
    ),
    *_measured("evaluation.md", "coverage"),
    Block("suite.md", "tasks", lambda: task_table(petrichor_tasks.TASKS).markdown(), "petrichor suite"),
    Block("suite.md", "baselines", baselines_table, "python -m benchmarks.baselines --scores docs/baselines.csv"),
    Block("suite.md", "evergreen_tasks", lambda: task_table(evergreen_tasks.TASKS).markdown(), "evergreen suite"),
    Block("performance.md", "benchmarks", performance_table, "petrichor bench --json docs/performance.json"),
    *_measured(
        "performance.md",
        "since_0_3_0",
        "first_start",
        "machine_code_speed",
        "step_parts",
        "aec_wrappers",
        "text_speed",
    ),
    Block(
        "evergreen/performance.md",
        "benchmarks",
        partial(performance_table, EVERGREEN.folder),
        "evergreen bench --json docs/evergreen/performance.json",
    ),
    Block("cluster.md", "cluster", cluster_table, _benchmark("cluster")),
    Block("cluster.md", "model", cluster_model, _benchmark("cluster")),
    Block("web.md", "web", web_table, _benchmark("web")),
    Block("web.md", "hands", hands_table, _benchmark("hands")),
    Block("openspiel.md", "openspiel_lengths", openspiel_lengths, _benchmark("openspiel")),
    Block("openspiel.md", "openspiel_rates", openspiel_rates, _benchmark("openspiel")),
    Block("openspiel.md", "openspiel_operations", openspiel_operations, _benchmark("openspiel")),
    *_measured("openspiel.md", "openspiel_evergreen", "openspiel_card_games"),
    *_measured("jax.md", "jax_speed"),
    Block("playing.md", "hints", hints_table, _benchmark("advice")),
    Block("playing.md", "chances", chances_table, _benchmark("advice")),
    Block("playing.md", "reviews", reviews_table, _benchmark("advice")),
    Block("language-models.md", "observation", text_pages.observation),
    *(Block("language-models.md", name, partial(text_pages.program, name)) for name in text_pages.PRINTED),
    *_measured("language-models.md", "text_costs", "text_benchmark"),
    Block("libraries.md", "libraries", library_snippets.table, "python -m docs.library_snippets"),
    *(Block("command-line.md", name, partial(str, text)) for name, text in command_pages.blocks().items()),
    *(Block(page, name, partial(api_pages.listed, name)) for page, name in api_pages.blocks()),
    *(Block("evergreen/components.md", name, make) for name, make in EVERGREEN_BLOCKS.items()),
)

WHOLE_PAGES = {
    "benchmark.md": "petrichor benchmark --output docs",
    "evergreen/benchmark.md": "evergreen benchmark --output docs/evergreen",
    "difficulty/report.md": DIFFICULTY,
}
"""Pages that a command writes as a whole, beside those of `GAMES`."""


STRENGTHS = Path(catalogue.__file__).with_name("strengths.json")
"""How strong agents are, and how hard it is to play alone, for the start page of `petrichor web`; from the
`benchmark.json` of each game, and from `difficulty/difficulty.csv`."""
BEGINNER, STRONG = "greedy", "search-200:solo"
"""The agents whose shares of won games say how hard a set of variants is."""


def strengths() -> str:
    """The text of `STRENGTHS`: what agents reach alone, and how often they beat `greedy` in games for two.

    Of a game alone for points also the mean of `BEGINNER`; of one with variants the shares that `BEGINNER` and `STRONG`
    win with each set.
    """
    games: dict[str, dict[str, Any]] = {}
    for name, folder in (("petrichor", DOCS), ("evergreen", DOCS / "evergreen")):
        measured = _read("benchmark.json", folder)
        one = {agent: _reached(row) for agent, row in measured["solo"].items()}
        several = {}
        for pair in measured["pairs"]:
            if "greedy" not in (pair["first"], pair["second"]):
                continue
            greedy_first = pair["first"] == "greedy"
            rival = pair["second" if greedy_first else "first"]
            won = pair["games"].count("-" if greedy_first else "+") + pair["games"].count("=") / 2
            several[rival] = (
                f"Won {100 * won / len(pair['games']):.0f} % of {len(pair['games'])} games for two against greedy."
            )
        games[name] = {"one": one, "several": several}
        if "mean_points" in measured["solo"][BEGINNER]:
            games[name]["points"] = round(measured["solo"][BEGINNER]["mean_points"][0])
    games["petrichor"]["sets"] = {"variants": _shares_by_set()}
    return json.dumps(games, indent=1) + "\n"


def _shares_by_set() -> dict[str, list[float]]:
    """By set of variants, its names joined by "+": the shares of games that `BEGINNER` and `STRONG` have won."""
    with (DOCS / "difficulty" / "difficulty.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["modules"]]
    won = {(row["variants"], row["agent"]): float(row["win_rate"]) for row in rows}
    sets = dict.fromkeys(row["variants"] for row in rows)
    return {"" if one == "base" else one: [won[one, BEGINNER], won[one, STRONG]] for one in sets}


def _reached(row: Mapping[str, Any]) -> str:
    games = counted(row["games"], "game")
    if "mean_points" in row:
        return f"{row['mean_points'][0]:.0f} points on average in {games}."
    return f"Won {100 * row['mean_win_rate'][0]:.0f} % with all sets of variants, {games} each."


def replace_block(page: Path, name: str, text: str) -> None:
    """Put `text` between the page's markers `<!-- name -->` and `<!-- end of name -->`."""
    whole = page.read_text(encoding="utf-8")
    before, rest = whole.split(f"<!-- {name} -->\n", 1)
    _, after = rest.split(f"<!-- end of {name} -->", 1)
    page.write_text(f"{before}<!-- {name} -->\n{text}\n<!-- end of {name} -->{after}", encoding="utf-8")


def main() -> None:
    for game in GAMES:
        for page, text in game.written().items():
            page.write_text(text, encoding="utf-8")
    STRENGTHS.write_text(strengths(), encoding="utf-8")
    for block in BLOCKS:
        replace_block(DOCS / block.page, block.name, block.text)
    plot_thinking(DOCS / STRENGTH_PICTURE, strength_rows("curve")[1])
    learning_curve.plot(DOCS / learning_curve.PICTURE, learning_curve.read(DOCS / learning_curve.FILE))
    for name, svg in drawings():
        save_png(svg, FOLDER / f"{name}.png", WIDTH)


if __name__ == "__main__":
    main()
