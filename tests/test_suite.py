"""Tasks of the suite, and results files: what they hold, that anybody can check them, and that bad ones are refused."""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from petrichor_env import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import RandomAgent
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.record import FORFEIT
from tabletop_engine.seeds import CHOOSING, EVALUATION, SUITE
from tabletop_training.evergreen.tasks import TASKS as EVERGREEN
from tabletop_training.measure.evaluation import play_games
from tabletop_training.petrichor.tasks import TASKS
from tabletop_training.suite import play, results
from tabletop_training.suite.tasks import LEARNED, NEW, Task, by_name, task_of

ROOT = Path(__file__).parents[1]
SMALL = by_name(
    (
        Task(name="solo-v1", about="one", learn=(Config(),)),
        Task(name="players-v1", about="more", learn=(Config(players=2),), play=(Config(players=3),), rival="random"),
        Task(name="editions-v1", about="numbers", learn=(Config(),), editions=2),
    )
)


# --- Tasks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tasks", [TASKS, EVERGREEN], ids=["petrichor", "evergreen"])
def test_tasks_are_what_their_names_promise(tasks: tuple[Task, ...]) -> None:
    assert len({task.name for task in tasks}) == len(tasks)
    for task in tasks:
        assert task.name.endswith("-v1") and (task.steps is None) != (task.minutes is None)
        configs, editions = task.parts[NEW]
        assert bool(task.rival) == any(config.players > 1 for config in configs)
        if LEARNED not in task.parts:
            assert set(configs) == set(task.learn)
            continue
        learned, seen = task.parts[LEARNED]
        assert set(learned) == set(task.learn)
        if task.editions:
            assert not set(editions or ()) & set(seen or ()) and set(editions or ()) <= set(range(*SUITE))
            assert not set(editions or ()) & {*range(*CHOOSING), *range(*EVALUATION)}
        else:
            assert not set(configs) & set(learned)  # new ones are not learned


def test_variants_learns_each_variant_but_not_the_four_sets() -> None:
    task = by_name(TASKS)["variants-v1"]
    assert (len(task.learn), len(task.play)) == (12, 4)
    assert {name for config in task.learn for name in config.variants} == set(VARIANTS)


DIGESTS = json.loads((Path(__file__).parent / "suite_digests.json").read_text())


def slow_if_many(task: Task) -> Any:
    """Thousands of editions take half a minute to draw."""
    return pytest.param(task, id=task.id, marks=[pytest.mark.slow] if task.editions >= 1000 else [])


@pytest.mark.parametrize("task", [slow_if_many(task) for task in (*TASKS, *EVERGREEN)])
def test_a_changed_task_needs_another_version(task: Task) -> None:
    """Rules, printed numbers, editions, games, budget, the rival's file: published scores would no longer compare."""
    assert DIGESTS[task.id] == task.digest


@pytest.mark.parametrize("name", ["solo-v1", "players-v1", "editions-10-v1", "variants-v1"])
def test_environments_of_a_task_play_its_games(name: str) -> None:
    task = by_name(TASKS)[name]
    assert len(task.environments) == len(task.learn)
    for (made, arguments), config in list(zip(task.environments, task.learn, strict=True))[:2]:
        env: Any = gymnasium.make(made, **json.loads(json.dumps(arguments)))
        env.reset(seed=1)
        own = env.unwrapped.batch.config
        assert (own.players, getattr(own, "variants", ())) == (config.players, getattr(config, "variants", ()))
        env.close()


def test_unknown_tasks_are_refused_with_a_list() -> None:
    assert task_of(SMALL, "petrichor/solo-v1") is SMALL["solo-v1"] is task_of(SMALL, "solo-v1")
    for name in ("solo-v2", "evergreen/solo-v1", "x" * 500):
        with pytest.raises(ConfigError, match="there are solo-v1, players-v1"):
            task_of(SMALL, name)


# --- Results files ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of all small tasks, played by random, and by greedy alone."""
    place = tmp_path_factory.mktemp("suite")
    for name in SMALL:
        play.main(SMALL, name, ["random"], games=24, output=place / name)
    play.main(SMALL, "solo-v1", ["greedy"], games=24, output=place / "greedy")
    return place


def file_of(folder: Path, name: str) -> Path:
    return folder / name / f"{name}-random-0.results"


@pytest.mark.parametrize("name", SMALL)
def test_games_are_played_again_to_the_same_table(folder: Path, name: str) -> None:
    file = file_of(folder, name)
    found = results.verify(file, SMALL)
    assert found.task is SMALL[name] and found.header["facts"]["agent"] == "random"
    told = json.loads((folder / name / "suite.json").read_text())["agents"][0]
    assert found.scores[NEW].won.value == pytest.approx(told["won"]["value"])
    assert list(found.scores) == list(SMALL[name].parts)


