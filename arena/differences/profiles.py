"""Make the tables of a run from its store, and the profiles of its bots from these.

A profile has for each measure the bot's value over all its games, with its 95 % interval. Two bots
side by side are compared against their common opponents, which all weigh the same. The exception is
the measure of what cards add: it is estimated from all games of a bot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, product
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from arena.differences.comparison import (
    SprtResult,
    comparison_writers,
    judge_compared,
    make_comparison,
)
from arena.differences.lead_parts import LeadParts, make_lead_parts
from arena.statistics.common import (
    Against,
    Compared,
    compare,
    join,
    means_against,
    shares_against,
    subtract,
)
from arena.statistics.distributions import Floats
from arena.statistics.intervals import Bools, Estimates, Ints, Moments, are_significant
from arena.store import csv_files as rows
from arena.store.columns import Columns, match_rows
from arena.store.counting import Counts
from arena.store.csv_files import csv_writer, make_timings
from arena.store.folder import GAMES, INDEX, MANIFEST, WINS, Writer, write_index
from arena.store.manifest import manifest_text
from arena.store.store import Store
from arena.tables.counted import (
    BROUGHT,
    PARTS,
    count_endings,
    group_bots,
    number_sides,
)
from arena.tables.losses import JudgedTables, losses_against
from arena.tables.parts_of_field import make_city_winners
from arena.tables.win_tables import (
    Tables,
    WinTables,
    count_pairs,
    make_tables,
    make_win_tables,
    rank_bots,
)
from arena.tournament.replay_command import replay_commands
from arena.tournament.schedule import Pairing
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import TAKE
from engine.cards import CHARS

_MOST_PARTS = 25
_MOST_COUNTED = 20_000  # pairings in parts: the counts have about 20 rows for each


@dataclass(frozen=True)
class RunTables(Tables):
    """The tables of a run, and its `comparison` if it is one."""

    city_winners: Columns
    comparison: SprtResult | None = None


@dataclass(frozen=True)
class Files:
    """The tables of a run, what they were made of, and a writer for each file, by its name.

    `wins` makes the tables of how games were won when it is first called, and `lead_parts` the
    parts of the lead of a comparison.
    """

    tables: RunTables
    counts: Counts
    wins: Callable[[], WinTables]
    writers: Mapping[str, Writer]
    lead_parts: Callable[[], LeadParts] = LeadParts


def make_files(
    tournament: Tournament,
    store: Store,
    grown: Callable[[Counts], WinTables | None] = lambda _: None,
) -> Files:
    """Return the files of a run whose games are all in the store.

    `grown` returns the tables of how they were won if these were made while they were played.
    """
    pairings = tournament.pairings
    # in parts, so that it can be seen how ratings settled
    counts = store.count(max(1, min(_MOST_PARTS, _MOST_COUNTED // len(pairings))))
    made = tables_of(tournament, counts, store)
    command = replay_commands(tournament)

    @cache
    def wins() -> WinTables:
        return grown(counts) or make_win_tables(tournament, counts, store.records)

    def write_wins(name: str) -> Writer:
        return lambda file: csv_writer(getattr(wins(), name))(file)

    writers: dict[str, Writer] = {
        GAMES: lambda file: rows.write_games(file, store.game_lines(pairings)),
        **{f"{name}.csv": csv_writer(table) for name, table in made.by_name.items()},
        "faults.csv": lambda file: rows.write_faults(file, store.all_forfeits(pairings), command),
        **{f"{name}.csv": write_wins(name) for name in WINS},
        INDEX: write_index,
    }
    manifest = manifest_text(tournament.manifest())
    writers[MANIFEST] = lambda file: file.write(manifest)
    if not (comparison := made.comparison):
        return Files(made, counts, wins, writers)

    @cache
    def lead_parts() -> LeadParts:
        return make_lead_parts(tournament, store, comparison.lead, comparison.out)

    writers |= comparison_writers(comparison, lead_parts)
    return Files(made, counts, wins, writers, lead_parts)


def tables_of(tournament: Tournament, counts: Counts, store: Store) -> RunTables:
    """Return the tables of a tournament's games that are counted, all of the store."""
    made = make_tables(tournament.pairings, counts, rank_bots(tournament, counts))
    winners = make_city_winners(tournament.pairings, made.order, counts)
    if not (stop := tournament.comparison):
        return RunTables(**vars(made), city_winners=winners)
    found = make_comparison(tournament, stop, store, counts, made.verdicts)
    verdicts = judge_compared(made.verdicts, found)
    groups = group_bots(made.order, made.judged.labels, verdicts.rows())
    standings = made.standings.put(group=np.array(groups, object))
    judged = {"standings": standings, "verdicts": verdicts, "comparison": found}
    return RunTables(**vars(made) | judged, city_winners=winners)


