"""What a game's package does when it is imported: it registers its environments. Nothing slow is loaded here."""

from __future__ import annotations

import gymnasium
import pettingzoo


def register_environments(package: str, solo_id: str, versus_id: str, aec_id: str) -> None:
    """Register what is in the package's modules `envs` and `<game>_v0`, unless it is registered already."""
    for made, name in ((solo_id, "Solo"), (versus_id, "Versus")):
        if made not in gymnasium.registry:
            where = f"{package}.envs:{name}"
            gymnasium.register(made, f"{where}Env", vector_entry_point=f"{where}VectorEnv")
    if aec_id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", aec_id, entry_point=f"{package}.{package.removesuffix('_env')}_v0:env")
