"""No bot knows from one game of a pair, or of a deal, what its opponent holds in another."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.local import LocalExecutor
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Halves, Plan, Played
from arena.tournament.schedule import Strikes, round_robin
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.strategy import Spent
from tests.kit import play_plan
from tests.rogues import FOLDER, first, spec
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

PAIRINGS = round_robin("abc")
PAIRS = 40


def plan(most: int = 1000) -> Plan:
    return Plan([[range(PAIRS)]] * 3, Strikes(PAIRINGS, PAIRS, most))


def games(piece: Chunk) -> list[tuple[int, int, int]]:
    """Return the games of a piece by pairing, pair and seat."""
    pairs = range(piece.first, piece.first + piece.pairs)
    return [(piece.pairing, pair, seat) for pair in pairs for seat in piece.seats]


def played(piece: Chunk, seconds: float = 0.02) -> Played:
    """Return what a piece came to: drawn games of one decision each."""
    timing = Timing()
    results = []
    for _, pair, seat in games(piece):
        timing.add(Spent(seconds, seconds))
        results.append(GameResult(pair, seat, None, "draw", 0, 0, 0, None, ""))
    return Played(piece, results, {"a": timing}, seconds * len(results))


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 7])
def test_every_game_is_played_once(workers: int) -> None:
    """However long each takes, with workers that die now and then; chunks come back whole."""
    rng = Random(workers)
    todo = plan()
    halves = Halves(todo, workers)
    held: dict[int, list[Chunk]] = {number: [] for number in range(workers)}
    seen: set[tuple[int, int]] = set()  # pairs
    whole: list[Played] = []
    while True:
        for number, pieces in held.items():
            while len(pieces) < 2 and (piece := halves.next(number)):
                pieces.append(piece)
                assert len(piece.seats) == 1
                seen |= {game[:2] for game in games(piece)}
        busy = [number for number in held if held[number]]
        if not busy:
            break
        assert len(busy) == workers or len(seen) == 3 * PAIRS  # in the end only
        number = rng.choice([*busy, 0] if held[0] else busy)  # the first worker is the fastest
        if rng.random() < 0.1:
            halves.take_back(held[number])
            held[number] = []
        else:
            for joined in halves.join(played(held[number].pop(0))):
                todo.learn(joined)
                whole.append(joined)
    places = [(p.chunk.pairing, *result[:2]) for p in whole for result in p.results]
    assert len(places) == 3 * PAIRS * 2
    assert set(places) == {(n, pair, s) for n in range(3) for pair in range(PAIRS) for s in (0, 1)}


def test_what_a_chunk_came_to_is_joined_in_the_order_of_pair_and_seat() -> None:
    """Timings are merged, and seconds added up; a piece of a chunk may come back in pieces."""
    halves = Halves(Plan([[range(1)]], Strikes(PAIRINGS, 1, most=9), seats=(1, 0)), 2)
    one, two = halves.next(0), halves.next(1)
    assert one == Chunk(0, 0, 1, seats=(0,))
    assert two == Chunk(0, 0, 1, seats=(1,))
    halves.take_back([two])
    assert halves.next(0) == two  # there is nothing else
    assert halves.next(1) is None
    assert list(halves.join(played(two, 0.25))) == []
    (joined,) = halves.join(played(one, 0.5))
    assert joined.chunk == Chunk(0, 0, 1, seats=(1, 0))
    assert [result[:2] for result in joined.results] == joined.chunk.places == [(0, 0), (0, 1)]
    assert joined.seconds == 0.75
    assert (joined.timings["a"].decisions, joined.timings["a"].wall.longest) == (2, 0.5)


def test_the_halves_of_forfeits_by_rule_are_not_played() -> None:
    """Also if the other half is being played, whose games are then not needed."""
    todo = plan(most=1)
    halves = Halves(todo, 2)
    one = halves.next(0)
    todo.strikes.out["a"] = 0  # of pairings 0 and 1
    piece = halves.next(1)
    assert piece.pairing == 2
    assert list(halves.join(played(one))) == []
    halves.take_back([one])
    assert halves.next(0) == piece._replace(seats=(0,))


def actions(tournament: Tournament, workers: int) -> dict[tuple[int, int, int], str]:
    """Return the actions of the games of a tournament by pairing, pair and seat."""
    games = play_plan(tournament, LocalExecutor(workers))
    return {place: game.actions for place, game in games.items()}


def against_uniform(entry: Entry) -> Tournament:
    return Tournament("pairs", 3, 4, [resolve("uniform"), entry], STANDARD)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers", "after"),
    [("process", 1, 40), ("process", 3, 0), pytest.param("jail", 1, 0, marks=needs_jail)],
)
def test_a_bot_that_remembers_the_other_game_knows_nothing(
    lane: str, workers: int, after: int
) -> None:
    """It plays otherwise as soon as it knows its opponent's hand, also when it begins later."""
    remembers = resolve(str(FOLDER / "remembers.py"), "remembers", {"after": after}, lane)
    honest = against_uniform(first("remembers", "inproc"))
    assert actions(against_uniform(remembers), workers) == actions(honest, 1)