def timings_writer(timings: Mapping[str, Timing], labels: Iterable[str]) -> Writer:
    """Return the writer of timings.csv."""
    return csv_writer(make_timings(timings, labels))


KINDS_OF: Final = CHARS[:TAKE]
"""The kinds of cards that have measures of their own."""

MOST_BESIDE: Final = 40
"""How many bots, the first of the standings, are set side by side with each other."""

Group: TypeAlias = Literal["games", "takes", "cards", "losses"]
Unit: TypeAlias = Literal["share", "number", "change", "loss"]

_DIGITS: Final[dict[Unit, int]] = {"share": 3, "number": 2, "change": 3, "loss": 4}


class Measure(NamedTuple):
    """A measure of games, takes, cards or losses, and its unit."""

    group: Group
    name: str
    unit: Unit

    @property
    def digits(self) -> int:
        """The digits to which its values are rounded on pages; all but numbers are 0 to 1."""
        return _DIGITS[self.unit]


class Beside(NamedTuple):
    """Two bots in each row, by measure (columns): both values, and the second minus the first.

    `opponents` is how many common opponents there are. `sure` says which differences are
    significant among all of the same two bots (Benjamini and Hochberg 1995, at 5 %).
    """

    opponents: Ints
    first: Floats
    second: Floats
    difference: Estimates
    sure: Bools


class Profiles(NamedTuple):
    """The profiles of some bots, the strongest first, and of these the first ones side by side.

    `own` are their values (bot, measure); losses are not among them, as they are reported only by
    opponent. `beside` compares each bot but the last with all bots that come after it.
    """

    bots: Sequence[str]
    measures: Sequence[Measure]
    own: Estimates
    beside: Sequence[Beside]


def make_profiles(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, most: int
) -> Profiles:
    """Return the profiles of at most `most` bots of a run."""
    order = files.tables.order
    of_parts, owns, againsts = zip(*_parts(pairings, files, judged, order), strict=True)
    cards = _read_cards(files, order)
    measures = [*chain(*of_parts), *(Measure("cards", kind, "change") for kind in KINDS_OF)]
    own = _stack([*owns, cards])
    shown = [place for place, one in enumerate(measures) if _occurs(one, own.value[:, place])]
    kept = [measures[place] for place in shown]
    against = join(*againsts)
    direct = _find_direct(pairings, files, order)
    bots = range(len(against.value) - 1)
    compared = (_compare(against, cards, direct, bot) for bot in bots)
    beside = [_set_beside(kept, one, shown) for one in compared]
    return Profiles(order[:most], kept, Estimates(*(part[:most, shown] for part in own)), beside)


