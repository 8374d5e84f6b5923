"""`train`: runs by settings, their folders, messages and results, and how they go on."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import evergreen_env
import petrichor_env
from petrichor_env.component_files import load_tables
from petrichor_env.config import Config
from tabletop_agents import Agent, RandomAgent, make_agent
from tabletop_agents.checkpoint import configs_of, read_checkpoint, read_notes, save_network, variety
from tabletop_agents.policy import PolicyAgent
from tabletop_cli.evergreen import main as evergreen
from tabletop_cli.petrichor import main as petrichor
from tabletop_engine.errors import CheckpointError, ComponentsError, ConfigError
from tabletop_training.files.job import Interruptions
from tabletop_training.files.settings import Settings
from tabletop_training.files.tables import read_log
from tabletop_training.learn.curriculum import by_players
from tabletop_training.learn.learner import BEST, POLICY, RESUME, Learner
from tabletop_training.learn.logs import CURVE, EVALUATIONS, LEAGUE_LOG
from tabletop_training.learn.opponents import ANCHOR, LEARNER_NAME, OpponentSettings
from tabletop_training.learn.plan import RUN, Plan, read_plan, write_plan
from tabletop_training.learn.ppo import new_network
from tabletop_training.learn.task import Budget, EvaluationSettings
from tabletop_training.learn.train import main
from tabletop_training.measure.evaluation import play_games
from tests.support.effort import games

PETRICHOR, EVERGREEN = petrichor_env.GAME, evergreen_env.GAME
TINY = """
[learning]
num_envs = 16
steps = 32
minibatch = 128
epochs = 1
trunk = [16]
layers = [16]
threads = 1
evaluate_every = 400
"""
SOLO = TINY + "[games]\nplayers = 1\n[evaluation]\ngames = 3\n[budget]\nsteps = 400\n"
LEAGUE = (
    TINY + "[games]\nplayers = 3\nmodules = ['fertilizer']\n[opponents]\nleague = 0.5\nscripted = ['random']\n"
    "snapshots = 3\nsnapshot_steps = 300\n[evaluation]\ngames = 6\n[budget]\nsteps = 1500\n"
)
GENERAL = (
    TINY + "[games]\nvariety = true\n[opponents]\nleague = 0.3\nagents = { greedy = 0.2 }\n"
    "[evaluation]\ngames = 1\nagainst = ['random']\n[budget]\nsteps = 800\n"
)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def solo(tmp_path: Path) -> str:
    return written(tmp_path, SOLO)


def written(folder: Path, text: str) -> str:
    (folder / "tiny.toml").write_text(text, encoding="utf-8")
    return str(folder / "tiny.toml")


def run(*words: Any, command: Any = petrichor) -> int:
    """The exit code of `train` with these words."""
    with pytest.raises(SystemExit) as ended:
        command(["train", *map(str, words)])
    return int(str(ended.value.code or 0))


def steps_of(folder: Path) -> int:
    return int(read_notes(PETRICHOR, folder / POLICY)["training"]["steps"])


# --- Runs ------------------------------------------------------------------------------------------------------------


def test_a_game_for_one(solo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    assert run(solo, "--seed", 7, "--output", folder, "--variants", "double_card, one_more_turn") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert re.search(r"Best policy \(best.zip\): after [45]\d\d steps, won [\d.]+%, margin [+-]", printed)
    left = {POLICY, BEST, RESUME, RUN, CURVE, EVALUATIONS, "tensorboard"}
    assert {path.name for path in folder.iterdir()} == left
    notes = read_notes(PETRICHOR, folder / BEST)["training"]
    assert (notes["players"], notes["config"]["variants"]) == (1, ["double_card", "one_more_turn"])
    assert notes["evaluation"]["steps"] == notes["steps"] >= 400
    told, text = read_plan(folder, PETRICHOR), json.loads((folder / RUN).read_text(encoding="utf-8"))
    assert (text["python"], text["torch"], text["threads"]) == (platform.python_version(), torch.__version__, 1)
    assert (told.kind, told.seed, told.budget) == ("tiny", 7, Budget(steps=400))
    assert told.games.switches["variants"] == ("double_card", "one_more_turn")
    assert run("--resume", folder, "--steps", 900) == 0
    assert steps_of(folder) >= 900
    assert [int(row["steps"]) for row in read_log(folder / EVALUATIONS, 10**9)][-1] == steps_of(folder)
    capsys.readouterr()
    for words in ("--seed 0", "--output elsewhere", "--variants double_card", "--curriculum", "--players 1", solo):
        assert run("--resume", folder, *words.split()) == 2
        name = words.split()[0].removeprefix("--") if words != solo else "settings"
        assert f"petrichor: {name}: not with --resume, which keeps its settings" in capsys.readouterr().err


def test_a_league(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, told = tmp_path / "run", tmp_path / "told.json"
    words = (written(tmp_path, LEAGUE), "--players", 4, "--output", folder, "--json", told)
    assert run(*words) == 0
    left = {POLICY, BEST, RESUME, RUN, CURVE, EVALUATIONS, LEAGUE_LOG, "league", "tensorboard"}
    assert {path.name for path in folder.iterdir()} == left
    printed = " ".join(capsys.readouterr().out.split())
    assert "The league" in printed and "share of seats" in printed
    assert "against greedy, an even share being 25.0%" in printed
    rows = read_log(folder / LEAGUE_LOG, 10**9)
    for point in (steps := dict.fromkeys(row["steps"] for row in rows)):
        now = [row for row in rows if row["steps"] == point]
        assert (now[0]["player"], now[0]["share"]) == (LEARNER_NAME, "")
        assert sum(float(row["share"]) for row in now[1:]) == pytest.approx(1, abs=0.001)
        assert [row["rating"] for row in now if row["player"] == ANCHOR] == ["25.0"]
        assert all(float(row["low"]) <= float(row["rating"]) <= float(row["high"]) for row in now)
    result = json.loads(told.read_text(encoding="utf-8"))
    assert (result["game"], result["kind"]) == ("petrichor", "tiny")
    assert result["steps"] == steps_of(folder) and result["league"][0]["player"] == LEARNER_NAME
    assert result["evaluations"][-1].keys() >= {"steps", "score", "win_rate", "margin", "win_rate_greedy"}
    agents: list[Agent] = [PolicyAgent.load(folder / BEST, PETRICHOR), *[RandomAgent()] * 3]
    assert len(play_games(agents, Config(players=4), 5, 0)) == 5
    assert run("--resume", folder, "--steps", 2500) == 0  # continue with a larger budget
    after = dict.fromkeys(row["steps"] for row in read_log(folder / LEAGUE_LOG, 10**9))
    assert list(after)[: len(steps)] == list(steps) and len(after) > len(steps)


@pytest.mark.slow
def test_one_network_for_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seldom = GENERAL.replace("evaluate_every = 400", f"evaluate_every = {games(4000, 400)}")  # at the end alone
    folder = main(PETRICHOR, written(tmp_path, seldom), output=tmp_path / "run")
    printed = " ".join(capsys.readouterr().out.split())
    assert " with 2 players, " in printed and " with 5 players against random (in the games" in printed
    for name in (POLICY, BEST):
        training = read_notes(PETRICHOR, folder / name)["training"]
        assert training["players"] == [2, 3, 4, 5] and training["general"] and training["games"]["variety"]
    configs = by_players(configs_of(PETRICHOR, training, folder))
    assert configs == {number: list(variety(Config(players=number))) for number in (2, 3, 4, 5)}
    agent = make_agent(f"policy:{folder / POLICY}", PETRICHOR)
    assert isinstance(agent, PolicyAgent) and agent.players == (2, 3, 4, 5)
    agent.check(Config(players=3))
    with pytest.raises(ConfigError, match="trained for 2, 3, 4 or 5 players, and this is the solo game"):
        agent.check(Config())
    assert read_plan(folder, PETRICHOR).opponents.agents == {"greedy": 0.2}


def test_the_other_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Evergreen's game for one is learned for points, because there is nobody to win against."""
    text = SOLO.replace("[games]", "reward = 'points'\n[games]")
    assert run(written(tmp_path, text), "--output", tmp_path / "run", command=evergreen) == 0
    assert " points (in the games that chose it" in " ".join(capsys.readouterr().out.split())
    agent = make_agent(f"policy:{tmp_path / 'run' / BEST}", EVERGREEN)
    assert isinstance(agent, PolicyAgent) and agent.players == (1,)


