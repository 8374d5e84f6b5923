"""Names of version 0.1.0 whose place has changed. Version 0.3.0 will not know them any more.

The old module of a name that moved unchanged can still be imported, with a DeprecationWarning that says where the name
is now. Where an interface changed, the error says what is there instead.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "batch": {"tabletop_engine.play.batch": "Batch game_seed legal_actions usable_cores"},
    "errors": {
        "tabletop_engine.errors": "CheckpointError ComponentsError ConfigError GameOver IllegalAction ReplayError "
        "ScenarioError StateError TabletopError"
    },
    "files": {"tabletop_engine.files": "whole_file"},
    "kernels": {"tabletop_engine.play.kernels": "FORFEIT_MARGIN sample_actions"},
    "recorder": {"tabletop_engine.replays.recorder": "Recorder"},
    "render": {
        "petrichor_env.drawing": "action_text question render_svg render_text told_action",
        "tabletop_engine.drawing.picture": "Picture",
        "tabletop_engine.drawing.raster": "rgb_array save_png",
    },
    "replay_page": {"tabletop_engine.replays.page": "write_page"},
    "replay_pictures": {"tabletop_engine.replays.pictures": "write_gif write_pngs"},
    "terminal": {
        "tabletop_engine.text.terminal": "columns_of_output forgive_bytes is_terminal obeys_sequences wants_colour"
    },
}
"""Old modules of this package, and where their public names are now."""

RENAMED = {("errors", "PetrichorError"): "TabletopError"}
"""Old names in old modules, and how they are called now."""

CHANGED = {
    "cli": "the command line is tabletop_cli.petrichor, with the same main()",
    "compiled": "rule and kernel are in tabletop_engine.compiling.compiled; a kernel is made for a game",
    "replay_files": "a Replay saves and loads itself: tabletop_engine.replays.replay",
    "replay_viewer": "tabletop_engine.replays.viewer, whose main(file, game) takes the game, petrichor_env.GAME",
    "replays": "tabletop_engine.replays.replay, whose Replay.load(path, game) takes the game, petrichor_env.GAME",
    "warm_up": "tabletop_engine.compiling.warm_up, whose warm_up(game) takes the game, petrichor_env.GAME",
}
"""Old modules whose interface changed, and what is there instead."""


class OldNames(MetaPathFinder, Loader):
    """Finds old modules of this package when nothing else does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != __package__:
            return None
        if name in CHANGED:
            raise ModuleNotFoundError(f"{fullname} is gone since 0.2.0: {CHANGED[name]}", name=fullname)
        return ModuleSpec(fullname, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__.rpartition(".")[2]
        places = " and ".join(MOVED[old])
        text = f"{module.__name__} is {places} since 0.2.0; the old name will be gone in 0.3.0"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        for place, names in MOVED[old].items():
            new = importlib.import_module(place)
            vars(module).update({name: getattr(new, name) for name in names.split()})
        for (where, name), now in RENAMED.items():
            if where == old:
                setattr(module, name, getattr(module, now))


sys.meta_path.append(OldNames())
