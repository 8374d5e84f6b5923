"""The course of finished games: who leads, when a game is decided, and how much of its result is luck.

Games are played again from their seeds and actions. At each decision a *judge* says how likely each player is to win,
and by how much. Wherever chance comes, it is also drawn anew from the same position. The *luck* of that step is what
the judge says after it, less the mean of what it says after the other draws. So luck is 0 in the mean, however good the
judge is and whoever plays: a control variate, which makes intervals narrower and moves no mean. `docs/measures.md` has
the definitions and where they come from.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tabletop_agents import checkpoint_path, shipped_policies
from tabletop_engine.errors import CheckpointError, TabletopError
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.scores import margins, win_shares
from tabletop_engine.record import FORFEIT, exact_points
from tabletop_engine.seeds import Stream, generator
from tabletop_training.files.tables import agent_code, format_estimate, markdown_table
from tabletop_training.measure.results import (
    Estimate,
    Results,
    mean_estimate,
    score_interval,
    share_estimate,
)

if TYPE_CHECKING:
    from tabletop_agents.policy import PolicyAgent

WIN, MARGIN = 0, 1
"""What a judge says, and what a game has at its end: a seat's share of the victory, and its margin in points."""
QUARTERS = 4
"""Into so many parts the rounds of every game are divided."""
REDRAWS = 8
"""How often chance is drawn anew at each step."""
DECIDED = 0.9
"""A game is decided when its outcome is as probable as this, and stays so."""
MOST_GAMES = 1000
"""So many games of each line a report plays again."""
_AT_ONCE = 128

Judge = Callable[[Batch, np.ndarray], np.ndarray]
"""Takes a batch and the indices (n,) of games that are not over; returns (n, 2, P) float64, WIN and MARGIN by seat."""


@dataclass(frozen=True, eq=False)
class Course:
    """What n games of P players were like.

    Attributes:
        results: (n, 2, P) float64, WIN and MARGIN at the end.
        luck: (n, 1 + QUARTERS, 2, P) float64: how much chance gave each seat, in the set-up and in each quarter.
        lead_changes: (n,) int64, how often the most points came to another owner.
        decided: (n,) int64, the quarter in which the game was decided, from 0; QUARTERS if only its last step did it.
        skill: (QUARTERS, 2) float64, how well the judge knew the ends at the decisions of each quarter (`skill`).
    """

    results: np.ndarray
    luck: np.ndarray
    lead_changes: np.ndarray
    decided: np.ndarray
    skill: np.ndarray

    def share_of_luck(self, what: int) -> np.ndarray:
        """(1 + QUARTERS,) float64: the share of the variance of `what` (WIN or MARGIN) that each part's luck explains.

        It is the squared correlation over games and seats, which no judge can make larger than it is by the rules; the
        noise of the redraws is taken out. The parts do not depend on each other, so their sum is the share of all luck.
        """
        ahead = self.results[:, what] - self.results[:, what].mean(axis=0)
        luck = self.luck[:, :, what]
        together, squares = np.einsum("gs,gcs->c", ahead, luck), np.square(luck).sum(axis=(0, 2))
        whole = squares * np.square(ahead).sum()
        return np.divide(together**2, whole, where=whole > 0, out=np.zeros(len(whole))) * (1 + 1 / REDRAWS)

    def corrected(self, what: int, seat: int = 0) -> tuple[Estimate, float]:
        """The mean of `what` for a seat without its luck, by least squares; and the share of the variance that is left.

        The games must have different seeds. With too few games the mean stays as it is.
        """
        result, luck = self.results[:, what, seat], self.luck[:, :, what, seat]
        games, variance = len(result), float(result.var())
        plain = share_estimate(result) if what == WIN else mean_estimate(result)
        if games < 4 * luck.shape[1] or variance == 0:
            return plain, 1.0
        columns = np.column_stack([np.ones(games), luck])
        found, *_ = np.linalg.lstsq(columns, result, rcond=None)
        left = float(np.square(result - columns @ found).sum()) / (games - np.linalg.matrix_rank(columns))
        left = min(1.0, left * (games - 1) / games / variance)
        if what == WIN:
            value = min(1.0, max(0.0, float(found[0])))
            greatest = max(value * (1 - value), variance)  # as `share_estimate`, but of the variance that is left
            low, high = score_interval(value, games / min(1.0, left * variance / greatest + 1 / games))
            return Estimate(value, max(0.0, low), min(1.0, high)), left
        half = np.sqrt(left) * (plain.high - plain.low) / 2
        return Estimate(float(found[0]), float(found[0] - half), float(found[0] + half)), left


