"""Learning the solo game: with fixed variants, or with a curriculum over all 16 sets of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from sb3_contrib import MaskablePPO

from petrichor_env.config import Config
from tabletop.agents import Agent, Decisions
from tabletop.batch import Batch
from tabletop.errors import ConfigError
from tabletop.versus import VersusBatch
from tabletop_training.evaluation import ALL_VARIANTS
from tabletop_training.learning import (
    BEST,
    CHOOSING_SEED,
    Budget,
    Hook,
    Judgement,
    Learner,
    Progress,
    read_run,
    run_budget,
    run_in_folder,
)
from tabletop_training.progress import new_folder, refuse_with_resume
from tabletop_training.settings import Settings, check_types, read_settings, with_components
from tabletop_training.vec_env import Ended

_MEMORY = 200
"""Of about how many games of each set its win rate is the mean."""
_ENOUGH = 50


@dataclass(frozen=True)
class SoloSettings:
    """What is played: the table `[solo]` of a settings file.

    Attributes:
        variants: the difficulty variants, with `curriculum` none.
        modules: promos and Flowers modules, always played.
        components: path of an overlay file with other numbers on the pieces.
        curriculum: learn all 16 sets of variants, as `Curriculum` says.
        threshold: win rate over the open sets at which the curriculum opens the next ones.
        latest: part of the budget at whose end all sets are open in any case.
        games: of each set, for an evaluation.
    """

    variants: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    components: str | None = None
    curriculum: bool = False
    threshold: float = 0.5
    latest: float = 0.1
    games: int = 500

    def __post_init__(self) -> None:
        check_types(self)
        if self.curriculum and self.variants:
            raise ConfigError(f"variants={list(self.variants)}: the curriculum plays all of them; give one of the two")
        if not 0 <= self.threshold <= 1 or not 0 <= self.latest <= 1:
            raise ConfigError(f"threshold={self.threshold}, latest={self.latest}: 0 to 1")
        if self.games < 1:
            raise ConfigError(f"games={self.games}: at least 1")
        self.configs()  # raises for unknown names

    def configs(self) -> list[Config]:
        """What the policy is meant for: one configuration, with the curriculum 16."""
        sets: Sequence[tuple[str, ...]] = ALL_VARIANTS if self.curriculum else (self.variants,)
        return [Config(variants=variants, modules=self.modules, components=self.components) for variants in sets]


class Curriculum:
    """Which set of variants the next games play: first the base game, at last all 16.

    There are five levels: the sets of 0, 1, 2, 3 and 4 variants. The next level opens when the mean win rate of the
    open sets, each over about its last 200 games, reaches `threshold`, or at the latest when level l would have to,
    so that all are open after the part `latest` of the budget. Of the open sets half of the games go to each evenly,
    the other half in proportion to the share of games that is lost with it.
    """

    def __init__(self, settings: SoloSettings, seed: int) -> None:
        self.configs = settings.configs()
        self.threshold = settings.threshold
        self.latest = settings.latest
        self.level = 0
        self.levels = np.array([len(config.variants) for config in self.configs])
        self.games = np.zeros(len(self.configs), np.int64)
        self.win_rates = np.zeros(len(self.configs))
        self.generator = np.random.default_rng([seed, 2])
        self._index = {config: index for index, config in enumerate(self.configs)}

    @property
    def open(self) -> np.ndarray:
        """(16,) bool: the sets that are played by now."""
        return self.levels <= self.level

    @property
    def shares(self) -> np.ndarray:
        """(16,) float64: the shares of the games that start now; they sum to 1."""
        lost = np.where(self.open, 1 - self.win_rates, 0.0)
        evenly = self.open / self.open.sum()
        return evenly if lost.sum() == 0 else evenly / 2 + lost / lost.sum() / 2

    def choose(self, games: np.ndarray) -> list[Config]:
        """What games that start now play."""
        return [self.configs[i] for i in self.generator.choice(len(self.configs), len(games), p=self.shares)]

    def update(self, ended: Ended, fraction: float) -> None:
        """Count games that ended, and open what is to be opened."""
        for config, won in zip(ended.configs, ended.won, strict=True):
            i = self._index[config]
            self.games[i] += 1
            self.win_rates[i] += (won - self.win_rates[i]) / min(self.games[i], _MEMORY)
        known = (self.games[self.open] >= _ENOUGH).all()
        mastered = known and self.win_rates[self.open].mean() >= self.threshold
        last = self.levels.max()
        if self.level < last and (mastered or fraction >= self.latest * (self.level + 1) / last):
            self.level += 1

    def get_state(self) -> dict[str, Any]:
        """All that a resumed run needs."""
        return {
            "level": self.level,
            "games": self.games,
            "win_rates": self.win_rates,
            "generator": self.generator.bit_generator.state,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where `get_state` was."""
        self.level = state["level"]
        self.games[:] = state["games"]
        self.win_rates[:] = state["win_rates"]
        self.generator.bit_generator.state = state["generator"]


