"""`tune`: what may change, the search, what it writes, and what stops it."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evergreen_env.component_files import COMPONENTS as EVERGREEN
from petrichor_env import GAME, Config
from petrichor_env.component_files import COMPONENTS
from petrichor_env.config import VARIANTS
from tabletop_agents import make_agent
from tabletop_cli import petrichor as cli
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.game import game_of
from tabletop_engine.play.batch import Batch
from tabletop_training.measure import tune
from tabletop_training.measure.matches import play_match
from tabletop_training.measure.results import Results
from tabletop_training.measure.tune import (
    Found,
    Number,
    Optimiser,
    Task,
    Trial,
    Tuning,
    numbers_of,
    overlay_of,
    verdict,
)
from tabletop_training.study.store import Store

SOLO = {"players": 1}
QUICK: dict[str, Any] = {"trials": 12, "games": 16, "verifying": 20}


def tuning(target: str = "win_rate", goal: float = 0.5, config: dict[str, Any] | None = None, **more: Any) -> Tuning:
    task = Task(target, goal, "random", config or SOLO, **{**QUICK, **more})
    return Tuning(GAME, COMPONENTS, task, make_agent("random", GAME))


# --- What may change -------------------------------------------------------------------------------------------------


def test_what_has_a_range_may_change() -> None:
    found = numbers_of(COMPONENTS, None)
    assert len(found) > 40 and all(len(number.choices) > 1 for number in found)
    shipped = COMPONENTS.load()
    for number in found:
        values = shipped[number.key].values
        now = number.choices[number.now]
        assert now in (values, values[number.place or 0])
    assert not any("priorities" in number.key for number in found), "dealt out anew, not numbers one by one"
    words = [number for number in numbers_of(EVERGREEN, None) if number.place is None]
    assert words and all(number.now == 0 and number.far(1) == 1.0 for number in words)


def test_an_overlay_says_what_a_designer_considers(tmp_path: Path) -> None:
    ideas = tmp_path / "ideas.toml"
    ideas.write_text("[pieces]\ndrops = 11\nrange.votes = [3, 5]\n", encoding="utf-8")
    (votes,) = numbers_of(COMPONENTS, ideas, ["pieces.votes"])
    assert votes.choices == tuple(sorted({3, 4, 5, COMPONENTS.load()["pieces.votes"].values[0]}))
    candidate = {"pieces.votes": votes.choices.index(3)}
    assert overlay_of(COMPONENTS, ideas, [votes], candidate) == {"pieces.drops": 11, "pieces.votes": 3}
    with pytest.raises(ConfigError, match=r"pieces\.drops has no range"):
        numbers_of(COMPONENTS, ideas, ["pieces.drops"])


def test_what_is_not_played_is_no_candidate() -> None:
    """Neither modules and variants that are left out, nor a third player's place in a game of two owners."""
    keys = {number.key for number in tuning().numbers}
    assert "tiles.cotton.scores" in keys and not any("cactus" in key or "corn" in key for key in keys)
    names = {number.name for number in tuning(config={**SOLO, "modules": ("cactus",)}).numbers}
    assert "tiles.cactus.scores[0]" in names and "tiles.cactus.scores[3]" not in names
    with pytest.raises(ConfigError, match=r"keys: tiles\.cactus\.scores is not played in solo"):
        tuning(keys=("tiles.cotton.scores", "tiles.cactus.scores"))
    without = {**SOLO, "variants": ("no_more_tricks",)}
    assert not any("potato" in number.key for number in tuning(config=without).numbers)
    assert any("potato" in number.key for number in tuning(config=without, every=True).numbers)


def test_bad_keys_are_refused() -> None:
    with pytest.raises(ConfigError, match="'nothing' is not a key"):
        numbers_of(COMPONENTS, None, ["nothing"])
    with pytest.raises(ConfigError, match="has no range of numbers"):
        numbers_of(COMPONENTS, None, ["tiles.wheat.solo_priorities"])


