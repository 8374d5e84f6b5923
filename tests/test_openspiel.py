"""The games through OpenSpiel: its own checks, its algorithms, and the facts that it gets about the games."""
# ruff: noqa: E402, as some imports need it

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is in the extra openspiel")

import evergreen_env.openspiel
import petrichor_env.openspiel
from evergreen_env import Config as EvergreenConfig
from petrichor_env import Config as PetrichorConfig
from tabletop_agents import make_agent
from tabletop_engine.envs.openspiel import Playouts, Resampler, parameters_of, register, spiel_class
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import NOBODY, Limits
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.positions.position import positions_of
from tests.games import connect_four, leduc_poker
from tests.openspiel import four_in_a_row
from tests.openspiel.playthroughs import FOLDER, told
from tests.openspiel.playthroughs import GAMES as PLAYED_THROUGH
from tests.support.configurations import BASE, MODULE_CONFIGURATIONS, SOLO

ROOT = Path(__file__).parents[1]


LEDUC = register(leduc_poker.GAME)
CONNECT_FOUR = register(four_in_a_row.GAME)
GAMES = [
    "python_petrichor()",
    "python_petrichor(players=1,modules=cactus+forecasts,variants=double_card)",
    "python_petrichor(players=4,rounds=6,drafting=True,reward=margin)",
    "python_petrichor(players=3,modules=fertilizer+lake+flower_tiles+powers+forecasts,reward=points)",
    "python_evergreen()",
    "python_evergreen(players=1,reward=points,at_the_end=True)",
    "python_evergreen(players=4,reward=margin)",
    f"{LEDUC}(reward=points)",
    f"{CONNECT_FOUR}()",
]
LONG = (GAMES[2], GAMES[3], GAMES[6])
over_games = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in GAMES]
)
TYPE = pyspiel.GameType


def played(game: Any, seed: int = 0) -> Iterator[Any]:
    """The states of a random game, each before it goes on."""
    generator, state = np.random.default_rng(seed), game.new_initial_state()
    while True:
        yield state
        if state.is_terminal():
            return
        state = state.clone()
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(generator.choice(outcomes, p=chances)))
        else:
            state.apply_action(int(generator.choice(state.legal_actions())))


def first_decision(game: Any) -> Any:
    return next(state for state in played(game) if not state.is_chance_node())


# --- OpenSpiel's checks ----------------------------------------------------------------------------------------------


@over_games
def test_random_simulations(name: str) -> None:
    """OpenSpiel's test of its own games, with clones, serialisation and masks."""
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=True, verbose=False)


