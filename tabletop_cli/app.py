"""A game's command line: one app, made for the game, with the commands that every game has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import typer

from tabletop_cli import commands
from tabletop_cli.line import CommandLine
from tabletop_cli.options import command
from tabletop_cli.run import EXIT_CODES

PLAY, MEASURE, TRAIN, GAME = "Play and watch", "Measure", "Train", "Game and machine"
"""The groups of commands in the help."""

# What the help adds to options of several commands (`NOTHING_MORE`), and what it says of their defaults
_OF_LEARNING = {"of_seed": ": of the network and the games"}
OF_MEASURING = {
    "of_seed": ": the first game takes it, each later game the next number",
    "of_workers": " at once. The games stay the same",
    "of_output": ": JSON and CSV files",
}
SHOWN_OF_MEASURING = {"seed": "away from the seeds of training", "workers": "1; with --ray the cluster's cores"}


def add_command(
    app: typer.Typer,
    line: CommandLine,
    name: str,
    function: Callable[..., None],
    panel: str = "",
    examples: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    **options: Any,
) -> None:
    """Give an app a command.

    Arguments:
        panel: the group in the help that it stands in.
        examples: the words behind the game's name, such as `evaluate random greedy`.
        texts: what stands for names in braces, beside `CommandLine.texts`.
        options: as in `tabletop_cli.options.command`.
    """
    known = line.texts | (dict(texts) if texts else {})
    if "line" in signature(function).parameters:
        options["line"] = line
    epilog = "\n\n".join(f"Example: {line.name} {example}" for example in examples)
    register = app.command(name, rich_help_panel=panel or None, epilog=epilog or None)
    register(command(function, known, line.config, **options))


def make_app(line: CommandLine, completes: bool = True) -> typer.Typer:
    """The app for a game, to which the game's own commands can be added.

    `completes`: whether it is installed under its name, so that shells can complete it.
    """
    codes = "; ".join(f"{code}: {meaning}" for code, meaning in EXIT_CODES.items())
    app = typer.Typer(
        help=line.help,
        epilog=f"Exit codes: {codes}.",
        no_args_is_help=True,
        add_completion=completes,
        pretty_exceptions_enable=False,
    )

    def version(wanted: bool) -> None:
        if wanted:
            print(f"{line.name} {line.version}")
            raise typer.Exit

    wanted = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version and exit.")

    @app.callback()
    def _main(show: bool = wanted) -> None:
        pass

    add = partial(add_command, app, line)
    alone, several = line.alone, line.several
    add(
        "play",
        commands.play,
        PLAY,
        examples=("play" if alone else "play greedy", "play greedy --web" if several else "play --web"),
        texts={
            "of_agents": ", to play against" + f". Without any it is {line.texts['game_for_one']}" * alone,
            "of_seed": ": of the game's chance",
        },
        without=() if several else ("agents", "people"),  # there is one seat
        only_given=True,
        shown={"seed": "another one each time"},
    )
    add("web", commands.web, PLAY, examples=("web --open",), texts={"of_agents": ", which the page offers, too"})
    add(
        "replay",
        commands.replay,
        PLAY,
        examples=("replay runs/games/000000-random-greedy.json --html game.html",),
        texts={"of_seat": ": show only what it sees"},
        shown={"seat": "all hands"},
    )
    add(
        "review",
        commands.review,
        PLAY,
        examples=("review runs/games/000000-random-greedy.json greedy",),
        texts={"of_seat": ": look at its decisions only"},
        shown={"seat": "the seats of people; all if there are none"},
    )
    add(
        "evaluate",
        commands.evaluate,
        MEASURE,
        examples=("evaluate random greedy --games 200", "evaluate greedy rollout --solo")[: 1 + (alone and several)],
        texts={**OF_MEASURING, "of_games": " of each agent, rounded up to whole rotations of the seats"},
        without=() if alone and several else ("solo",),  # nothing to choose
        shown={**SHOWN_OF_MEASURING, "games": "1000; at most 20000 with --until-width"},
    )
    if several:
        add(
            "tournament",
            commands.tournament,
            MEASURE,
            examples=("tournament random greedy rollout --games 100",),
            texts={
                **OF_MEASURING,
                "of_players": ", in each game",
                "of_games": " of each pairing, or of each group of players",
                "of_output": ": JSON and CSV files, and a picture",
            },
            players="several",
            shown={**SHOWN_OF_MEASURING, "players": str(line.least_several)},
        )
    if line.ladder:
        add(
            "ladder",
            commands.ladder,
            MEASURE,
            examples=("ladder --players 2",),
            texts={**OF_MEASURING, "of_players": "; 1 is solo", "of_games": " of each step"},
            shown={**SHOWN_OF_MEASURING, "players": "{ladder}", "games": "480; fewer for slow agents"},
        )
    if line.table:
        add(
            "benchmark",
            commands.benchmark,
            MEASURE,
            examples=("benchmark my_module:MyAgent --quick",),
            texts={
                **OF_MEASURING,
                "of_games": " of each agent alone, with each set of variants if there are any",
                "of_output": ": benchmark.json, which is continued, a table and a page",
            },
            only=("components",),
            shown={**SHOWN_OF_MEASURING, "output": "runs/benchmark, or runs/benchmark-quick"},
        )
    add(
        "dataset",
        commands.dataset,
        TRAIN,
        examples=(f"dataset greedy{'' if alone else ' random'} --games 1000",),
        texts={**OF_MEASURING, "of_output": ": each data set has a folder there"},
        shown={
            "seed": "30000000",
            "reward": "win; points where nobody can be won against",
            "name": "the names of game and agents",
        },
    )
    _add_training(app, line)
    add(
        "distil",
        commands.distil,
        TRAIN,
        examples=(
            f"distil outcomes runs/{'solo' if alone else 'selfplay'}/best.zip",
            *("distil images runs/general/policy.zip",) * line.images,
            "distil search runs/outcomes/policy.zip --minutes 60",
        ),
        texts={
            **_OF_LEARNING,
            "sources": "outcomes, images or search" if line.images else "outcomes or search",
            "of_images": "what it thinks of turned and mirrored boards, " if line.images else "",
            "of_games": " played side by side; for a search with many cores take 64 for each",
            "of_steps": "; only those that are learned from count",
            "of_output": ": checkpoints and the log",
        },
        without=() if line.images else ("more_weight",),
        shown={
            "games": "256",
            "minutes": "5 for outcomes, 12 for images" if line.images else "5 for outcomes",
            "simulations": "64",
            "output": "runs/ and the source",
        },
    )
    add("compile", commands.compile_all, GAME)
    if line.benchmarks:
        add("bench", commands.bench, GAME, examples=("bench --quick --only playouts",))
    return app


def _add_training(app: typer.Typer, line: CommandLine) -> None:
    """`train`."""
    texts = {
        **_OF_LEARNING,
        "of_steps": "; rounded up to whole rollouts",
        "of_resume": ". Only minutes, steps, the device and the workers can be changed",
        "of_output": ": checkpoints and logs",
    }
    shown = {"seed": "0", "players": "as in the settings", "output": "runs/ and the name of the settings"}
    shown["workers"] = "1; with --ray the cluster's cores, or its GPUs with --device cuda"
    without = () if line.curriculum else ("curriculum",)
    players = "" if line.alone and line.several else "one" if line.alone else "several"
    options: Any = {"players": players, "without": without, "only_given": True, "shown": shown}
    examples = ("train solo --minutes 10",) * line.alone
    if line.several:
        examples += (f"train selfplay --players {line.least_several} --minutes 60",)
    examples += (f"train --resume runs/{'solo' if line.alone else 'selfplay'} --minutes 120",)
    add_command(app, line, "train", commands.train, TRAIN, examples, texts, **options)
