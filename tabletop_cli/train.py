"""The commands with which agents learn: `train`, `distil`, and `dataset` for other libraries' learners."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tabletop_cli import completion, options
from tabletop_cli.commands import add
from tabletop_cli.line import TRAIN, CommandLine
from tabletop_cli.measure import tasks_of
from tabletop_cli.modules import imported
from tabletop_cli.options import given, whole_numbers, words
from tabletop_cli.output import json_to
from tabletop_cli.switches import Switches
from tabletop_engine.text.words import either


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""
    run = "runs/solo" if line.alone else "runs/selfplay"
    examples = ["train solo --minutes 10"] if line.alone else []
    if line.several:
        number = f" --players {line.least_several}" if line.players_vary else ""
        examples.append(f"train selfplay{number} --minutes 60")
    add(app, line, TRAIN, train, *examples, f"train --resume {run} --minutes 120")
    images = "what it thinks of turned and mirrored boards, " if line.images else ""
    add(
        app,
        line,
        TRAIN,
        distil,
        f"distil outcomes {run}/best.zip",
        *["distil images runs/general/policy.zip"] * line.images,
        "distil search runs/outcomes/policy.zip --minutes 60",
        help=f"Teach a policy by targets: how its games end, {images}or what a search with it finds.",
    )
    add(app, line, TRAIN, dataset, f"dataset {'greedy' if line.alone else 'greedy random'} --games 1000")


def _settings(line: CommandLine) -> Any:
    """The argument for the settings of a training."""
    kinds = [*["solo"] * line.alone, *["selfplay"] * line.several, *["general"] * line.players_vary]
    default = f"by the numbers of players: {either(kinds)}" if len(kinds) > 1 else kinds[0]
    if "quick" in completion.shipped_settings(line.command):
        default = f"quick; with --players {either(kinds)}"
    return typer.Argument(
        help="A TOML file, or the name of a shipped one.",
        metavar="SETTINGS",
        show_default=default,
        autocompletion=completion.settings,
    )


def train(
    line: CommandLine,
    *,
    settings: Annotated[str | None, _settings] = None,
    players: Annotated[str, options.where("players_vary", options.player_counts("", "as in the settings"))] = "",
    curriculum: Annotated[
        bool, lambda line: typer.Option("--curriculum", help=f"Learn {line.curriculum}.") if line.curriculum else None
    ] = False,
    task: Annotated[
        str | None,
        options.where(
            "tasks", typer.Option(help="A task of the suite: what is learned, how long, and scored.", metavar="TASK")
        ),
    ] = None,
    switches: Switches,
    start: Annotated[
        str | None, options.policy("A checkpoint, or the name of a shipped policy, to go on from.")
    ] = None,
    rival: Annotated[
        str | None,
        options.where(
            "several", options.policy("A checkpoint, or the name of a shipped policy, that has all other seats.")
        ),
    ] = None,
    resume: Annotated[
        Path | None, options.resume(". Only minutes, steps, the device and the workers can be changed")
    ] = None,
    trust: options.Trust = "",
    seeds: Annotated[
        int | None,
        options.number("Seeds of each training: so many runs, from --seed on, in own folders.", "1", most=100),
    ] = None,
    seed: Annotated[int | None, options.seed("of the network and the games", "0")] = None,
    minutes: Annotated[float | None, options.minutes()] = None,
    steps: Annotated[int | None, options.steps("; rounded up to whole rollouts")] = None,
    cores: options.Cores = None,
    workers: Annotated[
        int | None,
        options.workers(1, "and learn together", "1; with --ray the cluster's cores, or its GPUs with --device cuda"),
    ] = None,
    ray: Annotated[str | None, options.ray("or HOST:PORT")] = None,
    device: options.Device = "cpu",
    output: Annotated[Path | None, options.output("checkpoints and logs", "runs/ and the name of the settings")] = None,
    json: options.Json = None,
) -> None:
    """Train an agent by PPO, in all seats of games against itself, earlier selves and other agents, by settings."""
    numbers = whole_numbers("players", players, "numbers of players, separated by commas")
    several: dict[str, Any] = {}
    module = imported("tabletop_training.learn.train", extra="train")
    if seeds is not None or task is not None or (resume is not None and (resume / "settings.json").is_file()):
        module = imported("tabletop_training.suite.seeds", extra="train")
        several = {"seeds": seeds, "task": task, "tasks": tasks_of(line) if line.tasks else None}
    with json_to(json) as on_result:
        module.main(
            line.game,
            settings,
            minutes=minutes,
            steps=steps,
            seed=seed,
            **several,
            output=output,
            device=device,
            start=start,
            rival=rival,
            resume=resume,
            trust=words(trust),
            workers=workers,
            ray=ray,
            on_result=on_result,
            players=tuple(numbers) or None,
            curriculum=curriculum or None,
            **switches,
        )


def _source(line: CommandLine) -> Any:
    """The argument for where a policy's targets come from."""
    sources = ["outcomes", *["images"] * line.images, "search"]
    return typer.Argument(
        help=f"Where the targets come from: {either(sources)}.",
        metavar="SOURCE",
        autocompletion=completion.one_of(*sources),
    )


