"""Compiling with Numba, faster than `njit`: a rule becomes LLVM IR; a kernel is optimised once, with all its rules.

Plain `njit` gives every function its own machine code, a wrapper for Python and a wrapper for C, once for every
combination of integer types in its calls. Rules are only called by other compiled functions, so all this is wasted on
them. Here it is done differently:

- A rule takes integers as int64, whatever type the caller has, so that it is compiled once.
- Rules and kernels do not count references to their arguments: the caller holds its own until they return.
- The code library of a rule holds only the rule's own LLVM IR. It links, optimises and generates nothing.
- The code library of a kernel links all rules that the kernel reaches, directly or through others, each once. It makes
  them private to the kernel and optimises the whole.
- A shared rule stands for a large part of a game. It is compiled like a kernel, and all kernels call the same machine
  code. This is kept on disk with its types, so that a new kernel does not need the rules below it.

No class of Numba is changed: rules and kernels have their own dispatchers, compilers and code libraries. These rely on
internals of Numba that may change. So versions other than KNOWN_NUMBA compile with plain `njit`, and so does every
version if the environment variable TABLETOP_PLAIN_NJIT is set. The results are the same; compiling takes longer.
"""
# mypy: allow-untyped-calls

from __future__ import annotations

import inspect
import logging
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite.binding as ll
import numba
from llvmlite import ir
from numba.core import errors, lowering, sigutils, types
from numba.core import ir as numba_ir
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.serialize import dumps
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from tabletop_engine.compiling.failures import note_wrong_call, noted

KNOWN_NUMBA = ("0.68",)
"""The versions of Numba, without their last number, that this file has been tested with."""


def is_known(version: str) -> bool:
    """Whether this version of Numba is one of KNOWN_NUMBA."""
    return version.rpartition(".")[0] in KNOWN_NUMBA


USED = is_known(numba.__version__) and not os.environ.get("TABLETOP_PLAIN_NJIT")
"""Whether rules and kernels are compiled as described above; otherwise plain `njit` compiles them."""

