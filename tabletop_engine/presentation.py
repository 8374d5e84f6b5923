"""What a game shows to people, beside its rules: `Words` and `Drawing`, and what their methods return."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from tabletop_engine.drawing.lines import Block, Size
from tabletop_engine.drawing.owners import Mark
from tabletop_engine.drawing.panes import Panes
from tabletop_engine.drawing.svg import Place
from tabletop_engine.first_game import FirstGame


@dataclass(frozen=True)
class Facts:
    """The facts that are shown above a game, as far as its viewer may know them.

    Attributes:
        phase: the part of the round, such as "action phase"; "" in a game without phases.
        asked: a sentence with the pending decision and its actor, or with the result of a finished game.
        actor: the seat that takes the pending decision; NOBODY if that is hidden, and at the end.
        is_secret: whether the viewer may not even know that somebody is asked.
    """

    phase: str
    asked: str
    actor: int
    is_secret: bool = False


Paragraphs = Iterator[str | Sequence[str]]
"""A lesson as a game tells it: first its title and its section, then each paragraph, or the sentences of it."""


@dataclass(frozen=True)
class Lesson:
    """An explanation for new players, of a decision or of the game.

    Attributes:
        title: its heading.
        text: its paragraphs.
        section: the rulebook's heading for further reading.
    """

    title: str
    text: tuple[str, ...] = ()
    section: str = ""

    @classmethod
    def of(cls, told: Paragraphs) -> Self:
        """The lesson that a game tells. Empty sentences and paragraphs are left out."""
        title, section = next(told)
        paragraphs = (one if isinstance(one, str) else " ".join(filter(None, one)) for one in told)
        return cls(title, tuple(filter(None, paragraphs)), section)


class Words(Protocol):
    """A game in words. `viewer` is the seat that reads; None may see everything.

    `tabletop_engine.text.plain.PlainWords` implements all methods; a new game can start with it.
    """

    def question(self, state: Any) -> str:
        """The pending decision, as words that follow "player_0 is asked".

        Words that begin with "to" can also stand alone, as `tabletop_engine.text.words.asked_of` writes them.
        """
        ...

    def continues_answer(self, before: Any, state: Any) -> bool:
        """Whether this decision completes the previous answer, such as by the next card of a payment.

        The previous answer led from `before` to `state`. Pages offer such answers together, as one. So what can be
        answered there must depend only on what the actor sees before the first of them.
        """
        ...

    def action_text(self, state: Any, action: int) -> str:
        """What an action means, as an answer to the pending decision."""
        ...

    def gives_up(self, state: Any, action: int) -> str:
        """What is lost by this answer, as a sentence such as "You discard 7 cards."; "" if nothing is.

        Pages ask again before they give such an answer.
        """
        ...

    def aside(self, state: Any, action: int) -> str:
        """The words of a button behind which pages keep this answer and others like it, which are rarely wanted.

        An example is "pay with two other cards". "" for an answer that is offered at once.
        """
        ...

    def declines(self, state: Any, action: int) -> bool:
        """Whether this answer only ends what was asked, such as "take no optional action".

        Pages give it together with what was chosen before it.
        """
        ...

    def answer_name(self, state: Any, action: int) -> str:
        """The plain name of an action at this table, such as "tile P4"; people and models may answer with it."""
        ...

    def told_action(self, state: Any, action: int, viewer: int | None) -> str:
        """The actor's action, as far as the viewer may know it; "" if all of it is hidden."""
        ...

    def events(self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray) -> Sequence[str]:
        """Sentences about what one action did, as far as the viewer may know it.

        `tabletop_engine.text.telling.Teller` can write them.

        Arguments:
            before: the record that the action is played on. It is not changed.
            action: a legal action; FORFEIT for an illegal one that loses the game; None for a random action that was
                played in place of an illegal one.
            tables: (1,) printed numbers of this game.
        """
        ...

    def story(
        self, before: Any, action: int | None, viewer: int | None, tables: np.ndarray
    ) -> Sequence[tuple[str, Any]]:
        """The sentences of `events`, each with a record of the position at that moment.

        Each record is the full state at that moment, with no pending decision; None stands for the state after the
        action. `Drawing` hides in it what the viewer may not see.
        """
        ...

    def in_brief(self, sentences: Iterable[str]) -> str:
        """As many of the sentences as fit into the last line of a picture; the first one always stays."""
        ...

    def facts(self, state: Any, viewer: int | None, names: Sequence[str] | None) -> Facts:
        """The part of the game, the pending decision and its actor. `names` replace `owner_names` if given."""
        ...

    def owner_names(self, players: int) -> tuple[str, ...]:
        """`player_0` and so on, and the name of the opponent that the rules play, if there is one."""
        ...

    def about(self, config: Any) -> Sequence[str]:
        """What is played, as short phrases such as "2 players" and "4 rounds"."""
        ...

    def sources(self, state: Any) -> Sequence[tuple[str, Sequence[int]]]:
        """Pairs of a source of points and the points of each owner from it. Empty if the game does not count them."""
        ...

    def projected(
        self, state: Any, viewer: int | None, tables: np.ndarray | None = None
    ) -> Iterable[tuple[str, Sequence[int]]]:
        """Pairs of a source of points, such as "Grass on P4", and what each owner would score if it was scored now.

        Numbers of things that are scored, such as tokens, count too. A source that scores nothing is listed with zeros,
        so that a later list shows what was lost. It depends only on what the viewer may know. Empty if the game does
        not say.
        """
        ...

    def lesson(self, config: Any, state: Any = None, tables: np.ndarray | None = None) -> Lesson:
        """An explanation for new players: of the pending decision, for its actor, from what that player knows.

        For a finished game it tells how the game ended. Without a state it is the introduction: what the game is about,
        what scores points, how a round goes. `tables` are the printed numbers of this game, (1,); None for the shipped
        ones, and in the introduction for those of the configuration.
        """
        ...

    def rules(self, config: Any, tables: np.ndarray | None = None, *, brief: bool = False) -> str:
        """The complete rules of what a configuration plays, as Markdown: enough to play by, and no more.

        Arguments:
            tables: the printed numbers of the game, (1,); None for those of the configuration.
            brief: only a reminder for players at a terminal: what scores points, and what the abbreviations mean. ""
                where a game has none.
        """
        ...

    @property
    def opponent(self) -> str:
        """The opponent in a solo game, in words; "" if there is no solo game."""
        ...

    @property
    def first_game(self) -> FirstGame | None:
        """A first game that teaches; None if the game has none."""
        ...

    @property
    def examples(self) -> Sequence[str]:
        """Examples of what a person can type to choose an action: parts of texts of actions."""
        ...


