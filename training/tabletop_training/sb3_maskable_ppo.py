"""MaskablePPO of sb3-contrib, exactly as it is, learns a game. Its result is an agent for every command.

python -m tabletop_training.sb3_maskable_ppo my_game.game --players 2 --opponent greedy
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import torch
import typer
from sb3_contrib import MaskablePPO

from tabletop_agents.checkpoint import save_checkpoint
from tabletop_engine.game import Config, game_of
from tabletop_engine.play.learner_games import learner_games
from tabletop_training.learn.vec_env import SeatsVecEnv


def model_for(config: Config, opponents: Sequence[str], seed: int) -> MaskablePPO:
    """A model that learns one seat of this configuration; these agents have the other seats."""
    # Margins are tens of points. Without opponents the reward is points, which are larger numbers.
    reward, scale = ("points", 0.02) if config.owners == 1 else ("margin", 0.1)

    # 64 games in one process. A Gymnasium environment of one game works, too, but is slower:
    # env = gymnasium.make("my_game:MyGame/Solo-v0", reward="margin")
    games = learner_games(config, 64, opponents, reward=reward, new_observations=True, seed=seed)
    env = SeatsVecEnv(games, reward_scale=scale)

    # MaskablePPO asks the environment for its action_masks() before every step. Plain PPO does not, and nearly all
    # actions are illegal in any position.
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=1e-3,
        n_steps=128,
        batch_size=1024,
        n_epochs=4,
        gamma=1.0,  # a game ends by itself
        gae_lambda=0.98,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )


def main(
    home: Annotated[str, typer.Argument(help="A module with a GAME, such as my_game.game.", metavar="HOME")],
    players: Annotated[int, typer.Option(help="Number of players.")] = 1,
    opponent: Annotated[str, typer.Option(help="The agent that has all other seats.")] = "random",
    steps: Annotated[int, typer.Option(help="Decisions to learn from.")] = 300_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    output: Annotated[Path, typer.Option(help="File of the agent.")] = Path("runs/sb3.zip"),
) -> None:
    """Learn from this many decisions, and save the policy as an agent."""
    game = game_of(home)
    config = game.config(players=players)
    torch.set_num_threads(1)  # more threads are slower with a small network
    model = model_for(config, (opponent,) if players > 1 else (), seed)
    model.learn(steps)

    save_checkpoint(game, model, output, {"players": players, "config": asdict(config), "steps": steps, "seed": seed})
    others = "--solo greedy" if players == 1 else "greedy"
    print(f"To measure it: python -m tabletop_cli {home} evaluate {others} policy:{output}")


if __name__ == "__main__":
    typer.run(main)
