"""A game's command line: one app, made for the game, with the commands that every game has."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.text import Text

from tabletop.errors import TabletopError
from tabletop.extras import extra_text
from tabletop.terminal import forgive_bytes
from tabletop.words import either
from tabletop_cli.options import command, given, whole_numbers, words

if TYPE_CHECKING:
    from tabletop.game import Game

LARGEST_SEED = 2**32 - 1  # that PyTorch and NumPy take alike

_COUNTS = {"2": "Two", "3": "three", "4": "four", "5": "five", "6": "six"}

_OWN_FOLDERS = ("benchmarks", "tabletop", "tabletop_agents", "tabletop_training")

_AGENTS_HELP = "Names of agents: random, greedy, policy:PATH … (an unknown name lists them all)."

MOST_GAMES = 1_000_000_000

SHIPPED = ("petrichor_env.game", "evergreen_env.game")
"""The games of this distribution."""

# What several commands take
Agents = Annotated[list[str], typer.Argument(help=_AGENTS_HELP, metavar="AGENT...")]
AnyAgents = Annotated[list[str] | None, typer.Argument(help=_AGENTS_HELP, metavar="AGENT...")]
MoreAgents = Annotated[
    list[str] | None, typer.Option("--agents", "--agent", help="The same: agents' names.", metavar="NAMES")
]
Overlay = Annotated[
    Path | None, typer.Option(help="A TOML file whose numbers replace the shipped ones.", metavar="FILE")
]
FirstSeed = Annotated[
    int | None,
    typer.Option(min=0, max=LARGEST_SEED, help="Seed of the first game.", show_default="beyond those of training"),
]
Trust = Annotated[
    str, typer.Option(help="Agents MODULE:CLASS that the resumed file may name; their code runs.", metavar="NAMES")
]
Device = Annotated[str, typer.Option(help="Where the network learns: cpu, or cuda.")]
SaveReplays = Annotated[Path | None, typer.Option(help="Folder for a replay of every game.", metavar="FOLDER")]
ReplayGames = Annotated[
    int | None,
    typer.Option(min=1, max=MOST_GAMES, help="Keep only so many of them, the first ones.", show_default="all"),
]
ReplayProbabilities = Annotated[
    bool,
    typer.Option("--replay-probabilities", help="With what agents gave their actions; searches take twice as long."),
]

MostWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        max=10_000,
        help="Blocks of games played at once, each in a process of its own; the games stay the same.",
        show_default="1; with --ray the cluster's cores",
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Play on a Ray cluster: auto for the one that runs here, HOST:PORT or ray://HOST:PORT; "
        "without an address, one for this command alone.",
        metavar="[ADDRESS]",
    ),
]
_RAY_ADDRESS = re.compile(r"auto|local|(ray://)?[\w.-]+:[0-9]+")


@dataclass(frozen=True)
class CommandLine:
    """What a game's command line is made of. Nothing in it is slow to import.

    Attributes:
        name: the command's. home: the module with the game's `GAME`, loaded when it is needed.
        version: of the game's package. help: of the whole command.
        config: the type of configurations, whose fields become options (`tabletop_cli.options`).
        players: the numbers of players there can be, ascending.
        opponent: whom one plays against who plays alone; empty where there is nobody.
        curriculum: what `config.curriculum` has; empty where there is none.
        ladder: by number of players the fields of the configuration that the agents' ladder is measured with.
        table: the module whose `PLAN` says what the game's reference table of agents has; empty where there is none.
        benchmarks: the module of the repository that measures the game's speed; empty where there is none.
    """

    name: str
    home: str
    version: str
    help: str
    config: type[Any]
    players: tuple[int, ...]
    opponent: str = ""
    curriculum: str = ""
    ladder: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    table: str = ""
    benchmarks: str = ""

    @property
    def game(self) -> Game:
        """The game itself."""
        return import_module("tabletop.game").game_of(self.home)

    @property
    def texts(self) -> dict[str, str]:
        """What stands in the commands' help for names in braces."""
        several = [str(number) for number in self.players if number > 1] or ["1"]
        against = f" against {self.opponent}" if self.opponent else ""
        return {
            "name": self.name,
            "alone": self.opponent or "alone",
            "one_alone": f"; one alone{against}" if 1 in self.players else "",
            "game_for_one": self.opponent or "the game for one",
            "the_game_for_one": f"the game{against}" if against else "the game for one",
            "players": either(several),
            "span": " to ".join(dict.fromkeys(_COUNTS.get(number, number) for number in (several[0], several[-1]))),
            "curriculum": self.curriculum,
            "ladder": ",".join(map(str, self.ladder)),
        }


