"""The difficulty study: its statistics on made-up games with known answers, its files, its words."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from petrichor_env import GAME
from petrichor_env.config import VARIANTS, Config
from petrichor_env.state import Source
from tabletop_agents import make_agent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.play.batch import Batch
from tabletop_training.files.job import Job
from tabletop_training.measure.evaluation import play_games
from tabletop_training.measure.results import Estimate, Results, difference_estimate
from tabletop_training.petrichor import difficulty, difficulty_report
from tabletop_training.petrichor.study import Key, Study, by_set, complete_sets, summaries_of
from tabletop_training.petrichor.summaries import ALL_VARIANTS, summarize
from tabletop_training.petrichor.variant_effects import (
    SWITCHED,
    Pairs,
    Sets,
    compare_margins,
    compare_wins,
    effects,
    holm,
    levels,
    p_of_mean,
    pairing_gain,
    rank_intervals,
    smoothest_path,
    win_rate_effects,
)
from tabletop_training.study import play as play_module
from tabletop_training.study.play import about, play_cells, played
from tabletop_training.study.store import Store
from tests.support.processes import in_python
from tests.support.results import rows_of
from tests.support.studies import SEED, contents, noisy, results_of, sets_of, without_pictures  # noqa: F401
from tests.support.workers import Watched, stopping_after

GAMES = 12
FILES = {
    *(
        "settings.json",
        "games",
        "games.csv",
        "difficulty.csv",
        "difficulty.json",
        "effects.csv",
        "pairs.csv",
        "sources.csv",
    ),
    *("report.md", "heat_map.png", "difficulty.png", "effects.png", "costs.png", "sources.png", "ranking.png"),
}


# --- Statistics ------------------------------------------------------------------------------------------------------


def test_games_of_a_seed_begin_alike() -> None:
    """Pairing needs this: fields and hands are the same if the same tiles are in the pile."""
    for tricks in (False, True):
        same = [variants for variants in ALL_VARIANTS if ("no_more_tricks" in variants) == tricks]
        starts = [Batch(Config(variants=variants), 50, SEED).states for variants in same]
        assert len(same) == 8
        for start in starts[1:]:
            assert np.array_equal(start["crop"], starts[0]["crop"])
            assert np.array_equal(start["hand"], starts[0]["hand"])


def test_effects_find_what_was_put_in() -> None:
    """From means built of main effects and interactions, without noise, exactly these effects are found."""
    double, targets, tricks, turn = SWITCHED.T.astype(float)
    # a product of switches is the interaction; it also moves each main effect by half of itself
    means = 10 - 12 * double - 4 * turn + 3 * tricks - 6 * double * turn + 0 * targets
    found = {effect.variants: effect.value for effect in effects(np.tile(means[:, None], 5))}
    assert found["double_card",] == pytest.approx(-15)
    assert found["one_more_turn",] == pytest.approx(-7)
    assert found["no_more_tricks",] == pytest.approx(3)
    assert found["double_card", "one_more_turn"] == pytest.approx(-6)
    rest = set(found) - {("double_card",), ("one_more_turn",), ("no_more_tricks",), ("double_card", "one_more_turn")}
    assert len(rest) == 11
    assert all(found[variants] == pytest.approx(0) for variants in rest)


def test_effects_are_the_factorial_least_squares() -> None:
    """On noise, the contrasts are the coefficients of the saturated linear model with switches at -1/2 and +1/2."""
    margins = noisy(np.zeros(16), 40)
    codes = SWITCHED - 0.5
    found = effects(margins)
    design = np.column_stack(
        [np.ones(16), *(codes[:, [VARIANTS.index(n) for n in effect.variants]].prod(axis=1) for effect in found)]
    )
    coefficients = np.linalg.lstsq(design, margins.mean(axis=1), rcond=None)[0]
    assert [effect.value for effect in found] == pytest.approx(coefficients[1:].tolist())


def test_effects_are_real_and_covered() -> None:
    """A main effect of 2 points is found. In about ten of 200 studies the 95 % interval leaves it out."""
    means = 2.0 * SWITCHED[:, 1]
    assert [e.variants for e in effects(noisy(means, 400)) if e.significant] == [("non_random_targets",)]
    left_out = 0
    for seed in range(200):
        effect = effects(noisy(means, 20, shared=0.5, seed=seed), largest=1)[1]
        left_out += not effect.low <= 2.0 <= effect.high
    assert 2 <= left_out <= 22  # 10 expected, standard deviation 3


def test_effects_of_one_game_are_not_significant() -> None:
    assert not any(effect.significant for effect in effects(noisy(50.0 * SWITCHED[:, 0], 1)))


def test_win_rate_effects() -> None:
    margins = np.where(SWITCHED[:, [3]], -5, 5) * np.ones((16, 30), np.int64)
    found = win_rate_effects(sets_of(margins))
    assert found["one_more_turn"].value == -1.0
    assert found["double_card"].value == 0.0
    assert found["double_card"].low < 0 < found["double_card"].high  # 30 equal seeds prove nothing


def test_holm() -> None:
    """R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")."""
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


