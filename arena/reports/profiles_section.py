"""Make the section of a report on single bots: profiles and key figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Final

import numpy as np

from arena.differences.profiles import MOST_BESIDE, Files, Profiles, make_profiles
from arena.reports.blocks import (
    Block,
    Cell,
    Section,
    Table,
    Text,
)
from arena.reports.blocks import Profiles as ProfilesBlock
from arena.reports.charts import plain_rows
from arena.reports.profile_data import Games, make_data, order_by_residual, write_change
from arena.reports.seat_section import CARD_NAMES
from arena.store.columns import Columns
from arena.tables.losses import (
    MISTAKES,
    JudgedTables,
    choose_opponent,
    count_mistakes,
)
from arena.tables.table_columns import MEAN_END, Column, interval
from arena.tournament.schedule import Pairing

if TYPE_CHECKING:
    pass

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
        yield Text([f"Left out: {judged.left_out}."], warning=True)
    profiles = make_profiles(pairings, files, judged, MOST_PROFILES)
    figures = key_figures(profiles, files, judged)
    yield ProfilesBlock(figures, make_data(profiles, files, judged, games))
    if judged.decisions is not None and len(kinds := count_mistakes(judged.decisions)):
        caption = "Kinds of mistakes, of the costliest decisions of each bot"
        yield Table("mistakes", caption, MISTAKES.shown, Columns.of(kinds).rows(), folded=True)
