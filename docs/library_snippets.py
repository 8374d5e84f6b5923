"""Runs and measures the snippets of `docs/libraries.md`, which are the programs in `docs/libraries/`.

    python -m docs.library_snippets                # all of them, one after another, into docs/libraries.json
    python -m docs.library_snippets torchrl_ppo    # one

A snippet learns from about as many decisions as the environment variable `STEPS` says. An illegal action ends it with
an error. It defines `act(observations, masks)`, which plays the games that are counted here. Packages that no extra has
are listed in `docs/libraries/requirements/`; `make test-libraries` installs them into `.venv/libraries/`.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tabletop_training.files.tables import WIN_RATE, markdown_table
from tabletop_training.measure.evaluation import EVALUATION_SEED

DOCS = Path(__file__).parent
ROOT = DOCS.parent
FOLDER = DOCS / "libraries"
FILE = DOCS / "libraries.json"
INSTALLED = ROOT / ".venv" / "libraries"
GAMES = 1000
"""Games of an evaluation; their seeds start with `EVALUATION_SEED`."""
STEPS = 204_800
"""Decisions that a snippet learns from unless the environment variable says otherwise."""


@dataclass(frozen=True)
class Snippet:
    """A row of the table.

    Attributes:
        library: its name, and the part of it that is used. packages: those whose versions the table shows.
        ours: what the library gets from this project. mask: where it finds the mask. autoreset: the mode.
        extras: what it needs of this project. environment: a file in `requirements/` with what it needs besides.
        players: number of players of the game.
    """

    library: str
    packages: tuple[str, ...]
    ours: str
    mask: str
    autoreset: str
    extras: tuple[str, ...] = ("policy",)
    environment: str = ""
    players: int = 1


_RLLIB_MASK = "`observations`, `action_mask`, float32"
SNIPPETS = {
    "sb3_make_vec_env": Snippet(
        "Stable-Baselines3, `make_vec_env`",
        ("stable-baselines3", "sb3-contrib"),
        "`Petrichor/Solo-v0`",
        "`action_masks()`, bool",
        "its own, same step",
        ("train",),
    ),
    "sb3_vec_env": Snippet(
        "Stable-Baselines3, native `VecEnv`",
        ("stable-baselines3", "sb3-contrib"),
        "`SeatsVecEnv`",
        "`action_masks()`, bool",
        "same step",
        ("train",),
    ),
    "rllib_solo": Snippet(
        "RLlib, solo",
        ("ray", "gymnasium"),
        "`MaskInObservation`",
        _RLLIB_MASK,
        "its own, next step",
        environment="rllib",
    ),
    "rllib_multi_agent": Snippet(
        "RLlib, multi-agent",
        ("ray", "gymnasium"),
        "`AgentMaskInObservation`",
        _RLLIB_MASK,
        "its own, next step",
        environment="rllib",
        players=2,
    ),
    "rllib_self_play": Snippet(
        "RLlib, self-play",
        ("ray", "gymnasium"),
        "`AgentMaskInObservation`",
        _RLLIB_MASK,
        "its own, next step",
        environment="rllib",
        players=2,
    ),
    "torchrl_ppo": Snippet(
        "TorchRL",
        ("torchrl", "tensordict"),
        "`VectorMaskInObservation`",
        "`observation`, `action_mask`, bool",
        "`DISABLED`",
        environment="torchrl",
    ),
    "tianshou_ppo": Snippet(
        "Tianshou",
        ("tianshou",),
        "`MaskInObservation`",
        "`obs`, `mask`, bool",
        "its own",
        environment="tianshou",
    ),
    "agilerl_ppo": Snippet(
        "AgileRL",
        ("agilerl",),
        '`make_vec("…/Solo-v0")`',
        '`infos["action_mask"]`, int8',
        "`SAME_STEP`",
        environment="agilerl",
    ),
    "cleanrl_style": Snippet(
        "CleanRL style",
        ("torch",),
        '`make_vec("…/Solo-v0")`',
        '`infos["action_mask"]`, int8',
        "`SAME_STEP`",
    ),
    "openspiel_ppo": Snippet(
        "OpenSpiel",
        ("open-spiel",),
        "`python_petrichor`",
        "`legal_actions`, lists",
        "`reset_if_done`",
        ("policy", "openspiel"),
    ),
    "minari_cloning": Snippet(
        "Minari",
        ("minari",),
        "`petrichor dataset`",
        "`observation`, `action_mask`, int8",
        "none: whole games",
        ("policy", "dataset"),
    ),
}


def run_here(name: str) -> dict[str, Any]:
    """Run a snippet in this process, then evaluate what it learned. Returns its entry in `libraries.json`.

    In a game of several players, `random` plays the other seats. Raises what the snippet raises, and `IllegalAction`
    for an illegal action.
    """
    import torch  # here, as only the process that learns needs it

    from petrichor_env import GAME, Config
    from tabletop_agents import Decisions, make_agent
    from tabletop_training.measure.matches import evaluate

    snippet = SNIPPETS[name]
    torch.set_num_threads(1)  # more threads are slower with small networks
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    start = time.monotonic()
    left = runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    seconds = time.monotonic() - start

    class Learned:
        name = "learned"

        def act(self, decisions: Decisions, generator: Any) -> Any:
            return left["act"](decisions.observations, decisions.action_masks)

    others = [make_agent("random", GAME)] * (snippet.players - 1)
    report = evaluate([Learned(), *others], Config(players=snippet.players), GAMES, EVALUATION_SEED).reports[0]
    return {
        "steps": int(os.environ.get("STEPS", STEPS)),
        "seconds": round(seconds, 1),
        "games": report.games,
        "win_rate": list(report.estimates["win_rate"]),
        "versions": {package: version(package).partition("+")[0] for package in snippet.packages},  # without "+cpu"
    }


def run_apart(name: str, steps: int = STEPS, timeout: float | None = None) -> dict[str, Any]:
    """Run a snippet in its own process and folder, with the packages that it needs. Returns what `run_here` returns.

    Raises subprocess.CalledProcessError, whose stderr says what went wrong, and subprocess.TimeoutExpired.
    """
    needed = [INSTALLED / SNIPPETS[name].environment] if SNIPPETS[name].environment else []
    paths = os.pathsep.join(map(str, [*needed, ROOT, ROOT / "agents", ROOT / "training", ROOT / "apps"]))
    command = [sys.executable, "-m", "docs.library_snippets", "--here", "result.json", name]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"STEPS": str(steps), "PYTHONPATH": paths}
        subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=timeout
        )
        result: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text(encoding="utf-8"))
    return result


def table() -> str:
    """A row for each snippet, with the result in `libraries.json`."""
    results = json.loads(FILE.read_text(encoding="utf-8"))
    rows = []
    for name, snippet in SNIPPETS.items():
        result = results[name]
        versions = ", ".join(f"{package} {number}" for package, number in result["versions"].items())
        needs = ", ".join(f"`{one}`" for one in snippet.extras)
        if snippet.environment:
            needs += f", `{snippet.environment}.txt`"
        told = (versions, needs, snippet.ours, snippet.mask, snippet.autoreset)
        words = (f"[{snippet.library}](libraries/{name}.py)", *told)
        won, speed = WIN_RATE.write(result["win_rate"]), result["steps"] / result["seconds"]
        rows.append((*words, won, f"{result['seconds'] / 60:.1f}", f"{speed:,.0f}"))
    heads = ("program", "versions", "needs", "environment", "mask", "autoreset", "won", "minutes", "decisions a second")
    return markdown_table(heads, rows, left=6)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run and measure the snippets of docs/libraries.md.")
    parser.add_argument("names", nargs="*", choices=[[], *SNIPPETS], help="default: all")
    parser.add_argument("--here", metavar="FILE", help="run one snippet in this process and write its result to FILE")
    given = parser.parse_args()
    if given.here:
        result = run_here(given.names[0])
        Path(given.here).write_text(json.dumps(result), encoding="utf-8")
        return
    for name in given.names or SNIPPETS:
        results = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
        results[name] = run_apart(name)
        print(name, results[name], flush=True)
        kept = {key: results[key] for key in SNIPPETS if key in results}
        FILE.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
