"""A replay as a page for a browser: one file, without network or libraries.

The data of the page is one JSON object, which `page.js` shows. The boards of a game have many equal parts, so each
different part is stored once:

    steps[i].board   numbers of parts: the picture's start tag, its elements, its end tag
    parts[i]         numbers of tags: an element and its content, tag by tag
    tags[i]          `path d="~0.7.12" …/>` and the text after it, without the `<`; after the `~` numbers of strokes
    strokes[i]       a stroke of the outline of a letter

Sentences are stored once too: the words of a step are numbers of `texts`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_engine.checks import checked
from tabletop_engine.drawing import CURVE_STYLE, SCRIPTS
from tabletop_engine.drawing.parts import drawings_of, parts_without_drawings
from tabletop_engine.drawing.svg import clean
from tabletop_engine.errors import ConfigError
from tabletop_engine.game import NOBODY
from tabletop_engine.play.batch import legal_actions
from tabletop_engine.replays.files import THOUSANDTHS, write
from tabletop_engine.replays.pictures import Progress, svg_of
from tabletop_engine.replays.replay import Frame, Replay, events_for, frames
from tabletop_engine.replays.reviews import Moment, Point, Review
from tabletop_engine.text.words import win_text

_OUTLINE = re.compile(' d="(M[^"m]*m[^"]*)"')
"""The outline of words: a start, then the outlines of letters, whose strokes start with a relative move."""
_STROKE = re.compile("[Mm][^m]*")
_MOST_OPTIONS = 8
"""The number of actions whose probabilities are shown; the others share one line."""


@checked
def write_page(
    replay: Replay,
    path: str | Path,
    viewer: int | None = None,
    on_finished: Progress = lambda done: None,
    *,
    review: Review | None = None,
) -> None:
    """Write a replay as a page, which opens in any browser, also from a disk.

    Arguments:
        viewer: the seat that looks on; the file contains nothing that is hidden from it. None shows all hands.
        on_finished: called with 1 after each step.
        review: what an agent says about this game; the page then has the curve of its estimates, for a viewer only
            those of the viewer's own decisions.

    Raises ConfigError for the review of another game, ReplayError as `frames` does or if the file can't be written, and
    TabletopError for a viewer who doesn't play.
    """
    write(Path(path), page(*page_data(replay, viewer, on_finished, review=review)))


def page(data: dict[str, Any], drawings: str) -> str:
    """The HTML document for the results of `page_data`."""
    style, script = CURVE_STYLE.read_text(encoding="utf-8") + _template("css"), _script()
    # escaped, so that the data can't end the script element or start a comment
    content = json.dumps(data, separators=(",", ":")).translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"})
    filled = {
        "title": html.escape(data["title"]),
        "heading": html.escape(data["heading"]),
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}",
        "style": style,
        "script": script,
        "drawings": drawings,
        "data": content,
    }
    return re.sub("{{([a-z]+)}}", lambda found: filled[found[1]], _template("html"))


def _template(kind: str) -> str:
    return Path(__file__).with_name(f"page.{kind}").read_text(encoding="utf-8")


def _script() -> str:
    """`page.js` after what it uses. These are modules elsewhere, but a page without network has none."""
    modules = (path.read_text(encoding="utf-8") for path in SCRIPTS)
    shared = (re.sub("^export |^import .*\n", "", text, flags=re.MULTILINE) for text in modules)
    return "\n".join(['"use strict";\n', *shared, _template("js")])


def _hash(text: str) -> str:
    """The hash in the page's policy that allows this script or style and no other."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_data(
    replay: Replay,
    viewer: int | None = None,
    on_finished: Progress = lambda done: None,
    *,
    review: Review | None = None,
) -> tuple[dict[str, Any], str]:
    """The data of the page, JSON-able, and the `<defs>` that its boards refer to.

    Arguments and errors are those of `write_page`.
    """
    if review is not None:
        _check_review(replay, review)
    words = replay.game.words
    numbers: dict[int, int] = {}  # of steps, by the number of actions before
    boards, texts, drawings = _Boards(), _Numbers(), ""
    steps: list[dict[str, Any]] = []
    before: Frame | None = None
    for frame in frames(replay, viewer):
        numbers[frame.number] = frame.step
        facts = words.facts(frame.state, viewer, replay.owner_labels)
        picture = svg_of(replay, frame, viewer)
        drawings = drawings or drawings_of(picture)
        if before is not None and viewer in (None, before.actor):
            steps[-1]["options"] = _options(replay, before, frame.last_action, texts)
        steps.append(
            {
                "board": boards.add(picture),
                "round": int(frame.state["round"]),
                "rounds": int(frame.state["rounds"]),
                "phase": texts.of(facts.phase),
                "asked": texts.of(facts.asked),
                "actor": facts.actor,
                "by": frame.last_actor,
                "done": texts.of(frame.last_action),
                "changes": [texts.of(sentence) for sentence in events_for(replay, frame, viewer)],
                "points": replay.game.named_points(frame.state),
            }
        )
        before = frame
        on_finished(1)
    data = {
        "title": f"{replay.game.title}: {', '.join(replay.names)}",
        "heading": replay.game.title,
        "result": _result(replay, len(steps) - 1),
        "about": _about(replay, viewer),
        "owners": _owners(replay),
        "winners": None if replay.winners is None else list(replay.winners),
        "steps": steps,
        "review": None if review is None else _reviewed(replay, review, viewer, numbers, texts),
        "texts": list(texts),
        **boards.content(),
    }
    return data, drawings