def make_app(line: CommandLine) -> tuple[typer.Typer, typer.Typer]:
    """The app for a game, and the one of its `train`, to which the game's own commands can be added."""
    app = typer.Typer(help=line.help, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    train = typer.Typer(
        help="Train agents: logs, checkpoints and the settings stay in a folder, from which a run can be resumed.",
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

    def add(to: typer.Typer, name: str, function: Callable[..., None], **options: Any) -> None:
        texts = line.texts | options.pop("texts", {})
        to.command(name)(command(function, texts, line.config, line=line, **options))

    if 1 in line.players:
        without = ("players",) if line.curriculum else ("players", "curriculum")
        texts = {"kind": "solo", "learned": line.texts["the_game_for_one"], "kept": "checkpoints and logs"}
        add(train, "solo", _train, texts=texts, kind="solo", players="one", without=without, only_given=True)
    if line.players[-1] > 1:
        learned = "the game of several players, against a league of earlier selves and of scripted agents"
        texts = {"kind": "selfplay", "learned": learned, "kept": "checkpoints, league and logs"}
        several: dict[str, Any] = {"players": "several", "without": ("curriculum",), "only_given": True}
        add(train, "selfplay", _train, texts=texts, kind="selfplay", **several)
    add(train, "general", _train_general)
    add(train, "outlook", _train_outlook)
    add(train, "expert", _train_expert)
    app.add_typer(train, name="train")
    add(app, "evaluate", _evaluate)
    if line.players[-1] > 1:
        add(app, "tournament", _tournament, players="several")
    add(app, "dataset", _dataset)
    add(app, "play", _play, only_given=True)
    add(app, "web", _web)
    add(app, "compile", _compile)
    add(app, "replay", _replay)
    add(app, "review", _review)
    if line.ladder:
        add(app, "ladder", _ladder)
    if line.table:
        add(app, "benchmark", _benchmark)
    if line.benchmarks:
        add(app, "bench", _bench)
    return app, train


def with_ray_address(args: Sequence[str]) -> list[str]:
    """The words of a command with `local` behind each --ray that has no address: one is no agent's name."""
    full: list[str] = []
    for word, following in zip_longest(args, args[1:], fillvalue=""):
        full += [word] if word != "--ray" or _RAY_ADDRESS.fullmatch(following) else [word, "local"]
    return full


def run_app(app: typer.Typer, name: str, args: Sequence[str] | None = None) -> None:
    """Run the command `name` and exit: 0, 2 after a user's slip (one line on stderr), 130 after Ctrl-C.

    `args` are the words after it, None for those of the process.
    """
    forgive_bytes()
    try:
        app(args=with_ray_address(sys.argv[1:] if args is None else args), prog_name=name)
    except TabletopError as error:
        print(f"{name}:", " ".join(str(error).split()), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _train(
    line: CommandLine,
    kind: str,
    switches: dict[str, Any],
    players: Annotated[
        int | None, typer.Option(help="{players}: of the game; default 2, or as in the settings.")
    ] = None,
    config: Annotated[str | None, typer.Option(help="Settings: a TOML file, or a shipped one by name.")] = None,
    curriculum: Annotated[bool, typer.Option("--curriculum", help="Learn {curriculum}.")] = False,
    minutes: Annotated[float | None, typer.Option(min=0.0, help="How long.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=0, help="How many decisions, instead; rounded up to whole rollouts.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=LARGEST_SEED, help="Seed of network and games.", show_default="0")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Folder for {kept}.", show_default="runs/{kind}")] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Folder of a run to go on with, as it was set.", metavar="FOLDER")
    ] = None,
    trust: Trust = "",
    ray: Ray = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=10_000,
            help="With --ray: processes that play the games, a core each; 0: the one that learns.",
            show_default="the cluster's cores",
        ),
    ] = None,
) -> None:
    """Learn {learned}."""
    told: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "resume": resume}
    told |= {"trust": words(trust), "ray": ray, "workers": workers}
    changes = {"players": players, "curriculum": curriculum or None, **switches}
    imported("tabletop_training.runs", extra="train").main(line.game, kind, config, **told, **changes)


