"""What several training runs say together: the measures, the files they come from, and what is not averaged."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from petrichor_env import GAME, Config
from tabletop_agents.checkpoint import save_network
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_training.suite import runs, seeds, statistics
from tabletop_training.suite.results import verify
from tabletop_training.suite.runs import Row
from tabletop_training.suite.tasks import Task, by_name
from tests.support.networks import network_for

# --- Measures --------------------------------------------------------------------------------------------------------

FIRST = np.array(
    [
        [0.75, 1.077, 0.931, 0.27],
        [0.36, 1.048, 0.006, 0.985],
        [0.956, 0.562, 0.364, 0.334],
        [0.306, 0.534, 0.605, 0.664],
        [1.195, 0.951, 0.747, 1.187],
    ]
)
SECOND = np.array(
    [
        [0.215, 0.16, 0.613, 0.044],
        [0.036, 0.515, 0.466, 0.917],
        [0.629, 0.514, 0.497, 0.248],
        [0.012, 0.192, 0.692, 0.201],
        [0.37, 0.004, 0.83, 0.154],
    ]
)
"""Five runs of four tasks."""


def test_measures_are_those_of_rliable() -> None:
    """The numbers are what rliable 1.2.0 gives for these scores."""
    first, second = list(FIRST.T), list(SECOND.T)
    assert statistics.interquartile_mean(first) == pytest.approx(0.7064)
    assert statistics.interquartile_mean(second) == pytest.approx(0.3378)
    assert statistics.mean(first) == pytest.approx(0.6916)
    assert statistics.optimality_gap(first) == pytest.approx(0.33375)
    assert statistics.improvement(first, second) == pytest.approx(0.79)


def test_improvement_is_the_mean_of_mann_whitneys_u_over_the_pairs() -> None:
    own, other = [np.array([0.1, 0.5, 0.5])], [np.array([0.5, 0.2])]
    expected = stats.mannwhitneyu(own[0], other[0]).statistic / 6
    assert statistics.improvement(own, other) == pytest.approx(expected)
    assert statistics.improvement(own, own) == 0.5


def test_profile_is_the_share_of_runs_above() -> None:
    assert statistics.profile(list(FIRST.T), np.array([0.0, 0.5, 1.19, 1.2])).tolist() == [1.0, 0.7, 0.05, 0.0]


def test_intervals_are_those_of_scipys_bootstrap() -> None:
    """scipy draws the samples of each task on their own, too."""
    tasks = tuple(FIRST.T)

    def middle(*samples: np.ndarray, axis: int = -1) -> Any:
        return stats.trim_mean(np.concatenate(samples, axis=axis), 0.25, axis=axis)

    wanted = stats.bootstrap(tasks, middle, method="percentile", n_resamples=20_000, vectorized=True)
    found = statistics.estimate(statistics.interquartile_mean, list(tasks), generator=np.random.default_rng(1))
    assert found.value == pytest.approx(0.7064)
    assert found.low == pytest.approx(wanted.confidence_interval.low, abs=0.02)
    assert found.high == pytest.approx(wanted.confidence_interval.high, abs=0.02)


def test_tasks_are_drawn_on_their_own() -> None:
    """Pooled, the scores of an easy and a hard task would differ from sample to sample; by task they don't."""
    scores = [np.full(5, 0.1), np.full(5, 0.9)]
    found = statistics.estimate(statistics.mean, scores, generator=np.random.default_rng(0))
    assert found == pytest.approx((0.5, 0.5, 0.5))


def test_few_runs_have_intervals_that_are_too_narrow() -> None:
    """How often the interval of normal scores holds the true value, as docs/suite.md tells: 75 % and 92 %."""
    draw = np.random.default_rng(0)
    for number, least, most in ((3, 0.65, 0.85), (5, 0.84, 0.97)):
        held = 0
        for _ in range(200):
            samples = statistics.resampled([draw.normal(0.5, 0.1, number)], draw, 500)
            low, high = np.quantile(statistics.interquartile_mean(samples), (0.025, 0.975))
            held += low <= 0.5 <= high
        assert least <= held / 200 <= most


