"""A turn: one of four actions, and the card's power before or after it."""

from __future__ import annotations

from evergreen_env.actions import ANYWHERE, DONE, GROW_TWO, PLANT_AND_GROW, PLANT_THREE, POWER
from evergreen_env.rules import card_actions
from evergreen_env.rules.planet import NO_SPACES
from evergreen_env.rules.powers import use_power
from evergreen_env.state import Decision, State
from evergreen_env.tables import Tables
from tabletop_engine.compiling.compiled import rule
from tabletop_engine.legal import allow, ask, ask_nothing
from tabletop_engine.parts.turns import next_with


@rule
def next_to_act(s: State) -> int:
    """The first player, in the draft's order, who has not taken the turn yet; NOBODY if all have."""
    return next_with(s, s.first_player, s.finished, 0)


@rule
def begin_turn(s: State, seat: int) -> None:
    """Ask this seat for its turn: the action and the power are open."""
    s.action_open, s.power_open = 1, 1
    ask(s, Decision.TURN, seat)


@rule
def allow_turn(s: State, t: Tables) -> None:
    """The actions that are possible, the power, and to leave out what is still open."""
    can_act = False
    if s.action_open == 1:
        can_plant = card_actions.can_plant_in_biome(s, t)
        can_grow = card_actions.can_grow_in_biome(s, t)
        if can_plant:
            allow(s, PLANT_THREE)
        if can_grow:
            allow(s, GROW_TWO)
        if can_plant or can_grow:
            allow(s, PLANT_AND_GROW)
        can_act = card_actions.can_act_anywhere(s, t)
        if can_act:
            allow(s, ANYWHERE)
    if s.power_open == 1:
        allow(s, POWER)
    if t.voluntary_pass == 1 or not can_act:
        allow(s, DONE)


@rule
def take_turn(s: State, t: Tables, action: int) -> None:
    """Answers TURN."""
    if action == DONE:
        end_turn(s)
    elif action == POWER:
        use_power(s, t)
    else:
        card_actions.begin_action(s, t, action)


@rule
def go_on_with_turn(s: State) -> None:
    """After an action or a power: ask for the other one, or end the turn."""
    clear_effect(s)
    if s.action_open == 1 or s.power_open == 1:
        ask(s, Decision.TURN, s.actor)
    else:
        end_turn(s)


@rule
def clear_effect(s: State) -> None:
    """No action and no power is being carried out."""
    s.plants_left, s.growths_left, s.uses_left, s.begun = 0, 0, 0, 0
    s.open_spaces = NO_SPACES


@rule
def end_turn(s: State) -> None:
    """The turn is over. It is shown at the end of the round."""
    s.action_open, s.power_open = 0, 0
    s.finished[s.actor] = 1
    ask_nothing(s)
