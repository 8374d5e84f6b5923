"""Mistakes that newcomers make in a game, as changes of Leduc poker, and what `check` says about each.

`python -m tests.mistakes FOLDER NAME …` checks the changed games in plain Python and prints what was found, as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

GAME = Path(__file__).parent / "games" / "leduc_poker.py"


class Mistake(NamedTuple):
    """Changes of the game's source, and a regular expression for the problem that is found first."""

    found: str
    changes: tuple[tuple[str, str], ...]


def change(found: str, *changes: str) -> Mistake:
    """A mistake of pairs of an old and a new text."""
    return Mistake(found, tuple(zip(changes[::2], changes[1::2], strict=True)))


_RESET = "    s.turn = 0\n    legal(s, t)\n\n\n@rule\ndef step"
_DEAL = "    s.cards[0], s.cards[1] = draw_from(s, s.deck), draw_from(s, s.deck)\n"
_END = "    end_game(s)\n\n\n@rule\ndef legal"
_OBSERVE = "    out[viewer] = 1\n"
_RULES = "rules=Rules(reset=reset, step=step, legal=legal, observe=observe, sample_hidden=sample_hidden)"
_SAMPLE = "    s.deck[s.cards[1 - seat]] += 1\n    s.cards[1 - seat] = draw_from(s, s.deck)\n"

