"""What the site has besides docs/: pages of the repository's files that its pages link to, and a check of the API."""

from __future__ import annotations

import base64
import json
import logging
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site.public_names import API, markers, packages, problems

ROOT = Path(__file__).parents[2]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md", "README.md": "index.md"}
"""Markdown files outside docs/ and where they are on the site; the site has a first page of its own."""
OF_THE_SITE = (".md", ".png", ".svg")
"""Files of docs/ that the site has unchanged."""
TEXTS = (".csv", ".json", ".md", ".py", ".toml", ".txt", ".yaml")
"""Files that the page of a folder lists, beside pictures."""
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LANGUAGES = {".py": "python", ".json": "json", ".toml": "toml", ".yaml": "yaml", "Dockerfile": "docker"}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:)([^)\s#]+)")
FENCE = re.compile(r"(^`{3,}.*?^`{3,}$)", re.MULTILINE | re.DOTALL)
LIST = re.compile(r"^((?![-*|#>\s]|\d+\. ).+)\n(?=(?:[-*]|1\.) )", re.MULTILINE)
"""A paragraph's last line before a list. Code hosts need no blank line between, Python's Markdown does."""
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"

log = logging.getLogger("mkdocs.hooks.site")
origins: dict[str, str] = {}
"""The files of the repository that pages were made of, by the pages' names on the site."""


def on_pre_build(config: MkDocsConfig) -> None:
    packages.cache_clear()  # `make site-serve` calls this again after a change
    for problem in problems():
        log.warning(problem)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks, CONTRIBUTING.md, CHANGELOG.md, and every other file that a page links to."""
    waiting = ["CONTRIBUTING.md", "CHANGELOG.md", *(f"notebooks/{path.name}" for path in NOTEBOOKS)]
    for file in files.documentation_pages():
        if Path(file.abs_src_path or "").parent != API:  # their links to sources give way to docstrings
            waiting += linked(f"docs/{file.src_uri}", file.content_string)
    while waiting:
        path = waiting.pop()
        if files.get_file_from_path(place(path)):
            continue
        for name, content in written(path).items():
            files.append(File.generated(config, name, content=content))
            if isinstance(content, str) and name.endswith(".md"):
                origins[name] = path
                waiting += linked(path, content)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site, and separate lists.

    On the pages of the API docstrings take the place of the lists of names.
    """
    here = page.file.src_uri
    for name, path, members, option in markers(markdown) if here.startswith("api/") else ():
        directive = f"::: {path}\n    options:\n"
        directive += f"      members: [{', '.join(members)}]\n" if members else ""
        directive += f"      {option}: true\n" if option else ""
        start, rest = markdown.split(f"<!-- {name} -->\n", 1)
        markdown = start + directive.removesuffix("    options:\n") + rest.split(f"<!-- end of {name} -->", 1)[1]
    origin = origins.get(here, f"docs/{here}")

    def moved(link: re.Match[str]) -> str:
        path = target(origin, link[1])
        return posixpath.relpath(place(path), posixpath.dirname(here) or ".") if path else link[1]

    parts = FENCE.split(LINK.sub(moved, markdown))
    parts[::2] = [LIST.sub(r"\1\n\n", part) for part in parts[::2]]
    return "".join(parts)


def place(path: str) -> str:
    """The place on the site of a file or a folder of the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.endswith(".ipynb"):
        return path.replace(".ipynb", ".md")
    if path.startswith("docs/") and path.endswith(OF_THE_SITE):
        return path.removeprefix("docs/")
    return f"files/{path}.md"


def target(origin: str, link: str) -> str | None:
    """What a file's link leads to in the repository; None where there is nothing, which MkDocs then reports."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    return None if path.startswith("..") or not (ROOT / path).exists() else path


def linked(origin: str, text: str) -> Iterator[str]:
    """What a file's links lead to."""
    return (path for path in (target(origin, link) for link in LINK.findall(text)) if path)


def written(path: str) -> dict[str, str | bytes]:
    """The pages and pictures that a file of the repository becomes, by their names on the site."""
    file = ROOT / path
    if file.suffix == ".ipynb":
        return notebook(place(path), json.loads(file.read_text(encoding="utf-8")))
    if file.is_dir():
        inside = sorted(one.name for one in file.iterdir() if one.suffix in TEXTS + OF_THE_SITE)
        rows = "\n".join(f"- [{name}]({file.name}/{name})" for name in inside)
        return {place(path): f"{NOT_SEARCHED}# {path}\n\n{rows}"}
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return {place(path): text}
    language = LANGUAGES.get(file.suffix or file.name, "text")
    return {place(path): f"{NOT_SEARCHED}# {path}\n\n{fenced(text, language)}"}


def notebook(name: str, cells: dict[str, Any]) -> dict[str, str | bytes]:
    """A notebook's page, and the pictures that its code has drawn."""
    parts: list[str] = []
    pictures: dict[str, str | bytes] = {}
    for cell in cells["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else fenced(source, "python"))
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            picture = f"{os.path.splitext(name)[0]}_{len(pictures) + 1}"
            if "image/svg+xml" in data:
                pictures[f"{picture}.svg"] = "".join(data["image/svg+xml"])
            elif "image/png" in data:
                pictures[f"{picture}.png"] = base64.b64decode("".join(data["image/png"]))
            else:
                parts.append(fenced("".join(output.get("text", data.get("text/plain", ""))), "text"))
                continue
            parts.append(f"![What the code above draws]({posixpath.basename(list(pictures)[-1])})")
    return {name: "\n\n".join(parts), **pictures}


def fenced(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"
