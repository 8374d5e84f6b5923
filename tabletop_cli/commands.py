"""The commands that every game has: functions of its `CommandLine`, whose other parameters become options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.text import Text

from tabletop.errors import ConfigError, TabletopError
from tabletop.extras import extra_text
from tabletop.screen import Screen
from tabletop.words import shown
from tabletop_cli.completion import agents as agent_words
from tabletop_cli.completion import one_of, policies
from tabletop_cli.line import CommandLine
from tabletop_cli.options import given, whole_numbers, words
from tabletop_cli.output import check_outputs, json_to
from tabletop_cli.shared import (
    MOST_GAMES,
    Agents,
    AnyAgents,
    Device,
    Games,
    Json,
    LearningRay,
    LearningWorkers,
    Minutes,
    MoreAgents,
    Output,
    PlayerCounts,
    Players,
    Policy,
    Quick,
    Ray,
    ReplayFile,
    ReplayGames,
    ReplayProbabilities,
    Resume,
    SaveReplays,
    SearchGames,
    Seat,
    Seed,
    Settings,
    Steps,
    Trust,
    Workers,
)

SHIPPED = ("petrichor_env.game", "evergreen_env.game")
"""The games of this distribution."""

_OWN_FOLDERS = ("benchmarks", "tabletop", "tabletop_agents", "tabletop_training")


def train(
    line: CommandLine,
    settings: Settings = None,
    players: PlayerCounts = "",
    curriculum: Annotated[bool, typer.Option("--curriculum", help="Learn {curriculum}.")] = False,
    *,
    switches: dict[str, Any],
    start: Annotated[
        str | None,
        typer.Option(
            help="A checkpoint, or the name of a shipped policy, to go on from.",
            metavar="POLICY",
            autocompletion=policies,
        ),
    ] = None,
    rival: Annotated[
        str | None,
        typer.Option(
            help="A checkpoint, or the name of a shipped policy, that has all other seats.",
            metavar="POLICY",
            autocompletion=policies,
        ),
    ] = None,
    resume: Resume = None,
    trust: Trust = "",
    seed: Seed = None,
    minutes: Minutes = None,
    steps: Steps = None,
    device: Device = "cpu",
    workers: LearningWorkers = None,
    ray: LearningRay = None,
    config: Annotated[str | None, typer.Option(hidden=True)] = None,
    output: Output = None,
    json: Json = None,
) -> None:
    """Train an agent by PPO, in all seats of games against itself, earlier selves and other agents, by settings."""
    numbers = whole_numbers("players", players, "numbers of players, separated by commas")
    changes = {"players": tuple(numbers) or None, "curriculum": curriculum or None, **switches}
    if config is not None:
        print("--config will be gone in 0.4.0: write `train SETTINGS`", file=sys.stderr)
        output = output or (Path("runs") / settings if settings and resume is None else None)
        settings = config
    told: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "device": device}
    told |= {"start": start, "rival": rival, "resume": resume, "trust": words(trust), "workers": workers, "ray": ray}
    with json_to(json) as on_result:
        learn = imported("tabletop_training.learn.train", extra="train").main
        learn(line.game, settings, on_result=on_result, **told, **changes)


def compile_all(line: CommandLine) -> None:
    """Compile rules and searches ahead of their first use, for an image or a folder that many machines share."""
    from tabletop.cache import CACHE_VARIABLE, code_folder, is_kept
    from tabletop.position import positions_of
    from tabletop_agents.search.lookahead import search_for

    if not is_kept():
        raise ConfigError(f"nothing is compiled, as it could not be kept: set {CACHE_VARIABLE} to another folder")
    parts = ["rules", "positions one by one", "searches"]
    positions_of(line.game.config(players=line.game.players[0]))
    search_for(line.game)
    if find_spec("torch") is not None:
        from tabletop_agents.search.guided_search import guided_search_for

        guided_search_for(line.game)
        parts.append("search with a network")
    print(f"{line.game.title}: {', '.join(parts)}: compiled in {code_folder()}")


def distil(
    line: CommandLine,
    source: Annotated[
        str,
        typer.Argument(
            help="Where the targets come from: {sources}.",
            metavar="SOURCE",
            autocompletion=one_of("outcomes", "images", "search"),
        ),
    ],
    policy: Policy,
    games: Games = None,
    seed: Seed = 0,
    minutes: Minutes = None,
    steps: Steps = None,
    simulations: Annotated[
        int | None, typer.Option(min=1, help="Simulations of each decision of the search.", metavar="N")
    ] = None,
    more_weight: Annotated[
        float | None,
        typer.Option(
            help="With images: how much a point of shortfall counts more afterwards, in nats.", metavar="NATS"
        ),
    ] = None,
    device: Device = "cpu",
    output: Output = None,
    half: Annotated[bool, typer.Option("--half", help="Save the weights in half precision: half the file.")] = False,
) -> None:
    """Teach a policy by targets: how its games end, {of_images}or what a search with it finds."""
    learn = imported("tabletop_training.learn.distil", extra="train").main
    told: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "device": device}
    told |= {"games": games, "simulations": simulations, "more_weight": more_weight}
    learn(line.game, source, policy, half=half, **told)


def replay_files(folder: Path | None, most: int | None, probabilities: bool) -> Any:
    """Where an evaluation keeps its games."""
    return imported("tabletop_training.evaluation_files", extra="evaluate").ReplayFiles(folder, most, probabilities)


def players_of(workers: int | None, ray: str | None) -> Any:
    """Who plays: a context manager, as commands take it."""
    if workers == 0:
        raise TabletopError("workers=0: must be at least 1")
    return imported("tabletop_training.cluster", extra="evaluate").workers(workers, ray)


def evaluate(
    line: CommandLine,
    solo: Annotated[bool, typer.Option("--solo", help="Each agent plays {alone}, on the same seeds.")] = False,
    *,
    switches: dict[str, Any],
    agents: Agents,
    games: Games = None,
    seed: Seed = None,
    until_width: Annotated[
        float | None,
        typer.Option(help="Stop when the intervals of win rates are this narrow, such as 0.05.", metavar="WIDTH"),
    ] = None,
    workers: Workers = None,
    ray: Ray = None,
    output: Output = Path("runs/evaluate"),
    json: Json = None,
    save_replays: SaveReplays = None,
    replay_games: ReplayGames = None,
    replay_probabilities: ReplayProbabilities = False,
) -> None:
    """Measure how well {compared}."""
    matches = imported("tabletop_training.matches", extra="evaluate")
    with json_to(json) as on_result, players_of(workers, ray) as players:
        matches.main(
            agents,
            matches.config_for(line.game, len(agents), alone=solo, **switches),
            games=games,
            until_width=until_width,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=players,
            output=output,
            on_result=on_result,
            **given(seed=seed),
        )


def dataset(
    line: CommandLine,
    switches: dict[str, Any],
    agents: Agents,
    games: Games = 100,
    seed: Seed = None,
    reward: Annotated[
        str | None,
        typer.Option(
            help="Rewards: win, margin or points.",
            metavar="NAME",
            autocompletion=one_of("win", "margin", "points"),
        ),
    ] = None,
    observation_dtype: Annotated[
        str,
        typer.Option(
            help="Numbers of observations: int8 for plain counts, or float32.",
            metavar="DTYPE",
            autocompletion=one_of("int8", "float32"),
        ),
    ] = "int8",
    output: Output = Path("runs/datasets"),
    name: Annotated[str, typer.Option(help="Name of the data set.", metavar="NAME")] = "",
) -> None:
    """Write games of agents as a Minari data set, with an episode for each seat."""
    dataset = imported("tabletop_training.dataset", extra="dataset")
    matches = imported("tabletop_training.matches", extra="evaluate")
    config = matches.config_for(line.game, len(agents), alone=len(agents) == 1, **switches)
    told = {"reward": reward, "observation_dtype": observation_dtype, "name": name, "output": output}
    dataset.main(matches.make_agents(agents, config), config, games=games, **told, **given(seed=seed))


def tournament(
    line: CommandLine,
    players: Players = None,
    *,
    switches: dict[str, Any],
    agents: Agents,
    games: Games = 200,
    seed: Seed = None,
    workers: Workers = None,
    ray: Ray = None,
    output: Output = Path("runs/tournament"),
    json: Json = None,
    save_replays: SaveReplays = None,
    replay_games: ReplayGames = None,
    replay_probabilities: ReplayProbabilities = False,
) -> None:
    """Let all agents play against all others: a cross table and ratings."""
    with json_to(json) as on_result, players_of(workers, ray) as who:
        imported("tabletop_training.tournament", extra="evaluate").main(
            agents,
            line.game.config(players=line.least_several if players is None else players, **switches),
            games=games,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=who,
            output=output,
            on_result=on_result,
            **given(seed=seed),
        )


def play(
    line: CommandLine,
    switches: dict[str, Any],
    agents: AnyAgents = None,
    people: Annotated[
        str,
        typer.Option(help="Seats of people, counted from 0, separated by commas.", metavar="SEATS", show_default="0"),
    ] = "",
    hints: Annotated[
        str,
        typer.Option(
            help="The agent that ? asks for a hint.",
            metavar="AGENT",
            show_default="the strongest shipped one",
            autocompletion=agent_words,
        ),
    ] = "",
    resume: Annotated[Path | None, typer.Option(help="Continue a saved game.", metavar="FILE")] = None,
    trust: Trust = "",
    seed: Seed = None,
    web: Annotated[bool, typer.Option("--web", help="Play in a browser. The command web offers more.")] = False,
) -> None:
    """Play in the terminal or in a browser: {played}."""
    settings: dict[str, Any] = {
        "people": whole_numbers("people", people, "seats separated by commas, such as 0,2"),
        "seed": seed,
        "resume": resume,
        "trust": words(trust),
        **({"hints": hints} if hints else {}),
        **switches,
    }
    if not web:
        import_module("tabletop_agents.play.terminal").main(line.game, agents or (), **settings)
        return
    server = imported("tabletop_agents.web.server", extra="web")
    sessions = import_module("tabletop_agents.play.session")
    session = sessions.started(sessions.Session, line.game, agents or (), **settings)
    more = [*(agent.name for agent in session.agents.values()), *([hints] if hints else [])]
    server.main(_homes(line), session=session, agents=list(dict.fromkeys(more)))


def web(
    line: CommandLine,
    agents: MoreAgents = None,
    folder: Annotated[Path, typer.Option(help="Where games are kept.", metavar="FOLDER")] = Path("runs/web"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the games that the folder keeps.")] = False,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. With another than this machine's own, such as 0.0.0.0, other devices can join; "
            "the links have a token that they need.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port to listen on; 0 takes any that is free.",
            metavar="N",
            show_default="8321, or a free one",
        ),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Serve a page to play, watch and analyse games: alone, with others on their own devices, and with agents."""
    told: dict[str, Any] = {"host": host, "port": port, "folder": folder, "resume": resume, "opens": opens}
    imported("tabletop_agents.web.server", extra="web").main(_homes(line), agents=agent_names(None, agents), **told)


