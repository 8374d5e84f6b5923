"""Replays: a file gives the same game again, or it is refused at the step where it differs."""

from __future__ import annotations

import dataclasses
import json
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from petrichor_env import Batch, Config
from petrichor_env.actions import NUM_ACTIONS
from petrichor_env.config import MODULES
from petrichor_env.game import GAME
from petrichor_env.state import NOBODY, STATE
from tabletop_agents.random_agent import RandomAgent
from tabletop_agents.search.ismcts import IsmctsAgent
from tabletop_engine.errors import ConfigError, IllegalAction, ReplayError, StateError, TabletopError
from tabletop_engine.play.agents import Agent, Decisions
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.play.learner_games import learner_games
from tabletop_engine.replays import recorder as recorder_module
from tabletop_engine.replays.files import write
from tabletop_engine.replays.pictures import svg_of
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import Replay, frames, replays_of
from tabletop_training.files.tables import ReplayFiles, slug
from tabletop_training.files.trees import save_tree
from tabletop_training.measure import matches, tournament
from tabletop_training.measure.evaluation import play_games, play_lineups
from tabletop_training.petrichor import difficulty

EVERYTHING = Config(players=4, drafting=True, modules=MODULES)


def played(config: Config, seed: int, steps: int | None = None) -> tuple[list[int], np.ndarray]:
    """The actions of a random game, or of its first steps, and all its states, (n + 1,) STATE."""
    batch = Batch(config, 1, seed, autoreset="disabled")
    actions: list[int] = []
    states = [batch.states[0].copy()]
    while batch.actors[0] != NOBODY and len(actions) != steps:
        action = batch.random_actions()
        batch.step(action)
        actions.append(int(action[0]))
        states.append(batch.states[0].copy())
    return actions, np.array(states)


@lru_cache
def a_replay() -> Replay:
    """A replay of a solo game with probabilities at every second decision."""
    actions, _ = played(Config(), 3)
    shares = [
        {} if step % 2 else {action: 0.75, (action + 1) % NUM_ACTIONS: 0.25} for step, action in enumerate(actions)
    ]
    return Replay.of(Config(), 3, actions, names=("somebody",), probabilities=shares)


def content_of(replay: Replay, folder: Path) -> dict[str, Any]:
    replay.save(folder / "content.json")
    return json.loads((folder / "content.json").read_text(encoding="utf-8"))


def load(content: Any, folder: Path) -> Replay:
    file = folder / "changed.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Replay.load(file, GAME)


# --- The same game again ---------------------------------------------------------------------------------------------


def os_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_frames_tell_what_was_done() -> None:
    replay = a_replay()
    first, second, *_, last = frames(replay)
    assert (first.last_action, first.probabilities) == ("", replay.probabilities[0])
    assert second.last_action.startswith(("play", "pass"))
    assert (last.actor, last.action, last.probabilities) == (NOBODY, None, {})
    assert (replay.label(0), replay.label(1)) == ("player_0 (somebody)", "neutral")
    assert replay.owner_labels == ("somebody", "neutral")


def test_many_at_once_are_those_of_one_by_one() -> None:
    seeds = [5, 6, 7]
    games = [played(EVERYTHING, seed, steps)[0] for seed, steps in zip(seeds, (None, 0, 30), strict=True)]
    together = replays_of(EVERYTHING, seeds, games)
    assert together == [Replay.of(EVERYTHING, seed, game) for seed, game in zip(seeds, games, strict=True)]
    assert [one.winners is None for one in together] == [False, True, True]
    solo = [played(Config(), seed) for seed in range(12)]
    replays = replays_of(Config(), range(12), [actions for actions, _ in solo])
    won = Batch(Config()).winners(np.array([states[-1] for _, states in solo]))[:, 0]
    assert [replay.winners == (0,) for replay in replays] == won.tolist()
    assert {replay.winners for replay in replays} <= {(0,), (1,)}


