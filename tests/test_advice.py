"""What agents say of decisions: the numbers that they play by, possible ones, and nothing of what is hidden."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from evergreen_env.game import GAME as EVERGREEN
from petrichor_env.config import VARIANTS, Config
from petrichor_env.game import GAME
from tabletop_agents import GreedyAgent, IsmctsAgent, RandomAgent, RolloutAgent, make_agent
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_agents.search.tree_agent import LEAST
from tabletop_cli.__main__ import main
from tabletop_engine.errors import CheckpointError, ConfigError, IllegalAction
from tabletop_engine.game import Game
from tabletop_engine.play.agents import (
    CHANCE_TO_WIN,
    POINTS,
    POINTS_AHEAD,
    RESULT,
    Agent,
    Assessment,
    Decisions,
    assess,
)
from tabletop_engine.play.batch import Batch
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Review
from tabletop_play.advice import advise, estimate_text, judged, review
from tabletop_play.session import PERSON
from tests.games import connect_four, leduc_poker
from tests.support.hidden import what_is_hidden_changed
from tests.support.networks import guided, network_for
from tests.support.play import in_the_middle

CONFIGS: list[Any] = [
    Config(variants=VARIANTS),
    Config(players=3),
    EVERGREEN.config(players=1),
    EVERGREEN.config(players=2),
    connect_four.GAME.config(),
    leduc_poker.GAME.config(),
]


def agents_for(game: Game) -> list[Agent]:
    policy = PolicyAgent(network_for(game))
    return [GreedyAgent(), RolloutAgent(3), IsmctsAgent(60), policy, GuidedSearchAgent(policy, 60)]


def some(config: Any, games: int = 12, steps: int = 3) -> Decisions:
    return Decisions.of(in_the_middle(config, games, steps, seed=steps))


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# --- Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"{config.game.name}-{config.name}")
def test_what_agents_say_is_what_they_play_by(config: Any) -> None:
    decisions = some(config)
    legal = decisions.action_masks == 1
    for agent in agents_for(config.game):
        told = assess(agent, decisions, random())
        assert np.array_equal(told.actions, agent.act(decisions, random())), agent.name
        assert told.estimated and told.value is not None and np.isfinite(told.value).all()
        if told.shares is not None:
            assert told.meaning
            assert np.allclose(told.shares.sum(axis=1), 1) and (told.shares >= 0).all()
            assert (told.shares[~legal] == 0).all()
        if told.values is None:
            assert isinstance(agent, PolicyAgent)
            continue
        assert np.isnan(told.values[~legal]).all()
        assert (told.values[np.arange(len(decisions)), told.actions] == told.value).all()
        if told.shares is None:
            assert np.isfinite(told.values[legal]).all()
            assert np.array_equal(told.value, np.nanmax(told.values, axis=1))
        if told.estimated == CHANCE_TO_WIN:
            assert ((told.value >= 0) & (told.value <= 1)).all()


def test_a_search_tells_its_visits_and_utilities_in_points() -> None:
    decisions, agent = some(Config(players=3), steps=20), IsmctsAgent(100)
    told = agent.assess(decisions, random())
    visits, utilities = agent.search(decisions, random())
    assert told.estimated == POINTS_AHEAD and told.values is not None
    assert told.shares is not None and np.array_equal(told.shares, visits / 100)
    known = np.isfinite(told.values)
    assert np.allclose(1 / (1 + np.exp(-told.values[known] / 10)), utilities[known])
    played = visits == visits.max(axis=1, keepdims=True)
    assert (known[visits >= LEAST]).all() and not known[(visits < LEAST) & ~played].any()
    assert 0 < known.sum() < (visits > 0).sum()


@pytest.mark.parametrize("settings", [{"win": 0.4}, {"scale_a_round": 2.0}])
def test_utilities_that_are_no_points_stay_what_they_are(settings: dict[str, float]) -> None:
    decisions = some(Config(players=2), steps=20)
    for agent in (IsmctsAgent(40, settings=settings), RolloutAgent(2, settings=settings)):
        told = agent.assess(decisions, random())
        assert told.estimated == RESULT and told.value is not None and told.values is not None
        assert ((told.value > 0) & (told.value < 1)).all()
        if isinstance(agent, RolloutAgent):
            assert np.array_equal(np.nan_to_num(told.values, nan=-1), agent.utilities(decisions, random()))


def test_the_search_with_a_network_tells_victories_apart_from_points() -> None:
    for config in (Config(variants=VARIANTS), Config(players=3)):
        decisions, network = some(config, steps=20), network_for(GAME)
        for margin in (0.0, 0.02):
            agent = guided(GAME, 80, network, settings={"margin": margin})
            told = agent.assess(decisions, random())
            visits, utilities = agent.search(decisions, random())
            searched = decisions.action_masks.sum(axis=1) > 1
            assert told.shares is not None and np.array_equal(told.shares[searched], visits[searched] / 80)
            assert told.estimated == CHANCE_TO_WIN and told.values is not None
            known = np.isfinite(told.values) & searched[:, None]
            assert known.any()
            assert np.allclose(told.values[known], utilities[known]) == (margin == 0)


def test_the_heads_predict_the_actors_win() -> None:
    network = network_for(GAME)
    assert network.win_margin_heads is not None
    for players in (1, 3, 5):
        decisions = some(Config(players=players), steps=20)
        told = PolicyAgent(network).assess(decisions, random())
        with torch.no_grad():
            said = network.win_margin_heads(network.trunk(torch.from_numpy(decisions.observations)))
        logits = said[:, :players]
        expected = logits[:, 0].sigmoid() if players == 1 else logits.softmax(dim=1)[:, 0]
        assert told.estimated == CHANCE_TO_WIN and told.values is None and told.value is not None
        assert np.allclose(told.value, expected.numpy(), atol=1e-6)
        once = guided(GAME, 1, network, settings={"margin": 0.0})  # compiled code says the same of the root's children
        assert np.array_equal(once.assess(decisions, random()).actions, once.act(decisions, random()))
    network.win_margin_heads = None
    silent = PolicyAgent(network).assess(some(Config()), random())
    assert silent.value is None and silent.estimated == "" and silent.shares is not None
    network.win_margin_heads = network_for(GAME, size=1e30).win_margin_heads
    with pytest.raises(CheckpointError, match="the outputs of the win and margin heads are not finite"):
        PolicyAgent(network).assess(some(Config()), random())


def last_decisions(config: Any, games: int) -> list[tuple[Decisions, dict[int, int]]]:
    """Decisions where every answer ends the game, and the actor's margin after each; in a game for one its points."""
    batch = Batch(config, games, seed=1, autoreset="disabled")
    generator, greedy, found = random(), GreedyAgent(), []
    while (playing := batch.actors >= 0).any():
        asked = np.flatnonzero(playing)
        for game in asked[batch.states["round"][asked] == batch.states["rounds"][asked]]:
            legal = np.flatnonzero(batch.action_masks[game])
            after = Batch(config, len(legal), autoreset="disabled")
            after.set_states(np.repeat(batch.states[game : game + 1], len(legal)))
            after.step(legal)
            if after.terminations.all() and len(legal) > 1:
                actor, points = batch.actors[game], after.states["points"].astype(int)
                own = points[:, actor]
                others = (points.sum(axis=1) - own) / max(1, config.owners - 1) if config.owners > 1 else 0 * own
                margins = dict(zip(legal.tolist(), (own - others).tolist(), strict=True))
                kept = Decisions(
                    config.game,
                    batch.states[[game]],
                    batch.tables,
                    batch.observations[[game]].copy(),
                    batch.action_masks[[game]].copy(),
                )
                found.append((kept, margins))
        actions = np.zeros(games, np.int64)
        actions[asked] = greedy.act(Decisions.of(batch, asked), generator)
        batch.step(actions, playing)
    return found


