"""Summary: a run's results as a few lines for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_LABEL_WIDTH = 18
_HEAD = (
    f"{'rank':>4}  {'bot':<{_LABEL_WIDTH}} {'elo':>6} {'95 %':>13} {'score':>6}"
    f" {'city':>6} {'points':>6} {'forfeit':>7}"
)


def format_standings(standings: pd.DataFrame) -> Iterator[str]:
    """Yield the standings as a table; wins of each type are shares of a bot's games.

    `points` includes the wins by tie-break; `forfeit` counts the games that a bot forfeited.
    """
    yield _HEAD
    for row in standings.to_dict("records"):
        label = str(row["bot"])
        if len(label) > _LABEL_WIDTH:
            label = label[: _LABEL_WIDTH - 3] + "..."
        interval = f"{row['elo_low']:.0f}..{row['elo_high']:.0f}"
        city = row["city_wins"] / row["games"]
        points = (row["points_wins"] + row["tiebreak_wins"]) / row["games"]
        yield (
            f"{row['rank']:>4}  {label:<{_LABEL_WIDTH}} {row['elo']:>6.0f} {interval:>13}"
            f" {row['score']:>6.1%} {city:>6.1%} {points:>6.1%} {row['forfeits']:>7}"
        )
