"""The table of decisions, and the rule that is made from such a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evergreen_env
import petrichor_env
from evergreen_env.state import Decision as Evergreen
from petrichor_env.actions import ACTIONS
from petrichor_env.config import MODULES
from tabletop_engine.compiling.compiled import kernel, rule
from tabletop_engine.decisions import by_decision, check_table
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.record import NOBODY, Record, array, dtype_of, number
from tests.games import connect_four
from tests.support.processes import in_python

PLAIN = {"NUMBA_DISABLE_JIT": "1"}
TABLES = ("rules.game_flow", "drawing.decisions")
SOLO_MODULES = ("fertilizer", "cactus", "powers", "forecasts")
CONFIGURATIONS: dict[str, Any] = {
    "petrichor": [
        petrichor_env.Config(modules=SOLO_MODULES),
        petrichor_env.Config(players=5, modules=MODULES, drafting=True),
        petrichor_env.Config(players=3, modules=MODULES, components={"pieces.votes": 2, "pieces.drops": 6}),
    ],
    "evergreen": [evergreen_env.Config(players) for players in (1, 3)],
}


class Game(Record):
    """A decision, and which function was called with which argument."""

    decision = number(np.int64, "what is asked")
    called = array(np.int64, 3, "by function")


@rule
def _first(s: Game) -> None:
    s.called[0] += 1


@rule
def _second(s: Game, action: int) -> None:
    s.called[1] += action


@rule
def _third(action: int, s: Game) -> None:
    s.decision = 1  # the next decision is not answered at once
    s.called[2] += 2 * action


_FUNCTIONS = {7: _first, 1: _second, 40: _third}
_answer = by_decision((1, 7, 40), _FUNCTIONS, "s", "action")


@kernel
def _play(games: np.ndarray, action: int) -> None:
    for i in range(games.shape[0]):
        _answer(games[i], action)


def test_the_function_of_the_decision_is_called_with_what_it_takes() -> None:
    games = np.zeros(5, dtype_of(Game))
    games["decision"] = [1, 40, 7, 2, 0]
    _play(games, 5)
    assert games["called"].tolist() == [[0, 5, 0], [0, 0, 10], [1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_no_decision_is_forgotten_or_unknown() -> None:
    with pytest.raises(TypeError, match=r"^the table lacks 2, 9$"):
        by_decision((1, 2, 7, 9, 40), _FUNCTIONS, "s", "action")
    with pytest.raises(TypeError, match=r"^the table has no place for 7$"):
        by_decision((1, 40), _FUNCTIONS, "s", "action")
    with pytest.raises(TypeError, match=r"^the table lacks DRAFT, TURN$"):
        check_table(set(Evergreen) - {Evergreen.DRAFT, Evergreen.TURN}, Evergreen)


FORGOTTEN_MEMBERS = [
    *((f"{home}.{module}", "Decision") for home in ("petrichor_env", "evergreen_env") for module in TABLES),
    ("evergreen_env.drawing.decisions", "Power"),
    ("evergreen_env.drawing.lessons", "Power"),
    ("evergreen_env.drawing.board_players", "Source"),
    ("petrichor_env.drawing.board", "Phase"),
    ("petrichor_env.drawing.board_fields", "Crop"),
    ("petrichor_env.drawing.board_fields", "Growing"),
    ("petrichor_env.drawing.card_texts", "Power"),
    ("petrichor_env.drawing.card_texts", "Timing"),
    ("petrichor_env.drawing.events", "Growing"),
]
FORGOTTEN_NUMBERS = [("actions", "RANGES = (*RANGES, 17)"), ("state", "NUM_FORECASTS = 17")]
WITH_SOMETHING_FORGOTTEN = f"""
import sys
from enum import IntEnum
from importlib import import_module
from tabletop_engine import decisions

check = decisions.check_table

def error_of(case):
    # the games' packages are imported anew
    for name in [name for name in sys.modules if name.partition(".")[0] in ("petrichor_env", "evergreen_env")]:
        del sys.modules[name]
    try:
        case()
    except TypeError as error:
        print(error)
    else:
        print("no error")

def with_a_member(table, enumeration):
    # one that only this table is told of; the others would be first
    def check_table(entries, members):
        caller = sys._getframe(1)
        if table in (caller.f_globals["__name__"], caller.f_back.f_globals["__name__"]):  # by itself, or by_decision
            check(entries, members)

    decisions.check_table = check_table
    state = import_module(table.partition(".")[0] + ".state")
    members = dict(getattr(state, enumeration).__members__)
    setattr(state, enumeration, IntEnum(enumeration, members | dict(FORGOTTEN=120)))
    import_module(table)

def with_a_number(module, change):
    decisions.check_table = check
    exec(change, vars(import_module("petrichor_env." + module)))
    import_module("petrichor_env.drawing")

for case in {FORGOTTEN_MEMBERS}:
    error_of(lambda: with_a_member(*case))
for case in {FORGOTTEN_NUMBERS}:
    error_of(lambda: with_a_number(*case))
