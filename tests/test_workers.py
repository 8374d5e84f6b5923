"""Games played by several processes are the same as those of one process, even if some die."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from petrichor_env import Config
from tabletop_agents import GreedyAgent, RandomAgent
from tabletop_cli import petrichor as cli
from tabletop_cli import run
from tabletop_engine.errors import ConfigError, IllegalAction, TabletopError
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_training.measure import matches, tournament, workers
from tabletop_training.measure.cluster import workers as workers_of
from tabletop_training.measure.evaluation import HERE, EvaluationStopped, Workers, blocks_of, rotations
from tabletop_training.measure.matches import evaluate
from tabletop_training.measure.workers import Processes
from tabletop_training.petrichor import difficulty
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import play_blocks
from tests.support.results import assert_same, bytes_of, files_of
from tests.support.workers import KILL, Dying, Noting

SEED = 50


@pytest.fixture(scope="module")
def two() -> Iterator[Processes]:
    with Processes(2) as processes:
        yield processes


def of_two_players(*agents: Agent) -> tuple[list[Agent], Config]:
    return list(agents), Config(players=2)


# --- The same games ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [("greedy", "random"), pytest.param(("policy-sample:versus", "random"), marks=pytest.mark.slow)]
)
def test_a_match(two: Processes, names: tuple[str, ...]) -> None:
    """Agents that draw from their generator, and a network, which answers for all games of a block at once."""
    config = Config(players=2)
    agents = matches.make_agents(names, config)
    finished: list[int] = []
    kept: dict[str, Any] = {"record_actions": True, "record_probabilities": names[0].startswith("policy")}
    here = evaluate(agents, config, 200, SEED, **kept)
    there = evaluate(agents, config, 200, SEED, workers=two, on_finished=finished.append, **kept)
    assert_same(here.results[0], there.results[0])
    assert sum(finished) == 200 and len(finished) > 2
    assert here.reports[0].estimates == there.reports[0].estimates
    assert two.is_open  # for the next games


def test_games_for_one_of_another_game(two: Processes) -> None:
    agents: list[Agent] = [RandomAgent(), GreedyAgent()]
    here, there = (evaluate(agents, EvergreenConfig(), 150, SEED, workers=who) for who in (HERE, two))
    for one, other in zip(here.results, there.results, strict=True):
        assert_same(one, other)


def test_it_stops_at_the_same_width(two: Processes) -> None:
    """Blocks that were begun ahead are not counted."""
    agents, config = of_two_players(GreedyAgent(), RandomAgent())
    told: dict[str, Any] = {"games": 5000, "seed": SEED, "until_width": 0.06}
    here, there = evaluate(agents, config, **told), evaluate(agents, config, **told, workers=two)
    assert here.stopped == there.stopped == "width"
    assert_same(here.results[0], there.results[0])


def test_the_thinking_of_agents_is_recorded(two: Processes) -> None:
    cell = Cell("random", [RandomAgent(), RandomAgent()], Config(players=2), 4, SEED)
    here, there = (next(play_blocks([cell], None, who, record_thinking=True)).results.thinking for who in (HERE, two))
    assert (here[:, 1] == there[:, 1]).all() and there[:, 1].min() > 0


@pytest.mark.slow
def test_the_files_of_commands(two: Processes, tmp_path: Path) -> None:
    config = Config(players=2)
    for main, names in ((matches.main, ["greedy", "random"]), (tournament.main, ["greedy", "random", "rollout-1"])):
        folders = [
            main(names, config, games=70, seed=SEED, workers=who, output=tmp_path / main.__module__ / str(who.number))
            for who in (HERE, two)
        ]
        assert files_of(folders[0]) == files_of(folders[1])
        games = [(folder / "games.csv").read_bytes() for folder in folders]
        assert games[0] == games[1] and len(games[0]) > 1000


@pytest.mark.slow
def test_a_study(two: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many games one after the other; several processes play them at the same time."""
    monkeypatch.setattr(difficulty, "write_report", lambda *arguments: None)
    one, other = (
        difficulty.main(["random", "greedy"], 3, seed=SEED, output=tmp_path / str(who.number), workers=who)
        for who in (HERE, two)
    )
    assert bytes_of(one) == bytes_of(other)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("1", "2"):
        words = ["evaluate", "greedy", "--games", "80", "--workers", number, "--output", str(tmp_path / number)]
        cli.app(words, standalone_mode=False)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")
    assert "greedy" in capsys.readouterr().out


