"""End of Season: shadows, and the light that trees collect. Lines are read from the sun outwards (`line`)."""

from __future__ import annotations

import pytest

from tests.evergreen.play import LINES, line, scored, season, standing

LIGHT = {
    "the three examples; case 24": "tt 1, tT 3, TtT 2",
    "small trees score 1, big ones 2": "t 1, T 2, .t 1, ....T 2, T..t 3, t...T 3",
    "shadows of one space and of two; case 25": "T.T 2, T..T 4, t.t 2, t..t 2, T.t 2, T..t 3, Tt.T 4, TT 2, Tt 2",
    "dark only in a shadow of an equal or bigger tree": "tT 3, t.T 3, ttT 3, tTt 3, TtT.T 2, Ttt.T 4",
    "dark trees cast shadows; case 26": "ttt 1, TTT 2, TTTT 2, tttt 1, Ttt 2, TtTt 2, T.Tt 2, TT.T 2",
    "sprouts, bushes and lakes cast none; case 26": "st 1, ut 1, lt 1, sT 2, uT 2, lT 2, ts 1, Tu 2, Tl 2",
    "they stop no shadow; case 26": "TuT 2, TsT 2, TlT 2, tuT 3, tut 2, TlTuT 2, Tult 3",
    "they collect nothing; case 26": "s 0, u 0, l 0, sul 0, lus.s 0",
}
"""What the lines are about; the lines and what they score."""


@pytest.mark.parametrize("sun", LINES)
@pytest.mark.parametrize("about", LIGHT)
def test_lines(about: str, sun: str) -> None:
    """Case 24, case 25, case 26; shadows and light, every sentence: as `LIGHT` has it, in all four directions."""
    for example in LIGHT[about].split(", "):
        cells, points = example.split()
        assert (cells, scored(season(line(cells, sun), sun), "light")) == (cells, (int(points),))


@pytest.mark.parametrize(
    ("trees", "found"),
    [
        ("T:c5,c7", [2, 4, 2, 4]),
        ("T:e5 t:g5", [3, 3, 3, 2]),
        ("t:c4,e4", [2, 2, 2, 2]),
        ("T:d1,f1", [4, 2, 4, 2]),
        ("T:g3,a4", [4, 4, 4, 4]),
        ("T:a4 t:b5", [3, 3, 3, 3]),
        ("t:c4 T:c5", [3, 3, 2, 3]),
        ("T:*", [14, 14, 14, 14]),
    ],
)
def test_rows_and_columns(trees: str, found: list[int]) -> None:
    """Case 27; direction of light: along columns or rows, each by itself; a ravine is one space long (assumed)."""
    assert [scored(season(standing(trees), sun), "light")[0] for sun in LINES] == found