def test_a_single_run_has_no_interval() -> None:
    found = statistics.estimate(statistics.mean, [np.array([0.4])], generator=np.random.default_rng(0))
    assert found.value == 0.4 and not found.has_interval


# --- What is averaged, and what is not -------------------------------------------------------------------------------


def row(**changes: Any) -> Row:
    usual: dict[str, Any] = {"task": "a/one-v1", "version": "1.0", "learner": "mine", "seed": 0, "part": "new"}
    return Row(**{**usual, "steps": 100, "score": 0.5, **changes})


def test_the_last_row_of_a_run_counts() -> None:
    rows = [row(steps=steps, score=score) for steps, score in ((10, 0.1), (100, 0.7), (50, 0.9))]
    assert runs.final_rows(rows)["a/one-v1", "mine", "new"][0].score == 0.7


def test_a_missing_seed_is_named() -> None:
    rows = [row(task=task, seed=seed) for task in ("a/one-v1", "a/two-v1") for seed in range(3)]
    assert len(runs.final_rows(rows)) == 2
    with pytest.raises(
        ConfigError, match=r"mine, a/two-v1, new: seed 1 is missing; .* would hide the runs that failed"
    ):
        runs.final_rows([one for one in rows if (one.task, one.seed) != ("a/two-v1", 1)])


def test_other_versions_and_two_scores_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"a/one-v1: mine with version 1.0, yours with 1.1; .* not compared"):
        runs.final_rows([row(), row(learner="yours", version="1.1")])
    with pytest.raises(ConfigError, match="mine, a/one-v1, seed 0: two scores of the part new"):
        runs.final_rows([row(), row(score=0.6)])
    assert runs.final_rows([row(), row(task="a/one-v2", version="1.1")])  # another task


def test_learners_are_compared_on_the_tasks_that_all_have() -> None:
    scores = {("one-v1", "good"): 0.9, ("one-v1", "bad"): 0.2, ("two-v1", "good"): 0.8}
    rows = [
        row(task=task, learner=who, seed=seed, score=score + seed / 100)
        for (task, who), score in scores.items()
        for seed in range(5)
    ]
    shared, together, pairs = runs.over_tasks(runs.final_rows(rows), "new")
    assert shared == ["one-v1"]
    assert {one["learner"]: round(one["mean"].value, 2) for one in together} == {"good": 0.92, "bad": 0.22}
    assert [(one["learner"], one["other"], one["above"].value) for one in pairs] == [("bad", "good", 0.0)]


def test_the_gap_is_that_of_the_same_runs() -> None:
    rows = [
        row(part=part, seed=seed, score=score + seed / 10)
        for part, score in (("new", 0.2), ("learned", 0.5))
        for seed in range(5)
    ]
    (line,) = runs.by_task(runs.final_rows(rows), "new")
    assert line["gap"] == pytest.approx((0.3, 0.3, 0.3))  # seeds differ, but not their gaps
    assert line["score"].value == pytest.approx(0.4) and line["score"].width > 0.1


# --- Files -----------------------------------------------------------------------------------------------------------

HEAD = "task,version,learner,seed,steps,part,score"


def test_a_learner_without_scores_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.csv"
    runs.write_scores(file, [row(), row(learner="yours", part="mine"), row(learner="yours", part="chosen")])
    runs.main(GAME, [str(file)], output=tmp_path / "out")
    said = " ".join(capsys.readouterr().out.split())
    assert "Left out: yours, which has no games of the part new (it has chosen, mine)." in said
    assert "With fewer than 5 runs, an interval seems more certain than it is." in said