def test_results_come_in_order(two: Processes) -> None:
    """A long block before short ones."""
    agents, config = of_two_players(GreedyAgent(), RandomAgent())
    long = blocks_of(agents, config, np.arange(300), rotations(2))
    short = [block for seed in range(6) for block in blocks_of(agents, config, [1000 + seed], rotations(2))]
    finished: list[int] = []
    results = list(two.play([*long, *short], on_finished=finished.append))
    assert [len(result) for result in results] == [600, *[2] * 6]
    assert [int(result.seeds[0]) for result in results] == [0, *range(1000, 1006)]
    assert finished.index(600) > 0


# --- What goes wrong --------------------------------------------------------------------------------------------------


def test_a_worker_that_dies_costs_its_block_once_more(tmp_path: Path) -> None:
    """A new process takes its place. The other worker goes on."""
    agents, config = of_two_players(Dying(tmp_path / "pids"), RandomAgent())
    here = evaluate([RandomAgent(), RandomAgent()], config, 300, SEED)
    with Processes(2) as processes:
        there = evaluate(agents, config, 300, SEED, workers=processes)
    assert (tmp_path / "pids.dead").exists()
    assert_same(here.results[0], there.results[0])
    assert len(set((tmp_path / "pids").read_text().split())) == 3


@pytest.mark.slow
def test_a_block_whose_worker_always_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TRIES", 2)
    agents, config = of_two_players(Dying(tmp_path / "pids", always=True), RandomAgent())
    died = rf"from seed {SEED}: 2 workers died.*memory"
    with Processes(1) as processes, pytest.raises(TabletopError, match=died):
        evaluate(agents, config, 10, SEED, workers=processes)


@pytest.mark.slow
def test_a_worker_that_dies_with_nothing_to_do(tmp_path: Path) -> None:
    agents, config = of_two_players(Noting(tmp_path / "pids"), RandomAgent())
    with Processes(1) as processes:
        first = evaluate(agents, config, 10, SEED, workers=processes)
        os.kill(int((tmp_path / "pids").read_text().split()[0]), KILL)
        again = evaluate(agents, config, 10, SEED, workers=processes)
    assert_same(first.results[0], again.results[0])


def test_stopped_and_used_again(two: Processes) -> None:
    agents, config = of_two_players(GreedyAgent(), RandomAgent())
    finished: list[int] = []
    told: dict[str, Any] = {"on_finished": finished.append, "should_stop": lambda: len(finished) >= 6}
    evaluation = evaluate(agents, config, 2000, SEED, workers=two, **told)
    assert evaluation.stopped == "interrupted" and 0 < evaluation.reports[0].games < 2000
    with pytest.raises(EvaluationStopped):
        evaluate(agents, config, 2000, SEED, workers=two, should_stop=lambda: True)
    again = evaluate(agents, config, evaluation.reports[0].games, SEED, workers=two)
    assert_same(again.results[0], evaluation.results[0])


class Wrong(RandomAgent):
    name = "wrong"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return np.full(len(decisions), -1)


def test_errors_are_those_of_one_process(two: Processes) -> None:
    agents, config = of_two_players(RandomAgent(), Wrong())
    texts = []
    for who in (HERE, two):
        with pytest.raises(IllegalAction, match="agent 'wrong'") as error:
            evaluate(agents, config, 10, SEED, workers=who)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


def test_agents_that_cannot_be_sent(two: Processes) -> None:
    agent = RandomAgent()
    agent.name = type("Name", (str,), {})("random")  # an instance of a class that no import finds
    with pytest.raises(ConfigError, match=r"agents random, random: can't be sent to another process"):
        evaluate([agent, RandomAgent()], Config(players=2), 10, SEED, workers=two)


def test_another_version_does_not_play() -> None:
    agents, config = of_two_players(RandomAgent(), RandomAgent())
    (block,) = blocks_of(agents, config, [SEED], rotations(2))
    (task,) = workers._tasks([block], {})
    assert len(workers.play_task(task, lambda: task.agents)) == 2
    other = task._replace(version=(*task.version[:-1], "another"))
    with pytest.raises(ConfigError, match=r"another version of the game: .* instead of .*another"):
        workers.play_task(other, lambda: task.agents)


