"""The rule compiler against plain `njit`: the same results, and no change of Numba for other code."""
# mypy: allow-untyped-calls

from __future__ import annotations

import copy
import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core import codegen, config, errors, types
from numba.core.registry import CPUDispatcher
from numba.core.runtime import _nrt_python as memory
from numba.core.runtime import rtsys

from tabletop_engine.compiling import rule_compiler
from tabletop_engine.compiling.compiled import JIT
from tabletop_engine.compiling.rule_compiler import (
    USED,
    KernelDispatcher,
    KernelLibrary,
    RuleDispatcher,
    RuleLibrary,
    SharedRuleDispatcher,
    compile_kernel,
    compile_rule,
    compile_shared_rule,
    is_known,
    widened,
    with_other,
)
from tests.support.processes import in_python

ROOT = Path(__file__).parents[1]
RECORD = np.dtype([("small", np.int8), ("word", np.uint64), ("counts", np.int16, (5,)), ("total", np.int64)])

pytestmark = pytest.mark.skipif(not (JIT and USED), reason="plain njit compiles the rules here")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


def toy(used: bool) -> SimpleNamespace:
    """Rules that call each other with all kinds of arguments, and kernels that use them, compiled in either way."""
    rule, shared_rule = partial(compile_rule, used=used), partial(compile_shared_rule, used=used)
    kernel = partial(compile_kernel, used=used)

    @rule
    def add(s: Any, kind: int, number: int = 1) -> int:
        s.counts[kind] += number
        return s.counts[kind] - number * 300

    @rule
    def fibonacci(n: int) -> int:
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    @rule
    def halves(n: int) -> int:
        return 0 if n == 0 else 1 + halves(np.int8(n // 2))

    @rule
    def largest_first(counts: np.ndarray) -> np.ndarray:
        return np.sort(counts)[::-1]

    @rule
    def check(n: int) -> None:
        if n > 4:
            raise ValueError("more than four")

    @shared_rule
    def turn(s: Any, by: float) -> float:
        check(s.small)
        s.word = (s.word ^ (s.word << np.uint64(7))) * np.uint64(0x9E3779B97F4A7C15)
        add(s, s.small)
        add(s, 3, number=s.small)
        total = add(s, np.int32(2), -7) + fibonacci(s.small + 3) + halves(s.small)
        s.total += total
        return total * by

    @kernel
    def play(records: np.ndarray, turns: int, by: float) -> float:
        last = 0.0
        for i in range(records.shape[0]):
            for _ in range(turns):
                last += turn(records[i], by) / add(records[i], 0, 0)
        return last

    @kernel
    def count(records: np.ndarray, kind: int) -> int:
        last = 0
        for i in range(records.shape[0]):
            last += add(records[i], kind)
        return last

    @kernel
    def tidy(records: np.ndarray, out: np.ndarray) -> None:
        for i in range(records.shape[0]):
            turn(records[i], 1.0)
            counts = largest_first(records[i].counts)
            for k in range(5):
                out[i, k] = counts[k]

    return SimpleNamespace(**{name: value for name, value in locals().items() if hasattr(value, "py_func")})


def records() -> np.ndarray:
    made = np.zeros(4, RECORD)
    made["small"], made["word"] = [0, 1, 3, 4], [1, 2, 3, 2**63]
    made["counts"] = np.arange(20).reshape(4, 5)
    return made


def in_a_process(program: str, *arguments: str, **environment: str) -> Any:
    """What a new process prints as its last line, in JSON."""
    return json.loads(in_python(program, *arguments, env=environment).stdout.splitlines()[-1])


def test_both_ways_give_the_same() -> None:
    results = []
    for used in (True, False):
        rules, made = toy(used), records()
        out = np.zeros((4, 5), np.int64)
        value = rules.play(made, 9, 0.25)
        rules.tidy(made, out)
        results.append((value, made.tobytes(), out.tobytes()))
    assert results[0] == results[1]


def test_errors_go_through() -> None:
    """A rule's exception reaches Python as with plain `njit`, also through a shared rule."""
    for used in (True, False):
        made = records()
        made["small"] = 5
        with pytest.raises(ValueError, match="more than four"):
            toy(used).play(made, 1, 1.0)


@pytest.mark.parametrize("used", [True, False])
def test_arrays_are_released_once(used: bool) -> None:
    """Rules borrow their arguments. They may return them, store them, or assign to their names."""
    rule, kernel = partial(compile_rule, used=used), partial(compile_kernel, used=used)

    @rule
    def either(first: np.ndarray, second: np.ndarray, which: int) -> np.ndarray:
        return first if which == 0 else second

    @rule
    def longer(numbers: np.ndarray, times: int) -> np.ndarray:
        for _ in range(times):
            numbers = np.append(numbers, numbers[-1] + 1)
        return numbers

    @rule
    def kept(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        again = numbers
        return again, again[1:]

    @rule
    def total(numbers: np.ndarray) -> int:
        if numbers.shape[0] == 0:
            return 0
        return int(numbers[0]) + total(numbers[1:])

    @kernel
    def run(numbers: np.ndarray, which: int) -> tuple[np.ndarray, np.ndarray, int]:
        whole, rest = kept(longer(either(numbers, np.zeros(2, np.int64), which), 3))
        sums = total(whole) + total(either(rest, whole, 0))
        return either(numbers, whole, 1), either(rest, longer(numbers, 0), which), sums

    def references() -> tuple[int, int]:
        counts = rtsys.get_allocation_stats()
        return counts.alloc - counts.free, counts.mi_alloc - counts.mi_free

    numbers = np.arange(5)
    run(numbers, 0)
    memory.memsys_enable_stats()
    before, own = references(), sys.getrefcount(numbers)
    for which in (0, 1):
        whole, other, sums = run(numbers, which)
        assert whole.tolist() == ([0, 1, 2, 3, 4, 5, 6, 7] if which == 0 else [0, 0, 1, 2, 3])
        assert other.tolist() == ([1, 2, 3, 4, 5, 6, 7] if which == 0 else [0, 1, 2, 3, 4])
        assert sums == (56 if which == 0 else 12)
        del whole, other
        assert (references(), sys.getrefcount(numbers)) == (before, own)
    memory.memsys_disable_stats()


class Arrays(NamedTuple):
    numbers: np.ndarray
    records: np.ndarray
    step: int


@pytest.mark.parametrize("used", [True, False])
def test_arrays_in_a_namedtuple(used: bool) -> None:
    """Rules and kernels take them like arrays: nothing is copied, and each is released once."""
    rule, kernel = partial(compile_rule, used=used), partial(compile_kernel, used=used)

    @rule
    def add(arrays: Arrays, row: int) -> np.ndarray:
        s, numbers = arrays.records[row], arrays.numbers
        s.total += numbers[row] * arrays.step
        numbers[row] = s.total
        return numbers

    @kernel
    def run(arrays: Arrays, times: int) -> np.ndarray:
        last = arrays.numbers
        for i in range(times):
            last = add(arrays, i % 4)
        return last

    arrays = Arrays(np.arange(4), records(), 2)
    run(arrays, 0)
    before = [sys.getrefcount(one) for one in arrays]
    result = run(arrays, 6)
    assert np.shares_memory(result, arrays.numbers)
    assert result.tolist() == arrays.records["total"].tolist() == [0, 6, 4, 6]
    del result
    assert [sys.getrefcount(one) for one in arrays] == before


def test_rules_that_call_each_other_in_turn_are_refused() -> None:
    """Numba would need machine code of each of them."""

    @compile_rule
    def is_even(n: int) -> bool:
        return True if n == 0 else is_odd(n - 1)

    @compile_rule
    def is_odd(n: int) -> bool:
        return False if n == 0 else is_even(n - 1)

    with pytest.raises(errors.NumbaError, match="is_even: rules may call themselves, but not call each other in turn"):
        is_even(4)


def test_division_by_zero_is_numpys() -> None:
    @KernelDispatcher
    def divide(a: float, b: float) -> float:
        return a / b

    assert divide(1.0, 0.0) == np.inf


DIGEST = """
import hashlib, json
import numpy as np
from petrichor_env.config import MODULES, Config
from tabletop_engine.play import kernels
from tabletop_engine.compiling import rule_compiler
from tabletop_engine.play import warm_up
from tabletop_engine.play.batch import Batch
warm_up._warm.add("petrichor_env.game")  # only what is called here is compiled
digest, generator = hashlib.sha256(), np.random.default_rng(0)
for config in (Config(), Config(players=3), Config(players=5, modules=MODULES)):
    batch = Batch(config, 20, seed=0, num_threads=1, autoreset="same_step")
    for _ in range(300):
        batch.step(kernels.sample_actions(batch.action_masks, generator))
        digest.update(batch.states.tobytes() + batch.observations.tobytes() + batch.rewards.tobytes())
print(json.dumps([rule_compiler.USED, digest.hexdigest()]))
"""


@pytest.mark.slow
def test_whole_games_both_ways(tmp_path: Path) -> None:
    """Plain `njit` takes a minute or two for the rules."""
    plain = in_a_process(DIGEST, TABLETOP_PLAIN_NJIT="1", TABLETOP_CACHE_DIR=str(tmp_path))
    ours = in_a_process(DIGEST)
    assert (plain[0], ours[0]) == (False, True)
    assert plain[1] == ours[1]


def test_a_rule_is_compiled_once_for_all_integers_and_has_no_machine_code() -> None:
    rules = toy(True)
    rules.play(records(), 1, 1.0)
    assert len(rules.fibonacci.overloads) == len(rules.halves.overloads) == 1
    library = next(iter(rules.fibonacci.overloads.values())).library
    assert type(library) is RuleLibrary and library._compiled_object is None
    assert type(next(iter(rules.turn.overloads.values())).library) is KernelLibrary


def test_widened() -> None:
    integers = types.int8, types.int32, types.intp, types.IntegerLiteral(3)
    assert {widened(one) for one in integers} == {types.int64}
    assert [widened(one) for one in (types.uint64, types.boolean, types.float32)] == [
        types.uint64,
        types.boolean,
        types.float32,
    ]


def test_python_may_call_a_rule() -> None:
    rules, made = toy(True), records()
    assert rules.fibonacci(np.int8(10)) == 55
    assert rules.add(made[2], 1, number=4) == 15 - 1200
    assert made["counts"][2, 1] == 15


def test_ordinary_functions_may_not_call_rules() -> None:
    """Their libraries link only what they call themselves."""
    rules = toy(True)
    for one in (rules.fibonacci, rules.halves):
        with pytest.raises(
            errors.TypingError,
            match=r"is a rule: only rules and kernels of tabletop_engine\.compiling\.compiled can call it",
        ):
            numba.njit(lambda n, one=one: one(n))(3)


def test_numbas_own_classes_are_as_they_were() -> None:
    program = """
import json
import numba
from numba.core import caching, codegen, compiler, cpu, dispatcher, registry
OWN = [
    caching.FunctionCache, caching.CompileResultCacheImpl, codegen.CodeLibrary, codegen.CPUCodeLibrary,
    codegen.JITCodeLibrary, codegen.JITCPUCodegen, compiler.Compiler, compiler.CompilerBase, cpu.CPUContext,
    dispatcher.Dispatcher, registry.CPUDispatcher,
]
def look():
    return [{name: id(value) for name, value in vars(one).items() if callable(value) or hasattr(value, "__get__")}
            for one in OWN]
before = look()
from tabletop_engine.compiling.rule_compiler import KernelDispatcher, compile_rule
twice = compile_rule(lambda n: 2 * n)
assert KernelDispatcher(lambda n: twice(n) + 1)(3) == 7
plain = numba.njit(lambda n: n + 1)
assert plain(3) == 4
made = next(iter(plain.overloads.values()))
kind = type(plain).__name__, type(made.library).__name__, type(made.library._codegen).__name__
print(json.dumps([before == look(), kind]))
"""
    assert in_a_process(program) == [True, ["CPUDispatcher", "JITCodeLibrary", "JITCPUCodegen"]]


def test_versions_of_numba_that_are_known() -> None:
    assert is_known(numba.__version__) and not is_known("0.99.0") and not is_known("1.68.0")


@pytest.mark.slow
def test_another_version_of_numba_compiles_plainly() -> None:
    program = """
import json, sys
import numba
if sys.argv[1]:
    numba.__version__ = sys.argv[1]
from tabletop_engine.compiling import rule_compiler
rule = rule_compiler.compile_rule(lambda n: 5 * n)
kernel = (rule_compiler.KernelDispatcher if rule_compiler.USED else numba.njit)(lambda n: rule(n))
print(json.dumps([type(rule).__name__, int(kernel(2))]))
"""
    plain = ["CPUDispatcher", 10]
    assert in_a_process(program, "0.99.0") == plain
    assert in_a_process(program, "", TABLETOP_PLAIN_NJIT="1") == plain
    assert in_a_process(program, "", TABLETOP_PLAIN_NJIT="") == ["RuleDispatcher", 10]


MODULE = """
import json, sys
import numpy as np
from tabletop_engine.compiling.rule_compiler import compile_kernel, compile_rule, compile_shared_rule, keep

@compile_rule
def deep(n):
    return 3 * n

@compile_shared_rule
def trunk(n):
    if n > 100:
        raise ValueError("too many: " + str(n))
    return deep(n) + 1

@compile_shared_rule
def other_trunk(n):
    return trunk(n) - 1

keep(trunk)
keep(other_trunk)

@compile_kernel
def first(n):
    return trunk(n) + other_trunk(n)

@compile_kernel
def second(n):
    return other_trunk(n) * 10

if __name__ == "__main__":
    result = sum(globals()[name](2) for name in sys.argv[1].split("+"))
    functions = deep, trunk, other_trunk, first, second
    compiled = [one.__name__ for one in functions if sum(one.stats.cache_misses.values())]
    try:
        first(101)
        error = ""
    except ValueError as caught:
        error = str(caught)
    print(json.dumps([int(result), compiled, error]))
"""


def test_kernels_and_shared_rules_come_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(MODULE, encoding="utf-8")
    program = f"import runpy; runpy.run_path({str(tmp_path / 'module.py')!r}, run_name='__main__')"
    run = partial(in_a_process, program, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    message = "too many: 101"
    assert run("first") == [13, ["deep", "trunk", "other_trunk", "first"], message]
    assert run("first") == [13, [], message]
    # a new kernel needs nothing below the shared rules
    assert run("second+first") == [73, ["second"], message]
    # if machine code that others call is missing, it and they are compiled anew
    for file in (tmp_path / "cache").rglob("*trunk*"):
        file.unlink()
    assert run("second+first")[::2] == [73, message]
    assert run("second+first") == [73, [], message]


WITH_NAMEDTUPLE = """
import json
from typing import NamedTuple
import numpy as np
from tabletop_engine.compiling.rule_compiler import compile_kernel, compile_rule

class Pair(NamedTuple):
    numbers: np.ndarray
    step: int

@compile_rule
def added(pair):
    return pair.numbers[0] + pair.step

@compile_kernel
def run(pair):
    return added(pair)

def main():
    result = run(Pair(np.ones(1, np.int64), 2))
    print(json.dumps([int(result), sum(run.stats.cache_misses.values())]))
"""


@pytest.mark.slow
def test_kernels_of_namedtuples_come_from_the_cache(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(WITH_NAMEDTUPLE, encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import module; module.main()"
    run = partial(in_a_process, program, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert run() == [3, 1]
    assert run() == [3, 0]


def test_threads_may_be_first_together() -> None:
    kernel, expected = toy(True).play, toy(False).play(records(), 500, 1.0)
    with ThreadPoolExecutor(4) as pool:
        results = [one.result() for one in [pool.submit(kernel, records(), 500, 1.0) for _ in range(8)]]
    assert results == [expected] * 8


def test_copies_and_pickles(tmp_path: Path) -> None:
    rules = toy(True)
    for one in (rules.count, rules.turn, rules.add):
        assert copy.deepcopy([one])[0] is one
        assert pickle.loads(pickle.dumps(one)) is one
    expected = rules.count(records(), 3)
    (tmp_path / "kernel").write_bytes(pickle.dumps((rules.count, records())))
    program = """
import json, pickle, sys
count, records = pickle.load(open(sys.argv[1], "rb"))
print(json.dumps([type(count).__name__, count(records, 3)]))
"""
    assert in_a_process(program, str(tmp_path / "kernel")) == ["KernelDispatcher", expected]


def test_kinds() -> None:
    rules = toy(True)
    assert (type(rules.play), type(rules.turn), type(rules.add)) == (
        KernelDispatcher,
        SharedRuleDispatcher,
        RuleDispatcher,
    )
    assert all(type(one) is CPUDispatcher for one in vars(toy(False)).values())
    assert isinstance(rules.play, CPUDispatcher) and issubclass(RuleLibrary, codegen.JITCodeLibrary)
    assert not rule_compiler.RuleDispatcher(lambda n: n).overloads


@pytest.mark.parametrize("used", [True, False])
def test_another_function_for_records_with_a_field(used: bool) -> None:
    """The function is chosen by type, also in rules between. It may need fields that ordinary records lack."""

    def told(s: Any, bound: int) -> int:
        return int(s.script[0]) * bound

    def usual(s: Any, bound: int) -> int:
        return -bound

    draw = with_other(compile_rule(usual, used=used), "script", told)

    def between(s: Any) -> int:
        return draw(s, 3) + 1

    middle = compile_rule(between, used=used)

    def call(states: np.ndarray) -> int:
        return middle(states[0])

    kernel = compile_kernel(call, used=used)
    scripted = np.zeros(1, np.dtype([("script", np.int64, (2,)), *RECORD.descr]))
    scripted["script"] = 7
    for _ in range(2):
        assert kernel(np.zeros(1, RECORD)) == -2
        assert kernel(scripted) == 22
