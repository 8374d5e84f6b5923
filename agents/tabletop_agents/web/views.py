"""What a page gets to see: one seat's view of a game as JSON-able data, boards as parts of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tabletop.drawing.parts import parts_of, without_drawings
from tabletop.drawing.svg import clean
from tabletop_agents.play.session import Session, Step

MOST_STEPS = 60
"""That are told at once; of a page that was away for longer, the last ones."""


class Boards:
    """The boards of one message: what several share is in it once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, session: Session, state: Any, viewer: int | None, last: str = "") -> list[int]:
        """The numbers of the parts that make up the picture."""
        svg = session.game.drawing.render_svg(
            state, viewer, tables=session.tables, names=labels(session), last_action=last
        )
        numbers = self._numbers
        return [numbers.setdefault(part, len(numbers)) for part in parts_of(without_drawings(svg))]

    @property
    def parts(self) -> list[str]:
        """The parts by number."""
        return list(self._numbers)


def labels(session: Session) -> tuple[str, ...]:
    """What the owners of points are called on the board: agents by their names, people by their seats."""
    players = session.config.players
    names = (session.agents[seat].name if seat in session.agents else session.names[seat] for seat in range(players))
    return (*names, *session.names[players:])


def owners_of(session: Session, seats: Sequence[int]) -> list[dict[str, Any]]:
    """Who has points, with shape and colour on the board; `seats` are those of the page's own people."""
    players = session.config.players
    marks = session.game.drawing.marks(players)
    owners = []
    for owner, (name, mark) in enumerate(zip(labels(session), marks, strict=True)):
        who = "opponent" if owner >= players else "agent" if owner in session.agents else "person"
        owners.append(
            {
                "name": clean(name),
                "seat": session.names[owner],
                "shape": mark.shape,
                "colour": mark.colour,
                "points": int(session.state["points"][owner]),
                "who": "you" if owner in seats else who,
            }
        )
    return owners


def position_of(session: Session, viewer: int | None, boards: Boards) -> dict[str, Any]:
    """What every view of a game has: the board, and where in the game it is."""
    game, state = session.game, session.state
    facts = game.words.facts(state, viewer, labels(session))
    return {
        "game": game.name,
        "title": game.title,
        "about": list(game.words.about(session.config)),
        "seat": viewer,
        "round": int(state["round"]),
        "rounds": int(state["rounds"]),
        "phase": facts.phase,
        "asked": facts.asked,
        "actor": facts.actor,
        "board": boards.add(session, state, viewer, last_action(session, viewer)),
    }


def last_action(session: Session, viewer: int | None) -> str:
    """The last answer that the viewer may know of, for a picture's last line."""
    for number in range(session.number - 1, max(-1, session.number - MOST_STEPS), -1):
        step = next(session.steps(number, viewer))
        if step.done:
            return f"{labels(session)[step.owner]}: {step.done}."
    return ""


def answers_of(session: Session) -> list[dict[str, Any]]:
    """The legal answers: action, words, and where on the board each can be given."""
    places = session.game.drawing.places
    return [
        {"action": action, "text": text, "places": places(session.state, action)} for action, text in session.answers()
    ]


def question_of(session: Session) -> str:
    """What is asked, so that it follows "You are asked"."""
    return session.game.words.question(session.state)


def steps_of(session: Session, first: int, viewer: int | None, boards: Boards | None) -> list[dict[str, Any]]:
    """What happened from that answer on, as the viewer may know it; with `boards` each sentence has its board."""
    return list(_told(session, max(first, session.number - MOST_STEPS), viewer, boards))


def _told(session: Session, first: int, viewer: int | None, boards: Boards | None) -> Iterator[dict[str, Any]]:
    words = session.game.words
    for step in session.steps(first, viewer):
        if boards is None:
            changes = [(text, None) for text in words.events(step.before, step.action, viewer, session.tables)]
        else:
            changes = _with_boards(session, step, viewer, boards)
        if step.done or changes:
            yield {
                "by": step.owner if step.done else -1,
                "done": step.done,
                "changes": [{"text": text, "board": board} for text, board in changes],
            }


def _with_boards(session: Session, step: Step, viewer: int | None, boards: Boards) -> list[tuple[str, Any]]:
    changes: list[tuple[str, Any]] = []
    shown: list[int] | None = None
    for text, state in session.game.words.story(step.before, step.action, viewer, session.tables):
        board = None if state is None else boards.add(session, state, viewer)
        changes.append((text, None if board == shown else board))
        shown = board
    return changes


def result_of(session: Session) -> dict[str, Any] | None:
    """How a finished game ended, None while it is on."""
    if not session.over:
        return None
    rows = [[word, [int(number) for number in numbers]] for word, numbers in session.points()]
    return {"verdict": session.verdict(), "rows": rows, "winners": session.game.winners(session.state)}
