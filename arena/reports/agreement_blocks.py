"""Make the parts of a report on which bots choose the same action in the same position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from arena.errors import counted
from arena.insight.losses import AGREEMENT
from arena.reports.blocks import Block, Chart, write_cell, write_interval
from arena.reports.charts import MOST_BOTS, frame_table, plain_dicts, tips
from arena.reports.heat_maps import heat_map, one_sided

if TYPE_CHECKING:
    import pandas as pd

_FIELDS = {
    "bot": "bot",
    "other": "opponent",
    "share": "share",
    "share_low": "low",
    "share_high": "high",
}
_TIPS = [
    *tips(("bot", "Bot"), ("opponent", "Other bot")),
    *tips(("share", "Choose alike"), form=".1%"),
    *tips(("interval", "95 % interval")),
]


def agreement_blocks(agreement: pd.DataFrame, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the map of which bots choose alike, and its table; nothing if no bot was asked.

    Every two bots appear once, in the order of `labels`.
    """
    places = {label: place for place, label in enumerate(labels)}
    table = agreement.assign(
        _bot=agreement["bot"].map(places), _other=agreement["other"].map(places)
    )
    table = table[table["_bot"] < table["_other"]].sort_values(["_bot", "_other"])
    if not len(table):
        return
    known = {*agreement["bot"]}
    yield _map(agreement, [label for label in labels if label in known][:MOST_BOTS])
    yield frame_table(AGREEMENT, "Who chooses alike", table, folded=True)


def _map(agreement: pd.DataFrame, labels: Sequence[str]) -> Chart:
    shown = agreement[agreement["bot"].isin(labels) & agreement["other"].isin(labels)]
    shown = shown[shown["bot"] != shown["other"]]
    rows = plain_dicts(shown, _FIELDS)
    for row in rows:
        row["interval"] = write_interval(row.pop("low"), row.pop("high"), "share")
        row["cell"] = f"{100 * row['share']:.0f}"
    spec = heat_map(rows, labels, one_sided("share", "Choose alike"), _TIPS)
    number = counted(int(agreement["positions"].max()), "position")
    least, most = (write_cell(float(end), "share") for end in shown["share"].agg(["min", "max"]))
    description = (
        f"Of {number} that were drawn from the games, the share at which two bots choose the same "
        f"action: from {least} to {most}. Each begins anew there, with what the seat knew."
    )
    return Chart("agreement", "Who chooses alike", description, spec, "agreement")
