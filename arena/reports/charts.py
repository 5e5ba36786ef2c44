"""Charts: parts of Vega-Lite specifications, plain data, that the charts of a report share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]

WIN_COLOURS: Mapping[str, str] = {
    "City": "#e69f00",
    "points": "#0072b2",
    "tie-break": "#56b4e9",
    "forfeit": "#8c959f",
}
"""The colour of each win type, as in the pages' styles (Okabe and Ito 2008)."""

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#808890"
STEP = 24
"""Pixels of a row."""

MOST_BOTS = 40
"""Bots in a chart, the first ones of the standings: more rows cannot be told apart."""

ALL = "all bots "
"""Stands for all bots together in tables and choices; a label does not end with a space."""

_LABEL = 120


def chart(values: Sequence[Mapping[str, Any]], **parts: Any) -> Spec:
    """Return a specification with its rows, as wide as the page unless `parts` say otherwise."""
    base: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "data": {"values": [*values]},
    }
    return base | parts


def row_of_bots(labels: Sequence[str], field: str = "bot") -> Spec:
    """Return the vertical axis with a row for each bot, in this order."""
    return nominal(field, sort=[*labels], title=None, axis={"labelLimit": _LABEL})


def nominal(field: str, **more: Any) -> Spec:
    """Return a channel of names."""
    return {"field": field, "type": "nominal", **more}


def quantity(field: str, title: str | None, **more: Any) -> Spec:
    """Return a channel of numbers."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def choice(name: str, title: str, options: Sequence[str]) -> Spec:
    """Return a parameter that the reader chooses from some names; the first one is chosen."""
    bind = {"input": "select", "options": [*options], "name": title}
    return {"name": name, "value": options[0], "bind": bind}


def colours(of: Mapping[str, str]) -> Spec:
    """Return the scale of some names and their colours."""
    return {"domain": [*of], "range": [*of.values()]}
