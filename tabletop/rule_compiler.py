"""How Numba compiles rules and kernels here: a rule becomes LLVM IR, a kernel is optimised once with all it reaches.

Plain `njit` gives every function machine code of its own, a wrapper that Python calls and one that C calls, and does
so for every combination of integer types that it is called with. Rules are only called by other compiled functions,
so nobody uses any of that. Here

- a rule takes integers as int64, whatever the caller has, so that it is compiled once;
- a rule's code library holds what the rule itself became, and links, optimises and generates nothing;
- a kernel's code library links the rules that it reaches, directly or through others, each once, makes them private
  to the kernel, and optimises the whole;
- a shared rule, of which much hangs, is compiled like a kernel: all kernels call the same machine code. It is kept on
  disk with its types, so that a new kernel needs nothing of what lies below it.

None of Numba's classes is changed: rules and kernels have dispatchers, compilers and code libraries of their own.
They rest on parts of Numba that may change, so that other versions than KNOWN_NUMBA, and all of them where the
environment variable TABLETOP_PLAIN_NJIT is set, compile with plain `njit`: the same results, slower to compile.
"""
# mypy: allow-untyped-calls

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite.binding as ll
import numba
from llvmlite import ir
from numba.core import errors, sigutils, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack

KNOWN_NUMBA = ("0.68",)
"""The versions, without their last number, that this file has been tested with."""


def is_known(version: str) -> bool:
    """Whether this file knows that version of Numba."""
    return version.rpartition(".")[0] in KNOWN_NUMBA


USED = is_known(numba.__version__) and not os.environ.get("TABLETOP_PLAIN_NJIT")
"""Whether rules and kernels are compiled as described above; otherwise plain `njit` compiles them."""

_njit: Any = numba.njit
_OPTIONS = {"nogil": True, "error_model": "numpy"}
_KERNEL_OPTIONS = {**_OPTIONS, "nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
_RULE_OPTIONS = {**_KERNEL_OPTIONS, "no_cpython_wrapper": True}


def compile_rule(function: Callable[..., Any], used: bool = USED) -> Any:
    """What `numba.njit` makes of a function, for one that only compiled functions call."""
    return RuleDispatcher(function) if used else _njit(**_OPTIONS)(function)


def compile_shared_rule(function: Callable[..., Any], used: bool = USED) -> Any:
    """`compile_rule` for a rule of which much hangs: machine code for all kernels."""
    return SharedRuleDispatcher(function) if used else _njit(**_OPTIONS)(function)


def compile_kernel(function: Callable[..., Any], used: bool = USED) -> Any:
    """What `numba.njit` makes of a function, for one that Python calls; its machine code is kept on disk."""
    return KernelDispatcher(function, cached=True) if used else _njit(cache=True, **_OPTIONS)(function)


def with_other(compiled: Any, field: str, other: Callable[..., Any]) -> Any:
    """The same rule, but where its first argument is a record with this field, it is compiled from another function.

    Which one it is depends on types alone, so that records without the field keep their machine code. A Numba that
    asks otherwise for what it is to compile leaves the rule as it is; `tabletop.position` says so then.
    """
    written, compiler = compiled.py_func, compiled._compiler

    def choose(arguments: Any, named: Any) -> Callable[..., Any]:
        return other if field in getattr(arguments[0], "fields", ()) else written

    if hasattr(compiler, "_get_implementation"):
        compiler._get_implementation = choose
    return compiled


# --- code libraries ---


class Library(JITCodeLibrary):
    """LLVM IR as it comes, without the passes that Numba runs over each function for itself."""

    def add_llvm_module(self, ll_module: Any) -> None:
        found_by_name = self._codegen._rtlinker.PREFIX
        if any(one.name.startswith(found_by_name) for one in ll_module.global_variables):
            raise errors.UnsupportedError(f"{self.name}: rules may call themselves, but not call each other in turn")
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)