def test_scores_are_those_of_the_games(folder: Path) -> None:
    """Played by `play_games` from the seeds that follow from salt and commitment."""
    found = results.verify(folder / "greedy" / "solo-v1-greedy-0.results", SMALL)
    seed = results.seeds_of(results.SALT, found.commitment)(NEW, 0)
    played = play_games(["greedy"], Config(), 24, seed)
    assert found.scores[NEW].won.value == played.won.mean()
    assert found.scores[NEW].margin.value == pytest.approx(played.margins.mean())
    assert seed >= 2**61


def test_seeds_follow_from_what_a_file_is_about(folder: Path) -> None:
    files = (file_of(folder, "solo-v1"), folder / "greedy" / "solo-v1-greedy-0.results")
    headers = [results.read_header(file) for file in files]
    seeds = {results.seeds_of(salt, results.commitment_of(one["facts"]))(NEW, 0) for one in headers for salt in "ab"}
    assert len(seeds) == 4
    first = results.seeds_of("a", "b")
    assert len({first(part, number) for part in (NEW, LEARNED) for number in range(3)}) == 6


def test_a_stopped_command_goes_on_to_the_same_files(folder: Path, tmp_path: Path) -> None:
    before = file_of(folder, "players-v1").read_bytes()
    play.main(SMALL, "players-v1", ["random"], games=24, output=tmp_path / "own")
    blocks = sorted((tmp_path / "own" / "games").iterdir())
    blocks[-1].unlink()
    again = tmp_path / "own" / "players-v1-random-0.results"
    again.unlink()
    play.resume(tmp_path / "own", SMALL)
    assert again.read_bytes() == before


def changed(file: Path, to: Path, edit: Any) -> Path:
    """A copy of a file, with its header and its numbers edited: `edit(header, lengths, points, actions)`."""
    data = file.read_bytes()
    start = len(results.MAGIC) + 4
    end = start + int.from_bytes(data[start - 4 : start], "little")
    header, body = json.loads(data[start:end]), bytearray(zlib.decompress(data[end:]))
    edit(header, body)
    text = json.dumps(header).encode()
    to.write_bytes(results.MAGIC + len(text).to_bytes(4, "little") + text + zlib.compress(bytes(body)))
    return to


GAMES = 24
LENGTHS, POINTS = 2 * GAMES, 2 * 2 * GAMES


def set_at(place: int, value: int) -> Any:
    def edit(header: dict[str, Any], body: bytearray) -> None:
        body[place] = value

    return edit


def set_header(*keys: str, value: Any) -> Any:
    def edit(header: dict[str, Any], body: bytearray) -> None:
        part = header
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (set_at(LENGTHS + POINTS, 255), r"new solo, game 0 \(seed \d+\): action 1 is not legal"),
        (set_at(LENGTHS, 99), r"game 0 .*: ends with other points than the file says"),
        (set_at(LENGTHS + 4 * 5, 99), r"game 5 .*: ends with other points"),
        (set_header("scores", "new", "won", "value", value=1.0), "new: its table has won .*its games give"),
        (set_header("scores", "new", "games", value=10_000), "its table has games 10000"),
        (set_header("scores", "old", value={}), "its table must have the parts new"),
        (set_header("scores", value={}), "new: its table has won None"),
        (set_header("facts", "agent", value="better"), r"game \d+ .*legal"),  # other facts, other seeds
        (set_header("facts", "learner", value="a\nb"), "learner: must be at most 200 printable"),
        (set_header("facts", "versions", value={"rules_version": 99}), "played by rules version 99"),
        (set_header("facts", "versions", value={"a": {}}), "versions: must have at most 20 names"),
        (set_header("facts", "digest", value="0"), "petrichor/solo-v1 was another task there"),
        (set_header("facts", "task", value="petrichor/none-v1"), "there is no such task; there are"),
        (set_header("facts", "more", value=1), "its facts must have task, digest"),
        (set_header("salt", value="other"), r"game \d+ .*legal"),
        (set_header("salt", value=5), "salt=5: not what a results file has there"),
        (set_header("games", value=10**30), "games=1000000000000000000000000000000: must be 1 to 10,000"),
        (set_header("games", value=23), "bytes of games, not what 23 games"),
        (set_header("games", value=True), "games=True: not what"),
    ],
)
def test_a_changed_file_is_refused(folder: Path, tmp_path: Path, edit: Any, message: str) -> None:
    with pytest.raises(TabletopError, match=message) as caught:
        results.verify(changed(file_of(folder, "solo-v1"), tmp_path / "file.results", edit), SMALL)
    assert str(caught.value).startswith(str(tmp_path / "file.results"))


