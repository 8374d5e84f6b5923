"""A game that only says what it must: words, pictures, positions, replays, pages and play from `tabletop.plain`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tabletop_agents.play.session import Session
from tabletop_agents.random_agent import RandomAgent

from petrichor_env import Config
from petrichor_env.actions import ACTION_NAMES
from petrichor_env.game import GAME
from petrichor_env.state import DECISION_NAMES, NOBODY
from tabletop.batch import Batch
from tabletop.errors import ReplayError, ScenarioError, StateError, TabletopError
from tabletop.game import Game
from tabletop.plain import PlainDrawing, PlainPositions, PlainWords
from tabletop.replays.page import page, page_data
from tabletop.replays.replay import Replay, frames
from tabletop.replays.viewer import Viewer

# Petrichor's rules, and nothing else of it: no other game is needed here


class PlainConfig(Config):
    """The same configuration, of the game below."""

    @property
    def game(self) -> Game:
        return PLAIN


def text(state: Any, viewer: int | None) -> str:
    """The hands: others' as numbers of cards."""
    hands = (
        list(map(int, hand)) if viewer in (None, seat) else int(hand.sum()) for seat, hand in enumerate(state["hand"])
    )
    return "\n".join(f"{seat}: {hand}" for seat, hand in enumerate(hands))


SPAN = (-32768, 65535)
OWN_FIELDS = [name for name in GAME.state.names or () if name not in ("rng", "legal")]
words = PlainWords(DECISION_NAMES, ACTION_NAMES)
positions = PlainPositions(
    lambda: PLAIN,
    {
        name: (-(2**63), 2**64) if GAME.state[name].base.itemsize > 2 else SPAN
        for name in OWN_FIELDS
        if name not in ("decision", "actor", "players", "owners", "round", "rounds", "points", "forfeited")
    },
)
PLAIN = dataclasses.replace(
    GAME,
    name="plain",
    title="Plain & simple",
    config=PlainConfig,
    words=words,
    drawing=PlainDrawing(words, text),
    check=positions.check,
    scenario=positions.scenario,
    described=positions.described,
)
CONFIG = PlainConfig(players=3)


@pytest.fixture(scope="module")
def replay() -> Replay:
    batch = Batch(CONFIG, 1, 5, autoreset="disabled")
    actions = []
    while batch.actors[0] != NOBODY:
        actions.append(int(batch.random_actions()[0]))
        batch.step(actions[-1:])
    return Replay.of(CONFIG, 5, actions)


def test_words(replay: Replay) -> None:
    first, second, *_, last = frames(replay)
    assert words.question(first.state) == f"for {DECISION_NAMES[first.state['decision']].replace('_', ' ')}"
    assert second.last_action == ACTION_NAMES[replay.actions[0]].replace("_", " ")
    facts = words.facts(first.state, None, ("ann", "bob", "cid"))
    assert facts.asked.startswith(("ann is asked for ", "bob is asked for ", "cid is asked for "))
    assert (facts.actor, facts.phase) == (first.actor, "")
    assert words.facts(last.state, None, None).actor == NOBODY
    assert list(words.about(CONFIG)) == ["3 players"]


def test_drawings(replay: Replay) -> None:
    state = list(frames(replay))[7].state
    drawn = PLAIN.drawing.render_text(state, 1)
    assert f"\n\n{text(state, 1)}" in drawn and drawn.startswith(f"Round {state['round']} of 4, player_0 ")
    assert "\x1b[1m" in PLAIN.drawing.render_text(state, colour=True)
    svg = PLAIN.drawing.render_svg(state, 1, names=("<ann>", "bob", "cid"), last_action="one & all")
    root = ElementTree.fromstring(svg)
    assert root.attrib["data-last-action"] == "one & all" and root.attrib["viewBox"] == "0 0 960 960"
    marks = PLAIN.drawing.marks(3)
    ids = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
    uses = [element.attrib["href"][1:] for element in root.iter() if element.tag.endswith("use")]
    assert len({mark.shape for mark in marks}) == len({mark.colour for mark in marks}) == 3
    assert uses == [mark.shape for mark in marks] and set(uses) <= ids
    letters = [element.attrib["aria-label"] for element in root.iter() if len(element.get("aria-label", "")) == 1]
    assert "".join(letters).endswith(text(state, 1).replace("\n", "").replace(" ", ""))
    for wrong in ({"viewer": 3}, {"names": ("a", "b")}):
        with pytest.raises(TabletopError):
            PLAIN.drawing.render_svg(state, **wrong)  # type: ignore[arg-type]


