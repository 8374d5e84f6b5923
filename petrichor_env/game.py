"""The `Game` object of Petrichor, for the engine, the agents and the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from petrichor_env import __version__, drawing, rules
from petrichor_env.actions import ACTION_NAMES
from petrichor_env.component_files import COMPONENTS, load_tables, own_numbers
from petrichor_env.config import Config
from petrichor_env.images import images
from petrichor_env.invariants import all_checks
from petrichor_env.keys import form
from petrichor_env.limits import limits
from petrichor_env.numbers import NUMBERS, write_numbers
from petrichor_env.observation import LAYOUT, observe
from petrichor_env.scenarios import described, scenario
from petrichor_env.state import DECISION_NAMES, RULES_VERSION, SOURCE_NAMES, STATE, STATE_VERSION, State
from petrichor_env.tables import TABLES
from petrichor_env.value import WEIGHTS, is_settled, new_memo, position_value
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
    name="petrichor",
    title="Petrichor",
    home=__name__,
    command="petrichor",
    version=__version__,
    state_version=STATE_VERSION,
    rules_version=RULES_VERSION,
    sources=tuple(_FOLDER / name for name in _FILES),
    state=STATE,
    tables=TABLES,
    load_tables=load_tables,
    config=Config,
    players=(1, 2, 3, 4, 5),
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
    new_memo=new_memo,
    images=images,
    limits=limits,
    search_settings={},
    words=drawing,
    drawing=drawing,
    check=check,
    scenario=scenario,
    described=described,
    form=form,
    rules_page=shipped(_FOLDER / "rules.md", _FOLDER.parent / "docs/rules.md"),
    scored=SOURCE_NAMES,
    known=("winds_roll",),  # an open die, of which only the target counts
    own_numbers=own_numbers,
    draw_components=COMPONENTS.draw,
)
"""Petrichor, as the engine, agents and training take it."""