def distil(
    line: CommandLine,
    *,
    source: Annotated[str, _source],
    policy: options.Policy,
    games: Annotated[
        int | None, options.games(" played side by side; for a search with many cores take 64 for each", "256")
    ] = None,
    seed: Annotated[int, options.seed("of the network and the games")] = 0,
    minutes: Annotated[
        float | None, lambda line: options.minutes("5 for outcomes, 12 for images" if line.images else "5 for outcomes")
    ] = None,
    steps: Annotated[int | None, options.steps("; only those that are learned from count")] = None,
    simulations: Annotated[
        int | None, options.number("Simulations of each decision of the search.", "64", most=None)
    ] = None,
    more_weight: Annotated[
        float | None,
        options.where(
            "images",
            typer.Option(
                help="With images: how much a point of shortfall counts more afterwards, in nats.", metavar="NATS"
            ),
        ),
    ] = None,
    cores: options.Cores = None,
    device: options.Device = "cpu",
    output: Annotated[Path | None, options.output("checkpoints and the log", "runs/ and the source")] = None,
    half: Annotated[bool, typer.Option("--half", help="Save the weights in half precision: half the file.")] = False,
) -> None:
    """Teach a policy by targets."""
    imported("tabletop_training.learn.distil", extra="train").main(
        line.game,
        source,
        policy,
        minutes=minutes,
        steps=steps,
        games=games,
        simulations=simulations,
        more_weight=more_weight,
        device=device,
        seed=seed,
        output=output,
        half=half,
    )


def dataset(
    line: CommandLine,
    *,
    agents: options.Agents,
    switches: Switches,
    games: Annotated[int, options.games()] = 100,
    seed: Annotated[int | None, options.first_seed("30000000")] = None,
    cores: options.Cores = None,
    reward: Annotated[
        str | None,
        typer.Option(
            help="Rewards: win, margin or points.",
            metavar="NAME",
            show_default="win; points where nobody can be won against",
            autocompletion=completion.one_of("win", "margin", "points"),
        ),
    ] = None,
    observation_dtype: Annotated[
        str,
        typer.Option(
            help="Numbers of observations: int8 for plain counts, or float32.",
            metavar="DTYPE",
            autocompletion=completion.one_of("int8", "float32"),
        ),
    ] = "int8",
    output: Annotated[Path, options.output("each data set has a folder there")] = Path("runs/datasets"),
    name: Annotated[
        str, typer.Option(help="Name of the data set.", metavar="NAME", show_default="the names of game and agents")
    ] = "",
) -> None:
    """Write games of agents as a Minari data set, with an episode for each seat."""
    writer = imported("tabletop_training.dataset", extra="dataset")
    matches = imported("tabletop_training.measure.matches", extra="evaluate")
    config = matches.config_for(line.game, len(agents), alone=len(agents) == 1, **switches)
    writer.main(
        matches.make_agents(agents, config),
        config,
        games=games,
        reward=reward,
        observation_dtype=observation_dtype,
        output=output,
        name=name,
        **given(seed=seed),
    )
