"""The parts of `docs/command-line.md` that come from the commands themselves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from tabletop_cli import evergreen, petrichor
from tabletop_cli.run import EXIT_CODES
from tabletop_training.files.tables import markdown_table

APPS = {"petrichor": petrichor.app, "evergreen": evergreen.app}


@dataclass(frozen=True)
class Parameter:
    """An argument or an option of a command, as its help shows it.

    Attributes:
        name: such as `--games`, or an argument's placeholder. metavar: the value's placeholder; empty for a switch.
        help: without the default. default: empty where there is none. required: an argument that can't be left out.
    """

    name: str
    metavar: str
    help: str
    default: str
    required: bool

    @property
    def text(self) -> str:
        """The name with the value's placeholder."""
        return f"{self.name} {self.metavar}".strip()


@dataclass(frozen=True)
class Command:
    """A command. `words` are those after the game's, such as `train solo`."""

    words: str
    group: str
    help: str
    examples: tuple[str, ...]
    parameters: tuple[Parameter, ...]


def commands(app: typer.Typer, words: str = "", group: str = "", node: Any = None) -> Iterator[Command]:
    """All commands of an app, in the order of its help; a command with commands of its own is followed by these."""
    node = typer.main.get_command(app) if node is None else node
    for name, one in node.commands.items():
        own, panel = f"{words} {name}".strip(), one.rich_help_panel or group
        parameters = [_parameter(param) for param in one.params if param.name != "help" and not _hidden(param)]
        if parameters or not hasattr(one, "commands"):
            examples = tuple(line.removeprefix("Example: ") for line in (one.epilog or "").split("\n\n") if line)
            parameters.sort(key=lambda one: one.name.startswith("-"))  # arguments come first
            yield Command(own, panel, " ".join((one.help or "").split()), examples, tuple(parameters))
        if hasattr(one, "commands"):
            yield from commands(app, own, panel, one)


def _hidden(param: Any) -> bool:
    return bool(getattr(param, "hidden", False))


def _parameter(param: Any) -> Parameter:
    option = param.param_type_name == "option"
    switch = option and param.is_flag
    default = "" if switch or param.default is None else f"{param.default}"
    if isinstance(param.show_default, str):
        default = param.show_default
    name = param.opts[0] if option else f"{param.metavar}{'' if param.nargs == 1 else ' …'}"
    return Parameter(name, "" if switch or not option else param.metavar, param.help, default, param.required)


def shared(listed: Mapping[str, Sequence[Command]]) -> dict[str, dict[str, Parameter | None]]:
    """The parameters that several commands of the first game have with the same help and the same default.

    By text, the usual parameter of each game; None for a game that has no such option.
    """
    found: dict[str, dict[str, Counter[Parameter]]] = {}
    for game, several in listed.items():
        for one in (one for command in several for one in command.parameters):
            found.setdefault(one.text, {name: Counter() for name in listed})[game][one] += 1
    known: dict[str, dict[str, Parameter | None]] = {}
    for text, games in found.items():
        usual = {game: own.most_common(1)[0] if own else None for game, own in games.items()}
        first = usual[next(iter(games))]
        if first and first[1] > 1 and all(one is None or one[0] == first[0] or one[1] > 1 for one in usual.values()):
            known[text] = {game: one[0] if one else None for game, one in usual.items()}
    return known


def blocks() -> dict[str, str]:
    """The generated parts of the page, by the names of their markers."""
    listed = {name: list(commands(app)) for name, app in APPS.items()}
    known = shared(listed)
    return {
        "exit codes": markdown_table(
            ("code", "meaning"), [(str(code), text) for code, text in EXIT_CODES.items()], left=2
        ),
        "purposes": _purposes(listed),
        "shared options": "\n".join(_line(text, of_games) for text, of_games in known.items()),
        "commands": "\n\n".join(_sections(listed, known)),
    }


def _line(text: str, of_games: Mapping[str, Parameter | None]) -> str:
    """A line of a list: the first game's text and default, and how other games differ."""
    (first, *others) = of_games.items()
    assert first[1] is not None
    told, default = first[1].help, first[1].default
    for name, one in others:
        if one is None:
            told += f" Not in `{name}`."
        else:
            told += _differing(name, first[1].help, one.help)
            default += "" if one.default == first[1].default else f"; in `{name}` {one.default}"
    return f"- `{text}`: {told}" + (f" Default: {default}." if default else "")


def _differing(name: str, first: str, other: str) -> str:
    """The sentences that another game's text has and the first game's has not; "" if there are none."""
    sentences = re.split(r"(?<=\.) ", other)
    own = [one for one in sentences if one not in re.split(r"(?<=\.) ", first)]
    return f" In `{name}`: {' '.join(own)}" if own else ""


def _purposes(listed: Mapping[str, Sequence[Command]]) -> str:
    groups: dict[str, dict[str, None]] = {}
    for command in (one for several in listed.values() for one in several):
        link = f"[{command.words}](#{command.words.replace(' ', '-')})"
        groups.setdefault(command.group, {})[link] = None
    return markdown_table(
        ("purpose", "commands"), [(group, ", ".join(links)) for group, links in groups.items()], left=2
    )


def _sections(
    listed: Mapping[str, Sequence[Command]], known: Mapping[str, Mapping[str, Parameter | None]]
) -> Iterator[str]:
    """A section for each command, of all games that have it."""
    by_words: dict[str, dict[str, Command]] = {}
    for game, several in listed.items():
        for command in several:
            by_words.setdefault(command.words, {})[game] = command
    for words, games in by_words.items():
        (game, command), *others = games.items()
        yield f"### {words}"
        only = f" Only `{game}` has it." if len(games) < len(listed) else ""
        yield command.help + only + "".join(_differing(name, command.help, other.help) for name, other in others)
        arguments = [one for one in command.parameters if not one.name.startswith("-")]
        named = [f" {one.name}" if one.required else f" [{one.name}]" for one in arguments]
        usage = [f"# {game} {words}{''.join(named)} [OPTIONS]"] if arguments or not command.examples else []
        yield "\n".join(("```sh", *usage, *command.examples, "```"))
        parameters = {name: {one.text: one for one in other.parameters} for name, other in games.items()}
        assert all(text in parameters[game] for of in parameters.values() for text in of), (
            f"{words}: an option too many"
        )
        usual = [
            text
            for text in parameters[game]
            if text in known and all(of.get(text) == known[text][name] for name, of in parameters.items())
        ]
        own = [text for text in parameters[game] if text not in usual]
        if own:
            yield "\n".join(_line(text, {name: of.get(text) for name, of in parameters.items()}) for text in own)
        if rest := [f"`{one.name}`" for one in command.parameters if one.text in usual]:
            yield f"Shared: {', '.join(rest)}."
