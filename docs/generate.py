"""Write the pages and tables that come from code or measurements: `make docs`, or `python -m docs.generate`.

A test compares them with what this writes. The pages that come from a game's modules are in `docs/game_pages.py`. The
pictures are positions of real games (`docs/pictures.py`). No figure in a table is typed by hand: those of the pages
`performance.md` come from `performance.json` beside them (`petrichor bench`, `evergreen bench`), of `README.md` from
`docs/difficulty/difficulty.csv` (`petrichor difficulty`), of the pages `agents.md` from `ladder.json` beside them
(`petrichor ladder`, `evergreen ladder`), of Petrichor's from `strength.json` (`petrichor strength`), of
`libraries.md` from `libraries.json` (`python -m docs.library_snippets`), with the snippets from `docs/libraries/`, and
of `cluster.md` from `cluster.json` (`python -m benchmarks.cluster`), that of `web.md` from `web.json`
(`python -m benchmarks.web`).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.cluster import LONG, SHORT, THIS_PROCESS
from benchmarks.run import shown
from docs import command_pages, library_snippets
from docs.game_pages import EVERGREEN, GAMES, evergreen_blocks
from docs.pictures import FOLDER, WIDTH, drawings
from tabletop.drawing.raster import save_png
from tabletop_training.evaluation import MAX_GAMES_AT_ONCE, Estimate
from tabletop_training.evaluation_files import percent, plus_minus
from tabletop_training.petrichor.strength import FILE as STRENGTH_FILE
from tabletop_training.petrichor.strength import PICTURE as STRENGTH_PICTURE
from tabletop_training.petrichor.strength import SETS, Row, plot_thinking, read_rows, rows_of
from tabletop_training.petrichor.summaries import set_name

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"


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
        "| who plays | long blocks: games/s | decisions/s | command's own share | short blocks: blocks/s | own ms |",
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
        f"| {games:,} games of | core hours | a block | {cores:,} cores end a second | the command takes | in all |",
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
    for name, table in evergreen_blocks().items():
        replace_block(EVERGREEN.folder / "components.md", name, table)
    for folder in (DOCS, EVERGREEN.folder):
        replace_block(folder / "performance.md", "benchmarks", performance_table(folder))
        replace_block(folder / "agents.md", "ladder", ladder_table(folder))
    replace_block(README, "difficulty", difficulty_table())
    replace_block(DOCS / "cluster.md", "cluster", cluster_table())
    replace_block(DOCS / "cluster.md", "model", cluster_model())
    replace_block(DOCS / "web.md", "web", web_table())
    for name, text in command_pages.blocks().items():
        replace_block(DOCS / "command-line.md", name, text)
    for name, text in library_snippets.blocks().items():
        replace_block(DOCS / "libraries.md", name, text)
    replace_block(DOCS / "agents.md", "ablations", ablations_table())
    replace_block(DOCS / "agents.md", "thinking", thinking_table())
    _, curve = strength_rows("curve")
    if curve:
        plot_thinking(DOCS / STRENGTH_PICTURE, curve)
    for name, svg in drawings():
        save_png(svg, FOLDER / f"{name}.png", WIDTH)


if __name__ == "__main__":
    main()
