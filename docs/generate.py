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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.cluster import LONG, SHORT, THIS_PROCESS
from benchmarks.run import shown
from docs import library_snippets
from docs.game_pages import EVERGREEN, EVERGREEN_BLOCKS, GAMES
from docs.pictures import FOLDER, WIDTH, drawings
from tabletop.drawing.raster import save_png
from tabletop_training.evaluation import MAX_GAMES_AT_ONCE, Estimate
from tabletop_training.evaluation_files import percent, plus_minus
from tabletop_training.petrichor.strength import FILE as STRENGTH_FILE
from tabletop_training.petrichor.strength import PICTURE as STRENGTH_PICTURE
from tabletop_training.petrichor.strength import SETS, Row, plot_thinking, read_rows, rows_of
from tabletop_training.petrichor.summaries import set_name

DOCS = Path(__file__).parent
DIFFICULTY = (
    "petrichor difficulty random greedy policy:solo search-800:solo --search-games 200 --output docs/difficulty"
)
STRENGTH = "petrichor strength --games 300 --output docs"
CLUSTER = "python -m benchmarks.cluster --json docs/cluster.json"
OPENSPIEL = (
    "petrichor benchmark openspiel-mcts-200 openspiel-ismcts-200 --duel-games 40 --search-games 12 --output docs"
)


# --- Tables ----------------------------------------------------------------------------------------------------------


def performance_table(folder: Path = DOCS) -> str:
    report = json.loads((folder / "performance.json").read_text(encoding="utf-8"))
    lines = [
        f"Measured on {report['date']}: {report['cores']} cores, Python {report['python']}, NumPy {report['numpy']},"
        f" Numba {report['numba']}; medians of {report['repeats']} runs, contenders in turns in one process.",
        "",
        "| benchmark | what | measured | target | met |",
        "|---|---|---:|---|---|",
    ]
    for result in report["results"]:
        met = {None: "", True: "yes", False: "**no**"}[result["met"]]
        value = f"{shown(result['value'])} {result['unit']}"
        lines.append(f"| {result['name']} | {result['what']} | {value} | {result['target_text']} | {met} |")
    return "\n".join(lines)


