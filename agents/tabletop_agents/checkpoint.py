"""Checkpoints: what Stable-Baselines3 saves, and beside it in the same zip file what it was made for.

A checkpoint also opens with `MaskablePPO.load`, which knows nothing of the second part.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import petrichor_env
from petrichor_env.actions import ACTION_NAMES, NUM_ACTIONS
from petrichor_env.observation import LAYOUT
from petrichor_env.state import STATE_VERSION
from tabletop.errors import CheckpointError
from tabletop.files import whole_file

MEMBER = "petrichor.json"
FORMAT = 1

_MUST_AGREE = {
    "format": "the checkpoint format",
    "observation": "the layout of the observation",
    "num_actions": "the number of actions",
    "actions": "the order of the actions",
}


def _fingerprint(things: object) -> str:
    return hashlib.sha256(repr(things).encode()).hexdigest()[:16]


def versions() -> dict[str, Any]:
    """What this installation's networks see and do, and what made them; a checkpoint fits if `_MUST_AGREE` agrees.

    A network knows observations and actions only, so that one made with another layout of the state fits, too.
    """
    return {
        "format": FORMAT,
        "package": petrichor_env.__version__,
        "state_version": STATE_VERSION,
        "observation": _fingerprint([(block.name, block.start, block.shape, block.unit) for block in LAYOUT]),
        "num_actions": NUM_ACTIONS,
        "actions": _fingerprint(ACTION_NAMES),
    }


def save_checkpoint(model: Any, path: Path, notes: dict[str, Any], *, light: bool = False) -> None:
    """Save an SB3 model with `versions()` and `notes` (JSON-able) at `path`; at no time is half a file there.

    Arguments:
        notes: `players` and `config` say what it was trained for, the rest how.
        light: leave out what only the run that it comes from has a use for: the optimizer's moments, the rollout
            buffer's size and class, the last observations, the seed (which loading would give to NumPy's and torch's
            global generators), a subclass of sb3-contrib's policy. A third of the size.
    """
    buffer = io.BytesIO()
    with _without_its_run(model) if light else nullcontext():
        model.save(buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(MEMBER, json.dumps({**versions(), "training": notes}, indent=2))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(buffer.getvalue())


@contextmanager
def _without_its_run(model: Any) -> Iterator[None]:
    fresh = type(model.policy.optimizer)(model.policy.parameters(), **model.policy.optimizer_kwargs)
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    instead = {
        "policy_class": MaskableActorCriticPolicy,
        "n_envs": 1,
        "n_steps": 1,
        "seed": None,
        "rollout_buffer_class": None,
        "ep_info_buffer": None,
        "ep_success_buffer": None,
        "_last_obs": None,
        "_last_episode_starts": None,
    }
    before = {name: getattr(model, name) for name in instead}
    optimizer = model.policy.optimizer
    try:
        model.policy.optimizer = fresh
        model.__dict__.update(instead)
        yield
    finally:
        model.policy.optimizer = optimizer
        model.__dict__.update(before)


def read_notes(path: str | Path) -> dict[str, Any]:
    """What a checkpoint was made for and how, after checking that it fits this installation.

    Raises CheckpointError with what differs, or with what is wrong with the file.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; a checkpoint is the policy.zip that training leaves")
    try:
        with zipfile.ZipFile(path) as archive:
            if MEMBER not in archive.namelist():
                raise CheckpointError(f"{path}: has no {MEMBER}: it is damaged, or no checkpoint of this project")
            notes: dict[str, Any] = json.loads(archive.read(MEMBER))
    except CheckpointError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:  # as zipfile raises
        raise CheckpointError(f"{path}: is damaged or no checkpoint ({error})") from None
    if not isinstance(notes, dict):
        raise CheckpointError(f"{path}: its {MEMBER} should be a JSON object, not {notes!r}")
    here = versions()
    different = [
        f"{meaning} is {notes.get(key, 'missing')}, here {here[key]}"
        for key, meaning in _MUST_AGREE.items()
        if notes.get(key) != here[key]
    ]
    if different:
        made_by = notes.get("package", "unknown")
        other = f"made by version {made_by}, this is {here['package']}, and its policy does not fit"
        raise CheckpointError(
            f"{path}: {other if made_by != here['package'] else 'its policy does not fit this state of the code'}: "
            f"{'; '.join(different)}. Train it again, or install what made it"
        )
    return notes
