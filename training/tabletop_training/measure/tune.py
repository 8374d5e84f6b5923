"""The command `tune`: numbers on the pieces are changed until the game is as hard, as fair or as long as it should be.

A candidate is a few changed numbers. Optuna's tree-structured Parzen estimator proposes candidates; all play the same
seeds, so that they are compared game by game. The best ones play more games, and the chosen one is verified on seeds
that no choice has used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna

from tabletop_agents import Agent, check_trusted
from tabletop_agents.checkpoint import variety
from tabletop_engine.checks import checked, fit_fields, whole
from tabletop_engine.described.overlays import ComponentFile, as_toml, overlaid
from tabletop_engine.described.ranges import Each, OneOf
from tabletop_engine.errors import ComponentsError, ConfigError
from tabletop_engine.game import Config, Game
from tabletop_engine.seeds import EVALUATION, TUNING, Seeds
from tabletop_engine.text.words import counted
from tabletop_training.files.job import Stopped
from tabletop_training.files.plots import BLUE, GREEN, GREY, INK, ORANGE, error_bars, legend, picture
from tabletop_training.files.provenance import agent_hashes, software, tables_hash
from tabletop_training.files.tables import (
    OnResult,
    format_estimate,
    ignore,
    markdown_code,
    markdown_table,
    plain,
    write_json,
    write_log,
)
from tabletop_training.measure.changes import is_played
from tabletop_training.measure.cluster import opened
from tabletop_training.measure.evaluation import HERE, Workers, number_of_teams
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.results import Estimate, Results, mean_estimate, share_estimate
from tabletop_training.study.cells import MOST_GAMES, Cell
from tabletop_training.study.play import play_blocks, played
from tabletop_training.study.settings import job_of, kept_settings
from tabletop_training.study.store import Store

TARGETS = {
    "win_rate": ("win rate", 0.02, 1.0),
    "margin": ("margin (points)", 0.5, 0.05),
    "seats": ("largest advantage of a seat (win rate)", 0.015, 1.0),
    "length": ("number of decisions", 2.0, 0.02),
}
"""For each figure: its name in words, how near to the goal is near enough, and the weight of one unit of distance."""

TRIALS, GAMES, VERIFYING, MOST_CHANGES = 120, 256, 2000, 3
AT_ONCE = 4
"""Candidates that are proposed together, so that several workers can play."""
PATIENCE = 60
"""The search ends after so many candidates in a row without a better one."""
FINALISTS = 4
"""How many candidates play more games before one is chosen, and how many times as many games they play."""

_SAFETY_FRACTION = 0.6
"""A candidate must come within this fraction of near enough, so that it is near enough on new seeds, too."""
_COST_OF_A_CHANGE, _COST_OF_A_STEP = 0.004, 0.01
_REFUSED = 10.0
"""The value of a candidate that the game does not allow."""
_NONE = "none"
_written = partial(format_estimate, interval="to", form=".3g")
_FINAL = Seeds(TUNING.first + 5_000_000, TUNING.last)
"""The seeds of the finalists' games."""


@dataclass(frozen=True)
class Number:
    """One number that may change: a place of a list, one number, or one word or whole value.

    Attributes:
        key: of the component file.
        place: in its list; None for the whole value of the key.
        choices: its possible values, the present one among them.
        now: the place of the present value in `choices`.
    """

    key: str
    place: int | None
    choices: tuple[Any, ...]
    now: int

    @property
    def name(self) -> str:
        """The name of the variable, such as `tiles.cotton.scores[0]`."""
        return self.key if self.place is None else f"{self.key}[{self.place}]"

    def far(self, choice: int) -> float:
        """How far a choice is from the present value, 0 to 1."""
        if isinstance(self.choices[0], int | float) and not isinstance(self.choices[0], bool):
            return abs(choice - self.now) / max(len(self.choices) - 1, 1)
        return float(choice != self.now)


Candidate = Mapping[str, int]
"""The choices of the numbers that a candidate changes, by their names."""
Play = Callable[[Sequence[Candidate], int, int], list[list[Results]]]
"""Gives the results of each candidate with each configuration: so many games, on the seeds from this one on."""


