"""`Evergreen/Solo-v0` and `Evergreen/Versus-v0`: one seat as Gymnasium environments. And pictures of games."""

from __future__ import annotations

from typing import Any

from evergreen_env.game import GAME
from tabletop_engine import envs
from tabletop_engine.drawing.picture import Picture
from tabletop_engine.envs import rendering


class SoloEnv(envs.SoloEnv, game=GAME):
    """The solo game of Evergreen, played for points: fourteen rounds in four seasons. Each round you take one of two
    cards, and the other one changes the fertility of a biome. Your card is an action in its biome and a power that
    grows with every use: plant sprouts, let them grow into trees, place bushes and lakes. At the end of each season
    trees in the light and the largest forest score. At the end of the game big trees score the fertility of their
    biome. A game has 60 to 100 small decisions: a card, an action, a space.

    ## Observation Space

    Planets are planes of 7 x 7.

    ## Rewards

    There is no opponent, so `points` is the reward. Points change when a round ends.

    ## Starting State

    The deck and the first flowers of the fertility zone are random.

    ## Episode End

    `others_points` is 0.0, and `won` is true unless an illegal action ended the game.
    """


class SoloVectorEnv(envs.SoloVectorEnv, game=GAME):
    """Many solo games of Evergreen."""


class VersusEnv(envs.VersusEnv, game=GAME):
    """The game for 2 to 4 players, seen from one seat. A turn has several small decisions: a card, an action, a space.
    All players take their turns at the same time: you see what the others have done when all are finished.

    ## Observation Space

    Planets are planes of 7 x 7.

    ## Rewards

    There is always one winner. Points change when a round ends, for all players at once.

    ## Starting State

    The first player is always drawn.
    """


class VersusVectorEnv(envs.VersusVectorEnv, game=GAME):
    """Many games of Evergreen, each seen from one seat."""


def picture(shown: Any, viewer: int | None = None) -> Picture:
    """A game as a picture. A notebook shows it as the last value of a cell; `save` writes it as SVG or PNG.

    It is `tabletop_engine.envs.rendering.picture`, which describes the arguments, for Evergreen.
    """
    return rendering.picture(shown, viewer, GAME)
