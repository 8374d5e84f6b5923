"""The commands that train agents, and the one that writes data sets for others to learn from."""

# typer reads the annotations of the commands, which use `line`: they must not become strings

from pathlib import Path
from typing import Annotated

import typer

from tabletop.words import either
from tabletop_cli import completion, options
from tabletop_cli.line import TRAIN, CommandLine
from tabletop_cli.modules import imported
from tabletop_cli.options import given, whole_numbers, words
from tabletop_cli.output import json_to
from tabletop_cli.switches import Switches, with_switches, without

_Resume = Annotated[Path | None, options.resume(". Only minutes, steps and the cluster can be changed")]
_Seed = Annotated[int | None, options.seed("of the network and the games", "0")]
_Minutes = Annotated[float | None, options.minutes()]
_Steps = Annotated[int | None, options.steps("; rounded up to whole rollouts")]
_Workers = Annotated[
    int | None,
    options.workers(", with --ray only. Each takes a core; with 0 the learning process plays", "the cluster's cores"),
]
_Half = Annotated[bool, typer.Option("--half", help="Save the weights in half precision: half the file.")]


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""
    _add_dataset(app, line)
    kinds = ("solo",) * line.alone + ("selfplay", "general") * line.several
    train = typer.Typer(
        help="Train agents. A run has a folder for its logs, checkpoints and settings. --resume continues one of "
        f"{either(kinds)}.",
        no_args_is_help=True,
    )
    app.add_typer(train, name="train", rich_help_panel=TRAIN)
    if line.alone:
        _add_solo(train, line)
    if line.several:
        _add_selfplay(train, line)
        _add_general(train, line)
    _add_outlook(train, line)
    if line.images:
        _add_images(train, line)
    _add_expert(train, line)