def test_means_are_tested_by_students_t() -> None:
    for values in (np.arange(1.0, 6.0), np.array([-0.3, 0.1]), np.random.default_rng(0).normal(0.2, 1, 300)):
        assert p_of_mean(values) == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue, rel=1e-12)
    assert [p_of_mean(np.array(values)) for values in ([3.0], [0.0, 0.0], [2.0, 2.0])] == [1.0, 1.0, 0.0]


def test_compare_wins_is_mcnemars_exact_test() -> None:
    """Only one set wins ten seeds, and only the other wins two: a sign test of 10 in 12, p = 0.0386."""
    margins = np.full((16, 40), 1)
    margins[3, :10] = -1
    margins[5, 10:12] = -1
    pairs = compare_wins(sets_of(margins))
    assert pairs.differences[5, 3] == pytest.approx(8 / 40)
    alone = 2 * sum([1, 12, 66]) / 2**12
    assert alone == pytest.approx(0.0386, abs=1e-4)
    # the pairs of set 3 with the 14 that win everything come before it; all others have no differing seed
    assert pairs.p[5, 3] == pairs.p[3, 5] == pytest.approx(min(1.0, alone * (120 - 14)))
    assert pairs.p[0, 3] == pytest.approx(2 / 2**10 * 120)
    assert pairs.p[0, 1] == 1.0
    assert not pairs.significant[0, 3]


@pytest.mark.slow
def test_comparisons_keep_their_promise() -> None:
    """With sixteen equal sets, at most one study in twenty finds any difference among the 120 pairs."""
    false = [0, 0]
    for seed in range(40):
        sets = sets_of(noisy(np.zeros(16), 60, shared=0.3, seed=seed))
        false[0] += bool(compare_wins(sets).significant.any())
        false[1] += bool(compare_margins(sets).significant.any())
    assert max(false) <= 7  # 2 expected at most
    real = compare_margins(sets_of(noisy(6.0 * SWITCHED[:, 2], 300)))
    assert np.array_equal(real.significant, SWITCHED[:, None, 2] != SWITCHED[None, :, 2])


def test_order_levels_and_ranks() -> None:
    means = np.where(SWITCHED[:, 0], -20.0, 20.0)
    sets = sets_of(noisy(means, 200))
    order = sets.order
    assert not SWITCHED[order[:8], 0].any()
    assert np.all(np.diff(sets.win_rates[order]) <= 0)
    level = levels(order, compare_wins(sets))
    assert np.array_equal(level, 1 + SWITCHED[:, 0])
    ranks = rank_intervals(sets, np.random.default_rng(0))
    assert ranks[order[:8]].max() <= 8 < ranks[order[8:]].min()
    own = {index: rank for rank, index in enumerate(order, 1)}
    assert all(ranks[index, 0] <= own[index] <= ranks[index, 1] for index in range(16))
    assert (ranks[:, 1] - ranks[:, 0]).max() > 2  # within a level, chance orders