def test_a_run_against_a_rival(tmp_path: Path) -> None:
    start, folder = tmp_path / "start.zip", tmp_path / "run"
    network = new_network(PETRICHOR, Settings(trunk=(12,), layers=(12,)))
    save_network(PETRICHOR, network, start, {"players": 2, "config": {"players": 2, "modules": ["cactus"]}})
    words = ("--players", 2, "--start", start, "--rival", start, "--steps", 400, "--output", folder)
    assert run(written(tmp_path, GENERAL), *words) == 0
    learned, notes = read_checkpoint(PETRICHOR, folder / POLICY)
    assert [layer.weight.shape for layer in learned.policy if hasattr(layer, "weight")] == [(12, 12), (143, 12)]
    assert not torch.equal(next(learned.parameters()), next(network.parameters()))
    training = notes["training"]
    assert (training["start"], training["rival"], training["players"]) == (str(start), str(start), 2)
    assert configs_of(PETRICHOR, training, folder) == [Config(players=2, modules=("cactus",))]  # the rival's game
    assert read_plan(folder, PETRICHOR).evaluation.against == (f"policy:{start}",)
    assert all(row["games"] == row["all_games"] for row in read_log(folder / CURVE, 10**9))
    digest = hashlib.sha256(start.read_bytes()).hexdigest()
    assert main(PETRICHOR, resume=folder, steps=800) == folder
    assert json.loads((folder / RUN).read_text(encoding="utf-8"))["checkpoints"] == {f"policy:{start}": digest}