def _compile(line: CommandLine) -> None:
    """Compile rules and searches before they are first wanted, for an image or a shared folder of many machines."""
    from tabletop.cache import code_folder
    from tabletop.position import positions_of
    from tabletop_agents.search import search_for

    parts = ["rules", "positions one by one", "searches"]
    positions_of(line.game.config(players=line.game.players[0]))
    search_for(line.game)
    if find_spec("torch") is not None:
        from tabletop_agents.guided_search import guided_search_for

        guided_search_for(line.game)
        parts.append("search with a network")
    print(f"{line.game.title}: {', '.join(parts)}: compiled in {code_folder()}")


def _train_general(
    line: CommandLine,
    players: Annotated[
        str, typer.Option(help="Numbers of players, with commas between.", show_default="every one from 2 on")
    ] = "",
    config: Annotated[str | None, typer.Option(help="Settings: a TOML file, or a shipped one by name.")] = None,
    minutes: Annotated[float | None, typer.Option(min=0.0, help="How long.")] = None,
    steps: Annotated[int | None, typer.Option(min=0, help="How many decisions, instead.")] = None,
    start: Annotated[str | None, typer.Option(help="A checkpoint, or a shipped policy by name, to go on from.")] = None,
    rival: Annotated[
        str | None, typer.Option(help="A checkpoint, or a shipped policy by name, that has all other seats.")
    ] = None,
    device: Device = "cpu",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of network and games.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for checkpoints and logs.")] = Path("runs/general"),
) -> None:
    """Learn with every number of players and all modules, one network for all, from all seats at once."""
    learn = imported("tabletop_training.general", extra="train").main
    told: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "device": device}
    wanted = whole_numbers("players", players, "numbers of players, with commas between")
    learn(line.game, config, players=wanted, start=start, rival=rival, **told)


def _train_outlook(
    line: CommandLine,
    policy: Annotated[str, typer.Argument(help="A checkpoint, or a shipped policy by name.")],
    minutes: Annotated[float | None, typer.Option(min=0.0, help="How long.", show_default="5")] = None,
    games: Annotated[int | None, typer.Option(min=0, help="How many games, instead.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of network and games.")] = 0,
    device: Device = "cpu",
    half: Annotated[bool, typer.Option("--half", help="Keep the weights in half precision: half the file.")] = False,
    output: Annotated[Path, typer.Option(help="Folder for the checkpoint.")] = Path("runs/outlook"),
) -> None:
    """Teach a policy how its games end, so that search-N:PATH can search with it."""
    learn = imported("tabletop_training.outlook", extra="train").main
    learn(line.game, policy, minutes=minutes, games=games, seed=seed, output=output, device=device, half=half)


