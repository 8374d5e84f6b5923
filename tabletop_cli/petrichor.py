"""The `petrichor` command: what every game has, and Petrichor's own components, studies and demonstration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from petrichor_env import __version__
from petrichor_env.component_files import COMPONENTS, KEYS
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import MAX_PLAYERS, WEATHER_NAMES
from tabletop_cli import completion, options
from tabletop_cli.app import make_app
from tabletop_cli.commands import add
from tabletop_cli.components import Section, add_components
from tabletop_cli.line import MEASURE, TRAIN, CommandLine
from tabletop_cli.measure import go_on, players_of, replay_files
from tabletop_cli.modules import imported
from tabletop_cli.options import agent_names, given
from tabletop_cli.output import json_to
from tabletop_cli.run import run_app
from tabletop_cli.switches import Fields
from tabletop_cli.tune import tune

LINE = CommandLine(
    name="petrichor",
    command="petrichor",
    home="petrichor_env.game",
    version=__version__,
    help="Play Petrichor and its solo game, the Southern Winds, measure agents and train them.",
    config=Config,
    players=tuple(range(1, MAX_PLAYERS + 1)),
    opponent="the Southern Winds",
    curriculum=f"all {2 ** len(VARIANTS)} sets of variants, the easy ones first",
    # the upper half of the ladder nearly always wins the base game
    ladder={1: {"variants": ("double_card",)}, 2: {}, 3: {}, 4: {}},
    table="tabletop_training.petrichor.benchmark",
    tasks="tabletop_training.petrichor.tasks",
    benchmarks="petrichor",
    images=True,
)

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


def difficulty(
    *,
    agents: options.AnyAgents = None,
    switches: Annotated[dict[str, Any], Fields(only=("modules", "components"))],
    more_agents: options.MoreAgents = None,
    resume: Annotated[Path | None, options.resume(". Agents can be added")] = None,
    games: Annotated[int | None, options.games(" of each agent with each set of variants", "1000")] = None,
    search_games: Annotated[int | None, options.search_games("200")] = None,
    editions: Annotated[
        int | None,
        options.editions("with other numbers on the pieces, drawn from their ranges, for further games", "none"),
    ] = None,
    edition_games: Annotated[
        int | None, options.games(" of each agent and set with each of the editions", "20, none of searches")
    ] = None,
    effect_games: Annotated[int | None, options.effect_games("agent and set", "200")] = None,
    seed: options.FirstSeed = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[Path | None, options.output("report, pictures and tables", "runs/difficulty")] = None,
    json: options.Json = None,
    save_replays: options.SaveReplays = None,
    replay_games: options.ReplayGames = None,
    replay_probabilities: options.ReplayProbabilities = False,
) -> None:
    """Measure how hard each set of the solo variants is: a report, with random, greedy and policy:solo."""
    with json_to(json) as on_result, players_of(workers, ray) as players:
        imported("tabletop_training.petrichor.difficulty", extra="evaluate").main(
            agent_names(more_agents, agents),
            games=games,
            search_games=search_games,
            editions=editions,
            edition_games=edition_games,
            effect_games=effect_games,
            seed=seed,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=players,
            output=output,
            resume=resume,
            on_result=on_result,
            **switches,
        )


def strength(
    policy: Annotated[str | None, options.policy(default="solo")] = None,
    resume: Annotated[Path | None, options.resume()] = None,
    games: Annotated[int | None, options.games(" of each row with a search, ten times as many without", "400")] = None,
    seed: options.FirstSeed = None,
    part: Annotated[
        str | None,
        typer.Option(
            help="Measure this part only: ablations or curve.",
            metavar="PART",
            show_default="both",
            autocompletion=completion.one_of("ablations", "curve"),
        ),
    ] = None,
    cores: options.Cores = None,
    workers: options.Workers = None,
    ray: options.Ray = None,
    output: Annotated[
        Path | None, options.output("strength.json and a picture; games that it has are kept", "runs/strength")
    ] = None,
    json: options.Json = None,
) -> None:
    """Measure what each part of the search with a network brings in solo, and what more time to think does."""
    module = imported("tabletop_training.petrichor.strength", extra="train")
    with json_to(json) as on_result, players_of(workers, ray) as players:
        how: Any = {"workers": players, "on_result": on_result}
        asked = given(policy=policy, games=games, seed=seed, part=part, output=output)
        if resume is not None:
            go_on(module, resume, refused=asked, **how)
        else:
            module.main(**asked, **how)


def demo(
    games: Annotated[int, options.games(" of each agent with each set of variants")] = 400,
    seed: Annotated[int, options.seed("of the training and the games")] = 0,
    minutes: Annotated[float, options.minutes()] = 3.0,
    cores: options.Cores = None,
    output: Annotated[Path, options.output("checkpoint, pictures and tables")] = Path("runs/demo"),
    json: options.Json = None,
) -> None:
    """Train an agent against the Southern Winds, then compare it with greedy on every difficulty."""
    with json_to(json) as on_result:
        imported("tabletop_training.petrichor.demo", extra="train").main(
            minutes=minutes, output=output, games=games, seed=seed, on_result=on_result
        )


app = make_app(LINE)
add_components(app, LINE, COMPONENTS, _sections())
add(
    app,
    LINE,
    MEASURE,
    tune,
    "tune win_rate=0.5 --variants double_card,non_random_targets,no_more_tricks,one_more_turn",
    "tune margin=0 --components ideas.toml",
    file=COMPONENTS,
)
add(
    app,
    LINE,
    MEASURE,
    difficulty,
    "difficulty --agents greedy --games 200",
    "difficulty --editions 200",
    "difficulty ismcts-200 --resume runs/difficulty",
)
add(app, LINE, MEASURE, strength, "strength --part curve")
add(app, LINE, TRAIN, demo, "demo --minutes 1 --games 100")
