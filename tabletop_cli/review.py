"""The command `review`: the most costly decisions of a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from tabletop_agents import make_agent
from tabletop_engine.game import Game
from tabletop_engine.replays.replay import Replay, words_for
from tabletop_engine.replays.reviews import Moment, Review
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import counted, shown
from tabletop_play.advice import estimate_text, review
from tabletop_play.session import hints_for


def main(
    game: Game,
    file: Path,
    agent: str = "",
    *,
    seat: int | None = None,
    moments: int = 10,
    on_result: Callable[[dict[str, Any]], None] = lambda content: None,
) -> None:
    """Print a table of the most costly decisions of a replay.

    Arguments:
        agent: the agent that reviews; "" for the one that gives hints (`hints_for`).
        seat: whose decisions; None: people's, or everybody's in a game without people.
        moments: the most decisions in the table.
        on_result: called with all decisions, as in JSON.

    Raises ReplayError for a file that is no sound replay of this game, and as `make_agent` and `review` do.
    """
    replay = Replay.load(file, game)
    adviser = make_agent(agent, game) if agent else hints_for(replay.config)
    console = Screen()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(escape(shown(adviser.name)), total=None)
        found = review(
            replay,
            adviser,
            None if seat is None else (seat,),
            on_part=lambda part: bar.update(task, completed=len(part.curve), total=part.decisions),
        )
    _print(console, replay, found, moments)
    on_result(asdict(found) | {"moments": [_described(replay, one) for one in found.moments]})


def _print(console: Console, replay: Replay, found: Review, most: int) -> None:
    moments = found.moments[:most]
    if moments:
        who = [] if replay.config.players == 1 else ["who"]
        table = Table("step", *who, "played", "better", title=f"{shown(found.agent)}: {found.estimated}")
        for name in ("after played", "after better", "drop"):
            table.add_column(name, justify="right", max_width=7)
        for one in moments:
            played, better = _texts(replay, one)
            estimates = (estimate_text(given, found.estimated) for given in (one.estimate, one.best))
            drop = estimate_text(one.drop, found.estimated).removeprefix("+")
            label = [replay.label(one.seat)] if who else []
            table.add_row(f"{one.step}", *label, played, better, *estimates, drop)
        console.print(table)
    looked = f"{shown(found.agent)} looked at {counted(found.decisions, 'decision')} with a choice"
    console.print(f"{looked}; at {len(found.moments)} of them it finds something better.")


def _texts(replay: Replay, one: Moment) -> tuple[str, str]:
    """What was played, and what would have been better."""
    state = replay.states[one.step]
    return words_for(replay.game, state, one.action), words_for(replay.game, state, one.better)


def _described(replay: Replay, one: Moment) -> dict[str, Any]:
    """A decision as JSON values; `text` is the played answer."""
    text, better = _texts(replay, one)
    return asdict(one) | {"drop": one.drop, "text": text, "better_text": better}
