"""The `petrichor` command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from petrichor_env import __version__
from petrichor_env.component_files import KEYS, OVERLAY, Components, Numbers, load_components
from petrichor_env.state import WEATHER_NAMES
from tabletop.errors import TabletopError

app = typer.Typer(
    help="Petrichor and its solo game, the Southern Winds, for programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

_LARGEST_SEED = 2**32 - 1  # that PyTorch and NumPy take alike

_STYLES = {"rulebook": "green", "public": "green", "assumed": "yellow", OVERLAY: "cyan"}

_OWN_FOLDERS = ("benchmarks", "petrichor_env", "tabletop", "tabletop_agents", "tabletop_training")

_AGENTS_HELP = "Names of agents: random, greedy, policy:PATH … (an unknown name lists them all)."

# What several commands take
_Agents = Annotated[list[str], typer.Argument(help=_AGENTS_HELP, metavar="AGENT...")]
_AnyAgents = Annotated[list[str] | None, typer.Argument(help=_AGENTS_HELP, metavar="AGENT...", show_default=False)]
_MoreAgents = Annotated[
    list[str] | None,
    typer.Option("--agents", "--agent", help="The same: agents' names.", metavar="NAMES", show_default=False),
]
_Overlay = Annotated[
    Path | None,
    typer.Option(help="A TOML file whose numbers replace the shipped ones.", metavar="FILE", show_default=False),
]
_Rounds = Annotated[int, typer.Option(help="4 or 6.")]
_Drafting = Annotated[bool, typer.Option("--drafting", help="With the Official Drafting Variant.")]
_Modules = Annotated[str, typer.Option(help="Promos and Flowers, with commas between.", metavar="NAMES")]
_FirstSeed = Annotated[
    int | None,
    typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the first game.", show_default="beyond those of training"),
]
_Settings = Annotated[
    str | None,
    typer.Option(help="Settings: a TOML file, or a shipped one by name.", show_default=False),
]
_Minutes = Annotated[float | None, typer.Option(min=0.0, help="How long.", show_default=False)]
_Steps = Annotated[
    int | None,
    typer.Option(min=0, help="How many decisions, instead; rounded up to whole rollouts.", show_default=False),
]
_LearningSeed = Annotated[
    int | None,
    typer.Option(min=0, max=_LARGEST_SEED, help="Seed of network and games.", show_default="0"),
]
_Resume = Annotated[
    Path | None,
    typer.Option(help="Folder of a run to go on with, as it was set.", metavar="FOLDER", show_default=False),
]
_SaveReplays = Annotated[
    Path | None, typer.Option(help="Folder for a replay of every game.", metavar="FOLDER", show_default=False)
]
_ReplayGames = Annotated[
    int | None, typer.Option(min=1, help="Keep only so many of them, the first ones.", show_default="all")
]
_ReplayProbabilities = Annotated[
    bool,
    typer.Option("--replay-probabilities", help="With what agents gave their actions; searches take twice as long."),
]

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
    """Run the command and exit: 0, 2 after a user's slip (one line on stderr), 130 after Ctrl-C.

    Arguments:
        args: the words after `petrichor`; None for those of the process.
    """
    try:
        app(args=None if args is None else list(args), prog_name="petrichor")
    except TabletopError as error:
        print("petrichor:", " ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"petrichor {__version__}")
        raise typer.Exit


@app.callback()
def _petrichor(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# --- components ------------------------------------------------------------------------------------------------------


@app.command()
def components(
    overlay: _Overlay = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Print every tile, card, track, die and piece with its numbers and where each number comes from."""
    loaded = load_components(overlay)
    if as_json:
        print(json.dumps(_nested(loaded), indent=2))
        return
    console = Console()
    for title, first_column, rows in _sections():
        console.print(_table(title, first_column, rows, loaded))
        console.print()
    console.print(_note(loaded))


def _nested(loaded: Components) -> dict[str, Any]:
    """The numbers in the tables of a component file, each key as a value and its sources."""
    tree: dict[str, Any] = {}
    for key, numbers in loaded.items():
        *path, name = key.split(".")
        table = tree
        for part in path:
            table = table.setdefault(part, {})
        if numbers.single:
            table[name] = {"value": numbers.values[0], "source": numbers.sources[0]}
        else:
            table[name] = {"value": list(numbers.values), "source": list(numbers.sources)}
    return tree


