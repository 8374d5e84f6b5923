"""Made-up results of a study of solo difficulty."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from petrichor_env import Config
from petrichor_env.state import Source
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.results import Results
from tabletop_training.petrichor import edition_report, report_plots
from tabletop_training.petrichor.study import Key, read_study
from tabletop_training.petrichor.summaries import ALL_VARIANTS
from tabletop_training.petrichor.variant_effects import Sets
from tabletop_training.study.play import played
from tabletop_training.study.store import Store

SEED = 77


@pytest.fixture
def without_pictures() -> Iterator[None]:
    """Leave out a report's pictures, which take most of its time."""
    with no_pictures():
        yield


@contextmanager
def no_pictures() -> Iterator[None]:
    """`without_pictures` for a part of a test, or for a fixture of a module."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (report_plots, edition_report):
            for name in [name for name in vars(module) if name.startswith("plot_")]:
                patched.setattr(module, name, lambda *arguments: None)
        yield


def games_of(folder: Path) -> list[Results]:
    """The finished games that a difficulty study has kept."""
    study, store = read_study(folder), Store(folder)
    cells = study.cells(make_agents(list(study.agents), study.config))
    return [results for cell in cells if (results := played(cell, store)) is not None]


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a study, except its pictures."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.suffix != ".png"}


def sets_of(margins: np.ndarray, agent: str = "made up") -> Sets:
    """Made-up games with these margins, (16, games) ints, all points from Voting Wins; the neutral player scores 40."""
    points = np.stack([40 + margins, np.full_like(margins, 40)], axis=2)
    scored = np.zeros((*points.shape, len(Source)), np.int64)
    scored[..., Source.VOTING_WINS] = points
    return Sets(agent, margins > 0, points, scored, np.full(margins.shape, 60))


def results_of(sets: Sets, seed: int = SEED) -> dict[Key, Results]:
    return {
        (sets.agent, variants): Results(
            config=Config(variants=variants),
            agents=(sets.agent,),
            seed=seed,
            points=sets.points[index],
            places=np.where(sets.won[index], 1, 2)[:, None],
            lengths=sets.decisions[index],
            scored=sets.scored[index],
        )
        for index, variants in enumerate(ALL_VARIANTS)
    }


def noisy(means: np.ndarray, games: int, shared: float = 0.0, spread: float = 8.0, seed: int = 0) -> np.ndarray:
    """(16, games) ints around the means. The part `shared` of the variance is the same in all sets of a seed."""
    generator = np.random.default_rng(seed)
    common, own = generator.normal(size=games), generator.normal(size=(16, games))
    return np.rint(means[:, None] + spread * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own)).astype(np.int64)
