"""`petrichor play`: what a typed line does, and whole games on a pseudo-terminal."""

from __future__ import annotations

import io
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from petrichor_env import Config, scenario
from petrichor_env.config import MODULES, VARIANTS
from petrichor_env.drawing import action_text, render_text
from petrichor_env.drawing.text import OWNER_PAINTS, text_blocks
from petrichor_env.game import GAME
from petrichor_env.state import CROP_NAMES
from tabletop_agents import Agent, GreedyAgent, RandomAgent, make_agent, own_agents
from tabletop_engine.drawing.lines import Tiles, Words, fit, in_columns, in_groups, joined, width
from tabletop_engine.errors import ConfigError, IllegalAction, ReplayError
from tabletop_engine.play.agents import POINTS_AHEAD, Decisions
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.replays.replay import Replay
from tabletop_engine.text.terminal import (
    _turn_on_sequences,
    columns_of_output,
    is_terminal,
    obeys_sequences,
    wants_colour,
)
from tabletop_play.opponents import in_names
from tabletop_play.session import PERSON, hints_for
from tabletop_play.terminal import Terminal, hangups_end_input, main, play
from tabletop_play.typed import TypedSession
from tests.support.effort import games
from tests.support.processes import in_python
from tests.support.terminal import Terminal as PseudoTerminal

QUICK = make_agent("ismcts-20", GAME)
"""The agent for hints."""
PAGE = Path(__file__).parents[1] / "docs" / "playing.md"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are saved in the current folder."""
    monkeypatch.chdir(tmp_path)


def solo(seed: int = 7) -> TypedSession:
    return TypedSession(Config(), seed=seed, hints=QUICK)


def against_two(seed: int = 7) -> TypedSession:
    return TypedSession(Config(players=3), {0: GreedyAgent(), 2: RandomAgent()}, seed=seed, hints=QUICK)


def go_on(session: TypedSession) -> None:
    """Let agents answer until a person is asked, or the game is over."""
    while session.waits_for_agent:
        session.let_agent_act()


def play_out(session: TypedSession, seed: int = 0) -> None:
    """Give random answers for people, by number, to the end of the game."""
    generator = np.random.default_rng(seed)
    go_on(session)
    while not session.over:
        if session.changes_hands:
            session.answer("")
        number = generator.integers(1, len(legal_actions(session.state)), endpoint=True)
        assert session.answer(str(number)).moved
        go_on(session)


# --- what is to be seen ----------------------------------------------------------------------------------------------


def test_a_screen() -> None:
    session = solo()
    assert "You against the Southern Winds (neutral). The game is solo.\n" in session.screen()
    session.answer("1")
    screen = session.screen()
    assert "You: play a Frost card\n- You discard 1 frost.\n" in screen
    board = render_text(session.state, 0).replace("player_0", "You     ").split("\n\n", 1)
    assert board[1] in screen and "\nRound 1 of 4, action phase\n" in screen
    assert screen.endswith(
        "\nChoose a tile for the new cloud:\n"
        "   1  put a new cloud on P1\n   2  put a new cloud on P3\n   3  put a new cloud on P5\n"
        "a number, or part of a name; ? hint, u undo, s save, q quit, h help"
    )
    assert "\x1b" not in screen
    coloured = session.screen(colour=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == screen != coloured


def test_what_happened_since_the_last_own_decision() -> None:
    """Everything that others did is told once. An answer is not taken back against them."""
    session = against_two()
    go_on(session)
    assert "greedy, You, random. The game is 3p.\n" in session.screen()
    before = session.state
    while not session.waits_for_agent:
        before = session.state
        session.answer("1")
    go_on(session)
    replay = session.replay
    screen = session.screen()
    told = re.findall(r"^(greedy|You|random): (.*)$", screen.split("\nRound ")[0], re.MULTILINE)
    assert told[0] == ("You", action_text(before, replay.actions[-len(told)]))
    assert {who for who, _ in told[1:]} <= {"greedy", "random"} and len(told) > 2
    now = session.state.tobytes()
    assert session.answer("u").text == "No undo: only in the game alone against the Southern Winds."
    assert session.state.tobytes() == now


def test_everything_fits() -> None:
    """Everything fits into 100 columns. In a narrow terminal everything fits if single words and tiles do."""
    session = TypedSession(Config(players=5, modules=MODULES), dict.fromkeys(range(4), RandomAgent()), seed=3)
    generator = np.random.default_rng(0)
    for _ in range(12):
        go_on(session)
        for columns in (100, 80, 60, 0):
            screen = session.screen(columns)
            assert max(map(width, screen.split("\n"))) <= max(columns, 60)
            assert sorted(
                re.findall(r"[a-d][1-4] (?:Lake|[A-Z]\w+ +\d/?\d?) ", screen.split("in supply")[0])
            ) == sorted(re.findall(r"[a-d][1-4] (?:Lake|[A-Z]\w+ +\d/?\d?) ", session.screen().split("in supply")[0]))
        session.answer(str(generator.integers(1, len(legal_actions(session.state)), endpoint=True)))


@pytest.mark.parametrize(
    "config",
    [Config(players=5, modules=MODULES), Config(), EvergreenConfig(4), EvergreenConfig(1)],
    ids=lambda one: one.name,
)
def test_board_and_answers_fit_into_a_small_terminal(config: Any) -> None:
    """In 80 by 24, for all decisions of random games: everything from the board's heading to the input line fits."""
    small = 0
    for seed in range(games(1, 5)):
        session = TypedSession(config, dict.fromkeys(range(1, config.players), RandomAgent()), seed=seed, hints=QUICK)
        generator = np.random.default_rng(seed)
        while True:
            go_on(session)
            if session.over:
                break
            lines = session.screen(80, rows=24).split("\n")
            below = lines[max(i for i, line in enumerate(lines) if line.startswith("Round ")) :]
            assert len(below) + 1 <= 24 and max(map(width, lines)) <= 80, "\n".join(below)
            small += "|" in below[2] and not below[2].startswith("|")
            answers = session.answers()
            told = " ".join("\n".join(below).split())
            for number, (_, text) in enumerate(answers, 1):
                assert f" {number} {text}" in told or (
                    f" {number} " in told and set(text.split()) <= set(re.split(r"[ :]", told))
                )
            session.answer(str(generator.integers(len(answers)) + 1))
    assert small > 10 or config.players == 1
    assert session.screen(80).split("\n") == session.screen(80, rows=1000).split("\n")


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (["stop", "put it on a1", "put it on b2"], ["   1  stop", "   2  put it on a1", "   3  put it on b2"]),
        (["stop", "set a1", "set b2", "set c3"], ["   1  stop", "      set …:  2 a1  3 b2  4 c3"]),
        (
            ["take 1 of a", "take 1 of b", "leave", "take 1 of c", "take 2 of c"],
            ["      take 1 of …:  1 a  2 b  4 c", "   3  leave", "   5  take 2 of c"],
        ),
        (
            [f"go to a{number}" for number in range(9)],
            ["      go to …:  1 a0  2 a1  3 a2", "        4 a3  5 a4  6 a5  7 a6  8 a7", "        9 a8"],
        ),
    ],
)  # fmt: skip
def test_answers_that_differ_in_one_word(answers: list[str], told: list[str]) -> None:
    assert in_groups(answers, 36, 3) == told


