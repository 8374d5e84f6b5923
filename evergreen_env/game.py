"""The `Game` object of Evergreen, for the engine, the agents and the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evergreen_env import __version__, drawing, rules
from evergreen_env.actions import ACTION_NAMES
from evergreen_env.component_files import COMPONENTS, load_tables, own_numbers
from evergreen_env.config import Config
from evergreen_env.invariants import all_checks
from evergreen_env.keys import form
from evergreen_env.limits import limits
from evergreen_env.numbers import NUMBERS, write_numbers
from evergreen_env.observation import LAYOUT, observe
from evergreen_env.scenarios import described, scenario
from evergreen_env.state import DECISION_NAMES, RULES_VERSION, SOURCE_NAMES, STATE, STATE_VERSION, State
from evergreen_env.tables import TABLES
from evergreen_env.value import WEIGHTS, is_settled, position_value
from tabletop_engine.described.invariants import check_states
from tabletop_engine.files import shipped
from tabletop_engine.game import Game, Rules

_FOLDER = Path(__file__).parent
_FILES = ("state.py", "actions.py", "tables.py", "observation.py", "value.py", "rules")


def check(states: State | np.ndarray, tables: np.ndarray | None = None) -> None:
    """Raise `StateError` with the reason if a count or a rule of the game is broken in any state.

    Arguments:
        states: one record of dtype STATE, or an array (N,) of them; the message then names the first game that fails.
        tables: (1,) TABLES that the games are played with; None for the shipped numbers.
    """
    check_states(GAME, states, tables, all_checks)


GAME = Game(
    name="evergreen",
    title="Evergreen",
    home=__name__,
    command="evergreen",
    version=__version__,
    state_version=STATE_VERSION,
    rules_version=RULES_VERSION,
    sources=tuple(_FOLDER / name for name in _FILES),
    state=STATE,
    tables=TABLES,
    load_tables=load_tables,
    config=Config,
    players=(1, 2, 3, 4),
    decisions=DECISION_NAMES,
    actions=ACTION_NAMES,
    observation=LAYOUT,
    numbers=NUMBERS,
    write_numbers=write_numbers,
    rules=Rules(
        reset=rules.reset,
        step=rules.step,
        legal=rules.legal,
        observe=observe,
        ranks=rules.ranks,
        forfeit=rules.forfeit,
        sample_hidden=rules.sample_hidden,
        value=position_value,
        is_settled=is_settled,
    ),
    weights=WEIGHTS,
    limits=limits,
    search_settings={"scale": 15.0, "rounds": 2, "exploration": 0.6, "below": 0.05},
    words=drawing,
    drawing=drawing,
    check=check,
    scenario=scenario,
    described=described,
    form=form,
    rules_page=shipped(_FOLDER / "rules.md", _FOLDER.parent / "docs/evergreen/rules.md"),
    scored=SOURCE_NAMES,
    known=("zone", "finished"),  # open cards, of which observations show what counts; who has taken the turn
    own_numbers=own_numbers,
    draw_components=COMPONENTS.draw,
)
"""Evergreen, as the engine, agents and training take it."""