class Drawing(Protocol):
    """A game in pictures and as text.

    In all methods `viewer` is the seat that looks on; None may see everything. `tables` are the printed numbers of this
    game, (1,); None for the shipped ones. `tabletop_engine.text.plain.PlainDrawing` draws any game that can be written
    as text.
    """

    def render_text(
        self,
        state: Any,
        viewer: int | None = None,
        colour: bool = False,
        tables: np.ndarray | None = None,
        size: Size = "wide",
    ) -> str:
        """The blocks of `text_blocks` as text, several lines, in ANSI colours if `colour`."""
        ...

    def text_blocks(
        self,
        state: Any,
        viewer: int | None = None,
        colour: bool = False,
        tables: np.ndarray | None = None,
        size: Size = "wide",
        asked: bool = True,
    ) -> Sequence[Block]:
        """The game as blocks of text, which can be fitted to the width of a terminal.

        Arguments:
            size: "wide": everything, within 100 columns if possible; "small": for a terminal of 80 columns and 24
                lines: the last two blocks are a heading and the board itself, together at most 14 lines, and what comes
                before may scroll away; "compact": in as few signs as possible, for language models.
            asked: whether the wide form says which decision is pending, and whose. The other forms do not.
        """
        ...

    def render_svg(
        self,
        state: Any,
        viewer: int | None = None,
        *,
        tables: np.ndarray | None = None,
        last_action: str = "",
        names: Sequence[str] | None = None,
    ) -> str:
        """The game as an SVG picture.

        The first `<defs>` holds every drawing that a `<use>` element refers to. It is the same in all pictures of the
        game. Records from within an action, as `Words.story` gives them, can be drawn too.

        Arguments:
            last_action: words for the last line of the picture.
            names: names of the owners, in place of `Words.owner_names`.
        """
        ...

    def cover(self) -> str:
        """A small picture of the game as SVG (`drawing.covers`). Its first `<defs>` holds all drawings."""
        ...

    def places(self, state: Any, action: int) -> tuple[Place, ...]:
        """The places in the actor's picture where a click chooses this legal action; () if there is none.

        The most exact place comes first. After a small place comes the one around it, which is easier to hit with a
        finger. Several actions may share a place; a page then asks which of them is meant.
        """
        ...

    def marks(self, players: int) -> Sequence[Mark]:
        """The shape and the colour of each owner."""
        ...

    def panes(self, state: Any, viewer: int | None = None) -> Panes:
        """The parts of the picture that a page shows on a small screen, the same all through a game.

        `Panes()` shows the whole picture everywhere.
        """
        ...
