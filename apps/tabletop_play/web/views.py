"""Views: what one seat may see of a game, as JSON-able data, with boards as parts of pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tabletop_engine.drawing.parts import parts_without_drawings
from tabletop_engine.drawing.svg import clean
from tabletop_engine.first_game import FirstGame
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.record import told_points
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Moment, Review
from tabletop_engine.text.words import asked_of, in_a_row
from tabletop_play.combinations import Chains, Combination, combinations
from tabletop_play.opponents import in_names
from tabletop_play.preview import Preview, gains
from tabletop_play.session import PERSON, Session
from tabletop_play.web.line import Line

MOST_STEPS = 60
"""The most steps that are sent at once. A page that was away for longer gets the last ones."""


class Boards:
    """The boards of one message. Parts that several boards share are sent once.

    `own`: the seat of those who see them, if there is one (`Session.called`).
    """

    def __init__(self, own: int | None = None) -> None:
        self.own = own
        self._numbers: dict[str, int] = {}

    def add(self, session: Session, state: Any, viewer: int | None, last: str = "") -> list[int]:
        """Add a picture; returns the numbers of its parts."""
        names = tuple(map(clean, session.called(self.own)))
        svg = session.game.drawing.render_svg(state, viewer, tables=session.tables, names=names, last_action=last)
        numbers = self._numbers
        return [numbers.setdefault(part, len(numbers)) for part in parts_without_drawings(svg)]

    @property
    def parts(self) -> list[str]:
        """The parts by number."""
        return list(self._numbers)


_WORDS = frozenset(("asked", "better", "changes", "done", "gives_up", "question", "text", "told"))
"""The keys of words that may name seats."""


def for_people(session: Session, own: int | None, data: Any) -> Any:
    """The data of a message with people's names in its words (`Session.called`)."""
    seats, names = session.names, session.called(own)

    @lru_cache(None)
    def said(text: str) -> str:
        return in_names(text, seats, names)

    def named(value: Any, is_said: bool) -> Any:
        if isinstance(value, str):
            return said(value) if is_said else value
        if isinstance(value, dict):
            return {key: named(one, key in _WORDS) for key, one in value.items()}
        return [named(one, is_said) for one in value] if isinstance(value, (list, tuple)) else value

    return named(data, False)


def owners_of(session: Session, seats: Sequence[int], own: int | None) -> list[dict[str, Any]]:
    """The owners of points, with their shapes and colours on the board. `seats` are those of the page's own people.

    `own` is that of a single one.
    """
    players = session.config.players
    marks = session.game.drawing.marks(players)
    owners, points = [], session.game.named_points(session.state)
    for owner, (name, mark) in enumerate(zip(session.called(own), marks, strict=True)):
        who = "opponent" if owner >= players else "person" if session.seats[owner] == PERSON else "agent"
        owners.append(
            {
                "name": clean(name),
                "seat": session.names[owner],
                "agent": session.seats[owner] if who == "agent" else "",
                "named": owner in session.given_names,
                "shape": mark.shape,
                "colour": mark.colour,
                "points": points[owner],
                "who": "you" if owner in seats else who,
            }
        )
    return owners


def position_of(session: Session, viewer: int | None, boards: Boards) -> dict[str, Any]:
    """What every view of a game has: the board, and the stage of the game."""
    game, state = session.game, session.state
    facts, panes_of = game.words.facts(state, viewer, None), game.drawing.panes(state, viewer)
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
        "board": boards.add(session, state, viewer, last_action(session, viewer, boards.own)),
        "panes": {kind: [one._asdict() for one in getattr(panes_of, kind)] for kind in ("phone", "tablet", "desk")},
        "hand": panes_of.hand,
    }


def last_action(session: Session, viewer: int | None, own: int | None) -> str:
    """The last answer that the viewer may know of, for a picture's last line."""
    for number in range(session.number - 1, max(-1, session.number - MOST_STEPS), -1):
        step = next(session.steps(number, viewer))
        if step.done:
            names = session.called(own)
            return f"{names[step.owner]}: {in_names(step.done, session.names, names)}."
    return ""


