"""The first game: the last round of a game for two, in which each of the four cards is played once."""

from __future__ import annotations

from tabletop_engine.first_game import FirstGame, Step

_FIELD = {
    "b1": {"crop": "wheat"},
    "b2": {"crop": "grass", "drops": {"player_0": 2, "player_1": 1}},
    "c1": {"crop": "cotton"},
    "c2": {"crop": "coffee"},
    "a3": {"crop": "potato", "drops": {"player_1": 2}, "cloud": {"drops": {"player_1": 1}}},
}
_GRASS, _WEATHER = (("tile", "b2"),), (("weather", "rain"),)
first_game = FirstGame(
    scenario={
        "players": 2,
        "round": 4,
        "turns": 0,
        "actor": "player_0",
        "field": _FIELD,
        "hands": {
            "player_0": {"frost": 1, "sun": 1, "wind": 1, "rain": 1},
            "player_1": {"frost": 1, "sun": 1, "rain": 1},
        },
        "votes": {"rain": {"player_0": 1, "player_1": 1}},
        "points": {"player_0": 12, "player_1": 3},
    },
    opponents=("greedy",),
    called=("Robin",),
    steps=(
        Step(
            "Whoever has the most points at the end wins. These are the Fields. Each tile is a crop that needs water. "
            "On this Grass lie 2 of your drops and 1 of the other player: 3 of the 4 drops that it needs to grow. A "
            "Harvest pays 4 points to who has the most drops on Grass, and 3 to the second.",
            place=_GRASS,
        ),
        Step("On your turn you play a card. Frost makes a new cloud. Choose your Frost card.", "play frost"),
        Step("The cloud brings one of your drops. Put it above this Wheat, beside the Grass.", "tile b1"),
        Step(
            "Each card also votes for a weather: its own, or the next one clockwise. Vote for Sun. When the round "
            "ends, the two weathers with the most votes happen to everybody; in the last round all with a vote do. Who "
            "has the most votes on one of the two wins it, and that pays points at the end.",
            "vote sun",
        ),
        Step("", "decline"),
        Step(
            "The other player had a turn. Now your Sun card: it adds 2 drops to a cloud of yours. Vote for Sun again.",
            "play sun",
        ),
        Step("", "vote sun"),
        Step(
            "For two more cards of a kind you could act a second time, and any two cards stand for one. The two that "
            "you have left differ, so choose “take no optional action”.",
            "decline",
        ),
        Step("Wind moves a cloud to the next tile. Choose your Wind card.", "play wind"),
        Step("Move your cloud south, above the Grass.", "move south"),
        Step(
            "Vote for Rain this time. Clouds of 4 drops or more are thunderclouds, and in Rain weather they pour out.",
            "vote rain",
            _WEATHER,
        ),
        Step(
            "Rain lets a drop fall onto the tile below, from each of up to two clouds. Yours is the fourth drop on the "
            "Grass, so it grows. You have 3 drops there, the other player has 1.",
            "play rain",
        ),
        Step(
            "Vote for Rain once more. A vote can also turn a Harvest die down. When all three Harvest dice show "
            "Harvest, the round ends with a Harvest; the last round, which this is, ends with one in any case.",
            "vote rain",
        ),
        Step(
            "The Harvest has come: to your 12 points the Grass added 4, and the two votes that you won 3. That is the "
            "whole game: Frost makes clouds, Sun fills them, Wind moves them, and Rain lets drops fall. A Harvest pays "
            "who has the most drops on a crop that has grown; it comes with three dice on Harvest, and in the last "
            "round. “Play again” begins a whole game."
        ),
    ),
)
