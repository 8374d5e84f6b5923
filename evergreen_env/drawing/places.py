"""The places in the picture where a click gives an answer: cards, spaces, powers."""

from __future__ import annotations

from evergreen_env.actions import DONE, DRAFT, POWER, SPACE
from evergreen_env.state import CARD_NAMES, MAX_MARKET, PLACE_NAMES, POWER_NAMES, State
from evergreen_env.words import place_of_action, power_of
from tabletop_engine.drawing.svg import Place
from tabletop_engine.text.words import player_names


def places(state: State, action: int) -> tuple[Place, ...]:
    """`Drawing.places`.

    For the action or power of a turn: the actor's card, and all that is the actor's. For a space: the space, and the
    whole planet, since spaces are small on a telephone. For the end of a turn: ().
    """
    if action < DRAFT + MAX_MARKET:
        return ((("market", str(action - DRAFT + 1)),),)
    if action == DONE:
        return ()
    actor = player_names(state.players)[state.actor]
    own: Place = (("player", actor),)
    if action >= SPACE:
        place = place_of_action(state, action)
        return () if place is None else ((*own, ("space", PLACE_NAMES[place])), (("planet", actor),))
    card: Place = (*own, ("card", CARD_NAMES[state.card[state.actor]]))
    if action == POWER:
        return card, (*own, ("power", POWER_NAMES[power_of(state)])), own
    return card, own
