"""Shipped machine code: it does what its source does, for the arguments it was made for, and refuses others."""

from __future__ import annotations

import gc
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tabletop_engine.compiling import shipped
from tabletop_engine.compiling.compiled import JIT, Kernel, Rule, kernel
from tabletop_engine.compiling.shipped import CONTENTS, FOLDER, SWITCH, description
from tabletop_engine.compiling.sources import Sources
from tests.support.effort import games
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
GAMES = ("petrichor_env.game", "evergreen_env.game")
ARM = 183
"""The machine of an ELF file for AArch64."""
ALLOWED = {
    *("malloc", "free", "memcpy", "memmove", "memset"),
    *("exp", "expf", "log", "log1p", "log1pf", "pow", "sqrt", "tanhf"),
    *("__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"),
}
"""Symbols that a library may import: memory, mathematics, and those that every library of the system imports."""

on_linux = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="links with a C compiler")
pytestmark = pytest.mark.skipif(not JIT, reason="the rules are plain Python here")

RECORD = np.dtype([("small", np.int8), ("counts", np.int16, (3,)), ("total", np.int64)])


class Pair(NamedTuple):
    """Arguments that belong together."""

    records: Any
    rows: Any


def count_up(pair: Any, numbers: Any, times: int, weight: float, doubled: bool) -> tuple[Any, Any]:
    """Something of every kind that a kernel takes; `numbers` is only read."""
    parts = np.zeros(numbers.shape[0])
    for i in range(numbers.shape[0]):
        parts[i] = numbers[i] * weight
    whole = np.int64(0)
    for i in range(pair.records.shape[0]):
        record = pair.records[i]
        record.total += times * (2 if doubled else 1)
        record.counts[i % 3] += 1
        whole += record.total
    for i in range(pair.rows.shape[0]):
        pair.rows[i, 0] += 1
    return whole, np.int64(parts.sum())


def arguments(number: int = 4) -> tuple[Any, ...]:
    numbers = np.arange(number, dtype=np.float64)
    numbers.flags.writeable = False
    records = np.zeros(number, RECORD)
    records["total"] = np.arange(number)
    return Pair(records, np.zeros((number, 2), np.int64)), numbers, 3, 1.5, True


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The LLVM module of `count_up`."""
    from machine_code.modules import compiled_modules, unoptimised

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TABLETOP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patched.setenv(SWITCH, "1")
        with unoptimised() as kept:
            one = kernel(count_up)
            one(*arguments())
        (module,) = compiled_modules(kept)
    return [module]


@pytest.fixture(scope="module")
def built(modules: list[Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the machine code of `count_up`."""
    from machine_code.build import build

    folder = tmp_path_factory.mktemp("machine_code") / "machine_code"
    build(folder, modules)
    return folder


@pytest.fixture
def made(built: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Kernel]:
    """A function that makes the kernel anew, with the machine code of a folder."""

    def make(folder: Path = built, sources: Sources | None = None) -> Kernel:
        monkeypatch.setattr(shipped, "FOLDER", folder)
        return Kernel(count_up, sources or Sources())

    return make


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "machine_code"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    return lambda: tmp_path_factory.mktemp("damaged")


Made = Callable[..., Kernel]

# --- What it runs -----------------------------------------------------------------------------------------------------


@on_linux
def test_it_runs_without_compiling(made: Made) -> None:
    one, plain = arguments(), arguments()
    function = made()
    for _ in range(3):
        assert function(*one) == count_up(Pair(plain[0].records.view(np.recarray), plain[0].rows), *plain[1:])
    assert one[0].records.tobytes() == plain[0].records.tobytes()
    assert (one[0].rows == plain[0].rows).all()
    assert function.is_ready() and not function.is_compiled


