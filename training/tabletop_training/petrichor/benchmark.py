"""The plan of Petrichor's reference table (`petrichor benchmark`, docs/benchmark.md)."""

from __future__ import annotations

from petrichor_env.game import GAME
from tabletop_training.measure.benchmark import MARGIN, WIN_RATE, Plan, SoloColumn
from tabletop_training.measure.ladder import LADDER
from tabletop_training.petrichor.summaries import ALL_VARIANTS

_SETS = f"{len(ALL_VARIANTS)} sets"

PLAN = Plan(
    game=GAME,
    agents=(*LADDER, "policy:solo", "policy:versus", "search-800:solo", "search-200:versus"),
    docs="docs",
    solo=tuple({"variants": variants} for variants in ALL_VARIANTS),
    columns=(
        SoloColumn("base_win_rate", WIN_RATE, "base game: won", "base:\nwon", sets=1),
        SoloColumn("base_margin", MARGIN, "base game: points ahead", "points\nahead", sets=1),
        SoloColumn("mean_win_rate", WIN_RATE, f"{_SETS}: won", f"{_SETS}:\nwon"),
        SoloColumn("mean_margin", MARGIN, f"{_SETS}: points ahead", "points\nahead"),
    ),
    ranked_by="mean_win_rate",
    solo_title="Solo: games won in per cent",
    about_solo=(
        "- **games**: of each set of variants, against the Southern Winds.",
        f"- **base game**: without variants. **{_SETS}**: the mean over all sets of the variants.",
        "- **points ahead**: of the neutral player.",
    ),
    about_numbers="Numbers that the rulebooks lack are assumed (`petrichor components`)",
    title="Petrichor: the agents, measured",
)