def _train_expert(
    line: CommandLine,
    policy: Annotated[str, typer.Argument(help="A checkpoint, or a shipped policy by name, to go on from.")],
    simulations: Annotated[int, typer.Option(min=1, help="Of each decision of the search.")] = 64,
    games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Played side by side; with many cores 64 for each.")
    ] = 256,
    minutes: Annotated[float | None, typer.Option(min=0.0, help="How long.")] = None,
    steps: Annotated[int | None, typer.Option(min=0, help="How many decisions of the search, instead.")] = None,
    device: Device = "cpu",
    seed: Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of network and games.")] = 0,
    output: Annotated[Path, typer.Option(help="Folder for checkpoints and log.")] = Path("runs/expert"),
) -> None:
    """Go on by expert iteration: a search with the network plays, the network learns from it."""
    learn = imported("tabletop_training.expert", extra="train").main
    told: dict[str, Any] = {"minutes": minutes, "steps": steps, "seed": seed, "output": output, "device": device}
    learn(line.game, policy, simulations=simulations, games=games, **told)


def replay_files(folder: Path | None, most: int | None, probabilities: bool) -> Any:
    """Where an evaluation keeps its games."""
    return imported("tabletop_training.evaluation_files", extra="evaluate").ReplayFiles(folder, most, probabilities)


def players_of(workers: int | None, ray: str | None) -> Any:
    """Who plays: a context manager, as commands take it."""
    return imported("tabletop_training.cluster", extra="evaluate").workers(workers, ray)


def _evaluate(
    line: CommandLine,
    switches: dict[str, Any],
    agents: Agents,
    solo: Annotated[bool, typer.Option("--solo", help="Each plays {alone}, on the same seeds.")] = False,
    games: Annotated[
        int | None,
        typer.Option(
            help="Games of each agent, rounded up to whole rotations of the seats: 1000, or at most 20000 with "
            "--until-width.",
            min=1,
            max=MOST_GAMES,
        ),
    ] = None,
    seed: FirstSeed = None,
    until_width: Annotated[
        float | None, typer.Option(help="Stop when win rates are known this well, such as 0.05.", metavar="WIDTH")
    ] = None,
    save_replays: SaveReplays = None,
    replay_games: ReplayGames = None,
    replay_probabilities: ReplayProbabilities = False,
    workers: MostWorkers = None,
    ray: Ray = None,
    output: Annotated[Path, typer.Option(help="Folder for JSON and CSV files.")] = Path("runs/evaluate"),
) -> None:
    """{span} agents against each other, seats rotated{one_alone}."""
    matches = imported("tabletop_training.matches", extra="evaluate")
    with players_of(workers, ray) as players:
        matches.main(
            agents,
            matches.config_for(line.game, len(agents), alone=solo, **switches),
            games=games,
            until_width=until_width,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=players,
            output=output,
            **given(seed=seed),
        )


def _dataset(
    line: CommandLine,
    switches: dict[str, Any],
    agents: Agents,
    games: Annotated[int, typer.Option(help="How many games.", min=1, max=MOST_GAMES)] = 100,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Seed of the first game.", show_default="of its own"),
    ] = None,
    reward: Annotated[
        str | None, typer.Option(help="win, margin or points.", show_default="win; points where nobody is won against")
    ] = None,
    observation_dtype: Annotated[str, typer.Option(help="int8 for plain counts, or float32.")] = "int8",
    name: Annotated[str, typer.Option(help="Of the data set.", show_default="the game's and the agents'")] = "",
    output: Annotated[Path, typer.Option(help="Folder of data sets.")] = Path("runs/datasets"),
) -> None:
    """Write games as a Minari data set: an episode of each seat{one_alone}."""
    dataset = imported("tabletop_training.dataset", extra="dataset")
    matches = imported("tabletop_training.matches", extra="evaluate")
    config = matches.config_for(line.game, len(agents), alone=len(agents) == 1, **switches)
    told = {"reward": reward, "observation_dtype": observation_dtype, "name": name, "output": output}
    dataset.main(matches.make_agents(agents, config), config, games=games, **told, **given(seed=seed))


