"""Agents: opponents and measuring sticks of graded strength, all with one interface (`agents.base.Agent`)."""

from __future__ import annotations

from agents.base import Agent, Decisions
from agents.greedy import GreedyAgent
from agents.random_agent import RandomAgent
from petrichor_env.errors import ConfigError

__all__ = ["AGENT_NAMES", "Agent", "Decisions", "GreedyAgent", "RandomAgent", "make_agent"]

AGENT_NAMES = ("random", "greedy", "policy:PATH")
"""What `make_agent` understands; PATH is a checkpoint that training left."""


def make_agent(name: str) -> Agent:
    """The agent of a name (`AGENT_NAMES`).

    Raises ConfigError for an unknown name, CheckpointError for a checkpoint that is missing or of another version.
    """
    if name == "random":
        return RandomAgent()
    if name == "greedy":
        return GreedyAgent()
    kind, _, path = name.partition(":")
    if kind == "policy" and path:
        from agents.policy import PolicyAgent  # torch takes seconds to import, and not every installation has it

        return PolicyAgent.load(path)
    raise ConfigError(f"agent {name!r}: one of {', '.join(AGENT_NAMES)}")
