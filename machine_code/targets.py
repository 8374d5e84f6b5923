"""Compiling a kernel with LLVM for one kind of processor, to machine code or to text for an assembler."""
# mypy: allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import llvmlite.binding as ll
from numba.core.codegen import _parse_refprune_flags
from numba.core.llvm_bindings import create_pass_builder

ll.initialize_all_targets()
ll.initialize_all_asmprinters()


@dataclass(frozen=True)
class Target:
    """A kind of processor.

    Attributes:
        name: of the processor, as LLVM knows it; `generic` is the least of its kind.
        triple: LLVM's name of processor, maker and system. Default: this machine's.
        level: the x86-64 level that the processor must have; 0 on other machines.
    """

    name: str
    triple: str = ""
    level: int = 0

    @cached_property
    def machine(self) -> Any:
        """LLVM's target machine."""
        target = ll.Target.from_triple(self.triple or ll.get_process_triple())
        return target.create_target_machine(cpu=self.name, opt=3, reloc="pic", codemodel="default")

    def module(self, bitcode: bytes) -> Any:
        """The module, optimised for this target as `KernelLibrary` optimises for this machine."""
        module = ll.parse_bitcode(bitcode)
        if self.triple:
            module.triple = self.triple
            module.data_layout = str(self.machine.target_data)
        for function in module.functions:
            builder = self._builder()
            passes = builder.getFunctionPassManager()
            passes.add_refprune_pass(_parse_refprune_flags())
            passes.run(function, builder)
        builder = self._builder()
        passes = builder.getModulePassManager()
        passes.add_refprune_pass(_parse_refprune_flags())
        passes.run(module, builder)
        module.verify()
        return module

    def _builder(self) -> Any:
        return create_pass_builder(self.machine, opt=3, loop_vectorize=True, slp_vectorize=False)

    def object_of(self, bitcode: bytes) -> bytes:
        """The module as an object file."""
        return bytes(self.machine.emit_object(self.module(bitcode)))

    def assembly_of(self, bitcode: bytes) -> str:
        """The module as text for the target's assembler."""
        return str(self.machine.emit_assembly(self.module(bitcode)))
