"""Tables: games that pages show. Each page has a link to a table, and sees what the seats of that link may know."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol, TypeVar

from tabletop_agents.play.advice import advise, judged, review
from tabletop_agents.play.session import Session
from tabletop_agents.web import views
from tabletop_agents.web.catalogue import Catalogue, options_of
from tabletop_agents.web.line import Line
from tabletop_agents.web.messages import LARGEST, Refused
from tabletop_engine.described.forms import shortest
from tabletop_engine.errors import IllegalAction, ScenarioError, TabletopError
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.replays.page import page as page_of
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.replay import Replay
from tabletop_engine.replays.reviews import Review

_log = logging.getLogger(__name__)

KINDS = ("play", "watch", "analyse")
_MOST_QUESTIONS = 4
"""Questions to agents that may wait for an answer at one time, for all pages of a table together."""
_LATER = 0.02
"""Seconds between a view and the work on its boards, so that the view is on its way."""

T = TypeVar("T")


class Page(Protocol):
    """A page that is open somewhere."""

    def push(self, text: str) -> None:
        """Send a message after those before it. Must not wait."""
        ...


@dataclass(eq=False)
class Link:
    """An address of a table, for the people in some seats. Whoever has its key plays for them and sees their cards.

    Attributes:
        key: random, so that nobody can guess it.
        seats: those of the people at this device; none if everybody may see everything.
        at_screen: the seat that is at the screen now.
        number: how many different views it has shown.
        gives_alone: whether an answer that is the only one is given by itself.
    """

    key: str
    seats: tuple[int, ...]
    at_screen: int = NOBODY
    number: int = 0
    gives_alone: bool = True
    pages: set[Page] = field(default_factory=set)
    shown_steps: dict[int | None, int] = field(default_factory=dict)  # by viewer: answers whose effects were shown
    shown: bytes = b""  # a digest of what the last view showed

    def __post_init__(self) -> None:
        if self.seats:
            self.at_screen = self.seats[0]


def new_link(seats: Iterable[int]) -> Link:
    """A link with a key that nobody can guess."""
    return Link(secrets.token_urlsafe(16), tuple(seats))


class _View(NamedTuple):
    """A view as JSON, whether it shows more than the one before, and what draws the boards of what led to it."""

    text: str
    is_new: bool
    story: views.Story | None


class Table:
    """One game with the pages that look at it. All its methods run in the server's event loop.

    Arguments:
        kind: "play"; "watch" if agents have all seats; "analyse" if `session` is a `Line`.
        links: for "play" one or more that together have all people's seats; otherwise one without seats.
        learn: explain every decision.
        threads: they run the agents.
        on_change: called when there is something new to save.
    """

    def __init__(
        self,
        session: Session,
        kind: str,
        links: Sequence[Link],
        catalogue: Catalogue,
        threads: Executor,
        *,
        learn: bool = False,
        on_change: Callable[[Table], None] = lambda table: None,
    ) -> None:
        self.session, self.kind, self.links, self.learn = session, kind, tuple(links), learn
        self.catalogue, self._threads, self._on_change = catalogue, threads, on_change
        self.advisers = catalogue.advisers(session.config)
        self.trouble = ""
        self.look: int | None = None  # whose view an analysis shows
        self._playing: asyncio.Task[None] | None = None
        self._stories: set[asyncio.Task[None]] = set()
        self._questions = 0

    @property
    def game(self) -> Game:
        return self.session.game

    @property
    def pages(self) -> int:
        """The number of open pages."""
        return sum(len(link.pages) for link in self.links)

    @property
    def idle(self) -> bool:
        """Whether no page is open and nothing is happening."""
        return not self.pages and self._playing is None and not self._questions

    # --- pages ---

    def open(self, link: Link, page: Page) -> None:
        """Add a page. It gets the present view, with what happened last."""
        self._catch_up()
        link.pages.add(page)
        page.push(self._view(link, past=True).text)
        self._go_on()

    def close(self, link: Link, page: Page) -> None:
        """Remove a page."""
        link.pages.discard(page)

    def _changed(self, undone: Sequence[dict[str, Any] | None] = ()) -> None:
        """Something happened: tell everybody who may know it. `undone` says by link what was taken back."""
        if not undone:
            self._give_what_is_alone()
        self._on_change(self)
        for link, one in zip_longest(self.links, undone):
            self._tell(link, one)
        self._go_on()

    def _catch_up(self) -> None:
        """Give what is alone since somebody is here, or wants it given."""
        number = self.session.number
        self._give_what_is_alone()
        if self.session.number > number:
            self._changed()

    def _give_what_is_alone(self) -> None:
        """Answer for a person as long as there is one answer only.

        Others would see from the time it takes that there was no choice, so this is done only where one person plays.
        """
        session = self.session
        while self.kind == "play" and not self.learn and session.people == (session.actor,):
            if not self.links[0].gives_alone or len(session.combinations()) > 1:
                return
            for action in session.combinations()[0].actions:
                session.play(action)

    def _tell(self, link: Link, undone: dict[str, Any] | None = None) -> None:
        """Show a link's pages what is new to them. Pages that may not know of it get nothing.

        The view comes first. The boards of what led to it follow when they are drawn, because that takes longer.
        """
        if not link.pages:
            return
        view = self._view(link, undone=undone)
        if not view.is_new:
            return
        for page in tuple(link.pages):
            page.push(view.text)
        if view.story is not None:
            task = asyncio.create_task(self._tell_story(link, link.number, view.story))
            self._stories.add(task)
            task.add_done_callback(self._stories.discard)

    async def _tell_story(self, link: Link, number: int, story: views.Story) -> None:
        await asyncio.sleep(_LATER)
        try:
            told = await asyncio.to_thread(story)
        except Exception:  # of a game of somebody's own: the view is there, and whoever waits for boards does without
            _log.exception("the boards of what happened could not be drawn")
            told = {"boards": [], "parts": []}
        text = json.dumps({"story": {"view": number, **told}})
        for page in tuple(link.pages):
            page.push(text)

    async def told(self) -> None:
        """Wait until the boards of all that has happened are sent."""
        await asyncio.gather(*self._stories)

    # --- views ---

    def _viewer(self, link: Link) -> int | None:
        if self.kind == "analyse":
            return self.look
        return link.at_screen if link.seats else None

    def _turn(self, link: Link) -> str:
        if self.session.over:
            return "over"
        if self.kind != "play":
            return "paused" if self.kind == "watch" else "you"
        if self.session.actor not in link.seats:
            return "others"
        return "you" if self.session.actor == link.at_screen else "handover"

    def _view(self, link: Link, past: bool = False, undone: dict[str, Any] | None = None) -> _View:
        """The present view of the link.

        `past` is for a page that was just opened: what happened last is shown as past. So it is where something was
        taken back, which `undone` tells.
        """
        session, viewer, turn = self.session, self._viewer(link), self._turn(link)
        view: dict[str, Any] = {"kind": self.kind, "learn": self.learn, "turn": turn, "trouble": self.trouble}
        boards, steps, story = views.Boards(), [], None
        if turn == "handover":
            view |= {"game": self.game.name, "title": self.game.title, "for": views.labels(session)[session.actor]}
        else:
            view |= views.position_of(session, viewer, boards)
            view |= self._asked(link, turn, view["actor"])
        view |= {"parts": boards.parts, "owners": views.owners_of(session, link.seats)}
        shown = hashlib.blake2b(json.dumps(view).encode(), digest_size=16).digest()
        past = past or undone is not None
        if turn != "handover":
            first = 0 if past else link.shown_steps.get(viewer, 0)
            if self.kind == "analyse":
                first = max(0, session.number - 1)
            steps = views.steps_of(session, first, viewer)
            if not past and self.kind != "analyse" and sum(len(step["changes"]) for step in steps) > 1:
                story = views.story_of(session, first, viewer, boards)
            link.shown_steps[viewer] = session.number
        is_new = shown != link.shown or bool(steps and not past) or undone is not None
        if is_new:
            link.shown, link.number = shown, link.number + 1
        view |= {"number": link.number, "past": past, "undone": undone, "steps": steps, "story": story is not None}
        return _View(json.dumps({"view": view}), is_new, story)

    def _asked(self, link: Link, turn: str, actor: int) -> dict[str, Any]:
        """What a page may do now, if it is not behind a curtain."""
        session, words = self.session, self.game.words
        asked = turn == "you"
        thinks = session.waits_for_agent and actor != NOBODY and self.kind == "play"
        lesson = None
        if self.learn and (asked or session.over):
            lesson = words.lesson(session.state, session.tables)
        return {
            "question": views.question_of(session) if asked else "",
            "answers": views.answers_of(session, self._combines) if asked else [],
            "thinking": session.agents[actor].name if thinks else "",
            "lesson": None if lesson is None else _lesson(lesson),
            "introduction": _lesson(words.introduction(session.config)) if self.learn and not session.number else None,
            "result": views.result_of(session),
            "advisers": self.advisers,
            "can": {
                "undo": self._way_back(link) is not None,
                "advice": asked or turn == "paused",
                "review": self._can_review,
                "export": self._can_export,
            },
            "settings": self._settings if session.over else None,
            **(session.described(self.look) if isinstance(session, Line) else {}),
        }

    @property
    def _combines(self) -> bool:
        """Whether answers that go on with each other are offered as one. A first game explains each of them."""
        return self.kind == "play" and not self.learn

    def _way_back(self, link: Link) -> int | None:
        """The number of answers that are left when this link's people take something back; None if they may not."""
        session = self.session
        alone = len(session.people) == 1
        if self.kind != "play" or not link.seats or not (alone or session.actor == link.at_screen):
            return None
        return session.way_back()

    @property
    def _can_review(self) -> bool:
        if isinstance(self.session, Line):
            return self.session.length > 0
        return self.session.number > 0 and self.session.over

    @property
    def _can_export(self) -> bool:
        """Whether a replay may be saved: it holds all hands, so nobody may be hiding one."""
        return self.session.over or len(self.links) == 1

    @property
    def _settings(self) -> dict[str, Any]:
        """The request that would create another table like this."""
        session = self.session
        chosen = {one["name"]: getattr(session.config, one["name"]) for one in options_of(self.game)}
        people = "apart" if len(self.links) > 1 else "here"
        seats = [people if seat in session.people else name for seat, name in enumerate(session.seats)]
        return {
            "game": self.game.name,
            "players": session.config.players,
            "options": chosen,
            "seats": seats,
            "names": [session.called.get(seat, "") for seat in range(session.config.players)],
            "kind": self.kind,
            "learn": self.learn,
        }

    # --- what pages ask for ---

    async def obey(self, link: Link, page: Page, do: str, message: dict[str, Any]) -> dict[str, Any]:
        """Do what a page asks for, and return the answer. Raises Refused and other TabletopErrors with a message."""
        doing: Callable[[Link, Page, dict[str, Any]], Awaitable[dict[str, Any]]] = getattr(self, f"_on_{do}")
        return await doing(link, page, message)

    async def _on_answer(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        self._check_view(link, message)
        if self._turn(link) != "you":
            raise Refused("it is not your turn")
        try:
            self.session.give(message["actions"])
        except (IllegalAction, OverflowError):
            raise Refused("this is not one of the answers") from None
        self._changed()
        return {}

    async def _on_undo(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        self._check_view(link, message)
        number = self._way_back(link)
        if number is None:
            raise Refused("there is nothing to take back")
        undone = [self._undone(one, number) for one in self.links]
        self.session.undo(number)
        for one in self.links:
            one.shown_steps = {viewer: min(steps, number) for viewer, steps in one.shown_steps.items()}
        self._changed(undone)
        return {}

    def _undone(self, link: Link, number: int) -> dict[str, Any] | None:
        """What a link is told when the answers from this number on are taken back; None if it knows of none of them."""
        if self._turn(link) == "handover":
            return None
        steps = views.steps_of(self.session, number, self._viewer(link))
        return {"by": steps[0]["by"], "done": steps[0]["done"]} if steps else None

    async def _on_alone(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        link.gives_alone = message["give"]
        self._catch_up()
        return {}

    async def _on_here(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if self._turn(link) != "handover":
            raise Refused("it is nobody else's turn")
        link.at_screen = self.session.actor
        self._tell(link)
        return {}

    async def _on_advice(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        self._check_view(link, message)
        if self._turn(link) not in ("you", "paused"):
            raise Refused("only the player whose turn it is can ask for advice")
        name = message["agent"] or self.advisers[0]
        session, decision = self.session, self.session.decision()
        generator = session.generator(1)
        advice = await self._think(lambda: advise(self.catalogue.agent(name, self.game), decision, generator))
        shares, estimates = advice.shares, advice.estimates
        listed = sorted(shares or estimates or [advice.best], key=lambda one: -shares.get(one, 0.0))
        return {
            "agent": name,
            "meaning": advice.meaning,
            "best": advice.best,
            "estimate": advice.estimate,
            "estimated": advice.estimated,
            "answers": [{"action": one, "share": shares.get(one), "estimate": estimates.get(one)} for one in listed],
        }

    async def _on_review(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if not self._can_review:
            raise Refused("only a finished game can be reviewed")
        name = message["agent"] or self.advisers[0]
        replay = self._whole
        if isinstance(self.session, Line):
            self.session.remember()
        loop, seats = asyncio.get_running_loop(), link.seats or None

        def on_part(part: Review) -> None:
            if page not in link.pages:
                raise Refused("the page is gone")
            step = part.curve[-1].step if part.curve else -1
            newest = replace(part, curve=part.curve[-1:], moments=tuple(m for m in part.moments if m.step == step))
            told = views.review_of(replay, name, newest)
            loop.call_soon_threadsafe(page.push, json.dumps({"review": told}))

        def reviewed() -> Review:
            return review(replay, self.catalogue.agent(name, self.game), seats, on_part=on_part)

        found = await self._think(reviewed)
        self.catalogue.reviews.keep(replay, link.seats, found)
        return views.review_of(replay, name, found)

    async def _on_judge(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """What an agent expects after an answer, comparable with its review."""
        line = self._line
        self._check_view(link, message)
        name = message["agent"] or self.advisers[0]
        if line.over or message["action"] not in (action for action, _ in line.answers()):
            raise Refused("this is not one of the answers")
        decision, action, step = line.decision(), message["action"], line.number
        estimate = await self._think(lambda: judged(self.catalogue.agent(name, self.game), decision, action, step))
        return {"estimate": estimate}

    async def _on_step(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if self.kind != "watch":
            raise Refused("only a game between agents can be stepped")
        if self._playing is not None or self.session.over or self.trouble:
            raise Refused("it is no agent's turn")
        self._playing = asyncio.create_task(self._let_agents_play(most=1))
        return {}

    async def _on_goto(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        line = self._line
        if not 0 <= message["step"] <= line.length:
            raise Refused(f"step: 0 to {line.length}")
        line.go_to(message["step"])
        self._changed()
        return {}

    async def _on_return(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        line = self._line
        if not 0 <= message["step"] <= line.game_length:
            raise Refused(f"step: 0 to {line.game_length}")
        if not line.game_length:
            raise Refused("there is no game to go back to")
        line.go_back(message["step"])
        self._changed()
        return {}

    async def _on_look(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        line, seat = self._line, message["seat"]
        if seat is not None and not 0 <= seat < line.config.players:
            raise Refused(f"seat: 0 to {line.config.players - 1}, or none for all hands")
        self.look = seat
        self._changed()
        return {}

    async def _on_describe(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """The position: what is given of it, so that the rest follows, and the whole."""
        state, components = self._line.state, self._line.config.components
        form, whole = self.game.form(state), self.game.described(state)
        given = whole
        if form is not None:
            given = await asyncio.to_thread(shortest, form, whole, lambda one: self.game.scenario(one, components))
        return {"description": _readable(given), **self._edited(state)}

    async def _on_check(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        other, boards = self._line_of(message["description"]), views.Boards()
        board = boards.add(other, other.state, None)
        return {"board": board, "parts": boards.parts, **self._edited(other.state)}

    def _edited(self, state: Any) -> dict[str, Any]:
        """What an editor shows of a position."""
        return {"form": self._form(state), "whole": _readable(self.game.described(state))}

    def _form(self, state: Any) -> dict[str, Any] | None:
        """The form for a position, without numbers that browsers would round: the random stream stays as it is."""
        form = self.game.form(state)
        if form is not None:
            form["keys"] = {key: one for key, one in form["keys"].items() if not _is_too_large(one.get("high"))}
        return form

    async def _on_position(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        self.session = self._line_of(message["description"])
        self.look = None
        self.advisers = self.catalogue.advisers(self.session.config)
        self._changed()
        return {}

    async def _on_export(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if not self._can_export:
            raise Refused("this game can be saved when it is over; until then the file would show what others hold")
        session = self.session
        name = f"{session.game.name}-{session.config.name}"
        if message["what"] == "replay":
            return {"name": f"{name}.json", "text": (session.signed if session.over else session.replay).text}
        if message["what"] == "scenario":
            return {"name": f"{name}-scenario.json", "text": json.dumps(self.game.described(session.state), indent=1)}
        raise Refused("what: replay or scenario")

    async def _on_page(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """The game as a page for any browser, with the curve of its latest review."""
        if not self._can_export:
            raise Refused("this game can be saved when it is over; until then the file would show what others hold")
        replay = self._whole
        found = self.catalogue.reviews.of(replay, link.seats)
        text = await self._think(lambda: page_of(*page_data(replay, review=found)))
        return {"name": f"{self.game.name}-{replay.config.name}.html", "text": text}

    @property
    def _whole(self) -> Replay:
        """The game; in an analysis the whole line."""
        return self.session.whole if isinstance(self.session, Line) else self.session.replay

    @property
    def _line(self) -> Line:
        if not isinstance(self.session, Line):
            raise Refused("this is possible only in an analysis")
        return self.session

    def _line_of(self, description: dict[str, Any]) -> Line:
        """A line that starts at a described position. Raises Refused, with the place, if it is not a legal one."""
        line = self._line
        components = line.config.components
        kept = {key: value for key, value in self.game.described(line.state).items() if _is_too_large(value)}
        try:
            state = self.game.scenario(kept | description, components)
            return Line(self.game.config.of(state, components), start=state)
        except ScenarioError as error:
            raise Refused(str(error), error.where) from None

    def _check_view(self, link: Link, message: dict[str, Any]) -> None:
        if message["view"] != link.number:
            raise Refused("the game has moved on")

    # --- agents ---

    async def _think(self, question: Callable[[], T]) -> T:
        if self._questions >= _MOST_QUESTIONS:
            raise Refused("agents are still thinking about earlier questions")
        self._questions += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, question)
        finally:
            self._questions -= 1

    def _go_on(self) -> None:
        """Let agents answer until a person has to."""
        if self.kind == "play" and self._playing is None and self.session.waits_for_agent and not self.trouble:
            self._playing = asyncio.create_task(self._let_agents_play())

    async def _let_agents_play(self, most: int | None = None) -> None:
        session, loop = self.session, asyncio.get_running_loop()
        try:
            while session.waits_for_agent and most != 0:
                asked = session.changes
                action = await loop.run_in_executor(self._threads, session.agent_question())
                if session.changes != asked:
                    continue  # somebody has taken an answer back meanwhile
                session.take(action)
                most = None if most is None else most - 1
                self._changed()
        except Exception as error:  # agents of somebody's own raise anything; the others' games go on
            self.trouble = str(error) if isinstance(error, TabletopError) else f"{type(error).__name__}: {error}"
            self._changed()
        finally:
            self._playing = None

    async def stop(self) -> None:
        """Stop the agents, and what draws boards."""
        await self.told()
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)


def _readable(description: dict[str, Any]) -> dict[str, Any]:
    """A description without the numbers that browsers would round."""
    return {key: value for key, value in description.items() if not _is_too_large(value)}


def _is_too_large(value: Any) -> bool:
    """Whether a value is a number that browsers would round."""
    return type(value) is int and value > LARGEST


def _lesson(lesson: Any) -> dict[str, Any]:
    return {"title": lesson.title, "text": list(lesson.text), "section": lesson.section}
