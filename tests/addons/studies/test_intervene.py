"""A taken card is swapped, and the run's bots play the rest of the game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from arena.addons.studies.intervene import Intervention, intervene
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import run
from arena.store.store import Store
from arena.tournament.plan import Chunk, Played
from arena.tournament.rule_changes import Swap, draw_swaps
from arena.tournament.tournament import Tournament
from engine import CITY, STANDARD, Record, Rules, outcome
from engine.cards import UNIT, to_text
from engine.notation import parse_actions
from engine.seeds import stream
from tests.runs.test_verify import InThisProcess

HERE = cast("Executor", InThisProcess())
NO_CITY_WINS = Rules(cities_needed=9)
UNIFORM = resolve("one=uniform"), resolve("two=uniform")


@contextmanager
def played(
    *entries: Entry, pairs: int = 30, rules: Rules = STANDARD
) -> Iterator[tuple[Tournament, Store]]:
    """Yield a run that has been played in this process."""
    tournament = Tournament("run", 3, pairs, entries, rules)
    with closing(Store(None)) as store:
        run(tournament, HERE, None, QUIET, store=store)
        yield tournament, store


def of(
    *entries: Entry,
    pairs: int = 30,
    swaps: int = 60,
    rules: Rules = STANDARD,
    executor: Executor = HERE,
) -> Intervention:
    """Return what the swaps of a run come to."""
    with played(*entries, pairs=pairs, rules=rules) as (tournament, store):
        return intervene(tournament, store, executor, swaps=swaps, progress=False)


def drawn(
    tournament: Tournament, store: Store, most: int = 1
) -> Mapping[tuple[int, int], list[Swap]]:
    """Return the swaps that are drawn in a run's games, by pair and seat."""
    swaps = {}
    for number, result in store.results():
        fixture = tournament.fixture(number, result.pair, result.seat)
        rng = stream(0, "swap", *fixture.pairing, result.pair, result.seat)
        deal = tournament.draw(fixture).deal
        swaps[result[:2]] = draw_swaps(
            deal, parse_actions(result.actions), tournament.rules, rng, most
        )
    return swaps


@pytest.mark.slow
def test_a_swap_is_worth_what_the_piles_say_where_bots_do_not_look_at_them() -> None:
    """`uniform` plays the same rest, so the end follows from the record and the two cards."""
    with played(*UNIFORM, rules=NO_CITY_WINS) as (tournament, store):
        made = intervene(tournament, store, HERE, swaps=60, progress=False)
        swaps = drawn(tournament, store)
        expected = []
        for number, result in store.results():
            (swap,) = swaps[result[:2]]
            fixture = tournament.fixture(number, result.pair, result.seat)
            deal = to_text(tournament.draw(fixture).deal)
            piles = [*Record(deal, result.actions, NO_CITY_WINS).replay().piles]
            ends = [outcome((piles[0], piles[1]), NO_CITY_WINS).winner]
            piles[swap.seat] += UNIT[swap.other] - UNIT[swap.kind]
            ends.append(outcome((piles[0], piles[1]), NO_CITY_WINS).winner)
            was, now = (1 if end is None else 2 * (end == swap.seat) for end in ends)
            taker = fixture.labels[swap.seat] == "two"
            expected.append((0, result.pair, int(taker), swap.kind, was - now))
    assert made.swapped == sorted(expected)
    assert any(row.halves for row in made.swapped)
    assert made.forfeits == 0


@pytest.mark.slow
def test_a_city_decides_a_game_that_one_city_wins() -> None:
    """Who took it had won, and who gets one in its place wins."""
    rules = Rules(cities_needed=1, copies=(5, 6, 7, 5, 4, 2, 1, 3, 4, 2, 6))
    with played(*UNIFORM, rules=rules, pairs=150) as (tournament, store):
        made = intervene(tournament, store, HERE, swaps=300, progress=False)
        swaps = drawn(tournament, store)
        winners = {result[:2]: result.winner for _, result in store.results()}
    counted = Counter[str]()
    rows = {(row.pair, row.bot, row.kind, row.halves) for row in made.swapped}
    for place, (swap,) in swaps.items():
        bot = int(swap.seat != place[1])
        was = 2 * (winners[place] == bot)
        if swap.other == CITY:  # the game is won at once
            assert (place[0], bot, swap.kind, was - 2) in rows
            counted["given"] += swap.kind != CITY
        elif swap.kind == CITY:
            assert was == 2
            counted["taken away"] += 1
    lost = [row.halves for row in made.swapped if row.kind == CITY]
    assert all(halves in (0, 1, 2) for halves in lost)
    assert sum(lost) > len(lost) / 3
    assert counted["given"]
    assert counted["taken away"]


@pytest.mark.slow
def test_a_card_that_decides_nothing_has_no_effect() -> None:
    """A City that cannot win and a 5 without a value: only the tie-break could tell them apart."""
    copies = (8, 6, 7, 5, 4, 0, 0, 0, 0, 0, 15)
    rules = Rules(
        cities_needed=16,
        copies=copies,
        majority_values=(0, 6, 7, 8),
        set_bonus=0,
        tiebreak="supports",
    )
    with played(*UNIFORM, rules=rules, pairs=100) as (tournament, store):
        made = intervene(tournament, store, HERE, swaps=200, progress=False)
        swaps = drawn(tournament, store)
        by_points = {result[:2] for _, result in store.results() if result.win_type == "points"}
    worthless = {
        (place[0], int(swap.seat != place[1]), swap.kind)
        for place, (swap,) in swaps.items()
        if {swap.kind, swap.other} == {0, CITY} and place in by_points
    }
    effects = [row.halves for row in made.swapped if (row.pair, row.bot, row.kind) in worthless]
    assert len(effects) > 20
    assert not any(effects)
    assert any(row.halves for row in made.swapped)


