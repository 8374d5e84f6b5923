"""What every command that measures by games must keep to: what a stop leaves, going on, and settings of others."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from matplotlib.figure import Figure

from petrichor_env import GAME, Config
from petrichor_env.component_files import COMPONENTS
from tabletop_engine.errors import TabletopError
from tabletop_training.evergreen import balance
from tabletop_training.files.job import SETTINGS_FILE
from tabletop_training.measure import benchmark, ladder, matches, tournament, tune
from tabletop_training.petrichor import difficulty, strength
from tabletop_training.petrichor.benchmark import PLAN
from tests.support.studies import SEED
from tests.support.workers import stopping_after

TWO, SOLO = Config(players=2), Config()
AGENTS = ("random", "greedy")
ROWS = [(strength.Player(number), strength.HARDEST) for number in (0, 4, 3)]


class Command(NamedTuple):
    """A command with its arguments.

    begin, resume: take `output` or the folder, and `workers`.
    stops: so many blocks are played before each stop; something is told after the first one.
    """

    name: str
    begin: Callable[..., Path]
    resume: Callable[..., Path]
    stops: tuple[int, ...]


def _tune(**how: Any) -> Path:
    config = {"players": 1, "components": "own.toml"}
    task = tune.Task("win_rate", 0.5, "random", config, trials=12, games=16, verifying=20)
    return tune.main(GAME, COMPONENTS, task, **how)


def _in_its_folder(main: Callable[..., Path]) -> Callable[..., Path]:
    return lambda folder, **how: main(resume=folder, **how)


_MATCH = partial(matches.main, AGENTS, games=150, seed=3)
_BENCHMARK = partial(benchmark.main, PLAN, AGENTS, games=2, duel_games=6, reference="none")
_DIFFICULTY = partial(difficulty.main, AGENTS[:1], seed=SEED)
COMMANDS = {
    "evaluate": Command("evaluate", partial(_MATCH, config=TWO), partial(matches.resume, game=GAME), (2,)),
    # an agent may be a block ahead of the other
    "evaluate, alone": Command("evaluate", partial(_MATCH, config=SOLO), partial(matches.resume, game=GAME), (3, 1)),
    "tournament": Command(
        *("tournament", partial(tournament.main, AGENTS, TWO, games=150, seed=3)),
        *(partial(tournament.resume, game=GAME), (2,)),
    ),
    "ladder": Command(
        *("ladder", partial(ladder.main, [SOLO, TWO], (1, 2), AGENTS, games=4)),
        *(partial(ladder.resume, configs=[SOLO, TWO]), (2,)),
    ),
    "benchmark": Command("benchmark", _BENCHMARK, partial(benchmark.resume, plan=PLAN), (20, 12)),
    "difficulty": Command("difficulty", partial(_DIFFICULTY, games=4), _in_its_folder(difficulty.main), (9, 5)),
    "difficulty, editions": Command(
        *("difficulty", partial(_DIFFICULTY, games=3, editions=2, edition_games=2)),
        *(_in_its_folder(difficulty.main), (20,)),
    ),
    "difficulty, changes": Command(
        *("difficulty", partial(_DIFFICULTY, games=3, components="own.toml", effect_games=2)),
        *(_in_its_folder(difficulty.main), (40,)),
    ),
    "strength": Command("strength", partial(strength.main, games=1, part="ablations"), strength.resume, (1,)),
    # among the candidates, the finalists and the last games
    "tune": Command("tune", _tune, partial(tune.resume, game=GAME, file=COMPONENTS), (5, 2, 2, 2)),
    "balance": Command(
        *("balance", partial(balance.main, "random", [2, 3], 2, 2, 9)),
        *(_in_its_folder(balance.main), (1,)),
    ),
    "balance, changes": Command(
        *("balance", partial(balance.main, "random", [2, 3], 2, 2, 9, "flags.toml", 5)),
        *(_in_its_folder(balance.main), (7,)),
    ),
}
SELDOM = ("difficulty, editions", "difficulty, changes", "balance, changes")
over_commands = pytest.mark.parametrize(
    "command",
    [pytest.param(one, id=name, marks=[pytest.mark.slow] * (name in SELDOM)) for name, one in COMMANDS.items()],
)
pytestmark = over_commands


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pictures, with small searches, and with overlay files in the current folder."""
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)
    monkeypatch.setattr(strength, "PARTS", {"ablations": ROWS})
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text("[tiles.cotton]\nscores = [6, 4, 1, 0]\n[pieces]\ndrops = 5\n", encoding="utf-8")
    Path("flags.toml").write_text("[flags]\npower_cap = 2\nseason_rounds = [2, 2, 2, 2]\n", encoding="utf-8")


