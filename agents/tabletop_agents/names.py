"""Agents by name: `greedy`, `policy:PATH`, a class of your own."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tabletop_agents.random_agent import RandomAgent
from tabletop_agents.search.greedy import GreedyAgent
from tabletop_agents.search.ismcts import SIMULATIONS, IsmctsAgent
from tabletop_agents.search.rollout import PLAYOUTS, RolloutAgent
from tabletop_engine.checks import checked
from tabletop_engine.errors import CheckpointError, ConfigError, TabletopError
from tabletop_engine.extras import needed
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Agent

AGENT_NAMES = (
    "random",
    "greedy",
    "rollout",
    "rollout-N",
    "ismcts",
    "ismcts-N",
    "ismcts-Nms",
    "openspiel-mcts-N",
    "openspiel-ismcts-N",
    "policy:PATH",
    "policy-sample:PATH",
    "search:PATH",
    "search-N:PATH",
    "search-Nms:PATH",
    "model:MODULE:FUNCTION",
    "MODULE:CLASS",
)
"""What `make_agent` understands.

- `random`: any legal action.
- `greedy`: the action that leads to the best-looking position at the end of the agent's own action.
- `rollout-N`: flat Monte Carlo with N playouts (at least 1) of every legal action; `rollout` is `rollout-16`.
- `ismcts-N`: tree search with N simulations a decision, `ismcts-Nms` with N milliseconds; `ismcts` is `ismcts-2000`.
- `openspiel-mcts-N`, `openspiel-ismcts-N`: OpenSpiel's own searches, with N simulations a decision.
- `policy:PATH`: the likeliest action of a trained network; `policy-sample:PATH` draws an action from its
  probabilities. PATH is a checkpoint file of a training run, or the name of a shipped one (`shipped_policies`).
- `search-N:PATH`: tree search guided by this network, with N simulations a decision, `search-Nms:PATH` with N
  milliseconds; `search:PATH` is `search-800:PATH`.
- `model:MODULE:FUNCTION`: a language model, which this function asks (`tabletop_agents.text.ModelAgent`); or a
  `ModelAgent` of that name in the module, with settings of its own.
