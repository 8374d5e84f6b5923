"""The notebooks as they are stored. nbmake runs the first in `make test`, and all in `make test-slow`."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def cells(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    notebook: dict[str, list[dict[str, Any]]] = json.loads(request.param.read_text(encoding="utf-8"))
    return notebook["cells"]


def test_there_are_the_five() -> None:
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05"]


def test_notebook_was_stored_after_one_run_from_top_to_bottom(cells: list[dict[str, Any]]) -> None:
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))


def test_notebook_shows_texts_and_pictures_and_no_error(cells: list[dict[str, Any]]) -> None:
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert {output["output_type"] for output in outputs} <= {"stream", "display_data", "execute_result"}
    assert {output["name"] for output in outputs if output["output_type"] == "stream"} == {"stdout"}
    assert any("image/png" in output.get("data", {}) for output in outputs)


def test_notebook_names_no_machine(cells: list[dict[str, Any]]) -> None:
    texts = ["".join(cell["source"]) for cell in cells]
    texts += ["".join(output.get("text", [])) for cell in cells for output in cell.get("outputs", [])]
    assert not re.search(r"/home/\w|/root/|/work/\w|/tmp/|file://", "\n".join(texts))


def test_notebook_has_small_settings_where_it_takes_long() -> None:
    for path in NOTEBOOKS[1:]:
        assert "PETRICHOR_QUICK" in path.read_text(encoding="utf-8"), path.name


def test_all_that_a_notebook_imports_is_there(cells: list[dict[str, Any]]) -> None:
    code = ["".join(cell["source"]).removeprefix("%%capture\n") for cell in cells if cell["cell_type"] == "code"]
    parsed = [one for text in code for one in ast.parse(text).body]
    imports = [one for one in parsed if isinstance(one, ast.Import | ast.ImportFrom)]
    assert len(imports) > 3
    exec(compile(ast.Module([*imports], []), "imports", "exec"), {})