def test_fit() -> None:
    assert fit("one two three", 8) == "one two\n    three"
    three, two = Tiles([[["a"], ["b"], ["c"]]], 1), Tiles([[["a"], ["b"], []]], 1)
    assert joined([three, Words(["x"])]) == "+---+---+---+\n| a | b | c |\n+---+---+---+\nx"
    assert joined([three, Words(["x"])], 9) == "+---+---+\n| a | b |\n+---+\n| c |\n+---+---+\nx"
    assert joined([two], 9) == "+---+---+\n| a | b |\n+---+---+"  # no tile there
    assert joined([Tiles([[["a"], ["b", "B"]]], 1)], 5) == "+---+\n| a |\n|   |\n+---+\n| b |\n| B |\n+---+"
    assert in_columns(["one", "two", "three", "four"], 14) == ["one    three", "two    four"]


def test_seats_have_names() -> None:
    """No screen calls a seat as programs do. What is typed has the same names; the file keeps those of programs."""
    config = Config(players=4, modules=MODULES)
    agents = [make_agent(name, config.game) for name in ("level-2", "greedy", "level-2")]
    session = TypedSession(config, dict(enumerate(agents, 1)), seed=3, hints=QUICK)
    assert "You, Ben (level-2), greedy, Ben 2 (level-2). The game is 4p" in " ".join(session.screen().split())
    generator, shown = np.random.default_rng(1), ""
    go_on(session)
    while not session.over:
        shown += session.screen(100) + session.screen(80, rows=24)
        number = int(generator.integers(len(session.answers())))
        text = session.answers()[number][1]
        assert session.answer(text).moved, text
        go_on(session)
    shown += session.screen()
    assert (
        "player_" not in shown and re.search(r"p1 Ben  .*\n", shown) and "of Ben 2" in shown and "You place a" in shown
    )
    assert session.replay.names == ("person", "level-2", "greedy", "level-2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("player_0 discards 1 frost.", "You discard 1 frost."),
        ("A drop. player_0 has passed, now player_1 has.", "A drop. You have passed, now Ben has."),
        ("2 drops of player_0, now 3; 1 of player_1.", "2 drops of yours, now 3; 1 of Ben."),
        ("player_1 forfeited, player_0 passes", "Ben forfeited, you pass"),
        ("player_0's planet, player_10", "Your planet, player_10"),
    ],
)
def test_a_reader_is_spoken_to(text: str, said: str) -> None:
    assert in_names(text, ("player_0", "player_1"), ("You", "Ben")) == said


def test_the_numbers_of_a_game_stand_below_their_headings() -> None:
    """`render_text` draws the same numbers in a narrow terminal, each below its heading, in the same colours.

    What does not fit beside the numbers stands below them, as `tests/texts` shows.
    """
    session = TypedSession(Config(players=5, modules=MODULES), dict.fromkeys(range(4), RandomAgent()), seed=3)
    for _ in range(8):
        go_on(session)
        text = render_text(session.state)
        for columns, parts in ((70, 1), (60, 2), (40, 3)):
            narrow = joined(text_blocks(session.state), columns)
            coloured = joined(text_blocks(session.state, colour=True), columns)
            assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == narrow
            assert coloured.count(f"{OWNER_PAINTS[0]}p0 player_0\x1b[0m") == parts
            assert max(map(len, narrow.split("\n"))) <= columns
            table = re.search(r"^ +in supply.*?\n\n", narrow, re.DOTALL | re.MULTILINE)
            assert table is not None and table[0].count("p0 player_0") == parts
            for seat in range(5):
                numbers = re.findall(rf"^p{seat} player_{seat}([-\d ]+)$", table[0], re.MULTILINE)
                drawn = re.search(rf"^p{seat} player_{seat}((?: +-?\d+){{9}})", text, re.MULTILINE)
                assert drawn is not None and " ".join(numbers).split() == drawn[1].split()
        session.answer("1")


