"""`… benchmark-text`: how strong a language model is, on fixed seeds, against agents of rising strength.

Each rung of the ladder is an agent. The model plays it on the same seeds from both seats, and climbs on as long as it
beats the rung. Every finished seed is kept, so a stopped run can go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_agents import Agent, make_agent, shipped_policies
from tabletop_agents.text.turn import Form, Turn
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import read_limited, whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.play.agents import USAGE
from tabletop_engine.play.batch import Batch
from tabletop_engine.text.tokens import estimated_tokens
from tabletop_engine.text.words import counted, shown
from tabletop_training.files.job import Job
from tabletop_training.files.provenance import agent_hash, installed, provenance
from tabletop_training.files.tables import (
    OnResult,
    markdown_code,
    markdown_table,
    new_table,
    percent,
    plain,
    plus_minus,
    unheard,
    write_json,
)
from tabletop_training.measure.evaluation import TEXT_SEED, get_ready
from tabletop_training.measure.matches import play_match
from tabletop_training.measure.results import Estimate, mean_estimate, share_estimate

RUNGS = ("random", "greedy", "rollout", "ismcts-200", "policy:versus")
"""The ladder, the weakest first."""
SEEDS = 20
"""Seeds of each rung; both seats play each."""
AT_ONCE = 4
"""Seeds that are played side by side, and kept together: agents draw their random numbers for all of them at once."""
FIRST_LOOK = 8
"""Seeds before `until_width` may stop."""
_SAMPLE = 12
"""Random games that estimate the cost."""
_FILE, _KEPT = "benchmark-text.json", "games.jsonl"


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
    game: Game,
    *,
    rungs: Sequence[str] = (),
    seeds: int = SEEDS,
    until_width: float | None = None,
    every_rung: bool = False,
    estimate_only: bool = False,
    output: str | Path = "runs/benchmark-text",
    on_result: OnResult = unheard,
    **switches: Any,
) -> Path | None:
    """Measure a player and print the table; returns the folder with `benchmark-text.json`, `games.jsonl` and a page.

    Arguments:
        name: of the player, such as `model:my_module:ask`.
        rungs: names of agents, the weakest first; (): `rungs_for`.
        seeds: of each rung, at most, rounded up to a multiple of `AT_ONCE`; each is played from both seats.
        until_width: stop a rung as soon as the interval of its victories is this narrow.
        every_rung: play on after a rung that is not beaten.
        estimate_only: only tell what it would cost, and play nothing; returns None.
        output: a folder. Games that it has of the same player are kept.
        switches: fields of the configuration besides the number of players.

    Raises ConfigError and CheckpointError for bad arguments, TabletopError for a folder of another measurement.
    """
    rungs = rungs or rungs_for(game)
    if len(set(rungs)) < len(rungs):
        raise ConfigError(f"rungs={list(rungs)}: each agent once")
    if 2 not in game.players:
        raise ConfigError(f"{game.title} has no game for two")
    seeds = -(-whole("seeds", seeds, 1, 100_000) // AT_ONCE) * AT_ONCE
    config: Config = game.config(players=2, **switches)
    player = make_agent(name, game)
    others = [make_agent(one, game) for one in rungs]
    get_ready([player, *others], config)
    with Job(output, resume=True) as job:
        calls, tokens = estimated_cost(player, config)
        games = 2 * seeds * len(rungs)
        cost = (
            f"About {calls:.0f} calls and {tokens:,.0f} tokens read in a game, estimated from random games. At most "
            f"{counted(games, 'game')}: {games * calls:,.0f} calls, {games * tokens:,.0f} tokens read."
        )
        if hasattr(player, "usage"):
            job.console.print(cost)
        if estimate_only:
            return None
        rows = _kept(job.folder, player, config)
        measured = []
        with job.bar("playing", games) as bar, (job.folder / _KEPT).open("a", encoding="utf-8") as file:
            for other in others:
                own = [row for row in rows if row["rung"] == other.name]
                bar.advance(len(own))
                for row in _played(player, other, config, own, seeds, until_width, job):
                    file.write(json.dumps(row) + "\n")
                    file.flush()
                    own.append(row)
                    bar.advance(1)
                if not own:
                    break
                measured.append(rung_of(other.name, own))
                bar.show(f"{other.name}: {percent(measured[-1].won)}")
                if job.should_stop() or not (measured[-1].beaten or every_rung):
                    break
        content = {**provenance(config, TEXT_SEED, [name]), "agent_hash": agent_hash(name, game)}
        content |= {"rules_version": game.rules_version, "seeds": seeds, "rungs": [_plain(rung) for rung in measured]}
        content["highest_beaten"] = highest_beaten(measured)
        write_json(job.folder / _FILE, content)
        (job.folder / "benchmark-text.md").write_text(page_of(name, config, measured), encoding="utf-8")
        table = new_table(f"{shown(name)}, {config.name}: 95 % intervals", ["rung"], _SHORT)
        for rung in measured:
            table.add_row(*short_cells(rung))
        job.console.print(table)
        job.console.print(verdict(measured))
        on_result(plain(content))
    return job.folder


def rungs_for(game: Game) -> list[str]:
    """`RUNGS`, without a policy that is not shipped for this game."""
    shipped = [f"policy:{policy}" for policy in shipped_policies(game)]
    return [rung for rung in RUNGS if not rung.startswith("policy:") or rung in shipped]


HEADINGS = ("rung", "games", "won", "margin", "invalid", "won of clean", "calls", "read", "written", "problems")
"""The columns: tokens and problems are those of a game."""


def cells(rung: Rung) -> list[str]:
    """A row of the table."""
    used = [f"{rung.usage[one]:,.1f}" if rung.usage else "" for one in USAGE[:4]]
    clean = "" if rung.won_clean is None else f"{100 * rung.won_clean:.1f} %"
    return [
        rung.agent,
        str(rung.games),
        percent(rung.won),
        plus_minus(rung.margin, signed=True),
        percent(rung.invalid),
        clean,
        *used,
    ]


_SHORT = ("games", "won", "margin", "invalid", "tokens", "problems")
"""The columns of the table on a screen."""


def short_cells(rung: Rung) -> list[str]:
    """A row of the table on a screen."""
    used = rung.usage
    tokens = f"{used['input_tokens'] + used['output_tokens']:,.0f}" if used else ""
    problems = f"{used['problems']:.1f}" if used else ""
    invalid = f"{100 * rung.invalid.value:.1f} %"
    return [shown(rung.agent), *cells(rung)[1:4], invalid, tokens, problems]


def page_of(name: str, config: Config, rungs: Sequence[Rung]) -> str:
    """The result as a page."""
    rows = ([markdown_code(rung.agent), *cells(rung)[1:]] for rung in rungs)
    return f"# {config.game.title} by text: {name}\n\n{markdown_table(HEADINGS, rows)}\n\n{verdict(rungs)} {ABOUT}\n"


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


def rung_of(agent: str, rows: Sequence[dict[str, Any]]) -> Rung:
    """The estimates of games; the games of one seed count as one observation."""
    by_seed: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_seed.setdefault(row["seed"], []).append(row)

    def means(key: str) -> np.ndarray:
        return np.array([np.mean([row[key] for row in games]) for games in by_seed.values()])

    clean = [row["won"] for row in rows if not row["invalid"]]
    counted_rows = [row["usage"] for row in rows if row["usage"]]
    usage = dict(zip(USAGE, np.mean(counted_rows, axis=0).tolist(), strict=True)) if counted_rows else {}
    return Rung(
        agent,
        len(rows),
        len(by_seed),
        share_estimate(means("won")),
        mean_estimate(means("margin")),
        share_estimate(means("invalid")),
        float(np.mean(clean)) if clean else None,
        usage,
    )


def _plain(rung: Rung) -> dict[str, Any]:
    return {**rung.__dict__, "beaten": rung.beaten}


def _played(
    player: Agent,
    other: Agent,
    config: Config,
    own: Sequence[dict[str, Any]],
    seeds: int,
    until_width: float | None,
    job: Job,
) -> Iterator[dict[str, Any]]:
    """Play the missing games of a rung, a few seeds at a time; yields a row for each."""
    done, missing = list(own), [seed for seed in _seeds(seeds) if seed not in {row["seed"] for row in own}]
    while missing and not job.should_stop():
        played = len({row["seed"] for row in done})
        if until_width is not None and played >= FIRST_LOOK and rung_of("", done).won.width <= until_width:
            return
        now, missing = missing[:AT_ONCE], missing[AT_ONCE:]
        results = play_match([player, other], config, now)
        # a model answers for all games of a seed at once, so its usage is divided among them
        usage = (results.usage[0] / len(results)).tolist() if len(results.usage) else []
        for game in range(len(results)):
            seat = int(np.flatnonzero(results.lineups[game] == 0)[0])
            row = {
                "rung": other.name,
                "seed": int(results.seeds[game]),
                "seat": seat,
                "won": float(results.win_shares[game, seat]),
                "margin": float(results.margins_by_seat[game, seat]),
                "invalid": bool(results.invalid[game, seat]),
                "length": int(results.lengths[game]),
                "usage": usage,
            }
            done.append(row)
            yield row


def _seeds(number: int) -> list[int]:
    return list(range(TEXT_SEED, TEXT_SEED + number))


def _kept(folder: Path, player: Agent, config: Config) -> list[dict[str, Any]]:
    """The games that a folder has. Raises TabletopError if they are of another player, game or version."""
    path = folder / "settings.json"
    now = plain(
        {
            **provenance(config, TEXT_SEED, [player.name]),
            "rules_version": config.game.rules_version,
            "agent_hash": agent_hash(player.name, config.game),
        }
    )
    if not path.exists():
        write_json(path, now)
        return []
    try:
        before = json.loads(read_limited(path))
        data = read_limited(folder / _KEPT)
        rows = [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines() if line.strip()]
        for row in rows:
            if set(row) != {"rung", "seed", "seat", "won", "margin", "invalid", "length", "usage"}:
                raise ValueError
    except FileNotFoundError:
        rows = []
    except (ValueError, TypeError, OSError):
        raise TabletopError(f"{folder}: its files are not those of a benchmark by text of this version") from None
    for key, value in now.items():
        if key not in installed() and before.get(key) != value:
            another = key.replace("_", " ")
            raise TabletopError(f"{folder}: it is of another {another}; give another folder with --output")
    games: dict[tuple[str, int], int] = {}
    for row in rows:
        block = row["rung"], (row["seed"] - TEXT_SEED) // AT_ONCE
        games[block] = games.get(block, 0) + 1
    kept = [row for row in rows if games[row["rung"], (row["seed"] - TEXT_SEED) // AT_ONCE] == 2 * AT_ONCE]
    with whole_file(folder / _KEPT) as unfinished:  # without what was cut off: half a block, or half a line
        unfinished.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    return kept


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