def test_agents_are_made_once_for_many_blocks() -> None:
    agents, config = of_two_players(RandomAgent(), RandomAgent())
    blocks = [block for seed in (1, 2) for block in blocks_of(agents, config, [seed], rotations(2))]
    first, second = workers._tasks(blocks, {})
    assert first.agents is second.agents and first.key == second.key
    fetched: list[str] = []

    def fetching(task: workers.Task) -> Callable[[], bytes]:
        def fetch() -> bytes:
            fetched.append(task.key)
            return task.agents

        return fetch

    workers._ready.clear()
    for task in (first, second):
        workers.play_task(task, fetching(task))
    assert fetched == [first.key]
    for players in (3, 4, 5):  # other agents come, and the first ones are forgotten
        others, other = [RandomAgent()] * players, replace(config, players=players)
        (block,) = blocks_of(others, other, [1], rotations(players))
        (task,) = workers._tasks([block], {})
        workers.play_task(task, fetching(task))
    assert len(workers._ready) == 4
    workers._ready.clear()


def started(program: str, folder: Path) -> subprocess.Popen[str]:
    """A process with its own session, as a terminal has. All processes that it starts share its output."""
    return subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there the output of a process that was killed ends in another way")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """So does the process that tracks their resources: the output ends when all processes that share it are gone."""
    words = "evaluate random greedy --games 1000000 --workers 2 --output out"
    process = started(f"from tabletop_cli import petrichor; petrichor.main({words!r}.split())", tmp_path)
    try:
        deadline = time.monotonic() + 240
        while not (tmp_path / "out" / "games").exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
        printed, _ = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, KILL)
    assert "Traceback" not in printed


CTRL_C = """
import os, signal
from tabletop_cli import petrichor
from tabletop_training.measure.workers import Processes
start, begun = Processes.start, []

def start_and_stop(self, task):
    begun.append(start(self, task))
    if len(begun) == 2:
        os.killpg(0, signal.SIGINT)
    return begun[-1]

Processes.start = start_and_stop
petrichor.main("evaluate random greedy --games 200000 --workers 2 --output out".split())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to a group of processes")
@pytest.mark.slow
def test_ctrl_c_while_workers_start(tmp_path: Path) -> None:
    """The first process stops as usual, and the others print nothing."""
    process = started(CTRL_C, tmp_path)
    printed, _ = process.communicate(timeout=240)
    assert "nothing was kept" in printed and "Traceback" not in printed and "KeyboardInterrupt" not in printed
    assert process.returncode == 130


# --- Options ----------------------------------------------------------------------------------------------------------


def test_without_semaphores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container whose /dev/shm is read-only."""

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("multiprocessing.synchronize.SemLock.__init__", refused)
    with pytest.raises(TabletopError, match=r"several processes need a /dev/shm .*: Read-only file system"):
        Processes(2).__enter__()


def test_numbers_of_workers() -> None:
    assert workers_of() is HERE and workers_of(1) is HERE
    three = workers_of(3)
    assert isinstance(three, Processes) and three.number == 3
    for wrong in (0, -1, 10_001, 1.5, True):
        with pytest.raises(ConfigError, match="workers="):
            Processes(wrong)  # type: ignore[arg-type]


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TabletopError, match=r'--ray needs the extra "ray"'), workers_of(None, "local"):
        pass


@pytest.mark.parametrize(
    ("words", "full"),
    [
        ("evaluate greedy random --ray", "evaluate greedy random --ray local"),
        ("evaluate --ray greedy random", "evaluate --ray local greedy random"),
        ("evaluate --ray policy:versus random", "evaluate --ray local policy:versus random"),
        ("evaluate --ray auto greedy", "evaluate --ray auto greedy"),
        ("evaluate --ray 10.0.0.1:6379 greedy", "evaluate --ray 10.0.0.1:6379 greedy"),
        ("evaluate --ray ray://head.local:10001 greedy", "evaluate --ray ray://head.local:10001 greedy"),
        ("evaluate --ray --games 5 greedy", "evaluate --ray local --games 5 greedy"),
        ("evaluate greedy --ray=auto", "evaluate greedy --ray=auto"),
        ("evaluate greedy", "evaluate greedy"),
        ("components --json", "components --json -"),
        ("components --json --overlay FILE", "components --json - --overlay FILE"),
        ("components --json - --overlay FILE", "components --json - --overlay FILE"),
        ("evaluate greedy --json greedy.json", "evaluate greedy --json greedy.json"),
    ],
)
def test_the_address_and_the_json_file_may_be_left_out(words: str, full: str) -> None:
    assert run.with_values(words.split()) == full.split()


def test_here_is_a_context_like_the_others() -> None:
    with HERE as who:
        assert isinstance(who, Workers) and who.number == 1