_log = logging.getLogger(__name__)
_njit: Any = numba.njit
_OPTIONS = {"nogil": True, "error_model": "numpy"}
_KERNEL_OPTIONS = {**_OPTIONS, "nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
_RULE_OPTIONS = {**_KERNEL_OPTIONS, "no_cpython_wrapper": True}


def compile_rule(function: Callable[..., Any], used: bool = USED) -> Any:
    """Compile a function that only compiled functions call, in place of `numba.njit`."""
    return _noting(RuleDispatcher(function) if used else _njit(**_OPTIONS)(function))


def compile_shared_rule(function: Callable[..., Any], used: bool = USED) -> Any:
    """`compile_rule` for a large part of a game: all kernels use the same machine code."""
    return _noting(SharedRuleDispatcher(function) if used else _njit(**_OPTIONS)(function))


def compile_kernel(function: Callable[..., Any], used: bool = USED) -> Any:
    """Compile a function that Python calls, in place of `numba.njit`. Its machine code is kept on disk."""
    made = _noting(KernelDispatcher(function) if used else _njit(**_OPTIONS)(function))
    keep(made)
    return made


def keep(dispatcher: Any) -> None:
    """Keep the machine code of a kernel or of a shared rule on disk."""
    cache = KernelCache if isinstance(dispatcher, KernelDispatcher) else CodeCache
    dispatcher._cache = cache(dispatcher.py_func)


def _noting(dispatcher: Any) -> Any:
    """The same dispatcher, which notes for the message to the author what can't be compiled, and wrong calls."""
    function, compiles, calls = dispatcher.py_func, dispatcher.compile, dispatcher.get_call_template

    def compile_noted(signature: Any) -> Any:
        with noted(function):
            return compiles(signature)

    def call_noted(args: Any, kws: Any) -> Any:
        takes = inspect.signature(function)
        try:
            takes.bind(*args, **dict(kws))
        except TypeError as error:
            reason = f"the call does not fit {function.__qualname__}({', '.join(takes.parameters)}): {error}"
            note_wrong_call(function, reason)
            raise errors.TypingError(reason) from None
        return calls(args, kws)

    dispatcher.compile, dispatcher.get_call_template = compile_noted, call_noted
    return dispatcher


def with_other(compiled: Any, field: str, other: Callable[..., Any]) -> Any:
    """The same rule, compiled from the function `other` if its first argument is a record with this field.

    Only types decide this, so the machine code for records without the field stays the same. In a version of Numba that
    does not ask for the function this way, the rule stays as it is; `tabletop_engine.positions.position` detects that.
    """
    written, compiler = compiled.py_func, compiled._compiler

    def choose(arguments: Any, named: Any) -> Callable[..., Any]:
        return other if field in getattr(arguments[0], "fields", ()) else written

    if hasattr(compiler, "_get_implementation"):
        compiler._get_implementation = choose
    return compiled


# --- code libraries ---


class Library(JITCodeLibrary):
    """A code library that adds LLVM IR unchanged, without the passes that Numba runs over each function."""

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add the LLVM IR of a function."""
        found_by_name = self._codegen._rtlinker.PREFIX
        if any(one.name.startswith(found_by_name) for one in ll_module.global_variables):
            raise errors.UnsupportedError(f"{self.name}: rules may call themselves, but not call each other in turn")
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)


class RuleLibrary(Library):
    """The code of one rule: LLVM IR that calls other rules. It is not linked with them, and has no machine code."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}

    def finalize(self) -> None:
        """Close the library without linking or optimising."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no machine code of this name."""
        return 0

    @property
    def codegen(self) -> Any:
        """The library itself, since Numba only calls its `set_env`."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Remember an environment. Numba would write it into the machine code, but there is none yet."""
        self.environments[name] = environment


class KernelLibrary(Library):
    """The code of a kernel, or of a shared rule, with the rules that it reaches, optimised together."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.shared: list[SharedRule] = []

    def finalize(self) -> None:
        """Link the rules, make them private, and optimise the whole."""
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
        """The data for the disk. Numba would add the IR for callers to link; here none do, and names load faster."""
        self._ensure_finalized()
        return self.name, "object", (self._get_compiled_object(), self._names_as_bitcode())

    def _names_as_bitcode(self) -> bytes:
        """An empty LLVM module with all names that other modules can refer to."""
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
        """Optimise each function alone, then all together. Numba's cheap pass between these gains nothing here.

        Without the first pass, compiling is a few seconds faster, but games with all modules run more slowly.
        """
        self._optimize_functions(self._final_module)
        manager, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes", builder):
            manager.run(self._final_module, builder)


def reached(libraries: Iterable[Any]) -> Iterator[Any]:
    """These libraries, those that the rules among them link, and so on; each once."""
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
"""The code libraries of shared rules. Their machine code is loaded, so there is nothing to link."""

_shared_dispatchers: dict[tuple[str, str], SharedRuleDispatcher] = {}


# --- compilers: Numba's, for code libraries of ours ---


class RuleLower(lowering.Lower):
    """Numba's translation to LLVM IR, without counting references to a function's arguments.

    The caller holds its own reference until the function returns. A count would cost two atomic operations for every
    array.
    """

    def lower_function_body(self) -> Any:
        """The names that stand for an argument and nothing else are found first."""
        values: dict[str, list[Any]] = {}
        for block in self.blocks.values():
            for one in block.find_insts(numba_ir.Assign):
                values.setdefault(one.target.name, []).append(one.value)
        self.borrowed = {name for name, all_ in values.items() if len(all_) == 1 and isinstance(all_[0], numba_ir.Arg)}
        self.counts = True
        return super().lower_function_body()

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """A value for a name; a borrowed one is not counted."""
        with self._counting(inst.target.name):
            return super().lower_assign(ty, inst)

    def delvar(self, name: str) -> None:
        """The end of a name's use; a borrowed one is not released."""
        with self._counting(name):
            super().delvar(name)

    def incref(self, typ: Any, val: Any) -> None:
        """One reference more, if references are counted now."""
        if self.counts:
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """One reference less, if references are counted now."""
        if self.counts:
            super().decref(typ, val)

    @contextmanager
    def _counting(self, name: str) -> Iterator[None]:
        self.counts = name not in self.borrowed
        try:
            yield
        finally:
            self.counts = True


@register_pass(mutates_CFG=True, analysis_only=False)
class RuleLowering(BaseNativeLowering):
    """Numba's pass that writes LLVM IR, with `RuleLower`."""

    _name: Any = "rule_lowering"

    @property
    def lowering_class(self) -> type[lowering.Lower]:
        """What translates a function."""
        return RuleLower


class RuleCompiler(Compiler):
    """Numba's compiler with a `RuleLibrary`, and with `RuleLowering`."""

    library_class: type[Library] = RuleLibrary

    def define_pipelines(self) -> Any:
        """Numba's pipelines, with a new code library and `RuleLowering`."""
        library = self.library_class(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(RuleLowering if one is NativeLowering else one, what) for one, what in pipeline.passes]
            pipeline.finalize()
        return pipelines


class KernelCompiler(RuleCompiler):
    """Numba's compiler with a `KernelLibrary`. Numba's wrapper for Python holds references to a kernel's arguments."""

    library_class = KernelLibrary


# --- machine code on disk ---


_OfUser: Any = CompileResultCacheImpl._locator_classes[0]  # its name differs between the versions of Numba


class _Folder(_OfUser):  # type: ignore[misc]
    """The folder that is set as Numba's cache, even if it can only be read: Numba would take another one then."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: Any) -> Any:
        return cls(py_func, py_file)


class _CodeFormat(CompileResultCacheImpl):
    """Numba's format for functions, with a checksum: damaged machine code would end the process."""

    _locator_classes = [_Folder]  # noqa: RUF012

    def reduce(self, cres: Any) -> Any:
        data = dumps(super().reduce(cres))
        return sha256(data).digest(), data

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        digest, data = payload
        if sha256(data).digest() != digest:
            raise ValueError("not the machine code that was written")
        return super().rebuild(target_context, pickle.loads(data))


class _KernelFormat(_CodeFormat):
    """The same with the shared rules that a function calls, which must be loaded first."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"linked-{super().get_filename_base(fullname, abiflags)}"  # other names than those of plain `njit`

    def reduce(self, cres: Any) -> Any:
        return cres.library.shared, super().reduce(cres)

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """The function; None, as if nothing was kept, if another process has recompiled a shared rule since then."""
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


class CodeCache(FunctionCache):
    """Numba's cache, in which what is damaged counts as missing, and a folder that can't be written to is no error."""

    _impl_class: type[_CodeFormat] = _CodeFormat

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The function for these types; None if it is not there or damaged."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None
        except Exception as error:  # damaged data can raise anything
            what = f"{self.cache_path}: the machine code of {self._py_func.__qualname__}"
            _log.warning("tabletop: %s is damaged, so it is compiled again (%s)", what, error)
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the function for these types, if it can be written."""
        with suppress(OSError):
            super().save_overload(sig, data)

    def is_filled(self) -> bool:
        """Whether something is there that fits the source file and the processor. Numba has no function for it."""
        try:
            processor = cpu_target.target_context.codegen().magic_tuple()
            return any(of == processor for _, of, _ in self._cache_file._load_index())
        except Exception:  # as above
            return False


class KernelCache(CodeCache):
    """The same with the format for kernels."""

    _impl_class = _KernelFormat


# --- what decorators return ---


class KernelDispatcher(CPUDispatcher):
    """A compiled function that Python calls."""

    options = _KERNEL_OPTIONS
    compiler: type[Compiler] = KernelCompiler

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, targetoptions or dict(self.options), self.compiler)


