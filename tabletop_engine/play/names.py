"""Agents by name, such as `greedy` or `rollout-4`. Packages of agents enter the names; the engine itself has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from tabletop_engine.checks import checked
from tabletop_engine.errors import ConfigError
from tabletop_engine.extras import needed
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import Agent, check_agents

MODULES = ["tabletop_text.names", "tabletop_agents.names"]
"""Modules that enter names when they are imported: when the first name is looked up, so that a game loads without them.

Another package of agents may add its own."""

_CHOSEN: dict[str, tuple[Callable[[str], Any], str]] = {
    "N": (int, "([0-9]{1,9})"),
    "T": (float, r"([0-9]{1,9}(?:\.[0-9]+)?)"),
    "Nms": (float, r"([0-9]{1,9}(?:\.[0-9]+)?)ms"),
    "PATH": (str, "((?s:.+))"),
    "MODULE": (str, r"([^\W\d]\w*(?:\.[^\W\d]\w*)*)"),
    "FUNCTION": (str, r"([^\W\d]\w*)"),
    "CLASS": (str, r"([^\W\d]\w*)"),
}
"""Words in a form: the type of what is chosen in their place, and what it looks like."""
_WORDS = re.compile("Nms|[A-Z]+")


@dataclass(frozen=True)
class AgentName:
    """A form of names, and the agent behind them.

    Attributes:
        form: such as "rollout-N". These words in it stand for what people choose: N for a number of at least 1, T for a
            temperature above 0, Nms for a number of milliseconds, PATH for any text, MODULE for a module with a
            FUNCTION or CLASS.
        plays: what the agent plays.
        make: takes the game and what was chosen, in the order of the form; returns the agent, which gets its name then.
        needs: the optional library that it needs, and the extra that installs it; () for none.
        shipped: takes a game, returns the names of this form that come with the package.
    """

    form: str
    plays: str
    make: Callable[..., Agent]
    needs: tuple[str, ...] = ()
    shipped: Callable[[Game], Iterable[str]] = lambda game: ()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_WORDS.sub(lambda word: _CHOSEN[word[0]][1], re.escape(self.form)))

    def chosen(self, name: str) -> dict[str, Any] | None:
        """What a name has in place of each word of the form; None for a name of another form."""
        found = self._pattern.fullmatch(name)
        if found is None:
            return None
        words = _WORDS.findall(self.form)
        chosen = {word: _CHOSEN[word][0](text) for word, text in zip(words, found.groups(), strict=True)}
        return chosen if all(chosen.values()) else None  # no number is 0


_TABLE: list[AgentName] = []


def enter_agents(rows: Sequence[AgentName], last: bool = False) -> None:
    """Enter names of agents, before those that are there, or `last`: a name is of the first form that it fits."""
    place = len(_TABLE) if last else 0
    _TABLE[place:place] = rows


def look_up(name: str) -> tuple[AgentName, dict[str, Any]] | None:
    """The form of a name, and what is chosen in it; None for an unknown name.

    Raises ConfigError if a module of `MODULES` cannot be imported.
    """
    for module in MODULES:
        try:
            import_module(module)
        except ImportError as error:
            raise ConfigError(f"agent {name!r}: agents by name need the module {module} ({error})") from None
    for row in _TABLE:
        if (chosen := row.chosen(name)) is not None:
            return row, chosen
    return None


@checked
def make_agent(name: str, game: Game) -> Agent:
    """Create an agent from its name for a game. The agent's `name` is this name; an error lists all names.

    Raises ConfigError for an unknown name and for a class of your own that cannot be created, CheckpointError for a
    checkpoint that is missing or has another version.
    """
    found = look_up(name)
    if found is None:
        raise unknown_agent(name, game)
    row, chosen = found
    if row.needs:  # such libraries take seconds to import, and not every installation has them
        library, extra = row.needs
        needed(library, f"agent {name!r}", extra)
    agent = row.make(game, *chosen.values())
    agent.name = name  # results are stored under this name, and agents are told apart by it
    return agent


def unknown_agent(name: str, game: Game) -> ConfigError:
    """The error for a name that is not known; it says which there are."""
    shipped = [one for row in _TABLE for one in row.shipped(game)]
    also = f"; shipped policies are {', '.join(shipped)}" if shipped else ""
    return ConfigError(f"agent {name!r}: must be one of {', '.join(row.form for row in _TABLE)}{also}")


def agents_of(given: Sequence[Agent | str], config: Config, argument: str = "agents") -> list[Agent]:
    """Agents, of which some are given by name, ready for a game of this configuration.

    Raises ConfigError, with the name of the argument, for anything else, and as `make_agent` and `check_agents` do.
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigError(
            f"{argument}={given!r:.80}: must be a sequence of agents or of their names, such as ('greedy',)"
        )
    made = [make_agent(one, config.game) if isinstance(one, str) else one for one in given]
    for one in made:
        if isinstance(one, type) or not isinstance(one, Agent):
            raise ConfigError(f"{argument}: {one!r:.80} is not an agent: it has no `name` or no `act`, or is a class")
    check_agents(made, config)
    return made