def test_levels_go_by_the_first_of_each() -> None:
    p = np.ones((16, 16))
    p[0, 2] = p[2, 0] = 0.01  # the third differs from the first
    p[1, 3] = p[3, 1] = 0.01  # but the fourth not from the third
    p[2, 15] = p[15, 2] = 0.01
    assert levels(np.arange(16), Pairs(np.zeros((16, 16)), p)).tolist() == [1, 1, *[2] * 13, 3]


def test_pairing_gain_is_the_seeds_part_of_the_variance() -> None:
    assert pairing_gain(sets_of(noisy(np.zeros(16), 4000, shared=0.6))) == pytest.approx(0.6, abs=0.03)
    assert pairing_gain(sets_of(noisy(np.zeros(16), 4000))) == pytest.approx(0.0, abs=0.03)
    assert pairing_gain(sets_of(np.zeros((16, 3), np.int64))) == 0.0


def test_smoothest_path() -> None:
    rates = np.random.default_rng(3).random(16)
    path = smoothest_path(rates)
    assert [len(ALL_VARIANTS[index]) for index in path] == [0, 1, 2, 3, 4]
    assert all(set(ALL_VARIANTS[a]) < set(ALL_VARIANTS[b]) for a, b in pairwise(path))
    worst = []
    for order in permutations(VARIANTS):
        names = [tuple(name for name in VARIANTS if name in order[:number]) for number in range(5)]
        worst.append(max(-np.diff([rates[ALL_VARIANTS.index(name)] for name in names])))
    assert max(-np.diff(rates[path])) == min(worst)


# --- Words -----------------------------------------------------------------------------------------------------------


def report_of(folder: Path, *agents: Sets) -> str:
    results: dict[Key, Results] = {}
    for sets in agents:
        results |= results_of(sets)
    study = Study({sets.agent: sets.games for sets in agents}, SEED)
    difficulty_report.write_report(folder, study, list(results.values()))
    return (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("costly", "title", "other"), [(0, "Double card", "One More Turn"), (3, "One More Turn", "Double card")]
)
def test_report_says_what_the_games_say(tmp_path: Path, costly: int, title: str, other: str) -> None:
    strong = sets_of(noisy(6.0 - 9.0 * SWITCHED[:, costly], 120), "strong")
    weak = sets_of(noisy(-10.0 - 3.0 * SWITCHED[:, costly], 120, seed=1), "weak")
    text = report_of(tmp_path, weak, strong)
    (effect,) = [e for e in effects(strong.margins, 1) if e.significant]
    assert (
        f"**What a variant costs**, averaged over all sets of the other variants: {title} {-effect.value:.1f} points"
        in text
    )
    assert re.search(rf"What could be chance\*\*: .*{other}", text)
    assert "`strong`, the strongest of 2 agents measured here, wins" in text
    assert f"**{100 * strong.win_rates[0]:.1f} % (" in text
    assert re.search(rf"\*\*{title}\*\* costs", text)
    assert re.search(rf"{title} shifts this lead by .* in favour of `weak`", text)
    assert re.search(r"`strong` ends \d+\.\d points \(.* to .*\) ahead of the next strongest, `weak`.* 120 seeds", text)
    assert "no pair costs measurably more" in text


@pytest.mark.usefixtures("without_pictures")
def test_report_of_a_variant_that_helps_and_one_that_multiplies(tmp_path: Path) -> None:
    double, targets, _, turn = SWITCHED.T.astype(float)
    text = report_of(tmp_path, sets_of(noisy(8 + 6 * targets - 8 * double - 8 * turn - 9 * double * turn, 150)))
    assert "**Easier than it looks**: the margin grows with Non-random targeting by" in text
    assert re.search(r"Double card and One More Turn cost \d+\.\d points \(.*\) more than the sum of both", text)
    assert "This takes at least two agents." in text
    assert "You score more than it" not in text.split("## The hardest")[1]


@pytest.mark.usefixtures("without_pictures")
def test_report_of_equal_sets(tmp_path: Path) -> None:
    """If nothing differs, the report says so and finds neither a hardest set nor levels."""
    text = report_of(tmp_path, sets_of(noisy(np.zeros(16), 50)))
    assert "What a variant costs**" not in text
    assert "16 sets, 1 level of difficulty" in text
    assert "No set is won significantly less often than the base game" in text