def answers_of(session: Session, combined: bool) -> list[dict[str, Any]]:
    """The possible answers (`_answers`). If `combined`, those that go on with each other are one."""
    found = session.combinations() if combined else _one_by_one(session.state)
    return _answers(session, Chains(session.game, session.tables), found)


def _one_by_one(state: Any) -> list[Combination]:
    return [Combination((action,), (state,)) for action in legal_actions(state).tolist()]


def lesson_of(session: Session, state: Any = None) -> dict[str, Any]:
    """The explanation of a state's decision, or without a state of the game."""
    told = session.game.words.lesson(session.config, state, session.tables)
    return {"title": told.title, "text": list(told.text), "section": told.section}


def preview_of(
    session: Session, found: Preview, viewer: int | None, own: int | None, goes_on: bool, learn: bool
) -> dict[str, Any]:
    """A preview, with a board unless nothing can be told, its gains, and what its actor could answer after it.

    That is what can be added to the last question (`Chains.joined`), or to give no more; if nothing can, and `goes_on`,
    the next question's answers, but for a single one; to `learn`, one by one, with the explanation of that question.
    Each has the answers of the preview, too.
    """
    boards, given, lesson = Boards(own), found.given, None
    chains = Chains(session.game, session.tables)
    board = None if found.state is None else boards.add(session, found.state, viewer)
    answers = _answers(session, chains, [one for _, one in chains.joined(given)])
    if answers and all(one["actions"][:-1] != given.actions or one["steps"][-1]["places"] for one in answers):
        answers.append({**_answers(session, chains, [given])[0], "text": "no more", "continues_answer": False})
    if not answers and goes_on and found.is_whole:
        after = _one_by_one(found.state) if learn else combinations(session.game, found.state, session.tables)
        if len(after) > 1:
            lesson = lesson_of(session, found.state) if learn else None
            whole = [Combination(given.actions + one.actions, given.states + one.states) for one in after]
            answers = _answers(session, chains, whole, len(given.actions))
    actor, after = int(session.state["actor"]), found.state
    return {
        "given": _answers(session, chains, [given])[0],
        "gains": [] if after is None else gains(session.game, session.state, after, actor, session.tables),
        "told": found.told,
        "is_whole": found.is_whole,
        "board": board,
        "parts": boards.parts,
        "answers": answers,
        "lesson": lesson,
    }


def _answers(session: Session, chains: Chains, found: Sequence[Combination], begun: int = 0) -> list[dict[str, Any]]:
    """Answers for a page. Those without a place, such as to pass, are last.

    Each has its actions, its words, whether more can be added to its last question (`Chains.joined`), what it gives up,
    whether it only ends what was asked (`Words.declines`), and for each action the words, the places on the board, the
    decision, as answers to one may be chosen in any order, and its question, "" for that of the session. `begun`: so
    many actions are of questions before.
    """
    game, plays = session.game, not isinstance(session, Line)  # an analysis goes on action by action
    asked = game.words.question(session.state) if found else ""
    steps_by_record: dict[tuple[int, int], dict[str, Any]] = {}  # combinations that begin alike share records

    def step_of(before: Any, action: int) -> dict[str, Any]:
        key = id(before), action
        if key not in steps_by_record:
            question = game.words.question(before)
            steps_by_record[key] = {
                "text": game.words.action_text(before, action),
                "places": game.drawing.places(before, action),
                "decision": int(before["decision"]),
                "question": "" if question == asked else asked_of(question),
                "aside": game.words.aside(before, action),
                "name": game.words.answer_name(before, action),
            }
        return steps_by_record[key]

    def answer(one: Combination) -> dict[str, Any]:
        steps = [step_of(*step) for step in zip(one.states, one.actions, strict=True)]
        return {
            "actions": one.actions,
            "text": in_a_row([str(step["text"]) for step in steps[begun:]]),
            "continues_answer": plays and bool(steps[-1]["places"]) and any(True for _ in chains.joined(one)),
            "gives_up": game.words.gives_up(one.states[begun], one.actions[begun]),
            "declines": game.words.declines(one.states[-1], one.actions[-1]),
            "steps": steps,
        }

    return sorted(map(answer, found), key=lambda one: not one["steps"][begun]["places"])


