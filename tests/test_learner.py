"""The learner: exact resume, logs, evaluations and checkpoints, whatever it learns."""

from __future__ import annotations

import csv
import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import evergreen_env
import petrichor_env
from petrichor_env.config import VARIANTS, Config
from tabletop_agents import RandomAgent
from tabletop_agents.checkpoint import read_notes, variety, versions
from tabletop_engine.errors import CheckpointError, ConfigError, TabletopError
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_training.files.job import Job
from tabletop_training.files.settings import Settings
from tabletop_training.files.trees import load_tree, save_tree
from tabletop_training.learn import learner as learner_module
from tabletop_training.learn.devices import MAX_THREADS, fastest_threads
from tabletop_training.learn.learner import BEST, CHOOSING_SEED, POLICY, RESUME, Learner, learn
from tabletop_training.learn.logs import CURVE, EVALUATIONS, LEAGUE_LOG, TENSORBOARD
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.plan import Plan
from tabletop_training.learn.ppo import update
from tabletop_training.learn.task import Budget, EvaluationSettings, Evaluator, GamesSettings, PolicyEvaluation
from tabletop_training.measure.evaluation import play_games
from tabletop_training.measure.matches import play_match
from tests.games import connect_four

PETRICHOR, EVERGREEN = petrichor_env.GAME, evergreen_env.GAME
SMALL = Settings(num_envs=16, steps=32, minibatch=128, epochs=1, layers=(16,), threads=1, evaluate_every=2000)
FEW = EvaluationSettings(games=6)
LEAGUE = OpponentSettings(
    league=0.5, scripted=("random", "greedy"), agents={"random": 0.2}, snapshots=3, snapshot_steps=400, newest=0.4
)
TWO = Plan(SMALL, GamesSettings((2,)), evaluation=EvaluationSettings(("random",), 2), seed=4)
"""Connect Four, which is quick."""

PLANS = {
    "alone, level by level": (PETRICHOR, Plan(SMALL, GamesSettings((1,), curriculum=True), evaluation=FEW)),
    "against a league": (EVERGREEN, Plan(SMALL, GamesSettings((2,)), LEAGUE, FEW)),
    "with 2 and 3 players": (PETRICHOR, Plan(SMALL, GamesSettings((2, 3), {"modules": ("cactus",)}), LEAGUE, FEW)),
    "weighing shortfalls": (
        PETRICHOR,
        Plan(replace(SMALL, shortfall_weight=2.0), GamesSettings((1,), variety=True), evaluation=FEW),
    ),
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a log without times."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    return [{key: row[key] for key in row if key != "seconds"} for row in rows]


def stops_after(updates: int) -> Any:
    left = iter([False] * updates)
    return lambda: next(left, True)


def dies_after(updates: int) -> Any:
    left = iter(range(updates, -1, -1))
    return lambda: 1 // next(left) < 0


def same_weights(one: Learner, other: Learner) -> bool:
    return all(map(torch.equal, one.network.parameters(), other.network.parameters()))


def connect_four_learner(folder: Path, steps: int, plan: Plan = TWO, **options: Any) -> Learner:
    return Learner(
        connect_four.GAME, replace(plan, budget=Budget(steps=steps)), folder, **{"tensorboard": False, **options}
    )


# --- A run -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [*[*PLANS][:2], *(pytest.param(name, marks=pytest.mark.slow) for name in [*PLANS][2:])]
)
def test_a_resumed_run_ends_with_the_same_weights(name: str, tmp_path: Path) -> None:
    """It is stopped; later it dies some updates after it was saved, and goes on from the save.

    Each part begins in a new object, which first draws other numbers.
    """
    game, plan = PLANS[name]
    plan = replace(plan, budget=Budget(steps=3600), seed=3)
    whole = Learner(game, plan, tmp_path / "whole", tensorboard=False).run()
    folder = tmp_path / "parts"

    def part() -> Learner:
        made = Learner(game, plan, folder, tensorboard=False)
        if (folder / RESUME).exists():
            made.table.play(made.network, 5)
            made.resume()
        return made

    first = part()
    first.should_stop = stops_after(3)
    first.run()
    dying = part()
    assert dying.steps == dying.saved_steps == first.steps > 0 and dying.seconds == pytest.approx(first.seconds, abs=1)
    dying.should_stop = dies_after(4)
    with pytest.raises(ZeroDivisionError):
        dying.run()
    assert len(dying.curve) == 7
    last = part()
    assert last.steps == first.steps
    last.run()
    assert last.steps == whole.steps >= 3600
    assert same_weights(last, whole)
    for one, other in zip(last.table.batches, whole.table.batches, strict=True):
        assert np.array_equal(one.states, other.states)
    curves = [rows_of(path) for path in (folder / CURVE, whole.folder / CURVE)]
    assert curves[0] == curves[1] and len(curves[0]) > 7
    assert rows_of(folder / EVALUATIONS) == rows_of(whole.folder / EVALUATIONS)
    assert {POLICY, BEST, RESUME, CURVE, EVALUATIONS} <= {path.name for path in folder.iterdir()}
    states = [learner.own_state()["curricula"] for learner in (last, whole)]
    for players in states[0]:
        assert states[0][players]["games"].tolist() == states[1][players]["games"].tolist()
        assert states[0][players]["level"] == states[1][players]["level"] == (4 if plan.games.curriculum else 0)
    if plan.opponents.league:
        assert rows_of(folder / LEAGUE_LOG) == rows_of(whole.folder / LEAGUE_LOG)
        assert last.opponents.get_state() == whole.opponents.get_state()
        kept = {f"snapshot-{member.steps}.zip" for member in last.opponents.members if member.steps >= 0}
        assert {path.name for path in (folder / "league").iterdir()} == kept


