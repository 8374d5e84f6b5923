"""What a small game gets from `text.plain`: words, pictures, positions, replays, pages, and play at a terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest

from tabletop_agents.random_agent import RandomAgent
from tabletop_engine.errors import ReplayError, ScenarioError, TabletopError
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.legal import NOTHING_ASKED
from tabletop_engine.play.batch import Batch
from tabletop_engine.presentation import Facts
from tabletop_engine.replays.page import page, page_data
from tabletop_engine.replays.replay import Replay, frames
from tabletop_engine.replays.viewer import Viewer
from tabletop_engine.text.plain import PlainPositions
from tabletop_play.typed import TypedSession
from tests.games import connect_four, leduc_poker

BOTH = pytest.mark.parametrize("game", [connect_four.GAME, leduc_poker.GAME], ids=str)


def replay_of(game: Game, seed: int = 5) -> Replay:
    """A game of random actions."""
    batch = Batch(game.config(), 1, seed, autoreset="disabled")
    actions = []
    while batch.actors[0] != NOBODY:
        actions.append(int(batch.random_actions()[0]))
        batch.step(actions[-1:])
    return Replay.of(batch.config, seed, actions)


@BOTH
def test_words(game: Game) -> None:
    replay, words = replay_of(game), game.words
    first, second, *_, last = frames(replay)
    assert words.question(first.state) == f"for {game.decisions[first.state['decision']].replace('_', ' ')}"
    assert second.last_action == game.actions[replay.actions[0]].replace("_", " ")
    facts = words.facts(first.state, None, ("ann", "bob"))
    assert facts.asked == f"{('ann', 'bob')[first.actor]} is asked {words.question(first.state)}."
    assert (facts.actor, facts.phase) == (first.actor, "")
    assert words.facts(last.state, None, None) == Facts("", "The game is over.", NOBODY)
    within = first.state.copy()
    within["decision"], within["actor"] = NOTHING_ASKED, NOBODY
    assert words.facts(within, None, None) == Facts("", "", NOBODY)
    assert list(words.about(replay.config)) == ["2 players"]


def test_text_and_picture() -> None:
    game, draw = leduc_poker.GAME, leduc_poker.table
    state = next(frame.state for frame in frames(replay_of(game)) if frame.actor == 1)
    drawn = game.drawing.render_text(state, 1)
    assert drawn.endswith(f"\n\n{draw(state, 1)}") and drawn.startswith(f"Round {state['round']} of 2, player_0 0, ")
    assert "a hidden card" in drawn and "a hidden card" not in game.drawing.render_text(state)
    assert "\x1b[1m" in game.drawing.render_text(state, colour=True)
    svg = game.drawing.render_svg(state, 1, names=("<ann>", "bob"), last_action="one & all")
    root = ElementTree.fromstring(svg)
    assert root.attrib["data-last-action"] == "one & all" and root.attrib["viewBox"] == "0 0 960 960"
    marks = game.drawing.marks(2)
    ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    uses = [element.attrib["href"][1:] for element in root.iter() if element.tag.endswith("use")]
    assert len({mark.shape for mark in marks}) == len({mark.colour for mark in marks}) == 2
    assert uses == [mark.shape for mark in marks] and set(uses) <= ids
    labels = [element.attrib["aria-label"] for element in root.iter() if "aria-label" in element.attrib]
    assert "<ann>" in labels and "bob is asked for a bet." in labels
    letters = "".join(label for label in labels if len(label) == 1)
    assert draw(state, 1).replace("\n", "").replace(" ", "") in letters
    for wrong in ({"viewer": 2}, {"names": ("a", "b", "c")}):
        with pytest.raises(TabletopError):
            game.drawing.render_svg(state, **wrong)


@pytest.mark.parametrize("value", [None, "1", 1.5, [1], 2**70, True, {}, 300, float("nan")], ids=str)
def test_descriptions_that_are_none(value: Any) -> None:
    game = leduc_poker.GAME
    description = game.described(replay_of(game).states[0])
    for key in ("actor", "turn", "chips"):
        with pytest.raises(ScenarioError, match=key):
            game.scenario({**description, key: value}, None)
    with pytest.raises(ScenarioError, match=r"unknown key 'else'; allowed are rng, .*, turn"):
        game.scenario({**description, "else": value}, None)
    if value != {}:
        with pytest.raises(ScenarioError, match=r"is not a table; allowed are the keys rng, .*, turn"):
            game.scenario(value, None)


@BOTH
def test_what_a_description_leaves_out_is_as_at_the_start(game: Game) -> None:
    start = np.zeros(1, game.state)
    game.config().write_switches(start)
    game.kernels.reset_games(start, game.load_tables(None), np.ones(1, np.bool_), np.zeros(1, np.int64))
    assert game.scenario({}, None).tobytes() == start.tobytes()
    described = game.described(start[0])
    for state in replay_of(game).states[1:]:
        other = game.described(state)
        changed = {name: value for name, value in other.items() if value != described[name]}
        assert changed and game.scenario(changed, None).tobytes() == state.tobytes()


def test_a_part_of_a_description() -> None:
    game = leduc_poker.GAME
    state = game.scenario({"actor": 1, "chips": [3, 1]}, None)
    assert (state.actor, state.chips.tolist(), state.round, state.deck.sum()) == (1, [3, 1], 1, 4)
    batch = Batch(game.config(), 2, seed=1, starts=[{"chips": [3, 1], "actor": 1}])
    assert batch.action_masks.tolist() == [[1, 1, 1]] * 2  # folding is legal, too, because the other player has raised
    for wrong, where, message in (
        ({"chips": [3, 99]}, "chips", r"chips: no game has 99 there; allowed are 1 to 13"),
        ({"actor": 2}, "actor", r"actor: no game has 2 there; allowed are -1 to 1"),
        ({"round": 3}, "round", r"round: no game has 3 there; allowed are 0 to 2"),
        ({"rounds": 100, "round": 90}, "rounds", r"rounds: no game has 100 there; allowed is 2"),
        ({"owners": 1}, "owners", r"owners: no game has 1 there; allowed is 2"),
        ({"players": 3}, "players", r"players: no configuration of Leduc poker \(players=3: must be 2\)"),
        ({"card": 1}, "", r"scenario: unknown key 'card'; allowed are rng, "),
    ):
        with pytest.raises(ScenarioError, match=message) as raised:
            game.scenario(wrong, None)
        assert raised.value.where == where


@dataclass(frozen=True)
class Higher(leduc_poker.Config):
    """Leduc poker with another number of chips."""

    SWITCHES: ClassVar[tuple[str, ...]] = (*leduc_poker.Config.SWITCHES, "chips")
    ante: int = 1

    @property
    def game(self) -> Game:
        return HIGHER

    def write_switches(self, states: np.ndarray) -> None:
        super().write_switches(states)
        states["chips"] = self.ante

    @classmethod
    def of(cls, state: Any, components: None = None) -> Higher:
        return cls(players=int(state["players"]), ante=int(state["chips"][0]))


HIGHER = replace(leduc_poker.GAME, config=Higher)


def test_settings_of_a_configuration_that_are_no_fields() -> None:
    """The setting `ante` is kept in the switch `chips`. This game's `reset` overwrites it, because it knows no ante."""
    positions = PlainPositions(lambda: HIGHER, leduc_poker.positions.ranges)
    assert positions.scenario({"ante": 1}).chips.tolist() == [1, 1]
    assert positions.scenario({"ante": 2, "chips": [2, 2]}).chips.tolist() == [2, 2]
    with pytest.raises(ScenarioError, match="chips: no game has \\[2, 3\\] there; allowed is \\[2, 2\\]"):
        positions.scenario({"chips": [2, 3]})
    with pytest.raises(ScenarioError, match="ante: no configuration of Leduc poker"):
        positions.scenario({"ante": "all"})