def test_other_learners_write_a_csv_file(tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    lines = [
        f"x/y-v1,1,other,{seed},{steps},new,{0.1 * seed + steps / 1e4}" for seed in range(3) for steps in (10, 1000)
    ]
    file.write_text("\n".join([HEAD, *lines]), encoding="utf-8-sig")  # as spreadsheets write it
    folder = runs.main(GAME, [str(file)], output=tmp_path / "out")
    content = json.loads((folder / "runs.json").read_text())
    assert content["tasks"][0]["score"]["value"] == pytest.approx(0.2)
    assert content["tasks"][0]["runs"] == 3
    assert {"curves.png", "profiles.png", "tasks.csv", "scores.csv"} <= {path.name for path in folder.iterdir()}
    read, again = (sorted(runs.read_scores(one)) for one in (file, folder / "scores.csv"))
    assert [(one.run, one.steps) for one in again] == [(one.run, one.steps) for one in read]
    assert [one.score for one in again] == pytest.approx([one.score for one in read], abs=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no scores"),
        (HEAD, "has no scores"),
        ("a,b\n1,2", "line 2: task, version, learner, seed, part, steps, score missing"),
        (f"{HEAD}\nx,1,me,0,1,new,1.5", "line 2: score=1.5: must be the share of the victories"),
        (f"{HEAD}\nx,1,me,0,1,new,nan", "line 2: score=nan"),
        (f"{HEAD}\nx,1,me,zero,1,new,0.5", "line 2: .*zero"),
        (f"{HEAD}\nx,1,me,-1,1,new,0.5", "line 2: seed=-1"),
        (f"{HEAD}\nx,1,me,{'9' * 39},1,new,0.5", "line 2: seed=9"),
        (f"{HEAD}\nx,1,{'m' * 300},1,1,new,0.5", "line 2: learner='mmm"),
        (f"{HEAD}\nx,1,\x1b[31m,1,1,new,0.5", "line 2: learner="),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TabletopError, match=message) as caught:
        runs.read_runs([file], GAME)
    assert len(str(caught.value)) < 400 + len(str(file))


def test_places_without_runs_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(TabletopError, match=r"there is no scores.csv and no run of `petrichor train`"):
            runs.read_runs([place], GAME)
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TabletopError, match="can't be read"):
        runs.read_runs([tmp_path / "bytes.csv"], GAME)


# --- Training with several seeds -------------------------------------------------------------------------------------