def test_it_learns_connect_four_from_both_seats(tmp_path: Path) -> None:
    """A new network wins four of five games against random play after some seconds."""
    settings = Settings(
        num_envs=128, steps=32, minibatch=1024, layers=(64,), learning_rate=3e-3, reward="win", threads=1
    )
    opponents = OpponentSettings(league=0.25, snapshots=3, snapshot_steps=20_000)
    evaluation, budget = EvaluationSettings(("random",), 200), Budget(steps=120_000)
    plan = Plan(settings, GamesSettings((2,)), opponents, evaluation, budget, seed=4)
    learner = Learner(connect_four.GAME, plan, tmp_path, tensorboard=False).run()
    results = play_match([learner.agent(), RandomAgent()], connect_four.GAME.config(), np.arange(200))
    assert np.nanmean(results.by_agent(results.win_shares)[:, 0]) > 0.8
    assert learner.evaluations[-1][1].numbers["win_rate_random"] > 0.75
    snapshots = learner.opponents.snapshots
    assert snapshots[0].steps == 0 and len(snapshots) == 3 and learner.steps - snapshots[-1].steps < 40_000
    last = rows_of(tmp_path / LEAGUE_LOG)[-3:]
    assert [row["player"] for row in last] == [
        f"snapshot-{one.steps}" for one in learner.opponents.members if one.active
    ]


def test_learning_rate_and_entropy_bonus_fall_over_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linearly, from their values in the settings to `final` times these at the budget's end."""
    used: list[tuple[float, float, float]] = []

    def noted(
        network: Any, optimizer: Any, rollout: Any, scaled: Any, settings: Any, entropy: float, group: Any
    ) -> Any:
        used.append((learner.fraction, optimizer.param_groups[0]["lr"], entropy))
        return update(network, optimizer, rollout, scaled, settings, entropy, group)

    monkeypatch.setattr(learner_module, "update", noted)
    learner = connect_four_learner(tmp_path, 3000, evaluate=False)
    learner.run()
    part, rates, bonuses = np.array(used).T
    left = 1 - part * (1 - SMALL.final)
    assert part[0] == 0 and part[-1] > 0.7
    assert rates == pytest.approx(SMALL.learning_rate * left) and bonuses == pytest.approx(SMALL.entropy * left)
    assert [float(row["learning_rate"]) for row in rows_of(tmp_path / CURVE)] == pytest.approx(rates, abs=1e-6)


def test_learn_leaves_a_policy_and_its_curve(tmp_path: Path) -> None:
    """One call learns, reports its progress, and stops when it is asked to."""
    told: list[float] = []
    config = connect_four.GAME.config()
    learner = learn(
        config, 60.0, tmp_path, 1, SMALL, should_stop=stops_after(2), on_progress=lambda now: told.append(now.fraction)
    )
    assert learner.configs == [config] and len(learner.curve) == 2
    assert told == sorted(told) and len(told) >= 2
    assert {path.name for path in tmp_path.iterdir()} == {POLICY, CURVE}


