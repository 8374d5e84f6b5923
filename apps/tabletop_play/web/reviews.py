"""Agents' reviews of whole games, for the pages that people save of these games."""

from __future__ import annotations

from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Review

_MOST = 100


class Reviews:
    """The latest reviews. The oldest are forgotten."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, tuple[int, ...]], Review] = {}

    def keep(self, replay: Replay, seats: tuple[int, ...], review: Review) -> None:
        """Keep a review that a link with these seats has asked for."""
        key = (replay.game.name, replay.checksums[-1], seats)
        self._kept.pop(key, None)
        self._kept[key] = review
        if len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]

    def of(self, replay: Replay, seats: tuple[int, ...]) -> Review | None:
        """The latest review of a game; with seats, only one that a link with these seats has asked for."""
        game = (replay.game.name, replay.checksums[-1])
        own = [one for key, one in self._kept.items() if key[:2] == game and (not seats or key[2] == seats)]
        return own[-1] if own else None
