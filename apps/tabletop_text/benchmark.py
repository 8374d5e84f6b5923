"""`… benchmark-text`: how strong a language model is, on fixed seeds, against agents of rising strength.

Each rung of the ladder is an agent. The model plays it on the same seeds from both seats, and climbs on as long as it
beats the rung. The games of every `AT_ONCE` seeds are kept, so a stopped run can go on, also with more seeds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_agents import Agent, shipped_policies
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError
from tabletop_engine.files import whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import USAGE
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.tokens import estimated_tokens
from tabletop_engine.text.words import counted, shown
from tabletop_text.turn import Form, Turn
from tabletop_training.files.job import SETTINGS_FILE, Job, Stopped
from tabletop_training.files.provenance import provenance
from tabletop_training.files.tables import (
    AGENT,
    MARGIN,
    WIN_RATE,
    Column,
    OnResult,
    Table,
    format_estimate,
    ignore,
    plain,
    write_json,
)
from tabletop_training.measure.cluster import opened
from tabletop_training.measure.evaluation import HERE, TEXT_SEED, Workers
from tabletop_training.measure.matches import make_agents
from tabletop_training.measure.results import Estimate, Results, concatenate, mean_estimate, share_estimate
from tabletop_training.study.cells import Cell
from tabletop_training.study.play import play_blocks, played
from tabletop_training.study.settings import arguments, keep_settings, kept_settings
from tabletop_training.study.store import Store

RUNGS = ("random", "greedy", "rollout", "ismcts-200", "policy:versus")
"""The ladder, the weakest first."""
SEEDS = 20
"""Seeds of each rung; both seats play each."""
AT_ONCE = 4
"""Seeds that are played and kept together: agents draw their random numbers for all of them at once."""
FIRST_LOOK = 8
"""Seeds before `until_width` may stop."""
_SAMPLE = 12
"""Random games that estimate the cost."""


@dataclass(frozen=True)
class Rung:
    """What a player reached against one agent.

    Attributes:
        agent: the agent's name. games, seeds: how many were played.
        won: the share of victories; a shared one counts one half. margin: points less the agent's.
        invalid: the share of games that it lost by giving no legal answer. They count as lost in `won`.
        won_clean: the share of victories among the other games; None if there are none.
        usage: what it used in a game, by `USAGE`; empty for an agent that asks no model.
    """

    agent: str
    games: int
    seeds: int
    won: Estimate
    margin: Estimate
    invalid: Estimate
    won_clean: float | None
    usage: dict[str, float]

    @property
    def beaten(self) -> bool:
        """Whether the interval of the victories lies above one half."""
        return self.won.low > 0.5


@checked
def main(
    name: str,
    config: Config,
    *,
    rungs: Sequence[str] = (),
    seeds: int = SEEDS,
    until_width: float | None = None,
    every_rung: bool = False,
    estimate_only: bool = False,
    workers: Workers | int = HERE,
    output: str | Path = "runs/benchmark-text",
    on_result: OnResult = ignore,
) -> Path | None:
    """Measure a player and print the table; returns the folder with `benchmark-text.json`, `games.jsonl` and a page.

    Arguments:
        name: of the player, such as `model:my_module:ask`.
        config: for two players.
        rungs: names of agents, the weakest first; (): `rungs_for`.
        seeds: of each rung, at most, rounded up to a multiple of `AT_ONCE`; each is played from both seats.
        until_width: stop a rung as soon as the interval of its victories is this narrow.
        every_rung: play on after a rung that is not beaten.
        estimate_only: only tell what it would cost, and play nothing; returns None.
        workers: they play the games, as in `tabletop_training.measure.matches.evaluate`.
        output: a folder. Games that it has of the same player are not played again.

    After Ctrl-C the table has the games that were finished. Raises ConfigError and CheckpointError for bad arguments,
    TabletopError for a folder of another measurement.
    """
    rungs = tuple(rungs or rungs_for(config.game))
    if len(set(rungs)) < len(rungs):
        raise ConfigError(f"rungs={list(rungs)}: each agent once")
    if config.players != 2:
        raise ConfigError(f"players={config.players}: must be 2, the player and an agent")
    seeds = -(-whole("seeds", seeds, 1, 100_000) // AT_ONCE) * AT_ONCE
    console = Screen()
    with console.status("loading the agents"):
        player, *others = make_agents([name, *rungs], config)
    if hasattr(player, "usage"):
        calls, tokens = estimated_cost(player, config)
        games = 2 * seeds * len(rungs)
        console.print(
            f"About {calls:.0f} calls and {tokens:,.0f} tokens read in a game, estimated from random games. At most "
            f"{counted(games, 'game')}: {games * calls:,.0f} calls, {games * tokens:,.0f} tokens read."
        )
    if estimate_only:
        return None
    asked = {"name": name, "config": asdict(config), "rungs": rungs, "seeds": seeds, "until_width": until_width}
    asked |= {"every_rung": every_rung}
    again = f"{config.game.command} benchmark-text"
    with Job(output, resume=True, again=again) as job, opened(workers) as players:
        if (job.folder / SETTINGS_FILE).exists():  # the games of something else must not be mixed with these
            kept_settings(job.folder, "benchmark-text", config.game, dict)
        store = Store(job.folder)
        cells = {other.name: _cells(player, other, config, seeds) for other in others}
        kept = {rung: [one for cell in own if (one := played(cell, store)) is not None] for rung, own in cells.items()}
        keep_settings(job.folder, "benchmark-text", config.game, asked)
        blocks: dict[str, list[Results]] = {}
        with job.until_stopped(), job.bar("playing", 2 * seeds * len(rungs)) as bar:
            for rung, own in cells.items():
                blocks[rung] = []
                with closing(play_blocks(own, store, players, should_stop=job.should_stop)) as playing:
                    for block in chain(kept[rung], (one.block for one in playing)):
                        blocks[rung].append(block)
                        so_far = rung_of(rung, concatenate(blocks[rung]))
                        bar.advance(len(block))
                        bar.show(f"{rung}: {WIN_RATE.write(so_far.won)}")
                        if until_width is not None and so_far.seeds >= FIRST_LOOK and so_far.won.width <= until_width:
                            break
                if not (so_far.beaten or every_rung):
                    break
        measured = [rung_of(rung, concatenate(own)) for rung, own in blocks.items() if own]
        if not measured:
            raise Stopped
        with whole_file(job.folder / "games.jsonl") as unfinished:
            rows = (row for rung, own in blocks.items() for block in own for row in _rows(rung, block))
            unfinished.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        content = {
            **provenance(config, TEXT_SEED, [name]),
            "seeds": seeds,
            "rungs": [{**vars(rung), "beaten": rung.beaten} for rung in measured],
            "highest_beaten": highest_beaten(measured),
        }
        write_json(job.folder / "benchmark-text.json", content)
        (job.folder / "benchmark-text.md").write_text(page_of(name, config, measured), encoding="utf-8")
        job.console.print(table_of(name, config, measured).screen())
        job.console.print(verdict(measured))
        on_result(plain(content))
    return job.folder


def resume(folder: str | Path, game: Game, trusted: Sequence[str] = (), **how: Any) -> Path | None:
    """Go on with the measurement of a folder, as `tabletop_training.measure.matches.resume` does."""
    names = ("name", "config", "rungs", "seeds", "until_width", "every_rung")
    agents = {"name": "the agent ", "rungs": "--rungs "}
    return main(
        **arguments(folder, "benchmark-text", game, *names, trusted=trusted, agents=agents), output=folder, **how
    )


def _cells(player: Agent, other: Agent, config: Config, seeds: int) -> list[Cell]:
    """The games of a rung, a cell for each `AT_ONCE` seeds: however many are asked for, the first ones are the same."""
    firsts = range(TEXT_SEED, TEXT_SEED + seeds, AT_ONCE)
    return [Cell(f"{other.name} from {first}", [player, other], config, 2 * AT_ONCE, first) for first in firsts]


def rungs_for(game: Game) -> list[str]:
    """`RUNGS`, without a policy that is not shipped for this game."""
    shipped = [f"policy:{policy}" for policy in shipped_policies(game)]
    return [rung for rung in RUNGS if not rung.startswith("policy:") or rung in shipped]


def table_of(name: str, config: Config, rungs: Sequence[Rung], short: bool = True) -> Table:
    """What was reached, for a screen or for the page. Tokens and problems are those of a game."""
    won = partial(format_estimate, unit="%")
    columns = [
        replace(AGENT, heading="rung"),
        Column("games", "games"),
        Column("won", "won", won),
        MARGIN,
        Column("invalid", "invalid", partial(won, interval="") if short else won),
    ]
    number = "{:,.1f}".format
    if short:
        columns += [Column("tokens", "tokens", "{:,.0f}".format), Column("problems", "problems", "{:.1f}".format)]
    else:
        columns.append(Column("won of clean", "won_clean", lambda share: f"{100 * share:.1f} %"))
        names = ("calls", "read", "written", "problems")
        columns += [Column(heading, used, number) for heading, used in zip(names, USAGE, strict=False)]
    rows = [
        {**vars(rung), **used, **({"tokens": used["input_tokens"] + used["output_tokens"]} if used else {})}
        for rung in rungs
        for used in [rung.usage]
    ]
    return Table(columns, rows, f"{shown(name)}, {config.name}: 95 % intervals")


def page_of(name: str, config: Config, rungs: Sequence[Rung]) -> str:
    """The result as a page."""
    table = table_of(name, config, rungs, short=False).markdown()
    return f"# {config.game.title} by text: {name}\n\n{table}\n\n{verdict(rungs)} {ABOUT}\n"


ABOUT = (
    "Won: victories of all games, an invalid end counted as a defeat. Invalid: games that ended because no legal "
    "answer came. Calls, tokens read and written, and replies without a legal answer are those of a game. Each seed "
    "was played from both seats, and its games count as one observation."
)


def verdict(rungs: Sequence[Rung]) -> str:
    """The highest rung that was beaten, as a sentence."""
    best = highest_beaten(rungs)
    return f"Highest rung beaten: {best}." if best else "No rung was beaten."


def highest_beaten(rungs: Sequence[Rung]) -> str:
    """The last rung that was beaten; "" if none was."""
    return next((rung.agent for rung in reversed(rungs) if rung.beaten), "")


def rung_of(agent: str, results: Results) -> Rung:
    """What the first agent of these games reached; the games of one seed count as one observation."""
    by_seat = (results.win_shares, results.margins_by_seat, results.invalid)
    own = np.stack([results.by_agent(values)[:, 0] for values in by_seat], axis=1)  # (games, 3)
    won, margin, invalid = results.by_seed(own).T
    clean = own[own[:, 2] == 0, 0]
    usage = (results.usage[0] / len(results)).tolist() if len(results.usage) else []
    return Rung(
        agent,
        len(results),
        len(won),
        share_estimate(won),
        mean_estimate(margin),
        share_estimate(invalid),
        float(clean.mean()) if len(clean) else None,
        dict(zip(USAGE, usage, strict=False)),
    )


def _rows(rung: str, block: Results) -> list[dict[str, Any]]:
    """The lines of `games.jsonl`."""
    # a model answers for all games of a block at once, so its usage is divided among them
    usage = (block.usage[0] / len(block)).tolist() if len(block.usage) else []
    seats = np.argmin(block.lineups, axis=1).tolist()  # the player is agent 0
    return [
        {
            "rung": rung,
            "seed": int(block.seeds[game]),
            "seat": seat,
            "won": float(block.win_shares[game, seat]),
            "margin": float(block.margins_by_seat[game, seat]),
            "invalid": bool(block.invalid[game, seat]),
            "length": int(block.lengths[game]),
            "usage": usage,
        }
        for game, seat in enumerate(seats)
    ]


def estimated_cost(player: Agent, config: Config) -> tuple[float, float]:
    """The player's calls in a game and the tokens of their messages, from random games that ask each decision once."""
    form = getattr(player, "form", None) or Form()
    growing = getattr(player, "memory", "none") == "game"
    rules = estimated_tokens(config.game.words.rules(config))
    calls, tokens = 0, 0.0
    batch = Batch(config, _SAMPLE, TEXT_SEED, autoreset="disabled")
    said = np.zeros(_SAMPLE)
    while (batch.actors >= 0).any():
        for game in np.flatnonzero(batch.actors == 0).tolist():
            turn = Turn(config, batch.tables, batch.states[game], 0, form=form)
            message = estimated_tokens(turn.board) + 15 * int(batch.action_masks[game].sum()) + 60
            said[game] = said[game] + message if growing else message
            calls += 1
            tokens += rules + said[game]
        batch.step(batch.random_actions(), which=batch.actors >= 0)
    return calls / _SAMPLE, tokens / _SAMPLE