@pytest.mark.usefixtures("without_pictures")
def test_report_of_an_agent_that_has_not_played_all_sets(tmp_path: Path) -> None:
    whole, begun = (results_of(sets_of(noisy(np.zeros(16), 50), name)) for name in ("random", "greedy"))
    results = [*whole.values(), *[*begun.values()][:4]]
    difficulty_report.write_report(tmp_path, Study({"random": 50, "greedy": 50}, SEED), results)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "the strongest of" not in text and "`random` wins" in text


@pytest.mark.slow
def test_report_where_every_game_is_lost(tmp_path: Path) -> None:
    text = report_of(tmp_path, sets_of(np.full((16, 4), -30, np.int64)))
    assert "**0.0 % (0.0 to 49.0)** of the base game" in text
    assert {path.name for path in tmp_path.iterdir()} == FILES - {"settings.json", "games", "games.csv"}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Estimate(3.2, 2.1, 4.3), "3.2 points (2.1 to 4.3) higher"),
        (Estimate(-3.2, -4.3, -2.1), "3.2 points (2.1 to 4.3) lower"),
        (Estimate(-0.3, -1.0, 0.4), "0.3 points lower (from 1.0 lower to 0.4 higher)"),
        (Estimate(-5.0, -np.inf, np.inf), "5.0 points (no interval) lower"),
    ],
)
def test_changes_in_words(change: Estimate, text: str) -> None:
    assert difficulty_report._moved(change, "points", "higher", "lower") == text


@pytest.mark.usefixtures("without_pictures")
def test_no_sentence_has_a_signed_number(tmp_path: Path) -> None:
    """Only tables have signs. Sentences say more or less, ahead or behind, more or less often."""
    double, targets, _, turn = SWITCHED.T.astype(float)
    means = 8 + 0.5 * targets - 8 * double - 8 * turn - 9 * double * turn
    text = report_of(tmp_path, sets_of(noisy(means, 150), "strong"), sets_of(noisy(means - 20, 150, seed=1), "weak"))
    sentences = [line for line in text.splitlines() if not line.lstrip().startswith("|")]
    assert [line for line in sentences if re.search(r"(?<!\w)[+-]\d", line)] == []
    assert re.search(r"\*\*Double card\*\* costs .* You win \d+\.\d percentage points \(.*\) less often\.", text)


@pytest.mark.usefixtures("without_pictures")
def test_an_interval_without_0_that_could_be_chance_says_why(tmp_path: Path) -> None:
    """A t test's p of 0.01 to 0.05: the interval leaves out 0, but not after Holm's correction for 15 effects."""
    for seed in range(100):
        margins = noisy(-10.0 * SWITCHED[:, 0], 60, seed=seed)
        unsure = [one for one in effects(margins) if one.estimate.excludes(0) and not one.significant]
        if any(len(one.variants) == 1 for one in unsure):
            break
    chance = next(line for line in report_of(tmp_path, sets_of(margins)).splitlines() if "could be chance**" in line)
    assert "the interval excludes 0, but 15 effects were tested together" in chance
    assert "corrected for their number, p is 0." in chance


# --- How long it takes, and what an overlay file changes --------------------------------------------------------------


def test_about() -> None:
    words = ["less than a minute", "about 1 minute", "about 12 minutes", "about 3 hours"]
    assert [about(seconds) for seconds in (20, 61, 700, 3 * 3600 + 200)] == words


@pytest.mark.usefixtures("without_pictures")
def test_it_tells_how_long_and_shows_what_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent's table is printed before the next one plays, and the CSV file written before the next set is played."""
    told: list[tuple[str, str, bool]] = []

    def noting(agents: tuple[str, ...]) -> None:
        told.append((agents[0], capsys.readouterr().out, (tmp_path / "study" / "difficulty.csv").exists()))

    monkeypatch.setattr(play_module, "_seconds_a_game", lambda agent, config, games, decisions: 60.0)
    difficulty.main(["random", "greedy"], 3, seed=SEED, output=tmp_path / "study", workers=Watched(noting))
    assert "96 games: this takes about 96 minutes in all." in told[0][1]
    assert [(name, written) for name, _, written in told[:2]] == [("random", False), ("random", True)]
    assert told[16][0] == "greedy"
    assert "win rate and mean margin" in told[16][1]
    assert "About 48 minutes left in all." in told[16][1]


