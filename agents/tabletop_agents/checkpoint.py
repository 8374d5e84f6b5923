"""Checkpoints: a network and what it was made for, in one zip file without any pickle.

`tabletop.json` says which game the network is for, which layers it has and how it was trained. Each array of weights
is a separate `.npy` file, float32 or float16.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_engine.checks import checked, coerced
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.files import check_unpacked, whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.observation import Layout

if TYPE_CHECKING:
    from tabletop_agents.networks import Network

MEMBER = "tabletop.json"
FORMAT = 2
MOST_BYTES = 256_000_000
"""The most bytes of a member of the zip file. Larger members are not read."""

_MUST_AGREE = {
    "format": "the checkpoint format",
    "game": "the game",
    "observation": "the layout of the observation",
    "num_actions": "the number of actions",
    "actions": "the order of the actions",
}
_PICKLED = "policy.pth"
"""A member that files of Stable-Baselines3 have. Checkpoints of format 1 were such files."""


def _fingerprint(things: object) -> str:
    return hashlib.sha256(repr(things).encode()).hexdigest()[:16]


def _layout_of(layout: Layout) -> str:
    return _fingerprint([(block.name, block.start, block.shape, block.unit) for block in layout])


def _added(layout: Layout, fingerprint: object) -> tuple[int, int] | None:
    """The index and the number of the inputs that an earlier layout with this fingerprint lacked; 0 and 0 for the same.

    They are a whole block, or the last part of one. None if the layouts differ otherwise.
    """
    if fingerprint == _layout_of(layout):
        return 0, 0
    declared = [(block.name, block.shape, block.unit, block.meaning) for block in layout]
    for i, block in enumerate(layout):
        length, *others = block.shape or (1,)
        for kept in range(length):
            shorter = [(block.name, (kept, *others), block.unit, block.meaning)] if kept else []
            if _layout_of(Layout.of([*declared[:i], *shorter, *declared[i + 1 :]])) == fingerprint:
                same = block.size // length * kept
                return block.start + same, block.size - same
    return None


def versions(game: Game) -> dict[str, Any]:
    """The versions that a checkpoint for this game must have. Only the package's version may differ."""
    return {
        "format": FORMAT,
        "game": game.name,
        "package": game.version,
        "observation": _layout_of(game.observation),
        "num_actions": game.num_actions,
        "actions": _fingerprint(game.actions),
    }


@checked
def save_checkpoint(game: Game, model: Any, path: str | Path, notes: Mapping[str, Any] | None = None) -> None:
    """Save the network of a MaskablePPO model as a file for `policy:PATH`. The file is replaced as a whole.

    `notes` are JSON-able. The key `players` limits the network to these numbers of players; the other keys say what it
    was trained for and how. The suite reads `seed` and `steps`, the training seed and the decisions learned.

    Raises ConfigError for a network that `Network.of` does not support.
    """
    from tabletop_agents.networks import Network  # torch takes seconds to import

    save_network(game, Network.of(model.policy), path, notes)


@checked
def save_network(
    game: Game, network: Network, path: str | Path, notes: Mapping[str, Any] | None = None, half: bool = False
) -> None:
    """Save a network, with its win and margin heads if it has them, as `save_checkpoint` does.

    `half` stores the weights as float16: half the size, rounded to 11 bits. Reading turns them into float32.
    """
    from tabletop_agents.networks import Network  # torch takes seconds to import

    coerced("network", network, Network)
    if not Path(path).name:
        raise ConfigError(f"path={str(path)!r}: must be the name of a file")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as unfinished, zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        text = {**versions(game), "network": network.described, "training": dict(notes or {})}
        if network.inputs > game.observation.size:
            text["numbers"] = _layout_of(game.numbers)
        archive.writestr(MEMBER, json.dumps(text, indent=2))
        for part, layers in network.parts.items():
            for name, weights in layers.state_dict().items():
                with archive.open(f"{part}.{name}.npy", "w") as file:
                    array = np.ascontiguousarray(weights.cpu().numpy())
                    np.save(file, array.astype(np.float16) if half else array, allow_pickle=False)


def read_notes(game: Game, path: str | Path, *, start: bool = False) -> dict[str, Any]:
    """The notes of a checkpoint, after a check that it fits this game and installation; `start` as `read_checkpoint`.

    Raises CheckpointError, which says what differs or what is wrong with the file.
    """
    path = Path(path)
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; a checkpoint is the policy.zip of a training run")
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked(archive, MOST_BYTES)
            return _notes(game, archive, path, start)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError) as error:  # as zipfile raises
        raise CheckpointError(f"{path}: is damaged or not a checkpoint ({error})") from None