def test_who_won() -> None:
    verdicts = set()
    for seed in range(6):
        session = TypedSession(Config(players=2), {1: RandomAgent()}, seed=seed, hints=QUICK)
        play_out(session, seed)
        won = session.replay.winners
        assert won in ((0,), (1,))
        verdict = "\nYou win.\n" if won == (0,) else "\nrandom wins.\n"
        assert verdict in session.screen()
        verdicts.add(verdict)
    assert len(verdicts) == 2


# --- several people; that nothing hidden is shown, `test_hidden_in_words.py` tests ------------------------------------


def test_people_at_one_terminal_see_their_own_cards_only() -> None:
    session = TypedSession(Config(players=3, drafting=True), {1: RandomAgent()}, seed=4, hints=QUICK)
    changes = 0
    generator = np.random.default_rng(2)
    while not session.over:
        go_on(session)
        if session.over:
            break
        seat = int(session.state["actor"])
        if session.changes_hands:
            changes += 1
            screen = session.screen()
            assert (
                screen
                == f"Player {seat + 1} is asked. Player {seat + 1}, press Enter when nobody else looks at the screen."
            )
            number = len(session.replay.actions)
            assert session.answer("1").text == session.answer("?").text == "Press Enter first."
            assert len(session.replay.actions) == number and session.changes_hands
            assert session.answer("").moved
        screen = session.screen()
        assert f"Player {seat + 1} is asked" in screen
        board = re.sub(r"player_([02])", lambda found: f"Player {int(found[1]) + 1}", render_text(session.state, seat))
        assert board.replace("player_1", "random  ").split("\n\n", 1)[1] in screen
        session.answer(str(generator.integers(1, len(legal_actions(session.state)), endpoint=True)))
    assert changes > 10 and not session.changes_hands
    winners = [("Player 1", "random", "Player 3")[seat] for seat in session.replay.winners or ()]
    assert winners and f"\n{' and '.join(winners)} {'win' if winners[1:] else 'wins'}.\n" in session.screen()


# --- answers ---------------------------------------------------------------------------------------------------------


def test_answers_by_number_and_by_name() -> None:
    """Wrong lines change nothing."""
    by_number, by_name = solo(), solo()
    for number, name in (("1", "play a fr"), ("3", "p5"), ("02", "vote sun")):
        assert by_number.answer(number).moved and by_name.answer(name).moved
    assert by_number.state.tobytes() == by_name.state.tobytes()
    session = solo()
    session.answer("1")
    before = session.state.tobytes()
    for line in WRONG:
        reply = session.answer(line)
        assert reply.text and not reply.moved and not reply.left, line
        assert len(reply.text) < 300
        assert session.state.tobytes() == before
    assert session.answer("9").text == '"9": the answers are numbered from 1 to 3. h: help'
    assert session.answer("snow").text == '"snow" is none of the 3 answers. h: help'
    assert session.answer("new").text == (
        '"new" may be 1 (put a new cloud on P1), 2 (put a new cloud on P3) or 3 (put a new cloud on P5). h: help'
    )


WRONG = ["0", "4", "99", "-1", "1.5", "9" * 5000, "١", "snow", "new cloud", "put p"]
WRONG += ["\x00", "\x1b[A", "�", "q q", "u 2", "x" * 5000]


def test_an_empty_line() -> None:
    """An empty line shows everything again. It answers only if there is a single answer."""
    session = TypedSession(Config(modules=("forecasts", "fertilizer")), seed=1, hints=QUICK)
    alone = 0
    while not session.over:
        before, single = session.state.tobytes(), len(legal_actions(session.state)) == 1
        assert session.answer("").moved
        assert (session.state.tobytes() != before) == single
        alone += single
        if not single:
            session.answer("1")
    assert session.answer("h").text.startswith("Answer by the number")


def test_undo() -> None:
    """Answers are taken back one by one, with the chance after them: the same answer leads to the same state again."""
    session = solo()
    assert session.answer("u").text == "Nothing to take back."
    states = [session.state.tobytes()]
    numbers = []
    generator = np.random.default_rng(0)
    while not session.over:
        numbers.append(str(generator.integers(1, len(legal_actions(session.state)), endpoint=True)))
        session.answer(numbers[-1])
        states.append(session.state.tobytes())
    for state in states[-2::-1]:
        assert session.answer("undo").moved
        assert session.state.tobytes() == state
    for number, state in zip(numbers, states[1:], strict=True):
        session.answer(number)
        assert session.state.tobytes() == state
    assert len(session.replay.actions) == len(numbers)


def test_hints() -> None:
    """A hint has the favourite with its number, the best three with shares and estimates. The game does not change."""
    session = solo()
    before, screen = session.state.tobytes(), session.screen()
    text = session.answer("?").text
    assert text == session.answer("hint").text
    assert session.state.tobytes() == before and session.screen() == screen
    first, *likeliest, meaning = text.split("\n")
    number, favourite = re.fullmatch(r"ismcts-20 would answer (\d): (.*)", first).groups()  # type: ignore[union-attr]
    assert f"\n   {number}  {favourite}\n" in screen
    shares = [re.fullmatch(r" *([\d.]+)% +([+-][\d.]+)? +(\d+)  (.*)", line) for line in likeliest]
    assert len(shares) == 3 and shares[0] is not None and shares[0].groups()[2:] == (number, favourite)
    values = [float(one[1]) for one in shares if one is not None]
    assert values == sorted(values, reverse=True) and sum(values) <= 100.2
    told = rf"In front: share of its simulations, {POINTS_AHEAD}. With best play: (.*)."
    assert re.fullmatch(told, meaning).groups() == (shares[0][2],)  # type: ignore[union-attr]


