"""The commands that measure agents: `evaluate`, `tournament`, `ladder`, `benchmark`, and those by text."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any

import typer

from tabletop_cli import completion, options
from tabletop_cli.commands import add
from tabletop_cli.line import MEASURE, CommandLine
from tabletop_cli.modules import imported
from tabletop_cli.options import agent_names, given, whole_numbers, words
from tabletop_cli.output import json_to
from tabletop_cli.switches import Fields, Switches
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.text.words import either, spelled


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""
    ways = []
    if line.several:
        span = " to ".join(map(spelled, dict.fromkeys((line.least_several, line.players[-1]))))
        ways.append(f"{span} agents play against each other, with seats rotated")
    if line.alone:
        ways.append(f"{'each of them' if line.several else 'agents play'} alone{line.against}")
    examples = ["evaluate random greedy --games 200"]
    if line.alone and line.several:
        examples.append("evaluate greedy rollout --solo")
    add(app, line, MEASURE, evaluate, *examples, help=f"Measure how well {', or '.join(ways)}.")
    if line.several:
        add(app, line, MEASURE, tournament, "tournament random greedy rollout --games 100")
    if line.ladder:
        add(app, line, MEASURE, ladder, "ladder --players 2")
    if line.table:
        add(app, line, MEASURE, benchmark, "benchmark my_module:MyAgent --quick")
    if line.tasks:
        played = "suite solo-v1 greedy" if line.alone and line.opponent else "suite two-players-v1 greedy"
        add(app, line, MEASURE, suite, "suite", played)
        add(app, line, MEASURE, verify, "verify runs/suite/FILE.results")
    add(app, line, MEASURE, runs, "runs runs/mine other.csv")
    if 2 in line.players:
        add(app, line, MEASURE, benchmark_text, "benchmark-text model:my_model:ask")
    add(app, line, MEASURE, text_positions, "text-positions --positions 500")


def replay_files(folder: Path | None, most: int | None, probabilities: bool) -> Any:
    """The files for an evaluation's games."""
    return imported("tabletop_training.files.tables", extra="evaluate").ReplayFiles(folder, most, probabilities)


def players_of(workers: int | None, ray: str | None) -> AbstractContextManager[Any]:
    """The workers that play, from a command's options."""
    if workers == 0:
        raise TabletopError("workers=0: must be at least 1")
    return imported("tabletop_training.measure.cluster", extra="evaluate").workers(workers, ray)


def go_on(module: Any, folder: Path, *of: Any, refused: dict[str, Any], **how: Any) -> None:
    """Go on with a command's folder by its module. Raises ConfigError for refused options that were given."""
    allowed = "agents of your own that it names, whose code then runs, and who plays"
    imported("tabletop_training.files.job", extra="evaluate").refuse_with_resume(allowed, **refused)
    module.resume(folder, *of, **how)


def _solo(line: CommandLine) -> Any:
    """The option for the game for one; None where there is nothing to choose."""
    if not (line.alone and line.several):
        return None
    return typer.Option("--solo", help=f"Each agent plays {line.opponent or 'alone'}, on the same seeds.")


def evaluate(
    line: CommandLine,
    *,
    agents: options.AnyAgents = None,
    solo: Annotated[bool, _solo] = False,
    switches: Switches,
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[
        int | None,
        options.games(
            " of each agent, rounded up to whole rotations of the seats", "1000; at most 20000 with --until-width"
        ),
    ] = None,
    seed: options.FirstSeed = None,
    until_width: Annotated[
        float | None,
        typer.Option(help="Stop when the intervals of win rates are this narrow, such as 0.05.", metavar="WIDTH"),
    ] = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("JSON and CSV files", "runs/evaluate")] = None,
    json: options.Json = None,
    save_replays: options.SaveReplays = None,
    replay_games: options.ReplayGames = None,
    replay_probabilities: options.ReplayProbabilities = False,
) -> None:
    """Measure how well agents play."""
    matches = imported("tabletop_training.measure.matches", extra="evaluate")
    with json_to(json) as on_result, players_of(workers, ray) as players:
        replays = replay_files(save_replays, replay_games, replay_probabilities)
        how: Any = {"replays": replays, "workers": players, "on_result": on_result}
        asked = given(games=games, seed=seed, until_width=until_width, output=output)
        if resume is not None:
            refused = {**asked, **switches, **given(solo=solo or None)}
            go_on(matches, resume, line.game, agents or (), refused=refused, **how)
        else:
            names = agents or ()
            config = matches.config_for(line.game, len(names), alone=solo, **switches) if names else line.config()
            matches.main(names, config, **asked, **how)


def _several_players(line: CommandLine) -> Any:
    """The option for a number of players that is not one; None where there is only one such number."""
    numbers = [number for number in line.players if number > 1]
    if len(numbers) == 1:
        return None
    told = f"Number of players: {either(numbers)}, in each game."
    return typer.Option(help=told, metavar="N", show_default=str(numbers[0]))