def numbers_of(file: ComponentFile, components: Any, keys: Sequence[str] = ()) -> list[Number]:
    """The numbers that may change: those of the keys; without keys, all that have a range.

    Raises ConfigError for an unknown key, for one without a range, and if nothing may change.
    """
    loaded = file.load(components)
    for key in keys:
        if key not in loaded:
            raise ConfigError(f"keys: {key!r:.80} is not a key of a component file ({file.page})")
        if not isinstance(loaded[key].range, Each | OneOf):
            raise ConfigError(
                f"keys: {key} has no range of numbers or values; state one in an overlay file ({file.page})"
            )
    found = []
    for key, one in loaded.items():
        if keys and key not in keys:
            continue
        if isinstance(one.range, OneOf):
            choices = tuple(dict.fromkeys([one.values, *one.range.values]))
            found.append(Number(key, None, choices, 0))
        elif isinstance(one.range, Each):
            for place, (value, allowed) in enumerate(zip(one.values, one.range.choices, strict=True)):
                ordered = tuple(sorted({value, *allowed}))
                found.append(Number(key, None if one.single else place, ordered, ordered.index(value)))
    found = [number for number in found if len(number.choices) > 1]
    if not found:
        raise ConfigError("keys: none of them has a range with more than one value")
    return found


def overlay_of(file: ComponentFile, components: Any, numbers: Iterable[Number], candidate: Candidate) -> dict[str, Any]:
    """The numbers of `components` with the candidate's changes, as an overlay."""
    loaded = file.load(components)
    own = overlaid(loaded)
    for number in numbers:
        if number.name not in candidate:
            continue
        value, one = number.choices[candidate[number.name]], loaded[number.key]
        if number.place is None:
            own[number.key] = value if not isinstance(value, tuple) else value[0] if one.single else list(value)
        else:
            changed: Any = list(own.get(number.key, one.plain))  # type: ignore[arg-type]
            changed[number.place] = value
            own[number.key] = changed
    return own


