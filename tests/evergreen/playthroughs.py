"""A game for each number of players as text, for a reader who knows the rules: what was done, and its effect.

python -m tests.evergreen.playthroughs     # writes tests/evergreen/playthroughs/*.txt anew
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from evergreen_env import Batch, Config
from evergreen_env.actions import DONE
from evergreen_env.drawing import action_text, events, render_text
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.text.words import player_names

FOLDER = Path(__file__).parent / "playthroughs"
PLAYERS = (1, 2, 3, 4)
_DONE = 0.15
"""How often a turn, an action or a power is ended early, where that is possible."""


def told(players: int) -> str:
    """One game, all planets open. Python's own `random` chooses: its numbers are the same in every version."""
    chance = random.Random(players)
    batch = Batch(Config(players), 1, seed=players, autoreset="disabled")
    lines = [render_text(batch.states[0]), ""]
    while (actor := batch.actors[0]) != NOBODY:
        state = batch.states[0].copy()
        legal = legal_actions(state).tolist()
        others = [action for action in legal if action != DONE]
        action = DONE if DONE in legal and chance.random() < _DONE else chance.choice(others)
        lines.append(f"> {player_names(players)[actor]}: {action_text(state, action)}")
        lines += [f"  {sentence}" for sentence in events(state, action)]
        batch.step([action])
        if batch.states[0]["season"] != state["season"]:
            lines += ["", render_text(batch.states[0]), ""]
    assert np.array_equal(batch.actors, [NOBODY])
    return "\n".join([*lines, "", render_text(batch.states[0]), ""])


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in PLAYERS:
        (FOLDER / f"{each}_players.txt").write_text(told(each), encoding="utf-8")
