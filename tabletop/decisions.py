"""A rule made from a table of decisions: it calls the function that belongs to the pending decision."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tabletop.compiled import rule


def by_decision(functions: Mapping[Any, Any], *parameters: str) -> Any:
    """A rule that calls the function that belongs to the pending decision of the record `s`, if there is one.

    Numba can't call a function from a table. So this writes one comparison for each decision; LLVM makes them a jump
    table.

    Arguments:
        functions: the functions by decision. Each takes those of `parameters` that it needs, under these names.
        parameters: the parameters of the rule, `s` among them.
    """
    lines = [f"def call({', '.join(parameters)}):", "    decision = s.decision"]
    for decision, function in functions.items():
        taken = inspect.signature(function).parameters
        lines += [f"    if decision == {int(decision)}:", f"        function_{int(decision)}({', '.join(taken)})"]
        lines += ["        return"]
    names: dict[str, Any] = {f"function_{int(decision)}": function for decision, function in functions.items()}
    exec("\n".join(lines), names)
    return rule(names["call"])
