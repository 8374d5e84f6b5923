"""The command `tune`: numbers on the pieces are changed until the game is as it should be."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tabletop_cli import completion, options
from tabletop_cli.line import CommandLine
from tabletop_cli.measure import go_on, players_of
from tabletop_cli.modules import imported
from tabletop_cli.options import given, words
from tabletop_cli.output import json_to
from tabletop_cli.switches import Switches
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.errors import ConfigError

_TARGETS = ("win_rate", "margin", "seats", "length")


def tune(
    line: CommandLine,
    file: ComponentFile,
    *,
    target: Annotated[
        str | None,
        typer.Argument(
            help="The figure and its goal: win_rate=0.5 or margin=0 of a game for one; seats=0, the largest "
            "advantage of a seat; or length=60, the decisions of a game.",
            metavar="TARGET",
            autocompletion=completion.one_of(*(f"{one}=" for one in _TARGETS)),
            show_default=False,
        ),
    ] = None,
    players: Annotated[
        int | None,
        lambda line: typer.Option(
            help="Number of players; the same agent has every seat.",
            metavar="N",
            show_default=str(line.players[0]),
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--every", help="Tune the mean over all ways to play, such as all sets of variants.")
    ] = False,
    switches: Switches,
    agent: Annotated[
        str | None, options.agent("The agent that plays.", "policy:solo or policy:versus, else greedy")
    ] = None,
    resume: Annotated[Path | None, options.resume()] = None,
    keys: Annotated[
        str | None,
        typer.Option(
            help="Keys of the component file that may change, separated by commas; each needs a range, there or in "
            "--components.",
            metavar="KEYS",
            show_default="all that have a range",
        ),
    ] = None,
    changes: Annotated[int | None, options.number("The most numbers that change.", "3", most=None)] = None,
    trials: Annotated[int | None, options.number("The most candidates that play.", "120", most=None)] = None,
    games: Annotated[int | None, options.games(" of each candidate and way to play", "256")] = None,
    verifying: Annotated[int | None, options.games(" of the result, on new seeds", "2000")] = None,
    seed: Annotated[int | None, options.seed("of the search", "0")] = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("overlay, page, picture and tables", "runs/tune")] = None,
    json: options.Json = None,
) -> None:
    """Change a few numbers until the game is as hard, as fair or as long as it should be: an overlay and a page."""
    module: Any = imported("tabletop_training.measure.tune", extra="tune")
    with json_to(json) as on_result, players_of(workers, ray) as who:
        how: Any = {"workers": who, "on_result": on_result}
        asked = given(changes=changes, trials=trials, games=games, verifying=verifying, seed=seed)
        asked |= given(every=every or None)
        if resume is not None:
            refused = {**asked, **switches, **given(target=target, players=players, keys=keys, output=output)}
            go_on(module, resume, line.game, file, words(agent or ""), refused=refused, **how)
            return
        figure, _, goal = (target or "").partition("=")
        try:
            wanted = float(goal)
        except ValueError:
            raise ConfigError(
                f"target{'' if target is None else f'={target!r}'}: say what to reach, such as win_rate=0.5: one of"
                f" {', '.join(_TARGETS)}, with a number"
            ) from None
        number = players or line.players[0]
        config = {"players": number, **switches}
        task = module.Task(figure, wanted, agent or _strongest(line, number), config, keys=words(keys or ""), **asked)
        module.main(line.game, file, task, **given(output=output), **how)


def _strongest(line: CommandLine, players: int) -> str:
    """The strongest agent without a search, for this number of players."""
    from tabletop_agents.names import shipped_policies

    wanted = "solo" if players == 1 else "versus"
    return f"policy:{wanted}" if wanted in shipped_policies(line.game) else "greedy"