def skill(said: np.ndarray, came: np.ndarray) -> float:
    """1 less the mean squared error of predictions, divided by the variance: 0 for who knows only the mean, 1 for who
    knows the end. For probabilities it is the Brier skill. NaN if nothing varies."""
    variance = float(came.var())
    return 1 - float(np.square(said - came).mean()) / variance if variance > 0 else float("nan")


# --- Judges ----------------------------------------------------------------------------------------------------------


def judge_of(policy: PolicyAgent) -> Judge:
    """The win and margin heads of a policy, asked for what the actor sees."""
    from tabletop_agents.policy import inputs_of

    def judge(batch: Batch, games: np.ndarray) -> np.ndarray:
        decisions, teams = Decisions.of(batch, games), np.array(batch.game.teams(batch.config))
        said = np.stack(policy.network.wins_and_margins(inputs_of(policy.network, decisions), decisions.teams), axis=1)
        onwards = (teams - teams[batch.actors[games, None]]) % (teams.max() + 1)  # of each seat's team
        return np.take_along_axis(said, np.repeat(onwards[:, None], 2, axis=1), axis=2)

    return judge


@cache
def shipped_judge(game: Game, players: int) -> tuple[str, Judge] | None:
    """A shipped policy that can judge such games, with its name; None without one, or without PyTorch."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    from tabletop_agents.policy import PolicyAgent

    torch.set_num_threads(1)  # as `get_ready` does: more would wait by spinning
    for name in shipped_policies(game):
        try:
            policy = PolicyAgent.load(checkpoint_path(name, game), game)
        except CheckpointError:
            continue
        fits = policy.players is None or players in policy.players
        if fits and policy.network.win_margin_heads is not None:
            return f"policy:{name}", judge_of(policy)
    return None


# --- Games, played again ---------------------------------------------------------------------------------------------


def course_of(results: Results, judge: Judge) -> Course:
    """Play games again whose actions were recorded. Raises TabletopError if they end otherwise than they did."""
    parts = [_replayed(results, start, judge) for start in range(0, len(results), _AT_ONCE)]
    luck, lead_changes, decided, games, quarters, said = (np.concatenate(part) for part in zip(*parts, strict=True))
    ends = np.stack([results.win_shares, results.margins_by_seat], axis=1)
    known = [
        [
            skill(said[chosen, what], ends[games[chosen], what]) if chosen.any() else float("nan")
            for what in (WIN, MARGIN)
        ]
        for chosen in (quarters == number for number in range(QUARTERS))
    ]
    return Course(ends, luck, lead_changes, decided, np.array(known))


def _replayed(results: Results, start: int, judge: Judge) -> tuple[np.ndarray, ...]:
    """Games from `start` on: luck, lead changes, quarters in which they are decided; and of each decision the game, the
    quarter, and what the judge says."""
    assert results.actions is not None
    config, games = results.config, np.arange(start, min(start + _AT_ONCE, len(results)))
    n, players, seeds = len(games), config.players, results.seeds[games]
    editions = results.edition_of_games[games] if results.editions else None
    options: dict[str, Any] = {"autoreset": "disabled", "editions": results.editions or None}
    batch, again = Batch(config, n, seeds, **options), Batch(config, n * REDRAWS, 0, **options)
    chance = generator(int(seeds[0]), Stream.LUCK)
    again.states["rng"] = chance.integers(0, 2**64, n * REDRAWS, dtype=np.uint64)
    batch.reset(seeds, editions=editions)
    again.reset(editions=None if editions is None else np.repeat(editions, REDRAWS))

    luck = np.zeros((n, 1 + QUARTERS, 2, players))
    lead_changes, decided = np.zeros(n, np.int64), np.full(n, QUARTERS)
    leader = np.full(n, NOBODY)
    won, lengths = results.won[games], results.lengths[games]
    actions = np.zeros((n, lengths.max()), np.int64)
    for row, own in zip(actions, (results.actions[game] for game in games), strict=True):
        row[: len(own)] = own
    decisions: list[tuple[np.ndarray, ...]] = []
    everyone = np.arange(n)
    luck[:, 0] = _said(batch, everyone, judge) - _mean_said(again, everyone, judge)
    for number in range(actions.shape[1]):
        playing, which = np.flatnonzero(lengths > number), lengths > number
        if (batch.actors[playing] == NOBODY).any():
            raise _played_otherwise(results)
        before = batch.states.copy()
        rounds = before["rounds"].astype(np.int64)
        quarter = np.clip((before["round"].astype(np.int64) - 1) * QUARTERS // rounds, 0, QUARTERS - 1)
        said = judge(batch, playing)
        decisions.append((games[playing], quarter[playing], said))
        # what came: somebody's victory, or, if nobody who plays has won, that of the opponent
        victory = (said[:, WIN] * won[playing]).sum(axis=1)
        probable = np.where(won[playing].any(axis=1), victory, 1 - said[:, WIN].sum(axis=1)) >= DECIDED
        decided[playing] = np.where(probable, np.minimum(decided[playing], quarter[playing]), QUARTERS)

        lost = which & (actions[:, number] == FORFEIT)
        if lost.any():
            batch.forfeit(lost)
        batch.step(actions[:, number], which & ~lost)
        points = batch.states["points"][:, : config.owners]
        first = points.argmax(axis=1)
        ahead = which & ((points == points.max(axis=1)[:, None]).sum(axis=1) == 1) & (first != leader)
        lead_changes += ahead & (leader != NOBODY)
        leader = np.where(ahead, first, leader)

        drawn = np.flatnonzero(which & ~lost & (batch.states["rng"] != before["rng"]))
        if len(drawn):
            states = np.repeat(before, REDRAWS)
            states["rng"] = chance.integers(0, 2**64, len(states), dtype=np.uint64)
            again.set_states(states)
            stepped = np.zeros(n, np.bool_)
            stepped[drawn] = True
            again.step(np.repeat(actions[:, number], REDRAWS), np.repeat(stepped, REDRAWS))
            luck[drawn, 1 + quarter[drawn]] += _said(batch, drawn, judge) - _mean_said(again, drawn, judge)
    if (batch.states["points"][:, : config.owners] != results.points[games]).any():
        raise _played_otherwise(results)
    return luck, lead_changes, decided, *(np.concatenate(part) for part in zip(*decisions, strict=True))


def _played_otherwise(results: Results) -> TabletopError:
    names = ", ".join(dict.fromkeys(results.agents))
    return TabletopError(f"the games of {names} end otherwise when they are played again: they have other rules")


def _said(batch: Batch, games: np.ndarray, judge: Judge) -> np.ndarray:
    """(n, 2, P): what the judge says of these games; of those that are over, how they ended."""
    said, over = np.empty((len(games), 2, batch.config.players)), batch.actors[games] == NOBODY
    if over.any():
        ended = batch.states[games[over]]
        points = exact_points(ended["points"][:, : batch.config.owners])
        ends = np.stack([win_shares(batch.places(ended)), margins(points)], axis=1)
        said[over] = ends[:, :, : batch.config.players]
    if not over.all():
        said[~over] = judge(batch, games[~over])
    return said


def _mean_said(again: Batch, games: np.ndarray, judge: Judge) -> np.ndarray:
    """(n, 2, P): the mean of what the judge says of the games' redraws."""
    rows = (games[:, None] * REDRAWS + np.arange(REDRAWS)).ravel()
    said = _said(again, rows, judge)
    return np.asarray(said.reshape(len(games), REDRAWS, *said.shape[1:]).mean(axis=1))