def _homes(line: CommandLine) -> list[str]:
    """The games of a page: this one and the shipped ones."""
    return list(dict.fromkeys([line.home, *SHIPPED]))


def replay(
    line: CommandLine,
    file: ReplayFile,
    seat: Seat = None,
    page: Annotated[
        Path | None, typer.Option("--html", help="Write a page for a browser instead.", metavar="FILE")
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="Write an animated picture instead.", metavar="FILE")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a picture of every step instead.", metavar="FOLDER")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.02,
            max=60.0,
            help="Seconds for each step that is shown on its own.",
            metavar="SECONDS",
            show_default="0.7 in a GIF, 1 in the terminal",
        ),
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(
            min=64,
            max=4096,
            help="Width of pictures in pixels.",
            metavar="N",
            show_default="480 of a GIF, 640 of PNG",
        ),
    ] = None,
) -> None:
    """Step through a recorded game in the terminal, or make a page or pictures of it."""
    in_terminal = page is None and gif is None and png is None
    if width is not None and gif is None and png is None:
        raise TabletopError("width: only with --gif or --png")
    if seconds is not None and gif is None and not in_terminal:
        raise TabletopError("seconds: only with --gif or in the terminal")
    if in_terminal:
        import_module("tabletop.replays.viewer").main(file, line.game, seat=seat, **given(seconds=seconds))
        return
    check_outputs(file, {"--html": page, "--gif": gif, "--png": png})
    pages, pictures = import_module("tabletop.replays.page"), import_module("tabletop.replays.pictures")
    loaded = import_module("tabletop.replays.replay").Replay.load(file, line.game)
    loaded.check_seat(seat)
    size = given(width=width)
    wanted: list[tuple[Path | None, Callable[..., Any], dict[str, Any]]] = [
        (page, pages.write_page, {}),
        (gif, pictures.write_gif, size | ({} if seconds is None else {"milliseconds": round(1000 * seconds)})),
        (png, pictures.write_pngs, size),
    ]
    console = Screen()
    for path, write, options in wanted:
        if path is not None:
            with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
                task = bar.add_task(escape(shown(str(path))), total=len(loaded.actions) + 1)
                write(loaded, path, viewer=seat, on_finished=partial(bar.advance, task), **options)
            steps = round(bar.tasks[0].completed) - 1  # not those that are hidden from the seat
            console.print(
                Text.assemble((shown(str(path)), "bold"), f": {steps} step{'' if steps == 1 else 's'}"), soft_wrap=True
            )