def guide_of(session: Session, first: FirstGame) -> dict[str, Any] | None:
    """What is left of a first game's steps; None once the player has given other answers, and at the end."""
    named = session.game.words.answer_name
    names = [named(one.before, one.action) for one in session.steps(0, None) if one.owner == 0]
    rest = first.rest(names)
    steps = [{"text": one.text, "name": one.action, "place": one.place} for one in rest or ()]
    return {"steps": steps, "of": first.number} if steps else None


def steps_of(session: Session, first: int, viewer: int | None) -> tuple[list[dict[str, Any]], list[Any]]:
    """What happened since the given answer, in words, as far as the viewer may know it.

    What an answer that the viewer may not know of has led to belongs to the step before. A step `begins` a turn if
    anything was drawn since the answer before it. With the steps come the records at the sentences, one for each; None
    where the game keeps none.
    """
    steps: list[dict[str, Any]] = []
    moments: list[Any] = []
    after: list[tuple[str, Any]] = []
    for number in range(session.number - 1, first - 1, -1):
        step = next(session.steps(number, viewer))
        after = [*session.game.words.story(step.before, step.action, viewer, session.tables), *after]
        if step.done or (number == first and after):
            by, changes = step.owner if step.done else NOBODY, [sentence for sentence, _ in after]
            begins = number > 0 and session.drew_chance(number - 1)
            steps.insert(0, {"by": by, "done": step.done, "changes": changes, "begins": begins})
            moments = [*(state for _, state in after), *moments]
            after = []
        if len(steps) == MOST_STEPS:
            break
    return steps, moments


Story = Callable[[], dict[str, Any]]


def story_of(session: Session, moments: Sequence[Any], viewer: int | None, boards: Boards) -> Story:
    """A function that draws the boards for the sentences of `steps_of`, even if the game has gone on.

    `boards` has the present board. The function returns a board for each sentence, and the parts that are not in
    `boards`. A board is None if it looks like the one before. The last one is None too, because the page has it.
    """
    known = len(boards.parts)

    def drawn() -> dict[str, Any]:
        found: list[list[int] | None] = []
        shown: list[int] | None = None
        for state in moments[:-1]:
            board = None if state is None else boards.add(session, state, viewer)
            found.append(None if board == shown else board)
            shown = board
        return {"boards": [*found, None], "parts": boards.parts[known:]}

    return drawn


def review_of(replay: Replay, agent: str, found: Review) -> dict[str, Any]:
    """A review, or a part of it, by the agent of this name."""
    return {
        "agent": agent,
        "estimated": found.estimated,
        "of": found.decisions,
        "last": len(replay.actions),
        "curve": [{"step": one.step, "by": one.seat, "estimate": one.estimate} for one in found.curve],
        "moments": [_moment_of(replay, one) for one in found.moments],
    }


def _moment_of(replay: Replay, one: Moment) -> dict[str, Any]:
    """A decision of a review at which something was given away, with what would have been better."""
    text, state = replay.game.words.action_text, replay.states[one.step]
    return {
        "step": one.step,
        "by": one.seat,
        "action": one.action,
        "text": text(state, one.action),
        "better": text(state, one.better),
        "better_action": one.better,
        "answers": len(legal_actions(state)),
        "estimate": one.estimate,
        "best": one.best,
        "drop": one.drop,
    }


def result_of(session: Session, own: int | None) -> dict[str, Any] | None:
    """The result of a finished game, for the seat `own`; None while it is being played."""
    if not session.over:
        return None
    rows = [[word, told_points(numbers)] for word, numbers in session.points()]
    return {"verdict": session.verdict(own), "rows": rows, "winners": session.game.winners(session.state)}
