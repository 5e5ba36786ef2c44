"""Rate the bots of several lists of games together.

The unit is a pair of games, as in a run. A single game is a unit of its own: it counts as a pair of
two equal results, which says no more than one result. As errors come from how units differ, such
games have the errors of independent games. A single game weighs as much in the ratings as a pair.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256 as sha256_of
from itertools import combinations, repeat
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from arena.entries.entry import Identity
from arena.errors import InputError, counted, name_some
from arena.statistics.counts import BY_RULE, MISSING, RESULTS, Faults
from arena.statistics.counts import WIN_TYPES as ENDINGS
from arena.statistics.intervals import Bools, Ints
from arena.store.column_titles import LOSS_COLUMNS, WIN_TYPE_TABLE, WIN_TYPES
from arena.store.columns import EMPTY, Columns
from arena.store.counting import HALVES, Counts, add_up
from arena.store.listed_games import FAULTS, UNKNOWN, GameList
from arena.tables.headline import Headline, find_headline
from arena.tables.win_tables import Tables
from arena.tournament.config_keys import Anchored, read_anchors
from arena.tournament.schedule import Pairing

_DRAWN = RESULTS - 1
_POINTS, _DRAW, _FORFEIT = map(ENDINGS.index, ("points", "draw", "forfeit"))
_SHORT = 6  # digits of a hash
_NO_PARAMS = "{}"
_ENOUGH: Final = 12
"""Games that two lists have in common, after which it is no chance that none differs."""

_TWO: Final = ["bot", "opponent", "seat"]
_END: Final = ["result", "win_type", "margin"]


class RatedLists(NamedTuple):
    """The ratings of the bots of some lists of games, with their tables and notes.

    `names` are the names of each list's bots here, by label; `units` are the numbers of pairs and
    of single games. `notes` say which bots were joined or separated, which games were left out,
    and whose games lack a win type: the tables have none for these bots.
    """

    tables: Tables
    counts: Counts
    names: Sequence[Mapping[str, str]]
    units: tuple[int, int]
    notes: Sequence[str]

    @property
    def headline(self) -> Headline:
        """The findings on the bots."""
        tables, found = self.tables, self.tables.findings
        left_out = [one for one in tables.order if one not in tables.judged.numbers]
        misfits = len(found.misfits), found.tested
        return find_headline(tables.judged, misfits, left_out=left_out)

    @property
    def extent(self) -> str:
        """The numbers of games, pairs and single games as text."""
        parts = [counted(n, what) for n, what in zip(self.units, _UNITS, strict=True) if n]
        games = counted(self.counts.total, "game")
        return f"{games} of {counted(len(self.tables.standings), 'bot')}: {' and '.join(parts)}"


_UNITS = "pair", "single game"


def rate_lists(
    lists: Sequence[GameList], anchor: Anchored = "", *, by_list: bool = False
) -> RatedLists:
    """Return the ratings of the bots of some lists; the bots are named as by `name_bots`.

    Raises InputError if there are no games, if a pair has more than two, and for an unknown anchor.
    """
    names, notes = name_bots(lists, by_list=by_list)
    games = _drop(_join(lists, names), lists, notes)
    if games.empty:
        raise InputError(f"{', '.join(one.name for one in lists)}: no game of two bots")
    met = [*dict.fromkeys(games[["bot", "opponent"]].to_numpy().ravel())]
    pairings = [Pairing(*two) for two in games[["bot", "opponent"]].drop_duplicates().to_numpy()]
    counts, pairs = _count(games)
    how = {"even": all(one.even for one in lists), "looks": any(one.looks for one in lists)}
    tables = Tables(pairings, met, counts, read_anchors(anchor, met), **how)
    untyped = games[(games["win_type"] == UNKNOWN) & (games["result"] != _DRAWN)]
    if len(untyped):
        whose = {*untyped[["bot", "opponent"]].to_numpy().ravel()}
        some = f" of {name_some([one for one in met if one in whose])}"
        who = f"games{some if len(whose) < len(met) else ''}"
        why = f"{len(untyped):,} of {len(games):,} have no win_type"
        notes.append(f"no table says how {who} were won: {why}")
    _blank(tables, untyped, games[games["margin"].isna()], games["seat"])
    return RatedLists(tables, counts, names, (pairs, len(games) - 2 * pairs), notes)


def name_bots(
    lists: Sequence[GameList], *, by_list: bool = False
) -> tuple[list[dict[str, str]], list[str]]:
    """Return the name of the bot of each label, for each list, and notes on the names.

    One identity is one bot, named by the first of its labels. A label that several identities share
    is followed by the beginning of the hash; `by_list` it stands for the first of them, and the
    others are label@list. A label without an identity stands for the bot with that label.
    """
    labels: dict[Identity, dict[str, str]] = defaultdict(dict)
    identities: dict[str, list[Identity]] = defaultdict(list)
    for games in lists:
        for label, identity in games.identities.items():
            labels[identity].setdefault(label, games.name)
            identities[label].append(identity)
    shown, notes = _name_identities(labels, by_list=by_list)
    names = []
    for games in lists:
        own = {label: shown[identity] for label, identity in games.identities.items()}
        for label in find_labels(games):
            known = [*dict.fromkeys(shown[identity] for identity in identities[label])]
            if label not in own and len(known) > 1:
                notes.append(f"{games.name}: {label} may be {' or '.join(known)}: it has no sha256")
            own.setdefault(label, known[0] if len(known) == 1 else f"{label}#?" if known else label)
        names.append(own)
    return names, notes


def _name_identities(
    labels: Mapping[Identity, Mapping[str, str]], *, by_list: bool
) -> tuple[dict[Identity, str], list[str]]:
    """Return the name of the bot of each identity, and notes on the names."""
    number = Counter(label for label, *_ in labels.values())
    shown: dict[Identity, str] = {}
    notes = []
    for identity, homes in labels.items():
        label, *others = homes
        sha256, params = identity
        mark = sha256 if params == _NO_PARAMS else sha256_of("".join(identity).encode()).hexdigest()
        name = f"{label}#{mark[:_SHORT]}" if number[label] > 1 and not by_list else label
        while by_list and name in shown.values():
            name = f"{name}@{homes[label]}"
        shown[identity] = name
        if others:
            alike = " and ".join([label, *others])
            notes.append(f"{alike} are one bot, by its sha256: {shown[identity]}")
        if number[label] > 1:
            what = f"sha256 {sha256[:_SHORT]}... and parameters {params}"
            notes.append(f"{shown[identity]} is the bot called {label} with {what}")
    return shown, notes


def find_labels(games: GameList) -> list[str]:
    """Return the labels of the bots of a list, in the order of its games."""
    return [*dict.fromkeys(games.games[["bot", "opponent"]].drop_duplicates().to_numpy().ravel())]


def _number(*columns: Any) -> Ints:
    """Return the number of each row of some columns: equal rows share one, the first has 0."""
    codes = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        own, cells = pd.factorize(column)
        codes = pd.factorize(codes * len(cells) + own)[0]
    return codes


def _join(lists: Sequence[GameList], names: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return the games of all lists, each from the side of the bot that the lists name first.

    Games of one `pairing` and one `deal` are a pair; without a deal it is UNKNOWN.
    """
    parts = []
    for number, (own, by_label) in enumerate(zip(lists, names, strict=True)):
        games = own.games.assign(list=number, source=own.source)
        for column, label in (("bot", "label"), ("opponent", "other")):
            games[label] = games[column]
            games[column] = games[label].map(by_label)
        parts.append(games)
    games = pd.concat(parts, ignore_index=True)
    bots = pd.factorize(games[["bot", "opponent"]].to_numpy().ravel())[0].reshape(-1, 2)
    turned = bots[:, 0] > bots[:, 1]
    for one, two in (("bot", "opponent"), ("label", "other")):
        games.loc[turned, [one, two]] = games.loc[turned, [two, one]].to_numpy()
    decided = games["result"] != _DRAWN
    games["result"] = games["result"].mask(turned & decided, 1 - games["result"])
    games["seat"] = games["seat"].mask(turned & (games["seat"] != UNKNOWN), 1 - games["seat"])
    games["margin"] = games["margin"].mask(turned, -games["margin"])
    deal = _number(*(games[name] for name in ("source", "pair", "label", "other")))
    games["deal"] = np.where(games["pair"] == "", UNKNOWN, deal)
    return games