def _add_dataset(app: typer.Typer, line: CommandLine) -> None:
    @app.command(
        rich_help_panel=TRAIN,
        epilog=line.examples(f"dataset {'greedy' if line.alone else 'greedy random'} --games 1000"),
    )
    @with_switches(line.config)
    def dataset(
        *,
        agents: options.Agents,
        switches: Switches,
        games: Annotated[int, options.games()] = 100,
        seed: Annotated[int | None, options.first_seed("30000000")] = None,
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
        matches = imported("tabletop_training.matches", extra="evaluate")
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


def _add_solo(train: typer.Typer, line: CommandLine) -> None:
    @train.command(
        help=f"Learn {f'the game{line.against}' if line.opponent else 'the game for one'}.",
        epilog=line.examples("train solo --minutes 10", "train solo --resume runs/solo --minutes 20"),
    )
    @with_switches(line.config, players="one")
    @without(*() if line.curriculum else ("curriculum",))
    def solo(
        *,
        curriculum: Annotated[bool, typer.Option("--curriculum", help=f"Learn {line.curriculum}.")] = False,
        switches: Switches,
        config: options.Settings = None,
        resume: _Resume = None,
        trust: options.Trust = "",
        seed: _Seed = None,
        minutes: _Minutes = None,
        steps: _Steps = None,
        workers: _Workers = None,
        ray: options.Ray = None,
        output: Annotated[Path | None, options.output("checkpoints and logs", "runs/solo")] = None,
        json: options.Json = None,
    ) -> None:
        with json_to(json) as on_result:
            imported("tabletop_training.runs", extra="train").main(
                line.game,
                "solo",
                config,
                minutes=minutes,
                steps=steps,
                seed=seed,
                output=output,
                resume=resume,
                trust=words(trust),
                ray=ray,
                workers=workers,
                on_result=on_result,
                players=None,
                curriculum=curriculum or None,
                **switches,
            )


def _add_selfplay(train: typer.Typer, line: CommandLine) -> None:
    @train.command(
        epilog=line.examples(
            "train selfplay --players 2 --minutes 60", "train selfplay --resume runs/selfplay --minutes 120"
        )
    )
    @with_switches(line.config, players="several")
    def selfplay(
        *,
        players: Annotated[
            int | None, options.players(line, default=f"{line.least_several}, or as in the settings")
        ] = None,
        switches: Switches,
        config: options.Settings = None,
        resume: _Resume = None,
        trust: options.Trust = "",
        seed: _Seed = None,
        minutes: _Minutes = None,
        steps: _Steps = None,
        workers: _Workers = None,
        ray: options.Ray = None,
        output: Annotated[Path | None, options.output("checkpoints, league and logs", "runs/selfplay")] = None,
        json: options.Json = None,
    ) -> None:
        """Learn the game of several players, against a league of earlier selves and of scripted agents."""
        with json_to(json) as on_result:
            imported("tabletop_training.runs", extra="train").main(
                line.game,
                "selfplay",
                config,
                minutes=minutes,
                steps=steps,
                seed=seed,
                output=output,
                resume=resume,
                trust=words(trust),
                ray=ray,
                workers=workers,
                on_result=on_result,
                players=players,
                curriculum=None,
                **switches,
            )


def _add_general(train: typer.Typer, line: CommandLine) -> None:
    @train.command(
        epilog=line.examples(
            "train general --minutes 60 --device cuda", "train general --resume runs/general --minutes 120"
        )
    )
    def general(
        players: Annotated[str, options.player_counts("", "every number from 2 on")] = "",
        config: options.Settings = None,
        start: Annotated[
            str | None,
            typer.Option(
                help="A checkpoint, or the name of a shipped policy, to go on from.",
                metavar="POLICY",
                autocompletion=completion.policies,
            ),
        ] = None,
        rival: Annotated[
            str | None,
            typer.Option(
                help="A checkpoint, or the name of a shipped policy, that has all other seats.",
                metavar="POLICY",
                autocompletion=completion.policies,
            ),
        ] = None,
        resume: _Resume = None,
        trust: options.Trust = "",
        seed: _Seed = None,
        minutes: _Minutes = None,
        steps: _Steps = None,
        device: options.Device = "cpu",
        output: Annotated[Path | None, options.output("checkpoints and logs", "runs/general")] = None,
        json: options.Json = None,
    ) -> None:
        """Learn with every number of players and all modules: one network for all, which learns from all
        seats at once."""
        wanted = whole_numbers("players", players, "numbers of players, separated by commas")
        with json_to(json) as on_result:
            imported("tabletop_training.learn.train", extra="train").main(
                line.game,
                config,
                minutes=minutes,
                steps=steps,
                seed=seed,
                output=output,
                device=device,
                start=start,
                rival=rival,
                resume=resume,
                trust=words(trust),
                on_result=on_result,
                players=tuple(wanted) or None,
            )


def _add_outlook(train: typer.Typer, line: CommandLine) -> None:
    @train.command(epilog=line.examples(f"train outlook runs/{'solo' if line.alone else 'selfplay'}/best.zip"))
    def outlook(
        policy: options.Policy,
        games: Annotated[int | None, options.games(" to learn from, instead of minutes")] = None,
        seed: Annotated[int, options.seed("of the network and the games")] = 0,
        minutes: Annotated[float | None, options.minutes("5")] = None,
        device: options.Device = "cpu",
        output: Annotated[Path, options.output("the checkpoint")] = Path("runs/outlook"),
        half: _Half = False,
    ) -> None:
        """Teach a policy how its games end, so that search-N:PATH can search with it."""
        imported("tabletop_training.outlook", extra="train").main(
            line.game, policy, minutes=minutes, games=games, seed=seed, output=output, device=device, half=half
        )


def _add_images(train: typer.Typer, line: CommandLine) -> None:
    @train.command(epilog=line.examples("train images runs/general/policy.zip --minutes 12"))
    def images(
        policy: options.Policy,
        seed: Annotated[int, options.seed("of the network and the games")] = 0,
        minutes: Annotated[float | None, options.minutes("12")] = None,
        steps: Annotated[int | None, options.steps()] = None,
        more_weight: Annotated[
            float, typer.Option(help="What a point of shortfall counts more afterwards, in nats.", metavar="NATS")
        ] = 0.0,
        device: options.Device = "cpu",
        output: Annotated[Path, options.output("the checkpoint and the log")] = Path("runs/images"),
        half: _Half = False,
    ) -> None:
        """Teach a policy that a turned or mirrored board is the same board."""
        imported("tabletop_training.images", extra="train").main(
            line.game,
            policy,
            minutes=minutes,
            steps=steps,
            more_weight=more_weight,
            seed=seed,
            output=output,
            device=device,
            half=half,
        )


def _add_expert(train: typer.Typer, line: CommandLine) -> None:
    @train.command(epilog=line.examples("train expert runs/outlook/policy.zip --minutes 60"))
    def expert(
        policy: options.Policy,
        games: Annotated[int, options.games(" played side by side; with many cores take 64 for each")] = 256,
        seed: Annotated[int, options.seed("of the network and the games")] = 0,
        minutes: _Minutes = None,
        steps: Annotated[int | None, options.steps("; the search takes each of them")] = None,
        simulations: Annotated[
            int, typer.Option(min=1, help="Simulations of each decision of the search.", metavar="N")
        ] = 64,
        device: options.Device = "cpu",
        output: Annotated[Path, options.output("checkpoints and the log")] = Path("runs/expert"),
    ) -> None:
        """Improve a policy by expert iteration: a search with the network plays, and the network learns from it."""
        imported("tabletop_training.expert", extra="train").main(
            line.game,
            policy,
            minutes=minutes,
            steps=steps,
            simulations=simulations,
            games=games,
            device=device,
            seed=seed,
            output=output,
        )