def test_torch_gets_as_many_threads_as_are_fastest(tmp_path: Path) -> None:
    plan = replace(TWO, learning=replace(SMALL, threads=None))
    learner = connect_four_learner(tmp_path, 600, plan, evaluate=False).run()
    assert learner.threads is not None and 1 <= learner.threads <= MAX_THREADS
    assert 1 <= fastest_threads(learner.network, 64) <= MAX_THREADS
    again = connect_four_learner(tmp_path, 1200, plan, evaluate=False)
    again.resume()
    assert again.threads == learner.threads  # the number of threads decides how sums are rounded


# --- Networks that are spoilt, and states that do not fit ------------------------------------------------------------


def test_a_network_that_is_not_finite_any_more(tmp_path: Path) -> None:
    """An error says so, and earlier saves stay."""
    connect_four_learner(tmp_path, 600).run()
    kept = (tmp_path / POLICY).read_bytes()
    spoilt = connect_four_learner(tmp_path, 3000)
    spoilt.resume()
    with torch.no_grad():
        next(iter(spoilt.network.policy.parameters())).fill_(torch.inf)
    with pytest.raises(CheckpointError, match="not finite any more"):
        spoilt.run()
    assert (tmp_path / POLICY).read_bytes() == kept
    batch = Batch(connect_four.GAME.config(), 4, seed=1)
    with pytest.raises(CheckpointError, match="outputs are not finite"):
        spoilt.agent().act(Decisions.of(batch), np.random.default_rng(0))


def test_a_learning_rate_that_spoils_the_network(tmp_path: Path) -> None:
    plan = replace(TWO, learning=replace(SMALL, learning_rate=1e30))
    with pytest.raises(CheckpointError, match="not finite"):
        connect_four_learner(tmp_path, 8192, plan, evaluate=False).run()