@pytest.mark.slow
def test_swaps_do_not_depend_on_workers_or_lanes() -> None:
    """One process, two workers, and a bot in a process of its own."""
    bots = resolve("greedy"), resolve("majority")
    with played(*bots, pairs=3) as (tournament, store):
        apart = replace(tournament, entries=[replace(bots[0], lane="process"), bots[1]])
        made = [
            intervene(of_lane, store, executor, swaps=6, progress=False)
            for of_lane, executor in (
                (tournament, HERE),
                (tournament, LocalExecutor(2)),
                (apart, HERE),
            )
        ]
    assert made[0] == made[1] == made[2]
    assert len(made[0].swapped) == 6


@pytest.mark.slow
def test_each_seed_draws_its_own_swaps() -> None:
    """And the same ones again."""
    with played(*UNIFORM) as (tournament, store):
        one, again, other = (
            intervene(tournament, store, HERE, swaps=60, seed=seed, progress=False)
            for seed in (1, 1, 2)
        )
    assert one == again != other


@pytest.mark.slow
def test_few_games_have_several_swaps_each_and_many_one() -> None:
    """As many as asked for, at most; no card of a game is swapped twice."""
    assert len(of(*UNIFORM, pairs=3, swaps=4).swapped) == 4
    assert len(of(*UNIFORM, pairs=3, swaps=17).swapped) == 12
    with played(*UNIFORM, pairs=1, rules=Rules(rounds=1, removed=33)) as (tournament, store):
        all_cards = intervene(tournament, store, HERE, swaps=10_000, progress=False).swapped
        cards = [len(swaps) for swaps in drawn(tournament, store, 1_000).values()]
    assert len(all_cards) == sum(cards)


@pytest.mark.slow
def test_pairings_that_share_their_deals_share_their_pairs() -> None:
    """Of a comparison with a panel: the deal is the unit, for both versions of a bot."""
    entries = [resolve(spec) for spec in ("new=uniform", "old=greedy", "majority")]
    tournament = Tournament("run", 3, 4, entries, STANDARD, panel=1, paired=True)
    with closing(Store(None)) as store:
        run(tournament, HERE, None, QUIET, store=store)
        made = intervene(tournament, store, HERE, swaps=16, progress=False)
    assert len(made.swapped) == 16
    assert {row.pairing for row in made.swapped} == {tournament.old_pairing(0)} == {1}
    assert {row.bot for row in made.swapped} >= {0, 1}


REMEMBERS = """
class Bot:
    games = 0
    def __init__(self, setup):
        Bot.games += 1
        self.pick = 0 if Bot.games <= 4 else -1
    def choose(self, view, /):
        return view.legal[self.pick]
bot = Bot
"""
FAILS = """
class Bot:
    def __init__(self, setup):
        self.seen = b""
    def choose(self, view, /):
        assert view.history.startswith(self.seen), "the past has changed"
        self.seen = view.history
        return view.legal[-1]
bot = Bot
"""


def test_a_bot_that_plays_otherwise_in_the_same_game_is_refused(tmp_path: Path) -> None:
    """With the game, the bot and the ply."""
    path = tmp_path / "remembers.py"
    path.write_text(REMEMBERS)
    bots = resolve(f"it={path}", lane="inproc"), UNIFORM[0]
    with (
        played(*bots, pairs=2) as (tournament, store),
        pytest.raises(
            InputError, match=r"game it/one/\d/\d: asked again, it does not do .* at ply"
        ),
    ):
        intervene(tournament, store, HERE, swaps=4, progress=False)


@pytest.mark.slow
def test_swaps_with_which_a_bot_fails_are_left_out(tmp_path: Path) -> None:
    """They are counted: a fault is not what a card is worth."""
    path = tmp_path / "fails.py"
    path.write_text(FAILS)
    made = of(resolve(f"it={path}", lane="inproc"), UNIFORM[0], pairs=10, swaps=20)
    assert made.forfeits > 0
    assert len(made.swapped) + made.forfeits == 20


def test_a_record_that_cannot_be_played_is_named() -> None:
    """As in a store that somebody has changed."""
    with played(*UNIFORM, pairs=1) as (tournament, store), closing(Store(None)) as forged:
        results = [result._replace(actions="TTTT") for _, result in store.results()]
        forged.add(Played(Chunk(0, 0, 1), results, {}, 0.0))
        with pytest.raises(InputError, match="game one/two/0/0: its record cannot be played"):
            intervene(tournament, forged, HERE, swaps=2, progress=False)


def test_rules_without_a_card_out_of_the_game_are_refused() -> None:
    """There is nothing to swap with."""
    rules = Rules(removed=0, copies=(5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 0))
    with pytest.raises(InputError, match="no card is out of the game"):
        of(*UNIFORM, pairs=1, rules=rules)


def test_the_note_counts_the_swaps_that_were_left_out() -> None:
    """One, several, or none at all."""
    what = " left out, after which a bot forfeited the game"
    notes = [Intervention([], forfeits).note() for forfeits in (0, 1, 2, 1234)]
    assert notes == ["", f"1 swap is{what}", f"2 swaps are{what}", f"1,234 swaps are{what}"]
