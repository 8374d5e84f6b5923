"""Registration of a game's environments at import of its package. Nothing slow is imported here."""

from __future__ import annotations

import gymnasium
import pettingzoo


def register_environments(
    package: str, solo_id: str | None = None, versus_id: str | None = None, aec_id: str | None = None
) -> None:
    """Register the environments in a package's modules `envs` and `<game>_v0`, if they aren't registered yet.

    Arguments:
        package: the name of the game's package.
        solo_id: the Gymnasium ID of its `SoloEnv`; None for a game without one.
        versus_id: the Gymnasium ID of its `VersusEnv`; None for a game without one.
        aec_id: the name in PettingZoo's registry; None for a game for one player only.
    """
    for made, name in ((solo_id, "Solo"), (versus_id, "Versus")):
        if made is not None and made not in gymnasium.registry:
            where = f"{package}.envs:{name}"
            gymnasium.register(made, f"{where}Env", vector_entry_point=f"{where}VectorEnv")
    registry = getattr(pettingzoo, "aec_registry", None)  # PettingZoo has one from 1.27 on
    if aec_id is not None and registry is not None and aec_id not in registry:
        pettingzoo.register("aec", aec_id, entry_point=f"{package}.{package.removesuffix('_env')}_v0:env")