def _sections() -> list[tuple[str, str, list[tuple[str, str, str]]]]:
    """Title, heading of the first column, and rows of (name, what its numbers are, key) for each printed table."""
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


def _table(title: str, first_column: str, rows: list[tuple[str, str, str]], loaded: Components) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first_column)
    table.add_column("what", ratio=1)
    table.add_column("numbers", min_width=10)
    table.add_column("source", min_width=len("rulebook"))
    before = ""
    for name, meaning, key in rows:
        if name == before:
            name = ""
        elif before and first_column == "tile":
            table.add_section()
        table.add_row(name, meaning, _values(loaded[key]), _sources(loaded[key]))
        before = name or before
    return table


def _values(numbers: Numbers) -> Text:
    if not numbers.values:
        return Text("none")
    values = Text()
    for value, source in zip(numbers.values, numbers.sources, strict=False):
        values.append(f"{value} ", _STYLES[source])
    values.rstrip()
    return values


def _sources(numbers: Numbers) -> Text:
    """One word if all numbers have the same source, else a line for each source."""
    distinct = list(dict.fromkeys(numbers.sources))
    if len(distinct) == 1:
        return Text(distinct[0], _STYLES[distinct[0]])
    lines = []
    for source in distinct:
        which = [_ordinal(i) for i, own in enumerate(numbers.sources, start=1) if own == source]
        lines.append(Text(f"{source}: {', '.join(which)}", _STYLES[source]))
    return Text("\n").join(lines)


def _ordinal(number: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(number, f"{number}th")


def _note(loaded: Components) -> Text:
    sources = [source for numbers in loaded.values() for source in numbers.sources[: len(numbers.values)]]
    note = Text(f"{sources.count('assumed')} of {len(sources)} numbers are assumed: ")
    note.append("stand-ins, not the printed ones", "yellow")
    note.append(". With the box at hand, replace them by an overlay file: docs/components.md says how.")
    return note


# --- bench, demo -----------------------------------------------------------------------------------------------------


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    only: Annotated[str | None, typer.Option(help="Run this benchmark alone.", metavar="NAME")] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the results to this file.", metavar="FILE")
    ] = None,
) -> None:
    """Measure how fast games are stepped on this machine (needs a clone of the repository)."""
    _import("benchmarks.run", extra="bench").main(quick=quick, only=only, json_path=json_path)


@app.command()
def demo(
    minutes: Annotated[float, typer.Option(min=0.0, help="How long to train.")] = 5.0,
    output: Annotated[Path, typer.Option(help="Folder for checkpoint, pictures and tables.")] = Path("runs/demo"),
    games: Annotated[int, typer.Option(min=1, help="Games for each row of the table.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, max=_LARGEST_SEED, help="Seed of the training and of the games.")] = 0,
) -> None:
    """Train an agent against the Southern Winds, then compare it with others on every difficulty."""
    _import("tabletop_training.petrichor.demo", extra="train").main(
        minutes=minutes, output=output, games=games, seed=seed
    )


# --- train -----------------------------------------------------------------------------------------------------------

train = typer.Typer(
    help="Train agents: logs, checkpoints and the settings stay in a folder, from which a run can be resumed.",
    no_args_is_help=True,
)
app.add_typer(train, name="train")


@train.command("solo")
def train_solo(
    config: _Settings = None,
    variants: Annotated[
        str | None, typer.Option(help="What is learned, with commas between.", metavar="NAMES", show_default=False)
    ] = None,
    curriculum: Annotated[
        bool, typer.Option("--curriculum", help="Learn all 16 sets of variants, the easy ones first.")
    ] = False,
    components: _Overlay = None,
    minutes: _Minutes = None,
    steps: _Steps = None,
    seed: _LearningSeed = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder for checkpoints and logs.", show_default="runs/solo")
    ] = None,
    resume: _Resume = None,
) -> None:
    """Learn the game against the Southern Winds."""
    _import("tabletop_training.solo", extra="train").main(
        settings=config,
        variants=None if variants is None else _words(variants),
        curriculum=curriculum,
        components=components,
        minutes=minutes,
        steps=steps,
        seed=seed,
        output=output,
        resume=resume,
    )


@train.command("selfplay")
def train_selfplay(
    players: Annotated[
        int | None, typer.Option(help="2, 3 or 4: of the game; default 2, or as in the settings.", show_default=False)
    ] = None,
    config: _Settings = None,
    components: _Overlay = None,
    minutes: _Minutes = None,
    steps: _Steps = None,
    seed: _LearningSeed = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for checkpoints, league and logs.", show_default="runs/selfplay"),
    ] = None,
    resume: _Resume = None,
) -> None:
    """Learn the game of several players, against a league of earlier selves and of scripted agents."""
    _import("tabletop_training.selfplay", extra="train").main(
        players=players,
        settings=config,
        components=components,
        minutes=minutes,
        steps=steps,
        seed=seed,
        output=output,
        resume=resume,
    )


