"""Golden texts: what the games say and draw is still what the files in `tests/texts` show.

After a change of words or drawings: `python -m tests.texts`, then read what has changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evergreen_env.state import Decision as EvergreenDecision
from petrichor_env.state import NUM_FORECASTS, Decision
from tests.texts import FILES, GAMES, parts_of, played, written_anew


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_text(path: Path) -> None:
    assert written_anew(path) == path.read_text(encoding="utf-8")


def test_every_decision_is_told() -> None:
    """The files ask and explain each decision and each forecast card that asks for more, and draw in each size."""
    told, cards, forms = set(), set(), set()
    for path in FILES:
        for part in parts_of(path):
            forms.add(part.what.partition(" as ")[0].lstrip("0123456789 "))
            if part.what == "decision":
                game = GAMES[path.stem.split("-")[0]]
                state = played(game, part)[0].states[0]
                told.add((game.name, int(state["decision"])))
                cards |= {part.given.get("pending", {}).get("forecast")}
                assert all(game.words.action_text(state, action) for action in range(len(game.actions)))
                for viewer in (None, *range(state["players"])):
                    drawn = game.drawing.render_text(state, viewer)
                    assert max(map(len, drawn.split("\n"))) <= 100
    assert told == {("petrichor", one) for one in Decision} | {("evergreen", one) for one in EvergreenDecision}
    assert cards - {None} == {2, 4, 5, 6, 8, 9, 10, 11, 12, 15, NUM_FORECASTS}
    assert forms == {"rules", "brief", "wide", "small", "compact", "columns", "decision", "steps", "refused"}