@dataclass(frozen=True)
class Task:
    """The figure to be reached, and how numbers are looked for that reach it. `settings.json` holds it.

    Attributes:
        target: a figure of `TARGETS`. goal: its value.
        agent: the name of the agent that has every seat.
        config: fields of the configuration. every: whether all that `config.variety()` gives are played.
        keys: the keys that may change; () for all that have a range.
        changes: the most numbers that change.
        trials: the most candidates. games: of each of them and each configuration. verifying: of the last one.
        seed: of the optimiser.
    """

    target: str
    goal: float
    agent: str
    config: dict[str, Any]
    every: bool = False
    keys: tuple[str, ...] = ()
    changes: int = MOST_CHANGES
    trials: int = TRIALS
    games: int = GAMES
    verifying: int = VERIFYING
    seed: int = 0

    def __post_init__(self) -> None:
        fit_fields(self)
        if self.target not in TARGETS:
            raise ConfigError(f"target={self.target!r:.80}: must be one of {', '.join(TARGETS)}")
        if not math.isfinite(self.goal) or (self.target in ("win_rate", "seats") and not 0 <= self.goal <= 1):
            ends = ", which is from 0 to 1" if self.target in ("win_rate", "seats") else ""
            raise ConfigError(f"goal={self.goal:g}: no possible {TARGETS[self.target][0]}{ends}")
        most = {"games": MOST_GAMES // FINALISTS, "verifying": MOST_GAMES}
        for name in ("changes", "trials", "games", "verifying"):
            whole(name, getattr(self, name), 1, most.get(name))
        whole("seed", self.seed, 0, 2**32 - 1)

    @property
    def near(self) -> float:
        """How near the figure must come."""
        return TARGETS[self.target][1]


class Tuning:
    """A task with the numbers that may change, and the games that candidates play."""

    def __init__(self, game: Game, file: ComponentFile, task: Task, agent: Agent) -> None:
        self.game, self.file, self.task, self.agent = game, file, task, agent
        config = game.config(**task.config)
        self.configs: list[Config] = list(variety(config)) if task.every else [config]
        self.components = config.components
        self.numbers = self._played(numbers_of(file, config.components, task.keys))
        self.by_name = {number.name: number for number in self.numbers}
        if task.target == "seats" and number_of_teams(config) == 1:
            raise ConfigError(f"target='seats': with players={config.players} there is one seat, or one team")
        if task.target in ("win_rate", "margin") and config.players > 1:
            raise ConfigError(f"target={task.target!r}: the same agent has every seat; use 'seats' or 'length'")

    def _played(self, numbers: list[Number]) -> list[Number]:
        """The numbers that count in any of the configurations. Raises ConfigError if one of the task's keys does not.

        All of them in a game whose rules in words do not say its numbers.
        """
        found = [one for one in numbers if self._is_played(one)]
        if not found and not any(map(self._is_played, numbers_of(self.file, self.components))):
            return numbers
        for key in self.task.keys:
            if not any(one.key == key for one in found):
                raise ConfigError(f"keys: {key} is not played in {self.configs[0].name}")
        return found

    def _is_played(self, number: Number) -> bool:
        others = [{number.name: choice} for choice in range(len(number.choices)) if choice != number.now]
        return is_played(self.configs, (overlay_of(self.file, self.components, [number], one) for one in others))

    def overlay(self, candidate: Candidate) -> dict[str, Any]:
        """The candidate as an overlay."""
        return overlay_of(self.file, self.components, self.numbers, candidate)

    def allowed(self, candidate: Candidate) -> bool:
        """Whether the game can be played with the candidate."""
        try:
            self.file.load(self.overlay(candidate))
        except ComponentsError:
            return False
        return True

    def play(
        self,
        candidates: Sequence[Candidate],
        games: int,
        first: int,
        store: Store,
        workers: Workers | int = HERE,
        should_stop: Callable[[], bool] | None = None,
    ) -> list[list[Results]]:
        """The results of each candidate with each configuration, on the same seeds. What `store` has is not played.

        Raises EvaluationStopped.
        """
        parts = [[self._cell(candidate, config, games, first) for config in self.configs] for candidate in candidates]
        cells = {cell.key: cell for part in parts for cell in part}  # candidates may be the same
        for _ in play_blocks([*cells.values()], store, workers, should_stop=should_stop):
            pass
        done: dict[str, Any] = {key: played(cell, store) for key, cell in cells.items()}  # none is missing now
        return [[done[cell.key] for cell in part] for part in parts]

    def _cell(self, candidate: Candidate, config: Config, games: int, first: int) -> Cell:
        """The games of a candidate with a configuration. In search of even seats they are not rotated."""
        agents = [self.agent] * number_of_teams(config)
        own = json.dumps(overlay := self.overlay(candidate), sort_keys=True)
        seats = np.array([config.game.teams(config)]) if self.task.target == "seats" else None
        key = f"{own} {config.name} from {first}"
        return Cell(key, agents, replace(config, components=overlay), games, first, lineups=seats)  # type: ignore[arg-type]

    def figure(self, results: Results) -> Estimate:
        """The figure that is tuned."""
        if self.task.target == "win_rate":
            return share_estimate(results.win_shares[:, 0])
        if self.task.target == "margin":
            return mean_estimate(results.margins)
        if self.task.target == "length":
            return mean_estimate(results.by_seed(results.lengths[:, None].astype(float))[:, 0])
        shares = [share_estimate(own) for own in results.win_shares.T]
        even = 1 / len(shares)
        furthest = max(shares, key=lambda one: abs(one.value - even))
        away = [abs(end - even) for end in (furthest.value, furthest.low, furthest.high)]
        low = 0.0 if furthest.low <= even <= furthest.high else min(away[1:])
        return Estimate(away[0], low, max(away[1:]))

    def distance(self, results: Sequence[Results]) -> float:
        """How far the figures are from the goal, in the mean over the configurations."""
        return float(np.mean([abs(self.figure(one).value - self.task.goal) for one in results]))

    def value(self, candidate: Candidate, distance: float) -> float:
        """What the optimiser minimises: the distance, plus a little for each change and its size."""
        steps = sum(self.by_name[name].far(choice) for name, choice in candidate.items())
        near = distance * TARGETS[self.task.target][2]
        return near + _COST_OF_A_CHANGE * len(candidate) + _COST_OF_A_STEP * steps


@dataclass(frozen=True)
class Trial:
    """A candidate that was played."""

    candidate: dict[str, int]
    distance: float
    value: float
    figures: tuple[float, ...]


class Optimiser:
    """Proposes candidates: for each of a few slots which number changes, and to what."""

    def __init__(self, tuning: Tuning) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._tuning = tuning
        sampler = optuna.samplers.TPESampler(seed=tuning.task.seed, n_startup_trials=24)
        self._study = optuna.create_study(sampler=sampler)
        self._names = [_NONE, *sorted(tuning.by_name)]
        self._slots = [f"slot {slot}" for slot in range(min(tuning.task.changes, len(tuning.by_name)))]

    def ask(self) -> tuple[Any, dict[str, int]]:
        """A new trial of the optimiser, and its candidate."""
        trial = self._study.ask()
        candidate: dict[str, int] = {}
        for slot in self._slots:
            name = trial.suggest_categorical(slot, self._names)
            if name != _NONE and name not in candidate:
                candidate[name] = trial.suggest_int(name, 0, len(self._tuning.by_name[name].choices) - 1)
        changes = {name: one for name, one in candidate.items() if one != self._tuning.by_name[name].now}
        return trial, changes

    def tell(self, trial: Any, value: float) -> None:
        """Tell the optimiser the value of the trial's candidate."""
        self._study.tell(trial, value)


# --- The search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Attributes:
        candidate: the changes. before, after: the figures without and with them, by configuration, on new seeds.
        reached: whether `after` comes near enough to the goal, in the mean over the configurations.
        stopped: what ended the search: "reached", "trials" or "patience".
    """

    candidate: dict[str, int]
    before: tuple[Estimate, ...]
    after: tuple[Estimate, ...]
    reached: bool
    stopped: str


def search(
    tuning: Tuning, play: Play, trials: list[Trial], on_round: Callable[[], None] = lambda: None
) -> tuple[dict[str, int], str]:
    """Look for the best candidate. Returns it and what ended the search.

    Every candidate is added to `trials`, and `on_round` is called after those that were proposed together. Raises
    EvaluationStopped.
    """
    task, optimiser = tuning.task, Optimiser(tuning)
    trials += _played(tuning, play, {})  # the numbers as they are
    known = {_frozen(one.candidate): one for one in trials}
    on_round()

    def distance_of(candidate: Candidate) -> float:
        """The distance in more games, on seeds that proposed no candidate."""
        (results,) = play([candidate], FINALISTS * task.games, _FINAL.first)
        return tuning.distance(results)

    enough = _SAFETY_FRACTION * task.near
    tried: set[tuple[tuple[str, int], ...]] = set()
    since = 0
    while len(trials) < task.trials and since < PATIENCE:
        asked = [optimiser.ask() for _ in range(min(AT_ONCE, task.trials - len(trials)))]
        new = {_frozen(one): one for _, one in asked if _frozen(one) not in known and tuning.allowed(one)}
        known |= dict(zip(new, _played(tuning, play, *new.values()), strict=True))
        best = min(one.value for one in trials)
        for trial, candidate in asked:
            outcome = known.get(_frozen(candidate)) or Trial(candidate, math.inf, _REFUSED, ())
            optimiser.tell(trial, outcome.value)
            trials.append(outcome)
            since = 0 if outcome.value < best - 1e-9 else since + 1
        on_round()
        promising = min(trials, key=lambda one: one.value)
        if promising.distance <= task.near and _frozen(promising.candidate) not in tried:
            tried.add(_frozen(promising.candidate))
            if distance_of(promising.candidate) <= enough:
                return _without_needless(tuning, promising.candidate, lambda one: distance_of(one) <= enough), "reached"
    ended = "trials" if len(trials) >= task.trials else "patience"
    best_ones = sorted(
        {_frozen(one.candidate): one for one in trials if one.figures}.values(), key=lambda one: one.value
    )
    chosen = [one.candidate for one in best_ones[:FINALISTS]]
    values = [tuning.value(one, distance_of(one)) for one in chosen]
    best = min(values)
    nearest = chosen[values.index(best)]
    return _without_needless(tuning, nearest, lambda one: tuning.value(one, distance_of(one)) <= best), ended


def _without_needless(
    tuning: Tuning, candidate: dict[str, int], is_enough: Callable[[Candidate], bool]
) -> dict[str, int]:
    """The candidate without the changes that are not needed: what is left is enough without them."""
    for name in sorted(candidate):
        rest = {other: one for other, one in candidate.items() if other != name}
        if tuning.allowed(rest) and is_enough(rest):
            candidate = rest
    return candidate


def _played(tuning: Tuning, play: Play, *candidates: Candidate) -> list[Trial]:
    results = play(candidates, tuning.task.games, TUNING.first)
    trials = []
    for candidate, of in zip(candidates, results, strict=True):
        distance = tuning.distance(of)
        figures = tuple(tuning.figure(one).value for one in of)
        trials.append(Trial(dict(candidate), distance, tuning.value(candidate, distance), figures))
    return trials


def _frozen(candidate: Candidate) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(candidate.items()))


def verify(tuning: Tuning, play: Play, candidate: dict[str, int], stopped: str) -> Found:
    """Play the candidate, and the numbers as they were, on seeds that no choice has used."""
    before, after = play([{}, candidate], tuning.task.verifying, EVALUATION.first)
    figures = [tuple(map(tuning.figure, results)) for results in (before, after)]
    return Found(candidate, figures[0], figures[1], tuning.distance(after) <= tuning.task.near, stopped)


# --- The command -----------------------------------------------------------------------------------------------------


@checked
def main(
    game: Game,
    file: ComponentFile,
    task: Task,
    *,
    output: str | Path = "runs/tune",
    resumed: bool = False,
    workers: Workers | int = HERE,
    on_result: OnResult = ignore,
) -> Path:
    """Change numbers until the target is reached, verify that, and write an overlay, a page and a picture.

    With `resumed` the search finds the games that it has played before. After Ctrl-C the folder, which is returned, has
    the candidates so far. All else is as in `tabletop_training.measure`.
    """
    config = game.config(**task.config)
    if "components" in task.config:  # the file of an overlay may change
        task = replace(task, config={**task.config, "components": config.components})
    (agent,) = make_agents([task.agent], config)
    tuning = Tuning(game, file, task, agent)
    with job_of("tune", game, output, asdict(task), resumed=resumed) as (job, store), opened(workers) as players:
        number = counted(len(tuning.numbers), "number")
        job.console.print(
            f"{number} may change, at most {task.changes} at once: {TARGETS[task.target][0]} {task.goal:g}."
        )
        play = partial(tuning.play, store=store, workers=players, should_stop=job.should_stop)
        trials: list[Trial] = []
        found = None
        with job.until_stopped(), job.bar("tuning", float(task.trials)) as bar:

            def tell_nearest() -> None:
                best = min(trials, key=lambda it: it.value)
                changes = counted(len(best.candidate), "change")
                bar.show(f"nearest: {best.distance:.3g} away with {changes}", len(trials))

            candidate, ended = search(tuning, play, trials, tell_nearest)
            bar.show("verifying in new games", len(trials))
            found = verify(tuning, play, candidate, ended)
        if not trials:
            raise Stopped
        columns = ("changes", "distance", "value", "figures")
        rows = ((json.dumps(one.candidate), one.distance, one.value, json.dumps(one.figures)) for one in trials)
        write_log(job.folder / "trials.csv", columns, (dict(zip(columns, row, strict=True)) for row in rows))
        if found is not None:
            content = write_results(job.folder, tuning, trials, found)
            job.console.print(verdict(tuning, found), soft_wrap=True)
            for key, what, before, now in _changes(tuning, found):
                job.console.print(f"- {key} ({what}): {before}, now {now}", soft_wrap=True, markup=False)
            on_result(content)
    return job.folder


def resume(folder: str | Path, game: Game, file: ComponentFile, trusted: Sequence[str] = (), **how: Any) -> Path:
    """Go on with the search of a folder, as `tabletop_training.measure.matches.resume` does."""

    def make(**kept: Any) -> Task:
        task = Task(**kept)
        game.config(**task.config)
        return task

    task = kept_settings(folder, "tune", game, make)
    check_trusted(folder, [task.agent], trusted, option="--agent ")
    return main(game, file, task, output=folder, resumed=True, **how)


def verdict(tuning: Tuning, found: Found) -> str:
    """What was reached, in a sentence."""
    words, goal = TARGETS[tuning.task.target][0], tuning.task.goal
    changes = counted(len(found.candidate), "change") if found.candidate else "no change"
    if len(found.after) == 1:
        says = f"the {words} is {_written(found.after[0])}, and was {_written(found.before[0])}. The goal is {goal:g}"
    else:
        after, before = (
            float(np.mean([abs(one.value - goal) for one in figures])) for figures in (found.after, found.before)
        )
        says = (
            f"the {words} is {after:.3g} from the goal of {goal:g} in the mean over {len(found.after)} ways to play,"
            f" and was {before:.3g} from it"
        )
    if found.reached:
        return f"Reached with {changes}: in new games {says}."
    why = {"patience": f"{PATIENCE} candidates in a row were no better", "trials": "all candidates were tried"}
    reason = why.get(found.stopped, "in new games it is further away than it seemed")
    return (
        f"Not reached ({reason}). The nearest has {changes}: in new games {says}; {tuning.task.near:g} from it would"
        " do."
    )


def write_results(folder: Path, tuning: Tuning, trials: Sequence[Trial], found: Found) -> dict[str, Any]:
    """Write the overlay, the page, the picture and `tune.json`; returns the content of the last."""
    overlay = tuning.overlay(found.candidate)
    (folder / "overlay.toml").write_text(
        f"# {verdict(tuning, found)}\n{as_toml(overlay)}" if overlay else "", encoding="utf-8"
    )
    changes = _changes(tuning, found)
    goal = tuning.task.goal
    rows = [
        (config.name, _written(before), _written(after), f"{abs(after.value - goal):.3g}")
        for config, before, after in zip(tuning.configs, found.before, found.after, strict=True)
    ]
    words = TARGETS[tuning.task.target][0]
    command = f"{tuning.game.command} evaluate … --components overlay.toml"
    parts = [
        f"# {tuning.game.title}: {words} {goal:g}",
        verdict(tuning, found),
        "![How near the candidates came, and what the changes do](tune.png)",
        "## What changed",
        markdown_table(("key", "what", "before", "now"), changes, left=4) if changes else "Nothing.",
        "## What it does",
        markdown_table(("game", "before", "now", "from the goal"), rows),
        f"{markdown_code(tuning.task.agent)} plays. A row has {tuning.task.verifying:,} new games, on seeds from"
        f" {EVALUATION.first}: no change was chosen by them. In brackets are 95 % intervals. Before,"
        f" {counted(len(trials), 'candidate')}, each a set of changes, played {tuning.task.games:,} games a row, all on"
        f" the same seeds, and the best ones {FINALISTS} times as many. Each change and its size count a little against"
        " a candidate, so that few and small changes are preferred.",
        f"To play with these numbers: `{command}`.",
    ]
    (folder / "report.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    _plot(folder / "tune.png", tuning, trials, found)
    task, config = tuning.task, tuning.configs[0]
    content: dict[str, Any] = plain(
        {
            **software(tuning.game),
            "checkpoints": agent_hashes([task.agent], tuning.game),
            "tables": tables_hash(config),
            **asdict(task),
            "overlay": overlay,
            "changes": [dict(zip(("key", "what", "before", "now"), row, strict=True)) for row in changes],
            "before": {config.name: one for config, one in zip(tuning.configs, found.before, strict=True)},
            "after": {config.name: one for config, one in zip(tuning.configs, found.after, strict=True)},
            "reached": found.reached,
            "stopped_by": found.stopped,
            "candidates": len(trials),
        }
    )
    write_json(folder / "tune.json", content)
    return content


def _changes(tuning: Tuning, found: Found) -> list[tuple[str, ...]]:
    """Each changed key: its meaning, and its values before and now."""
    before = tuning.file.load(tuning.components)
    after = tuning.file.load(tuning.overlay(found.candidate))
    return [
        (markdown_code(key), tuning.file.keys[key].meaning, *(json.dumps(one[key].plain) for one in (before, after)))
        for key in before
        if before[key].values != after[key].values
    ]


def _plot(path: Path, tuning: Tuning, trials: Sequence[Trial], found: Found) -> None:
    """Left: how near each candidate came, and the best so far. Right: the figures before and now."""
    words = TARGETS[tuning.task.target][0]
    rows = np.arange(len(tuning.configs))
    shape: Any = {"figsize": (11, 2.6 + 0.3 * len(rows)), "width_ratios": (1, 1.2)}
    with picture(path, f"{tuning.game.title}: {words} {tuning.task.goal:g}", 1, 2, **shape) as (figure, (left, right)):
        played = [(number, one.distance) for number, one in enumerate(trials, 1) if one.figures]
        left.plot(*zip(*played, strict=True), ".", color=GREY)
        nearest = np.minimum.accumulate([distance for _, distance in played])
        left.step([number for number, _ in played], nearest, where="post", color=INK)
        left.axhline(tuning.task.near, color=GREEN, linestyle="--", linewidth=1)
        left.set_ylim(bottom=0)
        left.set_xlabel("candidate")
        left.set_title("Distance from the goal; dashed: near enough")
        for estimates, offset, colour, label in (
            (found.before, -0.15, ORANGE, "before"),
            (found.after, 0.15, BLUE, "now"),
        ):
            value, *ends = np.array(estimates, float).T
            right.errorbar(value, rows + offset, xerr=error_bars(value, *ends), fmt="o", color=colour, label=label)
        right.axvline(tuning.task.goal, color=GREEN, linestyle="--", linewidth=1)
        right.set_yticks(rows, [config.name for config in tuning.configs])
        right.set_ylim(len(rows) - 0.5, -0.5)
        right.set_title(words)
        legend(figure, right, 2, "outside lower right")