@pytest.mark.slow
def test_players_whom_no_settings_are_shipped_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five players, with modules, use the settings of the next smaller number."""
    words = ("--players", 5, "--modules", "powers,forecasts", "--drafting", "--steps", 1, "--output", tmp_path / "five")
    assert run("selfplay", *words) == 0
    assert "Settings: selfplay_4p\n" in capsys.readouterr().err
    games = read_plan(tmp_path / "five", PETRICHOR).games
    assert games.players == (5,) and games.switches == {"drafting": True, "modules": ("powers", "forecasts")}
    agent = make_agent(f"policy:{tmp_path / 'five' / POLICY}", PETRICHOR)
    assert len(play_games([agent, *[RandomAgent()] * 4], Config(players=5, modules=("powers",)), 5, 0)) == 5


def test_runs_are_in_a_folder_of_their_settings(solo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Learner, "run", lambda self: self)
    for words, folder in (
        ((solo,), "runs/tiny"),
        (("solo",), "runs/solo"),
        (("solo", "--curriculum"), "runs/solo-2"),
        (("solo_curriculum",), "runs/solo_curriculum"),
        (("--players", "2"), "runs/selfplay"),
    ):
        assert run(*words) == 0
        assert (tmp_path / folder / RUN).is_file(), words
    curriculum = [read_plan(tmp_path / "runs" / name, PETRICHOR).games for name in ("solo-2", "solo_curriculum")]
    assert curriculum[0] == curriculum[1] and curriculum[0].curriculum


# --- Components of one's own -----------------------------------------------------------------------------------------


def test_numbers_of_ones_own(solo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cotton scores nothing. The run keeps the numbers, whatever becomes of the file."""
    numbers, folder = tmp_path / "numbers.toml", tmp_path / "run"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    monkeypatch.chdir(tmp_path)
    learners = []
    learning = Learner.run

    def noting(learner: Learner) -> Any:
        learners.append(learner)
        return learning(learner)

    monkeypatch.setattr(Learner, "run", noting)
    with pytest.raises(ComponentsError, match="nowhere"):
        main(PETRICHOR, solo, components="nowhere.toml", output=folder)
    assert not folder.exists()
    assert run(solo, "--components", "numbers.toml", "--output", folder) == 0
    for name in (POLICY, BEST):
        learned = read_notes(PETRICHOR, folder / name)["training"]["config"]
        assert learned["components"] == [["tiles.cotton.scores", [0, 0, 0, 0]]]
    monkeypatch.chdir(folder)
    main(PETRICHOR, resume=folder, steps=900)
    for learner in learners:
        assert learner.table.batches[0].tables.tobytes() == load_tables(numbers).tobytes() != load_tables().tobytes()
    with pytest.raises(ConfigError, match="components: not with --resume"):
        main(PETRICHOR, resume=folder, components=numbers)
    numbers.unlink()
    main(PETRICHOR, resume=folder, steps=1200)
    told, steps = json.loads((folder / "run.json").read_text()), steps_of(folder)
    told["games"]["components"] = [["tiles.cotton.scores", [1, 0, 0, 0]]]
    (folder / "run.json").write_text(json.dumps(told))
    with pytest.raises(CheckpointError, match=r"resume\.zip: its games were played with other numbers on the pieces"):
        main(PETRICHOR, resume=folder, steps=1500)
    assert steps_of(folder) == steps >= 900


