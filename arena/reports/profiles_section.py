"""Make the section of a report on single bots: profiles, key figures, and agreement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from arena.differences.profiles import MOST_BESIDE, Files, Profiles, make_profiles
from arena.errors import counted
from arena.reports.blocks import (
    Block,
    Cell,
    Chart,
    Section,
    Table,
    Text,
    write_cell,
    write_interval,
)
from arena.reports.blocks import Profiles as ProfilesBlock
from arena.reports.charts import MOST_BOTS, frame_table, plain_dicts, plain_rows, tips
from arena.reports.pairings_section import heat_map, one_sided
from arena.reports.profile_data import Games, make_data, order_by_residual, write_change
from arena.reports.seat_section import CARD_NAMES
from arena.store.columns import Columns
from arena.tables.losses import (
    AGREEMENT,
    MISTAKES,
    JudgedTables,
    choose_opponent,
    count_mistakes,
)
from arena.tables.table_columns import MEAN_END, Column, interval
from arena.tournament.schedule import Pairing

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


def agreement_blocks(agreement: pd.DataFrame | None, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the map of which bots choose alike, and its table; nothing if no bot was asked.

    Every two bots appear once, in the order of `labels`.
    """
    if agreement is None:
        return
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
    if losses and judged.decisions is not None:
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
    if judged.decisions is None or (losses := judged.losses) is None:
        return {}
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
    rows = order_by_residual(files.tables.head_to_head).rows(("bot", "opponent", "residual"))
    for sign in (1, -1):
        last = {bot: row for bot, *row in rows[::sign] if sign * row[1] > 0}
        yield {
            bot: f"{opponent} ({write_change(beyond, 'share')})"
            for bot, (opponent, beyond) in last.items()
        }


MOST_PROFILES: Final = 200
"""How many bots, the first of the standings, have a profile."""


def profile_links(labels: Sequence[str]) -> list[str | None]:
    """Return the fragments of the profiles of bots in the order of the standings.

    >>> profile_links(["majority", "greedy"])
    ['profile-1', 'profile-2']
    """
    return [f"profile-{place}" for place, _ in enumerate(labels[:MOST_PROFILES], 1)]


def profiles_section(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> Section:
    """Return the section on single bots; `games` are the games to look at, by bot."""
    blocks = [*_blocks(pairings, files, judged, games)]
    return Section("profiles", "Bots", blocks)


def _blocks(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, games: Mapping[str, Games]
) -> Iterator[Block]:
    labels = files.tables.order
    text = "The page shows the profile of the bot that is chosen, and of two how they differ."
    if len(labels) > MOST_BESIDE:
        text += f" The first {MOST_BESIDE} bots of the standings can be set side by side."
    if len(labels) > MOST_PROFILES:
        text += f" The first {MOST_PROFILES} of {len(labels):,} bots have a profile."
    yield Text([text])
    if judged.left_out:
        yield Text([f"Left out: {line}." for line in judged.left_out], warning=True)
    profiles = make_profiles(pairings, files, judged, MOST_PROFILES)
    figures = key_figures(profiles, files, judged)
    yield ProfilesBlock(figures, make_data(profiles, files, judged, games))
    yield from agreement_blocks(judged.agreement, labels)
    if judged.decisions is not None and len(kinds := count_mistakes(judged.decisions)):
        caption = "Kinds of mistakes, of the costliest decisions of each bot"
        yield Table("mistakes", caption, MISTAKES.shown, Columns.of(kinds).rows(), folded=True)
