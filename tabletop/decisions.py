"""One table of a game's decisions, and from it the rule that calls the function of the pending one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from tabletop.compiled import rule


def by_decision(functions: Mapping[Any, Any], *parameters: str) -> Any:
    """A rule that calls the function which belongs to the decision asked of the record `s`; none for other decisions.

    Arguments:
        functions: by decision. Each takes those of `parameters` that it needs, under these names.
        parameters: of the rule, `s` among them.

    Numba calls no function out of a table, so this writes the comparisons out; LLVM makes a jump table of them.
    """
    lines = [f"def call({', '.join(parameters)}):", "    decision = s.decision"]
    for decision, function in functions.items():
        taken = inspect.signature(function).parameters
        lines += [f"    if decision == {int(decision)}:", f"        function_{int(decision)}({', '.join(taken)})"]
        lines += ["        return"]
    names: dict[str, Any] = {f"function_{int(decision)}": function for decision, function in functions.items()}
    exec("\n".join(lines), names)
    return rule(names["call"])