def _result(replay: Replay, steps: int) -> str:
    if replay.winners is None:
        return f"Unfinished after {steps} steps"
    who = win_text([replay.label(owner) for owner in replay.winners])
    named = replay.game.named_points(replay.states[-1])
    points = " and ".join(map(str, sorted({named[one] for one in replay.winners})))
    loser = int(replay.states[-1]["forfeited"])
    forfeited = "" if loser == NOBODY else f"{replay.label(loser)} forfeited; "
    return f"{forfeited}{who} with {points} point{'' if points == '1' else 's'}"


def _about(replay: Replay, viewer: int | None) -> str:
    """The configuration, the start, and the viewer, in words."""
    parts = list(replay.game.words.about(replay.config))
    if viewer is None:  # the seed would reveal all hands
        parts.append("a described start" if replay.seed is None else f"seed {replay.seed}")
    parts.append("all hands shown" if viewer is None else f"as {replay.label(viewer)} sees it")
    return ", ".join(parts)


def _owners(replay: Replay) -> list[dict[str, Any]]:
    """For each owner its name, its seat, and the shape and the colour that it has on the board."""
    players = replay.config.players
    seats, marks = replay.game.words.owner_names(players), replay.game.drawing.marks(players)
    return [
        {"name": clean(name), "seat": seat, "shape": mark.shape, "colour": mark.colour}
        for name, seat, mark in zip(replay.owner_labels, seats, marks, strict=True)
    ]


def _options(replay: Replay, frame: Frame, taken: str, texts: _Numbers) -> dict[str, Any]:
    """The action that was played in a frame, and the likeliest actions with their probabilities if recorded.

    In `shown` each has its words, its probability in thousandths, and 1 for the action that was played. `others` has
    the number of the other actions and the sum of their probabilities.
    """
    answer = frame.action
    if not frame.probabilities:
        return {"taken": texts.of(taken)}
    shares = {action: round(share * THOUSANDTHS) for action, share in frame.probabilities.items()}
    if answer is not None:
        shares.setdefault(answer, 0)
    likeliest = sorted(shares, key=lambda action: (-shares[action], action != answer, action))
    shown = likeliest[:_MOST_OPTIONS]
    if answer not in shown:
        shown[-1:] = [answer]  # type: ignore[list-item]
    others = [action for action in likeliest if action not in shown]
    text = replay.game.words.action_text
    words = {action: texts.of(taken if action == answer else text(frame.state, action)) for action in shown}
    return {
        "taken": texts.of(taken),
        "shown": [[words[action], shares[action], int(action == answer)] for action in shown],
        "others": [len(others), sum(shares[action] for action in others)],
    }


def _check_review(replay: Replay, review: Review) -> None:
    judged: list[Point | Moment] = [*review.curve, *review.moments]
    for one in judged:
        known = 0 <= one.step < len(replay.actions) and int(replay.states[one.step]["actor"]) == one.seat
        if not known or not np.isfinite(one.estimate):
            raise ConfigError(f"review: step {one.step} of seat {one.seat} is no decision of this game")
    for moment in review.moments:
        legal = legal_actions(replay.states[moment.step])
        if moment.action != replay.actions[moment.step] or moment.better not in legal or not np.isfinite(moment.best):
            raise ConfigError(f"review: at step {moment.step} it is about another game")


def _reviewed(
    replay: Replay, review: Review, viewer: int | None, numbers: dict[int, int], texts: _Numbers
) -> dict[str, Any]:
    """The curve, and the decisions at which something was given away. What an estimate tells, its own seat knew."""
    text = replay.game.words.action_text
    return {
        "agent": clean(review.agent),
        "estimated": clean(review.estimated),
        "points": [
            {"step": numbers[one.step], "by": one.seat, "estimate": one.estimate}
            for one in review.curve
            if viewer in (None, one.seat)
        ],
        "moments": [
            {
                "step": numbers[one.step],
                "by": one.seat,
                "estimate": one.estimate,
                "best": one.best,
                "drop": one.drop,
                "better": texts.of(text(replay.states[one.step], one.better)),
            }
            for one in review.moments
            if viewer in (None, one.seat)
        ],
    }


# --- Storing each part once ------------------------------------------------------------------------------------------


class _Numbers(dict[Any, int]):
    """A number for every different thing, in the order in which they were added."""

    def of(self, thing: Any) -> int:
        return self.setdefault(thing, len(self))


class _Boards:
    """Pictures divided into parts, so that equal parts are stored once."""

    def __init__(self) -> None:
        self._strokes, self._tags, self._parts = _Numbers(), _Numbers(), _Numbers()

    def add(self, svg: str) -> list[int]:
        """The numbers of the picture's parts, without the drawings that all pictures refer to."""
        parts = (_OUTLINE.sub(self._outline, part) for part in parts_without_drawings(svg))
        return [self._parts.of(tuple(map(self._tags.of, part.split("<")[1:]))) for part in parts]

    def _outline(self, found: re.Match[str]) -> str:
        numbers = ".".join(str(self._strokes.of(stroke)) for stroke in _STROKE.findall(found[1]))
        return f' d="~{numbers}"'

    def content(self) -> dict[str, list[Any]]:
        return {"strokes": list(self._strokes), "tags": list(self._tags), "parts": list(self._parts)}