def _without_times(told: Any) -> Any:
    if isinstance(told, dict):
        return {key: _without_times(value) for key, value in told.items() if "second" not in key}
    return [*map(_without_times, told)] if isinstance(told, list) else told


def results(folder: Path) -> dict[str, Any]:
    """What a command has written, but for times."""
    found: dict[str, Any] = {}
    for path in folder.iterdir():
        if path.suffix == ".json":
            found[path.name] = _without_times(json.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".csv":
            with path.open(newline="", encoding="utf-8") as file:
                found[path.name] = _without_times([*csv.DictReader(file)])
        elif path.is_file() and path.stem != "benchmark":  # its page has the agents' speeds
            found[path.name] = path.read_bytes()
    return found


def test_nothing_finished_leaves_nothing(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    if command.name == "benchmark":
        return  # it begins with the games of its reference
    with pytest.raises(KeyboardInterrupt):
        command.begin(output=Path("out"), workers=stopping_after(0))
    assert "nothing was kept" in capsys.readouterr().out and not Path("out").exists()


def test_stopped_and_gone_on_with(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    """The files are the same as without a stop, nothing is played twice, and overlay files are read only once."""
    whole, part = command.begin(output=Path("whole")), Path("part")
    first, *more = command.stops
    assert command.begin(output=part, workers=stopping_after(first)) == part
    assert re.search(rf"To continue: \w+ {command.name} --resume part\n", capsys.readouterr().out)
    for path in Path().glob("*.toml"):
        path.unlink()
    for stop in more:
        command.resume(part, workers=stopping_after(stop))
        assert results(part) != results(whole)
        assert "--resume part" in capsys.readouterr().out
    command.resume(part)
    assert results(part) == results(whole)
    capsys.readouterr()
    command.resume(part, workers=stopping_after(0))
    assert "Stopped" not in capsys.readouterr().out and results(part) == results(whole)


def test_settings_that_are_not_its_own_are_refused(command: Command) -> None:
    """They come from a folder that somebody may have sent: none is a crash, and none imports code by itself."""
    folder = command.begin(output=Path("out"), workers=stopping_after(command.stops[0]))
    file = folder / SETTINGS_FILE
    text = file.read_text(encoding="utf-8")
    good = json.loads(text)
    file.unlink()
    with pytest.raises(TabletopError, match="there is nothing to continue"):
        command.resume(folder)
    for damaged in ("[]", "{", "3", '{"players": 2}', "[" * 100_000):
        file.write_text(damaged, encoding="utf-8")
        with pytest.raises(TabletopError, match=f"not the settings of `.* {command.name}` of this version"):
            command.resume(folder)
    for key in good.keys() - {"edition_games"}:  # these are not looked at without editions
        wrong: list[Any] = [{"x": [{}]}, -1]
        for value in wrong:
            file.write_text(json.dumps({**good, key: value}), encoding="utf-8")
            with pytest.raises(TabletopError):
                command.resume(folder)
    for change, told in (
        ({"command": "x"}, f"settings of x of {good['game']}, not of"),
        ({"game": "x"}, "of x, not of"),
    ):
        file.write_text(json.dumps({**good, **change}), encoding="utf-8")
        with pytest.raises(TabletopError, match=told):
            command.resume(folder)
    file.write_text(json.dumps({**good, "more": 1}), encoding="utf-8")
    with pytest.raises(TabletopError, match="not the settings of"):
        command.resume(folder)
    if '"random"' in text:
        file.write_text(text.replace('"random"', '"os:system"'), encoding="utf-8")
        with pytest.raises(TabletopError, match=r"names os:system.*if you trust that code, add"):
            command.resume(folder)
    file.write_text(text, encoding="utf-8")
    for games in (folder / "games").glob("*"):
        games.write_bytes(b"PK")
    with pytest.raises(TabletopError, match="not games of a study of this version"):
        command.resume(folder)
