"""`… dataset`: games of any agents as a Minari data set, for imitation and offline learning.

An episode is what one seat sees and does in one game, as in that seat's Gymnasium environment. Observations are
dictionaries with the action mask (`tabletop_engine.envs.MaskInObservation`). The environment plays an episode again
when it is reset with the episode's seed and options, which hold the seat and the other seats' actions.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import minari
import numpy as np
from minari.data_collector.episode_buffer import EpisodeBuffer
from minari.dataset.minari_storage import METADATA_FILE_NAME
from minari.serialization import serialize_space

from tabletop_agents import RandomAgent
from tabletop_engine import seeds
from tabletop_engine.checks import checked, whole
from tabletop_engine.envs import MaskInObservation
from tabletop_engine.envs.arguments import observation_box
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import whole_file
from tabletop_engine.game import Config, changed_fields
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.names import agents_of
from tabletop_engine.play.play import PlayListener, play
from tabletop_training.files.job import Job
from tabletop_training.files.settings import check_at_least_one
from tabletop_training.measure.evaluation import MOST_SEED, probabilities_of, seating

GAMES_AT_ONCE = 128
"""The most games that are held in memory until they are over."""
FIRST_SEED = seeds.DATA_SETS.first
"""The first seed, apart from the seeds of training and evaluation."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")


def environment_of(config: Config, names: Sequence[str], reward: str, dtype: str) -> gymnasium.Env[Any, Any] | None:
    """The environment of one seat with these observations and rewards; the other agents play the other seats.

    None for a game whose package registers no environments.
    """
    package = import_module(config.game.home.partition(".")[0])
    made = getattr(package, "SOLO_ID" if config.players == 1 else "VERSUS_ID", None)
    if made is None:
        return None
    given = changed_fields(config)
    if config.players > 1:
        given |= {
            "players": config.players,
            "opponents": [names[agent] for agent in seating(config, len(names))[0, 1:]],
        }
    env = gymnasium.make(made, reward=reward, observation_dtype=dtype, **given)
    return MaskInObservation(env)


