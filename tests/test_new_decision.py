"""A new decision of Petrichor: six files name it, and all else that knows decisions follows from them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]

CHANGES = {
    "state.py": [("    KEEP_DROP = 30\n", "    KEEP_DROP = 30\n    REST = 31\n")],
    "rules/action_phase.py": [
        ("ask(s, Decision.TURN, s.first_player)", "ask(s, Decision.REST, s.first_player)"),
        (
            "# --- A turn ",
            """@rule
def allow_rest(s: State) -> None:
    allow(s, DECLINE)
    allow(s, POWER)


@rule
def rest(s: State, action: int) -> None:
    ask(s, Decision.TURN, s.actor)


# --- A turn """,
        ),
        ("import CARD, DECLINE,", "import CARD, DECLINE, POWER,"),
    ],
    "rules/game_flow.py": [
        ("DECISIONS = {\n", "DECISIONS = {\n    Decision.REST: (action_phase.allow_rest, action_phase.rest),\n")
    ],
    "drawing/decisions.py": [
        (
            "ASKED = {\n",
            """ASKED = {
    Decision.REST: Asked(
        "to rest, or not",
        "whether to rest",
        {DECLINE: "go on at once", POWER: "rest a while"},
        lessons.rest,
    ),
""",
        )
    ],
    "drawing/lessons.py": [
        (
            "# --- The end ---",
            """def rest(s: State, t: Tables) -> Paragraphs:
    yield "A rest", "Action Phase"
    yield "You may rest."


# --- The end ---""",
        )
    ],
    "drawing/events.py": [
        (
            "    # --- cards ---\n",
            """    def rest(self, s: State, action: int) -> Story:
        yield f"{_name(s, s.actor)} rests."

    # --- cards ---
""",
        ),
    ],
}
"""For each file: lines that are replaced, and by what."""
PROGRAM = """
from petrichor_env import GAME, Batch, Config, describe, scenario
from petrichor_env.actions import ACTIONS
from tabletop_engine.errors import ScenarioError

batch = Batch(Config(players=2), 1, seed=0)
while batch.states[0].round == 1 and GAME.decisions[batch.states[0].decision] != "rest":
    batch.step(batch.random_actions())
met = batch.states[0].copy()
short = scenario({"players": 2, "decision": "rest", "turns": 0})
for state in (met, short):
    description = describe(state)
    asked = [description[key] for key in ("decision", "phase", "actor")]
    assert asked == ["rest", "action", f"player_{state.first_player}"], asked
    assert scenario(description).tobytes() == state.tobytes()
    assert GAME.words.question(state) == "to rest, or not"
    assert GAME.words.lesson(Config(players=2), state).title == "A rest"
    assert GAME.words.action_text(state, ACTIONS["power"]) == "rest a while"
    names = GAME.form(state)["keys"]["decision"]
    assert dict(zip(names["names"], names["labels"]))["rest"] == "whether to rest"
try:
    scenario({"players": 2, "decision": "rest", "phase": "weather"})
except ScenarioError as error:
    assert "decision 'rest' in phase 'weather'; it belongs to 'action'" in str(error)
else:
    raise AssertionError("a wrong phase is taken")
batch.step([ACTIONS["power"]])
assert GAME.words.events(met, ACTIONS["power"]) == [f"player_{met.actor} rests."]
assert GAME.decisions[batch.states[0].decision] == "turn"
print("played")
"""


def test_six_files_make_a_decision(tmp_path: Path) -> None:
    """It is asked and answered; read, described and edited; explained; and refused in a phase that isn't its own."""
    game = tmp_path / "petrichor_env"
    shutil.copytree(ROOT / "petrichor_env", game, ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in CHANGES.items():
        text = (game / name).read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, f"{name} has changed: {old!r}"
            text = text.replace(old, new)
        (game / name).write_text(text, encoding="utf-8")
    assert len(CHANGES) == 6
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "NUMBA_DISABLE_JIT": "1"}
    assert in_python(PROGRAM, env=env, cwd=tmp_path).stdout == "played\n"