def test_hints_say_what_the_agent_can() -> None:
    greedy, network, random, broken = (
        TypedSession(Config(), seed=7, hints=agent).answer("?").text.split("\n")
        for agent in (
            *(make_agent(name, GAME) for name in ("greedy", "policy:solo", "random")),
            Broken(IllegalAction("this is none")),
        )
    )
    number, favourite = re.fullmatch(r"greedy would answer (\d): (.*)", greedy[0]).groups()  # type: ignore[union-attr]
    value = re.fullmatch(rf" +([+-][\d.]+) +{number}  {re.escape(favourite)}", greedy[1])
    assert value is not None and len(greedy) == 5
    assert greedy[4] == f"In front: {POINTS_AHEAD}. With best play: {value[1]}."
    assert re.fullmatch(r"In front: probability of its policy. With best play, chance to win: [\d.]+%.", network[4])
    assert len(random) == 1 and re.fullmatch(r"random would answer \d: .*", random[0])
    assert broken == ["No hint: this is none"]


class Broken:
    """An agent that fails, or whose hint is no answer."""

    name = "broken"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        raise self.error


# --- saving and leaving ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [solo, against_two])
def test_a_resumed_game_goes_on_as_it_would_have_gone(make: Callable[[], TypedSession], tmp_path: Path) -> None:
    session = make()
    for _ in range(5):
        go_on(session)
        session.answer("1")
    go_on(session)
    path = tmp_path / "game.json"
    assert session.answer(f"s {path}").text == f"Saved. Go on later with: petrichor play --resume {path}"
    resumed = TypedSession.resume(path, GAME, QUICK)
    assert resumed.screen() == session.screen() and resumed.state.tobytes() == session.state.tobytes()
    assert [resumed.people, resumed.config] == [session.people, session.config]
    assert not resumed.unsaved and resumed.answer("q").left
    if resumed.config.solo:
        assert resumed.answer("u").moved
        resumed.answer("1")
    play_out(session)
    play_out(resumed)
    assert resumed.state.tobytes() == session.state.tobytes()
    assert resumed.answer("").left
    replay = Replay.load(path, GAME)
    assert replay.winners is not None and replay.actions == session.replay.actions
    with pytest.raises(ConfigError, match="this game is over; look at it with petrichor replay"):
        TypedSession.resume(path, GAME)


def test_resuming_with_other_numbers(tmp_path: Path) -> None:
    """The saved game holds the numbers on the pieces, so their file may be gone. One from a position has no seed."""
    overlay = tmp_path / "own.toml"
    overlay.write_text("pieces.clouds = 9\n", encoding="utf-8")
    session = TypedSession(Config(components=str(overlay)), seed=7, hints=QUICK)
    overlay.unlink()
    session.answer("1")
    path = tmp_path / "game.json"
    session.answer(f"s {path}")
    resumed = TypedSession.resume(path, GAME, QUICK)
    assert "Clouds left: 6." in resumed.screen()
    resumed.answer("1")
    assert resumed.answer("s").text.startswith("Saved.")
    assert TypedSession.resume(path, GAME, QUICK).state.tobytes() == resumed.state.tobytes()

    Replay.of(Config(), solo().state, [], names=[PERSON]).save(path)
    session = TypedSession.resume(path, GAME, QUICK)
    session.answer("1")
    assert session.answer("s").text.startswith("Saved.")
    play_out(TypedSession.resume(path, GAME, QUICK))


def test_files_that_cannot_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own agent is imported only if the command names it, too."""
    path = tmp_path / "game.json"
    with pytest.raises(ReplayError, match="can't be read"):
        TypedSession.resume(path, GAME)

    def saved(*names: str) -> Path:
        Replay.of(Config(players=2), 1, [], names=names).save(path)
        return path

    with pytest.raises(ConfigError, match="no seat is called 'person'"):
        TypedSession.resume(saved("greedy", "random"), GAME)
    with pytest.raises(ConfigError, match="agent 'an unknown one': must be one of random, greedy"):
        TypedSession.resume(saved("person", "an unknown one"), GAME)

    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "evil_module.py").write_text(EVIL, encoding="utf-8")
    saved("person", "evil_module:Agent")
    for trusted in ((), ("other:Agent", "greedy")):
        with pytest.raises(ConfigError, match=r"names evil_module:Agent.*--trust evil_module:Agent"):
            TypedSession.resume(path, GAME, QUICK, trusted)
    assert not Path("it_ran").exists()
    session = TypedSession.resume(path, GAME, QUICK, ("evil_module:Agent",))
    assert Path("it_ran").exists()
    Path("it_ran").unlink()
    assert session.answer("s").text.endswith(f"petrichor play --resume {path} --trust evil_module:Agent")
    # `policy:NAME` looks like `MODULE:CLASS`, but runs no module
    assert own_agents(["policy:versus", "policy-sample:versus", "greedy", "person", "a.b:C"]) == ["a.b:C"]
    assert TypedSession.resume(saved("person", "policy:versus"), GAME, QUICK).agents[1].name == "policy:versus"


EVIL = """
from pathlib import Path
Path("it_ran").touch()
from tabletop_agents import GreedyAgent
class Agent(GreedyAgent):
    pass
