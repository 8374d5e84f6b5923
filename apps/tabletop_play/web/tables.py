"""Tables: games that pages show. Each page has a link to a table, and sees what the seats of that link may know."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import InitVar, dataclass, field, replace
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from tabletop_engine.described.forms import Form, shortest
from tabletop_engine.errors import IllegalAction, ScenarioError, TabletopError
from tabletop_engine.first_game import FirstGame
from tabletop_engine.game import NOBODY, Game
from tabletop_engine.replays.page import page as page_of
from tabletop_engine.replays.page import page_data
from tabletop_engine.replays.reviews import Review
from tabletop_engine.text.words import asked_of
from tabletop_play.advice import advise, continued, judged, review
from tabletop_play.catalogue import Catalogue
from tabletop_play.preview import Preview
from tabletop_play.session import Session
from tabletop_play.web import people, views
from tabletop_play.web.clock import Clock
from tabletop_play.web.line import Line
from tabletop_play.web.messages import LARGEST, Allowance, Refused
from tabletop_play.web.people import Page, Visitors, names_of

_DRAWING = ThreadPoolExecutor(1, "boards of what happened")
"""One thread draws: with several, answers would wait for all of them."""
_log = logging.getLogger(__name__)

KINDS = ("play", "watch", "analyse")
_MOST_QUESTIONS = 4
"""Questions to agents that may wait for an answer at one time, for all pages of a table together."""
_FOR_WATCHERS = ("review", "export", "page")
"""What somebody who only watches may ask for when the game is over."""
_NAMES_RATE, _NAMES_BURST = 0.2, 10.0
"""New names a second of one link. Each makes all pages show their view anew."""
_ANSWERED = "Your answer is given."
"""What is shown after an own answer as long as what follows is a secret."""
_LATER = 0.02
"""Seconds between a view and the work on its boards, so that the view is on its way."""
_TOGETHER = 0.1
"""Seconds in which agents' answers are collected, so that those that come at once are told in one view."""

T = TypeVar("T")


