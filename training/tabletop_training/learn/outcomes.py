"""How games end, as the win and margin heads learn it while PPO plays.

Seats are counted clockwise from the actor here, with K of them, the most that the game can have. What stands at seats
that a game lacks is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

_MIXED = 0.95
"""λ: how much of a target is what comes later; the rest is what the heads said at the next decision."""
_MARGIN_WEIGHT = 0.25
_NEVER = -1e30


def predicted(outputs: torch.Tensor, players: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Shares of the win and margins, (…, K) both, from the heads' outputs (…, 2K) in games with `players` (…)."""
    logits, margins = outputs.float().chunk(2, dim=-1)
    alone = players[..., None] == 1
    return torch.where(alone, torch.sigmoid(logits), _log_shares(logits, players).exp()), margins


def _log_shares(logits: torch.Tensor, players: torch.Tensor) -> torch.Tensor:
    there = torch.arange(logits.shape[-1], device=logits.device) < players[..., None]
    return functional.log_softmax(torch.where(there, logits, _NEVER), dim=-1)


def heads_loss(outputs: torch.Tensor, targets: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The cross-entropy of who wins, plus the weighted squared error of margins: a mean over n decisions.

    `outputs` (n, 2K) are those of the heads. The targets are `won` and `margins`, (n, K), with margins in
    `forward.MARGIN_UNIT`, and `players`, (n,) int64.
    """
    won, margins, players = targets["won"], targets["margins"], targets["players"]
    logits, ahead = outputs.float().chunk(2, dim=1)
    there = torch.arange(won.shape[1], device=won.device) < players[:, None]
    together = torch.where(there, _log_shares(logits, players), 0.0)
    several = -(won * together).sum(dim=1) / torch.where(there, won, 0.0).sum(dim=1).clamp(min=1e-6)
    alone = functional.binary_cross_entropy_with_logits(logits[:, 0], won[:, 0], reduction="none")
    squares = torch.where(there, (ahead - margins) ** 2, 0.0).sum(dim=1) / players
    return torch.where(players == 1, alone, several).mean() + _MARGIN_WEIGHT * squares.mean()


@torch.no_grad()
def outcome_targets(
    outputs: torch.Tensor,
    won: torch.Tensor,
    margins: torch.Tensor,
    dones: torch.Tensor,
    actors: torch.Tensor,
    players: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the heads should have said at T steps of N games: shares of the win and margins, (T, N, K) both.

    A target is the result of the game, mixed with what the heads said at the decisions until then, whoever took them
    (λ-returns). Games that go on after the rollout end with what the heads said last.

    Arguments:
        outputs: (T, N, 2K), of the heads.
        won, margins: (T, N, P), results by seat at the steps that ended a game; margins in `forward.MARGIN_UNIT`.
        dones, actors: (T, N).
        players: (N,) int64.
    """
    seats = won.shape[2]
    number = torch.arange(seats, device=won.device)
    clockwise = (actors[..., None] + number) % players[:, None]  # (T, N, P), the seat at each place from the actor
    place = (number - actors[..., None]) % players[:, None]  # and the place of each seat
    said = [one[..., :seats].gather(2, place) for one in predicted(outputs, players.expand_as(actors))]
    targets = []
    for ends, mine in zip((won, margins), said, strict=True):
        by_seat = torch.empty_like(mine)
        later = mine[-1]
        for t in range(len(mine) - 1, -1, -1):
            by_seat[t] = later = torch.where(dones[t][:, None], ends[t], later)
            later = _MIXED * later + (1 - _MIXED) * mine[t]
        targets.append(functional.pad(by_seat.gather(2, clockwise), (0, outputs.shape[2] // 2 - seats)))
    return targets[0], targets[1]
