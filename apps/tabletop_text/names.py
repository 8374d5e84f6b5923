"""Language models as agents by name: `model:MODULE:FUNCTION`."""

from __future__ import annotations

from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import Game
from tabletop_engine.play.agents import Agent
from tabletop_engine.play.names import AgentName, enter_agents, unknown_agent


def _model(game: Game, module: str, function: str) -> Agent:
    from tabletop_agents.names import imported_of  # only who asks for a model waits for these modules
    from tabletop_text.model import ModelAgent

    name = f"model:{module}:{function}"
    found = imported_of(name, module, function, game)
    try:
        return found if isinstance(found, ModelAgent) else ModelAgent(found)
    except TabletopError as error:
        raise ConfigError(f"{unknown_agent(name, game)} ({error})") from error


MODELS = (
    AgentName(
        "model:MODULE:FUNCTION",
        "a language model that this function asks; in its place may stand a `tabletop_text.ModelAgent`",
        _model,
    ),
)
enter_agents(MODELS, last=True)
