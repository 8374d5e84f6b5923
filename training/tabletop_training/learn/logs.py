"""What a run writes down: the learning curve, the evaluations and the league as CSV files, and TensorBoard's log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tabletop_training.files.tables import read_log, write_log
from tabletop_training.learn.games import FinishedGames
from tabletop_training.learn.opponents import LEAGUE_COLUMNS
from tabletop_training.learn.ppo import Losses
from tabletop_training.learn.task import PolicyEvaluation

CURVE, EVALUATIONS, LEAGUE_LOG, TENSORBOARD = "learning_curve.csv", "evaluations.csv", "league.csv", "tensorboard"


class CurvePoint(NamedTuple):
    """The games that ended during one rollout, and the update after it: a row of `learning_curve.csv`.

    `all_games` also counts games in which the network had every seat; the other columns are about games in which it had
    one seat. `wins` counts a shared victory by its share. `others_points` are the mean points of all others.
    `decisions` are those of all seats of a game. The last columns are PPO's, averaged over the learner's decisions, in
    nats where it applies.
    """

    seconds: float
    steps: int
    games: int
    wins: float
    margin: float
    points: float
    others_points: float
    decisions: float
    entropy: float
    kl: float
    clipped: float
    value_loss: float
    heads_loss: float
    explained_variance: float
    learning_rate: float
    all_games: int

    @classmethod
    def of(cls, seconds: float, steps: int, ends: FinishedGames, losses: Losses, learning_rate: float) -> CurvePoint:
        """The point of a rollout in which these games ended, and of the update after it."""
        games, seats = ends.of_learner()

        def mean(values: np.ndarray) -> float:
            return float(values.mean()) if len(values) else 0.0

        margin, points = mean(ends.margins[games, seats]), mean(ends.points[games, seats])
        others = [game for game in games if ends.configs[game].owners > 1]
        return cls(
            seconds=round(seconds, 2),
            steps=steps,
            games=len(games),
            wins=round(float(ends.won[games, seats].sum()), 3),
            margin=round(margin, 3),
            points=round(points, 3),
            others_points=round(points - margin, 3) if others else 0.0,
            decisions=round(mean(ends.lengths[games]), 2),
            learning_rate=round(learning_rate, 7),
            all_games=len(ends.configs),
            **{name: round(value, 5) for name, value in losses._asdict().items()},
        )


class Logs:
    """The logs in a run's folder. They are written only while they are open.

    Attributes: `curve`, a `CurvePoint` for every rollout, and `evaluations`, pairs of steps and `PolicyEvaluation`.
    """

    def __init__(self, folder: Path, tensorboard: bool) -> None:
        self.folder = folder
        self.curve: list[CurvePoint] = []
        self.evaluations: list[tuple[int, PolicyEvaluation]] = []
        self._tensorboard = tensorboard and find_spec("tensorboard") is not None
        self._open = False
        self._board: Any = None

    @contextmanager
    def opened(self, steps: int, league: bool) -> Iterator[None]:
        """Keep the logs open, with the rows of a resumed run up to these steps. `league`: whether there is one."""
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict() for point in self.curve])
        if league:
            write_log(self.folder / LEAGUE_LOG, LEAGUE_COLUMNS, read_log(self.folder / LEAGUE_LOG, steps))
        board: AbstractContextManager[Any] = nullcontext()
        if self._tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            board = SummaryWriter(str(self.folder / TENSORBOARD), purge_step=steps + 1)
        with board as self._board:
            self._open = True
            try:
                yield
            finally:
                self._open, self._board = False, None

    def add_point(self, point: CurvePoint, numbers: Mapping[str, float], league: Sequence[dict[str, Any]]) -> None:
        """Add a rollout, with more numbers for TensorBoard and the league's rows."""
        self.curve.append(point)
        if not self._open:
            return
        write_log(self.folder / CURVE, CurvePoint._fields, [point._asdict()], new=False)
        if league:
            write_log(self.folder / LEAGUE_LOG, LEAGUE_COLUMNS, league, new=False)
        values = point._asdict()
        shown = {f"train/{name}": values[name] for name in (*Losses._fields, "learning_rate")}
        if point.games:
            shown |= {f"games/{name}": values[name] for name in ("margin", "points", "others_points", "decisions")}
            shown["games/win_rate"] = point.wins / point.games
        self._show(point.steps, {**shown, **numbers})

    def add_evaluation(self, seconds: float, steps: int, evaluated: PolicyEvaluation) -> dict[str, Any]:
        """Add an evaluation; returns its row."""
        earlier = read_log(self.folder / EVALUATIONS, self.evaluations[-1][0]) if self.evaluations else []
        self.evaluations.append((steps, evaluated))
        row = {"seconds": round(seconds, 1), "steps": steps, "score": round(evaluated.score, 5)}
        row |= {name: round(value, 5) for name, value in evaluated.numbers.items()}
        write_log(self.folder / EVALUATIONS, row, [*earlier, row])
        numbers = {**evaluated.numbers, "score": evaluated.score}
        self._show(steps, {f"evaluation/{name}": value for name, value in numbers.items()})
        return row

    def _show(self, steps: int, numbers: Mapping[str, float]) -> None:
        if self._board is not None:
            for name, value in numbers.items():
                self._board.add_scalar(name, value, steps)

    @property
    def best(self) -> tuple[int, PolicyEvaluation] | None:
        """The first evaluation with the highest score, and its steps."""
        return max(self.evaluations, key=lambda pair: pair[1].score, default=None)

    @property
    def recent(self) -> tuple[float, float] | None:
        """Win rate and mean margin of about the last 500 games; None before the first game has ended."""
        games = 0
        wins = margin = 0.0
        for point in reversed(self.curve):
            games, wins, margin = games + point.games, wins + point.wins, margin + point.margin * point.games
            if games >= 500:
                break
        return (wins / games, margin / games) if games else None
