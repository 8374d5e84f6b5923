"""Which names are public, and whether the API's pages have them all, with docstrings.

Public is what a module outside a game's insides lists in `__all__`, and what a page, a notebook or a program of docs/
imports or names with its module. Each must be on a page of docs/api/ and have a docstring. So must each public method
and property of a public class, unless a base class has one; its attributes may stand in the docstring of the class.
Arguments that a docstring names must be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import griffe

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "tabletop_engine": ROOT,
    "petrichor_env": ROOT,
    "evergreen_env": ROOT,
    "tabletop_agents": ROOT / "agents",
    "tabletop_play": ROOT / "apps",
    "tabletop_text": ROOT / "apps",
    "tabletop_training": ROOT / "training",
}
INSIDES = re.compile(r"\w+_env\.(rules|drawing|invariants|scenarios)$")
"""Modules of a game whose `__all__` is for the game itself."""
PROTOCOLS = {
    "tabletop_engine.text.plain.PlainConfig": "tabletop_engine.game.Config",
    "tabletop_engine.text.plain.PlainDrawing": "tabletop_engine.presentation.Drawing",
    "tabletop_engine.text.plain.PlainWords": "tabletop_engine.presentation.Words",
    "tabletop_engine.replays.recorder.Recorder": "tabletop_engine.play.batch.Listener",
}
"""Protocols of classes that do not derive from them. A protocol has the docstrings of the methods."""
_PACKAGE = "|".join(FOLDERS)
IMPORT = re.compile(rf"from ((?:{_PACKAGE})[\w.]*) import (?:\(([^)]*)\)|([\w ,]+))")
DOTTED = re.compile(rf"(?<![\w./])(?:{_PACKAGE})(?:\.\w+)+(?![\w/])")
API = ROOT / "docs" / "api"
MARKER = re.compile(r"^<!-- ([\w.]+)(?:: ([\w, ]+))?(?:; (\w+))? -->$", re.MULTILINE)
"""Where a page of the API lists names: the module, which of its names (all if none), an option of mkdocstrings."""


@cache
def packages() -> griffe.ModulesCollection:
    """The packages as their sources say, without importing them."""
    loader = griffe.GriffeLoader(search_paths=sorted(set(FOLDERS.values())))
    for name in FOLDERS:
        loader.load(name)
    return loader.modules_collection


def found(path: str) -> griffe.Object | None:
    """The object of a dotted name, where it is defined."""
    try:
        one = packages()[path]
        return one.final_target if isinstance(one, griffe.Alias) else one
    except (KeyError, griffe.AliasResolutionError):
        return None


def texts() -> Iterator[tuple[Path, str]]:
    """What users read: pages, notebooks, programs."""
    docs = ROOT / "docs"
    files = [
        ROOT / "README.md",
        *docs.rglob("*.md"),
        *docs.glob("libraries/*.py"),
        *docs.glob("text/*.py"),
        *ROOT.glob("notebooks/*.ipynb"),
    ]
    kept = (path for path in files if path.parent != API)
    return ((path, path.read_text(encoding="utf-8")) for path in kept)


def listed() -> Iterator[tuple[str, str]]:
    """Names of `__all__`, each with where that was."""

    def modules(module: griffe.Module) -> Iterator[griffe.Module]:
        yield module
        for child in module.modules.values():
            if not child.is_alias:
                yield from modules(child)

    for package in packages().members.values():
        for module in modules(package):
            if not INSIDES.search(module.path):
                yield from ((f"{module.path}.{name}", f"{module.path}.__all__") for name in module.exports or ())


def mentioned() -> Iterator[tuple[str, str]]:
    """Names that users' texts have, each with where that was."""
    for path, text in texts():
        where = path.relative_to(ROOT).as_posix()
        for module, several, line in IMPORT.findall(text.replace("\\n", "\n")):
            names = (name.split(" as ")[0].strip() for name in (several or line).split(","))
            yield from ((f"{module}.{name}", where) for name in names if name.isidentifier())
        yield from ((name, where) for name in DOTTED.findall(text))


def public() -> dict[str, str]:
    """Canonical names of everything public except modules, each with a place that makes it public."""
    names: dict[str, str] = {}
    for name, where in (*listed(), *mentioned()):
        one = found(name)
        if one is not None and not one.is_module and not one.name.startswith("_"):
            names.setdefault(one.path, where)
    return names


class Marker(NamedTuple):
    """A list on a page of the API: the name of its markers, the module, its names, and an option of mkdocstrings."""

    name: str
    path: str
    members: list[str]
    option: str


def markers(text: str) -> Iterator[Marker]:
    """The lists of a page of the API."""
    for found in MARKER.finditer(text):
        path, names, option = found.groups(default="")
        yield Marker(found[0][5:-4], path, names.split(", ") if names else [], option)


def shown() -> dict[str, bool]:
    """What the API's pages show, and whether with all of its members."""
    names = {}
    for page in sorted(API.glob("*.md")):
        for _, path, members, _ in markers(page.read_text(encoding="utf-8")):
            one = found(path)
            path = one.path if one else path
            names[path] = not members
            for name in members:
                child = f"{path}.{name}"
                names[getattr(found(child), "path", child)] = True
    return names


def lacking(one: griffe.Object) -> Iterator[str]:
    """What is missing in the docstrings of an object and of its public methods and properties."""
    if not one.has_docstring:
        yield f"{one.path} is public and has no docstring"
    elif one.docstring and isinstance(one, griffe.Class | griffe.Function):
        there = [parameter.name for parameter in one.parameters]
        if not any(parameter.kind is griffe.ParameterKind.var_keyword for parameter in one.parameters):
            for section in one.docstring.parse("google", warnings=False):
                if isinstance(section, griffe.DocstringSectionParameters):
                    named = [name for joint in section.value for name in joint.name.replace("*", "").split(", ")]
                    yield from (f"{one.path} has no argument {name}" for name in named if name not in there)
    if isinstance(one, griffe.Class):
        protocol = found(PROTOCOLS[one.path]) if one.path in PROTOCOLS else None
        bases = [*one.mro(), *filter(None, [protocol])]
        said = {name for base in bases for name, member in base.members.items() if member.has_docstring}
        for name, member in one.members.items():
            method = member.is_function or (member.is_attribute and "property" in member.labels)
            if method and not name.startswith("_") and not member.has_docstring and name not in said:
                yield f"{member.path} is public and has no docstring"


def problems() -> Iterator[str]:
    """What is wrong, a sentence each."""
    pages = shown()
    for name in pages:
        if found(name) is None:
            yield f"docs/api: there is no {name}"
    for name, where in sorted(public().items()):
        parents = [name.rsplit(".", n)[0] for n in range(1, name.count(".") + 1)]
        if name not in pages and not any(pages.get(parent) for parent in parents):
            yield f"{name} is public ({where}) and on no page of docs/api/"
    whole = [found(name) for name, all_members in pages.items() if all_members]
    objects = {one.path: one for one in (*map(found, public()), *whole) if one is not None}
    for module in [one for one in objects.values() if one.is_module]:
        here = {name: one for name, one in (module.classes | module.functions).items() if not name.startswith("_")}
        objects |= {one.path: one for one in here.values() if isinstance(one, griffe.Object)}
    yield from sorted({problem for one in objects.values() for problem in lacking(one)})