# --- A report's section ----------------------------------------------------------------------------------------------


def rows_of(games: Iterable[tuple[str, str, Results]]) -> list[dict[str, Any]]:
    """The figures of games, each with who plays and what: of the first `MOST_GAMES`, as a shipped policy judges them.

    Games without actions, or that no shipped policy can judge, are left out.
    `decided` has for each quarter the share of the games that were decided in it or before, `luck_of_wins` and
    `luck_of_margins` the shares of luck, `skill` the judge's. In a game for one, `won` and `ahead` are without luck and
    have the shares of the variance that are left beside them.
    """
    rows = []
    for who, what, results in games:
        judge = shipped_judge(results.config.game, results.config.players)
        if judge is None or results.actions is None:
            continue
        one = course_of(results.chosen(np.arange(min(len(results), MOST_GAMES))), judge[1])
        row: dict[str, Any] = {"agent": who, "what": what, "judge": judge[0], "games": len(one.results)}
        row |= {"lead_changes": float(one.lead_changes.mean())}
        row |= {"decided": [float((one.decided <= number).mean()) for number in range(QUARTERS)]}
        row |= {"luck_of_wins": one.share_of_luck(WIN).tolist(), "luck_of_margins": one.share_of_luck(MARGIN).tolist()}
        row |= {"skill": one.skill.tolist()}
        if results.config.players == 1:
            (won, won_left), (ahead, ahead_left) = one.corrected(WIN), one.corrected(MARGIN)
            row |= {"won": won, "won_left": won_left, "ahead": ahead, "ahead_left": ahead_left}
            row |= {"plain_won": share_estimate(one.results[:, WIN, 0])}
            row |= {"plain_ahead": mean_estimate(one.results[:, MARGIN, 0])}
        rows.append(row)
    return rows


