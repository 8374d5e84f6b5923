"""`… text-positions`: single decisions as messages, labelled by an agent that judges every answer.

A cheap first look at a model: one call for each position, and no game has to be played.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tabletop_agents import make_agent
from tabletop_engine import seeds as streams
from tabletop_engine.checks import checked, whole
from tabletop_engine.errors import ConfigError, TabletopError
from tabletop_engine.files import make_folder, whole_file
from tabletop_engine.game import Config, Game
from tabletop_engine.text.screen import Screen
from tabletop_engine.text.words import counted, shown
from tabletop_play.advice import advise
from tabletop_play.session import Session, hints_name
from tabletop_text.model import system_message
from tabletop_text.turn import Form, Turn
from tabletop_training.files.job import Interruptions, progress_bar
from tabletop_training.files.tables import OnResult, ignore
from tabletop_training.measure.evaluation import TEXT_SEED

MOST_A_GAME = 4
"""The most positions from one game, because positions of one game are alike."""


@checked
def main(
    game: Game,
    config: Config,
    *,
    positions: int = 100,
    judge: str = "",
    player: str = "greedy",
    seed: int = TEXT_SEED,
    output: str | Path = "runs/text-positions.jsonl",
    on_result: OnResult = ignore,
) -> Path:
    """Write a JSON-lines file of positions, one a line; returns it.

    A line has `id`, `game`, `config`, `rules_version`, `seed`, `number` (of answers before it), `seat`, `decision`,
    `messages` (with the complete rules), `answers` in words, `judge`, `best` (the index of the answer that the judge
    prefers), and `values` or `shares` of the answers as the judge gives them, with what they mean.

    Arguments:
        positions: how many. From each game at most `MOST_A_GAME` are taken, of decisions with several answers.
        judge: an agent that assesses; "": the one that gives hints in play.
        player: the agent that plays all seats of the games; a quarter of their decisions are random.
        seed: of the first game.

    The file is replaced as a whole. Raises ConfigError for bad arguments, and for a judge that gives neither values nor
    shares; TabletopError if the file can't be written.
    """
    whole("positions", positions, 1, 1_000_000)
    judging = make_agent(judge or hints_name(config), game)
    playing = make_agent(player, game)
    path = Path(output)
    make_folder(path.parent)
    console, written = Screen(), 0
    try:
        with Interruptions() as interruptions, progress_bar(console) as progress, whole_file(path) as unfinished:
            task = progress.add_task("writing positions", total=positions, status="")
            with unfinished.open("w", encoding="utf-8") as file:
                while written < positions and not interruptions.wanted():
                    for line in positions_of_game(config, judging, playing, seed):
                        if written < positions and not interruptions.wanted():
                            file.write(json.dumps(line, ensure_ascii=True) + "\n")
                            written += 1
                            progress.advance(task)
                    seed += 1
    except OSError as error:
        raise TabletopError(f"{path}: can't be written ({error.strerror or error})") from None
    console.print(f"{shown(str(path))}: {counted(written, 'position')}, judged by {shown(judging.name)}.")
    on_result({"file": str(path), "positions": written, "judge": judging.name})
    return path


def positions_of_game(config: Config, judge: Any, player: Any, seed: int) -> list[dict[str, Any]]:
    """Some positions of one game, drawn by its seed, each with the judge's opinion."""
    game = config.game
    session = Session(config, dict.fromkeys(range(config.players), player), seed=seed)
    drawn = streams.generator(seed, streams.Stream.TEXT_SEATS, 1)
    points: list[int] = []
    while not session.over:
        if len(session.options()) > 1:
            points.append(session.number)
        answers = [option.action for option in session.options()]
        session.play(int(drawn.choice(answers)) if drawn.random() < 0.25 else session.agent_answer())
    chosen = sorted(drawn.permutation(points)[:MOST_A_GAME].tolist())
    actions = session.replay.actions
    lines = []
    again = Session(config, {}, seed=seed)
    for number, action in enumerate(actions):
        if number in chosen:
            lines.append(_line(again, judge, seed, game))
        again.play(action)
    return lines


def _line(session: Session, judge: Any, seed: int, game: Game) -> dict[str, Any]:
    state, seat, options = session.state, session.actor, session.options()
    first = max(0, session.own_last(seat))
    turn = Turn(
        session.config,
        session.tables,
        state,
        seat,
        form=Form(rules=False),
        options=options,
        events=session.events(first, seat),
    )
    advice = advise(judge, session.decision(), session.generator(1))
    if not advice.estimates and not advice.shares:
        raise ConfigError(f"judge: {judge.name!r} gives neither values nor shares of answers")
    labels: dict[str, Any] = {}
    judged = ("values", advice.estimates, advice.estimated), ("shares", advice.shares, advice.meaning)
    for key, given, meaning in judged:
        if given:
            labels[key] = [_rounded(given.get(option.action)) for option in options]
            labels[f"{key}_mean"] = meaning
    config = session.config
    return {
        "id": f"{game.name}-{config.name}-{seed}-{session.number}",
        "game": game.name,
        "config": config.name,
        "rules_version": game.rules_version,
        "seed": seed,
        "number": session.number,
        "seat": seat,
        "decision": game.decisions[int(state["decision"])],
        "messages": [system_message(config, session.tables, seat), {"role": "user", "content": turn.text}],
        "answers": list(turn.answers),
        "judge": judge.name,
        "best": [option.action for option in options].index(advice.best),
        **labels,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 4)
