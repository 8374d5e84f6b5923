"""The server sends a seat's page nothing that the seat may not know.

Each game is played at two tables that the seat can't tell apart. Its two pages get exactly the same.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
import pytest

from evergreen_env import Config as EvergreenConfig
from petrichor_env import GAME, Config
from petrichor_env.actions import DECLINE, FORECAST
from petrichor_env.config import MODULES
from petrichor_env.state import NOBODY, PLAYED, Decision
from tabletop_cli.play import SHIPPED
from tabletop_engine.game import Config as AnyConfig
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_play.catalogue import Catalogue
from tabletop_play.opponents import in_names
from tabletop_play.session import Session
from tabletop_play.web import tables
from tabletop_play.web.clock import Clock
from tabletop_play.web.messages import Refused
from tabletop_play.web.people import browser_of
from tabletop_play.web.tables import Link, Table
from tests.evergreen.rounds import choose, goes_on, turns
from tests.support.effort import games
from tests.support.hidden import exchanged, swapped
from tests.support.web import BROWSER, SECONDS, Listening

CATALOGUE = Catalogue(SHIPPED)
THREADS = ThreadPoolExecutor(1)
CONFIGS = [
    Config(players=2),
    Config(players=2, drafting=True, modules=("forecasts",)),
    Config(players=3, drafting=True),
    Config(players=5, modules=MODULES),
]
ONE_IN = {players: games(usual, 6) for players, usual in ((2, 6), (3, 12), (5, 24))}
"""One in so many positions is looked at, by players: with more, a game has more positions and each takes longer."""
ONE_ANSWER_IN = {players: games(usual, 1) for players, usual in ((2, 2), (3, 3), (5, 4))}


def looked_at(config: Config, seed: int, one_in: int, generator: np.random.Generator) -> Iterator[tuple[Batch, Any]]:
    """Some positions of a random game, each with the action (1,) that is taken there afterwards."""
    batch = Batch(config, 1, seed, autoreset="disabled")
    while batch.actors[0] != NOBODY:
        action = batch.random_actions()
        if generator.integers(one_in) == 0:
            yield batch, action
        batch.step(action)


NOW = [0.0]  # the time for tables' clocks


def table_at(
    config: AnyConfig, state: Any, clock: bool = False, agents: Sequence[int] = (), learn: bool = False
) -> Table:
    """A table of people with devices of their own, and agents, at a position that may contradict itself."""
    session = Session(config, dict.fromkeys(agents, Lowest()))
    session._states = [state.copy()]
    session._go_to_last()
    links = [Link(f"key of {seat}", (seat,)) for seat in session.people]
    time = Clock(5, 3, session.people, now=lambda: NOW[0]) if clock else None
    table = Table(session, "play", links, CATALOGUE, THREADS, learn=learn, clock=time)
    if clock:
        for link in links:  # so everybody has been here once
            link.visitors.let_in.append(browser_of(BROWSER))
        table._set_clock()
    return table


class Lowest:
    """An agent that takes the legal action with the lowest number, so never plays a forecast card."""

    name = "lowest"

    def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
        return decisions.action_masks.argmax(axis=1)


def opened(table: Table, seat: int) -> Listening:
    page = Listening()

    async def goes_on() -> None:
        table.open(link_of(table, seat), page, browser_of(BROWSER))
        await settled(table)

    asyncio.run(goes_on())
    return page


async def settled(table: Table) -> None:
    """Wait for what agents answer, and until all that follows is sent."""
    while table._playing is not None:
        await table._playing
    await table.stories_sent()


def link_of(table: Table, seat: int) -> Link:
    return table.link(f"key of {seat}")


def play(table: Table, action: int) -> None:
    """Give the actor's answer, from a page of that seat, and wait for agents' answers to it."""
    link = link_of(table, table.session.actor)
    ask(table, link, "answer", view=link.number, actions=[action])


def ask(table: Table, link: Link, do: str, **message: Any) -> dict[str, Any]:
    """Send a page's request, and wait until all that follows is sent. Returns the reply."""

    async def asked() -> dict[str, Any]:
        page = Listening()
        link.visitors.enter(page, browser_of(BROWSER))  # directly, because others would be told of a new person
        reply = await table.obey(link, page, do, message)
        del link.visitors.pages[page]
        await settled(table)
        return reply

    return asyncio.run(asked())


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_a_page_that_opens(config: Config) -> None:
    """All that the seat doesn't see is redrawn, and another player may be asked for a forecast card."""
    generator = np.random.default_rng(1)
    compared = 0
    for batch, _ in looked_at(config, 1, ONE_IN[config.players], generator):
        for seat in range(config.players):
            other = swapped(batch.states, seat, generator)[0]
            one, two = (table_at(config, state, learn=True) for state in (batch.states[0], other))
            assert opened(one, seat).got == opened(two, seat).got
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_what_a_preview_sends(config: Config) -> None:
    """All that the seat doesn't see is redrawn. Previews are the same, of answers one after another, too."""
    generator = np.random.default_rng(6)
    lengths: list[int] = []
    for batch, _ in looked_at(config, 6, ONE_IN[config.players], generator):
        seat = int(batch.actors[0])
        other = swapped(batch.states, seat, generator)[0]
        both = [table_at(config, state) for state in (batch.states[0], other)]
        pages = [opened(table, seat) for table in both]
        answers, lengths = pages[0].all("view")[-1]["answers"], [*lengths, 0]
        while answers and lengths[-1] < 6:
            actions = list(answers[generator.integers(len(answers))]["actions"])
            replies = [
                ask(table, link, "preview", view=link.number, actions=actions)
                for table, link in ((table, link_of(table, seat)) for table in both)
            ]
            assert replies[0] == replies[1]
            answers = [one for one in replies[0]["answers"] if len(one["actions"]) > len(actions)]
            lengths[-1] += 1
        assert pages[0].got == pages[1].got and len(both[0].session._states) == 1
    assert len(lengths) > 4 and max(lengths) > 1


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.name)
def test_what_an_agent_would_do(config: Config) -> None:
    """All that the seat doesn't see is redrawn. How agents would go on with the turn is the same."""
    generator = np.random.default_rng(7)
    longest = compared = 0
    for batch, _ in looked_at(config, 7, 2 * ONE_IN[config.players], generator):
        seat = int(batch.actors[0])
        other = swapped(batch.states, seat, generator)[0]
        tables = [table_at(config, state) for state in (batch.states[0], other)]
        links = [link_of(table, seat) for table in tables]
        for table in tables:
            opened(table, seat)
        first = [int(generator.choice(batch.action_masks[0].nonzero()[0]))]
        for agent in ("greedy", "ismcts-20"):
            plans = [
                ask(table, link, "plan", view=link.number, agent=agent, actions=first)
                for table, link in zip(tables, links, strict=True)
            ]
            assert plans[0] == plans[1]
            longest, compared = max(longest, len(plans[0]["given"]["actions"])), compared + 1
    assert compared > 4 and longest > 2


