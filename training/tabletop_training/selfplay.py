"""Self-play: a learner against a league of its own past and of scripted agents, in games of two to five players."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from tabletop_agents import make_agent

from petrichor_env.config import Config
from tabletop.agents import check_agents
from tabletop.errors import ConfigError
from tabletop.versus import VersusBatch
from tabletop_training.league import LEARNER, League, LeagueSettings
from tabletop_training.learning import (
    BEST,
    CHOOSING_SEED,
    Budget,
    Hook,
    Judgement,
    Learner,
    read_rows,
    read_run,
    run_budget,
    run_in_folder,
)
from tabletop_training.matches import play_match
from tabletop_training.progress import new_folder, refuse_with_resume
from tabletop_training.ratings import final_places
from tabletop_training.settings import Settings, check_types, read_settings, with_components
from tabletop_training.vec_env import Ended

LEAGUE_LOG = "league.csv"
SNAPSHOTS = "league"

_PLACES = ("steps", "player", "rating", "low", "high", "games", "learner_ahead", "share")


@dataclass(frozen=True)
class SelfPlaySettings:
    """What is played, and how it is evaluated: the table `[selfplay]` of a settings file.

    Attributes:
        players, rounds, drafting, modules, components: as in `Config`; two to five players.
        against: agents' names. `best.zip` is the policy with the highest mean win rate against them, in games in which
            each of them plays all the other seats.
        games: against each of them for an evaluation, in every seat equally many.
    """

    players: int = 2
    rounds: int = 4
    drafting: bool = False
    modules: tuple[str, ...] = ()
    components: str | None = None
    against: tuple[str, ...] = ("greedy",)
    games: int = 400

    def __post_init__(self) -> None:
        check_types(self)
        if self.players == 1:
            raise ConfigError("players=1: self-play is for two players or more; for one it is `petrichor train solo`")
        if not self.against or self.games < 1:
            raise ConfigError(f"against={list(self.against)}, games={self.games}: at least one agent and one game")
        self.config()  # raises for what can't be played

    def config(self) -> Config:
        """What is played."""
        return Config(
            players=self.players,
            rounds=self.rounds,
            drafting=self.drafting,
            modules=self.modules,
            components=self.components,
        )


# --- The league's games ----------------------------------------------------------------------------------------------


class LeagueGames(VersusBatch):
    """A `VersusBatch` whose opponents come from a league, which it tells the result of every game that ends.

    Its state holds the league's, so that whoever saves and loads it, saves and loads both.

    Arguments:
        league: with a seat for everybody but the learner.
        config, num_games, options: as in `VersusBatch`.
    """

    def __init__(self, league: League, config: Config, num_games: int, **options: Any) -> None:
        self.league = league
        super().__init__(config, num_games, league.agents, assign=league.assign, **options)

    def step(self, actions: Any) -> None:
        super().step(actions)
        ended = np.flatnonzero(self.terminations)
        if len(ended):
            by_seat = final_places(self.final_states[ended], self.players)
            clockwise = (self.final_seats[ended, None] + np.arange(self.players)) % self.players
            self.league.record(self.final_lineups[ended], np.take_along_axis(by_seat, clockwise, axis=1))

    def grow(self, policy: Any, steps: int) -> None:
        """Take a snapshot of the learner into the league; games that run go on against whom they began."""
        self.league.add(policy, steps, playing=set(self.lineups.ravel().tolist()))
        self.opponents = self.league.agents

    def get_state(self) -> dict[str, Any]:
        return {**super().get_state(), "league": self.league.get_state()}

    def set_state(self, saved: dict[str, Any]) -> None:
        super().set_state(saved)
        self.league.set_state(saved["league"])
        self.opponents = self.league.agents


# --- Learning --------------------------------------------------------------------------------------------------------


class SelfPlayHook(Hook):
    """Takes the snapshots, logs the league, evaluates on fixed seeds.

    `league.csv` has a row for each member and the learner after every rollout: rating with the ends of its interval
    (`ratings` says what that is), games rated, `learner_ahead`, the share of its last games in which the
    learner finished ahead of it, and `share`, the chance of each seat to be given to it.
    """

    def __init__(self, settings: SelfPlaySettings, games: LeagueGames, seed: int) -> None:
        self.settings = settings
        self.games = games
        self.league = games.league
        self.seed = seed + CHOOSING_SEED
        self.rivals = [make_agent(name) for name in settings.against]
        check_agents(self.rivals, settings.config())

    def on_start(self, learner: Learner) -> None:
        path = learner.folder / LEAGUE_LOG
        earlier = read_rows(path, learner.steps)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _PLACES)
            writer.writeheader()
            writer.writerows(earlier)
        if not self.league.snapshots:
            self._grow(learner)

    def on_rollout_end(self, learner: Learner, ended: Ended) -> dict[str, float]:
        rows = self.rows(learner.steps)
        with (learner.folder / LEAGUE_LOG).open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, _PLACES).writerows(rows)
        numbers = {"league/rating": self.league.ratings[LEARNER].mu, "league/snapshots": len(self.league.snapshots)}
        for member in self.league.members:
            if member.steps < 0:
                numbers[f"league/ahead_of_{member.name}"] = member.learner_ahead
                numbers[f"league/rating_of_{member.name}"] = self.league.ratings[member.name].mu
        snapshots = self.league.snapshots
        numbers["league/ahead_of_newest"] = snapshots[-1].learner_ahead
        numbers["league/ahead_of_snapshots"] = float(np.mean([member.learner_ahead for member in snapshots]))
        if self.league.due(learner.steps):
            self._grow(learner)
        return numbers

    def rows(self, steps: int) -> list[dict[str, Any]]:
        """The rows of `league.csv` for now, the learner first, then the active members."""
        shares = self.league.shares()
        rows = [self._row(steps, LEARNER, "", "")]
        for member, share in zip(self.league.members, shares, strict=True):
            if member.active:
                rows.append(self._row(steps, member.name, round(member.learner_ahead, 4), round(float(share), 4)))
        return rows

    def _row(self, steps: int, name: str, ahead: float | str, share: float | str) -> dict[str, Any]:
        rating = self.league.ratings[name]
        values = (round(rating.mu, 3), round(rating.low, 3), round(rating.high, 3), rating.games)
        return dict(zip(_PLACES, (steps, name, *values, ahead, share), strict=True))

    def _grow(self, learner: Learner) -> None:
        self.games.grow(learner.model.policy, learner.steps)

    def evaluate(self, learner: Learner) -> Judgement:
        """The score is the mean win rate; of equal ones that of the higher margin."""
        config = self.settings.config()
        seeds = self.seed + np.arange(-(-self.settings.games // config.players))
        numbers = {}
        for name, rival in zip(self.settings.against, self.rivals, strict=True):
            results = play_match([learner.agent(), *[rival] * (config.players - 1)], config, seeds)
            numbers[f"win_rate_{name}"] = float(np.nanmean(results.by_agent(results.win_shares)[:, 0]))
            numbers[f"margin_{name}"] = float(np.nanmean(results.by_agent(results.margins_by_seat)[:, 0]))
        win_rate = float(np.mean([numbers[f"win_rate_{name}"] for name in self.settings.against]))
        margin = float(np.mean([numbers[f"margin_{name}"] for name in self.settings.against]))
        return Judgement(win_rate + 1e-6 * margin, {"win_rate": win_rate, "margin": margin, **numbers})

    def on_save(self, learner: Learner) -> None:
        self.league.remove_unused_files()


def new_learner(
    budget: Budget,
    folder: Path,
    seed: int,
    settings: Settings,
    selfplay: SelfPlaySettings,
    league: LeagueSettings,
    **options: Any,
) -> Learner:
    """A learner against a league, which it keeps in the folder `league` of its own; `options` as in `Learner`."""
    config = selfplay.config()
    games = LeagueGames(
        League(league, config.players - 1, folder / SNAPSHOTS, seed),
        config,
        settings.num_envs,
        seed=seed,
        reward=settings.reward,
        new_observations=True,
    )
    hook = SelfPlayHook(selfplay, games, seed)
    return Learner(games, budget, folder, seed, settings, hook=hook, notes={"config": asdict(config)}, **options)


def main(
    players: int | None = None,
    settings: str | Path | None = None,
    components: str | Path | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    output: str | Path | None = None,
    resume: str | Path | None = None,
) -> Path:
    """`petrichor train selfplay`: returns the folder with all that is left.

    Arguments:
        players: of the game; None for the number in the file, without a file 2.
        settings: name or path of a settings file, `selfplay_2p`, `_3p` or `_4p` if None.
        components: instead of those in the file.
        minutes, steps: instead of the file's budget.
        seed: of network, games and league, 0 if None.
        output: folder for the files, `runs/selfplay` if None; if it has some already, a new one beside it.
        resume: folder of a run to go on with, as it was set; only the budget may be another one.
    """
    console = Console()
    kinds: dict[str, type[Any]] = {"learning": Settings, "selfplay": SelfPlaySettings, "league": LeagueSettings}
    if resume is not None:
        refuse_with_resume(
            "minutes or steps", players=players, config=settings, components=components, seed=seed, output=output
        )
        folder = Path(resume)
        seed, budget, sections = read_run(folder, "selfplay", **kinds)
        budget = run_budget(budget, steps, minutes)
    else:
        if settings is None and players not in (None, 2, 3, 4):
            raise ConfigError(f"players={players}: 2, 3 or 4 (or settings of your own for 5)")
        sections = read_settings(settings or f"selfplay_{2 if players is None else players}p", **kinds, budget=Budget)
        budget = sections.pop("budget")
        if players is not None:
            sections["selfplay"] = replace(sections["selfplay"], players=players)
        sections["selfplay"] = with_components(sections["selfplay"], components)
        budget = run_budget(budget, steps, minutes)
        seed = 0 if seed is None else seed
        folder = new_folder("runs/selfplay" if output is None else output)
    make = partial(new_learner, budget, folder, seed, sections["learning"], sections["selfplay"], sections["league"])
    learner, progress = run_in_folder(console, folder, "selfplay", seed, budget, sections, make, resume is not None)
    hook = learner.hook
    assert isinstance(hook, SelfPlayHook)
    console.print(league_table(hook.rows(learner.steps)))
    if progress.evaluations:
        steps_then, best = max(progress.evaluations, key=lambda pair: pair[1].score)
        console.print(
            f"Best policy ({BEST}): after {steps_then:,} steps, won {best.numbers['win_rate']:.1%} against "
            f"{', '.join(sections['selfplay'].against)}, an even share being {1 / sections['selfplay'].players:.1%} "
            "(the games that chose it: play others for a figure to publish)"
        )
    console.print(f"In [bold]{folder}[/bold]: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return folder


def league_table(rows: list[dict[str, Any]]) -> Table:
    """The league by rating."""
    table = Table(title="The league", title_justify="left", caption_justify="left")
    table.caption = "Rating: mu ± 1.96 sigma, random is 25.\nLearner ahead: share of its last games."
    for heading in ("player", "rating", "games", "learner ahead", "share of seats"):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    for row in sorted(rows, key=lambda row: -row["rating"]):
        table.add_row(
            row["player"],
            f"{row['rating']:.1f} ± {row['high'] - row['rating']:.1f}",
            f"{row['games']:,}",
            *("" if row[key] == "" else f"{row[key]:.0%}" for key in ("learner_ahead", "share")),
        )
    return table
