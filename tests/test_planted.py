"""The list of planted mistakes fits the product. `python -m tests.planted` looks whether tests find them."""

from __future__ import annotations

import pytest

from tests.planted import LEARNER, PLANTED, PRODUCT, ROOT


def test_the_list_is_long() -> None:
    assert len(PRODUCT) >= 25 and len(LEARNER) >= 10
    assert len(PLANTED) == len(PRODUCT) + len(LEARNER)


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_fits_its_file(name: str) -> None:
    mistake = PLANTED[name]
    assert not mistake.file.startswith("tests/")
    assert (ROOT / mistake.file).read_text(encoding="utf-8").count(mistake.old) == 1
    assert mistake.new != mistake.old
    assert 1 <= len(mistake.tests) <= 4 and all((ROOT / file).is_file() for file in mistake.tests)