def _parts(
    pairings: Sequence[Pairing], files: Files, judged: JudgedTables, order: Sequence[str]
) -> Iterator[tuple[Sequence[Measure], Estimates, Against]]:
    """Yield measures with the values of each bot, overall and against each opponent."""
    two, bots = number_sides(pairings, order), len(order)
    size = min(bots, MOST_BESIDE), bots + 1  # the last opponent stands for those without a game

    def merge(moments: Moments) -> Moments:
        return moments.merged(two[:, 0], bots + 1).choose(np.s_[:bots])

    own = count_endings(two[:, 0], bots + 1, files.counts).choose(np.s_[:bots])
    shown = np.flatnonzero(two[:, 0] < size[0])
    groups = np.full(len(two), len(shown))  # the last one has the other sides
    groups[shown] = np.arange(len(shown))
    games = count_endings(groups, len(shown) + 1, files.counts).choose(np.s_[:-1])
    measures = [Measure("games", name, "share") for name in PARTS]
    yield measures, own.shares(), shares_against(games, two[shown], size)
    takes = files.wins().takes_by_opponent
    if takes.sums.size:
        end = -len(BROUGHT)
        when, brought = (takes.choose(np.s_[:, at]) for at in np.s_[:end, end:])
        measures = [Measure("takes", f"at {n + 1}", "share") for n in range(when.sums.shape[2])]
        yield measures, merge(when).shares(), shares_against(when, two, size)
        measures = [Measure("takes", name, "number") for name in BROUGHT]
        yield measures, merge(brought).means(), means_against(brought, two, size)
    if judged.decisions is None:
        return
    losses, met = losses_against(judged.decisions, order)
    unknown = np.full((bots, 1), np.nan)
    none = Estimates(unknown, unknown, unknown)
    yield [Measure("losses", "loss", "loss")], none, means_against(losses, met, size)


def _occurs(measure: Measure, values: Floats) -> bool:
    """Return whether a measure is worth showing: a share is if it is not always 0."""
    known = values[~np.isnan(values)]
    return measure.unit == "loss" or bool(known.any() if measure.unit == "share" else known.size)


def _stack(parts: Sequence[Estimates]) -> Estimates:
    return Estimates(*(np.hstack(columns) for columns in zip(*parts, strict=True)))


def _read_cards(files: Files, order: Sequence[str]) -> Estimates:
    """Return what one card of each kind adds in the takes of each bot (bot, kind)."""
    cards, names = files.wins().cards, ["adds", "adds_low", "adds_high"]
    places = [np.array([*one], object) for one in zip(*product(order, KINDS_OF), strict=True)]
    found = match_rows(places, [cards["bot"], cards["card"]])
    table = np.stack([np.append(cards[name], np.nan)[found] for name in names], axis=1)
    return Estimates(*np.moveaxis(table.reshape(len(order), -1, len(names)), 2, 0))


def _find_direct(pairings: Sequence[Pairing], files: Files, order: Sequence[str]) -> Floats:
    """Return, for every two bots, the share of their pairs played against each other."""
    two = number_sides(pairings, order)
    pairs = count_pairs(files.counts, len(pairings)).repeat(2)
    met = np.zeros((len(order) + 1, len(order) + 1))
    np.add.at(met, (two[:, 0], two[:, 1]), pairs)
    total = np.maximum(met.sum(axis=1), 1)
    return np.asarray(met / np.sqrt(total[:, None] * total))


def _compare(against: Against, cards: Estimates, direct: Floats, bot: int) -> Compared:
    """Compare a bot with those after it; the measures of what cards add come last."""
    others = np.arange(bot + 1, len(against.value))
    found = compare(against, bot, others)
    one, other = (Estimates(*(part[who] for part in cards)) for who in ([bot], others))
    difference, p_value = subtract(one, other, direct[bot, others][:, None])
    one_value = np.broadcast_to(one.value, other.value.shape)
    return Compared(
        found.opponents[:, 0],
        np.hstack([found.own, one_value]),
        np.hstack([found.other, other.value]),
        _stack([found.difference, difference]),
        np.hstack([found.p_value, p_value]),
    )


def _set_beside(measures: Sequence[Measure], found: Compared, shown: Sequence[int]) -> Beside:
    """Return a bot's comparisons as they are shown, and which differences are significant."""
    own, other, p_values = (part[:, shown] for part in (found.own, found.other, found.p_value))
    digits = [one.digits for one in measures]
    difference = Estimates(*(_round(part[:, shown], digits) for part in found.difference))
    sure = np.stack([*map(are_significant, p_values, difference.low, difference.high)])
    return Beside(found.opponents, own, other, difference, sure)


def _round(values: Floats, digits: Sequence[int]) -> Floats:
    units = 10.0 ** np.array(digits)
    return np.asarray(np.rint(values * units) / units + 0.0)  # no -0.0