def test_places_of_one_list_change_together() -> None:
    numbers = numbers_of(COMPONENTS, None, ["tiles.cotton.scores"])
    first, second = numbers[:2]
    both = {first.name: len(first.choices) - 1, second.name: 0}
    scores = overlay_of(COMPONENTS, None, numbers, both)["tiles.cotton.scores"]
    assert scores[:2] == [first.choices[-1], second.choices[0]]
    assert overlay_of(COMPONENTS, None, numbers, {}) == {}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": "fun"}, "target"),
        ({"goal": 1.5}, "goal"),
        ({"goal": float("nan")}, "goal"),
        ({"target": "margin", "goal": float("inf")}, "goal"),
        ({"changes": 0}, "changes"),
        ({"trials": 0}, "trials"),
        ({"games": 0}, "games"),
        ({"verifying": -1}, "verifying"),
        ({"games": 10**7}, "games"),
    ],
)
def test_bad_tasks_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Task(**{"target": "win_rate", "goal": 0.5, "agent": "random", "config": SOLO, **changed})


def test_targets_fit_the_number_of_players() -> None:
    with pytest.raises(ConfigError, match="one seat"):
        tuning("seats", 0.0)
    with pytest.raises(ConfigError, match="has every seat"):
        tuning("win_rate", 0.5, {"players": 2})


# --- Figures ---------------------------------------------------------------------------------------------------------


def test_figures_are_those_of_the_games() -> None:
    results = play_match(["greedy"], Config(), range(50, 114))
    assert tuning("win_rate").figure(results).value == results.won[:, 0].mean()
    assert tuning("margin", 0.0).figure(results).value == pytest.approx(results.margins.mean())
    assert tuning("length", 60.0).figure(results).value == pytest.approx(results.lengths.mean())


def test_the_advantage_of_a_seat() -> None:
    places = np.ones((400, 2), int)
    places[:280, 1], places[280:, 0] = 2, 2
    two = Config(players=2)
    results = Results(two, ("a", "b"), 0, np.zeros((400, 2), int), places, np.ones(400, int))
    told = tuning("seats", 0.0, {"players": 2}).figure(results)
    assert told.value == pytest.approx(0.2) and 0.14 < told.low < 0.2 < told.high < 0.26
    even = Results(two, ("a", "b"), 0, np.zeros((400, 2), int), np.ones((400, 2), int), np.ones(400, int))
    assert tuning("seats", 0.0, {"players": 2}).figure(even).low == 0.0


def test_candidates_play_the_same_seeds_with_their_own_numbers(tmp_path: Path) -> None:
    made = tuning("margin", 0.0)
    number = made.by_name["pieces.votes"] if "pieces.votes" in made.by_name else made.numbers[0]
    candidate = {number.name: (number.now + 1) % len(number.choices)}
    (own,), (other,), (again,) = made.play([{}, candidate, {}], 16, 7, Store(tmp_path))
    assert again is own, "the same candidate is played once"
    assert own.seeds.tolist() == other.seeds.tolist() == list(range(7, 23))
    assert own.config.components is None and dict(other.config.components) == dict(
        COMPONENTS.frozen(made.overlay(candidate))
    )
    alone = Batch(other.config, 1, 7)
    assert (alone.tables == GAME.load_tables(made.overlay(candidate))).all()


def test_few_and_near_changes_are_preferred() -> None:
    made = tuning()
    number = next(one for one in made.numbers if one.place is not None and len(one.choices) > 3)
    _, nearest, *_, furthest = sorted(range(len(number.choices)), key=number.far)
    near, far = {number.name: nearest}, {number.name: furthest}
    assert made.value({}, 0.1) < made.value(near, 0.1) < made.value(far, 0.1)
    assert Number("k", None, ("east", "west"), 0).far(1) == 1.0


# --- The search ------------------------------------------------------------------------------------------------------


