"""Completions for shells. They are computed cheaply, without loading a game, an agent or a network.

Each function takes the context of the command line so far and the word that is being typed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import typer

AGENTS = ("random", "greedy", "rollout", "ismcts", "ismcts-200", *(f"level-{number}" for number in range(1, 9)))
"""Names of agents without a policy."""
GUIDED = ("policy", "policy-sample", "search", "search-200")
"""The prefixes of a policy's name."""


def _shipped(package: str, folder: str, ending: str, game: str) -> list[str]:
    """The names of a game's shipped files, found without importing anything."""
    spec = find_spec(package)
    places = [Path(place) / folder / game for place in (spec and spec.submodule_search_locations) or ()]
    return sorted(file.stem for place in places for file in place.glob(f"*.{ending}"))


def shipped_settings(game: str) -> list[str]:
    """The names of a game's shipped settings."""
    return _shipped("tabletop_training", "configs", "toml", game)


def _command(ctx: typer.Context) -> str:
    """The name of the whole command, which is the game's."""
    return ctx.find_root().info_name or ""


def policies(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of shipped policies."""
    shipped = _shipped("tabletop_agents", "policies", "zip", _command(ctx))
    return [name for name in shipped if name.startswith(incomplete)]


def agents(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of agents; after a comma one more name."""
    shipped = _shipped("tabletop_agents", "policies", "zip", _command(ctx))
    return one_more([*AGENTS, *(f"{kind}:{name}" for kind in GUIDED for name in shipped)], incomplete)


def settings(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of shipped settings files, and of the commands that may stand in their place."""
    names = [*shipped_settings(_command(ctx)), *getattr(ctx.command, "commands", ())]
    return [name for name in names if name.startswith(incomplete)]


def one_of(*names: str) -> Callable[[str], list[str]]:
    """One of these names."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def some_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Some of these names, separated by commas."""

    def complete(incomplete: str) -> list[str]:
        return one_more(names, incomplete)

    return complete


def one_more(names: Sequence[str], incomplete: str) -> list[str]:
    """The typed words, with each possible name after the last comma."""
    before, comma, begun = incomplete.rpartition(",")
    there = before.split(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun) and name not in there]


@contextmanager
def mended_bash_words(name: str) -> Iterator[None]:
    """While `name` answers bash, rejoin the words that bash has split at colons, and shorten the answers accordingly.

    For bash, `policy:solo` is three words, and it completes only the last one.
    """
    if os.environ.get(f"_{name.upper().replace('-', '_')}_COMPLETE") != "complete_bash":
        yield
        return
    words, number = os.environ.get("COMP_WORDS", "").split("\n"), int(os.environ.get("COMP_CWORD", "0"))
    whole: list[str] = []
    for word in [*words, ""][: number + 1]:
        glued = whole and (word == ":" or whole[-1].endswith(":"))
        whole[-1:] = [whole[-1] + word] if glued else [*whole[-1:], word]
    os.environ |= {"COMP_WORDS": "\n".join(whole), "COMP_CWORD": str(len(whole) - 1)}
    cut = len(whole[-1].rpartition(":")[0]) + 1 if ":" in whole[-1] else 0
    answers = io.StringIO()
    try:
        with redirect_stdout(answers):
            yield
    finally:
        for answer in filter(None, answers.getvalue().splitlines()):
            print(answer[cut:])