def review(
    line: CommandLine,
    file: ReplayFile,
    agent: Annotated[
        str,
        typer.Argument(
            help="The agent that judges: a search, greedy or rollout.",
            metavar="AGENT",
            show_default="the one that gives hints in play",
            autocompletion=agent_words,
        ),
    ] = "",
    seat: Seat = None,
    moments: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="Number of decisions to show.", metavar="N")] = 10,
    json: Json = None,
) -> None:
    """Find the decisions of a recorded game at which most was given away, as an agent judges them."""
    check_outputs(file, {"--json": json})
    with json_to(json) as on_result:
        import_module("tabletop_cli.review").main(
            line.game, file, agent, seat=seat, moments=moments, on_result=on_result
        )


def ladder(
    line: CommandLine,
    players: PlayerCounts = "",
    games: Games = None,
    seed: Seed = None,
    workers: Workers = None,
    ray: Ray = None,
    output: Annotated[Path, typer.Option(help="File for the results. Steps that it has are kept.", metavar="FILE")] = (
        Path("runs/ladder.json")
    ),
    json: Json = None,
) -> None:
    """Measure whether each agent, from random to ismcts-2000, is better than the one below it."""
    counts = whole_numbers("players", players, "whole numbers separated by commas, such as 1,2")
    with json_to(json) as on_result, players_of(workers, ray) as who:
        imported("tabletop_training.ladder", extra="evaluate").main(
            [line.config(players=number, **switches) for number, switches in line.ladder.items()],
            counts or None,
            games=games,
            workers=who,
            output=output,
            on_result=on_result,
            **given(seed=seed),
        )