def test_positions_go_round(replay: Replay) -> None:
    shown = list(frames(replay))
    for frame in (*shown[::25], shown[-1]):
        description = json.loads(json.dumps(positions.described(frame.state)))
        assert positions.scenario(description).tobytes() == frame.state.tobytes()
    states = replay.states.copy()
    positions.check(states, replay.tables)
    for field, value in (("actor", 3), ("decision", 200), ("players", 9), ("round", 5), ("owners", 2)):
        broken = states[7:8].copy()
        broken[field] = value
        with pytest.raises(StateError, match=field):
            positions.check(broken, replay.tables)
    broken = states[7:8].copy()
    broken["legal"] = 1
    with pytest.raises(StateError, match="legal"):
        positions.check(broken, replay.tables)


@pytest.mark.parametrize("value", [None, "1", 1.5, [1], 2**70, True, {}, 300, float("nan")], ids=str)
def test_descriptions_that_are_none(value: Any, replay: Replay) -> None:
    description = positions.described(replay.states[7])
    for key in ("actor", "supply"):
        with pytest.raises(ScenarioError, match=key):
            positions.scenario({**description, key: value})
    for other in (value, {**description, "else": value}, {"actor": value}):
        with pytest.raises(ScenarioError, match="keys"):
            positions.scenario(other)


def test_replays_and_pages(replay: Replay, tmp_path: Path) -> None:
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json", PLAIN) == replay
    with pytest.raises(ReplayError, match="a replay of 'plain', not of 'petrichor'"):
        Replay.load(tmp_path / "game.json", GAME)
    later = Replay.of(CONFIG, replay.states[9], replay.actions[9:])
    later.save(tmp_path / "later.json")
    assert Replay.load(tmp_path / "later.json", PLAIN).states[-1].tobytes() == replay.states[-1].tobytes()
    data, drawings = page_data(replay, 1)
    assert data["title"] == "Plain & simple: player_0, player_1, player_2"
    assert [owner["shape"] in drawings for owner in data["owners"]] == [True] * 3
    document = page(data, drawings)
    assert "<h1>Plain &amp; simple</h1>" in document and "petrichor" not in data["about"].lower()
    viewer = Viewer(replay, 1, colour=False)
    viewer.go(7)
    assert text(viewer.frames[7].state, 1) in viewer.text()
    assert max(map(len, viewer.text(40).split("\n"))) <= 40


def test_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session(CONFIG, {0: RandomAgent(), 2: RandomAgent()}, seed=3, hints=RandomAgent())
    generator = np.random.default_rng(0)
    for _ in range(5):
        while session.waits_for_agent:
            session.let_agent_act()
        assert "You are asked for " in session.screen() and text(session.state, 1) in session.screen()
        assert session.answer(str(generator.integers(1, 3))).moved or session.answer("1").moved
    assert session.answer("s").text == "Saved. Go on later with: plain play --resume plain-3p.json"
    assert session.answer("h").text.startswith("Answer by the number of an action, or by a part of its name that no")
    assert session.answer("u").text == "No undo: only in the game alone."
    resumed = Session.resume("plain-3p.json", PLAIN, RandomAgent())
    assert resumed.state.tobytes() == session.state.tobytes()
    with pytest.raises(ReplayError, match="not of 'petrichor'"):
        Session.resume("plain-3p.json", GAME, RandomAgent())
