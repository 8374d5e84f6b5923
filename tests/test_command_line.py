"""The commands hold together: the same options everywhere, JSON, exit codes, completion, and their page."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from itertools import takewhile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.config import MODULES, VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import checkpoint_path, make_agent, shipped_policies
from tabletop_cli import completion, evergreen, measure, petrichor
from tabletop_cli.__main__ import main as any_game
from tabletop_cli.app import make_app
from tabletop_cli.line import GAME as MACHINE
from tabletop_cli.line import MEASURE, PLAY, TRAIN, CommandLine
from tabletop_cli.run import EXIT_CODES
from tabletop_engine.described.overlays import ComponentFile
from tabletop_engine.game import Game
from tabletop_engine.play import batch
from tabletop_engine.play.batch import usable_cores
from tabletop_training.files.settings import shipped_settings
from tabletop_training.files.tables import WIN_RATE
from tabletop_training.measure import ladder
from tabletop_training.measure.results import Estimate
from tests.games import connect_four

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "command-line.md"
APPS = {"petrichor": petrichor.app, "evergreen": evergreen.app}

ORDER = (
    *("--players", "--solo", "--every", "--curriculum", "--task"),  # what is played
    *(
        "--rounds",
        "--drafting",
        "--variants",
        "--modules",
        "--powers",
        "--readings",
        "--components",
        "--overlay",
        "--draw",
        "--ranges",
    ),
    *(
        "--agents",
        "--agent",
        "--policy",
        "--people",
        "--hints",
        "--start",
        "--rival",
        "--rungs",
        "--judge",
        "--player",
        "--learner",
    ),  # who plays, from which files
    *("--folder", "--resume", "--trust", "--seat"),
    *("--keys", "--changes", "--trials"),  # what may change
    *(
        "--seeds",
        "--positions",
        "--games",
        "--search-games",
        "--duel-games",
        "--verifying",
        "--editions",
        "--edition-games",
        "--effect-games",
    ),
    *("--seed", "--salt", "--until-width", "--minutes", "--steps"),  # how much
    *("--simulations", "--more-weight", "--moments", "--quick", "--only", "--part"),
    *("--every-rung", "--estimate"),
    *(
        "--cores",
        "--workers",
        "--ray",
        "--device",
        "--reward",
        "--observation-dtype",
        "--web",
        "--host",
        "--http",
        "--port",
        "--open",
    ),  # how
    *("--output", "--json", "--name", "--html", "--gif", "--png", "--seconds", "--width", "--half"),
    *("--save-replays", "--replay-games", "--replay-probabilities"),
)
"""All options in the order in which each command has them."""

DIFFERENT = {
    ("--players", "NUMBERS"): "what measures or learns several numbers of players takes a list",
    ("--output", "FILE"): "positions are written into one file",
    ("--resume", "FILE"): "a game is saved in a file, a run in a folder",
    ("--resume", ""): "a page always keeps its games in --folder",
}
"""Options that mean something else in other commands: by the placeholder of their value, the reason."""


def options(command: Any) -> list[Any]:
    shown = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
    return [param for param in shown if param.name != "help"]


def below(name: str, node: Any) -> Iterator[tuple[str, Any]]:
    """All subcommands of a command, with their names."""
    for own, one in node.commands.items():
        if options(one) or not hasattr(one, "commands"):
            yield f"{name} {own}", one
        if hasattr(one, "commands"):
            yield from below(f"{name} {own}", one)


def every_command() -> Iterator[tuple[str, Any]]:
    """All commands of both games with their names."""
    for game, app in APPS.items():
        yield from below(game, typer.main.get_command(app))


COMMANDS = dict(every_command())


def metavar(option: Any) -> str:
    return "" if option.is_flag else str(option.metavar)


def test_an_option_of_several_commands_has_the_same_words() -> None:
    by_name: dict[tuple[str, str], list[tuple[str, Any]]] = {}
    for name, command in COMMANDS.items():
        for option in options(command):
            by_name.setdefault((name.split()[0], option.opts[0]), []).append((name, option))
    met = set()
    for (_, opt), several in by_name.items():
        alike = [(name, option) for name, option in several if (opt, metavar(option)) not in DIFFERENT]
        met |= {(opt, metavar(option)) for _, option in several}
        assert len({metavar(option) for _, option in alike}) <= 1, alike
        assert len({str(option.type_descriptor.annotation) for _, option in alike}) <= 1, alike
        helps = [[word.rstrip(",.;:") for word in option.help.split()] for _, option in alike]
        same = list(takewhile(lambda words: len(set(words)) == 1, zip(*helps, strict=False)))
        assert not helps or len(same) >= min(3, *map(len, helps)), (opt, helps)
    assert met >= set(DIFFERENT)


def test_options_have_the_same_order() -> None:
    for name, command in COMMANDS.items():
        places = [ORDER.index(option.opts[0]) for option in options(command)]
        assert places == sorted(places), name


def test_every_help_is_a_sentence_and_every_example_is_a_command() -> None:
    for name, command in COMMANDS.items():
        for text in (command.help, *(option.help for option in options(command))):
            assert re.fullmatch(r"[A-Z0-9][^{}]*\.", text.strip(), re.DOTALL), (name, text)
        for line in filter(None, (command.epilog or "").split("\n\n")):
            example = line.removeprefix("Example: ")
            assert example.startswith(name), example
            words = example.removeprefix(name).split()
            command.make_context(name, words)  # a slip would be an error


def test_commands_that_play_take_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds as soon as the words are read."""
    taking = {name for name, command in COMMANDS.items() if "--cores" in {one.opts[0] for one in options(command)}}
    others = {"rules", "replay", "compile", "bench", "components", "runs"}
    assert {name for name in COMMANDS if name.split()[1] not in others} == taking
    monkeypatch.setattr(batch, "_most_cores", 64)
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    COMMANDS["petrichor evaluate"].make_context("petrichor evaluate", ["greedy", "--cores", "1"])
    assert usable_cores() == 1 and os.environ["OMP_NUM_THREADS"] == "1"