"""


def test_saving_replaces_no_other_file(tmp_path: Path) -> None:
    Path("mine.txt").write_text("mine", encoding="utf-8")
    Path("petrichor-solo.json").write_text("mine", encoding="utf-8")
    session = solo()
    session.answer("1")
    assert session.answer("s mine.txt").text == "mine.txt is there already: another name, or s! mine.txt to replace it"
    assert Path("mine.txt").read_text(encoding="utf-8") == "mine"
    assert session.answer("save").text == "Saved. Go on later with: petrichor play --resume petrichor-solo-2.json"
    session.answer("1")
    assert session.answer("s").text.endswith("petrichor-solo-2.json")
    assert session.answer("s! mine.txt").text.endswith("petrichor play --resume mine.txt")
    assert Replay.load("mine.txt", GAME).actions == session.replay.actions
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["mine.txt", "petrichor-solo-2.json", "petrichor-solo.json"]
    for name in ("no/such/folder/game.json", "~nobody-of-that-name/x", "\0", "x" * 400, "."):
        session.answer("1")
        reply = session.answer(f"s! {name}")
        assert reply.text.startswith("Not saved: ") and not reply.left and session.unsaved


def test_saving_by_a_short_word() -> None:
    """A word that can be an answer is taken as one. Quotes are not part of a name, and a folder is not a file."""
    session = solo()
    assert session.answer("s su").text.startswith('"s su" may be 2 (play a Sun card) or ')
    assert not list(Path().iterdir())
    session.answer("1")
    for line, name in (('s "my game.json"', "my game.json"), ("s 'other'", "other"), ("s sun.json", "sun.json")):
        assert session.answer(line).text.startswith("Saved.") and Path(name).is_file()
    assert session.answer("s game").text.startswith("Saved.") and Path("game").is_file()
    Path("folder").mkdir()
    for line in ("s folder", "s! folder", "save 'folder'"):
        assert session.answer(line).text == "Not saved: folder is a folder"


def test_the_start_of_select_sun_is_no_file() -> None:
    """With tied weather spaces, both words begin words of one answer."""
    votes = {kind: {"player_0": 2} for kind in ("frost", "sun", "wind")}
    state = scenario({"players": 1, "decision": "choose_weather", "votes": votes})
    Replay.of(Config(), state, [], names=[PERSON]).save("game.json")
    session = TypedSession.resume("game.json", GAME, QUICK)
    assert "select Sun" in [text for _, text in session.answers()]
    assert session.answer("s su").moved
    assert action_text(state, session.replay.actions[0]) == "select Sun"
    assert [path.name for path in Path().iterdir()] == ["game.json"]


def test_leaving(tmp_path: Path) -> None:
    assert solo().answer("q").left  # nothing was played, nothing is lost
    session = solo()
    session.answer("1")
    before = session.state.tobytes()
    reply = session.answer("q")
    assert "The game is not saved." in reply.text and not reply.left and session.prompt == "save? "
    for line in ("1", "q", "no way", "yess", "?", "x" * 300):
        assert "The game is not saved." in session.answer(line).text
    assert session.answer("c").moved and session.prompt == "> " and session.state.tobytes() == before
    session.answer("quit")
    assert session.answer("n").left and not list(tmp_path.iterdir())
    session.answer("c")
    session.answer("q")
    reply = session.answer("")
    assert reply.left and reply.text == "Saved. Go on later with: petrichor play --resume petrichor-solo.json"
    session.answer("c")
    assert session.answer("q").left  # the game is saved


def test_after_the_end(tmp_path: Path) -> None:
    session = solo()
    play_out(session)
    screen = session.screen()
    own, neutral = session.state["points"][:2].tolist()
    rows = re.findall(r"^([a-z ]+?) {2,}(-?\d+) +(-?\d+)$", screen.split("  You  neutral\n")[1], re.MULTILINE)
    assert rows.pop() == ("points", str(own), str(neutral))
    assert {name for name, *_ in rows} <= {*CROP_NAMES, "dice", "voting wins", "wheat tokens", "cards"}
    assert [sum(int(row[i]) for row in rows) for i in (1, 2)] == [own, neutral]
    assert ("You win against the Southern Winds" in screen) == (session.replay.winners == (0,))
    assert "The seed was 7." in screen and "seed" not in solo().screen() + solo().answer("h").text
    assert "game over" in screen and "s FILE" in screen and session.prompt == "save? "
    for line in ("q", "1", "c", "what"):
        assert "The replay is not saved." in session.answer(line).text
    path = tmp_path / "game.json"
    reply = session.answer(f"s {path}")
    assert reply.left and reply.text == f"Saved. Look at it with: petrichor replay {path}"
    assert Replay.load(path, GAME).names == (PERSON,)
    assert session.answer("u").moved and not session.over


# --- the loop around it ----------------------------------------------------------------------------------------------


class Script(Terminal):
    """Gives lines as a terminal does, and keeps what was shown. A line that is an exception is raised."""

    def __init__(self, lines: Iterable[str | BaseException], wide: int = 100) -> None:
        self.lines = iter(lines)
        self.wide = wide
        self.colour = False
        self.shown: list[str] = []
        self.waited: list[str] = []
        self.cleared = 0

    @property
    def columns(self) -> int:
        return self.wide

    def read(self, prompt: str) -> str:
        line = next(self.lines, EOFError())
        if isinstance(line, BaseException):
            raise line
        return line

    def show(self, text: str) -> None:
        self.shown.append(text)

    def clear(self) -> None:
        self.cleared += 1

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        self.waited.append(text)
        yield


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (Config(), "search-800:solo"),
        (Config(variants=VARIANTS), "search-800:solo"),
        (Config(modules=("cactus",)), "ismcts-2000"),
        (Config(players=2), "search-800:versus"),
        (Config(players=2, rounds=6), "search-800:versus"),
        (Config(players=5), "search-800:versus"),
        (Config(players=5, modules=("cactus", "lake")), "ismcts-2000"),
    ],
)
def test_hints_come_from_a_network_that_knows_the_game(
    config: Config, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hints_for(config).name == name
    monkeypatch.setattr("tabletop_play.session.find_spec", lambda name: None)
    assert hints_for(config).name == "ismcts-2000"


@pytest.mark.slow
def test_nobody_is_made_for_hints_before_they_are_wanted() -> None:
    """A network takes seconds to load."""
    code = """
