"""The colours of charts are told from the paper in both modes, and from one another."""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest

from arena.reports.charts import WIN_COLOURS
from arena.store.html_page import static
from tests.reports.runs import cup, make_store, report_of

PAPERS = re.findall(r"--paper: (#[0-9a-f]{6})", static("arena.store/base.css"))
IN_THE_DARK = dict(re.findall(r'"(#\w{6})": "(#\w{6})"', static("arena.reports/charts.js")))
DEFICIENCIES = {
    "none": np.eye(3),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}
"""What remains of linear red, green and blue. Source: Machado, Oliveira and Fernandes 2009."""


def linear(colour: str) -> np.ndarray:
    """Return red, green and blue as amounts of light (IEC 61966-2-1)."""
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (WCAG 2.2)."""
    low, high = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light: np.ndarray) -> np.ndarray:
    """Return an amount of light in a space of equal differences (CIE 1976)."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.array(to_xyz) @ np.clip(light, 0, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def colours_of_charts() -> set[str]:
    """Return the colours of the marks of a report; a map has its own paper."""
    run = cup(["a", "b", "c"], 60)
    report, _ = report_of(run, make_store(run))
    texts = [
        json.dumps({**chart.spec, "data": None})
        for chart in report.charts()
        if chart.spec.get("usermeta", {}).get("colours") != "own"
    ]
    return {colour for text in texts for colour in re.findall(r"#[0-9a-f]{6}", text)}


@pytest.mark.slow
def test_marks_have_a_contrast_of_three_in_both_modes() -> None:
    """White alone, between the parts of a bar, is no mark."""
    light, dark = PAPERS
    marks = colours_of_charts() - {"#ffffff"}
    assert len(marks) > 6
    assert marks <= {*IN_THE_DARK}
    assert min(contrast(colour, light) for colour in marks) >= 3
    assert min(contrast(IN_THE_DARK[colour], dark) for colour in marks) >= 3


@pytest.mark.parametrize("seen", DEFICIENCIES)
def test_win_types_are_told_apart_by_everybody(seen: str) -> None:
    """By 20 units at least, in both modes; 2 is a difference that one just sees."""
    for colours in (WIN_COLOURS.values(), [IN_THE_DARK[one] for one in WIN_COLOURS.values()]):
        places = [lab(np.array(DEFICIENCIES[seen]) @ linear(colour)) for colour in colours]
        assert min(np.linalg.norm(one - other) for one, other in combinations(places, 2)) > 20
