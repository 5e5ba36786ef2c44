"""Rate the bots of several lists of games together.

A pair of games is a unit, as in a run. A game without a pair is a unit by itself: it counts as a
pair whose two games went alike, because the second game of such a pair tells nothing new. As
errors come from how units differ, such games have the errors of independent games. A single game
weighs as much in the ratings as a pair.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256 as sha256_of
from itertools import chain, count
from typing import Any

import numpy as np
import pandas as pd

from arena.entries.entry import Identity
from arena.errors import InputError, counted
from arena.insight.headline import find_headline
from arena.insight.run_files import Tables, make_tables
from arena.insight.table_columns import LOSS_COLUMNS, WIN_TYPES
from arena.lanes.faults import BY_RULE
from arena.statistics.counts import MISSING, RESULTS, Faults
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.store.counting import Counts, Ints, add_up
from arena.store.listed_games import FAULTS, UNKNOWN, GameList
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import read_anchor

_KEYS = ["deal", "seat", "pairing"]
_POINTS, _DRAW, _FORFEIT = map(ENDINGS.index, ("points", "draw", "forfeit"))
_SHORT = 6  # digits of a hash
_NO_PARAMS = "{}"


@dataclass(frozen=True)
class RatedLists:
    """What some lists of games add up to.

    `names` are what the bots of each list are called here, by label; `units` how many pairs and how
    many single games there are. `is_typed` says whether it is known how all games were won,
    `is_seated` who began, and `notes` what has been joined, parted or left out.
    """

    tables: Tables
    counts: Counts
    names: Sequence[Mapping[str, str]]
    units: tuple[int, int]
    is_typed: bool
    is_seated: bool
    notes: Sequence[str]

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by the names of their files."""
        found = {one.name: getattr(self.tables, one.name) for one in fields(self.tables)}
        return {name: one for name, one in found.items() if isinstance(one, pd.DataFrame)}

    @property
    def headline(self) -> str:
        """What may be said of the bots, in a few sentences."""
        tables, found = self.tables, self.tables.findings
        left_out = [one for one in tables.standings["bot"] if one not in tables.judged.numbers]
        misfits = len(found.misfits), found.tested
        said = find_headline(tables.judged, tables.superiority, misfits, left_out=left_out)
        return " ".join(said.sentences())

    @property
    def extent(self) -> str:
        """How many games there are of which units."""
        parts = [counted(n, what) for n, what in zip(self.units, _UNITS, strict=True) if n]
        games = counted(self.counts.total, "game")
        return f"{games} of {counted(len(self.tables.standings), 'bot')}: {' and '.join(parts)}"


_UNITS = "pair", "single game"


def rate_lists(
    lists: Sequence[GameList], anchor: str | Mapping[str, float] = "", error: float = 0.0
) -> RatedLists:
    """Return the ratings of the bots of some lists, where the bots' names are those of `name_bots`.

    The anchor's own Elo is known but for an `error`, half of its 95 % interval. Raises InputError
    where there is no game, where a pair has more than two, and for an unknown anchor.
    """
    names, notes = name_bots(lists)
    labels: dict[str, int] = defaultdict(count().__next__)
    joined = _join(lists, names, labels)
    named = [*labels]
    games = _drop(joined, lists, named, notes)
    if games.empty:
        raise InputError(f"{', '.join(one.name for one in lists)}: no game of two bots")
    numbers = np.unique(games["pairing"])
    games["pairing"] = np.searchsorted(numbers, games["pairing"])
    pairings = [Pairing(*(named[n] for n in divmod(two, len(named)))) for two in numbers.tolist()]
    counts, pairs = _count(games, lists)
    met = [*dict.fromkeys(sorted(chain.from_iterable(pairings), key=labels.__getitem__))]
    fixed = read_anchor(anchor, met)
    tables = make_tables(pairings, met, counts, fixed)
    if fixed and tables.findings.anchored:
        tables = _widen(tables, fixed.bot, error)
    untyped = int(((games["win_type"] == UNKNOWN) & (games["winner"] != UNKNOWN)).sum())
    if untyped:
        notes.append(
            f"no table says how games were won: {untyped:,} of {len(games):,} have no win_type"
        )
    known = not untyped, not (games["seat"] == UNKNOWN).any()
    tables = _blank(tables, *known, is_scored=bool(games["scored"].all()))
    units = pairs, len(games) - 2 * pairs
    return RatedLists(tables, counts, names, units, *known, notes)