@BOTH
def test_replays_pages_and_viewers(game: Game, tmp_path: Path) -> None:
    replay = replay_of(game)
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json", game) == replay
    other = leduc_poker.GAME if game is connect_four.GAME else connect_four.GAME
    with pytest.raises(ReplayError, match=f"a replay of '{game.name}', not of '{other.name}'"):
        Replay.load(tmp_path / "game.json", other)
    Replay.of(replay.config, replay.states[1], replay.actions[1:]).save(tmp_path / "later.json")
    later = Replay.load(tmp_path / "later.json", game)
    assert later.scenario is not None and later.states[-1].tobytes() == replay.states[-1].tobytes()
    data, drawings = page_data(replay, 1)
    assert data["title"] == f"{game.title}: player_0, player_1"
    assert [owner["shape"] in drawings for owner in data["owners"]] == [True] * 2
    assert f"<h1>{game.title}</h1>" in page(data, drawings)
    viewer = Viewer(replay, 1, colour=False)
    viewer.go(1)
    assert game.drawing.render_text(viewer.frames[1].state, 1) in viewer.text()
    assert ("round" in viewer.place()) == (game is leduc_poker.GAME)
    assert max(map(len, viewer.text(30).split("\n"))) <= 30


@BOTH
def test_play(game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = TypedSession(game.config(), {0: RandomAgent()}, seed=6, hints=RandomAgent())
    session.let_agent_act()
    screen = session.screen()
    assert f"You are asked {game.words.question(session.state)}:\n   1  " in screen
    assert "against" not in screen and "player_1 is asked" not in screen
    assert session.answer("1").moved
    assert session.answer("s").text == f"Saved. Go on later with: {game.command} play --resume {game.name}-2p.json"
    assert session.answer("h").text.startswith("Answer by the number of an action, or by a part of its name that no")
    assert session.answer("u").text == "No undo: only in the game alone."
    resumed = TypedSession.resume(f"{game.name}-2p.json", game, RandomAgent())
    assert resumed.state.tobytes() == session.state.tobytes()
    generator = np.random.default_rng(0)
    while not session.over:
        if session.waits_for_agent:
            session.let_agent_act()
        else:
            session.answer(str(generator.integers(1, 4)))
    assert "points" in session.screen() and " win" in session.screen()
    other = leduc_poker.GAME if game is connect_four.GAME else connect_four.GAME
    with pytest.raises(ReplayError, match=f"not of '{other.name}'"):
        TypedSession.resume(f"{game.name}-2p.json", other, RandomAgent())