def _drop(games: pd.DataFrame, lists: Sequence[GameList], notes: list[str]) -> pd.DataFrame:
    """Return the games without the unusable ones, which are mentioned in the notes.

    `pairing` is then the number of their two bots, and `unit` that of their pair, or their own.
    Raises InputError for a pair with a third game.
    """
    if len({one.rules for one in lists if one.rules}) > 1:
        notes.append("the runs have different rules, and are rated as if they were the same")
    for one in lists:
        if one.left_out:
            notes.append(f"{one.name}: not finished: {counted(one.left_out, 'game')}, left out")
    same = games["bot"] == games["opponent"]
    if same.any():
        named = ", ".join(games.loc[same, "bot"].unique())
        notes.append(f"{counted(int(same.sum()), 'game')} of {named} with itself left out")
    games = games[~same].reset_index(drop=True)
    placed = (games["deal"] != UNKNOWN) & (games["seat"] != UNKNOWN)
    again = placed & games.duplicated(["deal", "seat", "bot", "opponent"])
    plain = games["list"].map(lambda number: lists[number].source == lists[number].name)
    _refuse(games, lists, again & plain, "a game with this seat")
    if again.any():
        twice = counted(int(again.sum()), "game")
        notes.append(f"{twice} there twice, by seed and pair: counted once")
    games = games[~again].reset_index(drop=True)
    games = games[~_find_same(games, lists, notes)].reset_index(drop=True)
    games["pairing"] = _number(games["bot"], games["opponent"])
    alone = games["deal"] == UNKNOWN
    games["unit"] = _number(alone, games["deal"].mask(alone, games.index), games["pairing"])
    _refuse(games, lists, games.groupby("unit").cumcount() > 1, "two games")
    return games