def test_a_settings_file_may_name_an_overlay(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.toml"
    numbers.write_text("[tiles.cotton]\nscores = [0, 0, 0, 0]\n")
    settings = written(tmp_path, SOLO.replace("[games]", f"[games]\ncomponents = '{numbers}'"))
    folder = main(PETRICHOR, settings, curriculum=True, steps=1, output=tmp_path / "run", evaluate=False)
    levels = read_plan(folder, PETRICHOR).games.levels(PETRICHOR)[1]
    assert {config.components for level in levels for config in level} == {Config(components=numbers).components}
    assert len(levels) == 5


# --- Ctrl-C, and going on --------------------------------------------------------------------------------------------


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("method", "code", "text"),
    [
        (None, 0, "Stopped before an update was saved: nothing was kept but the untrained network. To start: "),
        ("_iterate", 130, "Stopped before an update was saved: nothing was kept but the untrained network. To start: "),
        ("_choose_threads", 130, "Stopped before anything was saved: nothing was kept."),
    ],
    ids=["once", "while learning", "before"],
)
def test_a_run_that_is_stopped_says_what_is_kept(
    method: str | None,
    code: int,
    text: str,
    solo: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """After one Ctrl-C the run ends in order, after a second one at once. The command that it prints does resume it."""
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        if method is None:
            patch.setattr(Interruptions, "wanted", lambda self: True)
        else:
            patch.setattr(Learner, method, _interrupt)
        assert run(solo, "--output", folder) == code
    printed = capsys.readouterr().out
    assert text in printed
    if "To start" not in text:
        assert not (folder / RESUME).exists()
        return
    assert f"petrichor train --resume {folder}\n" in printed
    main(PETRICHOR, resume=folder)
    steps = steps_of(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_iterate", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            main(PETRICHOR, resume=folder, steps=5000)
    printed = capsys.readouterr().out
    assert f"Stopped. What was saved last is kept. To continue: petrichor train --resume {folder}\n" in printed
    assert steps_of(folder) == steps >= 400


def test_a_budget_that_is_used_up_is_refused(solo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused before anything is written. A run that lacks only its last evaluation makes it."""
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_evaluate", lambda self: None)
        main(PETRICHOR, solo, variants=["double_card"], output=folder)
    before = (folder / RUN).read_bytes()
    with pytest.raises(ConfigError, match=r"^steps=100: .*run has used that up already: \d+ steps in .* Give more$"):
        main(PETRICHOR, resume=folder, steps=100)
    assert not (folder / BEST).exists()
    main(PETRICHOR, resume=folder)
    assert (folder / BEST).exists()
    with pytest.raises(ConfigError, match=r"run: already finished after \d+ steps; give more --steps or"):
        main(PETRICHOR, resume=folder)
    assert (folder / RUN).read_bytes() == before


def test_runs_that_cannot_go_on(tmp_path: Path) -> None:
    write_plan(tmp_path, PETRICHOR, Plan(budget=Budget(steps=1), kind="selfplay"))
    with pytest.raises(CheckpointError, match=r"is a run of `petrichor train selfplay`, not of `petrichor train solo`"):
        main(PETRICHOR, "solo", resume=tmp_path)
    with pytest.raises(CheckpointError, match=r"is a run of `petrichor train selfplay`, not of `evergreen train self"):
        main(EVERGREEN, resume=tmp_path)
    for text, error in (("{", "damaged"), ("[]", "damag"), ('{"game": "petrichor"}', "damaged")):
        (tmp_path / RUN).write_text(text)
        with pytest.raises(CheckpointError, match=error):
            main(PETRICHOR, resume=tmp_path)
    with pytest.raises(CheckpointError, match="--resume needs the folder of a run"):
        main(PETRICHOR, resume=tmp_path / "nowhere")


def test_a_resumed_run_imports_nothing_that_its_user_has_not_named(tmp_path: Path) -> None:
    for plan in (
        Plan(evaluation=EvaluationSettings(("evil_module:Agent",))),
        Plan(opponents=OpponentSettings(league=0.5, scripted=("greedy", "evil:A"))),
        Plan(opponents=OpponentSettings(agents={"evil:A": 0.5})),
    ):
        write_plan(tmp_path, PETRICHOR, replace(plan, budget=Budget(steps=1), kind="selfplay"))
        with pytest.raises(ConfigError, match=r"names evil\w*:A.*--trust evil"):
            main(PETRICHOR, resume=tmp_path)
    with pytest.raises(ConfigError, match="No module named 'evil'"):
        main(PETRICHOR, resume=tmp_path, trust=("evil:A",))


# --- Slips -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("nowhere", "nowhere: there is no such settings file"),
        ("--resume nowhere", "run.json: there is no such file"),
        ("solo --variants hard", "unknown 'hard'"),
        ("solo --variants double_card --curriculum", "give one of the two"),
        ("--steps 5 --minutes 5", "one of them"),
        ("--steps 0", "steps=0: must be more than 0"),
        ("--minutes inf", "minutes=inf: must be a finite number"),
        ("--minutes 0", "minutes=0.0: must be more than 0"),
        ("--components nowhere", "nowhere"),
        ("--players 7", "players=7"),
        ("--players two", "numbers of players, separated by commas"),
        ("--players 2,2", "each number once"),
        ("selfplay --players 1", "players=1: self-play is for two players or more"),
        ("--rival solo", "rival='solo': it was not trained for these numbers of players, or for no other seat"),
        ("--players 1 --rival versus", "it was not trained for these numbers"),
        ("--device nowhere", "device='nowhere'"),
        ("--start missing.zip", "missing.zip: there is no such file"),
    ],
)
def test_slips_on_the_command_line(
    words: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words.split()) == 2
    assert text in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("scripted = ['random']", "scripted = ['gredy']", "gredy"),
        ("games = 6", "against = []", "at least one agent"),
        ("modules = ['fertilizer']", "modules = ['rain']", "rain"),
    ],
)
def test_wrong_settings_files(old: str, new: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=text):
        main(PETRICHOR, written(tmp_path, LEAGUE.replace(old, new)), steps=1, output=tmp_path / "run")
    assert not (tmp_path / "run" / RUN).exists()
