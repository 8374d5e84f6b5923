"""The page's modules as they are sent: those that every game loads are one file, so that a slow network waits once."""

from __future__ import annotations

import re
from collections.abc import Mapping

BUNDLE, FIRST, MAIN = "game.js", "socket.js", "main.js"
"""The file of the modules that `MAIN` loads. `FIRST` and what it imports stay alone, to open the socket before that."""
_IMPORT = re.compile(r'^(im|ex)port \{ (.+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) ([\w$]+)", re.MULTILINE)


def with_bundle(texts: Mapping[str, str]) -> dict[str, str]:
    """The files of the page by name, with `BUNDLE` in place of the modules in it.

    Each module becomes a function's result, named after it; other modules take from there what they import.
    """
    alone = _with_imports(texts, FIRST)
    inside = [name for name in _with_imports(texts, MAIN) if name not in alone]
    parts = [f'import * as {_result(name)} from "./{name}";' for name in alone]
    for name in inside:
        imported = [(found[1] == "ex", found[2], found[3]) for found in _IMPORT.finditer(texts[name])]
        taken = "".join(
            f"const {{ {_taken(names)} }} = {module}_;\n" for passes, names, module in imported if not passes
        )
        passed = [f"...{module}_" for passes, _, module in imported if passes]
        text = _IMPORT.sub("", texts[name])
        given = ", ".join([*passed, *(found[2] for found in _EXPORT.finditer(text))])
        plain = _EXPORT.sub(r"\1 \2", text)
        parts.append(f"const {_result(name)} = (() => {{\n{taken}{plain}\nreturn {{ {given} }};\n}})();")
    parts.append(f"export {{ {', '.join(map(_result, inside))} }};")

    def from_bundle(found: re.Match[str]) -> str:
        if f"{found[3]}.js" not in inside:
            return found[0]
        return f'import {{ {found[3]}_ }} from "./{BUNDLE}"; const {{ {_taken(found[2])} }} = {found[3]}_;'

    others = {name: text for name, text in texts.items() if name not in inside}
    sent = {name: _IMPORT.sub(from_bundle, text) if name.endswith(".js") else text for name, text in others.items()}
    return {**sent, BUNDLE: "\n".join(parts)}


def loaded_first(texts: Mapping[str, str]) -> list[str]:
    """The modules that a game loads, of files with a bundle."""
    return [FIRST, *(name for name in _with_imports(texts, FIRST) if name != FIRST), BUNDLE]


def _with_imports(texts: Mapping[str, str], name: str) -> list[str]:
    """A module after all that it imports. No two import each other."""
    found = [one for match in _IMPORT.finditer(texts[name]) for one in _with_imports(texts, f"{match[3]}.js")]
    return list(dict.fromkeys([*found, name]))


def _result(name: str) -> str:
    return f"{name.removesuffix('.js')}_"


def _taken(names: str) -> str:
    """`a, b as c` of an import, as names that are taken from an object."""
    return names.replace(" as ", ": ")
