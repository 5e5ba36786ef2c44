"""Measure what a card is worth: swap one taken card in a game, and let the bots play it on.

The result of a game is compared with its own after a swap (`arena.tournament.rule_changes`), so
that what both have in common cancels: the deal, the luck, who was winning. This is an experiment;
the estimates of `arena.tables.cards` only adjust what was observed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from arena.batch.replay import Ints
from arena.entries.entry import Entry
from arena.errors import InputError
from arena.executors.contract import Executor, open_executor
from arena.executors.log import run_log
from arena.runs.judge_games import check_bounds
from arena.runs.progress_bar import show_progress
from arena.runs.rerun import resolve_same
from arena.statistics.intervals import Estimates, Moments
from arena.store.manifest import other_versions, read_manifest
from arena.store.store import Store
from arena.tables.cards import ADJUSTED
from arena.tables.run_games import Row, add_rows, every, interval, make_table
from arena.tables.win_tables import count_pairs, share_out
from arena.tournament.keys import MOST_SEED, MOST_SWAPS, SWAPS, Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Fits, Plan
from arena.tournament.rule_changes import Swap, draw_swaps
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import maker_of
from engine import KINDS, EngineError, Kind
from engine.cards import CHARS, to_text
from engine.notation import parse_actions
from engine.seeds import stream
from engine.state import Seat, State

Place: TypeAlias = tuple[int, int, Seat]
"""The number of a pairing, the pair and the seat of its first bot."""

_HALVES: Final = 2  # a result is 0, 1 or 2 of them, and an even one half of a share


class Swapped(NamedTuple):
    """The outcome of a swap: the pair it belongs to, the taker's place in the run, and the card.

    `halves` is the taker's result in the game as it was less that with the swap: 2 for a win that
    became a loss, -1 for a draw that became a win.
    """

    pairing: int
    pair: int
    bot: int
    kind: Kind
    halves: int


class Intervention(NamedTuple):
    """The results of swaps, and how many were left out because a fault ended the game with them."""

    swapped: list[Swapped]
    forfeits: int

    def note(self) -> str:
        """Return what is said of the swaps that were left out; without one, nothing."""
        if not self.forfeits:
            return ""
        swaps = "1 swap is" if self.forfeits == 1 else f"{self.forfeits:,} swaps are"
        return f"{swaps} left out, after which a bot forfeited the game"


class _Game(NamedTuple):
    """A game as it was played, and its swaps."""

    row: Row
    swaps: list[Swap]


def add_effects(
    cards: pd.DataFrame,
    tournament: Tournament,
    store: Store,
    venue: Venue,
    *,
    swaps: int | None = None,
    seed: int = 0,
    progress: bool = True,
) -> tuple[pd.DataFrame, str]:
    """Return what cards add with their effects beside it, and the note of an `Intervention`.

    Raises what `intervene` does, and InputError for a number that is out of its bounds.
    """
    swaps = SWAPS if swaps is None else swaps
    check_bounds(swaps=(swaps, 1, MOST_SWAPS), seed=(seed, 0, MOST_SEED))
    with open_executor(venue) as executor:
        made = intervene(tournament, store, executor, swaps=swaps, seed=seed, progress=progress)
    effects = make_effects(tournament.labels, made.swapped)
    # no bot is all of them, and must find itself
    both = cards[[*ADJUSTED]].merge(effects, on=["bot", "card"], how="left", validate="one_to_one")
    return both.assign(swaps=both["swaps"].fillna(0).astype(np.int64)), made.note()


def make_effects(labels: Sequence[str], swapped: Iterable[Swapped] | Ints) -> pd.DataFrame:
    """Return a row for each bot and kind of card, and for all bots: `swaps` and `effect`.

    `effect` is the mean change of the taker's result, with a 95 % interval; the pair is the unit.
    """
    rows = pd.DataFrame([*swapped], columns=Swapped._fields, dtype=np.int64)
    moments = Moments(len(labels) + 1, len(KINDS), scale=2 * _HALVES)
    pair = rows.groupby(["pairing", "pair"]).ngroup().to_numpy().astype(np.int64)
    for group in (rows["bot"].to_numpy(), np.full(len(rows), len(labels))):
        add_rows(moments, group, rows["kind"].to_numpy(), pair, rows["halves"].to_numpy() + _HALVES)
    swaps = moments.counts.ravel()
    columns = {
        **every(bot=range(len(labels) + 1), card=[*CHARS[: len(KINDS)]]),
        "swaps": swaps,
        **interval("effect", "effect", _make_differences(moments)),
    }
    return make_table(columns, labels, swaps > 0).frame


def _make_differences(moments: Moments) -> Estimates:
    """Return differences from -1 to 1, with the interval of the shares that they are made to.

    Most swaps change nothing, so few of them may look alike: Student's interval would then be
    too narrow (bench/STUDIES.md).
    """
    return Estimates(*(2 * share - 1 for share in moments.shares()))


def intervene(
    tournament: Tournament,
    store: Store,
    executor: Executor,
    *,
    swaps: int = SWAPS,
    seed: int = 0,
    progress: bool = True,
) -> Intervention:
    """Make up to so many swaps in the games of a run, and let its bots play each game on.

    The pairings give their first pairs, as `share_out` says, and each game one swap, or as many
    as are wanted where there are few games. The seed and the game decide which cards are
    swapped. Raises InputError for a run whose bots, rules or games do not allow it.
    """
    playable = _check(tournament, store)
    games = _draw(tournament, store, swaps, seed)
    most = max((len(game.swaps) for game in games.values()), default=0)
    rounds = [_take_round(games, number) for number in range(most)]
    found, forfeits = [], 0
    with show_progress(sum(2 * len(_find_pairs(made)) for made in rounds), shown=progress) as bar:
        for made in rounds:
            results: dict[Place, GameResult | None] = {
                place: None for place, swap in made.items() if swap.changes_nothing
            }
            for place, result in _play(playable, made, executor):
                bar.add(1)
                if place in games:
                    _check_same(tournament, place, games[place].row, made.get(place), result)
                if place in made and place not in results:
                    results[place] = result
            for place, end in results.items():
                if end and end.fault:
                    forfeits += 1
                else:
                    found.append(_compare(tournament, place, games[place].row, made[place], end))
    return Intervention(sorted(found), forfeits)


def _check(tournament: Tournament, store: Store) -> Tournament:
    """Return the tournament with its bots; raises InputError if its games cannot continue."""
    if not tournament.rules.removed:
        raise InputError("under its rules no card is out of the game to be swapped for another")
    manifest = read_manifest(store.manifest or "{}")
    if manifest and (differs := other_versions(manifest, python=False)):
        raise InputError(f"{maker_of(manifest)}: {'; '.join(differs)}")
    return replace(tournament, entries=[*map(_find_bot, tournament.entries)])


def _find_bot(entry: Entry) -> Entry:
    """Return a bot as it can be played; one of a run that has just been played has all it needs."""
    if entry.module:
        return entry
    try:
        return resolve_same(entry)
    except InputError as error:
        raise InputError(f"{entry.label}: {error}") from None


def _draw(tournament: Tournament, store: Store, swaps: int, seed: int) -> dict[Place, _Game]:
    """Return the games that are swapped in, with their swaps."""
    played = count_pairs(store.count(), len(tournament.pairings))
    quota = share_out(played, max(1, swaps // 2))
    each = max(1, swaps // max(1, 2 * int(quota.sum())))
    games = {}
    for row in map(Row._make, store.records(quota.tolist())):
        if row.win_type == "forfeit":
            continue
        place = row.pairing, row.pair, row.seat
        fixture = tournament.fixture(*place)
        rng = stream(seed, "swap", *fixture.pairing, row.pair, row.seat)
        deal = tournament.draw(fixture).deal
        try:
            drawn = draw_swaps(deal, parse_actions(row.actions), tournament.rules, rng, each)
        except (EngineError, ValueError):
            raise InputError(f"game {fixture.name}: its record cannot be played") from None
        games[place] = _Game(row, drawn)
    return games


def _take_round(games: Mapping[Place, _Game], number: int) -> dict[Place, Swap]:
    """Return the swaps with this number of each game, counted from 0."""
    return {place: game.swaps[number] for place, game in games.items() if number < len(game.swaps)}


def _find_pairs(swaps: Mapping[Place, Swap]) -> list[tuple[int, int]]:
    """Return the pairs in which a swap changes something, in order."""
    return sorted({place[:2] for place, swap in swaps.items() if not swap.changes_nothing})


class _Swapped(Plan):
    """A plan whose chunks carry the swaps of their games."""

    def __init__(self, tournament: Tournament, swaps: Mapping[Place, Swap]) -> None:
        """Plan the pairs in which something is swapped."""
        strikes = Strikes(tournament.pairings, tournament.most_pairs, most=sys.maxsize)
        missing: list[list[range]] = [[] for _ in tournament.pairings]
        for number, pair in _find_pairs(swaps):
            ranges = missing[number]
            if ranges and ranges[-1].stop == pair:
                ranges[-1] = range(ranges[-1].start, pair + 1)
            else:
                ranges.append(range(pair, pair + 1))
        super().__init__(missing, strikes)
        self.swaps = swaps

    def next(self, fits: Fits | None = None) -> Chunk | None:
        """Return the next chunk, with the swaps of its games."""
        chunk = super().next(fits)
        if chunk is None:
            return None
        places = (
            (chunk.pairing, pair, seat)
            for pair in range(chunk.first, chunk.first + chunk.pairs)
            for seat in (0, 1)
        )
        of_chunk = {
            place[1:]: self.swaps[place]
            for place in places
            if place in self.swaps and not self.swaps[place].changes_nothing
        }
        return chunk._replace(swaps=of_chunk)


def _play(
    tournament: Tournament, swaps: Mapping[Place, Swap], executor: Executor
) -> Iterator[tuple[Place, GameResult]]:
    """Yield the games of all pairs in which something is swapped, as they end."""
    plan = _Swapped(tournament, swaps)
    with run_log(None) as log, closing(executor.play(plan, tournament, log)) as chunks:
        for played in chunks:
            plan.learn(played)
            for result in played.results:
                yield (played.chunk.pairing, result.pair, result.seat), result


def _check_same(
    tournament: Tournament, place: Place, row: Row, swap: Swap | None, result: GameResult
) -> None:
    """Raise InputError if a bot has played otherwise before the swap than in the run."""
    if swap and not swap.changes_nothing:
        before, after = to_text(swap.before), to_text(swap.after)
    else:
        before = after = row.actions
    if result.actions.startswith(after):
        return
    ply = next(
        (n for n, two in enumerate(zip(before, result.actions, strict=False)) if len({*two}) > 1),
        min(len(before), len(result.actions)),
    )
    fixture = tournament.fixture(*place)
    state = State(tournament.draw(fixture).deal, tournament.rules)
    state.follow(parse_actions(before[:ply]))
    raise InputError(
        f"game {fixture.name}: asked again, {fixture.labels[state.to_act]} does not do what it did "
        f"at ply {ply}; a swap needs bots that play the same game twice"
    )


def _compare(
    tournament: Tournament, place: Place, row: Row, swap: Swap, result: GameResult | None
) -> Swapped:
    """Return the effect of a swap; None stands for the same game."""
    number, pair, seat = place
    side = int(swap.seat != seat)  # of the pairing's first bot
    bot = tournament.labels.index(tournament.pairings[number][side])
    halves = 0
    if result is not None:
        halves = _count_halves(row.winner, side) - _count_halves(result.winner, side)
    if number in tournament.new_pairings:  # two pairings share their deals
        number = tournament.old_pairing(number)
    return Swapped(number, pair, bot, swap.kind, halves)


def _count_halves(winner: int | None, side: int) -> int:
    """Return the result of a side, in halves: 2 won, 1 drawn, 0 lost."""
    return 1 if winner is None else 2 * (winner == side)