def tournament(
    line: CommandLine,
    *,
    agents: options.AnyAgents = None,
    players: Annotated[int | None, _several_players] = None,
    switches: Annotated[dict[str, Any], Fields(several=True)],
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[int | None, options.games(" of each pairing, or of each group of players", "200")] = None,
    seed: options.FirstSeed = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("JSON and CSV files, and a picture", "runs/tournament")] = None,
    json: options.Json = None,
    save_replays: options.SaveReplays = None,
    replay_games: options.ReplayGames = None,
    replay_probabilities: options.ReplayProbabilities = False,
) -> None:
    """Let all agents play against all others: a cross table and ratings."""
    module = imported("tabletop_training.measure.tournament", extra="evaluate")
    with json_to(json) as on_result, players_of(workers, ray) as who:
        replays = replay_files(save_replays, replay_games, replay_probabilities)
        how: Any = {"replays": replays, "workers": who, "on_result": on_result}
        asked = given(games=games, seed=seed, output=output)
        if resume is not None:
            refused = {**asked, **switches, **given(players=players)}
            go_on(module, resume, line.game, agents or (), refused=refused, **how)
        else:
            config = line.game.config(players=players or line.least_several, **switches)
            module.main(agents or (), config, **asked, **how)


def ladder(
    line: CommandLine,
    *,
    players: Annotated[str, lambda line: options.player_counts("; 1 is solo", ",".join(map(str, line.ladder)))] = "",
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[int | None, options.games(" of each step", "480; fewer for slow agents")] = None,
    seed: options.FirstSeed = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("ladder.json; games that it has are kept", "runs/ladder")] = None,
    json: options.Json = None,
) -> None:
    """Measure whether each agent, from random to ismcts-2000, is better than the one below it."""
    module = imported("tabletop_training.measure.ladder", extra="evaluate")
    configs = [line.config(players=number, **switches) for number, switches in line.ladder.items()]
    counts = whole_numbers("players", players, "whole numbers separated by commas, such as 1,2")
    with json_to(json) as on_result, players_of(workers, ray) as who:
        how: Any = {"workers": who, "on_result": on_result}
        asked = given(players=counts or None, games=games, seed=seed, output=output)
        if resume is not None:
            go_on(module, resume, configs, refused=asked, **how)
        else:
            module.main(configs, **asked, **how)


def benchmark(
    line: CommandLine,
    *,
    agents: options.AnyAgents = None,
    switches: Annotated[dict[str, Any], Fields(only=("components",))],
    more_agents: options.MoreAgents = None,
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[
        int | None,
        options.games(" of each agent alone, with each set of variants if there are any", "1000"),
    ] = None,
    search_games: Annotated[int | None, options.search_games("100")] = None,
    duel_games: Annotated[int | None, options.number("Number of games of each two agents.", "200")] = None,
    quick: options.Quick = False,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[
        Path | None,
        options.output(
            "benchmark.json, which is continued, a table and a page", "runs/benchmark, or runs/benchmark-quick"
        ),
    ] = None,
    json: options.Json = None,
) -> None:
    """Make the reference table of agents, or find an agent's place in it."""
    module = imported("tabletop_training.measure.benchmark", extra="evaluate")
    plan = imported(line.table, extra="evaluate").PLAN
    with json_to(json) as on_result, players_of(workers, ray) as players:
        how: Any = {"workers": players, "on_result": on_result}
        asked = given(games=games, search_games=search_games, duel_games=duel_games, output=output)
        if resume is not None:
            refused = {**asked, **switches, **given(quick=quick or None)}
            go_on(module, resume, plan, agent_names(more_agents, agents), refused=refused, **how)
        else:
            module.main(plan, agent_names(more_agents, agents), quick=quick, **asked, **switches, **how)


def tasks_of(line: CommandLine) -> Any:
    """The game's tasks by name."""
    found = imported(line.tasks, extra="evaluate").TASKS
    return imported("tabletop_training.suite.tasks", extra="evaluate").by_name(found)


def suite(
    line: CommandLine,
    *,
    task: Annotated[
        str | None, typer.Argument(help="A task. Without one, they are listed.", metavar="TASK", show_default=False)
    ] = None,
    agents: options.AnyAgents = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="The name under which training runs are averaged.", metavar="NAME", show_default="the runs' folder"
        ),
    ] = None,
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[int | None, options.games(" of each part, for slow agents", "10000")] = None,
    salt: Annotated[
        str | None,
        typer.Option(help="A public text from which the seeds follow.", metavar="TEXT", show_default="the suite's"),
    ] = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("results files and scores.csv", "runs/suite")] = None,
    json: options.Json = None,
) -> None:
    """List the tasks of the suite, or play one: each agent gets a results file that anybody can check."""
    module = imported("tabletop_training.suite.play", extra="evaluate")
    with json_to(json) as on_result, players_of(workers, ray) as players:
        how: Any = {"workers": players, "on_result": on_result}
        asked = given(learner=learner, games=games, salt=salt, output=output)
        if resume is not None:
            names = [*([task] if task else []), *(agents or ())]
            go_on(module, resume, tasks_of(line), names, refused=asked, **how)
        else:
            module.main(tasks_of(line), task, agents or (), **asked, **how)