@dataclass(eq=False)
class Link:
    """An address of a table, for the people in some seats. Whoever has its key sees their cards.

    Attributes:
        key: random, so that nobody can guess it.
        seats: those of the people at this device; none if everybody may see everything.
        let_in: the browsers that play there already.
        visitors: who is at this link, and may play or only watch.
        at_screen: the seat that is at the screen now.
        number: how many different views it has shown.
        answered: the last of them that was answered. Nobody looks at the boards of the steps to it any more.
        gives_alone: whether the only possible answer is given automatically.
    """

    key: str
    seats: tuple[int, ...]
    at_screen: int = NOBODY
    number: int = 0
    answered: int = 0
    gives_alone: bool = True
    let_in: InitVar[Sequence[str]] = ()
    visitors: Visitors = field(init=False)
    names: Allowance = field(default_factory=lambda: Allowance(_NAMES_RATE, _NAMES_BURST))
    shown_steps: dict[int | None, int] = field(default_factory=dict)  # by viewer: answers whose effects were shown
    shown: int = 0  # a digest of what the last view showed
    known_people: dict[Page, dict[str, Any]] = field(default_factory=dict)  # what each page knows of the people

    def __post_init__(self, let_in: Sequence[str]) -> None:
        self.visitors = Visitors(everybody=not self.seats, let_in=let_in)
        if self.seats:
            self.at_screen = self.seats[0]

    @property
    def own(self) -> int | None:
        """The seat that is "You" here; None where several play, and where everybody may see everything."""
        return self.seats[0] if len(self.seats) == 1 else None

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open pages."""
        return tuple(self.visitors.pages)


def new_link(seats: Iterable[int], let_in: Sequence[str] = ()) -> Link:
    """A link with a key that nobody can guess."""
    return Link(secrets.token_urlsafe(16), tuple(seats), let_in=let_in)


class _View(NamedTuple):
    """A view as JSON, whether it shows more than the one before, and what draws the boards of the steps to it."""

    text: str
    is_new: bool
    story: views.Story | None


class Table:
    """One game with the pages that look at it. All its methods run in the server's event loop.

    Arguments:
        kind: "play"; "watch" if agents have all seats; "analyse" if `session` is a `Line`.
        links: for "play" one or more that together have all people's seats; otherwise one without seats.
        learn: explain every decision.
        clock: the people's time.
        threads: they run the agents.
        on_change: called when there is something new to save of the game.
        on_people: called when there is something new to save of the people: their names, or who was let in.
        again: makes a table for another game of the same people.
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
        clock: Clock | None = None,
        on_change: Callable[[Table], None] = lambda table: None,
        on_people: Callable[[Table], None] = lambda table: None,
        again: Callable[[Table], Table] | None = None,
    ) -> None:
        self.session, self.kind, self.links, self.learn = session, kind, tuple(links), learn
        self.catalogue, self._threads, self._on_change = catalogue, threads, on_change
        self._on_people, self.clock, self._again = on_people, clock, again
        self._next: Table | None = None  # where these people play again
        self.advisers = catalogue.advisers(session.config)
        self.trouble = self.unsaved = ""
        self.look: int | None = None  # whose view an analysis shows
        self.first = self._first_game()
        if self.first is not None:
            session.agent_names = dict(zip(session.agents, self.first.called, strict=True))
        self._playing: asyncio.Task[None] | None = None
        self._stories: set[asyncio.Task[None]] = set()
        self._questions = 0
        self._told_of = session.changes  # how far everybody was told
        self._set_clock()

    @property
    def game(self) -> Game:
        return self.session.game

    def _first_game(self) -> FirstGame | None:
        """The game's own first game, if it is played here."""
        first = self.game.words.first_game if self.kind == "play" and self.learn else None
        if first is None or self.session.replay.seed is not None:
            return None
        start, own = self.session.until(0).state, self.game.scenario(first.scenario, None)
        return first if start.tobytes() == own.tobytes() else None

    @property
    def _guide(self) -> dict[str, Any] | None:
        """The steps of a first game that are left."""
        return None if self.first is None else views.guide_of(self.session, self.first)

    def link(self, key: str) -> Link:
        """The link with this key."""
        return next(link for link in self.links if link.key == key)

    @property
    def pages(self) -> int:
        """The number of open pages."""
        return sum(len(link.pages) for link in self.links)

    @property
    def idle(self) -> bool:
        """Whether no page is open and nothing is happening."""
        return not self.pages and self._playing is None and not self._questions

    # --- pages ---

    def open(self, link: Link, page: Page, browser: str) -> None:
        """Add a page of a browser (`people.browser_of`). It gets the present view, with what happened last."""
        self._catch_up()
        if link.visitors.enter(page, browser):
            self._on_people(self)
            self._set_clock()
            for one in self.links:
                if self.clock is not None and one is not link:
                    _push(one, json.dumps({"clock": self.clock.shown(one.seats)}))
        link.known_people[page] = self._people(link, page)
        page.push(
            self._message(link, self._view(link, past=True), people=link.known_people[page], unsaved=self.unsaved)
        )
        self._tell_people()
        if not link.visitors.may_play(page):
            self._tell_people_after(people.AWAY)  # nobody else may ever come
        self._go_on()

    def close(self, link: Link, page: Page) -> None:
        """Remove a page. The others are told a moment later, unless it is back by then."""
        link.visitors.leave(page)
        link.known_people.pop(page, None)
        self._tell_people_after(people.MOMENT)
        self._tell_people_after(people.AWAY)

    def _tell_people_after(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds + 0.1, self._tell_people)

    def _people(self, link: Link, page: Page) -> dict[str, Any]:
        """What a page may know of who is here. Nothing of it depends on the game."""
        visitors, plays = link.visitors, link.visitors.may_play(page)
        watching = {browser for one in self.links for browser in one.visitors.watching}
        return {
            "plays": plays,
            "here": sorted(seat for one in self.links for seat in one.seats if one.visitors.here),
            "watching": len(watching - {visitors.pages[page]}),
            "waiting": [*visitors.watching.values()] if plays and link.seats else [],
            "free": not plays and visitors.free,
        }

    def _tell_people(self) -> None:
        """Tell each page who is here, if that has changed for it."""
        for link in self.links:
            for page in link.pages:
                told = self._people(link, page)
                before, link.known_people[page] = link.known_people[page], told
                if told == before:
                    continue
                if told["plays"] and not before["plays"]:
                    self._tell_rest()
                    page.push(self._message(link, self._view(link, past=True), people=told))
                else:
                    page.push(json.dumps({"people": told}))

    def _changed(self, undone: Sequence[dict[str, Any] | None] = (), only: Link | None = None) -> None:
        """Something happened: tell everybody who may know it, or only one link.

        `undone` says by link what was taken back.
        """
        if not undone:
            self._play_forced_answers()
        if only is None:
            self._told_of = self.session.changes
        self._on_change(self)
        self._set_clock()
        for link, one in zip_longest(self.links, undone):
            if only in (None, link):
                self._tell(link, one)
        self._go_on()

    def _is_secret(self, state: Any) -> bool:
        """Whether some of the people may not even know that somebody is asked."""
        return any(self.game.words.facts(state, seat, None).is_secret for seat in self.session.people)

    @property
    def _is_told_at_once(self) -> bool:
        """Whether pages are told at once what has happened: after an answer of a person, or before a question to one.

        The answer is the last one that everybody may know of, so secret answers change nothing here.
        """
        before = self.session
        while self.session.waits_for_agent and before.number:
            before = before.until(before.number - 1)
            if not self._is_secret(before.state):
                return not before.waits_for_agent
        return True

    def _set_clock(self) -> None:
        """Let the clock of whoever is asked run. The clocks stand until every person has been here."""
        if self.clock is None:
            return
        state, actor = self.session.state, self.session.actor
        if not all(one.visitors.let_in for one in self.links):
            actor = NOBODY
        actors = {self.game.words.facts(state, seat, None).actor for seat in self.session.people}
        seen = None if actor != NOBODY and self._is_secret(state) else actor if actors == {actor} else NOBODY
        self.clock.ask(actor, seen, self.session.number)
        self._on_people(self)

    def _message(self, link: Link, view: _View, **more: Any) -> str:
        """The message that shows a view, as JSON, with more beside it."""
        clock = {} if self.clock is None else {"clock": self.clock.shown(link.seats)}
        return _joined(json.dumps(more), f'{{"view": {view.text}}}', json.dumps(clock))

    def _catch_up(self) -> None:
        """Give the only possible answers now that somebody is here, or wants them given."""
        self._play_forced_answers()
        self._tell_rest()

    def _tell_rest(self) -> None:
        """Tell what has happened since everybody was told last."""
        if self.session.changes != self._told_of:
            self._changed()

    def _play_forced_answers(self) -> None:
        """Answer for a person as long as there is only one possible answer.

        This is done only where one person plays. Others would see from the short time that there was no choice.
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
        if not link.pages or (self.turn(link) == "others" and self._known(link) is not self.session):
            return
        view = self._view(link, undone=undone)
        if not view.is_new:
            return
        _push(link, self._message(link, view))
        if view.story is not None:
            task = asyncio.create_task(self._tell_story(link, link.number, view.story))
            self._stories.add(task)
            task.add_done_callback(self._stories.discard)

    async def _tell_story(self, link: Link, number: int, story: views.Story) -> None:
        """Send the boards of the steps to a view; none if it was answered meanwhile, since nobody looks then."""

        def drawn() -> dict[str, Any] | None:
            return None if link.answered >= number else story()

        await asyncio.sleep(_LATER)
        told = None
        try:
            told = await asyncio.get_running_loop().run_in_executor(_DRAWING, drawn)
        except Exception:  # a user's own game may raise anything: the view was sent, only its boards are missing
            _log.exception("the boards of what happened could not be drawn")
        _push(link, json.dumps({"story": {"view": number, **(told or {"boards": [], "parts": []})}}))

    async def stories_sent(self) -> None:
        """Wait until the boards of all that has happened are sent."""
        await asyncio.gather(*self._stories)

    def tell_whether_saved(self, reason: str) -> None:
        """Tell all pages why the game can't be saved at present, or with "" that it is saved again."""
        lost = "If the server ends before it is saved, what is new is lost."
        words = reason and f"This game can't be saved at present ({reason}). You can play on. {lost}"
        if words != self.unsaved:
            self.unsaved = words
            for link in self.links:
                _push(link, json.dumps({"unsaved": words}))

    # --- views ---

    def _viewer(self, link: Link) -> int | None:
        if self.kind == "analyse":
            return self.look
        return link.at_screen if link.seats else None

    def _known(self, link: Link) -> Session:
        """The game as far as a link's people may know of it.

        While somebody is asked in secret it is the game at the last question that they could know of.
        """
        known, viewer = self.session, self._viewer(link)
        shown = link.shown_steps.get(viewer, 0)
        while self.kind == "play" and known.number > shown:
            if not self.game.words.facts(known.state, viewer, None).is_secret:
                break
            known = known.until(known.number - 1)
        return known

    def turn(self, link: Link) -> str:
        """Whose turn it is at a link: "you", "others", "handover" (another one's at its screen), "paused", "over"."""
        if self.session.over:
            return "over"
        if self.kind != "play":
            return "paused" if self.kind == "watch" else "you"
        if self.session.actor not in link.seats:
            return "others"
        return "you" if self.session.actor == link.at_screen else "handover"

    def _view(self, link: Link, past: bool = False, undone: dict[str, Any] | None = None) -> _View:
        """The present view of the link.

        `past`: the page was just opened, so what happened last is shown as past. The same is done where `undone` tells
        that something was taken back.
        """
        session, viewer, turn = self._known(link), self._viewer(link), self.turn(link)
        view: dict[str, Any] = {"kind": self.kind, "learn": self.learn, "turn": turn, "trouble": self.trouble}
        boards, story = views.Boards(link.own), None
        steps: list[dict[str, Any]] = []
        if turn == "handover":
            asked = session.called()[self.session.actor]
            view |= {"game": self.game.name, "title": self.game.title, "for": asked}
        else:
            view |= views.position_of(session, viewer, boards)
            if turn == "others" and view["actor"] in link.seats:  # this answer is given, but shows nothing yet
                view |= {"asked": _ANSWERED, "actor": NOBODY}
            view |= self._asked(session, link, turn, view["actor"])
        view["owners"] = views.owners_of(session, link.seats, link.own)
        text = json.dumps({**views.for_people(session, link.own, view), "parts": boards.parts})
        shown = hash(text)  # with hashlib, other threads would run first
        past = past or undone is not None
        if turn != "handover":
            first = 0 if past else link.shown_steps.get(viewer, 0)
            if self.kind == "analyse":
                first = max(0, session.number - 1)
            steps, moments = views.steps_of(session, first, viewer)
            if not past and self.kind != "analyse" and len(moments) > 1:
                story = views.story_of(session, moments, viewer, boards)
            link.shown_steps[viewer] = session.number
        is_new = shown != link.shown or bool(steps and not past) or undone is not None
        if is_new:
            link.shown, link.number = shown, link.number + 1
        news = {"number": link.number, "past": past, "undone": undone, "steps": steps, "story": story is not None}
        return _View(_joined(text, json.dumps(views.for_people(session, link.own, news))), is_new, story)

    def _asked(self, session: Session, link: Link, turn: str, actor: int) -> dict[str, Any]:
        """What a page may do now, if it is not behind a curtain. `session` is the game as far as it is known there."""
        words = self.game.words
        asked = turn == "you"
        thinks = session.waits_for_agent and actor != NOBODY and self.kind == "play"
        told = asked or session.over
        guide = self._guide if told else None
        lesson = views.lesson_of(session, session.state) if told and self._explains(guide) else None
        return {
            "question": asked_of(words.question(session.state)) if asked else "",
            # lessons explain each of the answers that continue each other
            "answers": views.answers_of(session, self.kind == "play" and not self._explains(guide)) if asked else [],
            "guide": guide,
            "thinking": session.called()[actor] if thinks else "",
            "lesson": lesson,
            "introduction": views.lesson_of(session) if lesson and not session.number else None,
            "result": views.result_of(session, link.own),
            "advisers": self.advisers,
            "can": {
                "undo": self._way_back(link) is not None,
                "advice": asked or turn == "paused",
                "review": self._can_review,
                "export": self._can_export,
            },
            "next": self._path_of_next(link),
            **(session.described(self.look) if isinstance(session, Line) else {}),
        }

    def _explains(self, guide: dict[str, Any] | None) -> bool:
        """Whether each question is explained, and asked by itself for that; a first game tells what it wants."""
        return self.learn and guide is None

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
        """Whether a replay may be saved. It holds all hands and the seed, so nobody may have to play any more."""
        return self.kind != "play" or self.session.over

    def _path_of_next(self, link: Link) -> str:
        """Where the people of a link play again; "" while nobody has asked for it."""
        return "" if self._next is None else f"/table/{self._next.links[self.links.index(link)].key}"

    # --- what pages ask for ---

    async def obey(self, link: Link, page: Page, do: str, message: dict[str, Any]) -> dict[str, Any]:
        """Do what a page asks for, and return the answer. Raises Refused and other TabletopErrors with a message."""
        if do != "sit" and not link.visitors.may_play(page) and not (self.session.over and do in _FOR_WATCHERS):
            raise Refused("you watch here, until somebody who plays lets you in")
        if message.get("view", link.number) != link.number:
            raise Refused("the game has moved on")
        doing: Callable[[Link, Page, dict[str, Any]], Awaitable[dict[str, Any] | None]] = getattr(self, f"_on_{do}")
        return await doing(link, page, message) or {}

    async def _on_answer(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        self._check_turn(link)
        try:
            self.session.give(message["actions"])
        except (IllegalAction, OverflowError):
            raise Refused("this is not one of the answers") from None
        link.answered = link.number
        self._changed(only=None if self._is_told_at_once else link)

    async def _on_preview(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """What these actions would do (`views.preview_of`), and what could be answered then. Nothing is played."""
        self._check_turn(link)
        session, viewer, learn = self.session, self._viewer(link), self._explains(self._guide)

        def previewed() -> dict[str, Any]:
            found = session.preview(message["actions"])
            return self._preview_of(link, found, viewer, self.kind == "play", learn)

        try:
            return await asyncio.get_running_loop().run_in_executor(_DRAWING, previewed)
        except (IllegalAction, OverflowError):
            raise Refused("this is not one of the answers") from None

    async def _on_plan(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """How an agent would go on after these actions (`tabletop_play.advice.continued`), as a preview."""
        self._check_turn(link)
        session, name = self.session, message["agent"] or self.advisers[0]
        state, generator = session.state, session.generator(1)

        def planned() -> dict[str, Any]:
            agent = self.catalogue.agent(name, self.game)
            found = continued(agent, session.config, state, message["actions"], generator)
            return self._preview_of(link, found, int(state["actor"]))

        try:
            return await self._think(planned)
        except (IllegalAction, OverflowError):
            raise Refused("this is not one of the answers") from None

    def _preview_of(
        self, link: Link, found: Preview, viewer: int | None, goes_on: bool = False, learn: bool = False
    ) -> dict[str, Any]:
        told = views.preview_of(self.session, found, viewer, link.own, goes_on, learn)
        return dict(views.for_people(self.session, link.own, told))

    async def _on_undo(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        number = self._way_back(link)
        if number is None:
            raise Refused("there is nothing to take back")
        undone = [self._undo_notice(one, number) for one in self.links]
        self.session.undo(number)
        for one in self.links:
            one.shown_steps = {viewer: min(steps, number) for viewer, steps in one.shown_steps.items()}
        self._changed(undone)

    def _undo_notice(self, link: Link, number: int) -> dict[str, Any] | None:
        """What a link is told when the answers from this number on are taken back; None if it knows of none of them."""
        if self.turn(link) == "handover":
            return None
        steps, _ = views.steps_of(self.session, number, self._viewer(link))
        return {"by": steps[0]["by"], "done": steps[0]["done"]} if steps else None

    async def _on_alone(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        link.gives_alone = message["give"]
        self._catch_up()

    async def _on_here(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        if self.turn(link) != "handover":
            raise Refused("it is nobody else's turn")
        link.at_screen = self.session.actor
        self._tell(link)

    async def _on_name(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        """Give an own seat a new name. Everybody sees it, in earlier messages too."""
        seat = message["seat"]
        if self.kind != "play" or seat not in link.seats:
            raise Refused("seat: one of your own")
        names = names_of(self.session, {**self.session.given_names, seat: message["name"]}, self.catalogue)
        if not link.names.take():
            raise Refused("too many new names; wait a little")
        self._tell_rest()
        self.session.given_names = names
        self._on_people(self)
        for one in self.links:
            if one.pages:
                _push(one, self._message(one, self._view(one, past=True)))

    async def _on_admit(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        link.visitors.admit(message["who"])
        self._let_in()

    async def _on_sit(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        if link.visitors.may_play(page):
            raise Refused("you play here already")
        link.visitors.sit(page)
        self._let_in()

    def _let_in(self) -> None:
        """Somebody was let in at a link."""
        self._on_people(self)
        self._tell_people()

    async def _on_advice(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if self.turn(link) not in ("you", "paused"):
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
        replay = self.session.whole
        if isinstance(self.session, Line):
            self.session.remember()
        loop, seats = asyncio.get_running_loop(), link.seats or None

        def on_part(part: Review) -> None:
            if page not in link.pages:
                raise Refused("the page is gone")
            step = part.curve[-1].step if part.curve else -1
            newest = replace(part, curve=part.curve[-1:], moments=tuple(m for m in part.moments if m.step == step))
            told = views.for_people(self.session, link.own, views.review_of(replay, name, newest))
            loop.call_soon_threadsafe(page.push, json.dumps({"review": told}))

        def reviewed() -> Review:
            return review(replay, self.catalogue.agent(name, self.game), seats, on_part=on_part)

        found = await self._think(reviewed)
        self.catalogue.reviews.keep(replay, link.seats, found)
        return dict(views.for_people(self.session, link.own, views.review_of(replay, name, found)))

    async def _on_judge(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """What an agent expects after an answer, comparable with its review."""
        line, name = self._line, message["agent"] or self.advisers[0]
        if line.over or message["action"] not in (action for action, _ in line.answers()):
            raise Refused("this is not one of the answers")
        decision, action, step = line.decision(), message["action"], line.number
        estimate = await self._think(lambda: judged(self.catalogue.agent(name, self.game), decision, action, step))
        return {"estimate": estimate}

    async def _on_step(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        if self.kind != "watch":
            raise Refused("only a game between agents can be stepped")
        if self._playing is not None or self.session.over or self.trouble:
            raise Refused("it is no agent's turn")
        self._playing = asyncio.create_task(self._let_agents_play(most=1))

    async def _on_goto(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        line = self._line
        if not 0 <= message["step"] <= line.length:
            raise Refused(f"step: 0 to {line.length}")
        line.go_to(message["step"])
        self._changed()

    async def _on_return(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        line = self._line
        if not 0 <= message["step"] <= line.game_length:
            raise Refused(f"step: 0 to {line.game_length}")
        if not line.game_length:
            raise Refused("there is no game to go back to")
        line.go_back(message["step"])
        self._changed()

    async def _on_look(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        line, seat = self._line, message["seat"]
        if seat is not None and not 0 <= seat < line.config.players:
            raise Refused(f"seat: 0 to {line.config.players - 1}, or none for all hands")
        self.look = seat
        self._changed()

    async def _on_describe(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """The position: a short description that the rest follows from, and the whole."""
        state, components = self._line.state, self._line.config.components
        form, whole = self.game.form(state), self.game.described(state)
        given = whole
        if form is not None:
            given = await asyncio.to_thread(shortest, form, whole, lambda one: self.game.scenario(one, components))
        return {"description": _without_large_numbers(given), **_editor_data(form, whole)}

    async def _on_check(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        other, boards = self._line_of(message["description"]), views.Boards()
        board = boards.add(other, other.state, None)
        edited = _editor_data(self.game.form(other.state), self.game.described(other.state))
        return {"board": board, "parts": boards.parts, **edited}

    async def _on_position(self, link: Link, page: Page, message: dict[str, Any]) -> None:
        self.session = self._line_of(message["description"])
        self.look = None
        self.advisers = self.catalogue.advisers(self.session.config)
        self._changed()

    async def _on_again(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """Make a table for another game, unless there is one. Everybody is told where it is."""
        if self._again is None or not self.session.over or self.kind == "analyse":
            raise Refused("the game is not over")
        if self._next is None:
            self._next = self._again(self)
            self._changed()
        return {"path": self._path_of_next(link)}

    async def _on_export(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        if not self._can_export:
            raise Refused("this game can be saved when it is over; until then the file would show what others hold")
        session = self.session
        name = f"{session.game.name}-{session.config.name}"
        if message["what"] == "replay":
            return {"name": f"{name}.json", "text": session.signed.text}
        if message["what"] == "scenario":
            return {"name": f"{name}-scenario.json", "text": json.dumps(self.game.described(session.state), indent=1)}
        raise Refused("what: replay or scenario")

    async def _on_page(self, link: Link, page: Page, message: dict[str, Any]) -> dict[str, Any]:
        """The game as a page for any browser, with the curve of its latest review."""
        if not self._can_export:
            raise Refused("this game can be saved when it is over; until then the file would show what others hold")
        replay = self.session.whole if isinstance(self.session, Line) else self.session.signed
        found = self.catalogue.reviews.of(replay, link.seats)
        text = await self._think(lambda: page_of(*page_data(replay, review=found)))
        return {"name": f"{self.game.name}-{replay.config.name}.html", "text": text}

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

    def _check_turn(self, link: Link) -> None:
        """Raise Refused unless somebody at this link is asked."""
        if self.turn(link) != "you":
            raise Refused("it is not your turn")

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
        until = loop.time() + _TOGETHER
        try:
            while session.waits_for_agent and most != 0:
                asked = session.changes
                answer = loop.run_in_executor(self._threads, session.agent_question())
                if asked != self._told_of:  # an answer before may wait no longer than this one takes
                    await asyncio.wait({answer}, timeout=until - loop.time())
                    if not answer.done() or loop.time() >= until:
                        self._tell_rest()
                        until = loop.time() + _TOGETHER
                action = await answer
                if session.changes != asked:
                    continue  # somebody has taken an answer back meanwhile
                session.take(action)
                most = None if most is None else most - 1
                if most == 0 or self._is_told_at_once:
                    self._tell_rest()  # if an answer of a person is given with it, agents go on
                    until = loop.time() + _TOGETHER
        except Exception as error:  # a user's own agent may raise anything; other games go on
            self.trouble = str(error) if isinstance(error, TabletopError) else f"{type(error).__name__}: {error}"
            self._changed()
        finally:
            self._playing = None

    async def stop(self) -> None:
        """Stop the agents and the drawing of boards."""
        await self.stories_sent()
        if self._playing is not None:
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)


def _push(link: Link, text: str) -> None:
    """Send a message, as JSON, to all pages of a link."""
    for page in link.pages:
        page.push(text)


def _joined(*texts: str) -> str:
    """Objects as JSON, made one."""
    return f"{{{', '.join(text[1:-1] for text in texts if text != '{}')}}}"


def _editor_data(form: Form | None, whole: dict[str, Any]) -> dict[str, Any]:
    """What an editor shows of a position. Numbers that browsers would round, as the random stream, stay as they are."""
    if form is not None:
        form = {**form, "keys": {key: one for key, one in form["keys"].items() if not _is_too_large(one.get("high"))}}
    return {"form": form, "whole": _without_large_numbers(whole)}


def _without_large_numbers(description: dict[str, Any]) -> dict[str, Any]:
    """A description without the numbers that browsers would round."""
    return {key: value for key, value in description.items() if not _is_too_large(value)}


def _is_too_large(value: Any) -> bool:
    """Whether a value is a number that browsers would round."""
    return type(value) is int and value > LARGEST