def test_chunks_of_bots_in_the_workers_stay_whole() -> None:
    """Any worker plays both games of a pair; so does the one that replaces a dead one."""
    halves = Halves(plan(), 2, whole=True)
    one, two = halves.next(0), halves.next(1)
    assert one == Chunk(0, 0, one.pairs)
    assert two.seats == (0, 1)
    assert two.first == one.pairs
    halves.take_back([one])
    assert halves.next(1) == one
    (joined,) = halves.join(played(one))
    assert joined.chunk == one


def paired(panel: Entry, pairs: int = 12, new: Sequence[str] = ("greedy",)) -> Tournament:
    """Return a tournament in which greedy, or some bots, replace uniform against one bot."""
    bots = [*map(resolve, new), resolve("uniform"), panel]
    return Tournament("paired", 3, pairs, bots, STANDARD, panel=1, paired=True)


def test_both_versions_meet_the_same_deals_with_the_same_luck() -> None:
    """Those of the old one, which a tournament without the new one has, too."""
    tournament = paired(resolve("denier"))
    new, old = tournament.pairings
    alone = Tournament("alone", 3, 12, tournament.entries[1:], STANDARD)
    for pair in range(3):
        for seat in (0, 1):
            draws = [
                tournament.draw(tournament.fixture(0, pair, seat)),
                tournament.draw(tournament.fixture(1, pair, seat)),
                alone.draw(alone.fixture(0, pair, seat)),
            ]
            assert draws[0] == draws[1] == draws[2]
    assert (new.bot, old.bot) == ("greedy", "uniform")
    assert tournament.part(new, 0) != tournament.part(old, 0)


def test_many_versions_meet_the_same_deals_in_parts_of_their_own() -> None:
    """Those of the last one; no two games of a deal are in one part."""
    bots = [*map(resolve, ("greedy", "timing", "uniform", "denier", "majority"))]
    tournament = Tournament("paired", 3, 12, bots, STANDARD, panel=2, paired=True)
    assert tournament.new_pairings == {0, 1, 2, 3}
    assert [*map(tournament.old_pairing, range(6))] == [4, 5, 4, 5, 4, 5]
    assert [*map(tournament.version_of, range(6))] == [2, 2, 1, 1, 0, 0]
    for opponent in (0, 1):
        draws = [
            tournament.draw(tournament.fixture(bot + opponent, 1, seat))
            for bot in (0, 2, 4)
            for seat in (0, 1)
        ]
        assert draws == draws[:1] * 6
        parts = {
            tournament.part(tournament.pairings[bot], seat) for bot in (0, 2, 4) for seat in (0, 1)
        }
        assert len(parts) == 6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lane", "workers"),
    few([("process", 2), ("process", 4)], 1, 0, unpack=True),
)
@pytest.mark.parametrize("new", few([("greedy",), ("greedy", "denier", "timing")], 1, 1))
def test_an_opponent_does_not_meet_a_deal_again(
    lane: str, workers: int, new: Sequence[str]
) -> None:
    """It would play otherwise in another version's game."""
    rogue = resolve(spec("meets_again"), "rogue", {}, lane)
    honest = first("rogue", "process")
    assert actions(paired(rogue, 4, new), workers) == actions(paired(honest, 4, new), 1)