class RuleLibrary(Library):
    """The code of one rule: LLVM IR that calls other rules, neither linked with them nor turned into machine code."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # how a library says that it has no such machine code

    @property
    def codegen(self) -> Any:
        return self  # for set_env, the only thing that is asked of it

    def set_env(self, name: str, environment: Any) -> None:
        """Remember what Numba writes into machine code; there is none yet."""
        self.environments[name] = environment


class KernelLibrary(Library):
    """The code of a kernel, or of a shared rule, with the rules that it reaches, optimised together."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.shared: list[SharedRule] = []

    def finalize(self) -> None:
        own = {function.name for function in self._final_module.functions if not function.is_declaration}
        libraries = list(reached(self._linking_libraries))
        rules = [library for library in libraries if isinstance(library, RuleLibrary)]
        for library in rules:
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._final_module, preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in own:
                function.linkage = "internal"
        self.shared = [shared_rules[library] for library in libraries if library in shared_rules]
        others = [one for one in libraries if one not in shared_rules and not isinstance(one, RuleLibrary)]
        self._linking_libraries = others
        super().finalize()
        codegen: Any = self._codegen
        for library in rules:
            for name, environment in library.environments.items():
                if codegen._engine.is_symbol_defined(name):
                    codegen.set_env(name, environment)

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk. Numba adds the IR for callers to link; here nobody does, and names are read faster."""
        self._ensure_finalized()
        return self.name, "object", (self._get_compiled_object(), self._names_as_bitcode())

    def _names_as_bitcode(self) -> bytes:
        """A module without content that defines what others can name in this one."""
        names = ir.Module()
        hidden = (ll.Linkage.internal, ll.Linkage.private)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage not in hidden:
                empty = ir.Function(names, ir.FunctionType(ir.VoidType(), ()), function.name)
                ir.IRBuilder(empty.append_basic_block()).ret_void()
        for variable in self._final_module.global_variables:
            if not variable.is_declaration and variable.linkage not in hidden:
                ir.GlobalVariable(names, ir.IntType(8), variable.name).initializer = ir.Constant(ir.IntType(8), 0)
        return bytes(ll.parse_assembly(str(names)).as_bitcode())

    def _optimize_final_module(self) -> None:
        """Each function for itself, then all together. Numba's cheap run between them gains nothing here.

        Without the first, compiling is a few seconds faster, but games with all modules are played more slowly.
        """
        self._optimize_functions(self._final_module)
        manager, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes", builder):
            manager.run(self._final_module, builder)


def reached(libraries: Iterable[Any]) -> Iterator[Any]:
    """These libraries, what the rules among them link, and so on; each once."""
    waiting, seen = list(libraries), set()
    while waiting:
        library = waiting.pop()
        if library not in seen:
            seen.add(library)
            yield library
            if isinstance(library, RuleLibrary):
                waiting += library._linking_libraries


SharedRule = tuple[str, str, tuple[Any, ...], str]
"""Module, name and argument types of a shared rule, and the symbol of its machine code."""

shared_rules: WeakKeyDictionary[Any, SharedRule] = WeakKeyDictionary()
"""The code libraries of shared rules, whose machine code is loaded: there is nothing to link."""

_shared_dispatchers: dict[tuple[str, str], SharedRuleDispatcher] = {}


# --- compilers: Numba's, for code libraries of ours ---


class RuleCompiler(Compiler):
    library_class: type[Library] = RuleLibrary

    def define_pipelines(self) -> Any:
        library = self.library_class(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()


class KernelCompiler(RuleCompiler):
    library_class = KernelLibrary


# --- machine code on disk ---


class _KernelCacheFormat(CompileResultCacheImpl):
    """As Numba keeps functions, and which shared rules they call: those have to be loaded first."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"linked-{super().get_filename_base(fullname, abiflags)}"  # apart from what plain `njit` keeps

    def reduce(self, cres: Any) -> Any:
        return cres.library.shared, super().reduce(cres)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """None, as if nothing had been kept, where another process has compiled a shared rule anew since then."""
        shared, own = payload
        for module, name, arguments, symbol in shared:
            dispatcher = _shared_dispatchers.get((module, name))
            if dispatcher is None:
                return None
            dispatcher.compile(arguments)
            loaded: Any = dispatcher.overloads[arguments]
            if loaded.fndesc.mangled_name != symbol:
                return None
        return super().rebuild(target_context, own)


class KernelCache(FunctionCache):
    _impl_class = _KernelCacheFormat


# --- what decorators return ---


class KernelDispatcher(CPUDispatcher):
    """A function that Python calls."""

    options = _KERNEL_OPTIONS
    compiler: type[Compiler] = KernelCompiler

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, *, cached: bool = False) -> None:
        super().__init__(py_func, locals, targetoptions or dict(self.options), self.compiler)
        if cached:
            self.enable_caching()

    def enable_caching(self) -> None:
        self._cache = KernelCache(self.py_func)


class RuleDispatcher(KernelDispatcher):
    """One specialisation for all integers. Where Python calls it after all, for a test, a kernel is made of it."""

    options = _RULE_OPTIONS
    compiler = RuleCompiler

    def compile(self, sig: Any) -> Any:
        arguments, _ = sigutils.normalize_signature(sig)
        return super().compile(tuple(widened(one) for one in arguments))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """What type inference asks. The libraries of ordinary functions could not link a rule."""
        caller: Any = ConfigStack().top_or_none()
        if caller is not None and not caller.no_cfunc_wrapper:
            name = self.py_func.__qualname__
            raise errors.TypingError(f"only rules and kernels of tabletop.compiled call {name}, which is a rule")
        return super().get_call_template(args, kws)

    def fold_argument_types(self, args: Any, kws: Any) -> Any:
        """By these types a rule that calls itself is found among those in work."""
        signature, arguments = super().fold_argument_types(args, kws)
        return signature, tuple(widened(one) for one in arguments)

    @cached_property
    def kernel(self) -> Any:
        own: Any = self.py_func  # a copy of it: Numba would take the rule's call of itself for the kernel's
        return KernelDispatcher(
            FunctionType(own.__code__, own.__globals__, own.__name__, own.__defaults__, own.__closure__)
        )

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.kernel(*arguments, **named)


class SharedRuleDispatcher(RuleDispatcher):
    """A rule with machine code of its own."""

    compiler = KernelCompiler

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, targetoptions)
        _shared_dispatchers[self.py_func.__module__, self.py_func.__qualname__] = self

    def add_overload(self, cres: Any) -> None:
        names = self.py_func.__module__, self.py_func.__qualname__
        shared_rules[cres.library] = (*names, tuple(cres.signature.args), cres.fndesc.mangled_name)
        super().add_overload(cres)


def widened(kind: Any) -> Any:
    """int64 for all signed integers, literals and enumerations of them; other types as they are."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.IntEnumMember):
        return types.int64
    return types.int64 if kind in types.signed_domain else kind
