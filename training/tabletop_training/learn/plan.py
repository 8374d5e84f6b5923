"""`Plan`: all that decides how a run of learning goes, from a settings file or from the `run.json` of its folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tabletop_agents import checkpoint_path
from tabletop_agents.checkpoint import configs_of, read_checkpoint
from tabletop_engine.checks import fit_fields, whole
from tabletop_engine.errors import CheckpointError, ConfigError
from tabletop_engine.files import read_limited, whole_file
from tabletop_engine.game import Game
from tabletop_training.files.provenance import agent_hashes, installed
from tabletop_training.files.settings import Settings, read_settings, section_of, shipped_settings
from tabletop_training.learn.opponents import OpponentSettings
from tabletop_training.learn.task import Budget, EvaluationSettings, GamesSettings
from tabletop_training.measure.evaluation import MOST_SEED

RUN = "run.json"
TABLES: dict[str, type[Any]] = {
    "learning": Settings,
    "games": GamesSettings,
    "opponents": OpponentSettings,
    "evaluation": EvaluationSettings,
    "budget": Budget,
}
"""The tables of a settings file."""
QUICK, SOLO, SELFPLAY, GENERAL = "quick", "solo", "selfplay", "general"
KINDS = (SOLO, SELFPLAY, GENERAL)
"""Names of settings that every game has, whether or not it ships files for them."""


@dataclass(frozen=True)
class Plan:
    """All that decides how a run goes: the tables of a settings file, and what the command adds to them."""

    learning: Settings = field(default_factory=Settings)
    games: GamesSettings = field(default_factory=GamesSettings)
    opponents: OpponentSettings = field(default_factory=OpponentSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    budget: Budget = field(default_factory=Budget)
    seed: int = 0  # of the network and the games
    start: str | None = None  # the checkpoint or shipped policy that the network comes from
    rival: str | None = None  # the checkpoint or shipped policy that has all other seats
    kind: str = ""  # the name of the settings
    checkpoints: dict[str, str] = field(default_factory=dict)  # checksums of the files that it begins with

    def __post_init__(self) -> None:
        fit_fields(self)
        whole("seed", self.seed, 0, MOST_SEED)


def new_plan(
    game: Game,
    settings: str | Path | None,
    changes: dict[str, Any],
    *,
    seed: int = 0,
    start: str | None = None,
    rival: str | None = None,
) -> Plan:
    """The plan of the run that these arguments of `train.main` ask for. Raises ConfigError, CheckpointError."""
    players = changes.get("players") or ()
    players = (players,) if isinstance(players, int) else tuple(players)
    kind, file = settings_file(game, settings, players, bool(changes.get("curriculum")))
    plan = Plan(**read_settings(file, game, **TABLES), seed=seed, start=start, rival=rival, kind=kind)
    if file is None and kind == SOLO:
        plan = replace(plan, games=GamesSettings((1,)))
    elif file is None:
        least = min((number for number in game.players if number > 1), default=1)
        games = GamesSettings((least,)) if kind == SELFPLAY else GamesSettings(variety=True)
        plan = replace(plan, games=games, opponents=OpponentSettings(league=0.25))
    if rival is not None:
        # The rival has all other seats of the games that it was trained for, and of the evaluation's.
        path = checkpoint_path(rival, game)
        training = read_checkpoint(game, path)[1].get("training", {})
        known = dict.fromkeys(config.players for config in configs_of(game, training, path) if config.players > 1)
        numbers = tuple(number for number in known if number in (players or known))
        if not numbers:
            raise ConfigError(f"rival={rival!r}: it was not trained for these numbers of players, or for no other seat")
        table = {**training["config"], "players": numbers, "variety": bool(training.get("general"))}
        name = f"policy:{rival}"
        plan = replace(
            plan,
            games=GamesSettings.of_table(game, table),
            opponents=replace(plan.opponents, league=0.0, agents={name: 1.0}),
            evaluation=replace(plan.evaluation, against=(name,)),
        )
        changes = {**changes, "players": None}
    plan = replace(plan, games=plan.games.changed(game, changes))
    policies = [f"policy:{name}" for name in (start, rival) if name is not None]
    return replace(plan, checkpoints=agent_hashes([*policies, *plan.opponents.agents], game))


def settings_file(
    game: Game, settings: str | Path | None, players: Sequence[int] = (), curriculum: bool = False
) -> tuple[str, str | Path | None]:
    """The name of a run's settings, and its file; None where the game ships none for this name.

    `selfplay` has a file for each number of players. If one is missing, that of the next smaller number is taken. With
    a curriculum, `solo` is `solo_curriculum`. Without a name it is `solo` for one player or a curriculum, `selfplay`
    for one other number of players, and `general` for several. Without numbers of players, too, it is `quick` if the
    game ships it; otherwise the only number of players of a game need not be given. A note on stderr says which file is
    taken.

    Raises ConfigError for `selfplay` with one player.
    """
    named, shipped = settings, shipped_settings(game)
    if settings is None and not players and not curriculum and QUICK in shipped:
        settings = QUICK
    elif settings is None:
        numbers = list(players) or (list(game.players) if len(game.players) == 1 else [])
        settings = SOLO if curriculum or numbers == [1] else SELFPLAY if len(numbers) == 1 else GENERAL
    elif settings not in KINDS or Path(settings).is_file():
        return Path(settings).stem, settings
    kind = file = str(settings)
    if kind == SOLO and curriculum:
        file = "solo_curriculum"
    elif kind == SELFPLAY:
        if 1 in players or game.players == (1,):
            raise ConfigError(
                f"players=1: self-play is for two players or more; for one it is `{game.command} train solo`"
            )
        numbers = [number for number in game.players if f"selfplay_{number}p" in shipped]
        smaller = [number for number in numbers if number <= min(players, default=0)]
        file = f"selfplay_{max(smaller, default=min(numbers, default=0))}p"
    if file not in shipped:
        return kind, None
    if file != named:
        print(f"Settings: {file}", file=sys.stderr)
    return kind, file


def write_plan(folder: Path, game: Game, plan: Plan, threads: int | None = None) -> None:
    """Write a plan into a run's `run.json` for `read_plan`. `threads` are torch's; None before they are chosen."""
    content: dict[str, Any] = {"game": game.name, "package": game.version, "settings": plan.kind, "seed": plan.seed}
    content |= {"start": plan.start, "rival": plan.rival, "checkpoints": plan.checkpoints}
    content |= {**installed(), "threads": threads, "budget": asdict(plan.budget), "learning": asdict(plan.learning)}
    content |= {"games": plan.games.table(), "opponents": asdict(plan.opponents), "evaluation": asdict(plan.evaluation)}
    with whole_file(folder / RUN) as unfinished:
        unfinished.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_plan(folder: Path, game: Game, settings: object = None) -> Plan:
    """Read the plan from a run's `run.json`.

    Raises CheckpointError if it is missing, damaged, of another game, or of another kind than `settings` says.
    """
    path = folder / RUN
    if not path.is_file():
        raise CheckpointError(f"{path}: there is no such file; --resume needs the folder of a run")
    try:
        content = json.loads(read_limited(path))
        kind = str(content["settings"])
        named = settings if settings and kind in KINDS else kind
        if str(content["game"]) == game.name and named == kind:
            tables = {name: section_of(table, game, content[name]) for name, table in TABLES.items()}
            rest = {name: content[name] for name in ("seed", "start", "rival", "checkpoints")}
            return Plan(**tables, **rest, kind=kind)
    except (ValueError, KeyError, TypeError, AttributeError, ConfigError) as error:
        raise CheckpointError(f"{path}: is damaged or of another version ({error})") from None
    raise CheckpointError(f"{path}: is a run of `{content['game']} train {kind}`, not of `{game.name} train {named}`")
