"""Views: what one seat may see of a game, as JSON-able data, with boards as parts of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabletop_agents.play.advice import Moment, Point
from tabletop_agents.play.session import PERSON, Session
from tabletop_engine.drawing.parts import parts_of, without_drawings
from tabletop_engine.drawing.svg import clean
from tabletop_engine.game import NOBODY
from tabletop_engine.replays.replay import Replay

MOST_STEPS = 60
"""Steps that are sent at once, at most. A page that was away for longer gets the last ones."""


class Boards:
    """The boards of one message. Parts that several boards share are sent once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def add(self, session: Session, state: Any, viewer: int | None, last: str = "") -> list[int]:
        """Add a picture; returns the numbers of its parts."""
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
    """The names of the owners of points on the board: agents by their names, people by their seats."""
    own = session.names
    names = (name if seat == PERSON else seat for name, seat in zip(own, session.seats, strict=False))
    return (*names, *own[session.config.players :])


def owners_of(session: Session, seats: Sequence[int]) -> list[dict[str, Any]]:
    """The owners of points, with their shapes and colours on the board. `seats` are those of the page's own people."""
    players = session.config.players
    marks = session.game.drawing.marks(players)
    owners = []
    for owner, (name, mark) in enumerate(zip(labels(session), marks, strict=True)):
        who = "opponent" if owner >= players else "person" if session.seats[owner] == PERSON else "agent"
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
    """What every view of a game has: the board, and the stage of the game."""
    game, state = session.game, session.state
    facts, panes_of = game.words.facts(state, viewer, labels(session)), game.drawing.panes(state, viewer)
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
        "panes": {kind: [one._asdict() for one in panes] for kind, panes in panes_of._asdict().items()},
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
    """The question, in words that follow "You are asked"."""
    return session.game.words.question(session.state)


def steps_of(
    session: Session, first: int, viewer: int | None, boards: Boards | None, now: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """What happened since the given answer, as far as the viewer may know it.

    With `boards` each sentence has its board; `now` is the present board, which belongs to the last sentence.
    """
    steps: list[dict[str, Any]] = []
    for step in session.steps(max(first, session.number - MOST_STEPS), viewer):
        tables = session.tables
        if boards is None:
            changes = [(text, None) for text in session.game.words.events(step.before, step.action, viewer, tables)]
        else:
            changes = list(session.game.words.story(step.before, step.action, viewer, tables))
        if step.done or changes:
            by = step.owner if step.done else NOBODY
            shown = [{"text": text, "board": state} for text, state in changes]
            steps.append({"by": by, "done": step.done, "changes": shown})
    if boards is not None:
        _draw(session, viewer, boards, [change for step in steps for change in step["changes"]], now)
    return steps


def _draw(
    session: Session, viewer: int | None, boards: Boards, changes: Sequence[dict[str, Any]], now: Sequence[int]
) -> None:
    """Replace the records by boards; a board that equals the one before is left out."""
    shown: Any = None
    for change in changes[:-1]:
        state = change["board"]
        board = None if state is None else boards.add(session, state, viewer)
        change["board"] = None if board == shown else board
        shown = board
    if changes:
        changes[-1]["board"] = now


def point_of(one: Point) -> dict[str, Any]:
    """A point of the curve of a review."""
    return {"step": one.step, "by": one.seat, "estimate": one.estimate}


def moment_of(replay: Replay, one: Moment) -> dict[str, Any]:
    """A decision of a review at which something was given away, with what would have been better."""
    text, state = replay.game.words.action_text, replay.states[one.step]
    return {
        "step": one.step,
        "by": one.seat,
        "action": one.action,
        "text": text(state, one.action),
        "better": text(state, one.better),
        "better_action": one.better,
        "estimate": one.estimate,
        "best": one.best,
        "drop": one.drop,
    }


def result_of(session: Session) -> dict[str, Any] | None:
    """The result of a finished game; None while it is being played."""
    if not session.over:
        return None
    rows = [[word, [int(number) for number in numbers]] for word, numbers in session.points()]
    return {"verdict": session.verdict(), "rows": rows, "winners": session.game.winners(session.state)}