MISTAKES = {
    # declarations
    "an action twice": change(
        "actions: 'call' more than once", '("fold", "call", "raise")', '("fold", "call", "call")'
    ),
    "no players": change("players=\\(0, 2\\): must be numbers of at least 1", "players=(2,)", "players=(0, 2)"),
    "a block twice": change(
        "blocks of the observation: 'seat' more than once",
        '("seat", (2,), "one-hot", "the viewer\'s"),',
        '("seat", (2,), "one-hot", "the viewer\'s"), ("seat", (2,), "one-hot", "again"),',
    ),
    "a unit without a number": change("the unit 'chips / many'", '"chips / 13"', '"chips / many"'),
    "points without a sign": change(
        "the field points of the record has the type uint16", "points = array(np.int16", "points = array(np.uint16"
    ),
    "points of one owner": change(
        "room for 1 owners, but 2 players have 2", "points = array(np.int16, 2", "points = array(np.int16, 1"
    ),
    "a name of two words": change("must be one lower-case word", 'name="leduc_poker"', 'name="Leduc poker"'),
    "a switch that is no field": change(
        "SWITCHES: chance: not in the record, so no rule sees it",
        "    ROUNDS: ClassVar[int] = ROUNDS",
        '    ROUNDS: ClassVar[int] = ROUNDS\n    SWITCHES: ClassVar[Any] = ("players", "owners", "rounds", "chance")',
    ),
    # silent in compiled code
    "-1 in an unsigned field": change(
        "the field turn: -1 does not fit into uint8",
        "turn = number(np.int8",
        "turn = number(np.uint8",
        _RESET,
        _RESET.replace("s.turn = 0", "s.turn = -1"),
    ),
    "an index past the end": change(
        "IndexError: index 2 is out of bounds .* s.answers\\[current - 1, s.turn\\]",
        "LONGEST_ROUND = MOST_RAISES + 2",
        "LONGEST_ROUND = MOST_RAISES",
    ),
    "an index below 0": change(
        "IndexError: index -1: below 0", "s.answers[current - 1, s.turn]", "s.answers[current - 2, s.turn]"
    ),
    "an index below 0 in a redraw": change(
        "IndexError: index -[12]: below 0, .*s.deck\\[s.cards\\[-1 - seat\\]\\]",
        _SAMPLE,
        _SAMPLE.replace("1 - seat", "-1 - seat"),
    ),
    "a number that does not fit": change(
        "OverflowError: .* does not fit into int8",
        "RAISED_BY = np.array([0, 2, 4])",
        "RAISED_BY = np.array([0, 120, 240])",
    ),
    "an observation past the end": change(
        "IndexError: index 26 is out of bounds .*out\\[LAYOUT.size\\]",
        _OBSERVE,
        _OBSERVE + "    out[LAYOUT.size] = 1\n",
    ),
    "an observation below 0": change(
        "IndexError: index -3: below 0, .*out\\[viewer - 3\\]", _OBSERVE, _OBSERVE + "    out[viewer - 3] = 1\n"
    ),
    "a sum that overflows": change(
        "a number overflows in plain Python, but not compiled: write int\\(...\\) around .*: out\\[\\(s.cards",
        _OBSERVE,
        _OBSERVE + "    out[(s.cards[viewer] + 127) // 8] = 1\n",
    ),
    "an action past the words": change(
        "IndexError: index 1 is out of bounds", "    allow(s, CALL)\n", "    allow(s, CALL)\n    allow(s, 64)\n"
    ),
    "a division with a rest": change(
        "is cut off to a whole number",
        "    s.points[winner] = s.chips[1 - winner]\n",
        "    s.points[winner] = s.chips[1 - winner] / 2\n",
    ),
    "a division by 0": change(
        "(ZeroDivision|FloatingPoint)Error: .*divi",
        "    s.points[winner] = s.chips[1 - winner]\n",
        "    s.points[winner] = s.chips[1 - winner] // (s.turn - s.turn)\n",
    ),
    "a name that is not there": change(
        "NameError: name 'winers' is not defined",
        "    s.points[winner] = s.chips[1 - winner]\n",
        "    s.points[winers] = s.chips[1 - winner]\n",
    ),
    "a field that is not there": change("'State' object has no attribute 'pot'", _RESET, "    s.pot = 0\n" + _RESET),
    # every state
    "no legal action": change(
        "'a_bet' of player_0 has no legal action",
        "    allow(s, CALL)\n",
        "",
        "if raises < MOST_RAISES",
        "if raises > MOST_RAISES",
    ),
    "an action past the last": change(
        "action 5 is allowed, but the last one is 2", "    allow(s, CALL)\n", "    allow(s, CALL)\n    allow(s, 5)\n"
    ),
    "no end": change(
        "has no end after 20,000 steps", "    s.turn += 1\n", "    ask(s, 0, other)\n    legal(s, t)\n    return\n"
    ),
    "an observation out of bounds": change(
        "in 'chips' of the observation; allowed are 0 to 2", '"chips / 13"', '"chips / 2"'
    ),
    "ranks that are not written": change(
        "ranks writes no place for owner 1",
        _RULES,
        _RULES.replace("sample_hidden)", "sample_hidden, ranks=first)"),
        "# --- What a player sees",
        "@rule\ndef first(s: State, out: np.ndarray) -> None:\n    out[0] = 1\n\n\n# --- What a player sees",
    ),
    "places from 0": change(
        "the places are \\[0, 0\\]: the first is 1",
        _RULES,
        _RULES.replace("sample_hidden)", "sample_hidden, ranks=first)"),
        "# --- What a player sees",
        "@rule\ndef first(s: State, out: np.ndarray) -> None:\n    out[:2] = 0\n\n\n# --- What a player sees",
    ),
    "places without a gap": change(
        "the places are \\[1, 3\\]",
        _RULES,
        _RULES.replace("sample_hidden)", "sample_hidden, ranks=first)"),
        "# --- What a player sees",
        "@rule\ndef first(s: State, out: np.ndarray) -> None:\n    out[0], out[1] = 1, 3\n\n\n# --- What a player sees",
    ),
    "a game that is longer than declared": change(
        "a random game has [3-8] decisions; Game.limits declares at most 2",
        "Limits(decisions=ROUNDS * LONGEST_ROUND,",
        "Limits(decisions=2,",
    ),
    "limits that are a number": change(
        "limits\\(2p\\) is 8, not a Limits",
        "limits=lambda config: Limits(decisions=ROUNDS * LONGEST_ROUND, draws=3, outcomes=len(RANKS)),",
        "limits=lambda config: 8,  # type: ignore[return-value, arg-type]",
    ),
    "a decision without a name": change(
        "the decision is 1, but there are names for 1", "ask(s, 0, other)", "ask(s, 1, other)"
    ),
    "an actor who does not play": change(
        "the actor is 2, of 2 players|seat|index", "        ask(s, 0, other)\n", "        ask(s, 0, 2)\n"
    ),
    "a round too many": change("it is round 2 of 1", "= ROUNDS\n\n\n# --- Rules", "= 1\n\n\n# --- Rules"),
    "players that the rules change": change(
        "the rules changed the fields players or owners",
        "    s.deck[:] = COPIES\n",
        "    s.deck[:] = COPIES\n    s.owners = 1\n",
    ),
    "answers with the same words": change(
        "stands for two legal actions of 'a_bet'",
        "words = PlainWords(DECISIONS, ACTIONS, RULES)",
        "class Same(PlainWords):\n    def action_text(self, state: Any, action: int) -> str:\n        return "
        "'bet'\n\n\nwords = Same(DECISIONS, ACTIONS, RULES)",
    ),
    "a question without words": change(
        "has a question or an answer without words",
        "words = PlainWords(DECISIONS, ACTIONS, RULES)",
        "class Same(PlainWords):\n    def question(self, state: Any) -> str:\n        return ''\n\n\nwords = "
        "Same(DECISIONS, ACTIONS, RULES)",
    ),
    "a drawing that changes the game": change(
        "words or drawings change the record",
        '    """Chips and cards; the',
        '    state["chips"][0] = 1 + state["chips"][0] % 5\n    """Chips and cards; the',
    ),
    "legal actions after the end": change(
        "a finished game has legal actions", _END, "    s.actor = NOBODY\n\n\n@rule\ndef legal"
    ),
    "a range that is too small": change(
        "check refuses a state of a random game", '"chips": (ANTE, MOST_CHIPS)', '"chips": (ANTE, ANTE)'
    ),
    # the same bytes
    "NumPy's random numbers": change(
        "play the same seed differently",
        _DEAL,
        "    s.rng = np.uint64(np.random.randint(2**31))\n" + _DEAL,  # so many that two processes never draw the same
    ),
    "a hash": change("play the same seed differently", _RESET, "    s.cards[0] = hash('x') % 3\n" + _RESET),
    "a field that reset forgets": change(
        "reset leaves the field answers as it was", "    s.answers[:] = NO_ACTION\n", ""
    ),
    # hidden information
    "nothing redrawn": change(
        "the seat is not shown deck.*, cards.*but sample_hidden never redraws it",
        _RULES,
        _RULES.replace(", sample_hidden=sample_hidden", ""),
    ),
    "the random stream kept": change(
        "sample_hidden keeps the random stream", "    s.rng = rng\n    s.deck[s.cards", "    s.deck[s.cards"
    ),
    "the own card redrawn": change(
        "sample_hidden changes what the seat sees: block 'card'", _SAMPLE, _SAMPLE.replace("1 - seat", "seat")
    ),
    "another's card in the observation": change(
        "sample_hidden changes what the seat sees: block 'card'",
        "    out[CARD + s.cards[viewer]] = 1\n",
        "    out[CARD + s.cards[1 - viewer]] = 1\n",
    ),
    "another's card in the drawing": change(
        "the drawing as text shows the seat what it can't know",
        "shown = [viewer in (None, seat) or",
        "shown = [True or viewer in (None, seat) or",
    ),
    "another's card in the words": change(
        "words.facts tells the seat what it can't know",
        "words = PlainWords(DECISIONS, ACTIONS, RULES)",
        "class Loud(PlainWords):\n    def facts(self, state: Any, viewer: Any, names: Any) -> Any:\n        from "
        "dataclasses import replace\n        return replace(super().facts(state, viewer, names), "
        "phase=str(state['cards']))\n\n\nwords = Loud(DECISIONS, ACTIONS, RULES)",
    ),
    "a draw of other frequencies": change(
        "sample_hidden draws with other frequencies",
        _SAMPLE,
        "    s.deck[s.cards[1 - seat]] += 1\n    s.cards[1 - seat] = draw_from(s, (s.deck > 0).astype(np.int8))\n    "
        "s.deck[s.cards[1 - seat]] -= 1\n",
    ),
    "a later draw of other frequencies": change(
        "sample_hidden draws with other frequencies than games have: .*step [1-9]",
        _SAMPLE,
        "    s.deck[s.cards[1 - seat]] += 1\n    weights = s.deck.copy()\n    if s.round == 2:\n"
        "        weights = (s.deck > 0).astype(np.int8)\n    s.cards[1 - seat] = draw_from(s, weights)\n    "
        "s.deck[s.cards[1 - seat]] -= 1\n",
    ),
    "a secret draw that is told": change(
        "words.events tells the seat what was drawn unseen: \\['player_0 rolls ",
        *("LONGEST_ROUND = MOST_RAISES + 2", "LONGEST_ROUND = MOST_RAISES + 2\nSIDES = 6"),
        *(
            '    turn = number(np.int8, "how',
            '    die = number(np.int8, "player_0\'s")\n    turn = number(np.int8, "how',
        ),
        *(_RESET, "    s.die = 0\n" + _RESET),
        "    if action == RAISE:\n        s.chips[seat] += RAISED_BY[current]\n",
        "    if action == RAISE:\n        s.chips[seat] += RAISED_BY[current]\n"
        "        if seat == 0:\n            s.die = 1 + random_below(s, SIDES)\n",
        *(_SAMPLE, _SAMPLE + "    if seat == 1 and s.die > 0:\n        s.die = 1 + random_below(s, SIDES)\n"),
        *("import draw_from", "import draw_from, random_below"),
        *('        "turn": (0, LONGEST_ROUND),', '        "turn": (0, LONGEST_ROUND),\n        "die": (0, SIDES),'),
        "words = PlainWords(DECISIONS, ACTIONS, RULES)",
        "class Loud(PlainWords):\n    def events(self, before: Any, action: Any, viewer: Any, tables: Any) -> Any:\n"
        "        after = np.array([before])\n"
        "        GAME.kernels.play_actions(after, tables, np.array([action]), np.ones(1, np.bool_))\n"
        "        rolled = after[0]['die']\n"
        "        return [f'player_0 rolls {rolled}'] if rolled != before['die'] else []\n\n\n"
        "words = Loud(DECISIONS, ACTIONS, RULES)",
    ),
    "a card that is lost": change(
        "not shown deck\\[0\\] \\(where it is 0\\).*but sample_hidden never redraws it",
        _SAMPLE,
        "    s.cards[1 - seat] = draw_from(s, s.deck)\n",
    ),
}
"""The mistakes by name."""