import sys
from petrichor_env import Config, scenario
from tabletop_play.typed import TypedSession
session = TypedSession(Config(), seed=1)
assert "torch" not in sys.modules
assert session.hints.name == "search-800:solo"
assert "torch" in sys.modules
"""
    in_python(code)


def test_hints_are_waited_for() -> None:
    """There is a waiting text only if the agent thinks, not where "?" asks for no hint."""
    terminal = Script(["?", " HINT ", "? 1", "h", "1", "q", "?"])
    play(solo(), terminal)
    assert terminal.waited == ["ismcts-20 thinks …"] * 2


@pytest.mark.parametrize("wide", [100, 80, 60])
def test_replies_fit(wide: int) -> None:
    """All replies fit, except commands, which people copy."""
    session = TypedSession(
        Config(players=5), dict.fromkeys(range(1, 5), make_agent("ismcts-200", GAME)), seed=3, hints=QUICK
    )
    path = f"{'a' * 30}/{'b' * 30}/{'c' * 30}.json"
    Path(path).parent.mkdir(parents=True)
    terminal = Script(["h", "?", f"s {path}"], wide)
    play(session, terminal)
    (screen, usage, hint, saved), others = terminal.shown[:4], terminal.shown[4:]
    assert others == []  # nothing was played since
    for text in (screen, usage, hint):
        assert max(map(width, text.split("\n"))) <= wide
    assert "ismcts-200 4" in " ".join(usage.split())
    assert saved == f"Saved. Go on later with: petrichor play --resume {path}"


def test_where_the_game_is_kept_if_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = solo()
    session.answer("1")
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "elsewhere"))
    (tmp_path / "petrichor-solo.json.part").mkdir()  # it prevents writing the file here
    assert session.keep().startswith("The game could not be kept: ")
    with monkeypatch.context() as nowhere:
        nowhere.setattr("tempfile.gettempdir", lambda: Path("/nowhere").read_text())  # it raises FileNotFoundError
        assert session.keep().startswith("The game could not be kept: ")
    (tmp_path / "elsewhere").mkdir()
    assert session.keep().endswith(f"petrichor play --resume {tmp_path}/elsewhere/petrichor-solo.json")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGHUP")
def test_a_closed_terminal_and_kill_are_the_end_of_the_input() -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    for number in (signal.SIGHUP, signal.SIGTERM):
        before = signal.getsignal(number)
        with pytest.raises(EOFError), hangups_end_input():
            signal.raise_signal(number)
        assert signal.getsignal(number) is before


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGHUP")
def test_signals_that_follow_the_first_one_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed terminal ends the input and sends signals. They arrive while the game is being saved."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    with hangups_end_input():
        with pytest.raises(EOFError):
            signal.raise_signal(signal.SIGHUP)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.raise_signal(number)

    class Interrupted(TypedSession):
        def keep(self) -> str:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            return super().keep()

    class Gone(Script):
        def show(self, text: str) -> None:
            if "kept" in text:
                raise OSError(5, "Input/output error")

    before = [signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)]
    monkeypatch.setattr(sys, "stdout", None)
    play(Interrupted(Config(), seed=7, hints=QUICK), Gone(["1", "1"]))
    assert len(TypedSession.resume("petrichor-solo.json", GAME).replay.actions) == 2
    assert [signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)] == before


def test_ctrl_c() -> None:
    """The first Ctrl-C asks, as `q` does. The second one saves the game and leaves, as the end of the input does."""
    interrupted: list[str | BaseException] = [
        "1",
        KeyboardInterrupt(),
        "c",
        "1",
        KeyboardInterrupt(),
        KeyboardInterrupt(),
    ]
    for lines, times, line in ((interrupted, 2, ""), (["1", "1"], 0, "\n")):
        terminal = Script(lines)
        play(solo(), terminal)
        assert sum("The game is not saved." in text for text in terminal.shown) == times
        assert terminal.shown[-1] == f"{line}The game is kept. Go on with: petrichor play --resume petrichor-solo.json"
        assert len(TypedSession.resume("petrichor-solo.json", GAME).replay.actions) == 2
        Path("petrichor-solo.json").unlink()
    untouched = Script([])
    play(solo(), untouched)
    assert len(untouched.shown) == 1 and list(Path().iterdir()) == []


def test_ctrl_c_while_others_think() -> None:

    class Interrupted(GreedyAgent):
        calls = 0

        def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            self.calls += 1
            if self.calls == 9:
                raise KeyboardInterrupt
            return super().act(decisions, generator)

    numbers = ["1"] * 12
    alike = []
    for agent, lines in ((GreedyAgent(), numbers), (Interrupted(), [*numbers, "c", *numbers])):
        session = TypedSession(Config(players=2), {1: agent}, seed=3, hints=QUICK)
        play(session, Script(lines))
        alike.append(session.replay.actions[:16])
    assert alike[0] == alike[1] and len(alike[0]) == 16


@pytest.mark.parametrize("error", [RuntimeError("it fell over"), IllegalAction("agent 'broken': no action")])
def test_an_agent_that_fails_loses_no_game(error: Exception) -> None:
    terminal = Script(["1"] * 50)
    with pytest.raises(type(error), match=str(error)):
        play(TypedSession(Config(players=2), {0: Broken(error)}, seed=3, hints=QUICK), terminal)
    assert terminal.shown[-1].endswith("petrichor play --resume petrichor-2p.json")
    assert Replay.load("petrichor-2p.json", GAME).names == ("broken", PERSON)


class Keyboard(io.StringIO):
    """A terminal that input is read from."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("people", [(0,), (0, 1)])
