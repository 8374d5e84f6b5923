"""The command `components`: every number of a game with its source, as tables or JSON; editions and ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from tabletop_cli import options
from tabletop_cli.commands import add
from tabletop_cli.line import GAME, CommandLine
from tabletop_cli.output import json_to
from tabletop_engine.described.draws import DRAWS_VERSION
from tabletop_engine.described.overlays import (
    OVERLAY,
    ComponentFile,
    Components,
    Numbers,
    as_toml,
    as_toml_value,
    in_tables,
)
from tabletop_engine.described.ranges import stated
from tabletop_engine.errors import ConfigError
from tabletop_engine.text.screen import Screen

Section = tuple[str, str, Sequence[tuple[str, str, str]]]
"""A printed table: its title, the heading of its first column, and rows of (name, what its numbers are, key)."""

_STYLES = {"rulebook": "green", "public": "green", "assumed": "yellow", OVERLAY: "cyan"}


def add_components(app: typer.Typer, line: CommandLine, file: ComponentFile, sections: Sequence[Section]) -> None:
    """Give an app the command for the numbers of this file, which are printed in these tables."""
    examples = ("components", "components --json numbers.json", "components --draw 17", "components --ranges")
    add(app, line, GAME, components, *examples, file=file, sections=sections)


def components(
    line: CommandLine,
    file: ComponentFile,
    sections: Sequence[Section],
    *,
    overlay: options.Overlay = None,
    draw: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=options.LARGEST_SEED,
            help="Draw every number that has a range from it, by this seed, and print the edition as an overlay.",
            show_default=False,
        ),
    ] = None,
    ranges: Annotated[
        bool,
        typer.Option("--ranges", help="Print the range of every number that has one, as an overlay to change."),
    ] = False,
    json: options.Json = None,
) -> None:
    """Print every number on the game's components, and where each comes from."""
    if ranges and draw is not None:
        raise ConfigError("ranges: not with --draw, which prints numbers drawn from them")
    with json_to(json) as on_result:
        if draw is not None:
            edition = file.draw(draw, overlay)
            print(f"# Edition {draw} of {line.name} components --draw, version {DRAWS_VERSION}: drawn from ranges")
            print(as_toml(edition), end="")
            on_result(edition)
            return
        loaded = file.load(overlay)
        if ranges:
            found = {key: stated(one.range, file.keys[key]) for key, one in loaded.items() if one.range is not None}
            print(f"# Ranges of {line.name} components: what a number may be, and what it is now.")
            print(_ranges_as_toml(found, loaded), end="")
            on_result(found)
            return
        console = Screen()
        for title, first_column, rows in sections:
            console.print(_table(title, first_column, rows, loaded))
            console.print()
        console.print(_note(loaded, file.page))
        on_result(_nested(loaded, file))


def _ranges_as_toml(ranges: Mapping[str, Any], loaded: Components) -> str:
    def line_of(key: str, one: Any) -> str:
        ((form, values),) = one.items() if isinstance(one, dict) else (("", one),)
        text = as_toml_value(values)
        return f"{f'{{{form} = {text}}}' if form else text}  # now {as_toml_value(loaded[key].plain)}"

    return in_tables({key: line_of(key, one) for key, one in ranges.items()}, prefix="range.")


def _nested(loaded: Components, file: ComponentFile) -> dict[str, Any]:
    """The numbers in the tables of a component file, each key as a value and its sources."""
    tree: dict[str, Any] = {}
    for key, numbers in loaded.items():
        *path, name = key.split(".")
        table = tree
        for part in path:
            table = table.setdefault(part, {})
        sources = numbers.sources[0] if numbers.single else list(numbers.sources)
        table[name] = {"value": numbers.plain, "source": sources}
        if numbers.range is not None:
            table[name]["range"] = stated(numbers.range, file.keys[key])
    return tree


def _table(title: str, first_column: str, rows: Sequence[tuple[str, str, str]], loaded: Components) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first_column)
    table.add_column("what", ratio=1)
    table.add_column("numbers", min_width=10)
    table.add_column("source", min_width=len("rulebook"))
    before = ""
    for name, meaning, key in rows:
        if name == before:
            name = ""
        elif before and first_column == "tile":
            table.add_section()
        table.add_row(name, meaning, _values(loaded[key]), _sources(loaded[key]))
        before = name or before
    return table


def _values(numbers: Numbers) -> Text:
    if not numbers.values:
        return Text("none")
    values = Text()
    for value, source in zip(numbers.values, numbers.sources, strict=False):
        shown = str(value).lower() if isinstance(value, bool) else value
        values.append(f"{shown} ", _STYLES[source])
    values.rstrip()
    return values


def _sources(numbers: Numbers) -> Text:
    """One word if all numbers have the same source, otherwise a line for each source."""
    distinct = list(dict.fromkeys(numbers.sources))
    if len(distinct) == 1:
        return Text(distinct[0], _STYLES[distinct[0]])
    lines = []
    for source in distinct:
        which = [_ordinal(i) for i, own in enumerate(numbers.sources, start=1) if own == source]
        lines.append(Text(f"{source}: {', '.join(which)}", _STYLES[source]))
    return Text("\n").join(lines)


def _ordinal(number: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")


def _note(loaded: Components, page: str) -> Text:
    sources = [source for numbers in loaded.values() for source in numbers.sources[: len(numbers.values)]]
    note = Text(f"{sources.count('assumed')} of {len(sources)} numbers are assumed: ")
    note.append("stand-ins, not the printed ones", "yellow")
    note.append(f". With the box at hand, replace them by an overlay file: {page} says how.")
    return note