def test_numbers_of_ones_own_travel_with_the_game(tmp_path: Path) -> None:
    as_data = {
        "tiles.wheat.scores": [9, 5, 2, 1],
        "pieces.wheat_bonus": 3,
        "harvest_die.sides": ["harvest", 1, 2, 3, 4, 4],
    }
    overlay = tmp_path / "mine.toml"
    overlay.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in as_data.items()))
    config = Config(players=2, components=str(overlay))
    actions, states = played(config, 4)
    for start, taken, count in ((4, actions, 0), (states[20], actions[20:], 20)):
        replay = Replay.of(config, start, taken)
        numbers = dict(replay.config.components)
        assert as_data.keys() >= numbers.keys() and numbers["pieces.wheat_bonus"] == 3
        replay.save(tmp_path / f"{count}.json")
    overlay.unlink()
    of_data = Replay.of(dataclasses.replace(config, components=as_data), 4, actions)
    assert of_data == Replay.load(tmp_path / "0.json", GAME)
    for count in (0, 20):
        replay = Replay.load(tmp_path / f"{count}.json", GAME)
        assert replay.tables["wheat_bonus"] == 3
        assert list(frames(replay))[-1].state.tobytes() == states[-1].tobytes()


def test_an_illegal_action_that_lost_the_game(tmp_path: Path) -> None:
    batch = Batch(Config(players=3), 1, 5, autoreset="disabled", illegal_action="lose")
    recorder = Recorder(batch)
    batch.reset(5)
    for _ in range(10):
        batch.step(batch.random_actions())
    batch.step([int(np.flatnonzero(batch.action_masks[0] == 0)[0])])
    (replay,) = recorder.finished
    assert replay.actions[-1] == -1
    replay.save(tmp_path / "game.json")
    *_, last = frames(Replay.load(tmp_path / "game.json", GAME))
    assert last.state.tobytes() == batch.states[0].tobytes()
    assert "illegal" in last.last_action


# --- Refused ---------------------------------------------------------------------------------------------------------


def other_action(replay: Replay, step: int) -> int:
    """Another legal action at a step."""
    frame = list(frames(replay))[step]
    return next(int(action) for action in legal_actions(frame.state) if action != replay.actions[step])


def test_a_changed_game_is_refused_where_it_differs(tmp_path: Path) -> None:
    replay = a_replay()
    number = len(replay.actions)
    content = content_of(replay, tmp_path)
    assert load(content, tmp_path) == replay
    actions, checksums = content["actions"], content["checksums"]
    illegal = next(a for a in range(NUM_ACTIONS) if a not in legal_actions(list(frames(replay))[8].state))
    changes: list[tuple[int, dict[str, Any]]] = [
        (0, {"seed": 4}),
        (0, {"names": ["else"]}),
        (0, {"package_version": "0.0.1"}),
        (0, {"state_version": 1}),
        (0, {"config": {**content["config"], "variants": ["double_card"]}}),
        (0, {"config": {**content["config"], "components": {"pieces.wheat_bonus": 1}}}),
        (0, {"checksums": "0" * len(checksums)}),
        (6, {"actions": [*actions[:5], other_action(replay, 5), *actions[6:]]}),
        (9, {"actions": [*actions[:8], illegal, *actions[9:]]}),
        (9, {"actions": [*actions[:8], -1, *actions[9:]]}),
        (30, {"checksums": checksums[:120] + "zzzz" + checksums[124:]}),
        (3, {"probabilities": [*content["probabilities"][:2], [3, 0.5], *content["probabilities"][3:]]}),
        (4, {"probabilities": [*content["probabilities"][:3], [3, 0.5], *content["probabilities"][4:]]}),
        (number, {"points": [1, 2]}),
        (number, {"winners": [0, 1]}),
        (number, {"winners": None}),
        (
            number - 1,
            {"actions": actions[:-1], "checksums": checksums[:-4], "probabilities": content["probabilities"][:-1]},
        ),
        (
            number + 1,
            {
                "actions": [*actions, 0],
                "checksums": checksums + "0000",
                "probabilities": [*content["probabilities"], []],
            },
        ),
        (1, {"actions": [NUM_ACTIONS, *actions[1:]]}),
        (2, {"actions": [actions[0], 10**30, *actions[2:]]}),
        (2, {"actions": [actions[0], "pass", *actions[2:]]}),
    ]
    for step, change in changes:
        with pytest.raises(ReplayError) as error:
            load({**content, **change}, tmp_path)
        assert error.value.step == step, (change.keys(), str(error.value))
        assert str(tmp_path / "changed.json") in str(error.value)
        assert f"step {step}" in str(error.value)