def test_several_people_have_no_history(people: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A person can't bring back lines that another one typed."""
    kept: list[bool] = []
    monkeypatch.setitem(sys.modules, "readline", SimpleNamespace(set_auto_history=kept.append))
    monkeypatch.setattr(sys, "stdin", Keyboard())
    main(GAME, ["greedy"], people=people, seed=3, hints="greedy")
    assert kept == [len(people) == 1]


@pytest.mark.parametrize("closed", [None, Keyboard()])
def test_closed_streams(closed: Keyboard | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing input counts as the end of the input. Without an output, input is still read and the game saved."""
    if closed is not None:
        closed.close()
    monkeypatch.setattr(sys, "stdin", closed)
    monkeypatch.setattr(sys, "stdout", None)
    assert not is_terminal(closed) and not wants_colour() and columns_of_output() == 100
    main(GAME, seed=7, hints="greedy")
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n1"))
    main(GAME, seed=7, hints="greedy")
    assert len(TypedSession.resume("petrichor-solo.json", GAME).replay.actions) == 2


def test_where_there_is_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows is told to obey control sequences once."""
    monkeypatch.setattr(sys, "stdout", Keyboard())
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour() and obeys_sequences()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour() and wants_colour(True)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour() and not obeys_sequences() and wants_colour(True)
    told: list[str] = []
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("tabletop_engine.text.terminal._WINDOWS", True)
    monkeypatch.setattr("os.system", told.append)
    _turn_on_sequences.cache_clear()
    assert obeys_sequences() and obeys_sequences() and told == [""]
    _turn_on_sequences.cache_clear()


def test_a_terminal_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    class Gone(Script):
        def show(self, text: str) -> None:
            if len(self.shown) == 2:
                raise BrokenPipeError
            super().show(text)

    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        play(solo(), Gone(["1", "1", "1"]))
    assert len(TypedSession.resume("petrichor-solo.json", GAME).replay.actions) == 2


def test_the_screen_is_cleared_between_people() -> None:
    terminal = Script(["", "1", "1", "1"])
    session = TypedSession(Config(players=2), seed=3, hints=QUICK)
    play(session, Script([EOFError()]))
    play(session, terminal)
    assert terminal.cleared == 1 + sum("press Enter" in text for text in terminal.shown[1:])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"opponents": ["greedy"], "people": (2,)}, "people=2: must be different seats from 0 to 1"),
        ({"people": (0, 0)}, "people=0, 0: must be different seats"),
        ({"opponents": ["nobody"]}, "agent 'nobody': must be one of"),
        ({"opponents": ["greedy"] * 5}, "players=6"),
        ({"hints": "nobody"}, "agent 'nobody': must be one of"),
        ({"variants": ("double_card",), "opponents": ["greedy"]}, "variants"),
        ({"resume": "x.json", "seed": 0, "opponents": ["greedy"]}, "agents, seed: not with --resume"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        main(GAME, **arguments)  # type: ignore[arg-type]


class SoloOnly(RandomAgent):
    def check(self, config: Config) -> None:
        raise ConfigError("only the solo game")


def test_agents_that_cannot_play_this() -> None:
    """A game with an agent whose name no replay can hold could never be saved."""
    agent = Broken(RuntimeError())
    for name in ("x" * 5001, "", "two\nlines"):
        agent.name = name
        with pytest.raises(ConfigError, match=r"names: .*: must be 1 to 5000 printable characters"):
            TypedSession(Config(players=2), {1: agent})
    solo_only: Agent = SoloOnly()
    with pytest.raises(ConfigError, match="only the solo game"):
        TypedSession(Config(players=2), {1: solo_only})
    with pytest.raises(ConfigError, match="only the solo game"):
        TypedSession(Config(players=2), {1: GreedyAgent()}, hints=solo_only)
    with pytest.raises(ConfigError, match="agents in all seats, 0 to 1: leave one for a person"):
        TypedSession(Config(players=2), {0: GreedyAgent(), 1: GreedyAgent()})


# --- on a pseudo-terminal --------------------------------------------------------------------------------------------


TILES = [f"{column}{row}" for column in "abcd" for row in "1234"]


def program(call: str) -> list[str]:
    """The arguments that start Python. The first lines make Ctrl-C a signal there, as in a shell.

    This matters if the tests run in the background of a script, where signals from the keyboard are ignored.
    """
    terminal = "import fcntl, signal, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)"
    terminal += "\nsignal.signal(signal.SIGINT, signal.default_int_handler)"
    imports = "from petrichor_env.game import GAME\nfrom tabletop_play.terminal import main"
    return ["-c", f"{terminal}\n{imports}\n{call}"]


@pytest.mark.slow
def test_a_whole_game_on_a_terminal(tmp_path: Path) -> None:
    """Solo, by numbers, with wrong keys, an undo and a hint; with colours; the replay is saved at the end."""
    path = tmp_path / "game.json"
    with PseudoTerminal(program("main(GAME, seed=7, hints='ismcts-20')")) as terminal:
        terminal.wait_for("a number, or part of a name")
        assert "\x1b[1m" in terminal.written and OWNER_PAINTS[0] in terminal.written
        terminal.press("frost\r")
        terminal.wait_for('"frost" may be')
        terminal.press("\x1b[A\x1b[5~\t\x01\x0b", "snow\r")
        terminal.wait_for('"snow" is none of the')
        terminal.press("play a fr\r")
        terminal.wait_for("Choose a tile for the new cloud")
        terminal.press("u\r")
        terminal.wait_for("Play a card")
        terminal.press("?\r")
        terminal.wait_for("ismcts-20 would answer")
        terminal.press("h\r")
        terminal.wait_for("show everything once more")
        terminal.press(*["1\r"] * 100)
        terminal.wait_for("save?")
        terminal.press(f"s {path}\r")
        assert terminal.wait_for_end() == 0
        assert "Traceback" not in terminal.written
        assert f"Saved. Look at it with: petrichor replay {path}" in terminal.written
    replay = Replay.load(path, GAME)
    assert replay.winners is not None and replay.seed == 7 and replay.names == (PERSON,)


def test_a_game_with_others_is_left_and_resumed(tmp_path: Path) -> None:
    """In a small terminal the whole board, the question, its answers and the input line are on the screen at once.

    The game is left by Ctrl-C; in a narrow terminal without colours it is left by the end of the input.
    """
    path, keys = tmp_path / "game.json", "a number, or part of a name"
    call = f"main(GAME, ['random'] * 4, people=(0,), seed=3, modules={MODULES}, hints='ismcts-20', colour=True)"
    with PseudoTerminal(program(call), rows=24, columns=80) as terminal:
        for _ in range(8):
            terminal.wait_for(keys)
            screen = terminal.wait_for("\n>")
            lines = screen.split("\n")
            assert len(lines) == 24 and lines[-1].startswith(">")
            place = max(i for i, line in enumerate(lines) if line.startswith("Round "))
            asked = next(i for i, line in enumerate(lines) if line.endswith(":") and i > place)
            assert all(any(f"{a}{i}" in line for line in lines[place:asked]) for a in "abcd" for i in range(1, 5)), (
                screen
            )
            terminal.screen.feed("\x1b[H\x1b[J")  # clears the screen, so that only new text is seen
            terminal.press("1\r")
        terminal.wait_for(keys)
        terminal.interrupt_until("The game is not saved.", typed="half a line")
        terminal.press("c\r", "\r", "q\r", "what\r", f"s {path}\r")
        assert terminal.wait_for_end() == 0
    saved = Replay.load(path, GAME)
    assert saved.names == (PERSON, *["random"] * 4) and saved.winners is None
    call = f"main(GAME, resume={str(path)!r}, colour=False, hints='ismcts-20')"
    with PseudoTerminal(program(call), columns=60) as terminal:
        again = terminal.wait_for(keys)
        assert TypedSession.resume(path, GAME).screen(60).split("\n")[-1] in again
        assert not re.search("\x1b\\[[0-9;]*m", terminal.written)
        terminal.press("1\r")
        terminal.end_input()
        assert terminal.wait_for_end() == 0
        assert "Traceback" not in terminal.written and "The game is kept." in terminal.written
    kept = Replay.load(path, GAME)
    assert kept.actions[: len(saved.actions)] == saved.actions and len(kept.actions) > len(saved.actions)


def test_a_terminal_that_is_closed(tmp_path: Path) -> None:
    """The input ends, nothing can be shown any more, and signals come. Nothing of the game is lost."""
    path = tmp_path / "game.json"
    session = solo()
    session.answer(f"s {path}")
    with PseudoTerminal(program(f"main(GAME, resume={str(path)!r}, hints='ismcts-20')")) as terminal:
        terminal.wait_for("a number, or part of a name")
        terminal.press("play a fr\r")
        terminal.wait_for("Choose a tile for the new cloud")
        terminal.close()
        assert terminal.process.wait(60) == 0
    assert len(TypedSession.resume(path, GAME, QUICK).replay.actions) == 1


# --- the page --------------------------------------------------------------------------------------------------------


def test_the_page_shows_what_the_program_prints() -> None:
    session = solo()
    for line in ("play a fr", "1", "vote sun", "take no"):
        assert session.answer(line).moved
    example = session.screen().split("=\n", 1)[1]
    assert f"```text\n{example}\n```" in PAGE.read_text(encoding="utf-8"), f"write this there:\n{example}"
    small = session.screen(80, rows=20)
    example = small[small.rindex("\nRound ") + 1 :]
    assert f"```text\n{example}\n```" in PAGE.read_text(encoding="utf-8"), f"write this there:\n{example}"