def section(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The blocks of a report's section from `rows_of`; none without rows."""
    if not rows:
        return []
    percent = partial(format_estimate, factor=100, interval="to")
    points = partial(format_estimate, sign="+", interval="to")
    quarters = [f"quarter {number + 1}" for number in range(QUARTERS)]
    who = ("who plays", "what")

    def table(heads: Sequence[str], cells: Callable[[Mapping[str, Any]], Iterable[str]]) -> str:
        lines = ((agent_code(row["agent"]), row["what"], *cells(row)) for row in rows)
        return markdown_table((*who, *heads), lines, left=2)

    def known(skill: float) -> str:
        return "–" if math.isnan(skill) else f"{skill:.2f}"

    def lucky(row: Mapping[str, Any]) -> list[str]:
        pairs = list(zip(row["luck_of_wins"], row["luck_of_margins"], strict=True))
        return [f"{100 * won:.0f} / {100 * margin:.0f}" for won, margin in [*pairs, np.sum(pairs, axis=0)]]

    blocks = [
        "## Leads, decisions and luck",
        f"{agent_code(rows[0]['judge'])} judges the positions of games that were played here, at most {MOST_GAMES:,} a"
        " line. A quarter is one of the rounds, or a season. The page *Measures for designers* of the documentation"
        " says what the measures mean, and where they come from.",
        "**When games are decided.** *Lead changes*: how often the most points come to another side, in a game."
        " *Decided*: in so many of a hundred games the outcome had, from a decision in this quarter or before until the"
        f" end, a probability of at least {100 * DECIDED:.0f} %.",
        table(
            ("games", "lead changes", *(f"decided in {one}" for one in quarters)),
            lambda row: (
                f"{row['games']:,}",
                f"{row['lead_changes']:.1f}",
                *(f"{100 * share:.0f}" for share in row["decided"]),
            ),
        ),
        "**The share of luck**: so many per cent of the variance of winning / of the margin come from chance, as far as"
        " the judge sees it. The true shares are at least as large.",
        table(("set-up", *quarters, "together"), lucky),
        "How well the judge knows the end: the Brier skill of winning / the share of the margin's variance that is"
        " predicted. 1 is all.",
        table(quarters, lambda row: [" / ".join(map(known, both)) for both in row["skill"]]),
    ]
    if all("won" in row for row in rows):
        blocks += [
            "**Without luck**: the same means less the luck that the judge sees, and the share of the variance that is"
            " left of winning / of the margin.",
            table(
                ("won, %", "without luck", "points ahead", "without luck", "left"),
                lambda row: (
                    percent(row["plain_won"]),
                    percent(row["won"]),
                    points(row["plain_ahead"]),
                    points(row["ahead"]),
                    f"{row['won_left']:.2f} / {row['ahead_left']:.2f}",
                ),
            ),
        ]
    return blocks
