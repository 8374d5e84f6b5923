"""Agents by name: `greedy`, `policy:PATH`, a class of your own."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tabletop_agents.random_agent import RandomAgent
from tabletop_agents.search.greedy import GreedyAgent
from tabletop_agents.search.ismcts import SIMULATIONS, IsmctsAgent
from tabletop_agents.search.rollout import PLAYOUTS, RolloutAgent
from tabletop_engine.checks import checked
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.names import AgentName, enter_agents, look_up, unknown_agent

POLICIES = Path(__file__).parent / "policies"
"""The folder of the trained policies that come with the package; each game has a folder in it."""


@checked
def shipped_policies(game: Game) -> tuple[str, ...]:
    """The names of the shipped policies, the trained networks that come with the package, for a game."""
    return tuple(sorted(path.stem for path in (POLICIES / game.name).glob("*.zip")))


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


# --- Agents whose modules take long to load, so that this is done when one is made -----------------------------------


def _policy(game: Game, path: str, sample: bool = False, temperature: float = 1.0) -> Agent:
    from tabletop_agents.policy import PolicyAgent

    return PolicyAgent.load(checkpoint_path(path, game), game, sample=sample, temperature=temperature)


def _shipped(game: Game) -> list[str]:
    return [f"policy:{one}" for one in shipped_policies(game)]


def _guided(game: Game, path: str, simulations: int | None = None, **options: Any) -> Agent:
    from tabletop_agents.search.guided_search import SIMULATIONS, GuidedSearchAgent

    if simulations is None and "milliseconds" not in options:
        simulations = SIMULATIONS
    return GuidedSearchAgent.load(checkpoint_path(path, game), game, simulations=simulations, **options)


def _level(game: Game, number: int) -> Agent:
    from tabletop_agents.levels import LevelAgent

    return LevelAgent(game, number)


def _openspiel(kind: str, simulations: int) -> Agent:
    from tabletop_agents.openspiel import OpenSpielAgent

    return OpenSpielAgent(kind, simulations)


def _own_agent(game: Game, module: str, kind: str) -> Agent:
    name = f"{module}:{kind}"
    made = imported_of(name, module, kind, game)
    try:
        agent: Agent = made()
    except (ImportError, AttributeError, TypeError) as error:
        raise ConfigError(f"{unknown_agent(name, game)} ({error})") from error
    if not callable(getattr(agent, "act", None)):
        raise ConfigError(f"agent {name!r}: {kind} has no method act")
    return agent


def _look_in_the_current_folder() -> None:
    """Look for modules in the current folder, as `python -m` does: the commands are scripts in another folder."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def imported_of(name: str, module: str, attribute: str, game: Game) -> Any:
    """An attribute of a user's own module.

    Raises ConfigError. Its message distinguishes a mistyped agent name from a module that cannot be imported.
    """
    _look_in_the_current_folder()
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise ConfigError(f"{unknown_agent(name, game)} ({error})") from error
        raise ConfigError(f"agent {name!r}: {module} cannot be imported: {error}") from error
    except AttributeError as error:
        raise ConfigError(f"{unknown_agent(name, game)} ({error})") from error


# --- The table -------------------------------------------------------------------------------------------------------

_TORCH = ("torch", "policy")
_SPIEL = ("pyspiel", "openspiel")

AGENTS = (
    AgentName("random", "any legal action", lambda game: RandomAgent()),
    AgentName("greedy", "what looks best at the end of its own action", lambda game: GreedyAgent()),
    AgentName("rollout", f"`rollout-{PLAYOUTS}`", lambda game: RolloutAgent()),
    AgentName("rollout-N", "flat Monte Carlo, N playouts of every legal action", lambda game, n: RolloutAgent(n)),
    AgentName("ismcts", f"`ismcts-{SIMULATIONS}`", lambda game: IsmctsAgent(SIMULATIONS)),
    AgentName("ismcts-N", "tree search, N simulations a decision", lambda game, n: IsmctsAgent(n)),
    AgentName("ismcts-Nms", "tree search, N milliseconds a decision", lambda game, ms: IsmctsAgent(None, ms)),
    AgentName("level-N", "an opponent for people, from 1 to 8", _level, _TORCH),
    AgentName("openspiel-mcts-N", "OpenSpiel's own search", lambda game, n: _openspiel("mcts", n), _SPIEL),
    AgentName("openspiel-ismcts-N", "the one for hidden hands", lambda game, n: _openspiel("ismcts", n), _SPIEL),
    AgentName("policy:PATH", "a network's likeliest action", _policy, _TORCH, _shipped),
    AgentName("policy-sample:PATH", "one by its probabilities", lambda game, path: _policy(game, path, True), _TORCH),
    AgentName(
        "soft-T:PATH",
        "a weaker player: logits divided by T",
        lambda game, temperature, path: _policy(game, path, True, temperature),
        _TORCH,
    ),
    AgentName("search:PATH", "`search-800:PATH`", _guided, _TORCH),
    AgentName("search-N:PATH", "tree search guided by a network", lambda game, n, path: _guided(game, path, n), _TORCH),
    AgentName(
        "search-Nms:PATH", "the same by time", lambda game, ms, path: _guided(game, path, milliseconds=ms), _TORCH
    ),
    AgentName(
        "exploit-N:PATH",
        "the search, if all others play the network",
        lambda game, n, path: _guided(game, path, n, exploits=True),
        _TORCH,
    ),
    AgentName("MODULE:CLASS", "an agent of your own, created without arguments", _own_agent),
)
enter_agents(AGENTS)

AGENT_NAMES = {row.form: row.plays for row in AGENTS}
"""The names of this package for `make_agent`, and what plays by them.

PATH is a checkpoint file of a training run, or the name of a shipped one (`shipped_policies`). MODULE may also be in
the current folder.
"""


# --- Whose code a name runs, and which file it plays by --------------------------------------------------------------


@checked
def own_agents(names: Iterable[str]) -> list[str]:
    """The names that refer to a user's own module. Creating such an agent runs the module's code."""
    return sorted({name for name in names if (found := look_up(name)) is not None and "MODULE" in found[1]})


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
    """The file that decides how an agent of this name plays: a checkpoint, `levels.json`, or the module of its class.

    None for all other agents, and if there is no such module. Raises CheckpointError for a missing checkpoint.
    """
    row, chosen = look_up(name) or (None, {})
    if "PATH" in chosen and row in AGENTS:
        return checkpoint_path(chosen["PATH"], game)
    if row in AGENTS and row.form == "level-N":
        from tabletop_agents.levels import FILE

        return FILE
    if "MODULE" not in chosen:
        return None
    _look_in_the_current_folder()
    try:
        spec = importlib.util.find_spec(chosen["MODULE"])
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.has_location and spec.origin is not None else None