- `MODULE:CLASS`: an agent of your own, created without arguments. The module may also be in the current folder.
"""

_SEARCHES = re.compile(r"(rollout|ismcts)(-(?P<number>[0-9]{1,9}))?|ismcts-(?P<milliseconds>[0-9]{1,9}(\.[0-9]+)?)ms")
_OPENSPIEL = re.compile(r"openspiel-(?P<kind>mcts|ismcts)-(?P<number>[0-9]{1,9})")
_GUIDED = re.compile(r"search(-(?P<number>[0-9]{1,9})|-(?P<milliseconds>[0-9]{1,9}(\.[0-9]+)?)ms)?")

MODEL = "model"
_POLICY_KINDS = ("policy", "policy-sample")
POLICIES = Path(__file__).parent / "policies"
"""The folder of the trained policies that come with the package; each game has a folder in it."""


@checked
def shipped_policies(game: Game) -> tuple[str, ...]:
    """The names of the shipped policies, the trained networks that come with the package, for a game."""
    return tuple(sorted(path.stem for path in (POLICIES / game.name).glob("*.zip")))


@checked
def make_agent(name: str, game: Game) -> Agent:
    """Create an agent from its name (`AGENT_NAMES`) for a game. The agent's `name` is this name.

    Raises ConfigError for an unknown name and for a class of your own that cannot be created, CheckpointError for a
    checkpoint that is missing or has another version.
    """
    if name == "random":
        return RandomAgent()
    if name == "greedy":
        return GreedyAgent()
    kind, _, path = name.partition(":")
    if kind in _POLICY_KINDS and path:
        needed("torch", f"agent {name!r}", "policy")  # it takes seconds to import, and not every installation has it
        from tabletop_agents.policy import PolicyAgent

        return PolicyAgent.load(checkpoint_path(path, game), game, sample=kind == "policy-sample", name=name)
    if path and (found := _GUIDED.fullmatch(kind)) is not None:
        return _guided_search(name, found, checkpoint_path(path, game), game)
    if kind == MODEL:
        return _model(name, *path.partition(":")[::2], game)
    if _is_own_agent(kind, path):
        return _own_agent(name, kind, path, game)
    if (found := _OPENSPIEL.fullmatch(name)) is not None and int(found["number"]) > 0:
        needed("pyspiel", f"agent {name!r}", "openspiel")
        from tabletop_agents.openspiel import OpenSpielAgent

        return OpenSpielAgent(found["kind"], int(found["number"]), name=name)
    found = _SEARCHES.fullmatch(name)
    if found is None or not float(found["number"] or found["milliseconds"] or 1) > 0:
        raise _unknown(name, game)
    if name.startswith("rollout"):
        return RolloutAgent(int(found["number"] or PLAYOUTS), name=name)
    if found["milliseconds"]:
        return IsmctsAgent(milliseconds=float(found["milliseconds"]), name=name)
    return IsmctsAgent(int(found["number"] or SIMULATIONS), name=name)


def _guided_search(name: str, found: re.Match[str], path: Path, game: Game) -> Agent:
    needed("torch", f"agent {name!r}", "policy")
    from tabletop_agents.search.guided_search import SIMULATIONS, GuidedSearchAgent

    number, milliseconds = found["number"], found["milliseconds"]
    if not float(number or milliseconds or 1) > 0:
        raise _unknown(name, game)
    if milliseconds:
        return GuidedSearchAgent.load(path, game, milliseconds=float(milliseconds), name=name)
    return GuidedSearchAgent.load(path, game, simulations=int(number or SIMULATIONS), name=name)


@checked
def own_agents(names: Iterable[str]) -> list[str]:
    """The names that refer to a user's own module. Creating such an agent runs the module's code."""
    return sorted({name for name in names if _is_own_agent(*_without_kind(name).partition(":")[::2])})


def _without_kind(name: str) -> str:
    """`MODULE:FUNCTION` of a model, `MODULE:CLASS` of another agent."""
    return name.removeprefix(f"{MODEL}:")


@checked
def check_trusted(path: str | Path, names: Iterable[str], trusted: Iterable[str], option: str = "--trust ") -> None:
    """Raise ConfigError if a file at `path` names agents of the form `MODULE:CLASS` that the user has not named.

    The message says how to name them: after this `option`.
    """
    foreign = [name for name in own_agents(names) if name not in tuple(trusted)]
    if foreign:
        text = f"{path}: names {', '.join(foreign)}, and to play with it runs the code of that module"
        raise ConfigError(f"{text}; if you trust that code, add {option}{','.join(foreign)}")


@checked
def agent_file(name: str, game: Game) -> Path | None:
    """The file that decides how an agent of this name plays: a checkpoint, or the module of its class.

    None for all other agents, and if there is no such module. Raises CheckpointError for a missing checkpoint.
    """
    kind, _, path = _without_kind(name).partition(":")
    if _plays_checkpoint(kind):
        return checkpoint_path(path, game)
    if not _is_own_agent(kind, path):
        return None
    _look_in_the_current_folder()
    try:
        spec = importlib.util.find_spec(kind)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin is not None else None


def _is_own_agent(module: str, kind: str) -> bool:
    return not _plays_checkpoint(module) and all(part.isidentifier() for part in (kind, *module.split(".")))


def _plays_checkpoint(kind: str) -> bool:
    return kind in _POLICY_KINDS or _GUIDED.fullmatch(kind) is not None


def _look_in_the_current_folder() -> None:
    """Look for modules in the current folder, as `python -m` does: the commands are scripts in another folder."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def _imported(name: str, module: str, attribute: str, game: Game) -> Any:
    """An attribute of a user's own module.

    Raises ConfigError. Its message distinguishes a mistyped agent name from a module that cannot be imported.
    """
    _look_in_the_current_folder()
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise ConfigError(f"{_unknown(name, game)} ({error})") from error
        raise ConfigError(f"agent {name!r}: {module} cannot be imported: {error}") from error
    except AttributeError as error:
        raise ConfigError(f"{_unknown(name, game)} ({error})") from error


def _model(name: str, module: str, function: str, game: Game) -> Agent:
    from tabletop_agents.text.model import ModelAgent

    if not _is_own_agent(module, function):
        raise _unknown(name, game)
    found = _imported(name, module, function, game)
    try:
        agent = found if isinstance(found, ModelAgent) else ModelAgent(found)
    except TabletopError as error:
        raise ConfigError(f"{_unknown(name, game)} ({error})") from error
    agent.name = name
    return agent


def _own_agent(name: str, module: str, kind: str, game: Game) -> Agent:
    made = _imported(name, module, kind, game)
    try:
        agent = made()
    except (ImportError, AttributeError, TypeError) as error:
        raise ConfigError(f"{_unknown(name, game)} ({error})") from error
    if not callable(getattr(agent, "act", None)):
        raise ConfigError(f"agent {name!r}: {kind} has no method act")
    agent.name = name  # results are stored under this name, and agents are told apart by it
    return agent


@checked
def checkpoint_path(path: str, game: Game) -> Path:
    """The path of the checkpoint `policy:PATH`: a file, or a shipped policy. Raises CheckpointError if neither."""
    if Path(path).is_file():
        return Path(path)
    if path in shipped_policies(game):
        return POLICIES / game.name / f"{path}.zip"
    what = "is no file" if Path(path).exists() else "there is no such file"
    shipped = ", ".join(shipped_policies(game)) or "none"
    raise CheckpointError(f"{path}: {what}, nor a shipped policy of that name (there are: {shipped})")


def _unknown(name: str, game: Game) -> ConfigError:
    shipped = shipped_policies(game)
    also = f"; shipped policies are {', '.join(f'policy:{one}' for one in shipped)}" if shipped else ""
    return ConfigError(f"agent {name!r}: must be one of {', '.join(AGENT_NAMES)}{also}")