def difficulty_table() -> str:
    with (DOCS / "difficulty" / "difficulty.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    agents = list(dict.fromkeys(row["agent"] for row in rows))
    lines = [
        "| variants | " + " | ".join(f"`{agent}` wins" for agent in agents) + " |",
        "|---|" + "---:|" * len(agents),
    ]
    for variants in dict.fromkeys(row["variants"] for row in rows):
        cells = [variants.replace("+", ", ").replace("_", " ")]
        for agent in agents:
            row = next(row for row in rows if row["variants"] == variants and row["agent"] == agent)
            low, win, high = (100 * float(row[key]) for key in ("win_rate_low", "win_rate", "win_rate_high"))
            cells.append(f"{win:.1f} % ({low:.1f} to {high:.1f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ladder_table(folder: Path = DOCS) -> str:
    lines = [
        "| game | agent | against | games | win rate | above | margin |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for row in json.loads((folder / "ladder.json").read_text(encoding="utf-8"))["steps"]:
        rate, above, margin = (Estimate(*row[key]) for key in ("win_rate", "above", "margin"))
        game = "solo" if row["players"] == 1 else f"{row['players']} players"
        gain, won = f"{100 * above.value:+.1f} ({100 * above.low:+.1f} to {100 * above.high:+.1f})", percent(rate)
        if row["owners"] == 1:  # nobody to win against
            gain = won = "–"
        lines.append(
            f"| {game} | `{row['upper']}` | `{row['lower']}` | {row['games']} | {won} | {gain} | "
            f"{plus_minus(margin, signed=True)} |"
        )
    return "\n".join(lines)


def strength_rows(part: str, folder: Path = DOCS) -> tuple[str, list[Row]]:
    """The policy that `petrichor strength` measured, and the rows of a part; none where there is no file."""
    file = folder / STRENGTH_FILE
    if not file.exists():
        return "", []
    content = json.loads(file.read_text(encoding="utf-8"))
    return content["policy"], rows_of(part, read_rows(content))


def ablations_table(folder: Path = DOCS) -> str:
    """Empty where nothing is measured."""
    policy, rows = strength_rows("ablations", folder)
    lines = ["| agent | what | won | margin | games | ms a decision |", "|---|---|---:|---:|---:|---:|"]
    for row in rows:
        margin = plus_minus(Estimate(*row["margin"]), signed=True)
        lines.append(
            f"| `{row['player']}:{policy}` | {row['what']} | {percent(Estimate(*row['win_rate']))} | {margin} | "
            f"{row['games']:,} | {row['milliseconds']:g} |"
        )
    return "\n".join([*lines, "", _games_of(rows)]) if rows else ""


def thinking_table(folder: Path = DOCS) -> str:
    """Win rates and times by simulations and set, with the picture; empty where nothing is measured."""
    _, rows = strength_rows("curve", folder)
    cells = {
        (row["simulations"], row["variants"]): f"{percent(Estimate(*row['win_rate']))}, {row['milliseconds']:g} ms"
        for row in rows
    }
    lines = [f"| simulations | {' | '.join(SETS)} |", "|---:|" + "---:|" * len(SETS)]
    for simulations in sorted({row["simulations"] for row in rows}):
        of_sets = (cells.get((simulations, set_name(variants)), "–") for variants in SETS.values())
        lines.append(f"| {f'{simulations:,}' if simulations else 'no search'} | {' | '.join(of_sets)} |")
    drawn = f"![Win rate over the time for a decision, in three sets of variants]({STRENGTH_PICTURE})"
    return "\n".join([*lines, "", _games_of(rows), "", drawn]) if rows else ""


def cluster_table(folder: Path = DOCS) -> str:
    """Games a second of several workers, and what handing out a block costs; empty where nothing is measured."""
    file = folder / "cluster.json"
    if not file.exists():
        return ""
    content = json.loads(file.read_text(encoding="utf-8"))
    rows = {(row["who"], row["blocks"]): row for row in content["rows"]}
    lines = [
        f"Measured on {content['date']}: {content['cores']} cores, medians of {content['rounds']} rounds, in turns.",
        "",
        "| who plays | long blocks: games/s | long: decisions/s | long: the command's share of a core | "
        "short blocks: blocks/s | short: the command's ms a block |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for who in dict.fromkeys(row["who"] for row in content["rows"]):
        long, short = rows.get((who, LONG)), rows[who, SHORT]
        first, own = "– | – | –", f"{short['own_milliseconds_a_block']:.1f}"
        if long:
            share = "–" if who == THIS_PROCESS else f"{_own_share(long):.1%}".replace("%", " %")
            first = f"{long['games_per_second']:,.0f} | {long['decisions_per_second']:,.0f} | {share}"
        lines.append(f"| {who} | {first} | {short['blocks_per_second']:,.0f} | {'–' if who == THIS_PROCESS else own} |")
    return "\n".join(lines)


def _own_share(row: dict[str, Any]) -> float:
    """What the process that hands out needs of a core, beside each core that plays."""
    workers = int(row["who"].split(", ")[1])
    return float(row["own_milliseconds_a_block"] * row["blocks_per_second"] / 1000 / workers)


def cluster_model(folder: Path = DOCS, games: int = 10_000_000, cores: int = 1000) -> str:
    """What so many games cost on so many cores, from what was measured on this few; empty where nothing was."""
    file, strength = folder / "cluster.json", folder / STRENGTH_FILE
    if not file.exists():
        return ""
    rows = {(row["who"], row["blocks"]): row for row in json.loads(file.read_text(encoding="utf-8"))["rows"]}
    own = rows["nodes, 1", LONG]["own_milliseconds_a_block"] / 1000
    seconds = {"`greedy`, two players": 1 / rows[THIS_PROCESS, LONG]["games_per_second"]}
    thought = json.loads(strength.read_text(encoding="utf-8"))["rows"]
    for row in thought:
        if row["variants"] == "base" and row["player"] == "search-800":
            seconds["`search-800:solo`, base game"] = row["milliseconds"] / 1000 * row["decisions"] / row["games"]
    lines = [
        f"| {games:,} games of | core hours | a block takes | {cores:,} cores end, a second | "
        "the command can hand out, a second | in all |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for what, one in seconds.items():
        block = MAX_GAMES_AT_ONCE * one
        ends, most = cores / block, 1 / own
        hours = games / MAX_GAMES_AT_ONCE / min(ends, most) / 3600
        takes = f"{60 * hours:.1f} minutes" if hours < 1 else f"{hours:.1f} hours"
        cells = (what, f"{games * one / 3600:,.1f}", f"{block:,.1f} s", f"{ends:,.1f} blocks", f"{most:,.0f}", takes)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def web_table(folder: Path = DOCS) -> str:
    """How long answers of many games at once take, and the server's memory; empty where nothing is measured."""
    file = folder / "web.json"
    if not file.exists():
        return ""
    content = json.loads(file.read_text(encoding="utf-8"))
    lines = [
        f"{content['tables']} games at once on {content['cores']} cores, clients included, measured on "
        f"{content['date']} with Python {content['python']}:",
        "",
        "| seconds between a client's answers | answers/s | median | 95 % within | 99 % within |",
        "|---:|---:|---:|---:|---:|",
    ]
    for row in content["answers"]:
        times = " | ".join(f"{row[name]:.0f} ms" for name in ("median", "p95", "p99"))
        lines.append(f"| {row['think']:g} | {row['answers_per_second']:.0f} | {times} |")
    grown = ", ".join(f"{row['megabytes']:.0f} MB after {row['games']:,}" for row in content["memory"])
    return "\n".join([*lines, "", f"Memory of the server over games that follow each other: {grown}."])


def _games_of(rows: Sequence[Row]) -> str:
    games, seeds = ([f"{number:,}" for number in sorted({row[key] for row in rows})] for key in ("games", "seed"))
    return f"{' or '.join(games)} games a figure, seeds from {' or '.join(seeds)}."


def measured_table(name: str) -> str:
    """A table of `measured.json`, with how it was made.

    `columns` gives each head the format of its cells. A cell is a text, which stands as it is, a number, a list of
    numbers such as a win rate with its interval, or null.
    """
    content = json.loads((DOCS / "measured.json").read_text(encoding="utf-8"))[name]
    columns, rows = content["columns"], content["rows"]
    texts = [all(isinstance(cell, str) for cell in column) for column in zip(*rows, strict=True)]
    lines = [_row(columns), f"|{'|'.join('---' if text else '---:' for text in texts)}|"]
    lines += [_row(map(_cell, columns.values(), row)) for row in rows]
    return "\n".join([*lines, "", f"{content['made']} Published on {content['date']}."])


def _cell(form: str, value: str | float | list[float] | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return form.format(*value) if isinstance(value, list) else form.format(value)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def openspiel_table() -> str:
    """Petrichor's figures are those of its benchmark; Evergreen's have a table of their own in `measured.json`."""
    with (DOCS / "benchmark.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["agent"]: row for row in csv.DictReader(file)}
    agents = ("openspiel-mcts-200", "openspiel-ismcts-200")
    lines = [_row(["won against", *(f"`{agent}`" for agent in agents)]), "|---|---:|---:|"]
    for other in ("random", "greedy", "rollout", "ismcts-200"):
        key = f"against_{other}"
        won = (percent(Estimate(*(float(rows[agent][key + end]) for end in ("", "_low", "_high")))) for agent in agents)
        lines.append(_row([f"`{other}`", *won]))
    return "\n".join(lines)


# --- What is written -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A generated part of a page, between `<!-- name -->` and `<!-- end of name -->`.

    Attributes:
        page: relative to `docs/`. name: of the markers.
        make: gives the text.
        command: measures the figures; "" where they come from the code, or where the text itself names it.
    """

    page: str
    name: str
    make: Callable[[], str]
    command: str = ""

    @property
    def text(self) -> str:
        return f"{self.make()}\n\nMade by `{self.command}`." if self.command else self.make()


def _measured(page: str, *names: str) -> tuple[Block, ...]:
    return tuple(Block(page, name, partial(measured_table, name)) for name in names)


BLOCKS = (
    Block("../README.md", "difficulty", difficulty_table, DIFFICULTY),
    Block("agents.md", "ladder", ladder_table, "petrichor ladder --output docs/ladder.json"),
    *_measured("agents.md", "ismcts_parts"),
    Block("agents.md", "ablations", ablations_table, STRENGTH),
    Block("agents.md", "thinking", thinking_table, STRENGTH),
    *_measured("agents.md", "expert"),
    Block(
        "evergreen/agents.md",
        "ladder",
        partial(ladder_table, EVERGREEN.folder),
        "evergreen ladder --output docs/evergreen/ladder.json",
    ),
    *_measured("evergreen/agents.md", "evergreen_versus"),
    *_measured("training.md", "shipped", "versus", "exploiters", "ray_training"),
    *_measured("evaluation.md", "coverage"),
    Block("performance.md", "benchmarks", performance_table, "petrichor bench --json docs/performance.json"),
    *_measured("performance.md", "first_start", "connect_four", "learning_speed"),
    Block(
        "evergreen/performance.md",
        "benchmarks",
        partial(performance_table, EVERGREEN.folder),
        "evergreen bench --json docs/evergreen/performance.json",
    ),
    Block("cluster.md", "cluster", cluster_table, CLUSTER),
    Block("cluster.md", "model", cluster_model, CLUSTER),
    Block("web.md", "web", web_table, "python -m benchmarks.web --json docs/web.json"),
    Block("openspiel.md", "openspiel", openspiel_table, OPENSPIEL),
    *_measured("openspiel.md", "openspiel_evergreen"),
    *_measured("playing.md", "forecasts", "reviews"),
    Block("libraries.md", "libraries", library_snippets.table, "python -m docs.library_snippets"),
    *(Block("libraries.md", name, partial(library_snippets.program, name)) for name in library_snippets.SNIPPETS),
    *(Block("evergreen/components.md", name, make) for name, make in EVERGREEN_BLOCKS.items()),
)

WHOLE_PAGES = {
    "benchmark.md": "petrichor benchmark --output docs",
    "evergreen/benchmark.md": "evergreen benchmark --output docs/evergreen",
    "difficulty/report.md": DIFFICULTY,
}
"""Pages that a command writes as a whole, beside those of `GAMES`."""


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
    for block in BLOCKS:
        replace_block(DOCS / block.page, block.name, block.text)
    _, curve = strength_rows("curve")
    if curve:
        plot_thinking(DOCS / STRENGTH_PICTURE, curve)
    for name, svg in drawings():
        save_png(svg, FOLDER / f"{name}.png", WIDTH)


if __name__ == "__main__":
    main()