OVERLAY = """
[tiles.cotton]
scores = [0, 0, 0, 0]
[pieces]
clouds = 9
"""


@pytest.mark.usefixtures("without_pictures")
def test_an_overlay_is_compared_with_the_shipped_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same agents play the same seeds; the CSV file, the print and the report have comparison and changes."""
    monkeypatch.setenv("COLUMNS", "80")
    numbers = tmp_path / "edition.toml"
    numbers.write_text(OVERLAY)
    study = difficulty.main(["greedy"], 4, seed=SEED, components=numbers, output=tmp_path / "study")
    printed = capsys.readouterr().out
    assert "tiles.cotton.scores" in printed and "5, 2, 0, 0" in printed and "0, 0, 0, 0" in printed
    assert "greedy: change" in printed
    text = (study / "report.md").read_text(encoding="utf-8")
    assert "| tiles.cotton.scores | points for places 1 to 4 | 5, 2, 0, 0 | 0, 0, 0, 0 |" in text
    assert "| pieces.clouds | clouds in all | 12 | 9 |" in text
    assert re.search(r"`greedy` wins .* often.* than with the shipped numbers, and its margin is .* points", text)
    agent = make_agent("greedy", GAME)
    own, shipped = (
        play_games([agent], Config(variants=VARIANTS, components=components), 4, SEED)
        for components in (str(numbers), None)
    )
    (row,) = [row for row in rows_of(study / "difficulty.csv") if row["variants"] == "+".join(VARIANTS)]
    assert float(row["margin"]) == pytest.approx(own.margins.mean(), abs=1e-4)
    assert float(row["margin_change"]) == pytest.approx((own.margins - shipped.margins).mean(), abs=1e-4)
    change = difference_estimate(own.won[:, 0].astype(float) - shipped.won[:, 0])
    assert float(row["win_rate_change_low"]) == pytest.approx(change.low, abs=1e-4)
    assert f"{(own.margins - shipped.margins).mean():+.1f} (" in text.split("## What the changed numbers do")[1]
    games = rows_of(study / "games.csv")
    alone = {"tiles.cotton.scores", "pieces.clouds"}
    assert {game["numbers"] for game in games} == {"overlay", "shipped", *alone} and len(games) == 4 * 16 * 4
    before = contents(study)
    difficulty.main(resume=study, workers=stopping_after(0))  # nothing is missing
    assert contents(study) == before


@pytest.mark.usefixtures("without_pictures")
def test_an_overlay_that_changes_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = tmp_path / "edition.toml"
    numbers.write_text("[pieces]\nclouds = 12\n")
    study = difficulty.main(["random"], 2, components=numbers, output=tmp_path / "study")
    told = capsys.readouterr().out
    assert "The overlay file changes no number" in told and "ranges" not in told
    assert len(rows_of(study / "games.csv")) == 16 * 2
    assert "changed numbers" not in (study / "report.md").read_text(encoding="utf-8")
    numbers.write_text("[pieces]\nrange.clouds = [10, 14]\n")
    difficulty.main(["random"], 2, components=numbers, output=tmp_path / "ranges")
    assert "Its ranges count only with --editions." in " ".join(capsys.readouterr().out.split())


def test_tables_fit_80_columns() -> None:
    """With three agents, a long name, and an overlay file's changes, no cell is cut or broken."""
    change: Any = {"win_rate_change": Estimate(-0.5, -0.612, -0.388), "margin_change": Estimate(-12.25, -22.7, -1.8)}
    summaries = [
        replace(summarize(result), agent=agent, **change)
        for result in results_of(sets_of(noisy(np.full(16, -30.0), 40))).values()
        for agent in ("policy:runs/mine/with/a_long_name/best.zip", "greedy", "ismcts-2000")
    ]
    for width in (80, 120, 200):
        console = Console(width=width, record=True, file=io.StringIO())
        for _, table in difficulty.difficulty_tables(summaries, width):
            console.print(table)
        text = console.export_text()
        assert "…" not in text and max(map(len, text.splitlines())) <= width
        assert text.count("-50.0 ± 11.2 -12.2 ± 10.4") == 16 * 3
        assert "policy:runs/mine/with" in text


