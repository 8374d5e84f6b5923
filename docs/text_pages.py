"""The parts of docs/language-models.md that come from the code: a message as it is, and programs of docs/text/.

`docs/generate.py` writes them.
"""

from __future__ import annotations

from pathlib import Path

from petrichor_env import Config
from tabletop_text import Form, TextGame

FOLDER = Path(__file__).parent / "text"
PRINTED = ("my_model", "text_game")
PROGRAMS = (*PRINTED, "kaggle_harness", "textarena_env")
"""The page prints the first ones, and links to the others."""


def observation() -> str:
    """A message in the middle of a game for two."""
    game = TextGame(Config(players=2), ("greedy",), seat=0, form=Form(rules=False))
    turn = game.reset(2)
    for _ in range(9):
        turn = game.step("1")
    return f"```text\n{turn.text}\n```"


def program(name: str) -> str:
    """A program as the page shows it."""
    return f"```python\n{(FOLDER / f'{name}.py').read_text(encoding='utf-8')}```"
