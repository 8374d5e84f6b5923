"""The commands to play and to watch games: `rules`, `play`, `web`, `mcp`, `replay` and `review`."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.text import Text

from tabletop_cli import completion, options
from tabletop_cli.commands import add
from tabletop_cli.line import PLAY, CommandLine
from tabletop_cli.modules import imported
from tabletop_cli.options import agent_names, given, whole_numbers, words
from tabletop_cli.output import check_outputs, json_to
from tabletop_cli.switches import Switches
from tabletop_engine.errors import TabletopError
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import counted, either, shown

SHIPPED = ("petrichor_env.game", "evergreen_env.game")
"""The games of this distribution."""


def add_commands(app: typer.Typer, line: CommandLine) -> None:
    """Give an app the commands that a game has."""
    if line.rules:
        add(app, line, PLAY, rules, f"rules --players {line.players[-1]}" if line.players_vary else "rules")
    ways = ("alone",) * line.alone + ("against agents", "with others at the same keyboard") * line.several
    examples = ("play" if line.alone else "play greedy", "play greedy --web" if line.several else "play --web")
    add(app, line, PLAY, play, *examples, help=f"Play in the terminal or in a browser: {either(ways)}.")
    add(app, line, PLAY, web, "web --open")
    add(app, line, PLAY, mcp, "mcp", "mcp --http")
    add(app, line, PLAY, replay, "replay runs/games/000000-random-greedy.json --html game.html")
    add(app, line, PLAY, review, "review runs/games/000000-random-greedy.json greedy")


def rules(line: CommandLine, *, players: options.Players = None, switches: Switches) -> None:
    """Print the complete rules of what is played, as Markdown: for people, and for language models."""
    game = line.game
    print(game.words.rules(game.config(**given(players=players), **switches)))


def _others(line: CommandLine) -> Any:
    """The argument for the agents to play against; None in a game for one, which has one seat."""
    without = f". Without any it is {line.opponent or 'the game for one'}" if line.alone else ""
    return options.agents(f", to play against{without}") if line.several else None


def play(
    line: CommandLine,
    *,
    agents: Annotated[list[str] | None, _others] = None,
    switches: Switches,
    people: Annotated[
        str,
        options.where(
            "several",
            typer.Option(
                help="Seats of people, counted from 0, separated by commas.", metavar="SEATS", show_default="0"
            ),
        ),
    ] = "",
    hints: Annotated[str, options.agent("The agent that ? asks for a hint.", "the strongest shipped one")] = "",
    resume: Annotated[Path | None, typer.Option(help="Continue a saved game.", metavar="FILE")] = None,
    trust: options.Trust = "",
    seed: Annotated[int | None, options.seed("of the game's chance", "another one each time")] = None,
    cores: options.Cores = None,
    web: Annotated[bool, typer.Option("--web", help="Play in a browser. The command web offers more.")] = False,
) -> None:
    """Play in the terminal or in a browser."""
    if web:
        server = imported("tabletop_play.web.server", extra="web")
        sessions = import_module("tabletop_play.session")
        start = partial(sessions.started, sessions.Session)
    else:
        start = import_module("tabletop_play.terminal").main
    session = start(
        line.game,
        agents or (),
        people=whole_numbers("people", people, "seats separated by commas, such as 0,2"),
        seed=seed,
        hints=hints,
        resume=resume,
        trust=words(trust),
        **switches,
    )
    if web:
        more = [*(agent.name for agent in session.agents.values()), *([hints] if hints else [])]
        server.main(_homes(line), session=session, agents=list(dict.fromkeys(more)))


def web(
    line: CommandLine,
    *,
    agents: Annotated[list[str] | None, options.more_agents(", which the page offers, too")] = None,
    folder: Annotated[Path, typer.Option(help="Where games are kept.", metavar="FOLDER")] = Path("runs/web"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the games that the folder keeps.")] = False,
    cores: options.Cores = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. With another than this machine's own, such as 0.0.0.0, other devices can "
            "join; the links have a token that they need.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        options.number("Port to listen on; 0 takes any that is free.", "8321, or a free one", least=0, most=65535),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Serve a page to play, watch and analyse games: alone, with others on their own devices, and with agents."""
    imported("tabletop_play.web.server", extra="web").main(
        _homes(line), agents=agent_names(agents), host=host, port=port, folder=folder, resume=resume, opens=opens
    )


