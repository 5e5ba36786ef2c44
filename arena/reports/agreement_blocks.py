"""Make the parts of a report on which bots choose the same action in the same position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from arena.errors import counted
from arena.insight.losses import AGREEMENT
from arena.reports.blocks import Block, Chart, write_cell
from arena.reports.charts import (
    BLUE,
    MOST_BOTS,
    Spec,
    chart,
    frame_table,
    nominal,
    plain_rows,
    tips,
)

if TYPE_CHECKING:
    import pandas as pd

_CELL = 22  # pixels
_FEW = 14  # bots whose shares can be printed in the cells
_WIDE = 46
_DARK = 0.85  # of a share on which white is read best


def agreement_blocks(agreement: pd.DataFrame, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the map of who chooses alike, and its table; nothing where nobody was asked.

    Every two bots are there once, in the order of `labels`.
    """
    places = {label: place for place, label in enumerate(labels)}
    table = agreement.assign(
        _bot=agreement["bot"].map(places), _other=agreement["other"].map(places)
    )
    table = table[table["_bot"] < table["_other"]].sort_values(["_bot", "_other"])
    if not len(table):
        return
    yield _map(table, [label for label in labels if label in {*agreement["bot"]}][:MOST_BOTS])
    yield frame_table(AGREEMENT, "Who chooses alike", table, folded=True)


def _map(table: pd.DataFrame, labels: Sequence[str]) -> Chart:
    shown = table[table["bot"].isin(labels) & table["other"].isin(labels)]
    fields = ("bot", "other", "share", "share_low", "share_high")
    rows: list[dict[str, Any]] = [
        {
            "bot": bot,
            "other": other,
            "share": share,
            "interval": f"{write_cell(low, 'share')} to {write_cell(high, 'share')}",
        }
        for bot, other, share, low, high in plain_rows(shown, fields)
    ]
    is_small = len(labels) <= _FEW
    layers: list[Spec] = [
        {
            "mark": {"type": "rect", "stroke": "#808890", "strokeWidth": 0.5},
            "encoding": {"color": _COLOUR},
        }
    ]
    if is_small:
        layers.append(_NUMBERS)
    spec = chart(
        rows,
        width={"step": _WIDE if is_small else _CELL},
        height={"step": _CELL},
        layer=layers,
        encoding={
            "x": _axis("bot", labels[:-1], orient="top", labelAngle=-50),
            "y": _axis("other", labels[1:]),
            "tooltip": [
                *tips(("bot", "Bot"), ("other", "Other bot")),
                *tips(("share", "Choose alike"), form=".1%"),
                *tips(("interval", "95 % interval")),
            ],
        },
    )
    number = counted(int(table["positions"].max()), "position")
    least, most = (write_cell(float(end), "share") for end in _ends(shown))
    description = (
        f"Of {number} that were drawn from the games, the share at which two bots choose the same "
        f"action: from {least} to {most}. Each begins anew there, with what the seat knew."
    )
    return Chart("agreement", "Who chooses alike", description, spec, "agreement")


def _ends(shown: pd.DataFrame) -> tuple[float, float]:
    return shown["share"].min(), shown["share"].max()


def _axis(field: str, labels: Sequence[str], **more: Any) -> Spec:
    axis = {"labelLimit": 130, "domain": False, "ticks": False} | more
    return nominal(field, sort=[*labels], title=None, scale={"domain": [*labels]}, axis=axis)


_COLOUR: Spec = {
    "field": "share",
    "type": "quantitative",
    "title": "Choose alike",
    "scale": {"domain": [0, 1], "range": ["#f7f7f7", BLUE], "interpolate": "rgb"},
    "legend": {"format": ".0%", "orient": "bottom", "gradientLength": 180},
}
_NUMBERS: Spec = {
    "transform": [{"calculate": "format(100 * datum.share, '.0f')", "as": "text"}],
    "mark": {"type": "text", "fontSize": 12},
    "encoding": {
        "text": {"field": "text", "type": "nominal"},
        "color": {
            "condition": {"test": f"datum.share > {_DARK}", "value": "#ffffff"},
            "value": "#1b1f24",
        },
    },
}