# --- evaluate, tournament --------------------------------------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    """The words of an option such as `fertilizer,cactus`."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(option: str, text: str, wanted: str) -> list[int]:
    """The numbers of an option such as `1,2`. Raises TabletopError, which says what is wanted, for anything else."""
    words = _words(text)
    if not all(word.isdecimal() for word in words):
        raise TabletopError(f"{option}={text!r}: {wanted}")
    return [int(word) for word in words]


def _given(**options: Any) -> dict[str, Any]:
    """Without those that were not given, for which the function called has its own defaults."""
    return {name: value for name, value in options.items() if value is not None}


@app.command()
def evaluate(
    agents: _Agents,
    solo: Annotated[bool, typer.Option("--solo", help="Each plays the Southern Winds, on the same seeds.")] = False,
    rounds: _Rounds = 4,
    drafting: _Drafting = False,
    modules: _Modules = "",
    variants: Annotated[str, typer.Option(help="The solo game's, with commas between.", metavar="NAMES")] = "",
    components: _Overlay = None,
    games: Annotated[
        int | None,
        typer.Option(
            help="Games of each agent, rounded up to whole rotations of the seats: 1000, or at most 20000 with "
            "--until-width.",
            min=1,
            show_default=False,
        ),
    ] = None,
    seed: _FirstSeed = None,
    until_width: Annotated[
        float | None, typer.Option(help="Stop when win rates are known this well, such as 0.05.", metavar="WIDTH")
    ] = None,
    save_replays: _SaveReplays = None,
    replay_games: _ReplayGames = None,
    replay_probabilities: _ReplayProbabilities = False,
    output: Annotated[Path, typer.Option(help="Folder for JSON and CSV files.")] = Path("runs/evaluate"),
) -> None:
    """Two to five agents against each other, seats rotated; one alone against the Southern Winds."""
    _import("tabletop_training.matches", extra="train").main(
        agents,
        solo=solo,
        rounds=rounds,
        drafting=drafting,
        modules=_words(modules),
        variants=_words(variants),
        components=components,
        games=games,
        until_width=until_width,
        save_replays=save_replays,
        replay_games=replay_games,
        replay_probabilities=replay_probabilities,
        output=output,
        **_given(seed=seed),
    )


@app.command()
def tournament(
    agents: _Agents,
    players: Annotated[int, typer.Option(help="2, 3, 4 or 5 in each game.")] = 2,
    rounds: _Rounds = 4,
    drafting: _Drafting = False,
    modules: _Modules = "",
    components: _Overlay = None,
    games: Annotated[int, typer.Option(min=1, help="Games of each pairing (or group of players).")] = 200,
    seed: _FirstSeed = None,
    save_replays: _SaveReplays = None,
    replay_games: _ReplayGames = None,
    replay_probabilities: _ReplayProbabilities = False,
    output: Annotated[Path, typer.Option(help="Folder for picture, JSON and CSV files.")] = Path("runs/tournament"),
) -> None:
    """All agents against all: cross table and openskill ratings."""
    _import("tabletop_training.tournament", extra="train").main(
        agents,
        players=players,
        rounds=rounds,
        drafting=drafting,
        modules=_words(modules),
        components=components,
        games=games,
        save_replays=save_replays,
        replay_games=replay_games,
        replay_probabilities=replay_probabilities,
        output=output,
        **_given(seed=seed),
    )


# --- difficulty ------------------------------------------------------------------------------------------------------


def _names(agents: list[str] | None, more_agents: list[str] | None) -> list[str]:
    return [*_words(",".join(more_agents or ())), *(agents or ())]