@pytest.mark.parametrize("config", [Config(variants=("double_card",)), EVERGREEN.config(players=1)])
def test_before_the_last_answer_the_result_is_told_exactly(config: Any) -> None:
    """Estimates in points are exact, and chances are 0 or 1."""
    decided = last_decisions(config, 40)
    assert len(decided) >= 10
    differing = 0
    for decisions, margins in decided:
        best = max(margins.values())
        differing += len(set(margins.values())) > 1
        for agent in agents_for(config.game):
            if isinstance(agent, PolicyAgent):
                continue
            advice = advise(agent, decisions, random())
            assert margins[advice.best] == best or isinstance(agent, GuidedSearchAgent)
            for action, estimate in advice.estimates.items():
                if advice.estimated == CHANCE_TO_WIN:
                    assert estimate == pytest.approx(float(margins[action] > 0), abs=1e-9) or margins[action] == 0
                else:
                    assert estimate == pytest.approx(margins[action], abs=1e-3)
            if isinstance(agent, GuidedSearchAgent):
                assert advice.estimated == (CHANCE_TO_WIN if config.owners > 1 else POINTS)
            else:
                assert advice.estimated == (POINTS_AHEAD if config.owners > 1 else POINTS)
    assert differing


@pytest.mark.parametrize(
    "agent", [IsmctsAgent(300), guided(connect_four.GAME, 300, network_for(connect_four.GAME, size=0.0))]
)
def test_a_won_position_is_high_and_a_lost_one_low(agent: Agent) -> None:
    """Four in a row can be made at once; or three with both ends free can't be stopped. For either player."""
    won, lost = ([3, 0, 3, 0, 3, 0], [2, 0, 3, 0, 4])
    estimates = []
    for moves in (won, lost):
        batch = Batch(connect_four.GAME.config(), 1, 0)
        for move in moves:
            batch.step([move])
        estimates.append(advise(agent, Decisions.of(batch), random()).estimate)
    assert estimates[0] is not None and estimates[1] is not None
    assert estimates[0] > 0.95 and estimates[1] < 0.3