def test_other_rules_are_refused_where_they_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replay = a_replay()
    content = content_of(replay, tmp_path)
    play_actions = GAME.kernels.play_actions
    steps: list[int] = []

    def with_a_gift(states: np.ndarray, *arguments: Any) -> None:
        steps.append(1)
        play_actions(states, *arguments)
        states["points"][0, 0] += len(steps) == 20

    monkeypatch.setattr(GAME.kernels, "play_actions", with_a_gift)
    with pytest.raises(ReplayError, match="step 20 of") as error:
        load(content, tmp_path)
    assert error.value.step == 20
    steps.clear()
    with pytest.raises(ReplayError, match="step 20 of"):
        next(frames(dataclasses.replace(replay)))  # no frame of it is shown
    assert len(steps) == 20


def test_a_loaded_game_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its frames nor its pictures need that. Changing one frame's state changes no other's."""
    a_replay().save(tmp_path / "game.json")
    replay = Replay.load(tmp_path / "game.json", GAME)
    monkeypatch.setattr(GAME.kernels, "play_actions", None)
    monkeypatch.setattr(GAME.kernels, "reset_games", None)
    shown = list(frames(replay))
    before = shown[3].state.tobytes()
    shown[3].state["points"] = 99
    assert list(frames(replay))[3].state.tobytes() == before
    assert len({svg_of(replay, frame) for frame in frames(replay)}) > 1


def test_another_version_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = content_of(a_replay(), tmp_path)
    monkeypatch.setitem(vars(GAME), "version", "9.9.9")
    assert load(content, tmp_path).package_version == content["package_version"]  # it still plays the same
    content["seed"] = 8
    with pytest.raises(ReplayError, match=rf"recorded by petrichor {content['package_version']} .* this is 9\.9\.9"):
        load(content, tmp_path)


SOLO: dict[str, Any] = {key: [] for key in ("variants", "modules", "powers", "readings")}
SOLO |= {"players": 1, "rounds": 4, "drafting": False, "components": None}
WRONG: list[tuple[str, list[Any], str]] = [
    ("replay", [1, 2, True, "2"], "replay: "),
    ("game", ["another", None, ["petrichor"]], "game: "),
    ("package_version", [1, "\x1b[31m"], "package_version: "),
    ("state_version", ["3", True], "state_version: "),
    ("config", [None, {}, {**SOLO, "players": 9}, {**SOLO, "drafting": 1}], "config: "),
    ("config", [{**SOLO, "components": "own.toml"}], "config: components: must be numbers, not the path of a file"),
    ("config", [{**SOLO, "variants": [[]]}, {**SOLO, "variants": 3}], "config: "),
    ("seed", [-1, 1.0, None, "3"], "seed"),
    ("names", [[], ["a", "b"], [""], [3], ["\x1b[2J"], ["x" * 5001], "somebody"], "names: "),
    ("actions", [None, {}], "actions: "),
    ("actions", [[True], [1.0], [[]]], "step 1: action "),
    ("points", [[1.5, 2], 4], "points: "),
    ("winners", [0, [True]], "winners: "),
    ("probabilities", [[[]], 0], "probabilities: "),
    ("checksums", [3, "0", ["0000"]], "checksums: "),
    ("scenario", [{}], "seed, scenario"),
    ("unknown", [1], "'unknown': unknown key"),
]
"""Values that a key can't have, and the beginning of what is said of them."""
COMPONENTS: list[Any] = [
    *(3, ["pieces.drops"], [["pieces.drops", 9], ["pieces.drops", 9]], {"no.such.key": 1}),
    *({"pieces.drops": wrong} for wrong in (10**300, "many\n[x]", {"x": 1}, [[1]])),
    {"tiles.wheat.scores": ["\ud800", 1, 2, 3]},
]


