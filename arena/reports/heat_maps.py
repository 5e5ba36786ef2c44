"""Make heat maps of numbers for every two bots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.reports.charts import BLUE, GREY, ORANGE, Spec, chart, nominal, quantity

_FEW = 14  # bots whose numbers can be printed in the cells
_WIDE, _HIGH, _NARROW = 46, 30, 20  # pixels of a cell, with and without its number
_PAPER = "#f7f7f7"
_DARKEST = 0.928, 0.964  # of one colour, and of two: beyond it black text lacks contrast
_LEGEND = {"format": ".0%", "orient": "bottom", "gradientLength": 180, "titleLimit": 320}


def heat_map(
    rows: Sequence[Mapping[str, Any]],
    labels: Sequence[str],
    shown: Spec,
    tooltip: Sequence[Spec],
    marks: Sequence[str] = (),
) -> Spec:
    """Return a map with a row and a column for each label; a row of data is a cell.

    The fields are `bot` and `opponent`; the field that `shown` maps to a colour, 0 to 1; `cell`, a
    text that is printed if there is room; and `mark`. If that is the first of `marks`, a triangle
    points up; if the second, it points down.
    """
    is_small = len(labels) <= _FEW
    size = (_WIDE, _HIGH) if is_small else (_NARROW, _NARROW)
    cell = {"type": "rect", "stroke": GREY, "strokeWidth": 0.3}
    layers: list[Spec] = [{"mark": cell, "encoding": {"color": shown}}]
    if is_small:
        is_two_sided = len(shown["scale"]["domain"]) > 2
        layers.append(_texts(shown["field"], _DARKEST[is_two_sided]))
    if any("mark" in row for row in rows):
        layers.append(_marks(size, marks))
    return chart(
        rows,
        width={"step": size[0]},
        height={"step": size[1]},
        usermeta={"picture": True, "colours": "own"},
        layer=layers,
        encoding={
            "x": _axis("opponent", labels, orient="top", labelAngle=-50),
            "y": _axis("bot", labels),
            "tooltip": [*tooltip],
        },
    )


def two_sided(field: str, title: str) -> Spec:
    """Return a diverging colour scale for a share with its middle at 0.5: blue above it."""
    return _colours(field, title, {"domain": [0, 0.5, 1], "range": [ORANGE, _PAPER, BLUE]})


def one_sided(field: str, title: str) -> Spec:
    """Return a sequential colour scale for a share: darker is more."""
    return _colours(field, title, {"domain": [0, 1], "range": [_PAPER, BLUE]})


def _colours(field: str, title: str, scale: Spec) -> Spec:
    return quantity(field, title, scale=scale | {"interpolate": "rgb"}, legend=_LEGEND)


def _axis(field: str, labels: Sequence[str], **more: Any) -> Spec:
    axis = {"labelLimit": 130, "domain": False, "ticks": False} | more
    return nominal(field, sort=[*labels], title=None, scale={"domain": [*labels]}, axis=axis)


def _marks(size: tuple[int, int], marks: Sequence[str]) -> Spec:
    """Return the layer of triangles in the corners of cells."""
    shape = {"domain": [*marks], "range": ["triangle-up", "triangle-down"]}
    return {
        "transform": [{"filter": "isValid(datum.mark)"}],
        "mark": {
            "type": "point",
            "filled": True,
            "size": 45,
            "color": "#000000",
            "stroke": "#ffffff",
            "strokeWidth": 1,
            "opacity": 1,
            "xOffset": size[0] / 2 - 6,
            "yOffset": 6 - size[1] / 2,
        },
        "encoding": {"shape": nominal("mark", scale=shape, legend=None)},
    }


def _texts(field: str, darkest: float) -> Spec:
    """Return the layer of the texts in the cells, which are white in cells beyond `darkest`.

    So every text has a contrast of at least 4.5.
    """
    condition = {"test": f"datum.{field} > {darkest}", "value": "#ffffff"}
    return {
        "mark": {"type": "text", "fontSize": 12},
        "encoding": {
            "text": nominal("cell"),
            "color": {"condition": condition, "value": "#000000"},
        },
    }