def _find_same(games: pd.DataFrame, lists: Sequence[GameList], notes: list[str]) -> Bools:
    """Return which of the games an earlier list has, too; the notes name both lists.

    `games` are those of all lists, joined.
    """
    again = np.zeros(len(games), bool)
    numbers = games["list"].to_numpy()
    for one, other in combinations(range(len(lists)), 2):
        first, second = games[numbers == one], games[(numbers == other) & ~again]
        same = _find_in(first, second, [lists[one], lists[other]])
        if len(same):
            again[same] = True
            names = f"{lists[other].name}: {counted(len(same), 'game')} of {lists[one].name}"
            notes.append(f"{names} there again: counted once")
    return again


def _find_in(first: pd.DataFrame, second: pd.DataFrame, lists: Sequence[GameList]) -> Any:
    """Return the places of the games of a list that an earlier list has."""
    dealt = [games[games["cards"] != ""] for games in (first, second)]
    if not any(games.empty for games in dealt) and lists[0].source != lists[1].source:
        return _match(dealt, ["cards", *_TWO, *_END])
    if all(one.source != one.name for one in lists):  # known by seed and pair, or by the deal
        return []
    numbered = [
        games[(games["pair"] != "") & (games["seat"] != UNKNOWN)] for games in (first, second)
    ]
    met = _match(numbered, ["pair", *_TWO])
    if len(met) >= _ENOUGH:
        same = _match(numbered, ["pair", *_TWO, *_END])
        return same if len(same) == len(met) else []
    plain = [games[["pair", *_TWO, *_END]].reset_index(drop=True) for games in (first, second)]
    return second.index if len(second) >= _ENOUGH and plain[0].equals(plain[1]) else []