def mcp(
    line: CommandLine,
    *,
    games: Annotated[
        int | None,
        options.number(
            "Number of games that are kept, with --http. A newer one drops the one that was unused longest.",
            "100",
            most=10_000,
        ),
    ] = None,
    cores: options.Cores = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve at an address of this machine, not over stdin and stdout.")
    ] = False,
    port: Annotated[
        int | None,
        options.number("Port to listen on, with --http; 0 takes any that is free.", "8322", least=0, most=65535),
    ] = None,
) -> None:
    """Serve the game to a language model's client by the Model Context Protocol, over stdin and stdout."""
    for name, value in given(port=port, games=games).items():
        if not http:
            raise TabletopError(f"--{name} {value}: only with --http")
    server = imported("tabletop_text.mcp_server", extra="mcp")
    if http:
        server.serve_http(line.home, line.version, **given(port=port, games=games))
    else:
        server.serve_stdio(line.home, line.version)


def replay(
    line: CommandLine,
    *,
    file: options.ReplayFile,
    seat: Annotated[int | None, options.seat("show only what it sees", "all hands")] = None,
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
        int | None, options.number("Width of pictures in pixels.", "480 of a GIF, 640 of PNG", least=64, most=4096)
    ] = None,
) -> None:
    """Step through a recorded game in the terminal, or make a page or pictures of it."""
    in_terminal = page is None and gif is None and png is None
    if width is not None and gif is None and png is None:
        raise TabletopError("width: only with --gif or --png")
    if seconds is not None and gif is None and not in_terminal:
        raise TabletopError("seconds: only with --gif or in the terminal")
    if in_terminal:
        import_module("tabletop_engine.replays.viewer").main(file, line.game, seat=seat, **given(seconds=seconds))
        return
    check_outputs(file, {"--html": page, "--gif": gif, "--png": png})
    pages = import_module("tabletop_engine.replays.page")
    pictures = import_module("tabletop_engine.replays.pictures")
    loaded = import_module("tabletop_engine.replays.replay").Replay.load(file, line.game)
    loaded.check_seat(seat)
    size, pace = given(width=width), {} if seconds is None else {"milliseconds": round(1000 * seconds)}
    _write(loaded, seat, page, pages.write_page)
    _write(loaded, seat, gif, partial(pictures.write_gif, **size, **pace))
    _write(loaded, seat, png, partial(pictures.write_pngs, **size))


def review(
    line: CommandLine,
    *,
    file: options.ReplayFile,
    agent: Annotated[
        str,
        typer.Argument(
            help="The agent that judges: a search, greedy or rollout.",
            metavar="AGENT",
            show_default="the one that gives hints in play",
            autocompletion=completion.agents,
        ),
    ] = "",
    seat: Annotated[
        int | None,
        options.where(
            "several", options.seat("look at its decisions only", "the seats of people; all if there are none")
        ),
    ] = None,
    moments: Annotated[int, options.number("Number of decisions to show.")] = 10,
    cores: options.Cores = None,
    json: options.Json = None,
) -> None:
    """Find the decisions of a recorded game at which most was given away, as an agent judges them."""
    check_outputs(file, {"--json": json})
    with json_to(json) as on_result:
        import_module("tabletop_cli.review").main(
            line.game, file, agent, seat=seat, moments=moments, on_result=on_result
        )


def _homes(line: CommandLine) -> list[str]:
    """The games of a page: this one and the shipped ones."""
    return list(dict.fromkeys([line.home, *SHIPPED]))


def _write(replay: Any, seat: int | None, path: Path | None, write: Callable[..., Any]) -> None:
    """Write a page or pictures of a replay, as a seat sees it, with a progress bar; nothing if `path` is None."""
    if path is None:
        return
    console = Screen()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(escape(shown(str(path))), total=len(replay.actions) + 1)
        write(replay, path, viewer=seat, on_finished=partial(bar.advance, task))
    steps = round(bar.tasks[0].completed) - 1  # without steps that are hidden from the seat
    console.print(Text.assemble((shown(str(path)), "bold"), f": {counted(steps, 'step')}"), soft_wrap=True)