class RuleDispatcher(KernelDispatcher):
    """A rule, with one specialisation for all integer types. If Python calls it, as tests do, it becomes a kernel."""

    options = _RULE_OPTIONS
    compiler = RuleCompiler

    def compile(self, sig: Any) -> Any:
        """Compile the rule for these types, with integers as int64."""
        arguments, _ = sigutils.normalize_signature(sig)
        return super().compile(tuple(widened(one) for one in arguments))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The types of a call. It refuses callers that are ordinary functions: their libraries can't link a rule."""
        caller: Any = ConfigStack().top_or_none()
        if caller is not None and not caller.no_cfunc_wrapper:
            name = self.py_func.__qualname__
            raise errors.TypingError(
                f"{name} is a rule: only rules and kernels of tabletop_engine.compiling.compiled can call it"
            )
        return super().get_call_template(args, kws)

    def fold_argument_types(self, args: Any, kws: Any) -> Any:
        """The types of a call, with integers as int64, so that Numba recognises a rule that calls itself."""
        signature, arguments = super().fold_argument_types(args, kws)
        return signature, tuple(widened(one) for one in arguments)

    @cached_property
    def kernel(self) -> Any:
        """A kernel with the code of the rule, for calls from Python."""
        own: Any = self.py_func  # copied below, or Numba would take a rule's call of itself for one of the kernel
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
        """Add a specialisation, and register its code library as one of a shared rule."""
        names = self.py_func.__module__, self.py_func.__qualname__
        shared_rules[cres.library] = (*names, tuple(cres.signature.args), cres.fndesc.mangled_name)
        super().add_overload(cres)


def widened(kind: Any) -> Any:
    """int64 for all signed integers, their literals and enumerations; other types unchanged."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.IntEnumMember):
        return types.int64
    return types.int64 if kind in types.signed_domain else kind
