"""Golden playthroughs: the rules still give the games and texts of the files in `tests/playthroughs`.

After a change of the rules: `python -m tests.playthroughs --write`, then read what has changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from petrichor_env import VARIANTS, Batch, Config
from petrichor_env.actions import ACTIONS
from petrichor_env.config import MODULES
from petrichor_env.state import NOBODY, NUM_FORECASTS, Decision, Timing
from petrichor_env.words import owner_names
from tests.playthroughs import FOLDER, GAMES, SEEDS
from tests.support.configurations import BASE, SOLO, SOLO_MODULES
from tests.support.effort import games


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


TOLD = [*GAMES][:: games(4, 1)]
"""The games that are told anew."""


@pytest.fixture(scope="module")
def told_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games told anew, in plain Python."""
    folder = tmp_path_factory.mktemp("playthroughs")
    subprocess.run(
        [sys.executable, "-m", "tests.playthroughs", "--write", "--to", str(folder), "--games", *TOLD],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        timeout=300,
    )
    return folder


@pytest.mark.parametrize("name", TOLD)
def test_playthrough(name: str, told_again: Path) -> None:
    assert (told_again / f"{name}.txt").read_text(encoding="utf-8") == text_of(name)


@cache
def replayed(name: str) -> np.ndarray:
    """All records of the file's game, by the compiled rules."""
    batch = Batch(GAMES[name], seed=SEEDS[name], autoreset="disabled")
    states = [batch.states[0].copy()]
    for answer in re.findall(r"^    > .*\[(.*)\]$", text_of(name), re.MULTILINE):
        batch.step([ACTIONS[answer]])
        states.append(batch.states[0].copy())
    return np.array(states)


@pytest.mark.parametrize("name", GAMES)
def test_compiled_rules_play_the_same_game(name: str) -> None:
    """With the compiled rules, the actions of the file are legal and lead to its final scores."""
    config, text, states = GAMES[name], text_of(name), replayed(name)
    assert states[-1]["actor"] == NOBODY and len(states) > 31
    totals = [int(number) for number in re.findall(r"^total (.*)$", text, re.MULTILINE)[0].split()]
    assert states[-1]["points"][: config.owners].tolist() == totals
    (winners,) = re.findall(r"^((?:player_\d|neutral)(?: and player_\d)*) wins?\.$", text, re.MULTILINE)
    names = owner_names(config.players)
    assert [names[owner] for owner in config.game.winners(states[-1])] == winners.split(" and ")


def test_no_configuration_lacks_one() -> None:
    """There are games for every number of players with dealt cards, up to four also with a draft and in the long form.
    Solo is played without variants, with each, and with all. Each module is played with several players and, where
    allowed, in solo. There are also games with all modules together and with chosen powers.
    """
    played = set(GAMES.values())
    for config in BASE + SOLO:
        if config.solo:
            parts = {Config(variants=(name,)) for name in config.variants} or {Config()}
            assert config in played or len(config.variants) > 1
        elif config.players == 5:
            parts = {Config(players=5)}
        else:
            parts = {Config(players=config.players, drafting=config.drafting)}
            parts.add(Config(players=config.players, rounds=config.rounds))
        assert parts <= played, f"{config.name} has no playthrough"
    assert Config(variants=VARIANTS) in played
    for module in MODULES:
        assert sum(module in config.modules for config in played) >= 2
    assert {Config(modules=SOLO_MODULES), Config(players=5, modules=MODULES)} <= played
    assert any(config.powers for config in played)
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)


def test_every_decision_comes_up() -> None:
    """Forecast cards are asked for at each time that there is."""
    states = np.concatenate([replayed(name) for name in GAMES])
    assert set(states["decision"].tolist()) == set(Decision)
    times = set(Timing) - {Timing.ACTION_PHASE, Timing.SCORED}  # when no card is asked for
    assert set(states["timing"][states["decision"] == Decision.FORECAST].tolist()) == times
    assert {1, 2} <= set(states["choices_left"][states["decision"] == Decision.POD_TILE].tolist())


def test_everything_of_the_modules_is_told() -> None:
    """The files tell of each forecast card, and of everything that promos and Flowers add to a board."""
    everything = "\n".join(text_of(name) for name in GAMES)
    for number in range(1, NUM_FORECASTS + 1):
        assert f" plays forecast card {number} " in everything, number
    for told in (
        "All Fertilizer tokens lie: the tiles are turned face up.",
        ", Fertilizer: ",
        "(drowned) is harvested",
        "to the Lake on",
        " opens.",
        ", a pod: ",
        " pods on other tiles",
        "more drops on the Primrose than anybody else: ",
        "more drops on the Primrose than its controller: ",
        "4 blooms",
        "(Rain power)",
        "(Sun power)",
        "add a second drop to the new cloud",
        "keeps a drop on",
        " in the cloud, ",
        "The powers have been chosen.",
        "Powers are dealt.",
    ):
        assert told in everything, told
