"""How games end, as the win and margin heads learn it while PPO plays.

Teams are counted from the actor's team on here, with room for K of them, the most players that the game can have. What
stands at teams that a game lacks is ignored. Where everybody plays alone, teams are most, clockwise from the actor.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

_MIXED = 0.95
"""λ: how much of a target is what comes later; the rest is what the heads said at the next decision."""
_MARGIN_WEIGHT = 0.25
_NEVER = -1e30


def predicted(outputs: torch.Tensor, teams: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Shares of the win and margins, (…, K) both, from the heads' outputs (…, 2K) in games with `teams` (…)."""
    logits, margins = outputs.float().chunk(2, dim=-1)
    alone = teams[..., None] == 1
    return torch.where(alone, torch.sigmoid(logits), _log_shares(logits, teams).exp()), margins


def _log_shares(logits: torch.Tensor, teams: torch.Tensor) -> torch.Tensor:
    there = torch.arange(logits.shape[-1], device=logits.device) < teams[..., None]
    return functional.log_softmax(torch.where(there, logits, _NEVER), dim=-1)


def heads_loss(outputs: torch.Tensor, targets: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The cross-entropy of who wins, plus the weighted squared error of margins: a mean over n decisions.

    `outputs` (n, 2K) are those of the heads. The targets are `won` and `margins`, (n, K), with margins in
    `forward.MARGIN_UNIT`, and `teams`, (n,) int64, their number.
    """
    won, margins, teams = targets["won"], targets["margins"], targets["teams"]
    logits, ahead = outputs.float().chunk(2, dim=1)
    there = torch.arange(won.shape[1], device=won.device) < teams[:, None]
    together = torch.where(there, _log_shares(logits, teams), 0.0)
    several = -(won * together).sum(dim=1) / torch.where(there, won, 0.0).sum(dim=1).clamp(min=1e-6)
    alone = functional.binary_cross_entropy_with_logits(logits[:, 0], won[:, 0], reduction="none")
    squares = torch.where(there, (ahead - margins) ** 2, 0.0).sum(dim=1) / teams
    return torch.where(teams == 1, alone, several).mean() + _MARGIN_WEIGHT * squares.mean()


@torch.no_grad()
def outcome_targets(
    outputs: torch.Tensor,
    won: torch.Tensor,
    margins: torch.Tensor,
    dones: torch.Tensor,
    actors: torch.Tensor,
    teams: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the heads should have said at T steps of N games: shares of the win and margins, (T, N, K) both.

    A target is the result of the game, mixed with what the heads said at the decisions until then, whoever took them
    (λ-returns). Games that go on after the rollout end with what the heads said last.

    Arguments:
        outputs: (T, N, 2K), of the heads.
        won, margins: (T, N, P), results by team at the steps that ended a game; margins in `forward.MARGIN_UNIT`.
        dones: (T, N).
        actors: (T, N) int64, the actors' teams.
        teams: (N,) int64, the number of teams.
    """
    most = won.shape[2]
    number = torch.arange(most, device=won.device)
    clockwise = (actors[..., None] + number) % teams[:, None]  # (T, N, P), the team at each place from the actor's
    place = (number - actors[..., None]) % teams[:, None]  # and the place of each team
    said = [one[..., :most].gather(2, place) for one in predicted(outputs, teams.expand_as(actors))]
    targets = []
    for ends, mine in zip((won, margins), said, strict=True):
        by_team = torch.empty_like(mine)
        later = mine[-1]
        for t in range(len(mine) - 1, -1, -1):
            by_team[t] = later = torch.where(dones[t][:, None], ends[t], later)
            later = _MIXED * later + (1 - _MIXED) * mine[t]
        targets.append(functional.pad(by_team.gather(2, clockwise), (0, outputs.shape[2] // 2 - most)))
    return targets[0], targets[1]