@pytest.mark.parametrize("config", CONFIGS[1:], ids=lambda config: config.name)
def test_what_an_action_sends(config: Config) -> None:
    """Others' hidden cards, and actions with them, are exchanged. A seat that sees no difference is sent none."""
    generator = np.random.default_rng(2)
    compared = 0
    for batch, action in looked_at(config, 3, ONE_ANSWER_IN[config.players], generator):
        seat = int(generator.integers(config.players))
        both = exchanged(batch, seat, generator)
        actions = np.repeat(action, 2)
        if batch.states[0]["decision"] == Decision.DRAFT and batch.actors[0] != seat:
            actions[1] = both.random_actions()[1]
        if both.action_masks[[0, 1], actions].all():
            tables = [table_at(config, state, clock=True) for state in both.states]
            pages = [opened(table, seat) for table in tables]
            both.step(actions)
            seen = both.observe(seat)
            same = bool((seen[0] == seen[1]).all())
            if same and (both.actors[0] != seat or (both.action_masks[0] == both.action_masks[1]).all()):
                before, is_secret = NOW[0], pages[0].all("view")[0]["actor"] == NOBODY
                named = not generator.integers(4)
                for seconds, table, taken in zip((5, 50 if is_secret else 5), tables, actions.tolist(), strict=True):
                    NOW[0] = before + seconds  # nobody is told the time of a secret decision
                    play(table, taken)
                    if named:  # a new name makes all pages show their views again
                        ask(table, table.links[seat - 1], "name", seat=(seat - 1) % config.players, name="Ana")
                assert pages[0].got == pages[1].got
                compared += 1
    assert compared > 60