"""


def test_what_a_table_forgot_is_an_error_at_import() -> None:
    """A missing member of an enumeration, range of actions, or card: one after the other, in one process."""
    said = in_python(WITH_SOMETHING_FORGOTTEN, env=PLAIN).stdout.splitlines()
    forgotten = dict.fromkeys(FORGOTTEN_MEMBERS, "FORGOTTEN") | dict.fromkeys(FORGOTTEN_NUMBERS, "17")
    told = dict(zip(forgotten, said, strict=True))
    assert told == {one: f"the table lacks {name}" for one, name in forgotten.items()}


@pytest.mark.parametrize("game", [petrichor_env.GAME, evergreen_env.GAME], ids=str)
def test_every_answer_has_words_of_its_own(game: Any) -> None:
    """In every decision of random games no answer is shown by its plain name, except "pass"."""
    configs = CONFIGURATIONS[game.name]
    for config in configs:
        batch = Batch(config, 8, seed=5, autoreset="disabled")
        while (running := batch.actors != NOBODY).any():
            for state in batch.states[running][:2]:
                for action in legal_actions(state).tolist():
                    words = game.words.action_text(state, action)
                    assert words != game.actions[action] or words == "pass", (game.decisions[state["decision"]], words)
            batch.step(batch.random_actions(), which=running)


def test_an_answer_to_another_decision_has_its_plain_name() -> None:
    """It used to be shown in the words of a decision that was not asked: `take an own drop from b1`."""
    state = Batch(petrichor_env.Config(players=2), 1, seed=0).states[0]
    assert petrichor_env.GAME.decisions[state["decision"]] == "setup_cloud"
    for name in ("tile b1", "drop b1 own", "card sun", "decline", "power", "vote wind", "weather wind", "pass"):
        words = petrichor_env.GAME.words.action_text(state, ACTIONS[name])
        assert words == ("put a new cloud on b1" if name == "tile b1" else name)


# --- Rules that forget to write the legal actions --------------------------------------------------------------------

FORGETFUL = """
import sys
sys.path.insert(0, {folder!r})
import no_reset, no_step
from tabletop_engine.play import warm_up
warm_up._warm.update(("no_reset", "no_step"))  # only what is called here is compiled
from tabletop_engine.play.agents import Decisions, ask
from tabletop_engine.play.batch import Batch
from tabletop_engine.errors import StateError, TabletopError
from tabletop_engine.positions.position import positions_of
from tabletop_engine.replays.replay import Replay
from tabletop_agents import make_agent
import numpy as np

def told(what, call):
    try:
        call()
    except TabletopError as error:
        print(f"{{what}}: {{type(error).__name__}}: {{error}}")

def play(game, mode):
    batch = Batch(game.config(), 2, 0, illegal_action=mode)
    for _ in range(2):
        batch.step(batch.random_actions())

def answer(game):
    batch = Batch(game.config(), 1, 0)
    batch.step([3])
    ask(make_agent("random", game), Decisions.of(batch), np.random.default_rng(0))

for mode in ("raise", "lose", "random"):
    told(mode, lambda: play(no_reset.GAME, mode))
    told(mode, lambda: play(no_step.GAME, mode))
told("agent", lambda: answer(no_step.GAME))
told("position", lambda: positions_of(no_step.GAME.config()).first.after(3).after(3))
told("replay", lambda: Replay.of(no_step.GAME.config(), 0, [3, 3]).states)
"""


@pytest.mark.parametrize("without_machine_code", ["1", pytest.param("0", marks=pytest.mark.slow)])
def test_rules_that_forget_the_legal_actions(without_machine_code: str, tmp_path: Path) -> None:
    """The rules are wrong, not an answer: nobody loses and nothing is played, whatever is set for illegal actions."""
    code = Path(connect_four.__file__).read_text(encoding="utf-8")
    for name, written, instead in (
        ("no_reset", "    s.stones[:] = 0\n    legal(s, t)\n", "    s.stones[:] = 0\n"),
        (
            "no_step",
            "        ask(s, 0, 1 - seat)\n        legal(s, t)\n",
            "        ask(s, 0, 1 - seat)\n        forbid_all(s)\n",
        ),
    ):
        assert code.count(written) == 1
        (tmp_path / f"{name}.py").write_text(code.replace(written, instead), encoding="utf-8")
    folder = {"NUMBA_DISABLE_JIT": without_machine_code, "TABLETOP_CACHE_DIR": str(tmp_path / "cache")}
    said = in_python(FORGETFUL.format(folder=str(tmp_path)), env=folder)
    first, second = (f"'a_column' of player_{seat} has no legal action: was `legal` called?" for seat in (0, 1))
    assert said.stdout.splitlines() == [
        *(f"{mode}: StateError: game 0: {text}" for mode in ("raise", "lose", "random") for text in (first, second)),
        f"agent: StateError: agent 'random': {second}",
        f"position: StateError: {second}",
        f"replay: ReplayError: step 2 of 2: {second}",
    ]
