"""Colours of charts have one meaning, and are told from the paper and from one another."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from arena.store.html_page import static

STYLES = "arena.store/base.css", "arena.reports/drawing.css"
PARTED = [
    re.split(r"@media \(prefers-color-scheme: dark\) *{", static(name), maxsplit=1)
    for name in STYLES
]
LIGHT, DARK = (
    dict(found for parts in PARTED for found in re.findall(r"--([\w-]+): (#[0-9a-f]{6})", parts[n]))
    for n in (0, 1)
)
SIGNS = "city", "points", "tiebreak", "forfeit", "new", "old", "seat-0", "seat-1", "ink", "soft"
ENDINGS = "city", "points", "tiebreak", "forfeit"
PAIRS = ("new", "old"), ("seat-0", "seat-1")
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


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_signs_have_a_contrast_of_three(colours: dict[str, str]) -> None:
    """On the paper."""
    for name in SIGNS:
        assert contrast(colours[name], colours["paper"]) >= 3, name


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("seen", DEFICIENCIES)
def test_signs_beside_each_other_are_told_apart_by_everybody(
    seen: str, colours: dict[str, str]
) -> None:
    """By 20 units at least; 2 is a difference that one just sees."""
    for two in (*combinations(ENDINGS, 2), *PAIRS):
        one, other = (lab(np.array(DEFICIENCIES[seen]) @ linear(colours[name])) for name in two)
        assert np.linalg.norm(one - other) > 20, two


def is_orange(colour: str) -> bool:
    """Return whether a colour is strong, and between red and yellow."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return red - blue > 100 and 0.35 < (green - blue) / (red - blue) < 0.8


def test_only_city_is_orange() -> None:
    """In both modes, among all colours that a page has."""
    for colours in (LIGHT, DARK):
        assert {name for name, colour in colours.items() if is_orange(colour)} == {"city"}


@pytest.mark.parametrize(("shade", "colours"), [(0.5, LIGHT), (0.38, DARK)], ids=["light", "dark"])
def test_a_number_in_a_map_is_read_on_every_shade(shade: float, colours: dict[str, str]) -> None:
    """The darkest one mixes so much ink into the paper."""
    assert f"--shade: {100 * shade:.0f}%" in static("arena.reports/drawing.css")
    parts = [
        round(
            shade * int(colours["ink"][n : n + 2], 16)
            + (1 - shade) * int(colours["paper"][n : n + 2], 16)
        )
        for n in (1, 3, 5)
    ]
    mixed = "#{:02x}{:02x}{:02x}".format(*parts)
    assert contrast(colours["ink"], mixed) >= 4.5