@pytest.mark.parametrize("name", PLAYED_THROUGH)
def test_playthrough(name: str) -> None:
    """After a change of the rules: `python -m tests.openspiel.playthroughs`, then read what has changed."""
    assert told(PLAYED_THROUGH[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@over_games
def test_clones_go_their_own_way(name: str) -> None:
    game = pyspiel.load_game(name)
    for state in list(played(game))[::17]:
        if state.is_terminal():
            continue
        before, history = str(state), state.history()
        for clone in (state.clone(), copy.deepcopy(state)):
            assert (str(clone), clone.history()) == (before, history)
            clone.apply_action(clone.legal_actions()[-1])
            assert (str(state), state.history()) == (before, history)
        for action in state.legal_actions():
            state.child(action)


@over_games
def test_serialised(name: str) -> None:
    """Checked at decisions, at draws, and for resampled states."""
    game = pyspiel.load_game(name)
    states = list(played(game))
    resample = Resampler(0)
    chosen = [*states[:2], *states[2 :: max(1, len(states) // 8)], states[-1]]
    chosen += [resample(state, state.current_player()) for state in chosen if state.current_player() >= 0]
    for state in chosen:
        written = pyspiel.serialize_game_and_state(game, state)
        other_game, other = pyspiel.deserialize_game_and_state(written)
        assert str(other_game) == str(game)
        assert (str(other), other.history(), other.returns()) == (str(state), state.history(), state.returns())
        for player in range(game.num_players()):
            assert other.information_state_string(player) == state.information_state_string(player)
        assert facts(pickle.loads(pickle.dumps(state))) == facts(state)


def facts(state: Any) -> tuple[Any, ...]:
    """All facts that distinguish states and their games."""
    game = state.get_game()
    return str(game), game.max_game_length(), game.num_players(), str(state), state.history(), state.returns()


@over_games
def test_pickled_games_play_the_same(name: str) -> None:
    """A game that is pickled together with its states, as in OpenSpiel's environments, stays one object."""
    game = pyspiel.load_game(name)
    states = list(played(game))
    state, wanted = states[4], [facts(one) for one in states]
    for again in (pickle.loads(pickle.dumps(game)), pickle.loads(pickle.dumps(state.get_game())), copy.deepcopy(game)):
        assert type(again) is type(game)
        assert str(again) == str(game) and again.max_game_length() == game.max_game_length()
        assert [facts(one) for one in played(again)] == wanted
    again, other = pickle.loads(pickle.dumps((game, state)))
    assert other.get_game() is again and facts(other) == facts(state)


def test_a_pickle_keeps_other_printed_numbers() -> None:
    """A game that an agent searches can have printed numbers that no parameter names."""
    config = PetrichorConfig(players=2, components={"pieces.drops": 9})
    game = spiel_class(config.game)(parameters_of(config), positions_of(config))
    state = list(played(game))[30]
    again = pickle.loads(pickle.dumps(state))
    assert again.get_game().positions.tables.tobytes() == config.game.load_tables(config.components).tobytes()
    assert facts(again) == facts(state)


def test_copies_of_an_observer_write_into_their_own_views() -> None:
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game(f"{LEDUC}()")
    state = first_decision(game)
    observer = make_observation(game)
    observer.set_from(state, 0)
    for again in (pickle.loads(pickle.dumps(observer)), copy.deepcopy(observer)):
        np.testing.assert_array_equal(again.tensor, observer.tensor)
        again.set_from(state, 1)
        assert (again.dict["seat"].tolist(), observer.dict["seat"].tolist()) == ([0, 1], [1, 0])


@over_games
def test_actions_have_words_of_their_own(name: str) -> None:
    for state in played(pyspiel.load_game(name)):
        if not state.is_terminal():
            words = [state.action_to_string(state.current_player(), action) for action in state.legal_actions()]
            assert len(set(words)) == len(words), words
            assert state.string_to_action(words[0]) == state.legal_actions()[0]


# --- What OpenSpiel is told ------------------------------------------------------------------------------------------


def test_types() -> None:
    kinds = {name: pyspiel.load_game(name).get_type() for name in GAMES}
    hidden, nothing_hidden = TYPE.Information.IMPERFECT_INFORMATION, TYPE.Information.PERFECT_INFORMATION
    assert kinds["python_petrichor()"].information == kinds["python_evergreen()"].information == hidden
    assert kinds[GAMES[1]].information == kinds[f"{CONNECT_FOUR}()"].information == nothing_hidden
    assert kinds["python_petrichor()"].utility == kinds[GAMES[2]].utility == TYPE.Utility.ZERO_SUM
    assert kinds[GAMES[1]].utility == kinds[GAMES[3]].utility == TYPE.Utility.GENERAL_SUM
    assert kinds["python_petrichor()"].reward_model == kinds[GAMES[5]].reward_model == TYPE.RewardModel.TERMINAL
    assert kinds[GAMES[2]].reward_model == kinds[GAMES[3]].reward_model == TYPE.RewardModel.REWARDS
    assert all(kind.dynamics == TYPE.Dynamics.SEQUENTIAL for kind in kinds.values())
    drawn = {name for name, kind in kinds.items() if kind.chance_mode == TYPE.ChanceMode.EXPLICIT_STOCHASTIC}
    assert drawn == {*GAMES} - {f"{CONNECT_FOUR}()"}
    assert pyspiel.load_game(CONNECT_FOUR).max_game_length() == 42
    assert pyspiel.load_game(LEDUC).max_game_length() == 8
    assert connect_four.GAME.limits(connect_four.Config()) == Limits(1_000_000, 1_000_000, 256)


def test_parameters() -> None:
    game = pyspiel.load_game("python_petrichor(players=1,modules=powers+cactus,powers=rain,variants=one_more_turn)")
    assert game.config == PetrichorConfig(modules=("cactus", "powers"), powers=("rain",), variants=("one_more_turn",))
    assert pyspiel.load_game(str(game)).config == game.config
    assert pyspiel.load_game("python_evergreen", {"players": 3}).config == EvergreenConfig(players=3)
    for wrong, error, match in (
        ("python_petrichor(players=9)", ConfigError, "players=9: 1 "),
        ("python_petrichor(modules=zoo)", ConfigError, "unknown 'zoo'; allowed are fertilizer"),
        ("python_petrichor(players=1,drafting=True)", ConfigError, "no draft in solo"),
        ("python_evergreen(reward=wins)", ConfigError, "reward='wins': must be one of 'win'"),
        ("python_evergreen(rounds=9)", pyspiel.SpielError, "Unknown parameter 'rounds'"),
        ("python_petrichor(rounds=many)", pyspiel.SpielError, "Wrong type for parameter rounds"),
    ):
        with pytest.raises(error, match=match):
            pyspiel.load_game(wrong)
    assert register(petrichor_env.openspiel.GAME) == "python_petrichor" == petrichor_env.openspiel.NAME
    assert evergreen_env.openspiel.NAME in pyspiel.registered_names()


@pytest.mark.parametrize("config", [*BASE, *SOLO, *MODULE_CONFIGURATIONS[::7]], ids=lambda config: config.name)
def test_the_longest_petrichor_game(config: PetrichorConfig) -> None:
    assert longest(config) <= config.game.limits(config).decisions


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_the_longest_evergreen_game(players: int) -> None:
    config = EvergreenConfig(players=players)
    assert longest(config) <= config.game.limits(config).decisions


def longest(config: Any) -> int:
    """Decisions of the longest of some random games, whose points are within their limits."""
    batch, decisions = Batch(config, 100, 0, autoreset="disabled"), np.zeros(100, np.int64)
    while (running := batch.actors != NOBODY).any():
        batch.step(batch.random_actions(), which=running)
        decisions += running
    points, bounds = batch.states["points"][:, : config.owners], config.game.limits(config).points
    assert bounds is None or bounds[0] <= points.min() <= points.max() <= bounds[1] < 32_767
    assert (bounds is None) == ("flower_tiles" in getattr(config, "modules", ()))
    return int(decisions.max())


@over_games
def test_draws_keep_to_their_limits(name: str) -> None:
    game = pyspiel.load_game(name)
    for seed in range(3):
        draws = [state.chance_outcomes() for state in played(game, seed) if state.is_chance_node()]
        assert len(draws) <= game.max_chance_nodes_in_history()
        assert max((outcome for draw in draws for outcome, _ in draw), default=-1) < game.max_chance_outcomes()


def test_illegal_actions() -> None:
    state = first_decision(pyspiel.load_game("python_petrichor"))
    before = str(state)
    for action in (142, 10_000):
        with pytest.raises(pyspiel.SpielError, match="does not answer 'setup_cloud'"):
            state.apply_action(action)
    with pytest.raises(pyspiel.SpielError, match="outcome 6: must be one of 0, 1"):
        pyspiel.load_game("python_petrichor").new_initial_state().apply_action(6)
    *_, last = played(pyspiel.load_game("python_petrichor"))
    with pytest.raises(pyspiel.SpielError, match="over"):
        last.apply_action(0)
    assert str(state) == before


# --- Observations ----------------------------------------------------------------------------------------------------


def test_observations_are_the_batchs() -> None:
    from open_spiel.python.observation import make_observation

    config = PetrichorConfig(players=3)
    game = spiel_class(config.game)(parameters_of(config))
    batch = Batch(config, 1, 0, autoreset="disabled")
    observer = make_observation(game)
    for _ in range(40):
        batch.step(batch.random_actions())
        state = game.state_of(positions_of(config).at(batch.states[0], check=False))
        for seat in range(3):
            seen = batch.observe(seat)[0]
            observer.set_from(state, seat)
            np.testing.assert_array_equal(observer.tensor, seen)
            np.testing.assert_array_equal(state.observation_tensor(seat), seen)
            for block in config.game.observation:
                np.testing.assert_array_equal(observer.dict[block.name].ravel(), seen[block.slice])
            shown = config.game.drawing.render_text(batch.states[0], seat)
            assert state.observation_string(seat) == observer.string_from(state, seat) == shown
    assert game.observation_tensor_shape() == [config.game.observation.size]


def test_at_a_draw_a_player_sees_the_last_decision() -> None:
    """Nothing tells that something is drawn: whether it is may depend on what is hidden, as with forecast cards."""
    draws, seen = 0, list[str]()
    for state in played(pyspiel.load_game("python_petrichor", {"players": 3, "modules": "forecasts"})):
        shown = [state.observation_string(player) for player in range(3)]
        if state.is_chance_node() and seen:
            draws += 1
            assert shown == seen
        elif not state.is_chance_node():
            seen = shown
    assert draws > 5


def test_observers_there_are() -> None:
    from open_spiel.python.observation import INFO_STATE_OBS_TYPE, make_observation

    game = pyspiel.load_game("python_evergreen")
    state = first_decision(game)
    memory = make_observation(game, INFO_STATE_OBS_TYPE)
    assert memory.tensor is None and memory.string_from(state, 0) == state.information_state_string(0)
    with pytest.raises(pyspiel.SpielError, match="no information_state_tensor"):
        memory.set_from(state, 0)
    kind = pyspiel.IIGObservationType
    for part in ({"private_info": pyspiel.PrivateInfoType.NONE}, {"public_info": False}):
        with pytest.raises(ValueError, match="leave public_info=True and private_info=SINGLE_PLAYER"):
            make_observation(game, kind(perfect_recall=False, **part))
    with pytest.raises(ValueError, match="there are none"):
        make_observation(game, params={"wide": True})
    start = game.new_initial_state()
    assert not any(start.observation_tensor(0)) and "being set up" in start.observation_string(1)
    assert start.information_state_string(0) == "player_0 before the first decision"


@over_games
def test_information_states(name: str) -> None:
    """Resampling for a player leaves the player's string unchanged. The player's own actions change it."""
    game, resample = pyspiel.load_game(name), Resampler(1)
    states = list(played(game, seed=2))
    for state in [state for state in states if state.current_player() >= 0][::9]:
        player = state.current_player()
        string = state.information_state_string(player)
        other = resample(state, player)
        assert other.information_state_string(player) == state.information_state_string() == string
        assert other.observation_string(player) == state.observation_string(player)
        assert (other.legal_actions(), other.returns()) == (state.legal_actions(), state.returns())
        assert other.history() == []
        after = {state.child(action).information_state_string(player) for action in state.legal_actions()}
        assert len(after) == len(state.legal_actions()) and string not in after
    strings = [state.information_state_string(0) for state in states]
    assert len(set(strings)) > 3


def test_a_draw_that_nobody_sees_is_in_nobodys_string() -> None:
    """Leduc: a player's string depends on the own card, not on the other player's."""
    start = pyspiel.load_game(LEDUC).new_initial_state()
    dealt = {(own, other): start.child(own).child(other) for own in range(3) for other in range(3)}
    for own in range(3):
        assert len({dealt[own, other].information_state_string(0) for other in range(3)}) == 1
        assert len({dealt[other, own].information_state_string(1) for other in range(3)}) == 1
    assert len({state.information_state_string(0) for state in dealt.values()}) == 3


# --- Chance ----------------------------------------------------------------------------------------------------------


def test_no_state_knows_what_will_be_drawn() -> None:
    """An action that draws leads to a chance node, and each of its outcomes to another state."""
    drawn = 0
    for name in ("python_petrichor(players=1)", "python_petrichor()", "python_evergreen()"):
        for state in list(played(pyspiel.load_game(name)))[1:]:
            if not state.is_chance_node():
                continue
            children = {str(state.child(outcome)) for outcome, _ in state.chance_outcomes()}
            assert len(state.chance_outcomes()) >= len(children) > 1, "two sides of a die may be alike"
            drawn += state.position.has_begun
    assert drawn > 50


# --- Algorithms ------------------------------------------------------------------------------------------------------


def test_leduc_poker_is_leduc_poker() -> None:
    """The exploitability of uniform play and the number of information states without suits are the known ones."""
    from open_spiel.python import policy
    from open_spiel.python.algorithms.exploitability import exploitability
    from open_spiel.python.algorithms.get_all_states import get_all_states

    ours, theirs = pyspiel.load_game(f"{LEDUC}(reward=margin)"), pyspiel.load_game("leduc_poker")
    found = [exploitability(game, policy.UniformRandomPolicy(game)) for game in (ours, theirs)]
    assert found[0] == pytest.approx(2 * found[1]), "a margin is both players' difference"
    states = get_all_states(
        ours,
        include_terminals=False,
        include_chance_states=False,
        to_string=lambda state: f"{state.history_str()} {state.history()}",
    )
    known = {state.information_state_string() for state in states.values()}
    assert len(known) == 288


@pytest.mark.slow
def test_cfr_learns_leduc_poker() -> None:
    from open_spiel.python.algorithms.cfr import CFRSolver
    from open_spiel.python.algorithms.exploitability import exploitability

    game = pyspiel.load_game(f"{LEDUC}(reward=margin)")
    solver = CFRSolver(game)
    solver.evaluate_and_update_policy()
    first = exploitability(game, solver.average_policy())
    for _ in range(9):
        solver.evaluate_and_update_policy()
    assert exploitability(game, solver.average_policy()) < first / 2


@pytest.mark.parametrize("name", ["python_petrichor()", "python_evergreen(players=3)", f"{LEDUC}(at_the_end=True)"])
def test_openspiels_searches_play(name: str) -> None:
    from open_spiel.python.algorithms.ismcts import ISMCTSBot
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

    game = pyspiel.load_game(name)
    for state in [state for state in played(game, seed=4) if state.current_player() >= 0][:60:20]:
        for evaluator in (Playouts(2, seed=0), RandomRolloutEvaluator(1, np.random.RandomState(0))):
            searches = [
                MCTSBot(game, 2.0, 30, evaluator, random_state=np.random.RandomState(0)),
                ISMCTSBot(game, evaluator, 2.0, 30, random_state=np.random.RandomState(0)),
            ]
            searches[1].set_resampler(Resampler(0))
            for search in searches:
                assert search.step(state) in state.legal_actions()


def test_openspiels_environment_for_learners() -> None:
    from open_spiel.python.algorithms.random_agent import RandomAgent
    from open_spiel.python.rl_environment import Environment

    environment = Environment("python_petrichor", players=3, reward="margin")
    actions = environment.action_spec()["num_actions"]
    agents = [RandomAgent(player, actions) for player in range(3)]
    step, total = environment.reset(), np.zeros(3)
    while not step.last():
        assert len(step.observations["info_state"][0]) == environment.observation_spec()["info_state"][0]
        step = environment.step([agents[step.observations["current_player"]].step(step).action])
        total += step.rewards
    assert total.any() and total.sum() == pytest.approx(0)


def test_playouts_value_as_openspiels_do() -> None:
    """Playouts by compiled code and playouts through states have the same mean, within its uncertainty."""
    from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

    game = pyspiel.load_game("python_petrichor(reward=margin,at_the_end=True)")
    state = list(played(game, seed=3))[120]
    own = Playouts(400, seed=0).evaluate(state)
    theirs = RandomRolloutEvaluator(150, np.random.RandomState(0)).evaluate(state)
    assert abs(own[0] - theirs[0]) < 6, "points; a game's deviation is about 20"
    np.testing.assert_array_equal(own, Playouts(400, seed=0).evaluate(state))


@pytest.mark.parametrize("config", [PetrichorConfig(players=3), EvergreenConfig(players=2), leduc_poker.Config()])
@pytest.mark.parametrize("name", ["openspiel-mcts-20", "openspiel-ismcts-20"])
def test_agents(config: Any, name: str) -> None:
    agent = make_agent(name, config.game)
    assert agent.name == name
    agent.check(config)
    batch = Batch(config, 3, 0)
    for _ in range(4):
        decisions, kept = Decisions.of(batch), batch.states.tobytes()
        actions = agent.act(decisions, np.random.default_rng(1))
        decisions.check(name, actions)
        np.testing.assert_array_equal(actions, agent.act(decisions, np.random.default_rng(1)))
        assert batch.states.tobytes() == kept
        batch.step(actions)


def test_agents_win_what_is_won_at_once() -> None:
    """Connect Four with three own stones in a column."""
    config = four_in_a_row.Config()
    batch = Batch(config, 1, 0)
    for action in (3, 0, 3, 0, 3, 1):
        batch.step([action])
    agent = make_agent("openspiel-mcts-200", config.game)
    assert agent.act(Decisions.of(batch), np.random.default_rng(0)).tolist() == [3]


def test_agents_say_what_they_do_not_play() -> None:
    mcts = make_agent("openspiel-mcts-5", petrichor_env.openspiel.GAME)
    ismcts = make_agent("openspiel-ismcts-5", petrichor_env.openspiel.GAME)
    mcts.check(PetrichorConfig())
    with pytest.raises(ConfigError, match="in solo nothing is hidden; take openspiel-mcts-N"):
        ismcts.check(PetrichorConfig())
    with pytest.raises(ConfigError, match="nobody to win against"):
        mcts.check(EvergreenConfig())
    for wrong in ("openspiel-mcts", "openspiel-mcts-0", "openspiel-uct-5"):
        with pytest.raises(ConfigError, match="one of random"):
            make_agent(wrong, petrichor_env.openspiel.GAME)


# --- What the pages show ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "section"), [("openspiel.md", "# OpenSpiel"), ("environments.md", "## Positions")])
def test_what_a_page_shows_runs(page: str, section: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(section)[2]
    code = text.partition("```python\n")[2].partition("```")[0]
    assert 10 < code.count("\n") <= 40
    exec(compile(code, page, "exec"), {"__name__": "docs"})
    assert capsys.readouterr().out


# --- Processes -------------------------------------------------------------------------------------------------------


def ran(code: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("first", "name"),
    [
        ("game", GAMES[1]),
        ("state", GAMES[3]),
        ("environment", "python_evergreen(players=3)"),
        ("game of a state", f"{LEDUC}()"),
        ("state", f"{CONNECT_FOUR}()"),
    ],
)
def test_pickles_load_where_nothing_of_ours_was_imported(first: str, name: str, tmp_path: Path) -> None:
    """A game, a state, a learner's environment: loading a pickle registers the game with its limits.

    `first` is loaded before anything is imported.
    """
    from open_spiel.python.rl_environment import Environment

    game = pyspiel.load_game(name)
    state, environment = list(played(game))[4], Environment(game)
    environment.reset()
    pickled = {"game": game, "game of a state": state.get_game(), "state": state, "environment": environment}
    for what, one in pickled.items():
        (tmp_path / f"{what}.pickle").write_bytes(pickle.dumps(one))
    order = sorted(pickled, key=lambda what: what != first)
    code = f"""
import pickle
from pathlib import Path
for what in {order}:
    one = pickle.loads((Path({str(tmp_path)!r}) / (what + ".pickle")).read_bytes())
    if what == "environment":
        step = one.reset()
        one.step([step.observations["legal_actions"][step.observations["current_player"]][0]])
    else:
        game = one.get_game() if what == "state" else one
        print(repr(str(one)), game.max_game_length(), game.max_chance_outcomes())
import pyspiel
print(pyspiel.load_game({name!r}).max_game_length())
"""
    loaded = ran(code)
    assert loaded.returncode == 0, loaded.stderr
    limits = f"{game.max_game_length()} {game.max_chance_outcomes()}"
    said = [f"{str(pickled[what])!r} {limits}" for what in order if what != "environment"]
    assert loaded.stdout.splitlines() == [*said, str(game.max_game_length())]


def test_a_process_ends_as_it_should() -> None:
    """OpenSpiel releases the registered objects only after Python has ended."""
    code = "import pyspiel, evergreen_env.openspiel; s = pyspiel.load_game('python_evergreen').new_initial_state()"
    ended = ran(f"{code}; s.apply_action(0); print(s.observation_tensor(0)[:1])")
    assert ended.returncode == 0, ended.stderr


def test_without_openspiel() -> None:
    """Functions that need it name the extra that installs it. Nothing else needs it."""
    code = """
import sys
sys.modules["pyspiel"] = None
import petrichor_env
from tabletop_engine.errors import TabletopError
from tabletop_agents import make_agent
game = lambda: __import__("petrichor_env.openspiel")
agent = lambda: make_agent("openspiel-mcts-9", petrichor_env.GAME)
for needs in (game, agent):
    try:
        needs()
    except TabletopError as error:
        print(error)
"""
    lines = ran(code).stdout.splitlines()
    assert len(lines) == 2 and all('the extra "openspiel"' in line for line in lines), lines
    assert ran("import petrichor_env, sys; assert 'pyspiel' not in sys.modules").returncode == 0