TINY = """[learning]
num_envs = 16
steps = 16
minibatch = 64
layers = [16]
threads = 1
[games]
players = [1]
[evaluation]
games = 20
"""
STEPS = 1024
SMALL = by_name(
    (
        Task(
            name="two-v1",
            about="small",
            learn=(Config(), Config(variants=("double_card",))),
            play=(Config(variants=("one_more_turn",)),),
            steps=STEPS,
        ),
    )
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("settings") / "tiny.toml"
    file.write_text(TINY)
    return str(file)


@pytest.fixture(scope="module")
def learned(settings: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a small task, scored with few games."""
    folder = tmp_path_factory.mktemp("learned") / "mine"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tabletop_training.suite.play.GAMES", 40)
        return seeds.main(GAME, settings, seeds=2, seed=3, task="two-v1", tasks=SMALL, output=folder)


def test_training_with_seeds_learns_the_task_and_scores_it(learned: Path) -> None:
    final = runs.final_rows(runs.read_scores(learned / "scores.csv"))
    assert {key[2]: sorted(one) for key, one in final.items()} == {
        part: [3, 4] for part in ("new", "learned", "learning")
    }
    assert {key[:2] for key in final} == {("petrichor/two-v1", "mine")}
    for seed in (3, 4):
        told = json.loads((learned / f"seed-{seed}" / "run.json").read_text())
        assert told["seed"] == seed and told["budget"]["steps"] == STEPS
        assert told["games"]["each"] == [{}, {"variants": ["double_card"]}]
        assert not (learned / f"seed-{seed}" / "best.zip").exists()  # choosing it would need games of its own
        file = learned / "played" / f"two-v1-mine-{seed}.results"
        assert verify(file, SMALL).scores["new"].won.value == pytest.approx(
            final["petrichor/two-v1", "mine", "new"][seed].score, abs=1e-6
        )
    content = json.loads((learned / "runs.json").read_text())
    assert content["tasks"][0]["gap"] is not None and content["tasks"][0]["seeds"] == "3 4"


def test_runs_that_learned_something_else_are_no_entries(learned: Path) -> None:
    from tabletop_training.suite.play import entry_of

    policy = f"policy:{learned / 'seed-3' / 'policy.zip'}"
    assert vars(entry_of(policy, SMALL["two-v1"])) == {"agent": policy, "learner": "mine", "seed": 3, "steps": STEPS}
    with pytest.raises(ConfigError, match="it did not learn what two-v1 learns"):
        entry_of(policy, replace(SMALL["two-v1"], learn=(Config(),)))
    with pytest.raises(ConfigError, match=r"it learned for 1,024 decisions; two-v1 is learned for 5,000"):
        entry_of(policy, replace(SMALL["two-v1"], steps=5000))
    shipped = entry_of("policy:solo", SMALL["two-v1"])
    assert (shipped.learner, shipped.steps) == ("policy:solo", 0)


def test_a_policy_of_another_learner_says_its_seed_or_lies_in_its_folder(tmp_path: Path) -> None:
    from tabletop_training.suite.play import entry_of

    file = tmp_path / "theirs" / "seed-4" / "policy.zip"
    for notes, seed, steps in (({}, 4, 0), ({"seed": 7, "steps": 9}, 7, 9)):
        save_network(GAME, network_for(GAME), file, notes)
        entry = entry_of(f"policy:{file}", SMALL["two-v1"])
        assert (entry.learner, entry.seed, entry.steps) == ("theirs", seed, steps)


def test_finished_runs_are_not_learned_again(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabletop_training.suite.play.GAMES", 40)
    before = (learned / "seed-3" / "policy.zip").read_bytes()
    (learned / "seed-4" / "resume.zip").unlink()  # as if it had been stopped at its start
    noted: list[int] = []
    monkeypatch.setattr(seeds.train, "main", with_note(seeds.train.main, noted))
    seeds.main(GAME, tasks=SMALL, resume=learned)
    assert noted == [4]
    assert (learned / "seed-3" / "policy.zip").read_bytes() == before


def with_note(main: Any, noted: list[int]) -> Any:
    def noting(*given: Any, **named: Any) -> Any:
        noted.append(named["seed"])
        return main(*given, **named)

    return noting


def test_plain_runs_are_compared_by_the_games_that_chose(settings: str, tmp_path: Path) -> None:
    folder = seeds.main(GAME, settings, seeds=2, output=tmp_path / "plain", steps=STEPS)
    (line,) = runs.by_task(runs.final_rows(runs.read_runs([folder], GAME)), "chosen")
    assert line["runs"] == 2 and line["task"].startswith("petrichor train tiny ")
    (folder / "scores.csv").unlink()  # from the runs themselves
    assert runs.by_task(runs.final_rows(runs.read_runs([folder], GAME)), "chosen") == [line]
    told = json.loads((folder / "seed-1" / "run.json").read_text())
    told["learning"]["entropy"] = 0.5
    (folder / "seed-1" / "run.json").write_text(json.dumps(told))
    with pytest.raises(ConfigError, match="seed-0 and seed-1 have different settings"):
        runs.read_runs([folder], GAME)


def test_a_task_says_what_is_learned(settings: str, tmp_path: Path) -> None:
    for given in ({"steps": 5}, {"variants": ("double_card",)}, {"start": "solo"}):
        with pytest.raises(ConfigError, match=f"{next(iter(given))}: not with a task"):
            seeds.main(GAME, settings, task="two-v1", tasks=SMALL, output=tmp_path / "none", **given)
    assert math.isnan(row().margin) and not (tmp_path / "none").exists()