@pytest.mark.parametrize("config", [Config(variants=VARIANTS), Config(players=3, drafting=True)])
def test_nothing_is_told_of_what_is_hidden(config: Config) -> None:
    for steps in (0, 12, 30):
        original, redrawn = what_is_hidden_changed(config, 10, steps)
        for agent in agents_for(GAME):
            first, second = (assess(agent, decisions, random(steps)) for decisions in (original, redrawn))
            assert (first.meaning, first.estimated) == (second.meaning, second.estimated)
            for name in ("actions", "shares", "values", "value"):
                one, other = getattr(first, name), getattr(second, name)
                assert np.array_equal(one, other, equal_nan=True) if one is not None else other is None, name


def test_an_answer_can_be_judged_alone() -> None:
    for config in (Config(), Config(players=3), EVERGREEN.config(players=2), leduc_poker.GAME.config()):
        decisions = some(config, steps=4)
        whole = {agent.name: assess(agent, decisions, random()) for agent in agents_for(config.game)}
        chosen = RandomAgent().act(decisions, random(7))
        alone = decisions.only(chosen)
        assert (alone.action_masks.sum(axis=1) == 1).all() and np.array_equal(
            RandomAgent().act(alone, random()), chosen
        )
        assert (decisions.action_masks.sum(axis=1) > 1).any()
        for agent in agents_for(config.game):
            told = assess(agent, alone, random())
            assert np.array_equal(told.actions, chosen)
            if isinstance(agent, GreedyAgent | RolloutAgent):
                before = whole[agent.name].values
                assert before is not None and told.value is not None
                expected = before[np.arange(len(chosen)), chosen]
                if isinstance(agent, RolloutAgent):
                    assert np.array_equal(told.value, expected)
                else:  # the agent may look at more positions behind a single answer
                    assert (told.value >= expected).all()
            elif told.values is not None:
                assert told.shares is not None and (told.shares[np.arange(len(chosen)), chosen] == 1).all()
                assert (np.isfinite(told.values).sum(axis=1) == 1).all()


# --- Agents of one's own ---------------------------------------------------------------------------------------------


class Own:
    """Gives the assessment that it was made with."""

    name = "own"

    def __init__(self, **told: Any) -> None:
        self.told = told

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return decisions.action_masks.argmax(axis=1)

    def assess(self, decisions: Decisions, generator: np.random.Generator) -> Assessment:
        return Assessment(**({"actions": self.act(decisions, generator)} | self.told))


