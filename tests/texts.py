"""Golden texts: what the games say and draw, for a reader who knows the rules.

    python -m tests.texts     # writes tests/texts/*.txt anew

A file holds its questions and their answers. A part begins with a line `=== WHAT: TITLE`, then what is given, as JSON,
and answers to play, each after `> `. What the program makes of it follows below a line `---`. So a new part is written
down to that line by hand, and the command adds the rest. WHAT is one of these:

    rules      the introduction and the complete rules of the given configuration
    brief      the rules in brief
    wide, small, compact, N columns
               the drawing of the given position; with `as player_1` at the end as that player sees it
    decision   what is asked in the position, the answers, what is lost by them, and the explanation
    steps      what the answers do
    refused    what is wrong with each description below the line, its place in brackets; a title of `SHORT` before one
               tells which position it changes

A position is a description as `scenario` takes it, which may hold `components`, too. Without one it is that of the part
before, or that of `tests.support.scenarios.SHORT` with the same title.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import evergreen_env
import petrichor_env
from tabletop_engine.drawing.lines import in_groups, joined
from tabletop_engine.errors import ScenarioError
from tabletop_engine.play.batch import Batch, legal_actions
from tabletop_engine.presentation import Lesson
from tests.support.scenarios import SHORT

FOLDER = Path(__file__).parent / "texts"
FILES = sorted(FOLDER.glob("*.txt"))
GAMES = {game.name: game for game in (petrichor_env.GAME, evergreen_env.GAME)}


class Part(NamedTuple):
    """A question of a file: its lines, what is asked, and what is given: answers, or descriptions that are refused."""

    lines: str
    what: str
    given: dict[str, Any]
    answers: list[str]


def parts_of(path: Path) -> Iterator[Part]:
    """The questions of a file."""
    given: dict[str, Any] = {}
    for text in re.split("^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        asked, _, told = text.partition("\n---\n")
        heading, *lines = asked.split("\n")
        what, title = heading.split(": ", 1)
        if what == "refused":
            descriptions = [line for line in told.split("\n") if line and not line.startswith("    ")]
            yield Part(asked, what, {}, descriptions)
            continue
        given = next((json.loads(line) for line in lines if line.startswith("{")), SHORT.get(title, given))
        yield Part(asked, what, given, [line.removeprefix("> ") for line in lines if line.startswith("> ")])


def written_anew(path: Path) -> str:
    """The file as this version of the program writes it."""
    game = GAMES[path.stem.split("-")[0]]
    return "\n".join(f"=== {part.lines}\n---\n{told(game, part)}\n" for part in parts_of(path))


def played(game: Any, part: Part) -> tuple[Batch, list[str]]:
    """A game in the position of a part, and what its answers did."""
    components = part.given.get("components")
    state = game.scenario({key: one for key, one in part.given.items() if key != "components"}, components)
    batch, steps = Batch(game.config.of(state, components), autoreset="disabled", illegal_action="raise"), []
    batch.states[0] = state
    batch.refresh(check=False)
    for answer in part.answers:
        state = batch.states[0].copy()
        [action] = (one for one in legal_actions(state).tolist() if game.words.answer_name(state, one) == answer)
        told = game.words.events(state, action, None, batch.tables)
        steps += [f"> {game.words.action_text(state, action)}", *(f"  {sentence}" for sentence in told)]
        batch.step([action])
    return batch, steps


def told(game: Any, part: Part) -> str:
    """What the program says about a configuration or a position."""
    words, what = game.words, part.what
    if what == "refused":
        return "\n".join(f"{line}\n    {refusal(game, line)}" for line in part.answers)
    if what in ("rules", "brief"):
        config = game.config(**{key: tuple(one) if isinstance(one, list) else one for key, one in part.given.items()})
        rules = str(words.rules(config, brief=what == "brief"))
        return rules if what == "brief" else f"{_lesson(words.lesson(config))}\n\n{rules}"
    batch, steps = played(game, part)
    state, tables = batch.states[0], batch.tables
    if what == "steps":
        return "\n".join(steps)
    if what == "decision":
        legal = legal_actions(state).tolist()
        lost = {words.action_text(state, action): words.gives_up(state, action) for action in legal}
        warnings = [f"{text}: {sentence}" for text, sentence in lost.items() if sentence]
        lesson = _lesson(words.lesson(batch.config, state, tables))
        return "\n".join([words.facts(state, None, None).asked, *in_groups([*lost], 100, 2), *warnings, lesson])
    form, _, seat = what.partition(" as player_")
    viewer = int(seat) if seat else None
    if form.endswith(" columns"):
        return joined(game.drawing.text_blocks(state, viewer, False, tables), int(form.split()[0]))
    return str(game.drawing.render_text(state, viewer, tables=tables, size=form))


def refusal(game: Any, line: str) -> str:
    """What is wrong with a description, or with a position of `SHORT` with these changes."""
    title, _, content = line.partition("{")
    changes = json.loads("{" + content)
    changed = {**SHORT[title.strip()], **changes} if title else changes
    if title and "pending" in changes:
        changed["pending"] = {**SHORT[title.strip()].get("pending", {}), **changes["pending"]}
    try:
        game.scenario(changed, None)
    except ScenarioError as error:
        return f"[{error.where}]{str(error).removeprefix(error.where)}" if error.where else str(error)
    raise AssertionError(f"not refused: {line}")


def _lesson(lesson: Lesson) -> str:
    lines = [f"{lesson.title} [{lesson.section}]"]
    for paragraph in lesson.text:
        lines += textwrap.wrap(paragraph, 100, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


if __name__ == "__main__":
    for file in FILES:
        file.write_text(written_anew(file), encoding="utf-8")
