"""Learning, evaluation and their reports."""

from tabletop_engine.moved import find_moved

_LEARN = ("curriculum", "vec_env")
_MEASURE = (
    *("benchmark", "cluster", "evaluation", "ladder", "matches", "plays", "ratings", "results", "tournament"),
    "workers",
)
_FILES = {"evaluation_files": "tables", "job": "job", "plots": "plots", "resume": "trees", "settings": "settings"}
MOVED = {
    **{f"tabletop_training.{name}": f"tabletop_training.learn.{name}" for name in _LEARN},
    **{f"tabletop_training.{name}": f"tabletop_training.measure.{name}" for name in _MEASURE},
    **{f"tabletop_training.{name}": f"tabletop_training.files.{now}" for name, now in _FILES.items()},
}
"""Old names of modules, and the new ones."""
find_moved(MOVED, since="0.3.0", until="0.4.0")