class MadeUp(Tuning):
    """The win rate is 0.2, plus 0.1 for every step of one number. No games are played."""

    def __init__(self, goal: float = 0.5, spread: float = 0.0) -> None:
        task = Task(
            "win_rate", goal, "random", SOLO, trials=200, games=100, verifying=400, keys=("tiles.cotton.scores",)
        )
        super().__init__(GAME, COMPONENTS, task, make_agent("random", GAME))
        self.number, self.played = self.numbers[0], 0
        self.spread = spread

    def play(self, candidates: Sequence[Any], games: int, first: int, *how: Any, **more: Any) -> list[list[Results]]:
        self.played += len(candidates)
        found = []
        for candidate in candidates:
            steps = candidate.get(self.number.name, self.number.now) - self.number.now
            rate = min(max(0.2 + 0.15 * steps, 0.0), 1.0)
            won = np.arange(games) < round(rate * games)
            places = np.where(won, 1, 2)[:, None]
            zeros = np.zeros((games, 2), int)
            found.append([Results(Config(), ("random",), first, zeros, places, np.ones(games, int))])
        return found


def test_the_search_finds_what_is_there() -> None:
    made, trials = MadeUp(goal=0.35), list[Trial]()
    candidate, ended = tune.search(made, made.play, trials)
    assert ended == "reached" and candidate == {made.number.name: made.number.now + 1}
    assert trials[0].candidate == {} and len(trials) < 100
    found = tune.verify(made, made.play, candidate, ended)
    assert found.reached and found.after[0].value == pytest.approx(0.35) and found.before[0].value == pytest.approx(0.2)
    assert "Reached with 1 change" in verdict(made, found)


def test_the_search_stops_when_it_cannot_reach_the_goal_and_says_how_near_it_came() -> None:
    made, trials = MadeUp(goal=0.9), list[Trial]()
    candidate, ended = tune.search(made, made.play, trials)
    assert ended == "patience" and len(trials) < 200
    furthest = len(made.number.choices) - 1
    assert candidate == {made.number.name: furthest}
    told = verdict(made, tune.verify(made, made.play, candidate, ended))
    near = 0.9 - 0.2 - 0.15 * (furthest - made.number.now)
    rate = 0.9 - near
    assert f"the win rate is {rate:.3g} (" in told and "and was 0.2 (" in told and "The goal is 0.9" in told
    assert "Not reached (60 candidates in a row were no better)" in told