@app.command()
def difficulty(
    agents: _AnyAgents = None,
    more_agents: _MoreAgents = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="Games of each agent with each set of variants.", show_default="1000")
    ] = None,
    search_games: Annotated[
        int | None,
        typer.Option(min=1, help="The same for rollout and ismcts, which are slow.", show_default="200"),
    ] = None,
    seed: _FirstSeed = None,
    modules: _Modules = "",
    components: _Overlay = None,
    save_replays: _SaveReplays = None,
    replay_games: _ReplayGames = None,
    replay_probabilities: _ReplayProbabilities = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for report, pictures and tables.", show_default="runs/difficulty"),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Folder of a study to go on with, or to add agents to.", metavar="FOLDER")
    ] = None,
) -> None:
    """How hard is each of the 16 combinations of the solo variants? A report, with random, greedy and policy:solo."""
    _import("tabletop_training.petrichor.difficulty", extra="train").main(
        _names(agents, more_agents),
        games=games,
        search_games=search_games,
        seed=seed,
        modules=_words(modules),
        components=components,
        save_replays=save_replays,
        replay_games=replay_games,
        replay_probabilities=replay_probabilities,
        output=output,
        resume=resume,
    )


@app.command()
def benchmark(
    agents: _AnyAgents = None,
    more_agents: _MoreAgents = None,
    games: Annotated[int, typer.Option(min=1, help="Solo games of each agent with each set of variants.")] = 1000,
    search_games: Annotated[int, typer.Option(min=1, help="The same for rollout and ismcts, which are slow.")] = 100,
    duel_games: Annotated[int, typer.Option(min=1, help="Two-player games of each two agents.")] = 200,
    components: _Overlay = None,
    output: Annotated[Path, typer.Option(help="Folder; its benchmark.json is gone on with.")] = Path("runs/benchmark"),
) -> None:
    """The table of docs/benchmark.md; with an agent's name, its place among the agents there."""
    _import("tabletop_training.petrichor.benchmark", extra="train").main(
        _names(agents, more_agents),
        games=games,
        search_games=search_games,
        duel_games=duel_games,
        components=components,
        output=output,
    )


@app.command()
def ladder(
    players: Annotated[
        str, typer.Option(help="Numbers of players, with commas between; 1 is solo.", metavar="NUMBERS")
    ] = "1,2,3,4",
    games: Annotated[
        int | None, typer.Option(min=1, help="Games of every step to be played; fewer for slow agents if not given.")
    ] = None,
    seed: _FirstSeed = None,
    output: Annotated[Path, typer.Option(help="JSON file; steps that it has are kept.", metavar="FILE")] = Path(
        "runs/ladder.json"
    ),
) -> None:
    """Measure whether each agent, from random to ismcts-2000, wins against the one below it."""
    numbers = _numbers("players", players, "whole numbers with commas between, such as 1,2")
    _import("tabletop_training.petrichor.ladder", extra="train").main(
        numbers, games=games, output=output, **_given(seed=seed)
    )


# --- play, replay ----------------------------------------------------------------------------------------------------