def name_bots(lists: Sequence[GameList]) -> tuple[list[dict[str, str]], list[str]]:
    """Return what the bot of each label is called, for each list; and what is to be said of that.

    One identity is one bot, called by the first of its labels. A label of several identities has
    the beginning of the hash after it. A label without an identity is the bot of that label.
    """
    shown, notes = _name_identities(lists)
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for games in lists:
        for label, identity in games.identities.items():
            named[label][shown[identity]] = None
    names = []
    for games in lists:
        own = {label: shown[identity] for label, identity in games.identities.items()}
        for label in games.labels:
            known = [*named[label]]
            if label not in own and len(known) > 1:
                notes.append(f"{games.name}: {label} may be {' or '.join(known)}: it has no sha256")
            own.setdefault(label, known[0] if len(known) == 1 else f"{label}#?" if known else label)
        names.append(own)
    return names, notes


def _name_identities(lists: Sequence[GameList]) -> tuple[dict[Identity, str], list[str]]:
    """Return what the bot of each identity is called, and what is to be said of that."""
    labels: dict[Identity, dict[str, None]] = defaultdict(dict)
    for games in lists:
        for label, identity in games.identities.items():
            labels[identity][label] = None
    first = {identity: next(iter(own)) for identity, own in labels.items()}
    number = Counter(first.values())
    shown, notes = {}, []
    for identity, label in first.items():
        sha256, params = identity
        mark = sha256 if params == _NO_PARAMS else sha256_of("".join(identity).encode()).hexdigest()
        shown[identity] = f"{label}#{mark[:_SHORT]}" if number[label] > 1 else label
        if len(labels[identity]) > 1:
            alike = " and ".join(labels[identity])
            notes.append(f"{alike} are one bot, by its sha256: {shown[identity]}")
        if number[label] > 1:
            what = f"sha256 {sha256[:_SHORT]}... and parameters {params}"
            notes.append(f"{shown[identity]} is the bot called {label} with {what}")
    return shown, notes