@pytest.mark.parametrize(("goal", "ends"), [(0.35, "reached"), (0.9, "trials")])
def test_needless_changes_are_taken_back_however_the_search_ends(
    goal: float, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = MadeUp(goal)
    made.task = replace(made.task, trials=2)
    needed = {made.number.name: made.number.now + 1 if ends == "reached" else len(made.number.choices) - 1}
    ask = Optimiser.ask
    monkeypatch.setattr(Optimiser, "ask", lambda self: (ask(self)[0], {**needed, made.numbers[1].name: 0}))
    assert tune.search(made, made.play, []) == (needed, ends)


def test_a_candidate_is_played_once() -> None:
    made, trials = MadeUp(goal=0.9), list[Trial]()
    tune.search(made, made.play, trials)
    different = {tuple(sorted(one.candidate.items())) for one in trials if one.figures}
    assert made.played <= len(different) + 2 * tune.FINALISTS + 2


def test_more_numbers_than_allowed_never_change(tmp_path: Path) -> None:
    folder = tune.main(GAME, COMPONENTS, tuning(changes=2).task, output=tmp_path / "tune")
    with (folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        changes = [len(json.loads(row["changes"])) for row in csv.DictReader(file)]
    assert len(changes) == 12 and max(changes) == 2


# --- The command -----------------------------------------------------------------------------------------------------


def test_it_leaves_an_overlay_a_page_and_a_picture(tmp_path: Path) -> None:
    task = Task("margin", -20.0, "random", {"players": 1, "variants": VARIANTS}, every=True, **{**QUICK, "games": 4})
    told: list[Any] = []
    folder = tune.main(GAME, COMPONENTS, task, output=tmp_path / "tune", on_result=told.append)
    data = json.loads((folder / "tune.json").read_text(encoding="utf-8"))
    assert told == [data] and data["target"] == "margin" and len(data["before"]) == len(data["after"]) == 16
    assert (folder / "tune.png").read_bytes().startswith(b"\x89PNG")
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "## What changed" in report and report.count("\n| solo") == 16
    overlay = COMPONENTS.own_numbers(folder / "overlay.toml") if data["overlay"] else None
    assert overlay == (data["overlay"] or None)
    for row in data["changes"]:
        key = row["key"].strip("`")
        assert json.loads(row["now"]) == data["overlay"][key]
    before = play_match(["random"], Config(), np.arange(1_000_000, 1_000_020))
    assert data["before"][Config().name]["value"] == pytest.approx(before.margins.mean(), abs=1e-4)


def test_evergreen_is_tuned_for_equal_seats(tmp_path: Path) -> None:
    game = game_of("evergreen_env.game")
    ideas = tmp_path / "ideas.toml"
    ideas.write_text("[flags]\nrange.start_points = [[0, 2], [0, 3], [0, 4], [0, 5]]\n", encoding="utf-8")
    config = {"players": 4, "components": str(ideas)}
    task = Task("seats", 0.0, "random", config, keys=("flags.start_points",), trials=5, games=8, verifying=8)
    folder = tune.main(game, EVERGREEN, task, output=tmp_path / "tune")
    assert "largest advantage of a seat" in (folder / "report.md").read_text(encoding="utf-8")


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", "win_rate=0.1", "--agent", "random", "--trials", "3", "--games", "4", "--verifying", "5"]
    cli.app([*words, "--keys", "tiles.cotton.scores", "--output", str(tmp_path / "tune")], standalone_mode=False)
    settings = json.loads((tmp_path / "tune" / "settings.json").read_text(encoding="utf-8"))
    assert settings["keys"] == ["tiles.cotton.scores"] and settings["config"]["players"] == 1
    again = ["tune", "--resume", str(tmp_path / "tune")]
    cli.app([*again, "--agent", "random"], standalone_mode=False)
    with pytest.raises(ConfigError, match=r"target: say what to reach, such as win_rate=0\.5"):
        cli.app(["tune"], standalone_mode=False)
    with pytest.raises(ConfigError, match="no possible win rate, which is from 0 to 1"):
        cli.app(["tune", "win_rate=50"], standalone_mode=False)
    for bad in ("win_rate", "win_rate=much", "fun=1", "win_rate=7"):
        with pytest.raises(ConfigError, match=r"target|goal"):
            cli.app(["tune", bad, "--output", str(tmp_path / "x")], standalone_mode=False)
    with pytest.raises(ConfigError, match="games, every, rounds, target, players: not with --resume"):
        cli.app(
            [*again, "margin=0", "--games", "8", "--every", "--players", "1", "--rounds", "3"], standalone_mode=False
        )
    assert not (tmp_path / "x").exists()


def test_what_was_found_is_said_in_a_sentence() -> None:
    made = MadeUp(goal=0.35)
    won = made.figure(made.play([{}], 100, 0)[0][0])
    told = verdict(made, Found({}, (won,), (won,), False, "trials"))
    assert told.startswith("Not reached (all candidates were tried). The nearest has no change")
    told = verdict(made, Found({}, (won, won), (won, won), False, "trials"))
    assert "is 0.15 from the goal of 0.35 in the mean over 2 ways to play, and was 0.15 from it" in told


def test_settings_of_another_search_are_refused(tmp_path: Path) -> None:
    good = {"command": "tune", "game": "petrichor", **asdict(tuning().task)}
    for change, says in (
        ({"goal": "high"}, "settings.json: goal='high': must be a number"),
        ({"config": {"seats": 1}}, "not the settings of"),
        ({"trials": -1}, "must be an int of at least 1"),
        ({"keys": ["nothing"]}, "'nothing' is not a key"),
    ):
        (tmp_path / "settings.json").write_text(json.dumps({**good, **change}), encoding="utf-8")
        with pytest.raises(TabletopError, match=says):
            tune.resume(tmp_path, GAME, COMPONENTS)