@app.command()
def play(
    agents: Annotated[
        list[str] | None,
        typer.Argument(
            help="Agents to play against; none: the Southern Winds.", metavar="AGENT...", show_default=False
        ),
    ] = None,
    people: Annotated[
        str, typer.Option(help="Seats of people, with commas between.", metavar="SEATS", show_default="0")
    ] = "",
    rounds: Annotated[int | None, typer.Option(help="4 or 6.", show_default="4")] = None,
    drafting: _Drafting = False,
    variants: Annotated[str, typer.Option(help="The solo game's, with commas between.", metavar="NAMES")] = "",
    modules: _Modules = "",
    powers: Annotated[str, typer.Option(help="Each seat's power, with commas between.", metavar="NAMES")] = "",
    components: _Overlay = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=_LARGEST_SEED, help="Of the game's chance.", show_default="another each time"),
    ] = None,
    hints: Annotated[str, typer.Option(help="The agent that ? asks.", show_default="ismcts-2000")] = "",
    resume: Annotated[
        Path | None, typer.Option(help="A saved game to go on with.", metavar="FILE", show_default=False)
    ] = None,
) -> None:
    """Play in the terminal: alone, against agents, or with others at the same keyboard."""
    import_module("tabletop_agents.play.terminal").main(
        _game(),
        agents or (),
        people=_numbers("people", people, "seats with commas between, such as 0,2"),
        rounds=rounds,
        drafting=drafting,
        variants=_words(variants),
        modules=_words(modules),
        powers=_words(powers),
        components=components,
        seed=seed,
        resume=resume,
        **({"hints": hints} if hints else {}),
    )


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A replay, as --save-replays and play leave them.", metavar="FILE")],
    seat: Annotated[
        int | None, typer.Option(help="Show what this seat sees.", metavar="SEAT", show_default="all hands")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0.02,
            max=60.0,
            help="How long a step is shown that follows on its own.",
            show_default="0.7 in a GIF, 1 in the terminal",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page for a browser instead.", metavar="FILE", show_default=False),
    ] = None,
    gif: Annotated[
        Path | None, typer.Option(help="Write an animated picture instead.", metavar="FILE", show_default=False)
    ] = None,
    png: Annotated[
        Path | None, typer.Option(help="Write a picture of every step instead.", metavar="FOLDER", show_default=False)
    ] = None,
    width: Annotated[
        int | None,
        typer.Option(min=64, max=4096, help="Of pictures, in pixels.", show_default="480 of a GIF, 640 of PNG"),
    ] = None,
) -> None:
    """Step through a game in the terminal, or make a page or pictures of it."""
    in_terminal = page is None and gif is None and png is None
    if width is not None and gif is None and png is None:
        raise TabletopError("width: of pictures, with --gif or --png")
    if seconds is not None and gif is None and not in_terminal:
        raise TabletopError("seconds: of a step in a GIF or in the terminal, not with --html or --png alone")
    if in_terminal:
        import_module("tabletop.replays.viewer").main(file, _game(), seat=seat, **_given(seconds=seconds))
        return
    _check_outputs(file, {"--html": page, "--gif": gif, "--png": png})
    pages, pictures = import_module("tabletop.replays.page"), import_module("tabletop.replays.pictures")
    loaded = import_module("tabletop.replays.replay").Replay.load(file, _game())
    loaded.check_seat(seat)
    size = _given(width=width)
    wanted: list[tuple[Path | None, Callable[..., Any], dict[str, Any]]] = [
        (page, pages.write_page, {}),
        (gif, pictures.write_gif, size | ({} if seconds is None else {"milliseconds": round(1000 * seconds)})),
        (png, pictures.write_pngs, size),
    ]
    console = Console()
    for path, write, options in wanted:
        if path is not None:
            with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
                task = bar.add_task(escape(str(path)), total=len(loaded.actions) + 1)
                write(loaded, path, viewer=seat, on_finished=partial(bar.advance, task), **options)
            steps = round(bar.tasks[0].completed) - 1  # not those that are hidden from the seat
            console.print(
                Text.assemble((str(path), "bold"), f": {steps} step{'' if steps == 1 else 's'}"), soft_wrap=True
            )


def _check_outputs(file: Path, outputs: dict[str, Path | None]) -> None:
    """Refuse, before anything is drawn, what would write over the replay or over each other, or can't be written."""
    taken = {"the replay": file}
    for option, path in outputs.items():
        if path is None:
            continue
        for what, other in taken.items():
            if path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other)):
                raise TabletopError(f"{option} {path}: the same file as {what}, which it would write over")
        taken[option] = path
        if option == "--png":
            if path.exists() and not path.is_dir():
                raise TabletopError(f"{option} {path}: is no folder")
            beside = {other.resolve().parent for other in taken.values()}
            if path.resolve() in beside or (path.exists() and any(path.iterdir())):
                raise TabletopError(f"{option} {path}: has other files in it; a new or empty folder for the pictures")
        elif path.is_dir():
            raise TabletopError(f"{option} {path}: is a folder, not a file")
        elif not path.parent.is_dir():
            raise TabletopError(f"{option} {path}: there is no folder {path.parent}")


def _game() -> Any:
    """What is played; the commands that need it take a second longer to start."""
    return import_module("petrichor_env.game").GAME


def _import(name: str, extra: str) -> ModuleType:
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
        if missing in _OWN_FOLDERS:
            raise
        raise TabletopError(f'{missing} is not installed: pip install "petrichor-env[{extra}]"') from None
