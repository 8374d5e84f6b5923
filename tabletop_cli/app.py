"""A game's command line: one app, made for the game, with the commands that every game has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import Any

import typer

from tabletop.words import either
from tabletop_cli import commands
from tabletop_cli.line import CommandLine
from tabletop_cli.options import command
from tabletop_cli.run import EXIT_CODES

PLAY, MEASURE, TRAIN, GAME = "Play and watch", "Measure", "Train", "Game and machine"
"""The groups of commands in the help."""

# What the help adds to options of several commands (`NOTHING_MORE`), and what it says of their defaults
_OF_LEARNING = {"of_seed": ": of the network and the games"}
_OF_RUNS = {
    **_OF_LEARNING,
    "of_steps": "; rounded up to whole rollouts",
    "of_workers": ", with --ray only. Each takes a core; with 0 the learning process plays",
    "of_resume": ". Only minutes, steps and the cluster can be changed",
}
_SHOWN_OF_RUNS = {"seed": "0", "workers": "the cluster's cores"}
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


def make_app(line: CommandLine, completes: bool = True) -> tuple[typer.Typer, typer.Typer]:
    """The app for a game, and the one of its `train`, to which the game's own commands can be added.

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
    train = typer.Typer(
        help="Train agents. A run has a folder for its logs, checkpoints and settings. --resume continues one of "
        f"{either(('solo',) * line.alone + ('selfplay', 'general') * line.several)}.",
        no_args_is_help=True,
    )

    def version(wanted: bool) -> None:
        if wanted:
            print(f"{line.name} {line.version}")
            raise typer.Exit

    wanted = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version and exit.")

    @app.callback()
    def _main(show: bool = wanted) -> None:
        pass

    _add_training(train, line)
    app.add_typer(train, name="train", rich_help_panel=TRAIN)
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
    return app, train


def _add_training(train: typer.Typer, line: CommandLine) -> None:
    """The commands of `train`."""
    add = partial(add_command, train, line)
    if line.alone:
        add(
            "solo",
            commands.train,
            examples=("train solo --minutes 10", "train solo --resume runs/solo --minutes 20"),
            texts={
                **_OF_RUNS,
                "learned": line.texts["the_game_for_one"],
                "of_output": ": checkpoints and logs",
            },
            kind="solo",
            players="one",
            without=("players",) if line.curriculum else ("players", "curriculum"),
            only_given=True,
            shown={**_SHOWN_OF_RUNS, "output": "runs/solo"},
        )
    if line.several:
        add(
            "selfplay",
            commands.train,
            examples=("train selfplay --players 2 --minutes 60", "train selfplay --resume runs/selfplay --minutes 120"),
            texts={
                **_OF_RUNS,
                "learned": "the game of several players, against a league of earlier selves and of scripted agents",
                "of_output": ": checkpoints, league and logs",
            },
            kind="selfplay",
            players="several",
            without=("curriculum",),
            only_given=True,
            shown={
                **_SHOWN_OF_RUNS,
                "players": f"{line.least_several}, or as in the settings",
                "output": "runs/selfplay",
            },
        )
        add(
            "general",
            commands.train_general,
            examples=(
                "train general --minutes 60 --device cuda",
                "train general --resume runs/general --minutes 120",
            ),
            texts={**_OF_RUNS, "of_output": ": checkpoints and logs"},
            shown={**_SHOWN_OF_RUNS, "players": "every number from 2 on", "output": "runs/general"},
        )