def test_states_of_other_runs_are_refused(tmp_path: Path) -> None:
    plan = replace(TWO, opponents=LEAGUE)
    learner = connect_four_learner(tmp_path, 600, plan, evaluate=False)
    with pytest.raises(CheckpointError, match="there is no such file"):
        learner.resume()
    learner.run()
    other = replace(plan, learning=replace(SMALL, epochs=2))
    with pytest.raises(CheckpointError, match="has other settings: epochs=1"):
        connect_four_learner(tmp_path, 600, other).resume()
    with pytest.raises(CheckpointError, match=r"damaged or of another|differ in game"):
        Learner(EVERGREEN, plan, tmp_path).resume()
    path = tmp_path / RESUME
    whole, tree = path.read_bytes(), load_tree(path)
    for damaged in (whole[: len(whole) // 2], b"", whole[:5000] + b"?" * 100 + whole[5100:]):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"resume\.zip: is damaged"):
            learner.resume()
    save_tree(path, tree | {"versions": {**versions(connect_four.GAME), "state_version": 0}})
    with pytest.raises(CheckpointError, match="differ in state_version"):
        learner.resume()
    path.write_bytes(whole)
    (tmp_path / "league" / "snapshot-0.zip").unlink()
    with pytest.raises(CheckpointError, match=r"snapshot-0\.zip: there is no such file"):
        learner.resume()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error says so, and the last checkpoint is whole."""
    connect_four_learner(tmp_path, 600).run()
    kept = (tmp_path / POLICY).read_bytes()

    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    kept_it = "No space left on device.*what was saved last is kept"
    with pytest.raises(TabletopError, match=kept_it), Job(tmp_path, resume=True):
        connect_four_learner(tmp_path, 1200).run()
    assert (tmp_path / POLICY).read_bytes() == kept


# --- Evaluations -----------------------------------------------------------------------------------------------------


def test_the_best_policy_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first policy with the highest score is kept. Evaluations do not disturb learning."""
    scores = iter((0.1, 0.7, 0.3, 0.7, 0.5))

    def evaluate(self: Evaluator, agent: Any) -> PolicyEvaluation:
        torch.rand(7)
        return PolicyEvaluation(next(scores), {"win_rate": 0.0})

    monkeypatch.setattr(Evaluator, "evaluate", evaluate)
    plan = replace(TWO, learning=replace(SMALL, evaluate_every=1))
    learner = connect_four_learner(tmp_path, 5 * 512 - 400, plan, tensorboard=True).run()
    assert [one.score for _, one in learner.evaluations] == [0.1, 0.7, 0.3, 0.7, 0.5]
    steps = [point.steps for point in learner.curve]
    assert read_notes(connect_four.GAME, tmp_path / BEST)["training"]["steps"] == steps[1]
    assert read_notes(connect_four.GAME, tmp_path / POLICY)["training"]["steps"] == steps[4]
    assert [row["score"] for row in rows_of(tmp_path / EVALUATIONS)] == ["0.1", "0.7", "0.3", "0.7", "0.5"]
    assert any((tmp_path / TENSORBOARD).iterdir())
    assert learner.text.endswith("; best evaluation 0.700")
    undisturbed = connect_four_learner(tmp_path / "other", 5 * 512 - 400, plan, evaluate=False).run()
    assert same_weights(learner, undisturbed)


def test_a_learner_is_judged_by_the_games_of_the_evaluation(tmp_path: Path) -> None:
    """With the curriculum these are games of all 16 sets of variants."""
    few = EvaluationSettings(games=15)
    plan = Plan(SMALL, GamesSettings((1,), curriculum=True), evaluation=few, budget=Budget(steps=512), seed=3)
    learner = Learner(PETRICHOR, plan, tmp_path, tensorboard=False)
    assert learner.evaluator is not None
    evaluated = learner.evaluator.evaluate(learner.agent())
    results = [play_games([learner.agent()], config, 15, 3 + CHOOSING_SEED) for config in variety(Config())]
    assert evaluated.numbers["win_rate"] == pytest.approx(np.mean([one.won.mean() for one in results]))
    assert evaluated.numbers["margin"] == pytest.approx(np.mean([one.margins.mean() for one in results]))
    assert len(results) == 16
    for one in results:
        assert evaluated.numbers[one.config.name] == one.won.mean()


def test_a_score_is_relative_to_an_even_share() -> None:
    class First:
        """Plays the first legal action."""

        name = "first"

        def act(self, decisions: Any, generator: np.random.Generator) -> np.ndarray:
            return np.asarray(decisions.action_masks.argmax(axis=1))

    configs = [Config(), Config(variants=VARIANTS), Config(players=2), Config(players=3)]
    evaluated = Evaluator(configs, EvaluationSettings(("random",), 12), 0).evaluate(First())
    rates = [evaluated.numbers[f"{players}p_win_rate"] for players in (1, 2, 3)]
    assert evaluated.score == pytest.approx((rates[0] + 2 * rates[1] + 3 * rates[2]) / 3, abs=1e-3)


def test_points_are_the_score_where_nobody_can_be_won_against() -> None:
    evaluated = Evaluator([EVERGREEN.config(players=1)], EvaluationSettings(games=12), 0).evaluate(RandomAgent())
    results = play_games([RandomAgent()], EVERGREEN.config(players=1), 12, 0)
    assert evaluated.score == evaluated.numbers["margin"] == results.points[:, 0].mean() > 10


# --- What is learned -------------------------------------------------------------------------------------------------


def test_games_of_a_table() -> None:
    made = GamesSettings.of_table(PETRICHOR, {"players": 1, "variants": ["double_card"]})
    assert made.levels(PETRICHOR) == {1: [[Config(variants=("double_card",))]]}
    assert GamesSettings.of_table(PETRICHOR, made.table()) == made
    curriculum = made.changed(PETRICHOR, {"curriculum": True})
    assert [len(level) for level in curriculum.levels(PETRICHOR)[1]] == [len(one) for one in Config().curriculum()]
    assert not curriculum.changed(PETRICHOR, {"variants": VARIANTS}).curriculum
    everything = GamesSettings(variety=True).levels(PETRICHOR)
    assert everything.keys() == {2, 3, 4, 5} and everything[4] == [list(variety(Config(players=4)))]
    one_module = GamesSettings(variety=True).changed(PETRICHOR, {"modules": ("cactus",)})
    assert one_module.levels(PETRICHOR)[2] == [[Config(players=2, modules=("cactus",))]]
    for game, wrong, text in (
        (PETRICHOR, {"players": [2, 2]}, "each number once"),
        (PETRICHOR, {"players": [9]}, "players=9"),
        (PETRICHOR, {"weather": 1}, "unknown key weather"),
        (PETRICHOR, {"curriculum": True, "variety": True}, "give one of them"),
        (PETRICHOR, {"curriculum": True, "players": [2]}, "Petrichor has none with players=2"),
        (PETRICHOR, {"curriculum": True, "players": [1], "variants": ["double_card"]}, "give one of the two"),
        (EVERGREEN, {"curriculum": True, "players": [1]}, "Evergreen has none"),
    ):
        with pytest.raises(ConfigError, match=text):
            GamesSettings.of_table(game, wrong)