# --- The study -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("study") / "difficulty"
    return difficulty.main(["random", "greedy"], GAMES, seed=SEED, output=output)


def test_study_leaves_its_files(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    report = (folder / "report.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", report):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    for name in re.findall(r"`(\w+\.(?:csv|json))`", report):
        assert (folder / name).exists()
    data = json.loads((folder / "difficulty.json").read_text(encoding="utf-8"))
    assert data["seed"] == SEED
    assert [agent["agent"] for agent in data["agents"]] == ["random", "greedy"]
    assert len(data["sets"]) == 32
    assert f"petrichor difficulty random greedy --games {GAMES} --seed {SEED}" in report
    assert len(rows_of(folder / "pairs.csv")) == 2 * 120
    assert len(rows_of(folder / "effects.csv")) == 2 * 4 * 15
    assert "## Leads, decisions and luck" in report
    hardest = {one["what"] for one in data["courses"]} - {"base game"}
    assert len(hardest) == 1
    assert [(one["agent"], one["what"], one["games"]) for one in data["courses"]] == [
        (agent, what, GAMES) for agent in ("greedy", "random") for what in ("base game", *hardest)
    ]


def test_study_is_of_the_games_that_anybody_gets(folder: Path) -> None:
    rows = rows_of(folder / "difficulty.csv")
    assert [(row["variants"], row["agent"]) for row in rows] == [
        ("+".join(variants) or "base", agent) for variants in ALL_VARIANTS for agent in ("random", "greedy")
    ]
    for row in (rows[0], rows[-1]):
        variants = () if row["variants"] == "base" else VARIANTS
        again = summarize(play_games([make_agent(row["agent"], GAME)], Config(variants=variants), GAMES, SEED))
        assert (int(row["games"]), int(row["wins"])) == (GAMES, again.wins)
        assert float(row["margin"]) == pytest.approx(again.margin.value, abs=1e-4)
    games = rows_of(folder / "games.csv")
    assert len(games) == 32 * GAMES
    for game in games:
        for side, total in (("player", "points"), ("neutral", "neutral_points")):
            assert sum(int(game[f"{side}_{source.name.lower()}"]) for source in Source) == int(game[total])
    sources = rows_of(folder / "sources.csv")
    neutral = [float(row["points"]) for row in sources if (row["agent"], row["variants"]) == ("random", "base")]
    assert sum(neutral) == pytest.approx(float(rows[0]["points"]) + float(rows[0]["neutral_points"]), abs=0.01)


@pytest.mark.usefixtures("without_pictures")
def test_stopped_before_any_agent_has_played_all_sets(tmp_path: Path) -> None:
    stopped = difficulty.main(["random"], 3, seed=SEED, output=tmp_path / "study", workers=stopping_after(3))
    assert "No agent has played all 16 sets" in (stopped / "report.md").read_text(encoding="utf-8")
    assert len(rows_of(stopped / "difficulty.csv")) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_an_agent_joins_a_study(folder: Path, tmp_path: Path) -> None:
    alone = difficulty.main(["random"], GAMES, seed=SEED, output=tmp_path / "study")
    difficulty.main(["greedy"], GAMES, resume=alone)
    assert contents(alone) == contents(folder)


def test_modules_and_kept_games(tmp_path: Path) -> None:
    study = Study({"random": 5}, SEED, modules=("cactus", "forecasts"))
    cells, store = study.cells([make_agent("random", GAME)])[:2], Store(tmp_path)
    with Job(tmp_path / "job") as job:
        results = by_set([result for _, result, _ in play_cells(job, cells, store)], None)
        assert list(play_cells(job, cells, store)) == []
    read = by_set([one for cell in cells if (one := played(cell, store)) is not None], None)
    assert list(read) == list(results) == [("random", ()), ("random", ("double_card",))]
    for key, result in results.items():
        assert read[key].config == result.config
        for name in ("points", "won", "lengths", "scored", "decisions", "seeds", "places"):
            assert np.array_equal(getattr(read[key], name), getattr(result, name)), name
    assert complete_sets(results, ["random"]) == []
    assert [s.modules for s in summaries_of(results, ["random"])] == ["cactus+forecasts"] * 2


@pytest.mark.usefixtures("without_pictures")
def test_bad_input(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="agent 'wizard'"):
        difficulty.main(["wizard"], output=tmp_path / "none")
    with pytest.raises(TabletopError, match="give each only once"):
        difficulty.main(["random", "random"], output=tmp_path / "none")
    with pytest.raises(TabletopError, match="games=0: must be at least 1"):
        difficulty.main(["random"], 0, output=tmp_path / "none")
    with pytest.raises(ConfigError, match="lake"):
        difficulty.main(["random"], modules=["lake"], output=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    given: dict[str, Any] = {"seed": SEED, "modules": ["cactus"], "components": "edition.toml", "output": tmp_path}
    for option, value in {**given, "games": GAMES}.items():
        with pytest.raises(ConfigError, match=f"^{option}: not with --resume, which keeps its settings"):
            difficulty.main(resume=folder, **{option: value})
    with pytest.raises(ConfigError, match=r"^games: not with --resume"):
        difficulty.main(["rollout-1"], games=GAMES, search_games=GAMES, resume=folder)
    with pytest.raises(ConfigError, match=r"^search_games: not with --resume"):
        difficulty.main(["greedy"], search_games=GAMES, resume=folder)
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    for key, value, match in (
        ("editions", 10**12, "editions=1000000000000: must be"),
        ("effect_games", "many", "effect_games='many': must be"),
        ("seed", -1, "seed=-1: must be"),
    ):
        (tmp_path / "settings.json").write_text(json.dumps({**settings, key: value}), encoding="utf-8")
        with pytest.raises(TabletopError, match=match):
            difficulty.main(resume=tmp_path)
    (tmp_path / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


@pytest.mark.usefixtures("without_pictures")
def test_commands_that_play_a_study_again() -> None:
    study = Study({"random": 4, "ismcts-5": 2, "greedy": 8, "rollout-2": 2, "policy:solo": 8}, seed=7)
    assert study.commands == [
        "petrichor difficulty random ismcts-5 rollout-2 --games 4 --search-games 2 --seed 7",
        "petrichor difficulty greedy policy:solo --games 8 --resume FOLDER",
    ]


@pytest.mark.usefixtures("without_pictures")
def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["difficulty", "--agents", "random", "--games", "2", "--seed", "5", "--output", str(tmp_path / "study")]
    told = tmp_path / "told.json"
    cli.app([*words, "--json", str(told)], standalone_mode=False)
    assert told.read_bytes() == (tmp_path / "study" / "difficulty.json").read_bytes()
    assert len(rows_of(tmp_path / "study" / "games.csv")) == 32
    resume = ["difficulty", "--resume", str(tmp_path / "study")]
    cli.app(resume, standalone_mode=False)
    with pytest.raises(ConfigError, match="seed: not with --resume"):
        cli.app([*resume, "--seed", "5"], standalone_mode=False)
    with pytest.raises(SystemExit) as error:
        cli.main(["difficulty", "wizard"])
    assert error.value.code == 2
    assert "agent 'wizard'" in capsys.readouterr().err


@pytest.mark.slow
def test_report_module_needs_no_torch() -> None:
    """A study of compiled agents starts without it."""
    study = "tabletop_training.petrichor.difficulty"
    in_python(f"import sys, {study}, {study}_report; sys.exit('torch' in sys.modules)")
    assert difficulty_report.__doc__
