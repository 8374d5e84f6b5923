"""Write the pages and tables that come from code or measurements: `make docs`, or `python -m docs.generate`.

A test compares them with what this writes. The pictures are positions of real games (`docs/pictures.py`). No figure in
a table is typed by hand: those of `docs/performance.md` come from `docs/performance.json` (`petrichor bench`),
of `README.md` from `docs/difficulty/difficulty.csv` (`petrichor difficulty`), of `docs/agents.md` from
`docs/ladder.json` (`petrichor ladder`).
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from benchmarks.run import shown
from docs.pictures import FOLDER, WIDTH, drawings
from petrichor_env import actions, config, state, tables
from petrichor_env.observation import HIGH, LAYOUT, LOW, OBSERVATION_SIZE
from tabletop.drawing.raster import save_png
from tabletop.record import record_table
from tabletop_training.evaluation import Estimate
from tabletop_training.evaluation_files import percent, plus_minus

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"


def observation_page() -> str:
    lines = [
        "# The observation",
        "",
        f"One flat `float32` vector of {OBSERVATION_SIZE} numbers between {LOW:g} and {HIGH:g}, the same for every",
        "configuration: what one player may know, with seats counted clockwise from that player (0 is the viewer, in",
        "solo 1 is the neutral player). Unused seats and tiles are 0. In code: `petrichor_env.observation.LAYOUT`, and",
        '`observation[LAYOUT["hand"].slice]` takes a block out.',
        "",
        'With `observation_dtype="int8"` the same numbers are the counts as they are, not divided (`drops / 5`: plain',
        "drops), at most 127. Rollout buffers shrink to a quarter, and a step takes less time.",
        "",
        "| block | from | to | shape | unit | meaning |",
        "|---|---:|---:|---|---|---|",
    ]
    for block in LAYOUT:
        shape = " x ".join(map(str, block.shape))
        last = block.start + block.size - 1
        lines.append(f"| `{block.name}` | {block.start} | {last} | {shape} | {block.unit} | {block.meaning} |")
    lines += ["", "Orders: "]
    for name, members in _orders().items():
        lines.append(f"- {name}: {', '.join(members)}")
    lines += [
        "- weather: frost, sun, wind, rain; tiles: a1, b1, c1, d1, a2 to d4 (solo: P1 is a1, P2 b1, P3 a2 to P6 b3)",
        "",
        "What is hidden is not in it: other players' hands, packs and forecast cards, who is asked for one of these,",
        "the order of decks, the random stream.",
    ]
    return "\n".join(lines) + "\n"


def _orders() -> dict[str, tuple[str, ...]]:
    """The names of every order that a block's meaning refers to, as `state.Decision` or `config.VARIANTS`."""
    orders = {}
    for module, name in re.findall(r"`(state|config)\.(\w+)`", " ".join(block.meaning for block in LAYOUT)):
        members = getattr({"state": state, "config": config}[module], name)
        orders[name.lower()] = tuple(member if isinstance(member, str) else member.name.lower() for member in members)
    return orders


def actions_page() -> str:
    doc = (actions.__doc__ or "").strip()
    lines = [f"# The actions\n\n{doc}\n", "| action | name |", "|---:|---|"]
    lines += [f"| {action} | {name} |" for action, name in enumerate(actions.ACTION_NAMES)]
    return "\n".join(lines) + "\n"


def state_page() -> str:
    lines = [
        "# The state",
        "",
        f"A game is one NumPy record of `petrichor_env.state.STATE`, {state.STATE.itemsize} bytes. It holds all of the",
        "game, hidden cards and the random stream included; equal games are equal bytes. `batch.states` has a record",
        'for each game: `batch.states["points"]` is a field of all games, `batch.states[0].points` that of the first.',
        "Names in capitals and those of classes are in `petrichor_env.state`. Seats are numbered clockwise; in solo",
        f"seat 0 is the player and seat 1 the neutral player. This is version {state.STATE_VERSION} of the layout.",
        "",
        "A blank value is what the field holds on an empty table, before a game is set up.",
        "",
        *record_table(state.State),
        "",
        "## The numbers on the pieces",
        "",
        "`petrichor_env.tables.TABLES`, one record for all games of a batch, filled from the component files.",
        "",
        *record_table(tables.Tables),
    ]
    return "\n".join(lines) + "\n"


def performance_table() -> str:
    report = json.loads((DOCS / "performance.json").read_text(encoding="utf-8"))
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


def ladder_table() -> str:
    lines = [
        "| game | agent | against | games | win rate | above | margin |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for row in json.loads((DOCS / "ladder.json").read_text(encoding="utf-8"))["steps"]:
        rate, above, margin = (Estimate(*row[key]) for key in ("win_rate", "above", "margin"))
        game = "solo" if row["players"] == 1 else f"{row['players']} players"
        gain = f"{100 * above.value:+.1f} ({100 * above.low:+.1f} to {100 * above.high:+.1f})"
        lines.append(
            f"| {game} | `{row['upper']}` | `{row['lower']}` | {row['games']} | {percent(rate)} | {gain} | "
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
    (DOCS / "observation.md").write_text(observation_page(), encoding="utf-8")
    (DOCS / "state.md").write_text(state_page(), encoding="utf-8")
    (DOCS / "actions.md").write_text(actions_page(), encoding="utf-8")
    replace_block(DOCS / "performance.md", "benchmarks", performance_table())
    replace_block(DOCS / "agents.md", "ladder", ladder_table())
    replace_block(README, "difficulty", difficulty_table())
    for name, svg in drawings():
        save_png(svg, FOLDER / f"{name}.png", WIDTH)


if __name__ == "__main__":
    main()
