"""MaskablePPO of sb3-contrib learns the solo game.

    python -m tabletop_training.petrichor.examples.sb3 --steps 300000

The command takes less than a minute on one core, and the trained agent wins about 70 % of its games.
"""

import tempfile
from pathlib import Path
from typing import Annotated

import torch
import typer
from sb3_contrib import MaskablePPO

from petrichor_env import GAME, Config
from tabletop.versus import VersusBatch
from tabletop_agents.checkpoint import save_checkpoint
from tabletop_agents.policy import PolicyAgent
from tabletop_training.evaluation import EVALUATION_SEED, play_games
from tabletop_training.petrichor.summaries import summarize
from tabletop_training.vec_env import SeatsVecEnv


def main(
    steps: int = 300_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    games: Annotated[int, typer.Option(min=1, help="To evaluate with.")] = 1000,
    output: Path = Path("runs/sb3_example.zip"),
) -> float:
    """Learn from this many decisions, save the policy as an agent, and return its win rate."""
    try:  # before the training starts
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise SystemExit(f"--output {output}: can't be written ({error.strerror})") from None
    if output.is_dir():
        raise SystemExit(f"--output {output}: is a folder, not a file")
    torch.set_num_threads(1)  # more threads are slower with a small network

    # 64 games in one process. A Gymnasium environment of one game works, too, but is slower:
    # env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", reward="margin")
    env = SeatsVecEnv(VersusBatch(Config(), 64, reward="margin", seed=seed), reward_scale=0.1)

    # MaskablePPO asks the environment for its action_masks() before every step. Plain PPO does not, and nearly all of
    # the 143 actions are illegal in any position.
    model = MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=1e-3,
        n_steps=128,
        batch_size=1024,
        n_epochs=4,
        gamma=1.0,  # a game ends after about 60 decisions
        gae_lambda=0.98,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    model.learn(steps)

    save_checkpoint(GAME, model, output, {"players": 1, "steps": steps, "seed": seed})
    result = summarize(play_games([PolicyAgent.of(model)], Config(), games, EVALUATION_SEED))
    print(
        f"won {result.win_rate:.1%} of {games:,} games ({result.win_rate_low:.1%} to {result.win_rate_high:.1%}), "
        f"margin {result.margin:+.1f}; random play wins 1.7 %"
    )
    print(f"To compare it: petrichor evaluate --solo greedy policy:{output}")
    return result.win_rate


if __name__ == "__main__":
    typer.run(main)