def in_reset(found: str, *lines: str) -> Mistake:
    """A mistake of lines in `reset`."""
    return change(found, _RESET, "".join(f"    {line}\n" for line in lines) + _RESET)


def in_a_rule(found: str, *lines: str, call: str = "s.turn = helper(s)") -> Mistake:
    """A mistake of lines in another rule, which `reset` calls."""
    body = "".join(f"    {line}\n" for line in lines)
    rule = f"@rule\ndef helper(s: State) -> Any:\n{body}\n\n# --- What a player sees"
    return change(found, "# --- What a player sees", rule, _RESET, f"    {call}\n{_RESET}")


UNCOMPILED = {
    "a list of texts": in_reset(
        "rule reset .*text can't be stored as int8, .*: s.turn = names\\[0\\]",
        "names = ['a', 'b']",
        "s.turn = names[0]",
    ),
    "a list outside of the rule": change(
        "rule reset .*'COSTS' is a list of int64 outside of the rule: make it a NumPy array or a tuple",
        "# --- Rules ---",
        "COSTS = [1, 2, 3]\n# --- Rules ---",
        _RESET,
        "    s.turn = COSTS[1]\n" + _RESET,
    ),
    "a dict": change(
        "rule reset .*'COSTS' is a dict: rules read numbers, tuples of numbers.*: s.turn = COSTS\\['a'\\]",
        "# --- Rules ---",
        "COSTS = {'a': 1}\n# --- Rules ---",
        _RESET,
        "    s.turn = COSTS['a']\n" + _RESET,
    ),
    "an object": change(
        "rule reset .*'POT' is a Pot: rules read numbers",
        "# --- Rules ---",
        "class Pot:\n    chips = 3\n\n\nPOT = Pot()\n# --- Rules ---",
        _RESET,
        "    s.turn = POT.chips\n" + _RESET,
    ),
    "a class": in_reset("rule reset .*'Config' is a class: rules read numbers.*: pot = Config\\(\\)", "pot = Config()"),
    "a record's class": in_reset(
        "rule reset .*'State' is nothing that rules read: they read numbers", "other = State()"
    ),
    "a text made of numbers": in_reset(
        "rule reset .*text can't be stored as int8, .*: s.turn = f", "s.turn = f'{s.turn}'"
    ),
    "a format": in_reset("rule reset .*rules can't use a format in an f-string, .*: print", "print(f'{s.turn:>3}')"),
    "a pattern": in_reset(
        "rule reset .*rules can't use a pattern of several values in match, .*: case",
        "match s.deck:\n        case [_, _]:\n            pass",
    ),
    "an unknown keyword": in_a_rule(
        "rule reset .*the call does not fit helper\\(s\\): got an unexpected keyword argument 'chips', .*: s.turn",
        "return 1",
        call="s.turn = helper(s, chips=3)",
    ),
    "too many arguments": in_a_rule(
        "rule reset .*the call does not fit helper\\(s\\): too many positional arguments",
        "return 1",
        call="s.turn = helper(s, 3)",
    ),
    "an argument too few": change(
        "rule reset .*the call does not fit legal\\(s, t\\): missing a required argument: 't', .*: legal\\(s\\)",
        "legal(s, t)\n\n\n@rule\ndef step",
        "legal(s)\n\n\n@rule\ndef step",
    ),
    "a rule without the numbers": change(
        "rule observe .*the engine calls it otherwise: .* does not fit observe\\(s, viewer, out\\).*: def observe",
        "def observe(s: State, t: Any, viewer: int, out: np.ndarray)",
        "def observe(s: State, viewer: int, out: np.ndarray)",
    ),
    "an undefined name": in_reset("rule reset .*the name 'trun' is not defined, .*: s.turn = trun", "s.turn = trun"),
    "a field that is not there": in_a_rule(
        "rule helper .*the record has no field 'chisp', .*: return s.chisp", "return s.chisp[0]"
    ),
    "a name of two types": in_a_rule(
        "rule helper .*'x' is int in one place and array of int8 in another: a name keeps one type",
        "x = 0",
        "if s.turn > 1:",
        "    x = s.deck",
        "return x",
    ),
    "results of two types": in_a_rule(
        "rule helper .*it returns int in one place and array of int8 in another: all results of a rule have one type",
        "if s.turn > 1:",
        "    return s.deck",
        "return 0",
    ),
    "None in an array": in_reset("rule reset .*there is no array of int8\\[int\\] = None", "s.deck[0] = None"),
    "too many indices": in_reset(
        "rule reset .*cannot index array of int8 with 3 indices.*: s.answers\\[0:1, :, 0\\] = 1",
        "s.answers[0:1, :, 0] = 1",
    ),
    "a text as an index": in_reset(
        "rule reset .*slice\\(the text 'a', int\\).*: s.cards", "s.cards[:] = s.deck['a':2]"
    ),
    "a function of Python": change(
        "rule reset .*'plain' is a function of Python, not a rule: decorate it with @rule, .*: s.turn = plain\\(2\\)",
        "# --- Rules ---",
        "def plain(x: int) -> int:\n    return x + 1\n\n\n# --- Rules ---",
        _RESET,
        "    s.turn = plain(2)\n" + _RESET,
    ),
    "a method of lists": in_reset("rule reset .*there is no .index of array of int8", "s.turn = s.deck.index(2)"),
    "an error that is caught": in_reset(
        "rule reset .*a rule can't catch errors: it has no try and except, .*: except KeyError:",
        "try:",
        "    s.turn = 1",
        "except KeyError:",
        "    s.turn = 0",
    ),
    "a set of numbers and texts": in_reset(
        "rule reset .*int64 and text|rule reset .*can't", "x = {1, 'a'}", "s.turn = len(x)"
    ),
    "an import": in_reset("rule reset .*rules can't use an import inside a rule, .*: import math", "import math"),
    "a starred name": in_reset("rule reset .*rules can't use a starred name on the left", "first, *rest = s.deck"),
    "a file": in_reset(
        "rule reset .*with.*is not supported, .*: def reset", "with open('a') as file:", "    s.turn = 1"
    ),
    "a function that NumPy has not": in_reset(
        "rule reset .*'numpy' has no attribute 'argmaxx'", "s.turn = np.argmaxx(s.deck)"
    ),
    "a number in place of an array": in_reset(
        "rule reset .*there is no .shape of int(8|64), in draw_from of tabletop_engine.chance, .*: s.turn = draw_from",
        "s.turn = draw_from(s, s.turn)",
    ),
    "rules that call each other": change(
        "rule b .*rules may call themselves, but not call each other in turn",
        "# --- What a player sees",
        "@rule\ndef a(s: State, n: int) -> int:\n    return b(s, n - 1) if n else 0\n\n\n"
        "@rule\ndef b(s: State, n: int) -> int:\n    return a(s, n - 1) if n else 0\n\n\n# --- What a player sees",
        _RESET,
        "    s.turn = a(s, 3)\n" + _RESET,
    ),
}
"""Mistakes that Numba refuses, by name: `found` is for the message to the author."""