@checked
def read_checkpoint(game: Game, path: str | Path, *, start: bool = False) -> tuple[Network, dict[str, Any]]:
    """The network and the notes of a checkpoint.

    With `start`, to go on learning, a block of the observation may have more numbers than when the checkpoint was made,
    as after a variant was added. Their weights begin at 0, so the network plays as before. Win and margin heads of a
    version before 0.4 are left out: otherwise they make the trunk wider.

    Raises CheckpointError as `read_notes` does.
    """
    from tabletop_agents.networks import OLD_HEADS, Network, with_more_inputs

    notes = read_notes(game, path, start=start)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            at, number = _added(game.observation, notes["observation"]) or (0, 0)
            size = game.observation.size - number
            inputs = (size, size + game.numbers.size)
            sizes = (game.num_actions, game.players[-1], game.observation)
            parts = {part: one for part, one in notes["network"].items() if part != OLD_HEADS or not start}
            network = Network.of_arrays(parts, dict(arrays), inputs, *sizes)
        if number:
            network = with_more_inputs(network, number, at)
        _check_numbers(game, network, notes)
        return network, notes
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from None
    except Exception as error:  # damaged arrays raise anything
        problem = f"its network can't be read ({type(error).__name__}: {error})"
        raise CheckpointError(f"{path}: is damaged: {problem}") from error


def variety(config: Config) -> tuple[Config, ...]:
    """The configurations for a network that should play everything with this number of players.

    They come from the configuration's method `variety` if it has one; otherwise `config` is the only one.
    """
    ways: Any = getattr(config, "variety", None)
    return (config,) if ways is None else tuple(ways())


def configs_of(game: Game, training: Mapping[str, Any], path: str | Path) -> list[Config]:
    """The configurations that a checkpoint at `path` was trained for, according to its training notes.

    Raises CheckpointError if the notes do not tell them.
    """
    try:
        switches = {key: tuple(one) if isinstance(one, list) else one for key, one in training["config"].items()}
        players = training["players"] if training.get("general") else switches["players"]
        configs = [game.config(**{**switches, "players": one}) for one in np.atleast_1d(players).tolist()]
        if training.get("general"):
            return [way for config in configs for way in variety(config)]
        if training.get("curriculum"):
            return [one for config in configs for level in config.curriculum() for one in level]
    except (KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: it does not say what it was trained for ({error!r})") from None
    return configs


def _check_numbers(game: Game, network: Network, notes: Mapping[str, Any]) -> None:
    """Raise CheckpointError if the network reads printed numbers in another layout than the game's."""
    reads, here = network.inputs > game.observation.size, _layout_of(game.numbers)
    if reads and notes.get("numbers") != here:
        there = notes.get("numbers", "missing")
        raise CheckpointError(f"the layout of the printed numbers, which it reads, is {there}, here {here}")


def _notes(game: Game, archive: zipfile.ZipFile, path: Path, start: bool) -> dict[str, Any]:
    if MEMBER not in archive.namelist():
        if _PICKLED in archive.namelist():
            raise CheckpointError(
                "is Stable-Baselines3's own file, which can hold a program, so it is not read here. If you made it, "
                "`tabletop_agents.checkpoint` converts it: "
                f"save_checkpoint(GAME, MaskablePPO.load({path.name!r}), 'converted.zip')"
            )
        raise CheckpointError(f"has no {MEMBER}: it is damaged, or not a checkpoint of this project")
    notes: dict[str, Any] = json.loads(archive.read(MEMBER))
    if not isinstance(notes, dict):
        raise CheckpointError(f"its {MEMBER} must be a JSON object, not {notes!r}")
    here = versions(game)
    if start and _added(game.observation, notes.get("observation")) is not None:
        here["observation"] = notes["observation"]
    different = [
        f"{meaning} is {notes.get(key, 'missing')}, here {here[key]}"
        for key, meaning in _MUST_AGREE.items()
        if notes.get(key) != here[key]
    ]
    if different:
        made_by = notes.get("package", "unknown")
        why = f"made by version {made_by}, this is {here['package']}, and its policy does not fit"
        if made_by == here["package"]:
            why = "its policy does not fit this state of the code"
        raise CheckpointError(f"{why}: {'; '.join(different)}. Train it again, or install what made it")
    return notes