def _tournament(
    line: CommandLine,
    switches: dict[str, Any],
    agents: Agents,
    players: Annotated[int, typer.Option(help="{players} in each game.")] = 2,
    games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="Games of each pairing (or group of players).")
    ] = 200,
    seed: FirstSeed = None,
    save_replays: SaveReplays = None,
    replay_games: ReplayGames = None,
    replay_probabilities: ReplayProbabilities = False,
    workers: MostWorkers = None,
    ray: Ray = None,
    output: Annotated[Path, typer.Option(help="Folder for picture, JSON and CSV files.")] = Path("runs/tournament"),
) -> None:
    """All agents against all: cross table and openskill ratings."""
    with players_of(workers, ray) as who:
        imported("tabletop_training.tournament", extra="evaluate").main(
            agents,
            line.game.config(players=players, **switches),
            games=games,
            replays=replay_files(save_replays, replay_games, replay_probabilities),
            workers=who,
            output=output,
            **given(seed=seed),
        )


def _play(
    line: CommandLine,
    switches: dict[str, Any],
    agents: Annotated[
        list[str] | None, typer.Argument(help="Agents to play against; none: {game_for_one}.", metavar="AGENT...")
    ] = None,
    people: Annotated[
        str, typer.Option(help="Seats of people, with commas between.", metavar="SEATS", show_default="0")
    ] = "",
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_SEED, help="Of the game's chance.", show_default="another each time"),
    ] = None,
    hints: Annotated[str, typer.Option(help="The agent that ? asks.", show_default="the strongest shipped one")] = "",
    resume: Annotated[Path | None, typer.Option(help="A saved game to go on with.", metavar="FILE")] = None,
    trust: Trust = "",
    web: Annotated[bool, typer.Option("--web", help="Play in a browser; {name} web has more to choose.")] = False,
) -> None:
    """Play in the terminal, or in a browser: alone, against agents, or with others at the same keyboard."""
    settings: dict[str, Any] = {
        "people": whole_numbers("people", people, "seats with commas between, such as 0,2"),
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


def _web(
    line: CommandLine,
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
        typer.Option(min=0, max=65535, help="0: any that is free.", show_default="8321, or a free one"),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where games are kept.", metavar="FOLDER")] = Path("runs/web"),
    resume: Annotated[bool, typer.Option("--resume", help="Take up again the games that the folder keeps.")] = False,
    agents: Annotated[
        str,
        typer.Option(help="More agents that pages may choose: policy:PATH, MODULE:CLASS …", metavar="NAMES"),
    ] = "",
    opens: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Play, watch and analyse in a browser, alone, with others on their own devices, and with agents."""
    told: dict[str, Any] = {"host": host, "port": port, "folder": folder, "resume": resume, "opens": opens}
    imported("tabletop_agents.web.server", extra="web").main(_homes(line), agents=words(agents), **told)


def _homes(line: CommandLine) -> list[str]:
    """The games of a page: this one and the shipped ones."""
    return list(dict.fromkeys([line.home, *SHIPPED]))


def _replay(
    line: CommandLine,
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
        Path | None, typer.Option("--html", help="Write a page for a browser instead.", metavar="FILE")
    ] = None,
    gif: Annotated[Path | None, typer.Option(help="Write an animated picture instead.", metavar="FILE")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a picture of every step instead.", metavar="FOLDER")] = None,
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
        import_module("tabletop.replays.viewer").main(file, line.game, seat=seat, **given(seconds=seconds))
        return
    _check_outputs(file, {"--html": page, "--gif": gif, "--png": png})
    pages, pictures = import_module("tabletop.replays.page"), import_module("tabletop.replays.pictures")
    loaded = import_module("tabletop.replays.replay").Replay.load(file, line.game)
    loaded.check_seat(seat)
    size = given(width=width)
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


def _review(
    line: CommandLine,
    file: Annotated[Path, typer.Argument(help="A replay, as --save-replays and play leave them.", metavar="FILE")],
    agent: Annotated[
        str,
        typer.Argument(
            help="Who looks back: a search, greedy or rollout.",
            metavar="AGENT",
            show_default="who gives hints in play",
        ),
    ] = "",
    seat: Annotated[
        int | None, typer.Option(help="Whose decisions.", metavar="SEAT", show_default="people's; all without people")
    ] = None,
    moments: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="How many decisions to show.")] = 10,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write all of them to this file.", metavar="FILE")
    ] = None,
) -> None:
    """Say at which decisions of a game most was given away, as an agent sees it."""
    _check_outputs(file, {"--json": json_path})
    look_back = import_module("tabletop_cli.review").main
    look_back(line.game, file, agent, seat=seat, moments=moments, json_path=json_path)


def _ladder(
    line: CommandLine,
    players: Annotated[
        str,
        typer.Option(
            help="Numbers of players, with commas between; 1 is solo.", metavar="NUMBERS", show_default="{ladder}"
        ),
    ] = "",
    games: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_GAMES, help="Games of every step to be played; fewer for slow agents if not given."
        ),
    ] = None,
    seed: FirstSeed = None,
    workers: MostWorkers = None,
    ray: Ray = None,
    output: Annotated[Path, typer.Option(help="JSON file; steps that it has are kept.", metavar="FILE")] = Path(
        "runs/ladder.json"
    ),
) -> None:
    """Measure whether each agent, from random to ismcts-2000, is better than the one below it."""
    counts = whole_numbers("players", players, "whole numbers with commas between, such as 1,2")
    with players_of(workers, ray) as who:
        imported("tabletop_training.ladder", extra="evaluate").main(
            [line.config(players=number, **switches) for number, switches in line.ladder.items()],
            counts or None,
            games=games,
            workers=who,
            output=output,
            **given(seed=seed),
        )


def agent_names(agents: list[str] | None, more_agents: list[str] | None) -> list[str]:
    """All that `AnyAgents` and `MoreAgents` name."""
    return [*words(",".join(more_agents or ())), *(agents or ())]


def _benchmark(
    line: CommandLine,
    agents: AnyAgents = None,
    more_agents: MoreAgents = None,
    games: Annotated[
        int,
        typer.Option(min=1, max=MOST_GAMES, help="Solo games of each agent; with each set of variants, if it has any."),
    ] = 1000,
    search_games: Annotated[
        int, typer.Option(min=1, max=MOST_GAMES, help="The same for rollout and ismcts, which are slow.")
    ] = 100,
    duel_games: Annotated[int, typer.Option(min=1, max=MOST_GAMES, help="Two-player games of each two agents.")] = 200,
    components: Overlay = None,
    quick: Annotated[bool, typer.Option("--quick", help="Far fewer games: rough numbers, soon.")] = False,
    workers: MostWorkers = None,
    ray: Ray = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder; its benchmark.json is gone on with.", show_default="runs/benchmark")
    ] = None,
) -> None:
    """The reference table of agents; with an agent's name, its place among the agents there."""
    with players_of(workers, ray) as players:
        imported("tabletop_training.benchmark", extra="evaluate").main(
            imported(line.table, extra="evaluate").PLAN,
            agent_names(agents, more_agents),
            games=games,
            search_games=search_games,
            duel_games=duel_games,
            components=components,
            output=output,
            quick=quick,
            workers=players,
        )


def _bench(
    line: CommandLine,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs.")] = False,
    only: Annotated[str | None, typer.Option(help="Run this benchmark alone.", metavar="NAME")] = None,
    json_path: Annotated[
        Path | None, typer.Option("--json", help="Also write the results to this file.", metavar="FILE")
    ] = None,
) -> None:
    """Measure how fast games are stepped on this machine (needs a clone of the repository)."""
    imported("benchmarks.run", extra="bench").main(name=line.benchmarks, quick=quick, only=only, json_path=json_path)


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
