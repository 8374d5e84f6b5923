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

from tabletop.errors import CheckpointError
from tabletop.files import whole_file
from tabletop.game import Game

MEMBER = "tabletop.json"
FORMAT = 2

_MUST_AGREE = {
    "format": "the checkpoint format",
    "game": "the game",
    "observation": "the layout of the observation",
    "num_actions": "the number of actions",
    "actions": "the order of the actions",
}


def _fingerprint(things: object) -> str:
    return hashlib.sha256(repr(things).encode()).hexdigest()[:16]


def versions(game: Game) -> dict[str, Any]:
    """What networks for this game see and do here; a checkpoint fits if all but the package's version agree."""
    layout = [(block.name, block.start, block.shape, block.unit) for block in game.observation]
    return {
        "format": FORMAT,
        "game": game.name,
        "package": game.version,
        "observation": _fingerprint(layout),
        "num_actions": game.num_actions,
        "actions": _fingerprint(game.actions),
    }


def save_checkpoint(game: Game, model: Any, path: Path, notes: dict[str, Any], *, light: bool = False) -> None:
    """Save an SB3 model with `versions` and `notes` (JSON-able) at `path`; at no time is half a file there.

    Arguments:
        game: what it plays.
        notes: `players` and `config` say what it was trained for, the rest how.
        light: leave out what only the run that it comes from has a use for: the optimizer's moments, the rollout
            buffer's size and class, the last observations, the seed (which loading would give to NumPy's and torch's
            global generators), a subclass of sb3-contrib's policy. A third of the size.
    """
    buffer = io.BytesIO()
    with _without_its_run(model) if light else nullcontext():
        model.save(buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(MEMBER, json.dumps({**versions(game), "training": notes}, indent=2))
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


def read_notes(game: Game, path: str | Path) -> dict[str, Any]:
    """What a checkpoint was made for and how, after checking that it fits this game and installation.

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
    here = versions(game)
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