def test_commands_are_in_groups() -> None:
    groups = {name: typer.main.get_command(app).commands for name, app in APPS.items()}
    for group in groups.values():
        assert {command.rich_help_panel for command in group.values()} == {PLAY, MEASURE, TRAIN, MACHINE}


# --- What a game has -------------------------------------------------------------------------------------------------


def offered(line: CommandLine) -> dict[str, Any]:
    """The commands of a game with this command line."""
    return dict(below(line.name, typer.main.get_command(make_app(line))))


def opts_of(command: Any) -> set[str]:
    return {param.opts[0] for param in command.params}


@pytest.mark.parametrize("game", [GAME, EVERGREEN], ids=lambda game: game.name)
def test_a_game_says_of_its_commands_what_it_is(game: Game) -> None:
    """Facts that are written down twice, so that a command need not load a game, are the same."""
    line = {"petrichor": petrichor.LINE, "evergreen": evergreen.LINE}[game.name]
    assert (line.home, line.version, line.config, line.players) == (game.home, game.version, game.config, game.players)
    assert line.images == any(game.images(players) for players in game.players)
    assert bool(line.curriculum) == hasattr(game.config, "curriculum")
    assert line.opponent == game.words.opponent


@pytest.mark.parametrize("line", [petrichor.LINE, evergreen.LINE], ids=lambda line: line.name)
def test_a_game_offers_what_can_be_done_with_it(line: CommandLine) -> None:
    """A game for one has no command for several players, and the other way round. No help mentions them."""
    name, every = line.name, offered(line)
    both = {f"{name} evaluate", f"{name} train"}
    assert both <= set(every) and "--solo" in opts_of(every[f"{name} evaluate"])
    distil = every[f"{name} distil"]
    assert ("mirrored" in distil.help) == ("--more-weight" in opts_of(distil)) == line.images

    several = offered(replace(line, players=(3, 4), images=False))
    assert set(every) - set(several) == {f"{name} benchmark-text"}  # it is a match of two
    alone = offered(replace(line, players=(1,), images=False))
    assert set(every) - set(alone) == {f"{name} tournament", f"{name} benchmark-text"}
    for found in (several, alone):
        assert "--solo" not in opts_of(found[f"{name} evaluate"])
        for own, command in found.items():
            for example in filter(None, (command.epilog or "").split("\n\n")):
                command.make_context(own, example.removeprefix(f"Example: {own}").split())  # a slip would be an error
    fields_for = {
        of: {f"--{field.name}" for field in fields(line.config) if field.metadata.get("for") == of}
        for of in ("one", "several")
    }
    play = f"{name} play"
    assert opts_of(every[play]) - opts_of(alone[play]) == {"agents", "--people"} | fields_for["several"]
    assert opts_of(every[play]) - opts_of(several[play]) == fields_for["one"]
    assert opts_of(alone[play]) | opts_of(several[play]) == opts_of(every[play])
    for words in ("play", "evaluate"):
        shown = [found[f"{name} {words}"] for found in (several, alone)]
        told = [" ".join([one.help, one.epilog, *(param.help for param in one.params if param.help)]) for one in shown]
        assert not re.search(r"alone|--solo|game for one|Winds", told[0]), told[0]
        assert not re.search(r"each other|with others|to play against|Example: \w+ play greedy", told[1]), told[1]
    defaults = {param.opts[0]: param.show_default for param in several[f"{name} tournament"].params}
    assert defaults["--players"] == "3"


