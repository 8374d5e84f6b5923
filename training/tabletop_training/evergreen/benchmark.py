"""The plan of Evergreen's reference table (`evergreen benchmark`)."""

from __future__ import annotations

from evergreen_env.game import GAME
from tabletop_training.measure.benchmark import POINTS, Plan, SoloColumn

PLAN = Plan(
    game=GAME,
    agents=("random", "greedy", "rollout", "ismcts-200", "policy:versus", "search-200:versus"),
    docs="docs/evergreen",
    solo=({},),
    columns=(SoloColumn("mean_points", POINTS, "mean points", "points"),),
    ranked_by="mean_points",
    solo_title="Solo: mean points",
    about_solo=("- **mean points**: one player alone plays for points.",),
    about_numbers="Numbers and icons that the rulebook lacks are assumed (`evergreen components`)",
    title="Evergreen: the agents, measured",
)
