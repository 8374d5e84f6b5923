"""The first game: the last round of spring, then a whole game from there."""

from __future__ import annotations

from tabletop_engine.first_game import FirstGame, Step

_PLANET, _SPRING, _SUMMER = (("planet", "player_0"),), (("season", "spring"),), (("season", "summer"),)
first_game = FirstGame(
    scenario={
        "players": 1,
        "round": 5,
        "market": ["meadow big_tree", "grain bush"],
        "zone": ["meadow bush", "rock sprout"],
        "planets": {"player_0": {"a2": "small_tree", "b2": "sprout", "c3": "small_tree", "b4": "sprout"}},
    },
    opponents=(),
    called=(),
    steps=(
        Step(
            "This is your planet. You grow sprouts into small trees, and small trees into big ones. Each of the four "
            "seasons ends with points: 1 for a small tree in the light, 2 for a big one, and 1 for each space of your "
            "largest forest.",
            place=_PLANET,
        ),
        Step(
            "The sun stands in the north, so shadows fall to the south: that of a small tree on one space, that of a "
            "big one on two. A tree in the shadow of one that is as large or larger collects no light.",
            place=_SPRING,
        ),
        Step(
            "Each round you take a card: its biome is where you act, and it has a power. Take this one, of the "
            "meadow. What is left over changes the fertility: its flower makes the grain biome pay more for big "
            "trees.",
            "draft 1",
        ),
        Step("Your turn is an action and the power, in either order. Begin with “grow up to 2 spaces”.", "grow two"),
        Step("A sprout becomes a small tree. Choose this one.", "space b2"),
        Step("And this one: the shadow of the tree that you have just grown ends before it.", "space b4"),
        Step(
            "Now the power of the card. Its level rises each time that you use it, so that it does more. At level 1 "
            "it makes one small tree big.",
            "power",
        ),
        Step("No tree shades this one, so as a big tree it brings 2 points.", "space c3"),
        Step(
            "Spring has ended: your trees have brought 5 points for light, and your largest forest 2. The sun has "
            "moved on to the east, and the shadows with it. Before you plant, think of where it will stand.",
            place=_SUMMER,
        ),
        Step(
            "Points come like this at the end of each season, and at the end of the game each big tree also brings the "
            "fertility of its biome. Go on alone from here: each decision is explained."
        ),
    ),
)
