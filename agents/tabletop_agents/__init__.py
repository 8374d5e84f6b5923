"""Agents: opponents and measuring sticks of graded strength, all with one interface (`Agent`)."""

from tabletop_agents.names import (
    AGENT_NAMES,
    POLICIES,
    agent_file,
    check_trusted,
    checkpoint_path,
    own_agents,
    shipped_policies,
)
from tabletop_agents.random_agent import RandomAgent
from tabletop_agents.search.greedy import GreedyAgent
from tabletop_agents.search.ismcts import IsmctsAgent
from tabletop_agents.search.rollout import RolloutAgent
from tabletop_engine.play.agents import Agent, Decisions, check_agents
from tabletop_engine.play.names import make_agent

__all__ = [
    "AGENT_NAMES",
    "POLICIES",
    "Agent",
    "Decisions",
    "GreedyAgent",
    "IsmctsAgent",
    "RandomAgent",
    "RolloutAgent",
    "agent_file",
    "check_agents",
    "check_trusted",
    "checkpoint_path",
    "make_agent",
    "own_agents",
    "shipped_policies",
]
