"""Compare two runs: how ratings, scores and win types differ from the first one, the base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from arena.differences.difference_columns import (
    RATING_CHANGES,
    SCORE_CHANGES,
    TOTAL_CHANGES,
    WIN_CHANGES,
)
from arena.entries.entry import Entry
from arena.statistics.common import CommonScale, Shared
from arena.statistics.counts import MISSING
from arena.statistics.cycles import Field
from arena.statistics.difference import Values, compare_means
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Estimate, are_significant
from arena.store.counting import PairGames, match
from arena.store.manifest import read_manifest
from arena.store.store import Store
from arena.tables.counted import ALL_PARTS, BOT_PARTS, SCORE
from arena.tables.table_columns import TableColumns
from arena.tables.win_tables import find_met, how_rated, make_field
from arena.tournament.rule_changes import deals_alike
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

_ESTIMATE = ["base", "other", "difference", "low", "high"]


SAME: Final = "same"
CHANGED: Final = "changed"
ONLY_BASE: Final = "only in the base"
ONLY_OTHER: Final = "only in the other run"


class MatchedBot(NamedTuple):
    """A bot's labels in the base and in the other run; None for the run without it.

    It is the `same` where the sha256 of its source and its parameters are equal, whatever its
    labels are. With one label and another identity it has `changed`.
    """

    base: str | None
    other: str | None
    status: str

    @property
    def name(self) -> str:
        """Both labels, or the one that there is."""
        if self.base is None or self.other is None or self.base == self.other:
            return self.base or self.other or ""
        return f"{self.base} / {self.other}"


def match_bots(base: Sequence[Entry], other: Sequence[Entry]) -> list[MatchedBot]:
    """Return the bots of both runs, those of the base first.

    A bot goes with the one of its label; without one, with the first that is the same.
    """
    theirs = {entry.label: entry for entry in other}
    named = {entry.label for entry in base}
    free = {entry.identity: entry.label for entry in reversed(other) if entry.label not in named}
    matched = []
    for entry in base:
        if named_so := theirs.get(entry.label):
            status = SAME if entry.identity == named_so.identity else CHANGED
            matched.append(MatchedBot(entry.label, entry.label, status))
        elif label := free.pop(entry.identity, None):
            matched.append(MatchedBot(entry.label, label, SAME))
        else:
            matched.append(MatchedBot(entry.label, None, ONLY_BASE))
    found = {one.other for one in matched}
    labels = [entry.label for entry in other if entry.label not in found]
    return [*matched, *(MatchedBot(None, label, ONLY_OTHER) for label in labels)]


class RunGames(NamedTuple):
    """A run: what it was to play, and its games."""

    tournament: Tournament
    store: Store

    @property
    def engine(self) -> str:
        """The sha256 of the engine that it was played with, empty if it is not known."""
        versions = read_manifest(self.store.manifest or "{}").get("versions")
        return str(versions.get("engine", "")) if isinstance(versions, dict) else ""


class Changes(NamedTuple):
    """What is different from the base to another run, as tables; differences are other less base.

    `ratings` are on the scale of the base, to which `scale`, the bots that are the same in both,
    bring those of the other run. Scores and win types are those of the pairings that both runs
    have. `sure` says of a difference that it is significant, corrected for all of its table
    (Benjamini and Hochberg 1995, at 5 %); it is None where nothing has changed but the luck.
    """

    bots: Sequence[MatchedBot]
    scale: Sequence[MatchedBot]
    ratings: pd.DataFrame
    head_to_head: pd.DataFrame
    win_types: pd.DataFrame
    totals: pd.DataFrame
    warnings: Sequence[str]

    @property
    def alone(self) -> Sequence[str]:
        """The bots that only one of the runs has: other opponents can change the Elo of a bot."""
        return [one.name for one in self.bots if one.base is None or one.other is None]

    @property
    def shared_deals(self) -> int:
        """How many deals both runs have played between the same two labels."""
        return int(self.head_to_head["shared_deals"].sum())

    @property
    def same_games(self) -> int:
        """How many games on these deals are the same move by move."""
        return int(self.head_to_head["same_games"].sum())


def find_changes(base: RunGames, other: RunGames) -> Changes:
    """Return what is different from the base to another run."""
    bots = match_bots(base.tournament.entries, other.tournament.entries)
    found = _Finder(base, other, bots)
    scale = found.scale()
    return Changes(
        bots,
        [one for one in bots if (one.base, one.other) in scale.same],
        found.ratings(scale),
        found.head_to_head(),
        found.win_types(),
        found.totals(),
        [*found.warnings(scale)],
    )


_Two: TypeAlias = tuple[MatchedBot, MatchedBot]


class _Met(NamedTuple):
    """A pairing that both runs have, and its finished pairs there as the first bot sees them.

    The first `shared` of both are pairs on the same deals; of their games so many are the same
    move by move.
    """

    bot: MatchedBot
    opponent: MatchedBot
    base: PairGames
    other: PairGames
    shared: int
    same_games: int

    @classmethod
    def of(cls, bots: _Two, base: PairGames, other: PairGames, *, same_deals: bool) -> _Met:
        """Return what two runs have finished of a pairing, the pairs of both first."""
        base, other = base.whole, other.whole
        one, two = match(base, other) if same_deals else (base.where([]), other.where([]))
        same = (one.games == two.games) & (one.actions == two.actions)
        first, second = (
            run.where(np.argsort(~np.isin(run.pair, one.pair), kind="stable"))
            for run in (base, other)
        )
        return cls(*bots, first, second, len(one.pair), int(same.sum()))

    def values(self, weights: Floats, *, turned: bool = False) -> Values:
        """Return a measure of every pair by the weights of endings; `turned`, of the opponent."""
        both = (games.turned if turned else games for games in (self.base, self.other))
        by_seat = np.broadcast_to(weights, (2, MISSING + 1))
        base, other = (by_seat[[0, 1], one.games].sum(axis=1) for one in both)
        return Values(base, other, self.shared)

    @property
    def bots(self) -> str:
        """Which of the two bots have changed."""
        changed = [one.name for one in (self.bot, self.opponent) if one.status != SAME]
        return "both changed" if len(changed) == 2 else f"{changed[0]} changed" if changed else SAME


class _Finder:
    """Two runs, and the pairings that both have."""

    def __init__(self, base: RunGames, other: RunGames, bots: Sequence[MatchedBot]) -> None:
        self.base, self.other, self.bots = base, other, bots
        has_same_rules = base.tournament.rules == other.tournament.rules
        self.is_same_game = has_same_rules and base.engine == other.engine
        self.met = [*self._meetings()]

    def _meetings(self) -> Iterator[_Met]:
        """Yield the pairings of which both runs have finished pairs, in the order of the base."""
        by_label = {one.base: one for one in self.bots if one.other is not None}
        theirs = {
            two: (number, turned)
            for number, pairing in enumerate(self.other.tournament.pairings)
            for turned, two in ((True, Pairing(*pairing[::-1])), (False, pairing))
        }
        for number, pairing in enumerate(self.base.tournament.pairings):
            bot, opponent = (by_label.get(label) for label in pairing)
            if not (bot and bot.other and opponent and opponent.other):
                continue
            if (named := Pairing(bot.other, opponent.other)) not in theirs:
                continue
            place, turned = theirs[named]
            own, other = self.base.store.read_pairs(number), self.other.store.read_pairs(place)
            same_deals = self._has_same_deals(pairing, self.other.tournament.pairings[place])
            met = _Met.of(
                (bot, opponent), own, other.turned if turned else other, same_deals=same_deals
            )
            if len(met.base.pair) and len(met.other.pair):
                yield met

    def _has_same_deals(self, pairing: Pairing, theirs: Pairing) -> bool:
        """Return whether pairs of one number are played on one deal with the same luck."""
        base, other = self.base.tournament, self.other.tournament
        return (
            base.seed == other.seed
            and deals_alike(base.rules, other.rules)
            and _first_deal(base, pairing) == _first_deal(other, theirs)
        )

    def scale(self) -> CommonScale:
        """Return the scale on which the ratings of both runs are."""
        base, other = (_make_field(run) for run in (self.base, self.other))
        same = [(one.base or "", one.other or "") for one in self.bots if one.status == SAME]
        return CommonScale(base, other, same, self._find_shared(base, other))

    def _find_shared(self, base: Field, other: Field) -> Iterator[Shared]:
        """Yield the pairs on the same deals whose bots are rated in both runs."""
        for met in self.met:
            one = _places(base, met.bot.base, met.opponent.base)
            two = _places(other, met.bot.other, met.opponent.other)
            if met.shared and one and two:
                x, y = (scores[: met.shared] for scores in met.values(2 * SCORE)[:2])
                sums = float(x.sum()), float(y.sum()), float(x @ y)
                yield Shared(one, two, met.shared, *sums)

    def ratings(self, scale: CommonScale) -> pd.DataFrame:
        """Return a row for each bot that the scale reaches in one of the runs."""
        rows = []
        for one in self.bots:
            elo = scale.base_elo(one.base or ""), scale.other_elo(one.other or "")
            found = scale.change(one.base or "", one.other or "")
            estimate = found.estimate if found else Estimate()
            is_untouched = self.is_same_game and one.status == SAME
            p_value = np.nan if is_untouched else estimate.p_value
            if elo != (None, None):
                rows.append((one.name, one.status, *elo, *estimate[:3], p_value))
        return _finish(rows, RATING_CHANGES, digits=1)

    def head_to_head(self) -> pd.DataFrame:
        """Return a row for each pairing that both runs have: the score of its first bot."""
        rows = []
        for met in self.met:
            pairs = len(met.base.pair), len(met.other.pair), met.shared, met.same_games
            cells = self._compare([met], [met.values(SCORE)])
            rows.append((met.bot.name, met.opponent.name, met.bots, *pairs, *cells))
        return _finish(rows, SCORE_CHANGES, digits=4)

    def win_types(self) -> pd.DataFrame:
        """Return rows for each bot: how its games end against the opponents of both runs."""
        rows = []
        for one in self.bots:
            met = [met for met in self.met if one in (met.bot, met.opponent)]
            for part, weights in BOT_PARTS.items():
                strata = [its.values(weights, turned=one is its.opponent) for its in met]
                if _occurs(strata):
                    cells = self._compare(met, strata)
                    rows.append((one.name, one.status, part, len(met), *cells))
        return _finish(rows, WIN_CHANGES, digits=4)

    def totals(self) -> pd.DataFrame:
        """Return rows for all games of the pairings that both runs have."""
        rows = []
        for part, weights in ALL_PARTS.items():
            strata = [met.values(weights) for met in self.met]
            if _occurs(strata):
                rows.append((part, len(strata), *self._compare(self.met, strata)))
        return _finish(rows, TOTAL_CHANGES, digits=4)

    def _compare(self, met: Sequence[_Met], strata: Sequence[Values]) -> tuple[float, ...]:
        """Return a share in both runs, the difference with its interval, and the p-value.

        The p-value is nan where nothing but luck can differ. The interval ends at -1 and 1.
        """
        base, other, estimate = compare_means(strata)
        value, low, high, _ = estimate
        is_untouched = self.is_same_game and all(its.bots == SAME for its in met)
        p_value = np.nan if is_untouched else estimate.p_value
        return base, other, value, max(-1.0, low), min(1.0, high), p_value

    def warnings(self, scale: CommonScale) -> Iterator[str]:
        """Yield why differences are not what they seem."""
        base, other = self.base.tournament, self.other.tournament
        if base.rules != other.rules:
            named = [_describe_rules(one) for one in (base, other)]
            yield (
                f"The rules differ: {named[0]} in the base, {named[1]} in the other run. What "
                "differs between the runs may come from the rules."
            )
        elif self.base.engine != self.other.engine:
            yield "The runs were played by different versions of the engine."
        if not any(one.status == SAME for one in self.bots):
            yield "No bot is the same in both runs, so their ratings cannot be compared."
        elif not scale.same:
            yield (
                "No bot that is the same in both runs is rated in both, so their ratings cannot "
                "be compared."
            )
        if not self.met:
            yield "The runs have no finished pairing in common, so no scores can be compared."


def _occurs(strata: Sequence[Values]) -> bool:
    """Return whether any pair of either run has something of a measure."""
    return any(values.base.any() or values.other.any() for values in strata)


def _places(field: Field, *two: str | None) -> tuple[int, int] | None:
    """Return the numbers of two bots in a field, None where one is not rated."""
    bot, opponent = (field.numbers.get(label or "") for label in two)
    return None if bot is None or opponent is None else (bot, opponent)


def _first_deal(tournament: Tournament, pairing: Pairing) -> tuple[list[str], int, list[str]]:
    """Return what decides the deal and the luck of a pairing's first pair, beside the seed."""
    drawn = tournament.drawn(Fixture(pairing, 0, 0))
    return sorted(drawn.pairing), drawn.pair, [*tournament.deals]


def _make_field(run: RunGames) -> Field:
    """Return the rated bots of a run, as in its standings."""
    tournament, counts = run.tournament, run.store.count()
    met = find_met(tournament.pairings, tournament.labels, counts)
    how = how_rated(tournament, counts)
    return make_field(tournament.pairings, met, counts, tournament.anchored, (), **how)


def _describe_rules(tournament: Tournament) -> str:
    changes = tournament.rules.changes()
    return ", ".join(f"{name}={value}" for name, value in changes.items()) or "the published ones"


def _finish(rows: Sequence[tuple[object, ...]], of: TableColumns, digits: int) -> pd.DataFrame:
    """Return a table whose last column, the p-value, has become a verdict for the whole table."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=of.names)
    p_values = table["sure"].to_numpy(float)
    table[_ESTIMATE] = table[_ESTIMATE].astype(float).round(digits) + 0.0
    sure = are_significant(p_values, *(table[end].to_numpy(float) for end in ("low", "high")))
    tested = zip(np.isnan(p_values), sure.tolist(), strict=True)
    table["sure"] = [None if unknown else one for unknown, one in tested]
    return table
