"""docs/cluster.md and the examples beside it say what is true."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs import generate
from tabletop_cli import evergreen, petrichor, run

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


@pytest.fixture
def job() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "docs" / "cluster" / "rayjob.yaml").read_text(encoding="utf-8"))
    return read


def options_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The options that a command's help lists."""
    game = {"petrichor": petrichor, "evergreen": evergreen}[words[0]]
    commands = words[1 : 3 if words[1] == "train" else 2]
    game.app([*commands, "--help"], standalone_mode=False)
    return set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))


def test_the_commands_of_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    commands = re.findall(r"^(petrichor .*?)(?:  +#.*)?$", PAGE, re.MULTILINE)
    assert len(commands) == 10
    for command in commands:
        words = run.with_values(shlex.split(command))
        given = {word for word in words if word.startswith("--")}
        assert given <= options_of(words, capsys), command


def test_all_that_measures_takes_both_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for game, commands in {
        "petrichor": ("evaluate", "tournament", "difficulty", "benchmark", "ladder"),
        "evergreen": ("evaluate", "tournament", "benchmark", "ladder"),
    }.items():
        for command in commands:
            assert {"--workers", "--ray"} <= options_of([game, command], capsys)


def test_the_job_for_kubernetes(
    job: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    spec = job["spec"]
    words = shlex.split(spec["entrypoint"])
    assert {word for word in words if word.startswith("--")} <= options_of(words, capsys)
    cluster = spec["rayClusterSpec"]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"ray=={cluster['rayVersion']}" in constraints
    templates = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    images = {one["image"] for group in templates for one in group["template"]["spec"]["containers"]}
    assert len(images) == 1
    head = cluster["headGroupSpec"]["template"]["spec"]
    mounted = {mount["name"]: mount["mountPath"] for mount in head["containers"][0]["volumeMounts"]}
    assert {volume["name"] for volume in head["volumes"]} == set(mounted)
    output = Path(words[words.index("--output") + 1])
    assert any(output.is_relative_to(path) for path in mounted.values())


def test_the_image_installs_an_extra_that_there_is() -> None:
    text = (ROOT / "docs" / "cluster" / "Dockerfile").read_text(encoding="utf-8")
    (extra,) = re.findall(r"\.\[(\w+)\]", text)
    assert (
        extra
        in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    for command in re.findall(r"(petrichor|evergreen) (\w+)", text):
        assert command[1] == "compile"


def test_the_measurement_has_all_kinds_of_workers() -> None:
    measured = json.loads((ROOT / "docs" / "cluster.json").read_text(encoding="utf-8"))
    who = {row["who"] for row in measured["rows"]}
    assert {"this process", "processes, 2", "nodes, 1", "nodes, 2"} <= who


def test_the_model(tmp_path: Path) -> None:
    """Games of 10 ms: ten cores finish a block of 1,024 games every 1.024 s, and the command handles one a second."""
    rows = [
        {"who": who, "blocks": "long blocks", "games_per_second": 100, "own_milliseconds_a_block": 1000}
        for who in ("this process", "nodes, 1")
    ]
    (tmp_path / "cluster.json").write_text(json.dumps({"rows": rows}))
    searching = {"variants": "base", "player": "search-800", "milliseconds": 2.0, "decisions": 100, "games": 2}
    (tmp_path / "strength.json").write_text(json.dumps({"rows": [searching]}))
    greedy, search = generate.cluster_model(tmp_path, games=1024 * 3600, cores=10).splitlines()[2:]
    assert greedy == "| `greedy`, two players | 10.2 | 10.2 s | 1.0 blocks | 1 | 1.0 hours |"
    assert search == "| `search-800:solo`, base game | 102.4 | 102.4 s | 0.1 blocks | 1 | 10.2 hours |"