class SoloHook(Hook):
    """Moves the curriculum on, and evaluates on fixed seeds with every set that is learned."""

    def __init__(self, settings: SoloSettings, seed: int) -> None:
        self.settings = settings
        self.seed = seed + CHOOSING_SEED
        self.curriculum = Curriculum(settings, seed) if settings.curriculum else None

    def on_rollout_end(self, learner: Learner, ended: Ended) -> dict[str, float]:
        curriculum = self.curriculum
        if curriculum is None:
            return {}
        curriculum.update(ended, learner.fraction)
        numbers = {"curriculum/level": float(curriculum.level)}
        for i in np.flatnonzero(curriculum.open):
            numbers[f"curriculum/{curriculum.configs[i].name}"] = float(curriculum.win_rates[i])
        return numbers

    def evaluate(self, learner: Learner) -> Judgement:
        """The score is the win rate, the mean over all sets; of equal ones that of the higher margin."""
        configs = self.settings.configs()
        won, margins = play_solo(learner.agent(), configs, self.settings.games, self.seed)
        numbers = {"win_rate": float(won.mean()), "margin": float(margins.mean())}
        if len(configs) > 1:
            numbers |= {config.name: float(rate) for config, rate in zip(configs, won.mean(axis=1), strict=True)}
        return Judgement(float(won.mean() + 1e-6 * margins.mean()), numbers)

    def get_state(self) -> dict[str, Any]:
        return {"curriculum": None if self.curriculum is None else self.curriculum.get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        if self.curriculum is not None:
            self.curriculum.set_state(state["curriculum"])


def play_solo(agent: Agent, configs: Sequence[Config], games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Games of several solo configurations, all in one batch: the same as `evaluation.play_games` plays of each.

    Returns who won, (len(configs), games) bool, and margins, float64; game i of each starts from seed + i.
    """
    played = [config for config in configs for _ in range(games)]
    seeds = [seed + i for _ in configs for i in range(games)]
    batch = Batch(configs[0], len(played), seeds, autoreset="disabled", illegal_action="raise")
    batch.reset(seeds, config=played)
    generator = np.random.default_rng(seed)
    actions = np.zeros(len(played), np.int64)
    while len(asked := np.flatnonzero(batch.actors == 0)):
        actions[asked] = agent.act(Decisions.of(batch, asked), generator)
        which = np.zeros(len(played), np.bool_)
        which[asked] = True
        batch.step(actions, which=which)
    points = batch.states["points"].astype(np.int64)
    shape = (len(configs), games)
    return batch.winners(batch.states)[:, 0].reshape(shape), (points[:, 0] - points[:, 1]).reshape(shape) * 1.0


def new_learner(
    budget: Budget, folder: Path, seed: int, settings: Settings, solo: SoloSettings, **options: Any
) -> Learner:
    """A learner of the solo game; `options` as in `Learner`."""
    hook = SoloHook(solo, seed)
    config = solo.configs()[0]
    games = VersusBatch(
        config,
        settings.num_envs,
        seed=seed,
        reward=settings.reward,
        new_observations=True,
        choose_config=None if hook.curriculum is None else hook.curriculum.choose,
    )
    notes = {"config": asdict(config), "curriculum": solo.curriculum}
    return Learner(games, budget, folder, seed, settings, hook=hook, notes=notes, **options)


def learn(
    config: Config,
    minutes: float,
    folder: Path,
    seed: int,
    settings: Settings | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> tuple[MaskablePPO, Progress]:
    """Train a policy for one solo configuration for that many minutes: `policy.zip` and `learning_curve.csv` alone."""
    settings = settings or Settings()
    games = VersusBatch(config, settings.num_envs, seed=seed, reward=settings.reward)
    learner = Learner(
        games,
        Budget(minutes=minutes),
        folder,
        seed,
        settings,
        notes={"config": asdict(config)},
        resumable=False,
        tensorboard=False,
        should_stop=should_stop,
        on_progress=on_progress,
    )
    return learner.model, learner.run()


def main(
    settings: str | Path | None = None,
    variants: Sequence[str] | None = None,
    curriculum: bool = False,
    components: str | Path | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
) -> Path:
    """`petrichor train solo`: returns the folder with all that is left.

    Arguments:
        settings: name or path of a settings file, `solo` or `solo_curriculum` if None.
        variants, curriculum, components: instead of those in the file.
        minutes, steps: instead of the file's budget.
        seed: of network and games, 0 if None.
        output: folder for the files, `runs/solo` if None; if it has some already, a new one beside it.
        resume: folder of a run to go on with, as it was set; only the budget may be another one.
    """
    console = Console()
    if resume is not None:
        refuse_with_resume(
            "minutes or steps",
            config=settings,
            variants=variants,
            curriculum=curriculum or None,
            components=components,
            seed=seed,
            output=output,
        )
        folder = Path(resume)
        seed, budget, sections = read_run(folder, "solo", learning=Settings, solo=SoloSettings)
        budget = run_budget(budget, steps, minutes)
    else:
        name = settings or ("solo_curriculum" if curriculum else "solo")
        sections = read_settings(name, learning=Settings, solo=SoloSettings, budget=Budget)
        budget = sections.pop("budget")
        if variants is not None or curriculum:
            sections["solo"] = replace(sections["solo"], variants=tuple(variants or ()), curriculum=curriculum)
        sections["solo"] = with_components(sections["solo"], components)
        budget = run_budget(budget, steps, minutes)
        seed = 0 if seed is None else seed
        folder = new_folder("runs/solo" if output is None else output)
    make = partial(new_learner, budget, folder, seed, sections["learning"], sections["solo"])
    _, progress = run_in_folder(console, folder, "solo", seed, budget, sections, make, resume is not None)
    if progress.evaluations:
        steps_then, best = max(progress.evaluations, key=lambda pair: pair[1].score)
        console.print(
            f"Best policy ({BEST}): after {steps_then:,} steps, won {best.numbers['win_rate']:.1%}, margin "
            f"{best.numbers['margin']:+.1f} (the games that chose it: play others for a figure to publish)"
        )
    console.print(f"In [bold]{folder}[/bold]: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return folder