def test_malformed_values(tmp_path: Path) -> None:
    content = content_of(a_replay(), tmp_path)
    assert content["config"] == SOLO
    wrong: list[tuple[dict[str, Any], str]] = [({key: value}, says) for key, values, says in WRONG for value in values]
    wrong += [({"config": {**SOLO, "components": value}}, "config: components") for value in COMPONENTS]
    for change, says in wrong:
        with pytest.raises(ReplayError) as error:
            load({**content, **change}, tmp_path)
        told = str(error.value).removeprefix(f"{tmp_path / 'changed.json'}: ")
        assert told.startswith(says), (change, told)
        told.encode()
    for key in content.keys() - {"probabilities"}:
        with pytest.raises(ReplayError, match=key):
            load({name: value for name, value in content.items() if name != key}, tmp_path)
    for change, message in (
        ({"game": "chess"}, "game: a replay of 'chess', not of 'petrichor'"),
        ({"replay": 1}, "replay: 1; this version reads format 3"),
    ):
        with pytest.raises(ReplayError, match=rf"changed\.json: {message}"):
            load({**content, **change}, tmp_path)


def test_malformed_scenarios(tmp_path: Path) -> None:
    actions, states = played(Config(), 3, 20)
    content = content_of(Replay.of(Config(), states[10], actions[10:]), tmp_path)
    own = content["scenario"]
    wrong: list[Any] = [None, [], 3, {}, {"players": 2}, {**own, "round": 99}, {**own, "x": 1}]
    for scenario in wrong:
        with pytest.raises(ReplayError, match="scenario"):
            load({**content, "scenario": scenario}, tmp_path)
    with pytest.raises(ReplayError, match=r"scenario: .*the configuration is") as error:
        load({**content, "scenario": {**own, "variants": ["double_card"]}}, tmp_path)
    assert error.value.step is None


