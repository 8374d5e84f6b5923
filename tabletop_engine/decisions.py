"""Tables by decision: the check that none is forgotten, and the rule made from such a table."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from tabletop_engine.compiling.compiled import rule


def check_table(table: Collection[Any], members: Iterable[Any]) -> None:
    """Check that a table of functions or words has all of these members and no others.

    Call it below the table: then a forgotten member is an error when the module is imported, and not a missing rule or
    a wrong word in the middle of a game.

    Raises TypeError, which names the members that are missing or unknown.
    """
    wanted = list(members)
    for problem, wrong in (
        ("lacks", [one for one in wanted if one not in table]),
        ("has no place for", [one for one in table if one not in wanted]),
    ):
        if wrong:
            raise TypeError(f"the table {problem} {', '.join(str(getattr(one, 'name', one)) for one in wrong)}")


def by_decision(decisions: Iterable[Any], functions: Mapping[Any, Any], *parameters: str) -> Any:
    """A rule that calls the function that belongs to the pending decision of the record `s`, if it is one of these.

    Numba can't call a function from a table. So this writes one comparison for each decision; LLVM makes them a jump
    table.

    Arguments:
        decisions: all decisions that are asked.
        functions: the functions by decision. Each takes those of `parameters` that it needs, under these names.
        parameters: the parameters of the rule, `s` among them.

    Raises TypeError unless `functions` has exactly the `decisions`.
    """
    check_table(functions, decisions)
    lines = [f"def call({', '.join(parameters)}):", "    decision = s.decision"]
    for decision, function in functions.items():
        taken = inspect.signature(function).parameters
        lines += [f"    if decision == {int(decision)}:", f"        function_{int(decision)}({', '.join(taken)})"]
        lines += ["        return"]
    names: dict[str, Any] = {f"function_{int(decision)}": function for decision, function in functions.items()}
    exec("\n".join(lines), names)
    return rule(names["call"])