def agent_names(agents: list[str] | None, more_agents: list[str] | None) -> list[str]:
    """All that `AnyAgents` and `MoreAgents` name."""
    return [*words(",".join(more_agents or ())), *(agents or ())]


def benchmark(
    line: CommandLine,
    switches: dict[str, Any],
    agents: AnyAgents = None,
    more_agents: MoreAgents = None,
    games: Games = 1000,
    search_games: SearchGames = 100,
    duel_games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Number of games of each two agents.", metavar="N")
    ] = 200,
    quick: Quick = False,
    workers: Workers = None,
    ray: Ray = None,
    output: Output = None,
    json: Json = None,
) -> None:
    """Make the reference table of agents, or find an agent's place in it."""
    with json_to(json) as on_result, players_of(workers, ray) as players:
        imported("tabletop_training.benchmark", extra="evaluate").main(
            imported(line.table, extra="evaluate").PLAN,
            agent_names(agents, more_agents),
            games=games,
            search_games=search_games,
            duel_games=duel_games,
            output=output,
            quick=quick,
            workers=players,
            on_result=on_result,
            **switches,
        )


def bench(
    line: CommandLine,
    quick: Quick = False,
    only: Annotated[str | None, typer.Option(help="Run this benchmark only.", metavar="NAME")] = None,
    json: Json = None,
) -> None:
    """Measure how fast games are stepped on this machine. It needs a clone of the repository."""
    with json_to(json) as on_result:
        imported("benchmarks.run", extra="bench").main(
            name=line.benchmarks, quick=quick, only=only, on_result=on_result
        )


def imported(name: str, extra: str) -> ModuleType:
    """A module that the core can do without. Raises TabletopError if it, or something it needs, is missing."""
    if Path(*name.split(".")).with_suffix(".py").is_file() and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # an installed command does not look into the clone it is run from
    folder = name.split(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name in (folder, name):
            raise TabletopError(f"there is no {folder}/ here: run it from a clone of the repository") from None
        missing = (error.name or "").split(".")[0]
        if missing in _OWN_FOLDERS or missing.endswith("_env"):
            raise
        raise TabletopError(f"{missing} is not installed: {extra_text(extra).partition(': ')[2]}") from None
