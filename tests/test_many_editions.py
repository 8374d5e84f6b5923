"""Batches over editions: each game has the numbers of its own edition, in every kernel, agent, replay and picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from scipy.stats import chisquare

from evergreen_env import Config as Evergreen
from petrichor_env import Config as Petrichor
from petrichor_env import petrichor_v0
from petrichor_env.config import VARIANTS
from tabletop_agents import make_agent
from tabletop_agents.search.lookahead import search_for
from tabletop_agents.search.one_turn import new_walk
from tabletop_engine.editions import MOST_EDITIONS
from tabletop_engine.errors import ComponentsError, ConfigError, ScenarioError, StateError
from tabletop_engine.game import Config, game_of
from tabletop_engine.play.agents import Agent, Decisions, assess
from tabletop_engine.play.batch import Batch
from tabletop_engine.play.learner_games import LearnerGames, learner_games
from tabletop_engine.play.tables import editions_of, tables_of
from tabletop_engine.positions.position import Positions
from tabletop_engine.replays.recorder import Recorder
from tabletop_engine.replays.replay import Replay
from tests.games.connect_four import GAME as CONNECT_FOUR
from tests.support.effort import games as effort
from tests.support.play import in_the_middle

GAMES = 24
EDITIONS = 8
CONFIGS: dict[str, Config] = {
    "petrichor-solo": Petrichor(variants=VARIANTS),
    "petrichor-2p": Petrichor(players=2, modules=("flower_tiles", "forecasts")),
    "petrichor-5p": Petrichor(players=5, rounds=6, drafting=True),
    "evergreen-solo": Evergreen(),
    "evergreen-3p": Evergreen(players=3),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def without_edition(states: np.ndarray) -> np.ndarray:
    """The records as bytes (N, size), with `edition` 0."""
    same = states.copy()
    same["edition"] = 0
    return same.view(np.uint8).reshape(len(same), -1)


def alone(config: Config, batch: Batch, game: int, seed: int) -> Batch:
    """A game of a batch, played by itself with the numbers of its edition."""
    return Batch(batch.config_of(game), 1, seed, autoreset="disabled")


@pytest.mark.one_in(2)
@every_config
def test_each_game_is_that_of_its_own_edition(config: Config) -> None:
    batch = Batch(config, GAMES, 100, editions=EDITIONS, autoreset="disabled", num_threads=2)
    assert len(set(batch.states["edition"].tolist())) > EDITIONS // 2
    singles = [alone(config, batch, game, 100 + game) for game in range(GAMES)]
    seats = np.arange(GAMES) % config.players
    for step in range(effort(80, 2000)):
        for game, one in enumerate(singles):
            assert (without_edition(one.states) == without_edition(batch.states[game : game + 1])).all()
            assert (one.action_masks[0] == batch.action_masks[game]).all()
            assert (one.observations[0] == batch.observations[game]).all()
            assert (one.observe(int(seats[game]))[0] == batch.observe(seats)[game]).all()
            assert one.configs[0] == batch.configs[game] == batch.config_of(game)
            assert (one.tables == batch.tables_of(game)).all()
        going = batch.actors >= 0
        if not going.any():
            break
        actions = batch.random_actions()
        batch.step(actions, which=going)
        for game in np.flatnonzero(going).tolist():
            singles[game].step(actions[game : game + 1])
            assert (singles[game].rewards[0] == batch.rewards[game]).all()
        if step % 20 == 19:
            batch.refresh()
    kernels = batch.game.kernels
    left = np.flatnonzero(batch.actors >= 0)
    hidden, randoms = batch.states[left], np.arange(len(left), dtype=np.uint64)
    asked = hidden["actor"].astype(np.int64)
    kernels.sample_hidden_games(hidden, batch.tables, asked, randoms)
    for place, game in enumerate(left.tolist()):
        copy = singles[game].states.copy()
        kernels.sample_hidden_games(copy, singles[game].tables, asked[place : place + 1], randoms[place : place + 1])
        assert (without_edition(copy) == without_edition(hidden[place : place + 1])).all()
    ends = batch.states.copy()
    kernels.playout(ends, batch.tables)
    for game, one in enumerate(singles):
        kernels.playout(one.states, one.tables)
        assert (without_edition(one.states) == without_edition(ends[game : game + 1])).all()


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
@pytest.mark.parametrize("config", [Petrichor(variants=VARIANTS), Evergreen(players=2)], ids=["petrichor", "evergreen"])
def test_a_game_that_starts_again_draws_its_edition_anew(config: Config, mode: str) -> None:
    batch = Batch(config, 64, 3, editions=5, autoreset=mode)
    changed = np.zeros(64, np.bool_)
    for step in range(400):
        before = batch.states["edition"].copy()
        batch.step(batch.random_actions())
        changed |= batch.states["edition"] != before
        batch.refresh(check=step % 80 == 79)
        ended = np.flatnonzero(batch.terminations)
        assert (batch.final_states["edition"][ended] == before[ended]).all(), "the end is that of the edition before"
        for game in ended.tolist():
            assert batch.config_of(game, batch.final_states[game]).components == batch.editions[before[game]]
    assert changed.mean() > 0.6, "four of five new games have another edition, and each place had several games"


def test_editions_are_equally_likely_and_independent_of_what_happens() -> None:
    alike = [{"pieces.wheat_bonus": bonus} for bonus in range(6)]  # which has no effect on the set-up
    batch = Batch(Petrichor(), 6000, 0, editions=alike)
    assert chisquare(np.bincount(batch.states["edition"], minlength=6)).pvalue > 0.001
    first = batch.states["crop"][:, 0].astype(int)
    for edition in range(6):
        mine = np.bincount(first[batch.states["edition"] == edition], minlength=12)[:7]
        others = np.bincount(first[batch.states["edition"] != edition], minlength=12)[:7]
        there = others > 0
        expected = others[there] * mine.sum() / others.sum()
        assert chisquare(mine[there], expected).pvalue > 1e-5
    again = Batch(Petrichor(), 6000, 0, editions=alike)
    assert (again.states == batch.states).all()


def test_one_edition_changes_nothing() -> None:
    for one, other in (
        (Batch(Petrichor(), 32, 5), Batch(Petrichor(), 32, 5, editions=[{}])),
        (Batch(Evergreen(players=2), 32, 5), Batch(Evergreen(players=2), 32, 5, editions=[()])),
    ):
        for _ in range(200):
            actions = one.random_actions()
            one.step(actions)
            other.step(actions)
            assert one.states.tobytes() == other.states.tobytes()
            assert (one.states["edition"] == 0).all()
        assert other.editions == (None,) and other.tables is one.tables


# --- Which editions ---------------------------------------------------------------------------------------------------


def test_editions_by_number_by_seed_and_by_components(tmp_path: Any) -> None:
    game = game_of("petrichor_env.game")
    file = tmp_path / "own.toml"
    file.write_text("[pieces]\nwheat_bonus = 9\n", encoding="utf-8")
    drawn = game.config(components=game.draw_components(7)).components
    batch = Batch(Petrichor(), 4, 0, editions=[7, {"pieces.wheat_bonus": 3}, str(file), drawn])
    assert batch.editions == (drawn, (("pieces.wheat_bonus", 3),), (("pieces.wheat_bonus", 9),), drawn)
    assert batch.tables["wheat_bonus"][1:3].tolist() == [3, 9]
    assert Batch(Petrichor(), 1, 0, editions=3).editions == Batch(Petrichor(), 1, 0, editions=np.arange(3)).editions
    own = Batch(Petrichor(components={"pieces.wheat_bonus": 1}), 1, 0, editions=5)
    assert own.tables["wheat_bonus"].tolist() == [1] * 5, "what the configuration says is drawn no more"
    assert len({one.tobytes() for one in own.tables}) == 5


BAD: tuple[Any, ...] = (
    *(0, -3, True, 2.5, "three", b"a", dict, {"pieces.wheat_bonus": 1}, MOST_EDITIONS + 1),
    *([], [True], [None], [1.5], [-1], [2**40]),
)


@pytest.mark.parametrize("editions", BAD)
def test_bad_editions_are_refused(editions: Any) -> None:
    with pytest.raises(ConfigError, match=r"editions|seed"):
        Batch(Petrichor(), 1, 0, editions=editions)


def test_bad_components_are_refused() -> None:
    with pytest.raises(ComponentsError, match=r"pieces.wheat_bonus"):
        Batch(Petrichor(), 1, 0, editions=[{"pieces.wheat_bonus": -5000}])
    with pytest.raises(ComponentsError, match="no such file"):
        Batch(Petrichor(), 1, 0, editions=["nowhere.toml"])
    with pytest.raises(ComponentsError, match="no numbers with ranges"):
        Batch(CONNECT_FOUR.config(), 1, 0, editions=2)


@pytest.mark.parametrize(
    ("make", "table", "key", "values"),
    [(Petrichor, "pieces", "drops", (7, 9)), (Evergreen, "flags", "power_cap", (6, 2))],
)
def test_editions_are_drawn_once_and_anew_when_the_overlay_file_changes(
    make: Any, table: str, key: str, values: tuple[int, int], tmp_path: Path
) -> None:
    """This matters because a study asks for editions and their tables in each block of games."""
    own, seeds = tmp_path / "own.toml", [5, 6, 7]
    known: set[Any] = set()
    for value in values:
        own.write_text(f"[{table}]\n{key} = {value}\n", encoding="utf-8")
        config = make(components=str(own))
        editions, again = editions_of(config, seeds), editions_of(config, seeds)
        assert all(one is other for one, other in zip(editions, again, strict=True))
        assert tables_of(config.game, editions) is tables_of(config.game, again)
        assert Batch(config, 1, editions=seeds).tables.tobytes() == Batch(config, 1, editions=editions).tables.tobytes()
        assert [dict(edition)[f"{table}.{key}"] for edition in editions] == [value] * 3 and not known & {*editions}
        known |= {*editions}
    own.unlink()
    assert editions_of(config, seeds) == editions, "the configuration has the numbers, whatever becomes of the file"


def test_a_reset_can_choose_the_editions_which_then_stay() -> None:
    batch = Batch(Petrichor(), 8, 0, editions=4)
    wanted = np.arange(8) % 4
    batch.reset(1, editions=wanted)
    saved = None
    for step in range(500):
        assert (batch.states["edition"] == wanted).all()
        batch.step(batch.random_actions())
        if step == 300:
            saved = batch.save()
    assert saved is not None
    other = Batch(Petrichor(), 8, 9, editions=4)
    other.load(saved)
    for _ in range(200):
        other.step(other.random_actions())
        assert (other.states["edition"] == wanted).all()
    half = np.arange(8) < 4
    batch.reset(2, half, editions=np.full(8, 3))
    assert batch.states["edition"].tolist() == [3, 3, 3, 3, *wanted[4:]]
    batch.reset(2, editions=[-1] * 8)
    assert not (batch.states["edition"] == wanted).all(), "they are drawn again"
    for bad in ([4] * 8, [-2] * 8, [0] * 7, [0.0] * 8, 3, "no"):
        with pytest.raises(ConfigError, match="editions="):
            batch.reset(editions=bad)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="number of players and components"):
        batch.reset(config=Petrichor(components={"pieces.wheat_bonus": 44}))


def test_saved_games_of_other_editions_are_refused() -> None:
    batch = Batch(Petrichor(), 4, 0, editions=3)
    saved = batch.save()
    with pytest.raises(StateError, match="components"):
        Batch(Petrichor(), 4, 0, editions=[3, 4, 5]).load(saved)
    with pytest.raises(StateError, match="components"):
        Batch(Petrichor(), 4, 0).load(saved)


@pytest.mark.parametrize("edition", [-1, 3, 32_767, -32_768])
def test_an_edition_that_is_not_there_is_refused_and_never_read(edition: int) -> None:
    batch = Batch(Petrichor(), 4, 0, editions=3)
    batch.states["edition"][2] = edition
    with pytest.raises(StateError, match=f"game 2: it has edition {edition}; there are 3"):
        batch.refresh()
    batch.refresh(check=False)
    for _ in range(50):  # the next game has the first edition
        batch.step(batch.random_actions())
    assert batch.config_of(2).components == batch.editions[0]
    assert (batch.tables_of(2) == batch.tables[:1]).all() and (batch.numbers[2] == batch._numbers[0]).all()
    with pytest.raises(StateError, match="game 2"):
        Batch(Petrichor(), 4, 0, editions=3, starts=with_edition(batch, edition))


def with_edition(batch: Batch, edition: int) -> np.ndarray:
    states = Batch(batch.config, 4, 0, editions=3).states.copy()
    states["edition"][2] = edition
    return states


def test_a_broken_state_is_named_by_its_place_in_the_batch() -> None:
    batch = Batch(Petrichor(), 16, 0, editions=3)
    batch.states["deck"][11] = 100
    with pytest.raises(StateError, match=r"^game 11: "):
        batch.refresh()


def test_positions_of_several_editions_are_records() -> None:
    source = in_the_middle(Petrichor(), 16, 30, editions=3)
    batch = Batch(Petrichor(), 8, 1, editions=3, starts=source.states)
    known = {one.tobytes() for one in without_stream(source.states)}
    assert all(one.tobytes() in known for one in without_stream(batch.states))
    described = batch.game.described(Batch(Petrichor(), 1, 0).states[0])
    with pytest.raises(ScenarioError, match="which of several editions"):
        Batch(Petrichor(), 8, 1, editions=3, starts=[described])
    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", editions=3)
    with pytest.raises(ScenarioError, match="which of several editions"):
        env.reset(options={"scenario": described})


def without_stream(states: np.ndarray) -> np.ndarray:
    same = states.copy()
    same["rng"] = 0
    return same


# --- Agents ----------------------------------------------------------------------------------------------------------

AGENTS = {
    "petrichor-solo": ("greedy", "rollout-8", "ismcts-40", "policy:solo", "search-20:solo"),
    "petrichor-2p": ("greedy", "rollout-8", "ismcts-40", "search-20:versus"),
    "evergreen-3p": ("greedy", "ismcts-40", "search-20:versus"),
}
AGENT_PAIRS = [(config, name) for config, names in AGENTS.items() for name in names]


@pytest.mark.parametrize(("config", "name"), AGENT_PAIRS, ids=map("-".join, AGENT_PAIRS))
def test_agents_decide_with_the_numbers_of_each_edition(config: str, name: str) -> None:
    played = replace(CONFIGS[config], modules=()) if "petrichor" in config else CONFIGS[config]
    batch = in_the_middle(played, 12, 37, editions=6)
    agent = make_agent(name, batch.game)
    for game in range(12):
        one = Decisions.of(batch, np.array([game]))
        own = replace(one, tables=batch.tables_of(game))
        assert np.array_equal(values_of(agent, one), values_of(agent, own), equal_nan=True)


@every_config
def test_games_of_different_editions_share_scratch_space(config: Config) -> None:
    batch, actions = Batch(config, 64, 0, editions=12), config.game.num_actions
    search = search_for(batch.game)
    walk = new_walk(batch.game)  # it still holds values of all games before
    for step in range(60):
        batch.step(batch.random_actions())
        if step % 6:
            continue
        values, shortfalls = np.zeros((64, actions)), np.zeros((64, actions), np.float32)
        search.values_of_actions(batch.states, batch.tables, walk, 50, values)
        search.write_shortfalls(batch.states, batch.tables, walk, 50, shortfalls)
        for game in range(0, 64, 5):
            state, tables, fresh = batch.states[game : game + 1], batch.tables_of(game), new_walk(batch.game)
            own, short = np.zeros((1, actions)), np.zeros((1, actions), np.float32)
            search.values_of_actions(state, tables, fresh, 50, own)
            search.write_shortfalls(state, tables, fresh, 50, short)
            assert np.array_equal(values[game], own[0], equal_nan=True)
            assert np.array_equal(shortfalls[game], short[0], equal_nan=True)


def values_of(agent: Agent, decisions: Decisions) -> np.ndarray:
    told = assess(agent, decisions, np.random.default_rng(0))
    values = told.values if told.values is not None else told.shares
    assert values is not None
    return values


def test_the_numbers_matter_to_an_agent() -> None:
    """So that the test above can fail."""
    batch = in_the_middle(Petrichor(players=2), 12, 37, editions=6)
    agent, decisions = make_agent("greedy", batch.game), Decisions.of(batch)
    others = np.roll(batch.tables, 1)
    others.setflags(write=False)  # as the batch's own are, for which the agent is compiled
    wrong = replace(decisions, tables=others)
    assert not np.array_equal(values_of(agent, decisions), values_of(agent, wrong), equal_nan=True)


def test_agents_inside_play_with_editions() -> None:
    games = learner_games(Petrichor(players=3), 16, ["greedy"], seed=0, editions=5)
    for _ in range(120):
        games.step(games.batch.random_actions())
    saved = games.get_state()
    other = learner_games(Petrichor(players=3), 16, ["greedy"], seed=7, editions=5)
    other.set_state(saved)
    for _ in range(60):
        actions = games.batch.random_actions()
        games.step(actions)
        other.step(actions)
        assert games.states.tobytes() == other.states.tobytes()


# --- What is stored and shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [Petrichor(), Evergreen(players=2)], ids=["petrichor", "evergreen"])
def test_replays_have_the_numbers_of_their_edition(config: Config) -> None:
    batch = Batch(config, 8, 50, editions=4, autoreset="same_step")
    with Recorder(batch) as recorder:
        batch.reset(50)
        ended: list[Any] = []
        while len(ended) < 20:
            batch.step(batch.random_actions())
            ended += [batch.final_states[game].copy() for game in np.flatnonzero(batch.terminations)]
    finished = recorder.finished
    assert len(finished) == len(ended)
    assert {replay.config.components for replay in finished} <= {
        Batch(config, 1, 0, editions=[one]).game.config(components=config.game.own_numbers(one)).components
        for one in batch.editions
    }
    for replay, end in zip(finished, ended, strict=True):
        again = Replay.parse(replay.text.encode(), config.game)
        assert again.states[-1].tobytes() == without_edition(np.array([end]))[0].tobytes()
        assert (again.tables == batch.tables[end["edition"]]).all()


def test_environments_take_editions() -> None:
    env = gymnasium.make("petrichor_env:Petrichor/Solo-v0", editions=4, render_mode="ansi")
    many = gymnasium.make_vec("evergreen_env:Evergreen/Versus-v0", num_envs=6, editions=[1, 2, 3], players=2)
    assert gymnasium.make(env.spec).unwrapped.batch.batch.editions == env.unwrapped.batch.batch.editions  # type: ignore[arg-type]
    texts = set()
    for seed in range(6):
        env.reset(seed=seed)
        texts.add(env.render())
    assert len(texts) == 6
    many.reset(seed=0)
    assert set(many.unwrapped.batch.states["edition"].tolist()) == {0, 1, 2}
    aec = petrichor_v0.env(num_players=2, editions=4)
    aec.reset(seed=1)
    assert len(aec.unwrapped.batch.editions) == 4
    with pytest.raises(ConfigError, match="editions"):
        gymnasium.make("petrichor_env:Petrichor/Solo-v0", editions=0)


def test_a_picture_shows_the_numbers_of_its_edition() -> None:
    envs = gymnasium.make_vec(
        "evergreen_env:Evergreen/Versus-v0", num_envs=6, editions=[1, 2, 3], players=2, render_mode="ansi"
    )
    envs.reset(seed=0)
    versus: LearnerGames = envs.unwrapped.batch
    games, draw = versus.batch, versus.game.drawing.render_text
    for game, text in enumerate(envs.render()):  # type: ignore[arg-type]
        state, seat = games.states[game], int(versus.seats[game])
        assert text == draw(state, seat, tables=games.tables_of(game)) != draw(state, seat)


def test_positions_for_openspiel_have_their_own_numbers() -> None:
    batch = Batch(Petrichor(players=2), 6, 0, editions=3)
    for game in range(6):
        positions = Positions(batch.config_of(game))
        at = positions.at(batch.states[game])
        assert at.states["edition"].tolist() == [0]
        assert (positions.tables == batch.tables_of(game)).all()