class Sure(RandomAgent):
    name = "sure"

    def probabilities(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return decisions.action_masks / decisions.action_masks.sum(axis=1, keepdims=True)


def test_advice_of_agents_that_say_less() -> None:
    decisions = some(Config(), games=1)
    legal = np.flatnonzero(decisions.action_masks[0]).tolist()
    named = advise(RandomAgent(), decisions, random())
    assert named.best == RandomAgent().act(decisions, random())[0]
    assert (named.shares, named.meaning, named.estimates, named.estimate, named.estimated) == ({}, "", {}, None, "")
    sure = advise(Sure(), decisions, random())
    assert sure.shares == dict.fromkeys(legal, 1 / len(legal)) and sure.best == legal[0] and sure.meaning
    own = advise(Own(value=np.array([0.25]), estimated="luck"), decisions, random())
    assert (own.best, own.estimate, own.estimated, own.estimates) == (legal[0], 0.25, "luck", {})
    assert advise(Own(value=np.array([np.nan])), decisions, random()).estimate is None


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({"actions": np.array([-1])}, "own"),
        ({"shares": np.ones((1, 3))}, r"shares are float64 \(1, 3\), not floats \(1, "),
        ({"shares": np.full((1, GAME.num_actions), 1 / GAME.num_actions)}, "of the legal actions alone"),
        ({"values": np.zeros((1, GAME.num_actions))}, "values of illegal actions are not NaN"),
        ({"value": np.array([np.inf])}, "value are infinite"),
        ({"value": np.array([1])}, r"value are int64 \(1,\), not floats"),
    ],
)
def test_wrong_assessments_are_refused(told: dict[str, Any], wrong: str) -> None:
    with pytest.raises(IllegalAction, match=f"agent 'own': .*{wrong}" if wrong != "own" else "agent 'own'"):
        advise(Own(**told), some(Config(), games=1), random())


def test_estimates_in_words() -> None:
    assert estimate_text(0.8314, CHANCE_TO_WIN) == "83.1%"
    assert [estimate_text(one, POINTS_AHEAD) for one in (4.25, -3.0)] == ["+4.2", "-3.0"]
    assert (estimate_text(71.26, POINTS), estimate_text(0.12345, RESULT)) == ("71.3", "0.123")


# --- Reviews ---------------------------------------------------------------------------------------------------------


def game_of(config: Any, players: list[Agent], seed: int = 3, most: int = 10_000) -> Replay:
    """A game in which the first player counts as a person."""
    batch, generator = Batch(config, 1, seed, autoreset="disabled"), random(seed)
    actions: list[int] = []
    while batch.actors[0] >= 0 and len(actions) < most:
        action = int(players[batch.actors[0]].act(Decisions.of(batch), generator)[0])
        actions.append(action)
        batch.step([action])
    return Replay.of(config, seed, actions, names=(PERSON, *(agent.name for agent in players[1:])))


def test_a_review_looks_at_every_choice_of_the_people() -> None:
    replay = game_of(Config(players=3), [RandomAgent(), GreedyAgent(), GreedyAgent()], most=60)
    assert replay.winners is None
    parts: list[Review] = []
    agent = RolloutAgent(2)
    found = review(replay, agent, on_part=parts.append)
    assert [len(part.curve) for part in parts] == list(range(found.decisions + 1)) and parts[-1] == found
    for part in parts:
        reached = {point.step for point in part.curve}
        assert part.curve == found.curve[: len(part.curve)] and part.decisions == found.decisions
        assert part.moments == tuple(one for one in found.moments if one.step in reached)
    assert (found.agent, found.estimated, found.seats) == ("rollout-2", POINTS_AHEAD, (0,))
    batch = Batch(replay.config, 1, autoreset="disabled")
    choices = {}
    for step in np.flatnonzero(replay.states["actor"][:-1] == 0).tolist():
        batch.set_states(replay.states[step : step + 1])
        if batch.action_masks.sum() > 1:
            choices[step] = agent.assess(Decisions.of(batch), np.random.default_rng([0, step, 1])).values
    assert found.decisions == len(choices) and found.moments
    assert [point.step for point in found.curve] == list(choices) and {point.seat for point in found.curve} == {0}
    after = {point.step: point.estimate for point in found.curve}
    for one in found.moments:
        values = choices[one.step]
        assert values is not None and one.action == replay.actions[one.step] != one.better
        assert (one.estimate, one.best) == (values[0, one.action], values[0, one.better])
        assert one.drop == one.best - one.estimate > 0 and after[one.step] == one.estimate
        batch.set_states(replay.states[one.step : one.step + 1])
        for action, estimate in ((one.action, one.estimate), (one.better, one.best)):
            assert judged(agent, Decisions.of(batch), action, one.step) == estimate
        with pytest.raises(IllegalAction, match="not a legal answer"):
            judged(agent, Decisions.of(batch), int(np.argmin(batch.action_masks[0])), one.step)
    drops = [one.drop for one in found.moments]
    assert drops == sorted(drops, reverse=True)
    assert review(replay, agent) == found != review(replay, agent, seed=1)
    everybody = review(replay, agent, seats=range(3))
    assert [one for one in everybody.moments if one.seat == 0] == list(found.moments)
    assert {one.seat for one in everybody.moments} == {0, 1, 2}
    strangers = Replay.of(replay.config, replay.seed, replay.actions)
    assert review(strangers, agent).seats == (0, 1, 2)


