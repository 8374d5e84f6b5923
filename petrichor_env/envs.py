"""`Petrichor/Solo-v0` and `Petrichor/Versus-v0`: one seat as Gymnasium environments. And pictures of games."""

from __future__ import annotations

from typing import Any

from petrichor_env.game import GAME
from tabletop_engine import envs
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.envs import rendering


class SoloEnv(envs.SoloEnv, game=GAME):
    """The solo game of Petrichor: four rounds against the Southern Winds, which place clouds, drops and votes of a
    neutral player. You play cards to place your own, vote for the weather, and score the crops at each Harvest. You win
    with more points than the neutral player. A game has about 55 small decisions: a card, a tile, a vote. Promos and
    modules of the Flowers expansion can be added.

    ## Starting State

    The tiles, the cards and the neutral player's first clouds are random (Southern Winds, Setup).
    """


class SoloVectorEnv(envs.SoloVectorEnv, game=GAME):
    """Many solo games of Petrichor."""


class VersusEnv(envs.VersusEnv, game=GAME):
    """The game for 2 to 5 players, seen from one seat. A turn has several small decisions: a card, a tile, a vote.

    ## Starting State

    The first player is always drawn.
    """


class VersusVectorEnv(envs.VersusVectorEnv, game=GAME):
    """Many games of Petrichor, each seen from one seat."""


def picture(shown: Any, viewer: int | None = None) -> Picture:
    """A game as a picture. A notebook shows it as the last value of a cell; `save` writes it as SVG or PNG.

    It is `tabletop_engine.envs.rendering.picture`, which describes the arguments, for Petrichor.
    """
    return rendering.picture(shown, viewer, GAME)
