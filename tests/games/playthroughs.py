"""One playthrough of each small game as text, for a reader who knows the rules.

python -m tests.games.playthroughs     # writes tests/games/*.txt anew
"""

from __future__ import annotations

import random
from pathlib import Path

from tabletop_engine.game import NOBODY, Game
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.text.words import win_text
from tests.games import connect_four, leduc_poker

FOLDER = Path(__file__).parent
GAMES = (connect_four.GAME, leduc_poker.GAME)
_SEEDS = {"connect_four": range(1), "leduc_poker": range(3)}


def told(game: Game) -> str:
    """A few games, all hands open. Python's own `random` chooses: its numbers are the same in every version."""
    lines: list[str] = []
    for seed in _SEEDS[game.name]:
        chance = random.Random(seed)
        batch = Batch(game.config(), 1, seed, autoreset="disabled")
        lines += [f"# Seed {seed}", ""]
        while (actor := batch.actors[0]) != NOBODY:
            state = batch.states[0]
            action = chance.choice(legal_actions(state).tolist())
            lines += [
                game.drawing.render_text(state),
                "",
                f"> player_{actor}: {game.words.action_text(state, action)}",
                "",
            ]
            batch.step([action])
        winners = [f"player_{seat}" for seat in game.winners(batch.states[0])]
        lines += [game.drawing.render_text(batch.states[0]), "", f"{win_text(winners)}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    for each in GAMES:
        (FOLDER / f"{each.name}.txt").write_text(told(each), encoding="utf-8")
