"""Make the table with the key figures of every bot, for readers without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Final

import numpy as np

from arena.differences.profiles import Profiles
from arena.differences.run_files import Files
from arena.insight.judged_files import JudgedTables
from arena.insight.losses import choose_opponent
from arena.insight.table_columns import MEAN_END, Column, interval
from arena.reports.blocks import Cell, Table
from arena.reports.charts import plain_rows
from arena.reports.profile_texts import write_change
from arena.reports.take_section import CARD_NAMES

_OF_GAMES: Final = "The share of its games that ended so."
_END: Final = "The 95 % interval of the share, by pairs of games."
_SHARES: Final = {
    "score": Column("score", "Score", "share", "The share of the points that the bot has scored."),
    "won by City": Column("won_city", "Won by City", "share", _OF_GAMES),
    "won by points": Column("won_points", "Won by points", "share", _OF_GAMES),
    "lost by City": Column("lost_city", "Lost by City", "share", _OF_GAMES),
    "lost by forfeit": Column("lost_forfeit", "Forfeited", "share", _OF_GAMES),
    "cards": Column("take_cards", "Cards of a take", "number", "The mean over all its takes."),
    "gain": Column("take_gain", "Points of a take", "number", "The mean that a take adds."),
}
"""The columns of the measures, each with the ends of its interval."""

_WORDS: Final = (
    Column("best_card", "Best card", "text", "The kind of card that adds most to its wins."),
    Column("above", "Most above its Elo", "text", "Against whom, by residual_z."),
    Column("below", "Most below its Elo", "text", "Against whom, by residual_z."),
)


def key_figures(profiles: Profiles, files: Files, judged: JudgedTables) -> Table:
    """Return a row for each bot that has a profile."""
    places = {one.name: n for n, one in enumerate(profiles.measures) if one.group != "cards"}
    shown = [name for name in _SHARES if name in places]
    own = np.stack(profiles.own, axis=2)[:, [places[name] for name in shown]]
    columns = [Column("bot", "Bot"), *_with_ends(_SHARES[name] for name in shown), *_WORDS]
    losses = _read_losses(judged)
    if losses:
        title = f"Loss against {choose_opponent(judged.decisions)}"
        meaning = "The mean loss of a decision against this opponent, as arena analyse judged it."
        columns += _with_ends([Column("loss", title, "share", meaning)])
    words = [_find_best_cards(profiles), *_find_beyond(files)]
    rows = []
    for bot, numbers in zip(profiles.bots, own.reshape(len(own), -1).tolist(), strict=True):
        cells: list[Cell] = [None if isnan(number) else number for number in numbers]
        cells += [named.get(bot, "") for named in words]
        rows.append((bot, *cells, *(losses.get(bot, (None,) * 3) if losses else ())))
    return Table("profiles", "Key figures of every bot", columns, rows)


def _with_ends(columns: Iterable[Column]) -> Iterator[Column]:
    for one in columns:
        ends = _END if one.kind == "share" and one.name != "loss" else MEAN_END
        yield from (one, *interval(one.name, one.title, one.kind, ends))


def _read_losses(judged: JudgedTables) -> dict[str, tuple[float | None, ...]]:
    """Return the loss of each bot against one opponent: the one that most bots have met."""
    losses = judged.losses
    against = losses[losses["opponent"] == choose_opponent(judged.decisions)]
    rows = plain_rows(against, ("bot", "loss", "loss_low", "loss_high"))
    return {bot: tuple(loss) for bot, *loss in rows}


def _find_best_cards(profiles: Profiles) -> dict[str, str]:
    cards = [n for n, one in enumerate(profiles.measures) if one.group == "cards"]
    found = {}
    for bot, adds in zip(profiles.bots, profiles.own.value[:, cards], strict=True):
        if not np.isnan(adds).all():
            best = int(np.nanargmax(adds))
            found[bot] = CARD_NAMES[profiles.measures[cards[best]].name]
    return found


def _find_beyond(files: Files) -> Iterator[dict[str, str]]:
    """Yield the opponents against which each bot scores most and least beyond its Elo."""
    table = files.tables.head_to_head
    table = table[table["residual_z"].notna()].sort_values("residual_z", kind="stable")
    for sign, some in ((1, table), (-1, table[::-1])):
        rows = plain_rows(some, ("bot", "opponent", "residual"))
        yield {
            bot: f"{opponent} ({write_change(beyond, 'share')})"
            for bot, opponent, beyond in rows
            if sign * beyond > 0
        }