@on_linux
def test_other_sources_or_a_switch_let_numba_compile(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "rules.py"
    changed.write_text("STONES = 8\n", encoding="utf-8")
    assert made().shipped is not None
    assert made(sources=Sources(files=(changed,))).shipped is None
    assert made(sources=Sources(more=(changed,))).shipped is None
    assert Kernel(arguments, Sources()).shipped is None  # no such kernel
    for name, value in ((SWITCH, "1"), ("TABLETOP_PLAIN_NJIT", "1")):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            assert made().shipped is None
    with monkeypatch.context() as patched:
        patched.setenv(SWITCH, "0")
        assert made().shipped is not None


@on_linux
def test_a_changed_engine_lets_numba_compile(made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tabletop_engine.compiling import sources

    engine = tmp_path / "record.py"
    engine.write_text("# changed\n", encoding="utf-8")
    monkeypatch.setattr(sources, "ENGINE_SOURCES", [*sources.ENGINE_SOURCES[:-1], engine])
    assert made().shipped is None


# --- Damaged files ----------------------------------------------------------------------------------------------------


def contents_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / CONTENTS).read_bytes().partition(b"\n")[2])


@on_linux
@pytest.mark.parametrize("what", ["list", "library", "extension"])
@pytest.mark.parametrize("how", ["cut off", "changed", "empty", "gone", "a folder"])
def test_damaged_files(copied: Path, made: Made, what: str, how: str) -> None:
    contents = contents_of(copied)
    name = {"list": CONTENTS, "extension": contents["call"]["file"]}.get(what)
    for file in [name] if name else [one["file"] for one in contents["libraries"]]:
        path = copied / str(file)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.unlink()
        if how == "a folder":
            path.mkdir()
        elif how != "gone":
            length = {"cut off": len(content) // 2, "changed": len(content), "empty": 0}[how]
            original = content if how == "changed" else bytes(content)
            path.write_bytes(bytes(original[:length]))
    assert made(copied).shipped is None


@on_linux
@settings(max_examples=games(60, 500), deadline=None, suppress_health_check=list(HealthCheck))
@given(at=st.integers(0, 10**6), byte=st.integers(1, 255))
def test_no_damage_to_the_list_is_believed(
    built: Path, tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    for path in built.iterdir():
        (folder / path.name).symlink_to(path)
    content = bytearray((built / CONTENTS).read_bytes())
    content[at % len(content)] ^= byte
    (folder / CONTENTS).unlink()
    (folder / CONTENTS).write_bytes(content)
    assert shipped._loaded(folder) == ({}, None, None)


@on_linux
def test_an_old_processor_gets_none(copied: Path, made: Made) -> None:
    contents = contents_of(copied)
    contents["libraries"] = [{**one, "level": 5} for one in contents["libraries"]]
    (copied / CONTENTS).write_bytes(shipped.with_hash(contents))
    assert made(copied).shipped is None


@on_linux
def test_what_the_extension_is_told_must_make_sense(built: Path) -> None:
    call = shipped._extension(built / contents_of(built)["call"]["file"])
    number = (1, 0, 0, 0, 1, "")
    for wrong in (
        *([number] * 97, [(9, 0, 0, 0, 1, "")], [(0, -1, 0, 8, 8, "<i8")], [(0, 1, 0, 8, 0, "<i8")], [number[:3]]),
        *([(4, 2, 0, 0, 1, ""), number], [3], [(0, 95, 0, 8, 8, "<i8")] * 3),
    ):
        with pytest.raises((TypeError, ValueError)):
            call.bind(1, wrong, 0, description, print)
    with pytest.raises(ValueError, match="no arguments that a kernel takes"):
        call.bind(1, [number], 3, description, print)


# --- Arguments of other types -----------------------------------------------------------------------------------------


def odd_array(draw: Any, dtype: Any, dimensions: int) -> Any:
    """An array that differs from the wanted kind in at most one way."""
    wrong = draw(st.sampled_from(["", "", "dtype", "order", "dimensions", "steps", "read only", "alignment", "none"]))
    shape = (4, 2)[:dimensions]
    if wrong == "dtype":
        other = draw(st.sampled_from(["<i4", "<f4", ">i8", "<u8", "S8", "O", "M8[s]", [("total", "<i8")], "?"]))
        return np.zeros(shape, other)
    if wrong == "dimensions":
        return np.zeros((*shape, 1), dtype)
    if wrong == "order":
        return np.asfortranarray(np.zeros((4, 2), dtype))
    if wrong == "steps":
        return np.zeros((8, *shape[1:]), dtype)[::2]
    if wrong == "alignment":
        length = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(bytearray(length + 1), np.uint8)[1:].view(dtype).reshape(shape)
    if wrong == "none":
        return draw(st.sampled_from([None, 3, "text", b"0" * 32, [1.0, 2.0], np.float64(2)]))
    array = np.zeros(shape, dtype)
    array.flags.writeable = wrong != "read only"
    return array


@st.composite
def odd_arguments(draw: Any) -> tuple[Any, ...]:
    pair: Any = Pair(odd_array(draw, RECORD, 1), odd_array(draw, np.int64, 2))
    pair = draw(st.sampled_from([pair, pair, pair, tuple(pair), list(pair), pair[:1], (*pair, 1), None, (pair, pair)]))
    times = draw(st.sampled_from([3, -1, 2**70, True, np.int32(4), 2.0, "3", None]))
    weight = draw(st.sampled_from([1.5, -1.0, 2, np.float32(1), "1.5", None, 1j]))
    doubled = draw(st.sampled_from([True, False, 1, None, np.bool_(True)]))
    given = (pair, odd_array(draw, np.float64, 1), times, weight, doubled)
    return draw(st.sampled_from([given, given, given, given[:4], (*given, 1), ()]))


def fits(given: tuple[Any, ...]) -> bool:
    """Whether the machine code was made for these arguments."""
    if len(given) != 5 or not isinstance(given[0], tuple) or len(given[0]) != 2:
        return False
    (records, rows), numbers, times, weight, doubled = given
    wanted = (
        (records, RECORD, 1, True),
        (rows, np.dtype(np.int64), 2, True),
        (numbers, np.dtype(np.float64), 1, False),
    )
    for array, dtype, dimensions, written in wanted:
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != dimensions:
            return False
        if not array.flags.c_contiguous or not array.flags.aligned or (written and not array.flags.writeable):
            return False
    whole = isinstance(times, (int, np.integer)) and -(2**63) <= int(times) < 2**63
    return whole and isinstance(weight, (int, float, np.floating)) and isinstance(doubled, bool)


@on_linux
@settings(max_examples=games(400, 4000), deadline=None, suppress_health_check=list(HealthCheck))
@given(given=odd_arguments())
def test_other_arguments_never_reach_machine_code(built: Path, given: tuple[Any, ...]) -> None:
    seen: list[tuple[Any, ...]] = []

    def otherwise(*arguments: Any) -> str:
        seen.append(arguments)
        return "otherwise"

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(shipped, "FOLDER", built)
        one = Kernel(count_up, Sources())
        function = shipped.shipped_kernel(one.key, lambda: one.sources.digest, otherwise)
    assert function is not None
    result = function(*given)
    if fits(given):
        assert not seen and isinstance(result, tuple)
    else:
        assert result == "otherwise" and len(seen[0]) == len(given)
        assert all(mine is theirs for mine, theirs in zip(seen[0], given, strict=True))


@on_linux
def test_an_error_of_what_is_called_otherwise_is_raised(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FOLDER", built)
    one = Kernel(count_up, Sources())
    function = shipped.shipped_kernel(one.key, lambda: one.sources.digest, lambda: 1 // 0)
    assert function is not None
    with pytest.raises(ZeroDivisionError):
        function()


@on_linux
def test_calls_leave_no_memory(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With arguments that fit, with others, and with equal dtypes that are other objects."""
    import resource  # not on Windows

    monkeypatch.setattr(shipped, "FOLDER", built)
    one = Kernel(count_up, Sources())
    function = shipped.shipped_kernel(one.key, lambda: one.sources.digest, lambda *arguments: None)
    assert function is not None
    fitting, others = arguments(), arguments()
    others[0].records.dtype = np.dtype(RECORD.descr)
    gc.collect()  # what other tests left may refer to the record, too
    counts = [sys.getrefcount(what) for what in (RECORD, fitting[0], fitting[1], others[0])]

    def use() -> int:
        for _ in range(20_000):
            function(*fitting)
            function(*others)
            function(1)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = use()
    assert use() - first < 1024  # kilobytes
    assert [sys.getrefcount(what) for what in (RECORD, fitting[0], fitting[1], others[0])] == counts


def test_descriptions_tell_dtypes_apart() -> None:
    fields = [("a", "<i4"), ("b", "<i8", (2,))]
    dtypes = [
        *map(np.dtype, ("<i8", ">i8", "<u8", "<f8", "?", "i1", "S8", "M8[s]", "O")),
        *(np.dtype(fields), np.dtype(fields, align=True), np.dtype(fields[:1]), np.dtype([("c", "<i4"), fields[1]])),
        *(
            np.dtype([fields[0], ("b", "<i8", (3,))]),
            np.dtype([fields[0], ("b", "<i8", (2, 1))]),
            np.dtype((fields, 2)),
        ),
    ]
    assert len({description(dtype) for dtype in dtypes}) == len(dtypes)
    assert description(np.dtype(fields)) == description(np.dtype(list(fields)))


# --- Without Numba ----------------------------------------------------------------------------------------------------

WITHOUT = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
from tests.games.connect_four import GAME
from tabletop_engine.play.batch import Batch
Batch(GAME.config(), 1, 0)
"""


def test_what_must_be_compiled_is_named_where_numba_is_missing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"connect_four:\S+ must be compiled.*pip install numba"):
        in_python(WITHOUT, env={"TABLETOP_CACHE_DIR": str(tmp_path), SWITCH: "1"})


def test_numba_is_not_imported_before_something_is_compiled() -> None:
    program = """
import sys
import petrichor_env, evergreen_env, petrichor_env.game, evergreen_env.game
from tabletop_agents.search import lookahead, guided_tree
from tabletop_engine.play.batch import Batch
from tabletop_engine.positions import position
print("numba" in sys.modules or "llvmlite" in sys.modules)
"""
    assert in_python(program).stdout.strip() == "False"


def test_rules_that_python_calls_run_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evergreen's texts ask a rule which cards lie face down, with calls from Python."""
    from evergreen_env import Config as Evergreen
    from evergreen_env.drawing.text import render_text
    from evergreen_env.rules.planet import largest_forest
    from tabletop_engine.play.batch import Batch

    batch = Batch(Evergreen(players=3), 4, 0)
    for _ in range(150):
        batch.step(batch.random_actions())
    spaces = np.random.default_rng(0).integers(0, 2**40, 60, np.uint64)
    compiled = [cast(Rule, largest_forest).compiled(planet) for planet in spaces]
    monkeypatch.setattr(Rule, "compiled", property(lambda rule: pytest.fail(f"{rule.__name__} was compiled")))
    assert [largest_forest(planet) for planet in spaces] == compiled and len(set(compiled)) > 40
    assert len({render_text(state, tables=batch.tables) for state in batch.states}) == 4


# --- Libraries, and other processors ----------------------------------------------------------------------------------


def symbols(library: Path, which: str) -> set[str]:
    """The names that a library imports (`undefined`) or exports (`defined`)."""
    words = ["nm", "-D", f"--{which}-only", str(library)]
    listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def assert_closed(folder: Path) -> None:
    """Assert that libraries import little and export only kernels."""
    contents = contents_of(folder)
    for one in contents["libraries"]:
        assert symbols(folder / one["file"], "undefined") <= ALLOWED
        assert symbols(folder / one["file"], "defined") == {told["symbol"] for told in contents["kernels"].values()}


@on_linux
def test_a_library_takes_little_from_elsewhere_and_shows_only_kernels(built: Path) -> None:
    assert_closed(built)


def test_a_kernel_becomes_an_object_for_arm(modules: list[Any]) -> None:
    """The kernel counts references to an array of its own. On x86 Numba's runtime has another function for that."""
    from machine_code.targets import Target

    assembled = Target("generic", "aarch64-unknown-linux-gnu").object_of(modules[0].bitcode)
    assert int.from_bytes(assembled[18:20], "little") == ARM and len(assembled) > 1000


OTHERS = """
import os, sys, tempfile
from pathlib import Path
os.environ["TABLETOP_CACHE_DIR"], os.environ["TABLETOP_COMPILE"] = tempfile.mkdtemp(), "1"
from machine_code.modules import compiled_modules, modules_of, unoptimised
from machine_code.targets import Target
from tabletop_engine.game import game_of
from tabletop_engine.play.batch import Batch
game = game_of(sys.argv[1])
if sys.argv[2] == "rules":
    with unoptimised() as kept:
        Batch(game.config(), 1, 0)
    modules = compiled_modules(kept)
else:
    modules = modules_of([game])
arm, gpu = Target("generic", "aarch64-unknown-linux-gnu"), Target("sm_80", "nvptx64-nvidia-cuda")
for module in modules:
    assembled = arm.object_of(module.bitcode)
    needed = {one.name for one in arm.module(module.bitcode).functions if one.is_declaration}
    if any(name.startswith(("NRT_", "llvm.exp", "llvm.log", "exp", "log", "tanh")) for name in needed):
        print(len(assembled), int.from_bytes(assembled[18:20], "little"), 0, module.symbol)
    else:
        text = gpu.assembly_of(module.bitcode)
        assert ".target sm_80" in text and f" {module.symbol}(" in text
        print(len(assembled), int.from_bytes(assembled[18:20], "little"), len(text), module.symbol)
"""
"""Objects for Arm, and assembler text for Nvidia's GPUs.

Nothing runs them here. On a GPU, kernels that allocate memory or take logarithms would need a library.
"""


def for_others(home: str, what: str, tmp_path: Path) -> list[list[str]]:
    program = tmp_path / "others.py"
    program.write_text(OTHERS, encoding="utf-8")
    paths = os.pathsep.join(path for path in sys.path if path)
    ran = subprocess.run(
        [sys.executable, program, home, what],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return [line.split() for line in ran.stdout.splitlines()]


@pytest.mark.slow
def test_rules_become_objects_for_arm_and_text_for_gpus(tmp_path: Path) -> None:
    rows = for_others("tests.games.connect_four", "rules", tmp_path)
    assert len(rows) >= 14
    assert all(int(size) > 200 and int(machine) == ARM for size, machine, *_ in rows)
    on_gpus = {symbol.rpartition("kernels_")[2] for _, _, text, symbol in rows if int(text)}
    assert {"playout", "reset_games", "play_actions", "random_legal_actions"} <= on_gpus


# --- What `make machine-code` builds ----------------------------------------------------------------------------------

WORK = """
import hashlib, itertools, json, os, sys
from pathlib import Path
import numpy as np
from tabletop_engine.compiling import shipped
shipped.FOLDER = Path(sys.argv[2])
from tabletop_agents import GreedyAgent, IsmctsAgent, RolloutAgent
from tabletop_agents.policy import PolicyAgent
from tabletop_agents.search import guided_search, lookahead
from tabletop_agents.search.guided_search import GuidedSearchAgent
from tabletop_engine.play import warm_up
from tabletop_engine.play import plans  # its kernels are those of all games
from tabletop_engine.compiling.compiled import kernels
from tabletop_engine.game import game_of
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
from tabletop_engine.positions import position
from tests.support.networks import network_for
game, digests = game_of(sys.argv[1]), {}

def add(what, *parts):
    digest = digests.setdefault(what, hashlib.sha256())
    for part in parts:
        if isinstance(part, tuple):
            add(what, *part)
        else:
            digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())

scripted, search = position._kernels(game), lookahead.search_for(game)
guided_search.guided_search_for(game)
searches = [*lookahead.calls(game, search), *guided_search.calls(game, search)]
for words, call, arguments in [*warm_up.calls(game), *position._calls(game, scripted), *searches]:
    add(words, call(*arguments), *arguments)
generator = np.random.default_rng(0)
policy = PolicyAgent(network_for(game))
agents = [GreedyAgent(), RolloutAgent(3), IsmctsAgent(30), policy, GuidedSearchAgent(policy, 30)]
for players in game.players:
    batch = Batch(game.config(players=players), 12, 0, num_threads=1, autoreset="same_step")
    for step in range(160):
        batch.step(batch.random_actions())
        add("games", batch.states, batch.observations, batch.action_masks, batch.rewards)
        if step % 40 == 7:
            seats = batch.actors.astype(np.int64)
            others, counts = batch.states.copy(), np.zeros((12, game.observation.size), np.int16)
            game.kernels.sample_hidden_games(others, batch.tables, seats, np.arange(12, dtype=np.uint64))
            game.kernels.count_games(batch.states, batch.tables, seats, counts)
            add("resampled", others, counts)
            ended = batch.states.copy()
            add("playouts", game.kernels.playout(ended, batch.tables), ended)
            for agent in agents:
                add(agent.name, agent.act(Decisions.of(batch), generator))
shipped_ones = sorted(one.key for one in kernels if one.shipped is not None)
print(json.dumps([shipped_ones, {what: digest.hexdigest() for what, digest in digests.items()}]))
"""


@pytest.mark.machine_code
@pytest.mark.parametrize("home", GAMES)
def test_the_same_bytes_at_every_level(home: str, tmp_path: Path) -> None:
    """Every kernel, called as at the first start, and agents in the middle of games for all numbers of players."""
    wanted = in_python(WORK, home, str(tmp_path / "none"), env={SWITCH: "1"}).stdout
    none, digests = json.loads(wanted)
    assert not none and len(digests) > 25
    levels = [one["level"] for one in contents_of(FOLDER)["libraries"]]
    assert levels == ([2, 3] if platform.machine() == "x86_64" else [0])
    for level in levels:
        folder = Path(shutil.copytree(FOLDER, tmp_path / f"level{level}"))
        contents = contents_of(folder)
        contents["libraries"] = [one for one in contents["libraries"] if one["level"] == level]
        assert len(contents["libraries"]) == 1
        (folder / CONTENTS).write_bytes(shipped.with_hash(contents))
        found, same = json.loads(in_python(WORK, home, str(folder)).stdout)
        assert same == digests
        assert {key for key in contents["kernels"] if key.startswith((home, ":"))} == set(found)


@pytest.mark.machine_code
@pytest.mark.parametrize("home", GAMES)
def test_every_kernel_for_other_processors(home: str, tmp_path: Path) -> None:
    rows = for_others(home, "all", tmp_path)
    assert len(rows) > 25 and all(int(size) > 200 and int(machine) == ARM for size, machine, *_ in rows)
    assert sum(int(text) > 0 for _, _, text, _ in rows) > 15


@on_linux
@pytest.mark.machine_code
def test_the_libraries_take_little_from_elsewhere_and_show_only_kernels() -> None:
    assert_closed(FOLDER)


IN_JAX = """
import jax
import numpy as np
from evergreen_env import Config as Evergreen
from petrichor_env import Config as Petrichor
from tabletop_engine.compiling.compiled import kernels
from tabletop_engine.envs.jax import Env
from tabletop_engine.play.batch import Batch
for config in (Petrichor(players=3), Evergreen(players=2)):
    batch, env = Batch(config, 64, 0), Env(config, autoreset="same_step")
    state, step = env.from_records(batch.states), jax.jit(jax.vmap(env.step))
    for _ in range(150):
        actions = batch.random_actions()
        batch.step(actions)
        state = step(state, actions)
        np.testing.assert_array_equal(state.record, batch.states.view(np.uint8).reshape(64, -1))
    jax.vmap(env.sample_hidden)(state, state.current_player, jax.random.split(jax.random.key(0), 64)).record
    jax.jit(env.init)(jax.random.key(0)).record
compiled = [one.key for one in kernels if one.is_compiled]
assert not compiled, compiled
"""


@pytest.mark.machine_code
def test_programs_of_jax_compile_nothing() -> None:
    pytest.importorskip("jax", reason="needs the extra jax")
    in_python(IN_JAX)


FIRST = """
import sys
import numpy as np
from evergreen_env import Config as Evergreen
from petrichor_env import Config as Petrichor
from tabletop_agents import make_agent
from tabletop_engine.play.agents import Decisions
from tabletop_engine.play.batch import Batch
for config in (Petrichor(players=3), Evergreen(players=2)):
    batch = Batch(config, 4, 0)
    for name in ("random", "greedy", "rollout-3", "ismcts-20"):
        batch.step(make_agent(name, config.game).act(Decisions.of(batch), np.random.default_rng(0)))
assert "numba" not in sys.modules
"""


@pytest.mark.machine_code
def test_the_wheel_plays_without_numba_and_with_an_empty_cache(tmp_path: Path) -> None:
    (wheel,) = (ROOT / "dist").glob("*abi3*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["TABLETOP_CACHE_DIR"] = str(tmp_path / "cache")

    def run(*words: str | Path) -> str:
        ran = subprocess.run(
            [python, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran.stdout

    run("-m", "pip", "install", "--quiet", wheel)
    run("-m", "pip", "uninstall", "--quiet", "--yes", "numba", "llvmlite")
    program = Path(shutil.copy(ROOT / "tests" / "user_program.py", tmp_path))
    run(program.name)
    run("-c", FIRST)
    assert "there is nothing to compile" in run("-m", "evergreen_env", "compile")
    assert not any((tmp_path / "cache").rglob("*.nbi"))
