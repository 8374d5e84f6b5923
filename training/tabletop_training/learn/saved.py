"""The state of a run of learning in `resume.zip`, from which it goes on exactly."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_agents.checkpoint import versions
from tabletop_engine.errors import CheckpointError
from tabletop_engine.game import Game
from tabletop_training.files.settings import with_tuples
from tabletop_training.files.trees import arrays_of, load_tree, moments_of, set_moments, tensors_of
from tabletop_training.learn.devices import random_state, set_random_state
from tabletop_training.learn.logs import CurvePoint
from tabletop_training.learn.opponents import read_snapshots
from tabletop_training.learn.task import PolicyEvaluation

if TYPE_CHECKING:
    from tabletop_training.learn.learner import Learner

Snapshots = dict[int, dict[str, np.ndarray]]
"""The weights of earlier selves by the steps after which they were copied."""


def own_state(learner: Learner) -> dict[str, Any]:
    """The part of the state that differs between the processes of a group."""
    return {
        "random": arrays_of(random_state(learner.device)),
        "games": learner.table.get_state(),
        "seats": learner.opponents.generator.bit_generator.state,
        "curricula": {str(players): one.get_state() for players, one in learner.curricula.items()},
    }


def whole_state(learner: Learner, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """All that the rest of the run depends on; `parts` are the `own_state` of all processes of the group."""
    return {
        "versions": _versions(learner.game),
        "settings": asdict(learner.plan.learning),
        "tables": learner.table.batches[0].tables,
        "steps": learner.steps,
        "seconds": learner.seconds,
        "threads": learner.threads,
        "weights": arrays_of(learner.network.state_dict()),
        "optimizer": moments_of(learner.optimizer),
        "opponents": learner.opponents.get_state(),
        "curve": [list(point) for point in learner.curve],
        "evaluations": [[steps, one.score, one.numbers] for steps, one in learner.evaluations],
        "parts": parts,
    }


def read_state(path: Path, league: Path) -> tuple[dict[str, Any], Snapshots]:
    """Read a `whole_state`, and the earlier selves in the folder of its league.

    Raises CheckpointError if a file is missing or damaged.
    """
    state = load_tree(path)
    try:
        return state, read_snapshots(league, state["opponents"])
    except (KeyError, TypeError, IndexError) as error:
        raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error


def restore(learner: Learner, path: Path, state: dict[str, Any], snapshots: Snapshots) -> None:
    """Put a learner into a state that was read from `path`.

    If the group has another size than before, all games begin anew. Raises CheckpointError if versions, settings or
    components differ, or for a state of another run.
    """
    try:
        _check(learner, state)
        _restore(learner, state, snapshots)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
        raise CheckpointError(f"{path}: is damaged or of another run ({error!r})") from error


def _versions(game: Game) -> dict[str, Any]:
    return {**versions(game), "state_version": game.state_version}


def _check(learner: Learner, state: dict[str, Any]) -> None:
    here = _versions(learner.game)
    different = [name for name in here if name != "package" and state["versions"].get(name) != here[name]]
    if different:
        raise CheckpointError(
            f"made by version {state['versions'].get('package')}, this is {here['package']}, and they differ in "
            f"{', '.join(different)}"
        )
    mine, saved = asdict(learner.plan.learning), with_tuples(state["settings"])
    others = sorted(key for key in mine if saved.get(key) != mine[key])
    if others:
        raise CheckpointError(f"has other settings: {', '.join(f'{key}={saved.get(key)}' for key in others)}")
    if state["tables"].tobytes() != learner.table.batches[0].tables.tobytes():
        raise CheckpointError("its games were played with other numbers on the pieces")


def _restore(learner: Learner, state: dict[str, Any], snapshots: Snapshots) -> None:
    learner.network.load_state_dict(tensors_of(state["weights"]))
    set_moments(learner.optimizer, state["optimizer"])
    learner.opponents.set_state(state["opponents"], learner.network, snapshots)
    same = len(state["parts"]) == learner.group.size
    part = state["parts"][learner.group.rank if same else 0]
    for players, curriculum in learner.curricula.items():
        fresh = curriculum.generator.bit_generator.state
        curriculum.set_state(part["curricula"][str(players)])
        if not same:
            curriculum.generator.bit_generator.state = fresh
    if same:
        learner.table.set_state(part["games"])
        learner.opponents.generator.bit_generator.state = part["seats"]
        set_random_state(tensors_of(part["random"]), learner.device)
    learner.steps = learner.saved_steps = state["steps"]
    learner.earlier_seconds, learner.threads = state["seconds"], state["threads"]
    learner.curve[:] = [CurvePoint(*row) for row in state["curve"]]
    learner.evaluations[:] = [
        (steps, PolicyEvaluation(score, numbers)) for steps, score, numbers in state["evaluations"]
    ]
