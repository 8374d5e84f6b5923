"""Records what must stay the same while the house is rebuilt, as text files that two versions can be compared by.

    python tests/oracle.py record FOLDER [PART …]    what the tree on the Python path does
    python tests/oracle.py compare FOLDER FOLDER     lists the files that differ, with the first line that does

It is one file that imports no other test, so that it records an earlier version from its worktree, too: set PYTHONPATH
to that tree. Nothing here asserts; a difference is explained by a person. The file goes when the rebuilding is done.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

STATES = 200
DESCRIPTIONS = 1500
TIMES = ("second", "date", "pace", "speed", "took")
"""Columns and keys with one of these words are left out."""
OVERLAY = "[tiles.cotton]\nscores = [1, 2, 3, 4]\n[pieces]\nclouds = 10\n"


def games() -> dict[str, Any]:
    import evergreen_env
    import petrichor_env

    return {"petrichor": petrichor_env.GAME, "evergreen": evergreen_env.GAME}


def digest(*values: Any) -> str:
    """A short hash of arrays, numbers, texts, and dictionaries of them."""
    hashed = hashlib.sha256()
    for value in values:
        hashed.update(as_text(value).encode())
    return hashed.hexdigest()[:16]


def as_text(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        data = array.tolist() if array.dtype == object else hashlib.sha256(array.tobytes()).hexdigest()
        return f"{array.dtype!s:.80}{array.shape}{data}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {as_text(value[key])}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return repr(value)


# --- Bad descriptions -------------------------------------------------------------------------------------------------


def descriptions() -> Iterator[tuple[str, Iterable[str]]]:
    """What the reader of positions says of descriptions that somebody has changed."""
    for name, game in games().items():
        rng = np.random.default_rng(0)
        lines = []
        sources = [describe(game, state) for state, _ in some_records(game, 60)]
        for number in range(DESCRIPTIONS):
            changed = json.loads(json.dumps(sources[number % len(sources)]))
            for _ in range(int(rng.integers(1, 3))):
                spoil(changed, rng)
            try:
                lines.append(f"{number}: read as {digest(game.scenario(changed))}")
            except Exception as error:
                lines.append(f"{number}: {type(error).__name__}: {error}")
        yield f"descriptions/{name}.txt", lines


def describe(game: Any, state: Any) -> dict[str, Any]:
    described: dict[str, Any] = __import__(f"{game.name}_env").describe(state)
    return described


def spoil(tree: Any, rng: np.random.Generator) -> None:
    """Change one place of a tree of JSON."""
    places: list[tuple[Any, Any]] = []

    def look(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            look(node[key])

    look(tree)
    node, key = places[int(rng.integers(len(places)))]
    others = [parent[at] for parent, at in places]
    wrong: list[Any] = [
        None,
        -1,
        0,
        1,
        2,
        7,
        99,
        1.5,
        True,
        "x",
        "",
        [],
        {},
        [1, 2],
        "player_0",
        "player_1",
        "wheat",
        "c3",
    ]
    kind = int(rng.integers(6))
    if kind == 0:
        del node[key]
    elif kind == 1:
        node[key] = json.loads(json.dumps(others[int(rng.integers(len(others)))]))
    elif kind == 2 and isinstance(node, dict):
        node["unknown"] = 1
    elif kind == 3 and isinstance(node, list):
        node.append(node[key])
    elif kind == 4 and isinstance(node[key], int) and not isinstance(node[key], bool):
        node[key] += int(rng.integers(-2, 3))
    else:
        node[key] = wrong[int(rng.integers(len(wrong)))]


def some_records(game: Any, number: int, players: Iterable[int] = ()) -> list[tuple[Any, Any]]:
    """Records in the middle of random games, of every number of players and many configurations, with their own."""
    from tabletop_agents.checkpoint import variety
    from tabletop_engine.play.batch import Batch

    found = []
    rng = np.random.default_rng(1)
    configs = [one for count in players or game.players for one in variety(game.config(players=count))]
    for index in range(number):
        config = configs[int(rng.integers(len(configs)))]
        batch = Batch(config, 1, index, autoreset="disabled")
        for _ in range(int(rng.integers(0, 40 * config.players))):
            if batch.actors[0] < 0:
                break
            before = batch.states[0].copy()
            batch.step(batch.random_actions())
        state = batch.states[0].copy() if batch.actors[0] >= 0 else before
        found.append((state, config))
    return found


# --- Agents -----------------------------------------------------------------------------------------------------------


def agents() -> Iterator[tuple[str, Iterable[str]]]:
    """The actions that each agent chooses in the middle of games."""
    from tabletop_agents import make_agent, shipped_policies
    from tabletop_engine.errors import ConfigError
    from tabletop_engine.play.agents import Decisions
    from tabletop_engine.play.batch import Batch

    for name, game in games().items():
        names = ["random", "greedy", "rollout-2", "ismcts-25", "openspiel-ismcts-3"]
        for policy in shipped_policies(game):
            names += [f"policy:{policy}", f"policy-sample:{policy}", f"search-12:{policy}"]
        records = some_records(game, STATES)
        for agent_name in names:
            agent, lines = make_agent(agent_name, game), []
            for number, (state, config) in enumerate(records):
                if agent_name.startswith("openspiel") and number >= 20:
                    break
                batch = Batch(config, 1, 0, autoreset="disabled")
                batch.set_states(state[None])
                try:
                    if hasattr(agent, "check"):
                        agent.check(config)
                    told = agent.act(Decisions.of(batch), np.random.default_rng(number)).tolist()
                except ConfigError as error:
                    told = f"{error}"
                lines.append(f"{number}: {told}")
            yield f"agents/{name}-{agent_name.replace(':', '-')}.txt", lines


# --- Environments -----------------------------------------------------------------------------------------------------


def environments() -> Iterator[tuple[str, Iterable[str]]]:
    """Trajectories with infos of every environment class; one action in ten may be illegal."""
    for name, game in games().items():
        package = __import__(f"{name}_env")
        for illegal in ("lose", "raise", "random"):
            for dtype in ("float32", "int8"):
                yield f"environments/{name}-single-{illegal}-{dtype}.txt", single(package, illegal, dtype)
                for mode in ("NextStep", "SameStep", "Disabled"):
                    told = vector(package, illegal, dtype, mode)
                    yield f"environments/{name}-vector-{illegal}-{dtype}-{mode}.txt", told
            yield f"environments/{name}-aec-{illegal}.txt", aec(name, illegal)
            for mode in ("next_step", "same_step", "disabled"):
                yield f"environments/{name}-batch-{illegal}-{mode}.txt", batches(game, illegal, mode)
                yield f"environments/{name}-versus-{illegal}-{mode}.txt", versus(game, illegal, mode)
        yield f"environments/{name}-sb3.txt", sb3(game)
        yield f"environments/{name}-rendered.txt", rendered(package)


def _action(mask: np.ndarray, rng: np.random.Generator, illegal: str) -> int:
    if rng.random() < 0.02 and illegal != "raise":
        return int(rng.integers(len(mask)))
    return int(rng.choice(np.flatnonzero(mask)))


def _ways(package: Any) -> list[tuple[str, dict[str, Any]]]:
    ways: list[tuple[str, dict[str, Any]]] = [
        (package.VERSUS_ID, {"opponents": ["greedy"]}),
        (package.VERSUS_ID, {"players": 3, "opponents": ["random", "greedy"], "seat": 1, "reward": "margin"}),
        (package.VERSUS_ID, {"editions": 3, "observe_numbers": True, "opponents": ["random"], "reward": "points"}),
        (package.SOLO_ID, {}),
        (package.SOLO_ID, {"editions": 2, "observe_numbers": True}),
    ]
    if package.__name__ == "petrichor_env":
        ways.append((package.SOLO_ID, {"variants": ["double_card"], "reward": "margin"}))
    return ways


def single(package: Any, illegal: str, dtype: str) -> Iterator[str]:
    import gymnasium

    for env_id, given in _ways(package):
        env = gymnasium.make(env_id, illegal_action=illegal, observation_dtype=dtype, **given)
        rng = np.random.default_rng(0)
        yield f"{env_id} {given} {env.observation_space} {env.action_space}"
        for game in range(3):
            observation, info = env.reset(seed=game if game < 2 else None)
            yield f"{env.reset.__name__} {digest(observation)} {digest(dict(info))}"
            over = False
            while not over:
                observation, reward, terminated, truncated, info = env.step(_action(info["action_mask"], rng, illegal))
                over = terminated or truncated
                told = {key: info[key] for key in ("points", "others_points", "won", "seat", "illegal")} | dict(info)
                yield f"{digest(observation)} {reward} {terminated} {truncated} {digest(told)}"
        env.close()


def vector(package: Any, illegal: str, dtype: str, mode: str) -> Iterator[str]:
    import gymnasium

    for env_id, given in _ways(package):
        kinds = {"illegal_action": illegal, "observation_dtype": dtype, "autoreset_mode": mode, **given}
        kinds["autoreset_mode"] = getattr(
            gymnasium.vector.AutoresetMode,
            {"NextStep": "NEXT_STEP", "SameStep": "SAME_STEP", "Disabled": "DISABLED"}[mode],
        )
        env = gymnasium.make_vec(env_id, num_envs=4, **kinds)
        rng = np.random.default_rng(0)
        observations, infos = env.reset(seed=5)
        yield f"{env_id} {given} {digest(observations)} {digest(infos)}"
        over = np.zeros(4, bool)
        for _ in range(150):
            if mode == "Disabled" and over.any():
                observations, infos = env.reset(options={"reset_mask": over})
                yield f"reset {digest(observations)} {digest(infos)}"
            masks = infos["action_mask"]
            actions = np.array([_action(mask, rng, illegal) for mask in masks])
            observations, rewards, terminated, truncated, infos = env.step(actions)
            over = terminated | truncated
            yield f"{digest(observations)} {rewards.tolist()} {terminated.tolist()} {digest(infos)}"
        env.close()


def aec(name: str, illegal: str) -> Iterator[str]:
    import importlib

    module = importlib.import_module(f"{name}_env.{name}_v0")
    for given in ({"num_players": 2}, {"num_players": 3, "reward": "margin"}, {"num_players": 4, "editions": 2}):
        for make in (module.env, module.raw_env):
            env = make(**given)
            rng = np.random.default_rng(0)
            env.reset(seed=3)
            yield f"{given} {env.agents}"
            for agent in env.agent_iter():
                observation, reward, terminated, truncated, info = env.last()
                action = None if terminated or truncated else _action(observation["action_mask"], rng, illegal)
                if action is not None and not observation["action_mask"][action]:
                    action = int(np.flatnonzero(observation["action_mask"])[0])
                yield f"{agent} {digest(observation)} {reward} {terminated} {truncated} {digest(info)} {action}"
                env.step(action)
            env.close()


def _lines_of(batch: Any, steps: int, rng: np.random.Generator, illegal: str, seats: bool) -> Iterator[str]:
    for _ in range(steps):
        over = batch.over if seats else batch.actors < 0
        if batch.autoreset == "disabled" and over.any():
            batch.reset(mask=over)
        masks = batch.action_masks
        actions = np.array([_action(mask, rng, illegal) for mask in masks])
        batch.step(actions)
        told = [batch.observations, batch.action_masks, batch.rewards, batch.terminations, batch.illegal]
        ended = np.flatnonzero(batch.terminations)
        told += [batch.final_states[ended], batch.final_observations[ended], batch.states]
        yield f"{digest(*told)} {batch.rewards.tolist()} {batch.terminations.tolist()}"


def batches(game: Any, illegal: str, mode: str) -> Iterator[str]:
    from tabletop_engine.play.batch import Batch

    for players in game.players:
        for reward in ("win", "margin", "points"):
            if players == 1 and reward != "points" and game.config(players=1).owners == 1:
                continue
            batch = Batch(game.config(players=players), 6, 7, illegal_action=illegal, autoreset=mode, reward=reward)
            yield f"{players} {reward}"
            yield from _lines_of(batch, 60 * players, np.random.default_rng(2), illegal, False)


def versus(game: Any, illegal: str, mode: str) -> Iterator[str]:
    from tabletop_engine.play.learner_games import learner_games

    for players in game.players:
        reward = "points" if players == 1 and game.config(players=1).owners == 1 else "margin"
        for opponents, seat in ((["greedy"], "random"), (["random"], players - 1)):
            given: dict[str, Any] = {} if players == 1 else {"opponents": opponents, "seat": seat}
            made: dict[str, Any] = {"illegal_action": illegal, "autoreset": mode, "reward": reward, **given}
            games_ = learner_games(game.config(players=players), 6, seed=7, **made)
            yield f"{players} {given}"
            yield from _lines_of(games_, 120, np.random.default_rng(2), illegal, True)
            yield digest(games_.get_state())


def sb3(game: Any) -> Iterator[str]:
    from tabletop_engine.play.learner_games import learner_games
    from tabletop_training.learn.vec_env import SeatsVecEnv

    for players in (1, 2):
        reward = "points" if players == 1 and game.config(players=1).owners == 1 else "margin"
        given: dict[str, Any] = {} if players == 1 else {"opponents": ["greedy"]}
        games_ = learner_games(game.config(players=players), 8, seed=1, reward=reward, illegal_action="lose", **given)
        env: Any = SeatsVecEnv(games_, reward_scale=0.1, win_bonus=1.0)
        env.seed(3)
        observations, rng = env.reset(), np.random.default_rng(0)
        yield digest(observations)
        for _ in range(200):
            masks = games_.action_masks
            observations, rewards, dones, infos = env.step(np.array([_action(one, rng, "lose") for one in masks]))
            for info in infos:
                if "episode" in info:
                    info["episode"] = {key: info["episode"][key] for key in ("r", "l")}
            yield f"{digest(observations)} {rewards.tolist()} {dones.tolist()} {digest(infos)}"


def rendered(package: Any) -> Iterator[str]:
    import gymnasium

    for env_id, given in _ways(package)[:4]:
        for mode in ("ansi", "rgb_array"):
            env = gymnasium.make(env_id, render_mode=mode, **given)
            rng = np.random.default_rng(0)
            _, info = env.reset(seed=1)
            for _ in range(8):
                _, _, terminated, _, info = env.step(_action(info["action_mask"], rng, "lose"))
                yield f"{env_id} {mode} {digest(env.render())} {terminated}"
                if terminated:
                    break
            env.close()


# --- Learning ---------------------------------------------------------------------------------------------------------

SETTINGS = """
[learning]
num_envs = 16
steps = 32
minibatch = 128
epochs = 2
layers = [16]
threads = 1
evaluate_every = 700
{learning}
[games]
{games}
[opponents]
{opponents}
[evaluation]
games = 8
against = ["random"]
"""
RUNS = {
    "petrichor-solo": ("petrichor", "", "players = [1]\ncurriculum = true", "league = 0.0"),
    "petrichor-league": (
        "petrichor",
        "shortfall_weight = 2.0",
        "players = [2, 3]\neditions = 3",
        'league = 0.5\nscripted = ["random", "greedy"]\nsnapshots = 3\nsnapshot_steps = 400\nnewest = 0.4\npower = 1.5',
    ),
    "evergreen-selfplay": ("evergreen", "numbers = true", "players = [2]\neditions = 2", "league = 0.0"),
}


def learning() -> Iterator[tuple[str, Iterable[str]]]:
    """Curve, evaluations, league and weights after three updates; the same after a Ctrl-C and a resume; two workers."""
    for name, (game, more, played, opponents) in RUNS.items():
        for way in ("whole", "stopped", "workers"):
            if way == "workers" and name != "evergreen-selfplay":
                continue
            with tempfile.TemporaryDirectory() as folder:
                settings = Path(folder, "settings.toml")
                settings.write_text(SETTINGS.format(learning=more, games=played, opponents=opponents))
                run = Path(folder, "run")
                command = ["train", str(settings), "--steps", "1300", "--output", str(run), "--seed", "3"]
                if way == "workers":
                    command += ["--workers", "2"]
                outputs = [_command(game, command, stop_at_update=2 if way == "stopped" else 0)]
                if way == "stopped":
                    outputs.append(_command(game, ["train", "--resume", str(run), "--steps", "1300"]))
                lines = [line for output in outputs for line in _without_times(output, folder)]
                yield f"learning/{name}-{way}/output.txt", lines
                for file in sorted(run.rglob("*")):
                    if file.is_file() and "tensorboard" not in file.parts and file.name != "resume.zip":
                        yield f"learning/{name}-{way}/{file.relative_to(run)}.txt", list(_content(file, folder))


# --- Commands ---------------------------------------------------------------------------------------------------------


def _measuring() -> dict[str, tuple[str, str]]:
    """Every command that measures, with 8 games; OUT is its folder, OVERLAY a file of numbers."""
    return {
        "evaluate": ("petrichor", "evaluate random greedy policy:versus --games 8 --output OUT"),
        "evaluate-solo": (
            "petrichor",
            "evaluate random greedy --solo --games 8 --variants double_card --output OUT --save-replays OUT/replays"
            " --replay-probabilities",
        ),
        "evaluate-evergreen": ("evergreen", "evaluate random greedy --games 8 --output OUT"),
        "evaluate-width": ("petrichor", "evaluate random greedy --games 64 --until-width 0.5 --output OUT"),
        "tournament": ("petrichor", "tournament random greedy policy:versus --games 8 --output OUT"),
        "tournament-3": ("evergreen", "tournament random greedy rollout-2 --players 3 --games 8 --output OUT"),
        "ladder": ("evergreen", "ladder --games 4 --players 1 --output OUT"),
        "benchmark": (
            "evergreen",
            "benchmark random rollout-2 --games 8 --search-games 4 --duel-games 8 --output OUT",
        ),
        "benchmark-petrichor": (
            "petrichor",
            "benchmark random rollout-2 --games 8 --search-games 4 --duel-games 8 --output OUT",
        ),
        "benchmark-text": ("petrichor", "benchmark-text greedy --rungs random,greedy --seeds 4 --output OUT"),
        "strength": ("petrichor", "strength --games 8 --part curve --output OUT"),
        "difficulty": (
            "petrichor",
            "difficulty random greedy --games 8 --editions 4 --edition-games 2 --components OVERLAY --effect-games 8"
            " --output OUT",
        ),
        "difficulty-plain": ("petrichor", "difficulty random policy:solo --games 8 --output OUT"),
        "balance": (
            "evergreen",
            "balance --players 2,3 --editions 4 --edition-games 4 --agent greedy --output OUT",
        ),
        "tune": (
            "petrichor",
            "tune win_rate=0.5 --agent greedy --trials 4 --games 8 --verifying 16 --output OUT",
        ),
        "text-positions": ("petrichor", "text-positions --positions 8 --output OUT/positions.jsonl"),
    }


STOPPED_AT = {"tune": 3, "benchmark-text": 1}


def measuring() -> Iterator[tuple[str, Iterable[str]]]:
    for name, (game, words) in _measuring().items():
        for way in ("whole", "stopped", "resumed"):
            if way == "resumed" and name == "text-positions":
                continue
            with tempfile.TemporaryDirectory() as folder:
                out, overlay = Path(folder, "out"), Path(folder, "overlay.toml")
                if name == "text-positions":
                    out.mkdir()
                overlay.write_text(OVERLAY)
                given = [word.replace("OUT", str(out)).replace("OVERLAY", str(overlay)) for word in words.split()]
                stop = 0 if way == "whole" else STOPPED_AT.get(name, 4)
                outputs = [_command(game, [*given, "--json", str(Path(folder, "told.json"))], stop_at_block=stop)]
                if way == "resumed":
                    again = [given[0], "--resume", str(out)]
                    outputs.append(_command(game, [*again, "--json", str(Path(folder, "told.json"))]))
                lines = [line for output in outputs for line in _without_times(output, folder)]
                yield f"measuring/{name}/{way}/output.txt", lines
                for file in sorted([*out.rglob("*"), Path(folder, "told.json")]):
                    if file.is_file():
                        shown = file.relative_to(folder)
                        yield f"measuring/{name}/{way}/{shown}.txt", list(_content(file, folder))


def help_pages() -> Iterator[tuple[str, Iterable[str]]]:
    for name in ("petrichor", "evergreen"):
        first = _command(name, ["--help"])
        yield f"help/{name}.txt", first.splitlines()
        for command in re.findall(r"^│ ([a-z][a-z-]+)  ", first, re.MULTILINE):
            yield f"help/{name}-{command}.txt", _command(name, [command, "--help"]).splitlines()


def _command(game: str, words: list[str], stop_at_block: int = 0, stop_at_update: int = 0) -> str:
    """What a command prints, with its exit code at the end. It is sent Ctrl-C after so many blocks or updates."""
    environment = {**os.environ, "COLUMNS": "100", "OMP_NUM_THREADS": "1", "TERM": "dumb", "PYTHONHASHSEED": "0"}
    started = [sys.executable, __file__, "command", game, str(stop_at_block), str(stop_at_update), *words]
    ran = subprocess.run(
        started,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return f"{ran.stdout}\nexit {ran.returncode}"


def run_command(game: str, stop_at_block: int, stop_at_update: int, words: list[str]) -> None:
    import importlib
    import signal

    def stopping(function: Callable[..., Any], number: int) -> Callable[..., Any]:
        done = 0

        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            result = function(*args, **kwargs)
            done += 1
            if done == number:
                os.kill(os.getpid(), signal.SIGINT)
            return result

        return counted

    if stop_at_block:
        evaluation = importlib.import_module("tabletop_training.measure.evaluation")
        evaluation.play_lineups = stopping(evaluation.play_lineups, stop_at_block)
        evaluation.MAX_GAMES_AT_ONCE = 8
    if stop_at_update:
        learner = importlib.import_module("tabletop_training.learn.learner")
        learner.update = stopping(learner.update, stop_at_update)
    importlib.import_module(f"tabletop_cli.{game}").main(words)


def _without_times(text: str, folder: str) -> Iterator[str]:
    """Lines without folders, progress bars, durations and speeds."""
    for line in text.replace(folder, "FOLDER").splitlines():
        line = line.rpartition("\r")[2]
        if re.search(r"%\s+[0-9-]+:[0-9-]+", line) or "estimating" in line:
            continue
        line = re.sub(r"(about )?[0-9.,]+ (seconds?|minutes?|hours?|s|ms)\b|less than a minute", "TIME", line)
        line = re.sub(r"[0-9.,]+k?/s", "SPEED", line)
        yield line.rstrip()


def _content(file: Path, folder: str) -> Iterator[str]:
    name = file.name
    if name.endswith(".csv"):
        with file.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        yield from (json.dumps({k: v for k, v in row.items() if not _is_time(k)}) for row in rows)
    elif name.endswith(".json"):
        yield from json.dumps(_timeless(json.loads(file.read_text())), indent=1).replace(folder, "FOLDER").splitlines()
    elif name.endswith(".jsonl"):
        for line in file.read_text().splitlines():
            yield json.dumps(_timeless(json.loads(line))).replace(folder, "FOLDER")
    elif name.endswith(".zip"):
        import zipfile

        with zipfile.ZipFile(file) as archive:
            for entry in sorted(archive.namelist()):
                data = archive.read(entry)
                if entry.endswith(".json"):
                    data = json.dumps(_timeless(json.loads(data))).replace(folder, "FOLDER").encode()
                yield f"{entry} {hashlib.sha256(data).hexdigest()[:16]}"
    elif name.endswith((".md", ".toml", ".txt")):
        yield from _without_times(file.read_text(), folder)
    else:
        yield hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _is_time(name: str | None) -> bool:
    return any(word in (name or "") for word in TIMES)


def _timeless(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _timeless(value) for key, value in tree.items() if not _is_time(key)}
    return [_timeless(value) for value in tree] if isinstance(tree, list) else tree


# --- The program ------------------------------------------------------------------------------------------------------

PARTS = {
    "help": help_pages,
    "descriptions": descriptions,
    "environments": environments,
    "learning": learning,
    "agents": agents,
    "measuring": measuring,
}


def record(folder: Path, parts: Iterable[str]) -> None:
    for part in parts:
        shutil.rmtree(folder / part, ignore_errors=True)
        for name, lines in PARTS[part]():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = io.StringIO()
            text.writelines(f"{line}\n" for line in lines)
            path.write_text(text.getvalue(), encoding="utf-8")
            print(name, flush=True)


def compare(one: Path, other: Path) -> int:
    """Print the files that differ, with the first line that does; returns their number."""
    names = sorted({str(path.relative_to(root)) for root in (one, other) for path in root.rglob("*") if path.is_file()})
    different = 0
    for name in names:
        texts = [(root / name).read_text() if (root / name).is_file() else None for root in (one, other)]
        if texts[0] == texts[1]:
            continue
        different += 1
        if None in texts:
            print(f"{name}: only in {other if texts[0] is None else one}")
            continue
        pairs = zip_longest(*(str(text).splitlines() for text in texts), fillvalue="(no such line)")
        line, (first, second) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
        print(f"{name}: line {line}\n  {first[:300]}\n  {second[:300]}")
    print(f"{different} of {len(names)} files differ")
    return different


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "command":
        run_command(rest[0], int(rest[1]), int(rest[2]), rest[3:])
    elif what == "record":
        record(Path(rest[0]).resolve(), rest[1:] or PARTS)
    else:
        sys.exit(1 if compare(Path(rest[0]), Path(rest[1])) else 0)