def test_numbers_and_nesting_beyond_all_bounds(tmp_path: Path) -> None:
    content = content_of(a_replay(), tmp_path)
    config = json.dumps({**SOLO, "components": {"pieces.drops": "BIG"}}).replace('"BIG"', "1e400")
    big = [
        ("config", config, "components: pieces.drops: inf"),
        ("seed", "1e400", "seed"),
        ("probabilities", "[[1,1e400]]", "probabilities"),
    ]
    deep = [
        (key, nested, r"changed\.json: ")
        for key in content
        for nested in ("[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900)
    ]
    for key, value, word in big + deep:
        with pytest.raises(ReplayError, match=word):
            load(json.dumps({**content, key: "BIG"}).replace('"BIG"', value), tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "null", "NaN", "[" * 100_000, '{"replay": 2', "9" * 5000, '{"replay": NaN}', "\0"],
    ids=range(11),
)
def test_what_is_no_replay(text: str, tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="is not a replay"):
        load(text, tmp_path)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "big").write_bytes(b" " * 11_000_000)
    for name in ("", "none.json", "bytes", "big", "\0", "x" * 5000):
        with pytest.raises(ReplayError):
            Replay.load(tmp_path / name, GAME)
    before = sorted(tmp_path.iterdir())
    for name in ("", "none/game.json", "\0"):
        with pytest.raises(ReplayError, match="can't be written"):
            a_replay().save(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        save_tree(tmp_path, {})
    assert sorted(tmp_path.iterdir()) == before
    for content in ("bäume", "bäume".encode()):
        write(tmp_path / "text", content)
        assert (tmp_path / "text").read_bytes().decode() == "bäume"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_change_of_a_file(tmp_path: Path, data: st.DataObject) -> None:
    """With some values replaced by any others, or characters replaced, cut out or inserted: it is refused, or it is the
    same replay, as if only a blank or a probability's fourth digit differs.
    """
    content: Any = content_of(a_replay(), tmp_path)
    if data.draw(st.booleans()):
        for key in data.draw(st.lists(st.sampled_from(sorted(content)), min_size=1, max_size=2, unique=True)):
            content[key] = data.draw(JSON)
    else:
        text = (tmp_path / "content.json").read_text(encoding="utf-8")
        place = data.draw(st.integers(0, len(text) - 1))
        content = text[:place] + data.draw(st.text(max_size=2)) + text[place + data.draw(st.integers(0, 3)) :]
    try:
        replay = load(content, tmp_path)
    except ReplayError:
        return
    assert replay == a_replay()


def test_slips_of_who_records() -> None:
    actions, states = played(Config(), 3, 10)
    with pytest.raises(ReplayError, match="step 11 of 11: action 142") as error:
        Replay.of(Config(), 3, [*actions, 142])
    assert error.value.step == 11
    for wrong in ([-2], [NUM_ACTIONS]):
        with pytest.raises(ReplayError, match="step 1"):
            Replay.of(Config(), 3, wrong)
    others: Any
    for others in (["pass"], [1.5], [None]):
        with pytest.raises(ConfigError, match=r"actions=.*: must be a list of int"):
            Replay.of(Config(), 3, others)
    for start in (-1, None, "3", states, states[:1][["rng"]], True, states[0].tobytes()):
        with pytest.raises(ConfigError, match=r"start|seed"):
            Replay.of(Config(), start, [])
    with pytest.raises(ConfigError, match="a state of solo"):
        Replay.of(Config(players=2), states[3], actions[3:])
    broken = states[3].copy()
    broken["supply"][0] = 100
    with pytest.raises(StateError):
        Replay.of(Config(), broken, actions[3:])
    with pytest.raises(ConfigError, match="names"):
        Replay.of(Config(), 3, actions, names=("a", "b"))
    unsound: list[Any] = [[{}], [{0: 1.5}] * 10, [{143: 0.5}] * 10, [{0: float("nan")}] * 10, [3] * 10]
    for shares in unsound:
        with pytest.raises(ConfigError, match="probabilities"):
            Replay.of(Config(), 3, actions, probabilities=shares)
    with pytest.raises(ConfigError, match="starts for 1"):
        replays_of(Config(), [1], [[], []])
    with pytest.raises(ConfigError, match="config='solo': must be a game's configuration"):
        Replay.of("solo", 3, [])  # type: ignore[arg-type]


# --- Recording -------------------------------------------------------------------------------------------------------


def check_finished(replays: list[Replay], finals: list[bytes]) -> None:
    """Check that each replay gives its final state again, also from its file."""
    assert len(replays) == len(finals)
    for replay, final in zip(replays, finals, strict=True):
        *_, last = frames(replay)
        assert last.state.tobytes() == final
        assert last.actor == NOBODY


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_batches_are_recorded(autoreset: str, tmp_path: Path) -> None:
    configs = [
        Config(players=2),
        Config(players=2, modules=("lake", "powers"), drafting=True),
        Config(players=2, rounds=6),
    ]
    batch = Batch(configs[0], 3, 1, autoreset=autoreset)
    finals: list[bytes] = []
    with Recorder(batch, names=("left", "right")) as recorder:
        batch.reset([7, 8, 9], config=configs)
        for _ in range(600):
            if autoreset == "disabled" and (over := batch.actors == NOBODY).any():
                batch.reset(mask=over)
            batch.step(batch.random_actions())
            finals += [batch.final_states[game].tobytes() for game in np.flatnonzero(batch.terminations)]
        running = recorder.running(1)
    assert len(finals) > 6
    check_finished(recorder.finished, finals)
    assert sorted(replay.seed for replay in recorder.finished if replay.seed is not None) == [7, 8, 9]
    assert {replay.config for replay in recorder.finished} == set(configs)
    assert {replay.names for replay in recorder.finished} == {("left", "right")}
    assert list(frames(running))[-1].state.tobytes() == batch.states[1].tobytes()
    for number, replay in enumerate(recorder.finished):
        replay.save(tmp_path / f"{number}.json")
        assert Replay.load(tmp_path / f"{number}.json", GAME) == replay
    batch.step(batch.random_actions())  # no longer recorded
    assert list(frames(recorder.running(1)))[-1].state.tobytes() == list(frames(running))[-1].state.tobytes()


def test_finished_games_are_played_again_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are played together. One by one they would take many times as long as recording them."""
    made: list[int] = []

    def counted(config: Config, starts: list[Any], *others: Any, **named: Any) -> list[Replay]:
        made.append(len(starts))
        return replays_of(config, starts, *others, **named)

    monkeypatch.setattr(recorder_module, "replays_of", counted)
    batch = Batch(Config(players=2), 12, 1)
    ended = 0
    with Recorder(batch, names=lambda game: (f"first {ended}", "second")) as recorder:
        while ended < 12:
            batch.step(batch.random_actions())
            ended += int(batch.terminations.sum())
    assert made == []
    finished = recorder.finished
    assert len(finished) == ended == sum(made) and len(made) == 1
    assert recorder.finished is finished and len(made) == 1
    assert finished[0].names[0] == "first 0" != finished[-1].names[0]  # names are asked for when a game ends
    finished.clear()
    assert recorder.finished == []


def test_states_set_by_hand_begin_another_game() -> None:
    batch = Batch(Config(), 2, 1, autoreset="disabled")
    _, states = played(Config(), 30)
    begun = batch.states[0].tobytes()
    recorder = Recorder(batch)
    for _ in range(5):
        batch.step(batch.random_actions())
    batch.states[1] = states[20]
    batch.refresh()
    while (playing := batch.actors != NOBODY).any():
        batch.step(batch.random_actions(), which=playing)
    ends = {}
    for replay in recorder.finished:
        first, *_, last = frames(replay)
        ends[first.state.tobytes()] = last.state.tobytes()
    assert ends == {begun: batch.states[0].tobytes(), states[20].tobytes(): batch.states[1].tobytes()}


@pytest.mark.parametrize("first", [0, 1])
def test_several_recorders_of_one_batch(first: int) -> None:
    """Any of them may be closed first, and more than once. A copy of the batch has none."""
    batch = Batch(Config(), 1, 1, autoreset="disabled")
    recorders = [Recorder(batch)]
    batch.reset(1)
    twin = batch.copy()
    recorders.append(Recorder(batch))
    batch.step(batch.random_actions())
    for _ in range(3):
        twin.step(twin.random_actions())
    for _ in range(2):
        recorders[first].close()
    batch.step(batch.random_actions())
    recorders[1 - first].close()
    batch.step(batch.random_actions())
    assert [len(recorder.running().actions) for recorder in recorders] == ([1, 2] if first == 0 else [2, 1])
    assert batch.listeners == []


def test_many_games_of_a_versus_batch() -> None:
    versus = learner_games(Config(players=2), 4, ("random",), seed=1)
    recorder = Recorder(versus, names=lambda game: (f"first of {game}", f"second of {game}"))
    finals = []
    for _ in range(120):
        versus.step(versus.batch.random_actions())
        finals += [versus.final_states[game].tobytes() for game in np.flatnonzero(versus.terminations)]
    assert finals
    assert {replay.names for replay in recorder.finished} <= {(f"first of {i}", f"second of {i}") for i in range(4)}
    assert set(finals) <= {list(frames(replay))[-1].state.tobytes() for replay in recorder.finished}


def test_what_cannot_be_recorded() -> None:
    with pytest.raises(ConfigError, match="random"):
        Recorder(Batch(Config(), illegal_action="random"))
    for wrong in (3, None, gymnasium.Env(), np.zeros(1, STATE)):
        with pytest.raises(ConfigError, match="a Batch"):
            Recorder(wrong)
    with pytest.raises(ConfigError, match="names"):
        Recorder(Batch(Config(players=2)), names=("one",))
    batch = Batch(Config(players=2), seed=1)
    recorder = Recorder(batch)
    with pytest.raises(IllegalAction):
        batch.step([142])
    assert recorder.running().actions == ()


# --- Evaluations -----------------------------------------------------------------------------------------------------


class Even:
    """Takes the first legal action, and gives all the same probability."""

    name = "even"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        generator.random()
        return np.asarray(decisions.action_masks.argmax(axis=1), np.int64)

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        generator.random(100)
        masks = decisions.action_masks.astype(np.float64)
        return np.asarray(masks / masks.sum(axis=1, keepdims=True))


def test_probabilities_are_recorded_and_change_nothing() -> None:
    agents: list[Agent] = [Even(), RandomAgent()]
    lineups = np.array([[0, 1], [1, 0], [0, 1]])
    plain, recorded = (
        play_lineups(agents, Config(players=2), [4, 4, 5], lineups, record_actions=True, record_probabilities=wanted)
        for wanted in (False, True)
    )
    assert plain.probabilities is None
    assert recorded.actions is not None and plain.actions is not None
    assert all(np.array_equal(one, two) for one, two in zip(plain.actions, recorded.actions, strict=True))
    assert recorded.probabilities is not None
    for game, lines in enumerate(recorded.probabilities):
        replay = Replay.of(Config(players=2), int(recorded.seeds[game]), recorded.actions[game].tolist())
        for frame in frames(replay):
            own = lines[lines[:, 0] == frame.step]
            asked = frame.actor != NOBODY and lineups[game, frame.actor] == 0
            legal = legal_actions(frame.state).tolist() if asked else []
            assert own[:, 1].tolist() == legal
            assert set(own[:, 2].tolist()) == ({round(1000 / len(legal))} if asked else set())


def test_a_searchs_probabilities_are_those_it_acted_by() -> None:
    results = play_games([IsmctsAgent(30)], Config(), 2, 1, record_actions=True, record_probabilities=True)
    assert results.actions is not None and results.probabilities is not None
    for actions, lines in zip(results.actions, results.probabilities, strict=True):
        for decision, action in enumerate(actions.tolist()):
            own = lines[lines[:, 0] == decision]
            assert own[own[:, 1] == action, 2] == own[:, 2].max()


def test_agents_whose_probabilities_are_none() -> None:
    class Odd(Even):
        def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            return np.full(decisions.action_masks.shape, np.nan)

    with pytest.raises(IllegalAction, match="agent 'even': probabilities"):
        play_games([Odd()], Config(), 2, 1, record_probabilities=True)


def replays_in(folder: Path) -> dict[str, Replay]:
    return {name: Replay.load(folder / name, GAME) for name in os_files(folder)}


def test_replay_files(tmp_path: Path) -> None:
    agents: list[Agent] = [Even(), RandomAgent()]
    lineups = np.tile([[0, 1], [1, 0]], (5, 1))
    seeds = np.repeat(np.arange(5), 2)
    results = play_lineups(agents, Config(players=2), seeds, lineups, record_actions=True, record_probabilities=True)
    files = ReplayFiles(tmp_path / "all", probabilities=True)
    assert not (tmp_path / "all").exists()
    with pytest.raises(ConfigError, match="must be another folder"):
        files.open(tmp_path / "x" / ".." / "all")
    files.open(tmp_path / "x")
    assert list((tmp_path / "all").iterdir()) == []
    files.add(results, ("even", "policy:some where/best.zip\x07" + "x" * 300))
    kept = replays_in(tmp_path / "all")
    assert len(kept) == 10
    assert [name[:11] for name in kept] == [f"{game:06}-{'even' if game % 2 == 0 else 'xxxx'}" for game in range(10)]
    for game, replay in enumerate(kept.values()):
        assert (replay.seed, replay.points) == (seeds[game], tuple(results.points[game].tolist()))
        assert replay.winners == tuple(np.flatnonzero(results.won[game]).tolist())
        assert any(replay.probabilities)
        assert ("even" in replay.names[0]) == (game % 2 == 0)

    few = ReplayFiles(tmp_path / "few", 3)
    assert few.recording == {"record_actions": True, "record_probabilities": False}
    for _ in range(2):
        few.add(results, ("a", "b"))
        few.add(results, ("a", "b"), Path("within"))
    assert [name for name in os_files(tmp_path / "few") if "within" not in name] == [
        "000000-a-b.json", "000001-b-a.json", "000002-a-b.json"
    ]  # fmt: skip
    assert len(os_files(tmp_path / "few" / "within")) == 3
    ReplayFiles(tmp_path / "few", 1).add(results, ("a", "b"))
    assert os_files(tmp_path / "few-2") == ["000000-a-b.json"]

    nothing = ReplayFiles(None)
    nothing.add(dataclasses.replace(results, actions=None), ("a", "b"))
    assert nothing.recording == {"record_actions": False, "record_probabilities": False}
    with pytest.raises(ConfigError, match="record_actions"):
        ReplayFiles(tmp_path / "x").add(dataclasses.replace(results, actions=None), ("a", "b"))
    for arguments in ((None, 3), (None, None, True), (tmp_path, 0)):
        with pytest.raises(ConfigError, match="replay"):
            ReplayFiles(*arguments)
    (tmp_path / "file").write_text("")
    with pytest.raises(TabletopError, match="the folder cannot be created"):
        ReplayFiles(tmp_path / "file" / "x").add(results, ("a", "b"))
    assert slug("policy:runs/../best.zip") == "policy_runs_.._best.zip"


def test_evaluations_keep_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    duel, solo = Config(players=2), Config()
    replays = ReplayFiles(tmp_path / "r")
    matches.main(("random", "greedy"), duel, games=10, seed=3, replays=replays, output=tmp_path / "out")
    kept = replays_in(tmp_path / "r")
    assert len(kept) == 10
    assert next(iter(kept)) == "000000-random-greedy.json"
    games = (tmp_path / "out" / "games.csv").read_text().splitlines()[1:]
    for name, replay in kept.items():
        for seat in range(2):
            number, seed, place, agent, points = next(
                row
                for row in (line.split(",")[:5] for line in games)
                if (int(row[0]), row[2]) == (int(name[:6]), str(seat))
            )
            assert (int(seed), agent, int(points)) == (replay.seed, replay.names[int(place)], replay.points[seat])
            assert int(number) == int(name[:6])
    assert "10 replays" in " ".join(capsys.readouterr().out.split())

    replays = ReplayFiles(tmp_path / "s")
    matches.main(("random", "greedy"), solo, games=3, replays=replays, output=tmp_path / "out")
    names = os_files(tmp_path / "s")
    assert names == [f"{i:06}-{agent}.json" for i, agent in enumerate(["random"] * 3 + ["greedy"] * 3)]
    matches.main(("random",), solo, games=3, output=tmp_path / "plain")
    assert sorted(path.name for path in tmp_path.iterdir() if "replay" in path.name) == []


def test_where_no_replays_can_be_kept_no_game_is_played(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    duel = Config(players=2)
    for name, main in (
        ("match", partial(matches.main, config=duel)),
        ("tournament", partial(tournament.main, config=duel)),
        ("difficulty", difficulty.main),
    ):
        output, replays = tmp_path / name, ReplayFiles(tmp_path / "file" / "x")
        with pytest.raises(TabletopError, match="the folder cannot be created"):
            main(["random", "greedy"], games=10**6, replays=replays, output=output)
        assert list(output.iterdir()) == []


def test_folders_are_told_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, output = tmp_path / "[red]x[b]", tmp_path / "[red]y[b]"
    matches.main(("random", "greedy"), Config(players=2), games=2, replays=ReplayFiles(folder), output=output)
    said = capsys.readouterr().out.replace("\n", "")
    assert f"In {folder}: 2 replays" in said and str(output) in said


@pytest.mark.slow
def test_tournaments_and_difficulty_studies_keep_replays(tmp_path: Path) -> None:
    replays = ReplayFiles(tmp_path / "t", 3)
    tournament.main(("random", "greedy"), Config(players=2), games=4, replays=replays, output=tmp_path / "out")
    assert os_files(tmp_path / "t") == [
        "000000-random-greedy.json", "000001-greedy-random.json", "000002-random-greedy.json"
    ]  # fmt: skip
    difficulty.main(["random"], games=2, replays=ReplayFiles(tmp_path / "d"), output=tmp_path / "study")
    kept = replays_in(tmp_path / "d")
    assert len(kept) == 32
    assert {replay.config.name for replay in kept.values()} == {name.split("/")[1] for name in kept}
    assert len({replay.config for replay in kept.values()}) == 16


def test_probabilities_reach_the_files(tmp_path: Path) -> None:
    replays = ReplayFiles(tmp_path / "r", probabilities=True)
    matches.main(("ismcts-10",), Config(), games=2, replays=replays, output=tmp_path / "out")
    for replay in replays_in(tmp_path / "r").values():
        assert all(sum(one.values()) == pytest.approx(1, abs=0.02) for one in replay.probabilities)