def test_a_missed_victory_is_the_worst_moment() -> None:
    """player_1 lets player_0 make four in a row, but player_0 plays elsewhere."""
    game = connect_four.GAME
    replay = Replay.of(game.config(), 0, [3, 0, 3, 1, 3, 6, 0, 6, 3])
    for agent in (IsmctsAgent(400), guided(game, 400, network_for(game, size=0.0))):
        for seat, step in ((0, 6), (1, 5)):
            worst = review(replay, agent, (seat,)).moments[0]
            assert (worst.step, worst.seat, worst.better) == (step, seat, 3)
            assert worst.drop > 0.1


def test_games_without_a_wrong_answer() -> None:
    """The reviewing agent would have played the same. A game that has not begun has no decisions."""
    replay = game_of(connect_four.GAME.config(), [RandomAgent(), RandomAgent()])
    batch = Batch(connect_four.GAME.config(), 1, 0, autoreset="disabled")
    actions: list[int] = []
    for step in range(6):
        actions += IsmctsAgent(50).act(Decisions.of(batch), np.random.default_rng([0, step])).tolist()
        batch.step(actions[-1:])
    own = review(Replay.of(replay.config, 0, actions), IsmctsAgent(50))
    assert (own.decisions, len(own.curve), own.moments) == (6, 6, ())
    empty = review(Replay.of(replay.config, 0, []), IsmctsAgent(50))
    assert (empty.decisions, empty.curve, empty.moments, empty.estimated) == (0, (), (), "")


def test_a_review_can_be_ended() -> None:
    class Enough(Exception):
        pass

    def stop(part: Review) -> None:
        if len(part.curve) == 2:
            raise Enough

    with pytest.raises(Enough):
        review(game_of(Config(), [RandomAgent()]), GreedyAgent(), on_part=stop)


def test_who_cannot_look_back() -> None:
    replay = game_of(Config(), [RandomAgent()], most=20)
    for agent in (PolicyAgent(network_for(GAME)), RandomAgent(), Own(value=np.array([0.5]))):
        with pytest.raises(ConfigError, match=f"{agent.name!r}: it has no estimates for single answers"):
            review(replay, agent)
    with pytest.raises(ConfigError, match="seat=1: must be 0 to 0 in this replay"):
        review(replay, GreedyAgent(), (1,))
    with pytest.raises(ConfigError, match="was trained for"):
        review(replay, make_agent("search-20:versus", GAME))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    game, file, output = connect_four.GAME, tmp_path / "game.json", tmp_path / "review.json"
    Replay.of(game.config(), 0, [3, 0, 3, 1, 3, 6, 0, 6, 3], names=(PERSON, "greedy")).save(file)

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([game.home, "review", str(file), *words])
        printed = capsys.readouterr()
        return int(str(ended.value.code or 0)), printed.out, printed.err

    code, out, _ = run("ismcts-400", "--json", str(output))
    content = json.loads(output.read_text(encoding="utf-8"))
    assert (code, content["agent"], content["seats"], content["decisions"]) == (0, "ismcts-400", [0], 5)
    worst = content["moments"][0]
    assert (worst["step"], worst["text"], worst["better_text"]) == (6, "column 1", "column 4")
    assert re.search(r"6 +│ player_0 \(person\) +│ column 1 +│ column 4 +│", out)
    shown = f"ismcts-400 looked at 5 decisions with a choice; at {len(content['moments'])} of them"
    assert shown in out and len(content["moments"]) >= 1
    assert run("ismcts-400", "--seat", "1", "--moments", "1")[1].count("player_1") == 1
    assert run("--seat", "2", "greedy")[::2] == (
        2,
        f"{game.command}: seat=2: must be 0 to 1 in this replay, or none for all hands\n",
    )
    assert run("random")[0] == 2 and run("--json", str(file))[0] == 2
