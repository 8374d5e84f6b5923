"""Write the pages and tables that come from code or measurements: `make docs`, or `python -m docs.generate`.

A test compares them with what this writes. The pages that come from a game's modules are in `docs/game_pages.py`. The
pictures are positions of real games (`docs/pictures.py`). No figure in a table is typed by hand: those of the pages
`performance.md` come from `performance.json` beside them (`petrichor bench`, `evergreen bench`), of `README.md` from
`docs/difficulty/difficulty.csv` (`petrichor difficulty`), of the pages `agents.md` from `ladder.json` beside them
(`petrichor ladder`, `evergreen ladder`).
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

from benchmarks.run import shown
from docs.game_pages import EVERGREEN, GAMES, evergreen_blocks
from docs.pictures import FOLDER, WIDTH, drawings
from tabletop.drawing.raster import save_png
from tabletop_training.evaluation import Estimate
from tabletop_training.evaluation_files import percent, plus_minus

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
    for name, svg in drawings():
        save_png(svg, FOLDER / f"{name}.png", WIDTH)


if __name__ == "__main__":
    main()