def _match(both: Sequence[pd.DataFrame], columns: list[str]) -> Any:
    """Return the places of the second games whose columns are those of a first game."""
    known, asked = (
        pd.MultiIndex.from_frame(games[columns].fillna({"margin": np.inf})) for games in both
    )
    return both[1].index[asked.isin(known)]


def _refuse(games: pd.DataFrame, lists: Sequence[GameList], wrong: Any, why: str) -> None:
    """Raise InputError if some games are `wrong`; the message names the first of them."""
    for number, row, pair in games.loc[wrong, ["list", "row", "pair"]].head(1).to_numpy():
        place = f"{lists[number].name}: row {row}"
        raise InputError(f"{place}: pair {pair!r} of these two has {why} already")


def _count(games: pd.DataFrame) -> tuple[Counts, int]:
    """Return the counts of games, and how many pairs there are."""
    games = games.assign(place=games["seat"].mask(games["seat"] == UNKNOWN, RESULTS))
    games = games.sort_values(["unit", "place"], kind="stable")
    first = games.groupby("unit")["seat"].transform("first").clip(lower=0)
    at = games["unit"], first.mask(games["unit"].duplicated(), 1 - first)
    win_type = games["win_type"].mask(games["win_type"] == UNKNOWN, _POINTS)
    win_type = win_type.mask(games["result"] == _DRAWN, _DRAW)
    shape = int(games["unit"].max()) + 1, 2
    pairing = np.zeros(shape[0], int)
    ends, forfeits, margins = np.full(shape, MISSING), np.zeros(shape, int), np.zeros(shape, int)
    pairing[games["unit"]] = games["pairing"]
    ends[at] = win_type * RESULTS + games["result"]
    forfeits[at] = (win_type == _FORFEIT).astype(int) + (games["fault"] == FAULTS.index(BY_RULE))
    margins[at] = games["margin"].fillna(0)
    each = Counts.of(
        pairing=pairing, games=ends, forfeits=forfeits, pairs=np.ones_like(pairing), margins=margins
    )
    faulty = games[(games["fault"] > 0) & (games["result"] != _DRAWN)]
    lost = Counter(zip(faulty["pairing"], 1 - faulty["result"], faulty["fault"], strict=True))
    faults = [Faults(one, loser, FAULTS[of], n) for (one, loser, of), n in sorted(lost.items())]
    played = each.played
    halves = HALVES[played.games].sum(axis=1) << (played.games == MISSING).any(axis=1)
    counts = replace(add_up([each]), faults=faults, sequence=(played.pairing, halves))
    return counts, int((ends != MISSING).all(axis=1).sum())


def _blank(tables: Tables, untyped: pd.DataFrame, unscored: pd.DataFrame, seats: Any) -> None:
    """Empty the cells of tables for what games of a bot lack: win types, margins, seats."""
    types = *(f"{name}_wins" for name in WIN_TYPES), *LOSS_COLUMNS.values()
    changed: dict[str, Any] = {}
    for name in ("standings", "head_to_head", "win_types"):
        table: Columns = getattr(tables, name)
        for games, unknown in ((untyped, types), (unscored, ["mean_margin"])):
            met = {*map(frozenset, games[["bot", "opponent"]].to_numpy())}
            if name != "head_to_head":
                met = {frozenset([label]) for two in met for label in two}
            rows = table.rows(["bot", "opponent"][: 1 + (name == "head_to_head")])
            lacks = np.array([frozenset(row) in met for row in rows], np.bool_)
            own = {one: table[one] for one in unknown if one in table.names}
            blank = (EMPTY if cells.dtype.kind == "i" else np.nan for cells in own.values())
            cells = map(np.where, repeat(lacks), blank, own.values())
            table = table.put(**dict(zip(own, cells, strict=True)))
        changed[name] = table
    if (seats == UNKNOWN).any():
        of_bots = WIN_TYPE_TABLE.frame(changed["win_types"]).groupby("bot", as_index=False)
        own_rows = of_bots.sum(min_count=1).assign(seat=math.nan)
        changed["win_types"] = Columns.of(own_rows[WIN_TYPE_TABLE.names])
    vars(tables).update(changed)