@pytest.mark.one_in(2)
@pytest.mark.parametrize("config", CONFIGS[::-1], ids=lambda config: config.name)
def test_what_is_taken_back(config: Config) -> None:
    """An answer is given and taken back. A seat that can't tell two games apart gets the same in both."""
    generator = np.random.default_rng(4)
    compared, silent, told = 0, 0, 0
    for batch, action in looked_at(config, 4, ONE_ANSWER_IN[config.players], generator):
        actor = int(batch.actors[0])
        seat = (actor + 1) % config.players
        both = exchanged(batch, seat, generator)
        if batch.states[0]["decision"] != Decision.DRAFT and both.action_masks[[0, 1], action].all():
            tables = [table_at(config, state) for state in both.states]
            pages = [opened(table, seat) for table in tables]
            own, _ = (opened(table, actor) for table in tables)
            for table in tables:
                play(table, int(action[0]))
            if all(table._way_back(table.links[actor]) is not None for table in tables):
                before = len(pages[0].got)
                for table in tables:
                    ask(table, table.links[actor], "undo", view=table.links[actor].number)
                assert pages[0].got == pages[1].got
                assert own.all("view")[-1]["undone"]["by"] == actor and not own.all("view")[-1]["can"]["undo"]
                undone = [view["undone"] for view in pages[0].all("view")[-1:] if len(pages[0].got) > before]
                said = batch.config.game.words.told_action(batch.states[0], int(action[0]), seat)
                said = in_names(said, tables[0].session.names, tables[0].session.called(seat))
                assert undone == ([{"by": actor, "done": said}] if said else [])
                compared, silent, told = compared + 1, silent + (not said), told + bool(said)
    assert compared > 20 and told > 20


def with_cards(batch: Batch, seat: int, first: bool) -> Any:
    """The state with other cards in the other hands: those of the timeline `first`, or as few of them as possible."""
    changed = batch.states.copy()
    holders = changed["forecast_holder"][0]
    unseen = np.flatnonzero((holders != seat) & (holders != PLAYED))
    dealt = sorted(holders[unseen].tolist(), reverse=True)  # those in hands come first
    holders[unseen if first else unseen[::-1]] = dealt
    GAME.kernels.refresh_legal(changed, batch.tables)
    return changed[0]


class Timed:
    """A table with a time of its own, and a page of the seat that looks on."""

    def __init__(self, table: Table, seat: int) -> None:
        self.table, self.session, self.seat, self.time = table, table.session, seat, NOW[0]
        self.page = opened(table, seat)

    def give(self, action: int, seconds: float) -> None:
        NOW[0] = self.time = self.time + seconds
        play(self.table, action)

    @property
    def in_secret(self) -> bool:
        """Whether another seat is asked for a forecast card."""
        return bool(self.session.state["decision"] == Decision.FORECAST) and self.session.actor != self.seat

    def opened_now(self) -> list[str]:
        """What a second page of the seat is sent when it opens now."""
        page = opened(self.table, self.seat)
        link_of(self.table, self.seat).visitors.leave(page)
        return page.got