def verify(
    line: CommandLine,
    *,
    file: Annotated[Path, typer.Argument(help="A results file of `suite`.", metavar="FILE", dir_okay=False)],
    cores: options.Cores = None,
    json: options.Json = None,
) -> None:
    """Play all games of a results file again by the rules, without its agent, and compare the table."""
    with json_to(json) as on_result:
        module = imported("tabletop_training.suite.play", extra="evaluate")
        module.verify(file, tasks_of(line), on_result=on_result)


def runs(
    line: CommandLine,
    *,
    places: Annotated[
        list[str],
        typer.Argument(help="Folders of runs, or files like scores.csv, also of other learners.", metavar="RUNS"),
    ],
    output: Annotated[Path, options.output("tables and pictures")] = Path("runs/runs"),
    json: options.Json = None,
) -> None:
    """Say what several training runs show together: means with intervals over seeds, curves, and profiles."""
    with json_to(json) as on_result:
        module = imported("tabletop_training.suite.runs", extra="evaluate")
        module.main(line.game, places, output=output, on_result=on_result)


def benchmark_text(
    line: CommandLine,
    *,
    agent: Annotated[
        str | None,
        typer.Argument(
            help="The player, such as model:MODULE:FUNCTION.",
            metavar="AGENT",
            autocompletion=completion.agents,
            show_default=False,
        ),
    ] = None,
    switches: Annotated[dict[str, Any], Fields(several=True)],
    rungs: Annotated[
        str,
        typer.Option(
            help="Agents to play against, the weakest first, separated by commas.",
            metavar="NAMES",
            show_default="random to policy:versus",
        ),
    ] = "",
    resume: Annotated[Path | None, options.resume()] = None,
    seeds: Annotated[
        int | None, options.number("Seeds of each rung, in fours; both seats play each.", "20", most=100_000)
    ] = None,
    until_width: Annotated[
        float | None,
        typer.Option(
            help="Stop when the intervals of win rates are this narrow, such as 0.2: each rung's own.",
            metavar="WIDTH",
        ),
    ] = None,
    every_rung: Annotated[bool, typer.Option("--every-rung", help="Play on after a rung that is not beaten.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only tell how many calls and tokens it would take.")
    ] = False,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[
        Path | None,
        options.output("benchmark-text.json, which is continued, its games and a page", "runs/benchmark-text"),
    ] = None,
    json: options.Json = None,
) -> None:
    """Measure a language model on fixed seeds, from both seats, against agents of rising strength."""
    module = imported("tabletop_text.benchmark", extra="evaluate")
    with json_to(json) as on_result, players_of(workers, ray) as players:
        how: Any = {"workers": players, "on_result": on_result}
        asked = given(seeds=seeds, until_width=until_width, every_rung=every_rung or None, output=output)
        if resume is not None:
            refused = {**asked, **switches, **given(estimate=estimate or None)}
            go_on(module, resume, line.game, words(f"{agent or ''},{rungs}"), refused=refused, **how)
        elif agent is None:
            raise ConfigError("agent: name the player, such as model:MODULE:FUNCTION")
        else:
            config = line.game.config(players=2, **switches)
            module.main(agent, config, rungs=words(rungs), estimate_only=estimate, **asked, **how)


def text_positions(
    line: CommandLine,
    *,
    players: options.Players = None,
    switches: Switches,
    judge: Annotated[
        str,
        options.agent("The agent that judges: a search, greedy or rollout.", "the one that gives hints in play"),
    ] = "",
    player: Annotated[
        str, options.agent("The agent that plays the games; a quarter of their decisions are random.")
    ] = "greedy",
    positions: Annotated[int, options.number("Number of positions.", most=1_000_000)] = 100,
    seed: options.FirstSeed = None,
    cores: options.Cores = None,
    output: Annotated[Path, typer.Option(help="File for the positions.", metavar="FILE")] = Path(
        "runs/text-positions.jsonl"
    ),
    json: options.Json = None,
) -> None:
    """Write single positions as messages for language models, each answer judged by an agent, as JSON lines."""
    game = line.game
    with json_to(json) as on_result:
        imported("tabletop_text.positions", extra="evaluate").main(
            game,
            game.config(**given(players=players), **switches),
            positions=positions,
            judge=judge,
            player=player,
            output=output,
            on_result=on_result,
            **given(seed=seed),
        )