def test_a_tournament_has_as_few_players_as_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    main = lambda agents, config, **options: told.append(config.players)  # noqa: E731
    monkeypatch.setattr(measure, "imported", lambda name, extra: SimpleNamespace(main=main))
    monkeypatch.setattr(measure, "replay_files", lambda *options: None)
    monkeypatch.setattr(measure, "players_of", lambda *options: nullcontext())
    for players, words in (((1, 2, 3, 4), []), ((3, 4), []), ((3, 4), ["--players", "4"])):
        app = make_app(replace(evergreen.LINE, players=players))
        ran = CliRunner().invoke(app, ["tournament", "random", "greedy", *words])
        assert ran.exit_code == 0, ran.output
    assert told == [2, 3, 4]


# --- JSON ------------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *words: str, home: str = "") -> tuple[int, str, str]:
    """A command's exit code, and what it printed: of Petrichor, or of the game at `home`."""
    with pytest.raises(SystemExit) as ended:
        any_game([home, *words]) if home else petrichor.main(words)
    printed = capsys.readouterr()
    return int(str(ended.value.code or 0)), printed.out, printed.err


def described(command: str) -> set[str]:
    """The names in code in a command's line of the page's table of keys, and those that all have."""
    (line,) = re.findall(rf"^\| [^|]*`{command}`[^|]*\|(.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    text = PAGE.read_text(encoding="utf-8")
    (everywhere,) = re.findall(r"^- What was measured with games says(.*?)^\n", text, re.MULTILINE | re.DOTALL)
    return {*re.findall(r"`(\w+)`", everywhere), *re.findall(r"`(\w+)`", line)}


def test_all_that_prints_a_table_has_it() -> None:
    having = {name for name, command in COMMANDS.items() if any(one.opts[0] == "--json" for one in options(command))}
    both = (
        "evaluate",
        "tournament",
        "ladder",
        "benchmark",
        "suite",
        "verify",
        "runs",
        "benchmark-text",
        "text-positions",
        "tune",
        "review",
        "components",
        "bench",
        "check",
        "demo",
    )
    assert having == {f"{game} {name}" for game in APPS for name in both} | {
        *("petrichor difficulty", "petrichor strength", "evergreen balance"),
        *(f"{game} train" for game in APPS),
    }


def test_evaluate_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "out"
    words = ("evaluate", "random", "greedy", "--games", "6", "--output", str(folder), "--json")
    code, out, err = run(capsys, *words, home=connect_four.GAME.home)
    told = json.loads(out)
    assert code == 0 and told == json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    of_reports = {"agent", "estimates", "decisions_per_second", "usage"}
    assert set(told) == described("evaluate") - {"games", "width", "interrupted"} - of_reports
    for report in told["reports"]:
        assert f"{report['agent']} " in err and WIN_RATE.write(Estimate(**report["estimates"]["win_rate"])) in err
    assert "In " in err and "rotations of the seats" in " ".join(err.split())


def test_tournament_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, folder = tmp_path / "cup.json", tmp_path / "out"
    words = ("tournament", "greedy", "random", "--games", "6", "--output", str(folder), "--json", str(file))
    code, out, _ = run(capsys, *words, home=connect_four.GAME.home)
    told = json.loads(file.read_text(encoding="utf-8"))
    assert code == 0 and told == json.loads((folder / "tournament.json").read_text(encoding="utf-8"))
    assert set(told) <= described("tournament")
    for place, standing in enumerate(told["standings"], 1):
        assert re.search(rf"{place} +│ {standing['agent']} +│ +{standing['rating']['mu']:.1f} ±", out)
    scores = {(one["agent"], one["against"]): one["score"] for one in told["scores"]}
    assert scores["greedy", "random"] + scores["random", "greedy"] == pytest.approx(1)


def test_ladder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(ladder, "LADDER", ("random", "greedy"))
    ladder.main([Config(players=number) for number in (3, 4)], (3, 4), ladder.LADDER, 8, output=tmp_path)
    capsys.readouterr()
    code, out, err = run(capsys, "ladder", "--resume", str(tmp_path), "--json", "-")
    told = json.loads(out)
    assert code == 0 and [row["players"] for row in told["steps"]] == [3, 4]
    assert set(told) | set(told["steps"][0]) <= described("ladder") | {"owners"}
    for row in told["steps"]:
        assert f"{row['players']} players" in err and WIN_RATE.write(row["win_rate"]) in err


def test_where_it_can_not_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder").mkdir()
    for file, problem in (("folder", "is a folder, not a file"), ("none/told.json", "there is no folder")):
        words = ("evaluate", "random", "--output", str(tmp_path / "out"), "--json", str(tmp_path / file))
        code, out, err = run(capsys, *words)
        assert (code, out, err.count("\n")) == (2, "", 1) and problem in err
    assert not (tmp_path / "out").exists()


# --- Exit codes ------------------------------------------------------------------------------------------------------


def test_the_help_says_what_exit_codes_mean(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--help")
    told = " ".join(out.split())
    assert code == 0 and all(f"{number}: {meaning}" in told for number, meaning in EXIT_CODES.items())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("evaluat random", "petrichor: No such command 'evaluat'. Did you mean 'evaluate'? See petrichor --help."),
        ("evaluate", "petrichor: agents: name at least one"),
        ("evaluate random --gams 3", "petrichor evaluate: No such option: --gams"),
        ("evaluate random --games few", "petrichor evaluate: Invalid value for '--games'"),
        ("train solo --minutes -1", "petrichor train: Invalid value for '--minutes'"),
        ("evaluate random --workers 0", "petrichor: workers=0: must be at least 1"),
        ("ladder --players two", "petrichor: players='two': must be whole numbers separated by commas, such as 1,2"),
    ],
)
def test_a_slip_is_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, "") and err.startswith(said) and err.count("\n") == 1