@pytest.mark.parametrize(("players", "agents"), [(2, ()), (3, ()), (3, (2,)), (2, (1,))])
def test_nobody_learns_that_another_was_asked(
    players: int, agents: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two games differ only in the others' forecast cards: in one they are asked for them, in the other they are not.

    Nobody but the seat plays such a card. What the seat is sent is the same, whoever answered last. Its clocks tell no
    difference either: somebody else seems to take longer. Only a seat that has just answered sees how long it waits.
    """
    monkeypatch.setattr(tables, "_LATER", 0.0)
    monkeypatch.setattr(tables, "_TOGETHER", SECONDS)  # so that it does not matter how fast agents answer
    config, generator = Config(players, modules=("forecasts",)), np.random.default_rng(players)
    asked, waited, opened_again, compared = 0, 0, 0, 0
    for number in range(games(8, 40)):
        batch = Batch(config, 1, seed=number, autoreset="disabled")
        state = batch.states[0]
        while state["round"] < 1 + number % 4 or state["passed"] < 0 or state["decision"] == Decision.FORECAST:
            actions = batch.random_actions()
            batch.step(np.where(actions < FORECAST, actions, batch.action_masks.argmax(axis=1)))
        seat = int(generator.choice([one for one in range(players) if one not in agents]))
        tables_of_both = [table_at(config, with_cards(batch, seat, one), True, agents) for one in (True, False)]
        asked_one, other = (Timed(table, seat) for table in tables_of_both)
        one, two = asked_one.session, other.session
        for _ in range(60):
            if one.over or one.state["round"] > state["round"]:
                break
            assert one.actor == two.actor and one.state["decision"] == two.state["decision"]
            legal = {action for action, _ in one.answers()} & {action for action, _ in two.answers()}
            own = one.actor == seat
            shared = sorted(legal if own else {action for action in legal if action < FORECAST} or legal)
            action = int(generator.choice(shared))
            seconds = 0 if agents or (own and one.state["decision"] == Decision.FORECAST) else 50
            asked_one.give(action, 5)
            silent, late = len(asked_one.page.got), 0
            NOW[0] = other.time = other.time + 5
            if asked_one.in_secret and not own and not agents:
                assert asked_one.opened_now() == other.opened_now()
            if asked_one.in_secret and own and not agents and number % 2:  # a page that opens now shows only this
                view = json.loads(asked_one.opened_now()[0])["view"]
                assert (view["asked"], view["turn"], view["answers"]) == ("Your answer is given.", "others", [])
                opened_again += 1
                break
            while asked_one.in_secret:
                assert len(asked_one.page.got) == silent
                asked_one.give(DECLINE, seconds)
                late += seconds
            waited += own and late > 0
            other.give(action, 0 if own else late)
            while other.in_secret:  # not all of the cards that are left have another time
                other.give(DECLINE, 0)
            # boards are drawn meanwhile
            got = [
                sorted(page.got, key=lambda text: text.startswith('{"story"')) for page in (asked_one.page, other.page)
            ]
            assert got[0] == got[1]
            compared += 1
        asked += sum(state["decision"] == Decision.FORECAST and state["actor"] != seat for state in one._states)
    assert compared > 8 and asked > 2 and (agents or (0 < waited < asked and opened_again > 0))


def test_cards_that_nobody_plays() -> None:
    """A page gets no message that tells that another player could have played a forecast card."""
    batch = Batch(Config(players=5, modules=MODULES), 1, seed=3, autoreset="disabled")
    silent = 0
    while batch.actors[0] != NOBODY:
        state, asked = batch.states[0].copy(), batch.states[0]["decision"] == Decision.FORECAST
        action = DECLINE if asked and batch.action_masks[0, DECLINE] else int(batch.random_actions()[0])
        batch.step([action])
        others = set(range(5)) - {int(state["actor"]), int(batch.actors[0])}
        if asked and action == DECLINE and batch.states[0]["decision"] == Decision.FORECAST:
            same = state["timing"] == batch.states[0]["timing"]
            for seat in others:
                table = table_at(batch.config, state)
                page = opened(table, seat)
                play(table, action)
                assert len(page.got) == 1 or not same
                silent += len(page.got) == 1
    assert silent > 4


@pytest.mark.parametrize("players", [3, *(pytest.param(one, marks=pytest.mark.slow) for one in (2, 4))])
def test_turns_that_nobody_sees(players: int) -> None:
    """Evergreen: during a round's turns a page gets messages about its own seat only."""
    compared, heard = 0, 0
    for number, batch in islice(enumerate(turns(players, seed=1)), 0, None, games(2, 1)):
        seat, start = number % players, batch.states.copy()
        got: list[list[str]] = []
        own = np.random.default_rng(number)
        for others in (np.random.default_rng(1000 + number), np.random.default_rng(2000 + number)):
            own = np.random.default_rng(number)
            batch.states[:] = start
            batch.refresh()
            table = table_at(EvergreenConfig(players), start[0], clock=True)
            page = opened(table, seat)
            sent = [*page.got]
            while goes_on(batch, start):
                sent = [*page.got]  # when all are done, messages show the others' turns
                action = choose(batch, own if batch.actors[0] == seat else others)
                NOW[0] += 7 if batch.actors[0] == seat else int(others.integers(100))
                play(table, action)
                batch.step([action])
            got.append(sent)
        assert got[0] == got[1]
        compared, heard = compared + 1, heard + len(got[0])
    assert compared > games(3, 8) and heard > compared


def test_no_page_gets_links_or_seeds() -> None:
    """No page gets others' links. During a game nothing that reveals hidden cards can be requested."""
    config = Config(players=3)
    session = Session(config, seed=918_273_645)
    table = table_at(config, session.state)
    table.session.seed, table.session._start = session.seed, session.seed
    pages = [opened(table, seat) for seat in range(3)]
    generator = np.random.default_rng(0)
    for _ in range(40):
        legal = [action for action, _ in table.session.answers()]
        play(table, int(generator.choice(legal)))
    for seat, page in enumerate(pages):
        everything = "".join(page.got)
        assert len(page.got) > 20
        assert "key of" not in everything and str(session.seed) not in everything
        for view in page.all("view"):
            assert view["seat"] == seat
            assert bool(view["answers"]) == (view["turn"] == "you")
            assert not view["can"]["export"] and not view["can"]["review"]
        messages: dict[str, dict[str, Any]] = {
            "export": {"what": "replay"},
            "review": {"agent": ""},
            "describe": {},
            "look": {"seat": None},
        }
        for do, message in messages.items():
            with pytest.raises(Refused):
                asyncio.run(table.obey(table.links[seat], page, do, message))


def test_an_undo_and_a_second_page_tell_no_more() -> None:
    """A page that is opened in the middle of a game gets the same as one that was open all the time."""
    config = Config(players=3, modules=("forecasts",))
    batch = Batch(config, 1, seed=5, autoreset="disabled")
    generator = np.random.default_rng(5)
    table = table_at(config, batch.states[0])
    first = opened(table, 0)
    for _ in range(120):
        if table.session.over:
            break
        legal = [action for action, _ in table.session.answers()]
        play(table, int(generator.choice(legal)))
    second = opened(table, 0)
    old, new = (page.all("view")[-1] for page in (first, second))
    for view in (old, new):
        view["board"] = [view["parts"][number] for number in view["board"]]
        for key in ("steps", "past", "parts", "story"):
            del view[key]
    assert old == new
    steps = [step["done"] for view in first.all("view") for step in view["steps"]]
    past = [step["done"] for step in second.all("view")[-1]["steps"]]
    assert past == steps[-len(past) :] and len(past) > 10