def module_of(name: str) -> str:
    """The module of the game with this mistake."""
    return "mistake_" + "".join(letter if letter.isalnum() else "_" for letter in name)


def write(folder: Path, name: str, mistakes: dict[str, Mistake] = MISTAKES) -> str:
    """Write the changed game as a module into a folder; returns the module's name."""
    text = GAME.read_text(encoding="utf-8")
    for old, new in mistakes[name].changes:
        assert text.count(old) >= 1, (name, old)
        text = text.replace(old, new, 1)
    module = module_of(name)
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    return module


GAMES = 4
"""Random games of each game."""


def main(folder: str, *names: str) -> None:
    """Check the games with these mistakes, and print a line for each.

    A check plays each game in two processes of plain Python. Here they are two for all games, as starting one takes
    longer than playing.
    """
    for name in names:
        write(Path(folder), name)
    played = {seed: in_plain_python(folder, names, seed) for seed in ("1", "2")}
    sys.path.insert(0, folder)
    testing = importlib.import_module("tabletop_engine.testing")
    every = importlib.import_module("tabletop_engine.testing.every")
    every._in_a_process = lambda config, number, hash_seed: played[hash_seed][config.game.home]
    for name in names:
        game = importlib.import_module(module_of(name)).GAME
        try:
            found = [str(problem) for problem in testing.problems_of(game, games=GAMES)]
        except Exception as error:  # a check must never end with another error
            found = [f"CRASH {type(error).__name__}: {error}"]
        print(json.dumps({"name": name, "found": found}), flush=True)


def in_plain_python(folder: str, names: tuple[str, ...], hash_seed: str) -> dict[str, tuple[list[Any], str]]:
    """What a process of `tabletop_engine.testing.strict` prints of each module, and what went wrong with it."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.mistakes", "--strict", folder, *names],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
    )
    return {module: (lines, error) for module, lines, error in map(json.loads, ran.stdout.splitlines())}


def play_strictly(folder: str, *names: str) -> None:
    """Play the games as `tabletop_engine.testing.strict` does, and print a line for each."""
    sys.path.insert(0, folder)
    strict = importlib.import_module("tabletop_engine.testing.strict")
    strict.make_strict()
    strict.MOST_STEPS = 2_000  # which is an endless game, too
    for module in map(module_of, names):
        lines, error = [], ""
        try:
            lines = list(strict.games(importlib.import_module(module).GAME.config(), GAMES, redraws=True))
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
        print(json.dumps([module, lines, error]), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--strict":
        play_strictly(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
