"""The `petrichor` command: what every game has, and Petrichor's own components, studies and demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from petrichor_env import __version__
from petrichor_env.component_files import COMPONENTS, KEYS
from petrichor_env.config import Config
from petrichor_env.state import MAX_PLAYERS, WEATHER_NAMES
from tabletop_cli.app import (
    LARGEST_SEED,
    MOST_GAMES,
    AnyAgents,
    CommandLine,
    FirstSeed,
    MoreAgents,
    MostWorkers,
    Overlay,
    Ray,
    ReplayGames,
    ReplayProbabilities,
    SaveReplays,
    agent_names,
    imported,
    make_app,
    players_of,
    replay_files,
    run_app,
)
from tabletop_cli.components import Section, add_components
from tabletop_cli.options import given, words

LINE = CommandLine(
    name="petrichor",
    home="petrichor_env.game",
    version=__version__,
    help="Petrichor and its solo game, the Southern Winds, for programs.",
    config=Config,
    players=tuple(range(1, MAX_PLAYERS + 1)),
    opponent="the Southern Winds",
    curriculum="all 16 sets of variants, the easy ones first",
    # the base game is won by the upper half of the ladder nearly always
    ladder={1: {"variants": ("double_card",)}, 2: {}, 3: {}, 4: {}},
    table="tabletop_training.petrichor.benchmark",
    benchmarks="petrichor",
)
app, _ = make_app(LINE)

# What each Southern Winds card does (Southern Winds Card Reference)
_WINDS_ABILITIES = (
    "a neutral drop onto a tile",
    "two neutral drops onto a tile",
    "one of your drops off a tile",
    "a new cloud with two neutral drops",
    "a neutral drop into a cloud",
    "a neutral drop into a cloud",
    "a mixed cloud goes north-west",
    "a neutral cloud goes south-east",
    "Reshuffle & Redraw",
)


def main(args: Sequence[str] | None = None) -> None:
    """Run the command and exit, as `run_app` does."""
    run_app(app, LINE.name, args)


def _sections() -> list[Section]:
    tiles = [(key.split(".")[1].capitalize(), KEYS[key].meaning, key) for key in KEYS if key.startswith("tiles.")]
    copies = [(KEYS[key].meaning, key) for key in KEYS if key.startswith("action_cards.")]
    cards = [(kind.capitalize(), meaning, key) for kind in WEATHER_NAMES for meaning, key in copies]
    winds = [(str(i), what, f"southern_winds_cards.{i}") for i, what in enumerate(_WINDS_ABILITIES, start=1)]
    others = (
        ("Voting Wins track", "voting_wins_track.points"),
        ("Harvest die", "harvest_die.sides"),
        ("Drops", "pieces.drops"),
        ("Votes", "pieces.votes"),
        ("Clouds", "pieces.clouds"),
        ("Wheat tokens", "pieces.wheat_bonus"),
        ("Fertilizer tokens", "pieces.fertilizer_tokens"),
        ("Dandelion pods", "pieces.pods"),
        ("Primrose bloom tokens", "pieces.primrose_blooms"),
    )
    return [
        ("Tiles", "tile", tiles),
        ("Action cards", "card", cards),
        ("Southern Winds cards (icons: neutral votes, Harvest)", "card", winds),
        ("Track, die and pieces", "piece", [(name, KEYS[key].meaning, key) for name, key in others]),
    ]


add_components(app, lambda: COMPONENTS, _sections)


@app.command()
def demo(
    minutes: Annotated[float, typer.Option(min=0.0, help="How long to train.")] = 5.0,
    output: Annotated[Path, typer.Option(help="Folder for checkpoint, pictures and tables.")] = Path("runs/demo"),
    games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="Games for each row of the table.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of the training and of the games.")] = 0,
) -> None:
    """Train an agent against the Southern Winds, then compare it with others on every difficulty."""
    imported("tabletop_training.petrichor.demo", extra="train").main(
        minutes=minutes, output=output, games=games, seed=seed
    )


@app.command()
def difficulty(
    agents: AnyAgents = None,
    more_agents: MoreAgents = None,
    games: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_GAMES, help="Games of each agent with each set of variants.", show_default="1000"),
    ] = None,
    search_games: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_GAMES, help="The same for rollout and ismcts, which are slow.", show_default="200"
        ),
    ] = None,
    seed: FirstSeed = None,
    modules: Annotated[str, typer.Option(help="Promos and Flowers, with commas between.", metavar="NAMES")] = "",
    components: Overlay = None,
    save_replays: SaveReplays = None,
    replay_games: ReplayGames = None,
    replay_probabilities: ReplayProbabilities = False,
    workers: MostWorkers = None,
    ray: Ray = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for report, pictures and tables.", show_default="runs/difficulty")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Folder of a study to go on with, or to add agents to.", metavar="FOLDER")
    ] = None,
) -> None:
    """How hard is each of the 16 combinations of the solo variants? A report, with random, greedy and policy:solo."""
    with players_of(workers, ray) as players:
        imported("tabletop_training.petrichor.difficulty", extra="evaluate").main(
            agent_names(agents, more_agents),
            games=games,
            search_games=search_games,
            seed=seed,
            modules=words(modules),
            components=components,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=players,
            output=output,
            resume=resume,
        )


@app.command()
def strength(
    policy: Annotated[str, typer.Option(help="A checkpoint with an outlook, or a shipped policy by name.")] = "solo",
    games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Games of each row; ten times as many without a search.")
    ] = 400,
    seed: FirstSeed = None,
    part: Annotated[
        str | None,
        typer.Option(help="Measure this part alone: ablations or curve.", metavar="PART", show_default="both"),
    ] = None,
    output: Annotated[
        Path, typer.Option(help="Folder for strength.json, whose rows are kept, and the picture.")
    ] = Path("runs/strength"),
) -> None:
    """What each part of the search with a network brings in solo, and what more time to think does."""
    imported("tabletop_training.petrichor.strength", extra="train").main(
        policy, games=games, part=part, output=output, **given(seed=seed)
    )
