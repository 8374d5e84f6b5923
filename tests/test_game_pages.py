"""The pages that come from the games' modules: their code runs, and the numbers in their texts are right."""

from __future__ import annotations

import re

import pytest

from docs.game_pages import GAMES, GamePages, actions_page


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.observation.__package__)
def test_what_the_page_of_the_observation_shows_runs(game: GamePages) -> None:
    page = (game.folder / "observation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), "observation.md", "exec"), {"__name__": "docs"})


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.observation.__package__)
def test_ranges_of_actions_are_numbered_right(game: GamePages) -> None:
    """The docstring's ranges have no gaps from 0 to the last; each has the actions that begin with its first word."""
    ranges = re.findall(r"^\| `(\w+)[^`]*` \| (\d+)(?: to (\d+))? \|", game.actions.__doc__ or "", re.MULTILINE)
    names, number = game.actions.ACTION_NAMES, 0
    for word, first, last in ranges:
        assert int(first) == number, word
        number = int(last or first) + 1
        assert {name.split()[0] for name in names[int(first) : number]} == {word}
    assert number == len(names)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.observation.__package__)
def test_every_decision_is_in_the_page_of_actions(game: GamePages) -> None:
    """Each decision is there once, with existing ranges of actions."""
    ranges = set(re.findall(r"^\| `(\w+)[^`]*` \|", game.actions.__doc__ or "", re.MULTILINE))
    page = actions_page(game).split("## Decisions\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    assert sorted(decision for decision, _ in rows) == sorted(game.state.DECISION_NAMES[1:])
    for decision, answers in rows:
        named = {answer.split()[0] for answer in re.findall("`([^`]+)`", answers)}
        assert named <= ranges, decision
