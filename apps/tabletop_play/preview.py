"""What answers would do, before they are given: as far as neither chance nor anything hidden decides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tabletop_engine.errors import IllegalAction
from tabletop_engine.game import Game
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.record import told_points
from tabletop_play.combinations import Combination
from tabletop_play.taking_back import ask_the_same, seen_by

_REDRAWS = 64
"""The games that are compared. One in which something else happens is hardly missed."""
_TOLD = 4
"""How many of them are told in words, where they go on in different ways."""


Rows = Iterable[tuple[str, Sequence[int]]]
"""Sources of points, each with a number for each owner."""


class Preview(NamedTuple):
    """What answers would do.

    Attributes:
        told: sentences about it.
        state: the record after the last sentence, or after the answers; None if nothing can be told.
        is_whole: whether the actor is asked again next. Otherwise others or chance go on.
        given: the answers up to this end, with records in which all that the actor can't know is redrawn.
    """

    told: list[str]
    state: Any
    is_whole: bool
    given: Combination


def preview(
    game: Game, state: Any, actions: Sequence[int], tables: np.ndarray, generator: np.random.Generator
) -> Preview:
    """What answers of one seat would do, one after another, in the words for their actor. Nothing is played.

    It is taken from games in which chance, and all that the actor can't know, is redrawn (`Rules.sample_hidden`). So
    the game itself can't show through. It ends where these games differ.

    Arguments:
        state: one record. It is not changed.
        tables: (1,) printed numbers that the game is played with.
        generator: redraws.

    Raises IllegalAction for what the rules don't take.
    """
    actor = int(state["actor"])
    games = np.repeat(np.array([state], game.state), _REDRAWS)
    randoms = generator.integers(0, 2**64, _REDRAWS, np.uint64)
    game.kernels.sample_hidden_games(games, tables, np.full(_REDRAWS, actor, np.int64), randoms)
    games["rng"] = generator.integers(0, 2**64, games["rng"].shape, np.uint64)
    told: list[str] = []
    last, records = None, []
    for action in actions:
        if games[0]["actor"] != actor or action not in legal_actions(games[0]):
            raise IllegalAction("the answers do not go on with each other")
        before = games.copy()
        records.append(before[0])
        game.kernels.play_actions(games, tables, np.full(_REDRAWS, action), np.ones(_REDRAWS, np.bool_))
        if not _is_alike(game, before, games, tables, actor):
            for text, moment in _told_alike(game, before, games, tables, actor, action):
                told.append(text)
                last = moment
            return Preview(told, last, False, Combination(tuple(actions[: len(records)]), tuple(records)))
        told += game.words.events(before[0], action, actor, tables)
        last = games[:1].copy()[0]  # the next answer is played in `games`, and may draw
    is_whole = bool((games["actor"] == actor).all())
    return Preview(told, last, is_whole, Combination(tuple(actions), tuple(records)))


def gains(game: Game, before: Any, after: Any, viewer: int, tables: np.ndarray) -> list[tuple[str, list[int | float]]]:
    """What the owners of points gain and lose from one record to another, by source, as far as the viewer may know it.

    That is what they score between them (`Words.sources`), and what changes of what they would score if it was scored
    at once (`Words.projected`). Only sources that change are listed. What is scored is no loss there.
    """

    def changes(was: Rows, now: Rows) -> list[tuple[str, np.ndarray]]:
        old = dict(was)
        found = [(words, np.subtract(numbers, old.get(words, 0))) for words, numbers in now]
        return [(words, change) for words, change in found if change.any()]

    scored = changes(game.words.sources(before), game.words.sources(after))
    projected = (game.words.projected(state, viewer, tables) for state in (before, after))
    expected = [(words, np.maximum(change, 0) if scored else change) for words, change in changes(*projected)]
    return [(words, told_points(change)) for words, change in [*scored, *expected] if change.any()]


def _is_alike(game: Game, before: np.ndarray, after: np.ndarray, tables: np.ndarray, actor: int) -> bool:
    """Whether nothing was drawn, and the actor sees the same in all games, also in the picture, which tells more."""
    seen = seen_by(game, after, tables, actor)
    same = (before["rng"] == after["rng"]).all() and (seen == seen[0]).all() and ask_the_same(after, actor)
    return bool(same) and len({game.drawing.render_svg(one, actor, tables=tables) for one in after[:_TOLD]}) == 1


def _told_alike(
    game: Game, before: np.ndarray, after: np.ndarray, tables: np.ndarray, actor: int, action: int
) -> Iterator[tuple[str, Any]]:
    """The first sentences, with their records, before the games differ or draw; none if not all ask the same player."""
    if (after["actor"] != after["actor"][0]).any() or (after["decision"] != after["decision"][0]).any():
        return
    stories = [game.words.story(one, action, actor, tables) for one in before[:_TOLD]]
    for moments in zip(*stories, strict=False):
        states = [state for _, state in moments]
        if any(now is None or (now["rng"] != start["rng"]).any() for now, start in zip(states, before, strict=False)):
            return
        if len({(text, game.drawing.render_svg(state, actor, tables=tables)) for text, state in moments}) > 1:
            return
        yield moments[0]
