"""Studies: cells are played block by block, kept, gone on with, and refused if they are of something else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from petrichor_env import GAME, Config
from tabletop_agents import GreedyAgent, RandomAgent
from tabletop_engine.errors import TabletopError
from tabletop_training.files.job import Job, Stopped
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.measure import evaluation, matches
from tabletop_training.measure.evaluation import EvaluationStopped
from tabletop_training.measure.results import Results
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import play_blocks, play_cells, played
from tabletop_training.study.settings import keep_settings
from tabletop_training.study.store import Store
from tests.support.workers import stopping_after

TWO = Cell("random greedy", [RandomAgent(), GreedyAgent()], Config(players=2), 24, 7)
FIRST = Cell("first", [RandomAgent()], Config(), 12, 7)
ALONE = Cell("random", [RandomAgent()], Config(), 12, 7, [3, 4, 5])


def play(folder: Path, *cells: Cell, store: Store | None = None, **how: Any) -> dict[str, Results]:
    """The games of the cells that were finished, also if `workers` stop."""
    finished: dict[str, Results] = {}
    with Job(folder, resume=True) as job, suppress(Stopped):
        for cell, results, _ in play_cells(job, cells, store, **how):
            finished[cell.key] = results
    return finished


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 8 games, so that a cell has several."""
    monkeypatch.setattr(evaluation, "MAX_GAMES_AT_ONCE", 8)


@pytest.mark.usefixtures("small_blocks")
def test_a_stop_loses_at_most_a_block(tmp_path: Path) -> None:
    whole = play(tmp_path / "whole", TWO, ALONE)
    store = Store(tmp_path / "kept")
    assert play(tmp_path / "kept", TWO, ALONE, store=store, workers=stopping_after(2)) == {}
    begun = store.results(TWO)
    assert begun is not None and len(begun) == 16 and played(TWO, store) is None
    assert len(list((tmp_path / "kept" / "games").iterdir())) == 2, "a file a block"
    again = play(tmp_path / "kept", TWO, ALONE, store=store, workers=stopping_after(1 + 2))
    assert again.keys() == whole.keys()
    for key, results in whole.items():
        for name in ("seeds", "points", "places", "lengths", "decisions", "scored", "lineups"):
            assert np.array_equal(getattr(again[key], name), getattr(results, name)), (key, name)
    assert play(tmp_path / "kept", TWO, ALONE, store=store, workers=stopping_after(0)) == {}, "nothing is played twice"
    kept = played(ALONE, store)
    assert kept is not None and kept.editions == whole["random"].editions and kept.config == ALONE.config


@pytest.mark.usefixtures("small_blocks")
def test_replays_get_all_games_of_a_cell(tmp_path: Path) -> None:
    """Actions are not kept, so a cell that was begun is played again."""
    store = Store(tmp_path / "kept")
    assert play(tmp_path / "kept", TWO, store=store, workers=stopping_after(1)) == {}
    results = play(tmp_path / "kept", TWO, store=store, record_actions=True)[TWO.key]
    assert results.actions is not None and len(results.actions) == 24


@pytest.mark.usefixtures("small_blocks")
def test_growing_cells_in_turns(tmp_path: Path) -> None:
    """Blocks of the cells alternate, and grow; a stop between two cells leaves the first one block ahead."""
    cells = [replace(cell, key=name, seed=5, games=700, growing=True) for name, cell in (("a", FIRST), ("b", FIRST))]
    order = [(one.cell.key, len(one.block)) for one in play_blocks(cells, in_turns=True)]
    sizes = [length for key, length in order if key == "a"]
    assert order == [(key, length) for length in sizes for key in "ab"] and sum(sizes) == 700
    assert sizes[:2] == [8, 8], "at most as many games as are played at once"
    store = Store(tmp_path)
    with pytest.raises(EvaluationStopped):
        list(play_blocks(cells, store, stopping_after(3), in_turns=True))
    again = [one.cell.key for one in play_blocks(cells, store, in_turns=True)]
    assert again[:2] == ["b", "a"] and len(again) == len(order) - 3


def test_a_store_forgets(tmp_path: Path) -> None:
    store = Store(tmp_path)
    play(tmp_path, TWO, ALONE, store=store)
    store.forget(TWO)
    assert played(TWO, store) is None and played(ALONE, store) is not None
    store.forget(ALONE)
    assert not (tmp_path / "games").exists()


def test_settings_with_values_of_another_kind_are_refused(tmp_path: Path) -> None:
    """They come from a folder that somebody may have sent."""
    asked: dict[str, Any] = {"names": ["random"], "config": {}, "games": 3, "seed": 5, "until_width": None}
    for change in (
        {"names": "random"},
        {"config": {"players": 9}},
        {"config": {"mouse": 9}},
        {"config": {"components": "/etc/passwd"}},
        {"games": "many"},
        {"games": 10**30},
        {"seed": -1},
        {"until_width": "narrow"},
    ):
        keep_settings(tmp_path, "evaluate", GAME, {**asked, **change})
        with pytest.raises(TabletopError):
            matches.resume(tmp_path, GAME)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (replace(TWO, config=Config(players=2, modules=("cactus",))), "of another configuration"),
        (replace(TWO, agents=[RandomAgent(), RandomAgent()]), "of other agents"),
        (replace(TWO, seed=8), "of other seeds"),
        (replace(TWO, games=10**7), "of other seeds"),
        (replace(TWO, editions=[3]), "with other numbers"),
        (replace(TWO, lineups=np.array([[0, 1]])), "of other seats"),
        (replace(TWO, about={"temper": 3}), "of other temper"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_games_are_refused(other: Cell, says: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    play(tmp_path, TWO, store=store)
    with pytest.raises(TabletopError, match=rf"zip: its games are .*{says}.*; start anew, with another --output"):
        played(other, store)


def _with(**arrays: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda kept: {**kept, "results": {**kept["results"], **arrays}}


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: [],
        lambda kept: {"about": kept["about"]},
        _with(points=3),
        _with(points=np.zeros((24, 2))),
        _with(points=np.zeros((10**7, 2), np.int64)),
        _with(lengths=np.zeros(0, np.int64)),
        _with(places=np.zeros((24, 3), np.int64)),
        _with(fields={"level": np.zeros(3)}),
        _with(fields=7),
        _with(seeds=np.arange(24)),
        _with(more=np.zeros(3)),
        _with(lineups="many"),
    ],
)
def test_damaged_games_are_refused(damage: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    store = Store(tmp_path)
    play(tmp_path, TWO, store=store)
    (file,) = (tmp_path / "games").iterdir()
    save_tree(file, damage(load_tree(file)))
    with pytest.raises(TabletopError, match="start anew, with another --output"):
        played(TWO, store)
    file.write_bytes(b"PK")
    with pytest.raises(TabletopError, match="start anew, with another --output"):
        played(TWO, store)