def _number(*columns: Any) -> Ints:
    """Return a number for each different row of some columns of numbers, which are not below 0."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in map(np.asarray, columns):
        codes = pd.factorize(codes * (int(column.max(initial=0)) + 1) + column)[0]
    return codes


def _join(
    lists: Sequence[GameList], names: Sequence[Mapping[str, str]], labels: dict[str, int]
) -> pd.DataFrame:
    """Return the games of all lists, each as the bot that comes first in `labels` sees it.

    `pairing` is the number of that bot times the number of bots, plus that of the other one.
    """
    number_deal = count().__next__
    deals = defaultdict[str, dict[str, int]](lambda: defaultdict(number_deal, {"": UNKNOWN}))
    words: dict[str, int] = defaultdict(count().__next__)
    parts = []
    for number, games in enumerate(lists):
        own = np.array([labels[names[number][label]] for label in games.labels], np.int64)
        part = pd.DataFrame(dict(games.columns)).assign(list=number)
        bot, opponent = own[part["bot"]], own[part["opponent"]]
        turned = bot > opponent
        won, lost = (part["winner"] == part[one] for one in ("bot", "opponent"))
        part["result"] = np.where(won | lost, won == turned, RESULTS - 1)
        part["seat"] = part["seat"].mask(turned & (part["seat"] >= 0), 1 - part["seat"])
        part["margin"] = part["margin"].mask(turned, -part["margin"])
        of_deal = np.array([*map(deals[games.source].__getitem__, games.pairs)], np.int64)
        of_word = np.array([words[label] for label in games.labels], np.int64)
        two = np.sort(np.stack([of_word[part["bot"]], of_word[part["opponent"]]]), axis=0)
        part = part.assign(deal=of_deal[part["pair"]], one=two[0], other=two[1])
        part["bot"], part["opponent"] = np.minimum(bot, opponent), np.maximum(bot, opponent)
        parts.append(part)
    joined = pd.concat(parts, ignore_index=True)
    known = joined["deal"] != UNKNOWN
    deal = _number(*(joined[name].to_numpy() for name in ("one", "other")), joined["deal"] + 1)
    pairing = joined["bot"] * len(labels) + joined["opponent"]
    return joined.assign(deal=np.where(known, deal, UNKNOWN), pairing=pairing)


def _drop(
    games: pd.DataFrame, lists: Sequence[GameList], labels: Sequence[str], notes: list[str]
) -> pd.DataFrame:
    """Return the games without those that say nothing, which are added to the notes.

    Raises InputError for a pair of a plain list that has two games in one seat.
    """
    if len({one.rules for one in lists if one.rules}) > 1:
        notes.append("the runs have different rules, and are rated as if they were the same")
    for one in lists:
        if one.left_out:
            notes.append(f"{one.name}: not finished: {counted(one.left_out, 'game')}, left out")
    same = games["bot"] == games["opponent"]
    if same.any():
        named = ", ".join(labels[bot] for bot in games.loc[same, "bot"].unique())
        notes.append(f"{counted(int(same.sum()), 'game')} of {named} with itself left out")
    placed = ~same & (games["deal"] != UNKNOWN) & (games["seat"] != UNKNOWN)
    again = placed & games.duplicated(_KEYS)
    plain = games["list"].isin([n for n, one in enumerate(lists) if one.source == one.name])
    _refuse(games, lists, again & plain, "a game with this seat")
    if again.any():
        notes.append(
            f"{counted(int(again.sum()), 'game')} there twice, by seed and pair: counted once"
        )
    return games[~same & ~again].reset_index(drop=True)


def _refuse(games: pd.DataFrame, lists: Sequence[GameList], wrong: Any, why: str) -> None:
    """Raise InputError if games are one too many of their pair; it names the first one."""
    for _, game in games[wrong].head(1).iterrows():
        own = lists[game["list"]]
        pair = own.pairs[game["pair"]]
        raise InputError(
            f"{own.name}: row {game['row']}: pair {pair!r} of these two has {why} already"
        )


def _count(games: pd.DataFrame, lists: Sequence[GameList]) -> tuple[Counts, int]:
    """Return the counts of games, and how many pairs there are."""
    alone = games["deal"] == UNKNOWN
    unit = _number(alone, games["deal"].where(~alone, np.arange(len(games))), games["pairing"])
    seat = games["seat"].to_numpy()
    order = np.lexsort((np.where(seat == UNKNOWN, RESULTS, seat), unit))
    games, unit, seat = games.iloc[order], unit[order], seat[order]
    starts = np.flatnonzero(np.diff(unit, prepend=UNKNOWN))
    place = np.arange(len(unit)) - np.repeat(starts, np.diff(starts, append=len(unit)))
    _refuse(games, lists, place > 1, "two games")
    first = np.maximum(seat[starts], 0)[unit]  # where the first game of the unit is
    at = unit, np.where(place == 0, first, 1 - first)
    win_type = games["win_type"].where(games["win_type"] != UNKNOWN, _POINTS)
    win_type = win_type.where(games["winner"] != UNKNOWN, _DRAW)
    shape = len(starts), 2
    ends, forfeits, margins = np.full(shape, MISSING), np.zeros(shape, int), np.zeros(shape, int)
    ends[at] = win_type * RESULTS + games["result"]
    forfeits[at] = (win_type == _FORFEIT).astype(int) + (games["fault"] == FAULTS.index(BY_RULE))
    margins[at] = games["margin"]
    pairing = games["pairing"].to_numpy()[starts]
    keys = [np.zeros(len(starts), int), pairing, ends, forfeits, np.ones(len(starts), int)]
    rows = np.column_stack([*keys, margins, margins**2, margins.prod(axis=1)])
    faulty = games[(games["fault"] > 0) & (games["winner"] != UNKNOWN)]
    lost = Counter(zip(faulty["pairing"], 1 - faulty["result"], faulty["fault"], strict=True))
    faults = [Faults(one, loser, FAULTS[of], n) for (one, loser, of), n in sorted(lost.items())]
    counts = replace(add_up([Counts.of(rows)]), faults=faults)
    return counts, int((ends != MISSING).all(axis=1).sum())


def _widen(tables: Tables, anchor: str, error: float) -> Tables:
    """Return tables whose intervals also have the error of the anchor's own Elo."""
    group = next(group for group in tables.findings.groups if anchor in group)
    table = tables.standings.copy()
    on_scale = table["bot"].isin(group)
    for end, sign in (("elo_low", -1), ("elo_high", 1)):
        wider = table["elo"] + sign * np.hypot(table[end] - table["elo"], error)
        table[end] = table[end].mask(on_scale, wider.round(1))
    ends = table.astype(object).where(table.notna(), None).set_index("bot")[["elo_low", "elo_high"]]
    unbounded = [
        replace(one, elo_low=ends["elo_low"][one.bot], elo_high=ends["elo_high"][one.bot])
        for one in tables.findings.unbounded
    ]
    return replace(tables, standings=table, findings=replace(tables.findings, unbounded=unbounded))


def _blank(tables: Tables, is_typed: bool, is_seated: bool, *, is_scored: bool) -> Tables:
    """Return tables without what the lists do not say: win types, seats, margins."""
    types = [*(f"{name}_wins" for name in WIN_TYPES), *LOSS_COLUMNS.values()] * (not is_typed)
    margin = ["mean_margin"] * (not is_scored)
    changed: dict[str, Any] = {}
    for name in ("standings", "head_to_head", "win_types"):
        table = getattr(tables, name).copy()
        table[table.columns.intersection([*types, *margin])] = math.nan
        changed[name] = table
    if not is_seated:
        own = changed["win_types"].groupby("bot", as_index=False).sum(min_count=1)
        changed["win_types"] = own.assign(seat=math.nan)
    return replace(tables, **changed)