def episodes(
    agents: Sequence[Agent], config: Config, games: int, seed: int, reward: str, dtype: str
) -> Iterator[list[EpisodeBuffer]]:
    """What each seat saw and did, `GAMES_AT_ONCE` games at a time.

    Game i starts from seed + i; agents move on by one seat each game.

    An episode of T decisions has T + 1 observations. The last one shows the finished game, and its mask allows
    everything. Rewards before a seat's first decision count towards that decision. The options are those of the
    environment's `reset`: `seat`, and `replies`, the actions of the other seats in the order of play.

    The infos, T + 1 each, are `probabilities` (actions,) float32, the agent's probability of each action, NaN if it has
    none, and the numbers `agent` and `seat`. A search takes twice as long, because it is also asked for its
    probabilities.
    """
    players, lineups = config.players, seating(config, len(agents))
    for start in range(0, games, GAMES_AT_ONCE):
        number, first = min(GAMES_AT_ONCE, games - start), seed + start
        batch = Batch(config, number, first, autoreset="disabled", reward=reward, observation_dtype=dtype)
        generator = seeds.generator(first, seeds.Stream.DATA_SET)
        sits = lineups[np.arange(start, start + number) % len(lineups)]  # (games, seats): which agent
        seats = _Seats(agents, batch, generator)
        play(agents, batch, sits, [generator] * len(agents), listeners=[seats])
        (seen, masks, actions, shares, episode), rewards = seats.decisions()
        last = np.stack([batch.observe(seat) for seat in range(players)], axis=1)  # (games, seats, D)
        order, block = np.argsort(episode, kind="stable"), []
        for rows in np.split(order, np.flatnonzero(np.diff(episode[order])) + 1):  # a seat that never decided has none
            game, seat = divmod(int(episode[rows[0]]), players)
            length = len(rows)
            replies = actions[(episode // players == game) & (episode != episode[rows[0]])]  # in the order of play
            one = EpisodeBuffer(
                seed=first + game,
                options={"seat": seat, "replies": replies.astype(np.int16)},
                observations={
                    "observation": np.concatenate([seen[rows], last[game, seat][None]]),
                    "action_mask": np.concatenate([masks[rows], np.ones_like(masks[:1])]),
                },
                actions=actions[rows],
                rewards=rewards[rows].tolist(),
                terminations=[False] * (length - 1) + [True],
                truncations=[False] * length,
                infos={
                    "probabilities": np.concatenate([shares[rows], np.full_like(shares[:1], np.nan)]),
                    "agent": np.full(length + 1, int(sits[game, seat])),
                    "seat": np.full(length + 1, seat),
                },
            )
            block.append(one)
        yield block


class _Seats(PlayListener):
    """What the seats of some games see, do and gain."""

    def __init__(self, agents: Sequence[Agent], batch: Batch, generator: np.random.Generator) -> None:
        self._agents, self._batch, self._generator = agents, batch, generator
        shape = (batch.num_games, batch.config.players)
        self._number = 0  # decisions so far
        self._newest = np.full(shape, -1)  # each seat's last decision
        self._before = np.zeros(shape)  # rewards until a seat's first decision
        self._told = np.empty(0)
        self._kept: list[tuple[np.ndarray, ...]] = []  # as in `decisions`
        self._gained: list[tuple[np.ndarray, np.ndarray]] = []  # which decisions, and rewards that count to them

    def on_decisions(self, agent: int, games: np.ndarray, decisions: Decisions) -> None:
        self._told = _probabilities(self._agents[agent], decisions, self._generator)

    def on_actions(self, agent: int, games: np.ndarray, actions: np.ndarray) -> None:
        batch, seats = self._batch, self._batch.actors[games].astype(np.int64)
        episodes = games * batch.config.players + seats
        self._kept.append((batch.observations[games], batch.action_masks[games], actions, self._told, episodes))
        self._newest[games, seats] = self._number + np.arange(len(games))
        self._gained.append((self._newest[games, seats], self._before[games, seats]))
        self._before[games, seats] = 0.0
        self._number += len(games)

    def on_step(self, which: np.ndarray) -> None:
        rewards, newest = self._batch.rewards[which], self._newest[which]
        earlier = newest >= 0
        self._gained.append((newest[earlier], rewards[earlier]))
        self._before[which] += np.where(earlier, 0.0, rewards)

    def decisions(self) -> tuple[list[np.ndarray], np.ndarray]:
        """All decisions in the order of play, and their rewards.

        The first are observations, masks, actions, probabilities, and game times players plus seat.
        """
        rewards = np.zeros(self._number)
        np.add.at(rewards, *(np.concatenate(parts) for parts in zip(*self._gained, strict=True)))
        return [np.concatenate(parts) for parts in zip(*self._kept, strict=True)], rewards


def _probabilities(agent: Agent, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    """(N, A) float32: the agent's probability of each action; NaN if it has none.

    Those of random play are known. The random agent itself does not report them, because replays need not show them.
    """
    masks = decisions.action_masks.astype(np.float32)
    if isinstance(agent, RandomAgent):
        return np.asarray(masks / masks.sum(axis=1, keepdims=True))
    shares = probabilities_of(agent, decisions, generator)
    return np.full_like(masks, np.nan) if shares is None else shares.astype(np.float32)


class _Writer:
    """Writes a Minari data set of HDF5 files, a block of episodes at a time.

    HDF5 can lose a whole file if it is killed or the disk is full while it writes. So each file is made in memory and
    written at once: one for each block, and `main_data.hdf5`, whose episodes are links into them. At each moment the
    folder is a data set of the finished blocks, or none before the first one.
    """

    def __init__(self, folder: Path, config: Config, dtype: str, about: dict[str, Any]) -> None:
        game = config.game
        mask = gymnasium.spaces.Box(0, 1, (game.num_actions,), np.int8)
        seen = gymnasium.spaces.Dict({"observation": observation_box(game, np.dtype(dtype)), "action_mask": mask})
        actions = gymnasium.spaces.Discrete(game.num_actions)
        spaces = {"observation_space": serialize_space(seen), "action_space": serialize_space(actions)}
        self.metadata: dict[str, Any] = {
            "total_episodes": 0,
            "total_steps": 0,
            "data_format": "hdf5",
            "jpeg_encoding": True,
        }
        self.metadata |= {**spaces, "minari_version": minari.__version__, **about}
        self._folder, self._memory = folder, io.BytesIO()
        self._links = h5py.File(self._memory, "w", track_order=True)

    def add(self, episodes: Sequence[EpisodeBuffer]) -> None:
        """Write a block of episodes. Raises OSError if that fails; the blocks before it stay."""
        first = self.metadata["total_episodes"]
        name = f"from_{first:06}.hdf5"
        memory = io.BytesIO()
        with h5py.File(memory, "w", track_order=True) as block:
            for number, one in enumerate(episodes, first):
                group = block.create_group(f"episode_{number}")
                group.attrs.update({"id": number, "seed": one.seed, "total_steps": len(one.rewards)})
                group.attrs.update({f"options/{key}": value for key, value in one.options.items()})
                for key in ("actions", "rewards", "terminations", "truncations"):
                    group[key] = np.asarray(getattr(one, key))
                for key in ("observations", "infos"):
                    for part, values in getattr(one, key).items():
                        group[f"{key}/{part}"] = values
                self._links[group.name] = h5py.ExternalLink(name, group.name)
        self._write(name, memory.getvalue())
        self._links.flush()
        self._write("main_data.hdf5", self._memory.getvalue())
        self.metadata["total_episodes"] += len(episodes)
        self.metadata["total_steps"] += sum(len(one.rewards) for one in episodes)
        self.metadata["dataset_size"] = round(sum(file.stat().st_size for file in self._folder.iterdir()) / 1e6, 1)
        self._write(METADATA_FILE_NAME, json.dumps(self.metadata).encode())

    def _write(self, name: str, content: bytes) -> None:
        with whole_file(self._folder / name) as unfinished:
            unfinished.write_bytes(content)


@checked
def main(
    agents: Sequence[Agent | str],
    config: Config,
    *,
    games: int = 100,
    seed: int = FIRST_SEED,
    reward: str | None = None,
    observation_dtype: str = "int8",
    name: str = "",
    output: str | Path = "runs/datasets",
) -> Path:
    """Play games and write them as a Minari data set; returns its folder, which `minari.MinariDataset` reads.

    Arguments:
        agents: one for each team or seat, objects or names for `tabletop_agents.make_agent`. They move on by one from
            game to game.
        games: their number; game i starts from seed + i.
        reward: "win", "margin" or "points"; None means "win", or "points" in a game without opponents.
        observation_dtype: "int8" for plain counts, or "float32".
        name: the data set gets the id `NAME-v0` in `output`; `MINARI_DATASETS_PATH` may point to `output`. The default
            is made of the game's and the agents' names.

    Ctrl-C keeps the finished games. Games that are finished are written at once, `GAMES_AT_ONCE` at a time, and stay
    whatever happens later.

    Raises ConfigError for a bad argument, TabletopError if a data set of that name exists already or can't be written.
    """
    seating(config, len(agents))  # raises for another number
    players = agents_of(agents, config)
    check_at_least_one(games=games)
    whole("seed", seed, 0, MOST_SEED)
    game, names = config.game, [agent.name for agent in players]
    reward = reward or ("points" if config.owners == 1 else "win")
    own = re.sub("[^a-z0-9]+", "-", "-".join([game.name, *names]).lower()).strip("-")
    chosen = name or own[:60].strip("-")
    if not _NAME.fullmatch(chosen):
        raise ConfigError(f"name={name!r}: must consist of small letters, digits and hyphens")
    Batch(config, 1, 0, reward=reward, observation_dtype=observation_dtype)  # raises if one of these is wrong
    env = environment_of(config, names, reward, observation_dtype)
    folder = Path(output) / f"{chosen}-v0" / "data"
    about: dict[str, Any] = {
        "dataset_id": f"{chosen}-v0",
        "algorithm_name": ", ".join(names),
        "description": f"{game.title}, {config.name}: games of {', '.join(names)}, seeds from {seed}.",
        "first_seed": seed,
    }
    about |= {} if env is None or env.spec is None else {"env_spec": env.spec.to_json()}
    with Job(folder, resume=True) as job:  # resume: what was killed before its first games were written is replaced
        if (folder / METADATA_FILE_NAME).exists():
            raise TabletopError(f"{folder.parent}: there is a data set of this name already; give another --name")
        writer = _Writer(folder, config, observation_dtype, about)
        with job.bar("playing", float(games)) as bar:
            blocks = episodes(players, config, games, seed, reward, observation_dtype)
            for done, block in enumerate(blocks, 1):
                writer.add(block)
                finished = min(games, done * GAMES_AT_ONCE)
                bar.show(f"{finished:,} games", float(finished))
                if job.should_stop():
                    break
        written = writer.metadata
        job.console.print(f"{written['total_episodes']:,} episodes, {written['total_steps']:,} decisions.")
    return folder