@pytest.mark.parametrize("words", [["evaluate", "random", "--output", ""], ["evaluate", "random", "--output="]])
def test_an_empty_value_is_a_slip(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """As a path it would be the current folder, and a variable of the shell that is not set gives one easily."""
    told = "petrichor: Invalid value: --output is empty. See petrichor --help.\n"
    assert run(capsys, *words) == (2, "", told)


def test_a_file_that_ends_too_soon_is_not_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """typer takes every EOFError for Ctrl-D, and the command would end without a word."""

    def load(*_: Any) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr(ComponentFile, "load", load)
    with pytest.raises(EOFError, match="Ran out of input"):
        petrichor.main(["components"])


def test_no_words_at_all_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys)
    assert code == 2 and "Usage: petrichor" in out and err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="nobody sends SIGTERM there")
def test_sigterm(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ComponentFile, "load", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    assert run(capsys, "components") == (143, "", "")
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe breaks in another way there")
@pytest.mark.parametrize("words", [["components"], ["components", "--json", "-"], ["--version"], ["--help"]])
def test_a_reader_who_goes_away(words: list[str]) -> None:
    """Python prints neither a traceback nor a complaint."""
    reading, writing = os.pipe()
    os.close(reading)
    code = f"from tabletop_cli.petrichor import main; main({words!r})"
    ran = subprocess.run([sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr and "Exception ignored" not in ran.stderr


# --- Completion ------------------------------------------------------------------------------------------------------


COMPLETE = """
import contextlib, io, json, os, sys
from tabletop_cli.petrichor import main
heavy = {"numba", "torch", "matplotlib", "scipy", "tabletop_agents", "tabletop_training", "tabletop_play"}
for environment in json.loads(sys.argv[1]):
    os.environ.update(environment)
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(told):
            main([])
    except SystemExit as end:
        assert not end.code, end.code
    assert not heavy & set(sys.modules), environment
    print(json.dumps(told.getvalue().splitlines()))
"""


def completed(shell: str, *texts: str) -> list[list[str]]:
    """The completions of each text. They run in a new process, which is checked to load nothing heavy."""
    ran = subprocess.run(
        [sys.executable, "-c", COMPLETE, json.dumps([asking(shell, typed) for typed in texts])],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def asking(shell: str, typed: str) -> dict[str, str]:
    """The environment in which a shell asks for completions."""
    words = re.split(r"[ ]|(?=:)|(?<=:)", typed)  # as bash cuts them
    return {
        "_PETRICHOR_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": typed.split(" ")[-1],
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


IN_BASH: list[tuple[str, list[str]]] = [
    ("petrichor rev", ["review"]),
    ("petrichor train exp", ["exploiter"]),
    ("petrichor distil sea", ["search"]),
    ("petrichor evaluate --until", ["--until-width"]),
    ("petrichor evaluate random gr", ["greedy"]),
    ("petrichor evaluate policy:", list(shipped_policies(GAME))),
    ("petrichor evaluate search-200:ve", ["versus"]),
    ("petrichor difficulty --agents greedy,policy:so", ["solo"]),
    ("petrichor evaluate random --variants double_card,no", [f"double_card,{name}" for name in VARIANTS[1:3]]),
    ("petrichor play --modules ", list(MODULES)),
    ("petrichor train solo", [name for name in shipped_settings(GAME) if name.startswith("solo")]),
    ("petrichor distil outcomes ", list(shipped_policies(GAME))),
    ("petrichor strength --part c", ["curve"]),
    ("petrichor dataset greedy --reward ", ["win", "margin", "points"]),
    ("petrichor train general --device cu", ["cuda"]),
    ("petrichor review run", []),  # bash completes files itself
]


def test_bash() -> None:
    told = completed("bash", *(typed for typed, _ in IN_BASH))
    assert dict(zip((typed for typed, _ in IN_BASH), told, strict=True)) == dict(IN_BASH)


@pytest.mark.slow
def test_other_shells() -> None:
    typed, policies = "petrichor evaluate policy:", [f"policy:{name}" for name in shipped_policies(GAME)]
    assert completed("fish", typed) == [policies]
    assert [line.partition(":::")[0] for line in completed("powershell", typed)[0]] == policies
    ((line, *others),) = completed("zsh", "petrichor rev")
    assert '"review":' in line and not others


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_script_can_be_shown(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PETRICHOR_COMPLETE", f"source_{shell}")
    ran = CliRunner().invoke(petrichor.app, [], prog_name="petrichor")
    assert ran.exit_code == 0 and f"complete_{shell}" in ran.stdout and "petrichor" in ran.stdout


def test_only_a_command_of_its_own_name_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    for words, offered in ((["--help"], True), ([connect_four.GAME.home, "--help"], False)):
        with pytest.raises(SystemExit):
            petrichor.main(words) if offered else any_game(words)
        assert ("--install-completion" in capsys.readouterr().out) == offered


def test_what_is_completed_is_what_there_is() -> None:
    assert [make_agent(name, GAME).name for name in completion.AGENTS] == list(completion.AGENTS)
    for policy in shipped_policies(GAME):
        assert checkpoint_path(policy, GAME).is_file()
    assert completion.one_more(VARIANTS, "double_card,") == [f"double_card,{name}" for name in VARIANTS[1:]]


# --- The page --------------------------------------------------------------------------------------------------------


def test_the_page_is_of_these_commands() -> None:
    from docs import command_pages

    page = PAGE.read_text(encoding="utf-8")
    for name, text in command_pages.blocks().items():
        assert f"<!-- {name} -->\n{text}\n<!-- end of {name} -->" in page, f"{name}: make docs writes it anew"


def test_the_page_explains_what_commands_share() -> None:
    from docs import command_pages

    def listed(several: Sequence[command_pages.Command]) -> dict[str, Sequence[command_pages.Command]]:
        return {"game": several}

    seed = command_pages.Parameter("--seed", "N", "The seed.", "0", False)
    first = command_pages.Command("play", PLAY, "Play.", (), (seed,))
    second = replace(first, words="watch")
    assert set(command_pages.shared(listed([first, second]))) == {"--seed N"}
    assert not command_pages.shared(listed([first]))
    assert not command_pages.shared(listed([first, replace(second, parameters=(replace(seed, default="1"),))]))
