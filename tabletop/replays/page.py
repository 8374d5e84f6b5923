"""A replay as one page for a browser, which needs nothing else: no network, no library, no second file.

The page's data is one JSON object; `page.js` shows it. Boards mostly repeat, so each different piece is in it
once:

    steps[i].board   numbers of parts: the picture's start tag, its elements, its end tag
    parts[i]         numbers of tags: an element and what is in it, tag by tag
    tags[i]          `path d="~0.7.12" …/>` and the text behind it, without the `<`; after the `~` numbers of strokes
    strokes[i]       a stroke of a letter's outline

and so are sentences: wherever a step has words, it has their numbers in `texts`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from tabletop.drawing.svg import clean
from tabletop.game import NOBODY
from tabletop.replays.files import THOUSANDTHS, write
from tabletop.replays.pictures import Progress, svg_of
from tabletop.replays.replay import Frame, Replay, frames, told
from tabletop.words import win_text

_DRAWINGS = re.compile("<defs>.*</defs>", re.DOTALL)
_OUTLINE = re.compile(' d="(M[^"m]*m[^"]*)"')
"""Of words: from where they start, letters' outlines, of strokes that start with a relative move."""
_STROKE = re.compile("[Mm][^m]*")
_MOST_OPTIONS = 8
"""Actions whose probabilities are shown; the others are one line together."""


def write_page(
    replay: Replay, path: str | Path, viewer: int | None = None, on_finished: Progress = lambda done: None
) -> None:
    """Write the page. It opens in any browser, from a disk too.

    Arguments:
        viewer: seat that looks on: what is hidden from it is not in the file. None shows all hands.
        on_finished: called with 1 after each step.

    Raises ReplayError as `frames` does and where the file can't be written, TabletopError for a viewer who doesn't
    play.
    """
    write(Path(path), page(*page_data(replay, viewer, on_finished)))


def page(data: dict[str, Any], drawings: str) -> str:
    """The document for `page_data`."""
    style, script = (_template(name) for name in ("css", "js"))
    # no character in it can end the script element or start a comment
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


def _hash(text: str) -> str:
    """What lets a browser run or apply this text in the page, and nothing else."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def page_data(
    replay: Replay, viewer: int | None = None, on_finished: Progress = lambda done: None
) -> tuple[dict[str, Any], str]:
    """What the page knows of the game, JSON-able, and the `<defs>` that its boards refer to.

    Raises as `write_page` does.
    """
    words = replay.game.words
    boards, texts = _Boards(), _Numbers()
    steps: list[dict[str, Any]] = []
    before: Frame | None = None
    for frame in frames(replay, viewer):
        facts = words.facts(frame.state, viewer, replay.owner_labels)
        if before is not None and viewer in (None, before.actor):
            steps[-1]["options"] = _options(replay, before, frame.last_action, texts)
        steps.append(
            {
                "board": boards.add(svg_of(replay, frame, viewer)),
                "round": int(frame.state["round"]),
                "rounds": int(frame.state["rounds"]),
                "phase": texts.of(facts.phase),
                "asked": texts.of(facts.asked),
                "actor": facts.actor,
                "by": frame.last_actor,
                "done": texts.of(frame.last_action),
                "changes": [texts.of(sentence) for sentence in told(replay, frame, viewer)],
                "points": frame.state["points"][: replay.config.owners].tolist(),
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
        "texts": list(texts),
        **boards.content(),
    }
    return data, boards.drawings


def _result(replay: Replay, steps: int) -> str:
    if replay.winners is None:
        return f"Unfinished after {steps} steps"
    who = win_text([replay.label(owner) for owner in replay.winners])
    points = " and ".join(str(number) for number in sorted({replay.points[owner] for owner in replay.winners}))
    loser = int(replay.states[-1]["forfeited"])
    forfeited = "" if loser == NOBODY else f"{replay.label(loser)} forfeited; "
    return f"{forfeited}{who} with {points} point{'' if points == '1' else 's'}"


def _about(replay: Replay, viewer: int | None) -> str:
    """What was played, from what, and whose view it is."""
    parts = list(replay.game.words.about(replay.config))
    if viewer is None:  # all hands can be dealt again from the seed
        parts.append("a described start" if replay.seed is None else f"seed {replay.seed}")
    parts.append("all hands shown" if viewer is None else f"as {replay.label(viewer)} sees it")
    return ", ".join(parts)


def _owners(replay: Replay) -> list[dict[str, Any]]:
    """By owner: name and seat, the id of the shape and the colour as on the board."""
    players = replay.config.players
    seats, marks = replay.game.words.owner_names(players), replay.game.drawing.marks(players)
    return [
        {"name": clean(name), "seat": seat, "shape": mark.shape, "colour": mark.colour}
        for name, seat, mark in zip(replay.owner_labels, seats, marks, strict=True)
    ]


def _options(replay: Replay, frame: Frame, taken: str, texts: _Numbers) -> dict[str, Any]:
    """The answer to a frame's decision, and where they were recorded the likeliest actions with their probabilities.

    `shown` are the words, the probability in thousandths, and 1 for the answer; of the `others` it is their number,
    and what they have together.
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


# --- Once each -------------------------------------------------------------------------------------------------------


class _Numbers(dict[Any, int]):
    """A number for every different thing, in the order in which they came."""

    def of(self, thing: Any) -> int:
        return self.setdefault(thing, len(self))


class _Boards:
    """Pictures taken apart, so that what they share is kept once.

    Attributes:
        drawings: the `<defs>`, the same in all pictures.
    """

    def __init__(self) -> None:
        self._strokes, self._tags, self._parts = _Numbers(), _Numbers(), _Numbers()
        self.drawings = ""

    def add(self, svg: str) -> list[int]:
        """The numbers of the picture's parts, without the drawings that all pictures refer to."""
        if not self.drawings:
            self.drawings = "".join(_DRAWINGS.findall(svg))
        text = _OUTLINE.sub(self._outline, svg.replace(self.drawings, ""))
        parts: list[int] = []
        part: list[int] = []
        depth = 0
        for piece in text.split("<")[1:]:
            tag = piece[: piece.index(">")]
            if tag.startswith("/"):
                depth -= 1
            elif not tag.endswith("/"):
                depth += 1
            part.append(self._tags.of(piece))
            if depth <= 1:
                parts.append(self._parts.of(tuple(part)))
                part = []
        return parts

    def _outline(self, found: re.Match[str]) -> str:
        numbers = ".".join(str(self._strokes.of(stroke)) for stroke in _STROKE.findall(found[1]))
        return f' d="~{numbers}"'

    def content(self) -> dict[str, list[Any]]:
        return {"strokes": list(self._strokes), "tags": list(self._tags), "parts": list(self._parts)}
