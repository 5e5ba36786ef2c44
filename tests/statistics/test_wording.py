"""One writer of estimates: what it writes, and that no other module writes an interval."""

from __future__ import annotations

import math
import re
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.intervals import Estimate
from arena.statistics.wording import write_chance, write_ends, write_estimate, write_lead
from tests import ROOT

WRITTEN_ELSEWHERE = {
    "arena/addons/studies/analyse_commands.py": 1,  # the bins of a table: 50..60
    "arena/statistics/wording.py": 1,
}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Estimate(77.3, 61.2, 93.4), "+77 Elo (61..93)"),
        (Estimate(-0.2, -9.0, 8.6), "+0 Elo (-9..9)"),
        (Estimate(nan, 210.3, inf), "at least 210 Elo (95 %)"),
        (Estimate(-inf, -inf, -210.3), "at most -210 Elo (95 %)"),
        (Estimate(), "unknown Elo"),
    ],
)
def test_an_estimate_is_written_with_what_is_known_of_it(found: Estimate, text: str) -> None:
    """Both ends, or the one that there is with its level, or nothing."""
    assert write_estimate(found, "+.0f", " Elo") == text


@given(st.floats(0, 1))
def test_no_probability_is_certain(chance: float) -> None:
    """Neither 0 nor 100 %, and else it is what was said, to tenths of a per cent."""
    said = write_chance(chance)
    found = float(re.sub(r"[^0-9.]", "", said))
    assert 0 < found < 100
    if said[0].isdigit():
        assert math.isclose(found, 100 * chance, abs_tol=0.0501)


@given(st.floats(1e-9, 50), st.floats(1e-9, 50))
def test_a_lead_that_is_surely_above_0_is_not_written_as_0(low: float, more: float) -> None:
    """As far as two decimals tell."""
    ends = write_lead(Estimate(low + more / 2, low, low + more)).partition("(")[2]
    assert (float(ends.partition("..")[0]) > 0) == (round(low, 2) > 0)


def test_an_end_that_is_not_finite_is_none() -> None:
    """Whoever has it: a table has None or nan, an estimate an infinity."""
    assert {write_ends(3.0, end) for end in (None, nan, inf)} == {"at least 3"}


def test_no_other_module_writes_an_interval() -> None:
    """As two numbers in braces with two dots between them."""
    found = {
        path.relative_to(ROOT).as_posix(): len(re.findall(r"\}\.\.\{", path.read_text("utf-8")))
        for path in (ROOT / "arena").rglob("*.py")
    }
    assert {name: number for name, number in found.items() if number} == WRITTEN_ELSEWHERE