def test_games_that_are_too_long_or_too_short_are_named(folder: Path, tmp_path: Path) -> None:
    def longer(header: dict[str, Any], body: bytearray) -> None:
        body[2] += 1  # of game 1
        lengths = np.frombuffer(bytes(body[:LENGTHS]), "<u2")
        body.insert(LENGTHS + POINTS + int(lengths[:2].sum()) - 1, 0)

    def shorter(header: dict[str, Any], body: bytearray) -> None:
        lengths = np.frombuffer(bytes(body[:LENGTHS]), "<u2")
        del body[LENGTHS + POINTS + int(lengths[0]) - 1]
        body[0] -= 1

    for edit, message in ((longer, "game 1 .* is over after"), (shorter, "game 0 .* has not ended")):
        with pytest.raises(TabletopError, match=message):
            results.verify(changed(file_of(folder, "solo-v1"), tmp_path / "file.results", edit), SMALL)


def test_hostile_files_are_refused_before_they_take_memory(folder: Path, tmp_path: Path) -> None:
    file, data = tmp_path / "file.results", file_of(folder, "solo-v1").read_bytes()
    start = len(results.MAGIC) + 4
    end = start + int.from_bytes(data[start - 4 : start], "little")
    nested = b'{"facts":' + b"[" * 90_000
    cases = {
        "is no results file": b"",
        "is no results file; `suite` writes them": b"PK\x03\x04" * 100,
        "its header has 4,294,967,295 bytes": results.MAGIC + b"\xff" * 40,
        "its header is not JSON": results.MAGIC + len(nested).to_bytes(4, "little") + nested,
        "unpack to more than 64 MB": data[:end] + zlib.compress(bytes(100_000_000)),
        "its games are damaged": data[:end] + b"none",
        "are incomplete": data[:-10],
        "more than 20 MB": data + bytes(20_000_000),
    }
    for message, content in cases.items():
        file.write_bytes(content)
        with pytest.raises(TabletopError, match=message):
            results.verify(file, SMALL)
    for missing in (tmp_path / "none", tmp_path):
        with pytest.raises(TabletopError, match="can't be read"):
            results.verify(missing, SMALL)


def test_damaged_files_raise_nothing_else(folder: Path, tmp_path: Path) -> None:
    """Bytes changed, cut off and put in, at random places of the file and of its unpacked numbers."""
    draw, file = random.Random(1), tmp_path / "file.results"
    data = file_of(folder, "players-v1").read_bytes()
    size, refused = len(zlib.decompress(packed_of(file_of(folder, "solo-v1")))), 0
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(draw.choice([1, 3])):
            place = draw.randrange(len(results.MAGIC), len(broken))
            broken[place : place + draw.choice([0, 1, 1, 9])] = draw.randbytes(draw.choice([0, 1, 1, 4]))
        file.write_bytes(broken)
        refused += _is_refused(file)
    for _ in range(60):
        edit = set_at(draw.randrange(size), draw.randrange(256))
        refused += _is_refused(changed(file_of(folder, "solo-v1"), file, edit))
    assert refused >= 200  # few places don't matter, such as a byte that was the same


def _is_refused(file: Path) -> bool:
    try:
        results.verify(file, SMALL)
    except TabletopError as error:
        return len(str(error)) < 1000
    return False


# --- Who plays -------------------------------------------------------------------------------------------------------


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    for given, message in (
        ({"agents": []}, "name at least one"),
        ({"agents": ["random"], "games": 10_001}, "games=10001: must be an int from 1 to 10,000"),
        ({"agents": ["random"], "salt": ""}, "salt='': must be 1 to 200"),
        ({"agents": ["nobody"]}, "nobody"),
        (
            {"agents": ["random", "greedy"], "learner": "me"},
            "random, greedy: both are seed 0 of me; put the policy of another run",
        ),
        ({"agents": ["random"], "learner": "m" * 300}, "learner: must be at most 200 printable"),
    ):
        with pytest.raises(TabletopError, match=message):
            play.main(SMALL, "solo-v1", output=tmp_path / "none", **given)
    assert not (tmp_path / "none").exists()


class Forfeiting:
    """Loses half of its games by an answer that is not legal."""

    name = "tests.test_suite:Forfeiting"
    forfeits = True

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        actions = RandomAgent().act(decisions, generator)
        return np.where(generator.random(len(actions)) < 0.02, FORFEIT, actions)


def test_forfeits_are_kept_as_such(tmp_path: Path) -> None:
    play.main(SMALL, "players-v1", [Forfeiting.name], games=60, output=tmp_path / "own")
    (file,) = (tmp_path / "own").glob("*.results")
    assert results.verify(file, SMALL).header["facts"]["agent"] == Forfeiting.name
    assert GAME.num_actions in zlib.decompress(packed_of(file))[-4000:]


def packed_of(file: Path) -> bytes:
    data = file.read_bytes()
    start = len(results.MAGIC) + 4
    return data[start + int.from_bytes(data[start - 4 : start], "little") :]


def test_evergreen_has_no_task_that_nobody_can_win() -> None:
    assert all(config.players > 1 for task in EVERGREEN for config in (*task.learn, *task.play))
    assert EvergreenConfig(players=2) in EVERGREEN[0].learn
    assert replace(EVERGREEN[0], rival="greedy").digest != EVERGREEN[0].digest
    assert GAME.num_actions < 255
