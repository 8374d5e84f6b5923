"""The lists on the pages of docs/api/: every public name, what it is in a sentence, and where it is written.

`docs/generate.py` writes them between the pages' markers, such as `<!-- tabletop_engine.record: array, dtype_of -->`.
On the site each list gives way to the whole docstrings (`docs/site/hooks.py`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import griffe

from docs.site.public_names import API, found, markers


def blocks() -> Iterator[tuple[str, str]]:
    """The page of each list, relative to docs/, and the name of its markers."""
    for page in sorted(API.glob("*.md")):
        yield from ((f"api/{page.name}", one.name) for one in markers(page.read_text(encoding="utf-8")))


def listed(marker: str) -> str:
    """The list of a marker: a line for each name, and one for each public method below its class."""
    (one,) = markers(f"<!-- {marker} -->")
    module = found(one.path)
    assert module is not None, one.path
    names = one.members or [
        name
        for name, member in module.members.items()
        if not name.startswith("_") and not member.is_alias and (member.is_class or member.is_function)
    ]
    lines = [f"`{one.path}`", ""] if names else []
    for member in filter(None, [found(f"{one.path}.{name}") for name in names] or [module]):
        lines.append(f"- [`{_signature(member)}`]({_source(member)}): {_first_words(member)}")
        if isinstance(member, griffe.Class):
            inside = (part for name, part in member.members.items() if not name.startswith("_"))
            lines += [
                f"    - `{_signature(part)}`: {_first_words(part)}"
                for part in inside
                if isinstance(part, griffe.Object) and part.docstring and (part.is_function or part.is_attribute)
            ]
    return "\n".join(lines)


def _signature(one: griffe.Object) -> str:
    """The name; with its arguments, if it is called."""
    called = one.members.get("__init__") if isinstance(one, griffe.Class) else one
    if not isinstance(called, griffe.Function):
        return one.name if not one.is_module else one.path
    arguments = [
        {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(given.kind, "")
        + given.name
        for given in called.parameters
        if given.name not in ("self", "cls") and not given.name.startswith("_")
    ]
    return f"{one.name}({', '.join(arguments)})"


def _source(one: griffe.Object) -> str:
    """A link to the file, from a page of the API."""
    assert isinstance(one.filepath, Path)
    return os.path.relpath(one.filepath, API).replace(os.sep, "/")


def _first_words(one: griffe.Object) -> str:
    """The first paragraph of the docstring, in one line."""
    words = one.docstring.value if one.docstring else ""
    return " ".join(words.strip().split("\n\n")[0].split())
