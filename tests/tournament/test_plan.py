"""Which pairs are played: chunks, meetings, bots that are out, and how long decisions take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.runs.run import play_games, run
from arena.store.folder import RunFolder
from arena.store.manifest import manifest_text, read_tournament
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Chunks, Plan, Played
from arena.tournament.rounds import make_rounds
from arena.tournament.schedule import Meeting, Pairing, PairRange, Strikes, round_robin
from arena.tournament.timing import Clocks, Distribution, Pace, Timing
from arena.tournament.tournament import Tournament, replay_commands
from engine import STANDARD
from engine.strategy import Spent
from tests.conftest import run_here

PAIRINGS = round_robin("abc")
PAIRS = 1000


def made() -> Plan:
    plan = Plan([], Strikes(PAIRINGS, PAIRS, most=10))
    plan.add([(number, range(PAIRS)) for number in range(3)], spread=False)
    return plan


def chunks(seconds_per_pair: float) -> list[Chunk]:
    plan = made()
    planned = []
    while chunk := plan.next():
        planned.append(chunk)
        plan.learn(Played(chunk, [], {}, seconds_per_pair * chunk.pairs))
    return planned


def pairs_of(planned: list[Chunk]) -> list[tuple[int, int]]:
    return [(c.pairing, pair) for c in planned for pair in range(c.first, c.first + c.pairs)]


@pytest.mark.parametrize("seconds", [1e-6, 1e-3, 0.1, 60.0])
def test_every_pair_is_in_one_chunk_and_pairings_play_in_turns(seconds: float) -> None:
    pairs, played = pairs_of(chunks(seconds)), [0, 0, 0]
    assert pairs[:24] == [(pairing, pair) for pair in range(8) for pairing in range(3)]
    for pairing, pair in pairs:
        assert pair == played[pairing]
        played[pairing] += 1
        assert max(played) <= max(min(played) + 1, 1.25 * min(played))
    assert played == 3 * [PAIRS]


def test_chunks_of_a_size_have_it_whatever_their_speed() -> None:
    """What is listed is played as it is listed."""
    plan = Plan([[range(9, 10), range(3, 6)], [], [range(1)]], Strikes(PAIRINGS, PAIRS, most=10))
    assert pairs_of([*iter(plan.next, None)]) == [(0, 9), (0, 3), (0, 4), (0, 5), (2, 0)]
    plan = Plan([[range(10)]], Strikes([("a", "b")], 10, most=1), (0,), 4)
    found = []
    while chunk := plan.next():
        plan.learn(Played(chunk, [], {}, 9.0))
        found.append((chunk.first, chunk.pairs, chunk.seats))
    assert found == [(0, 4, (0,)), (4, 4, (0,)), (8, 2, (0,))]


def test_the_speed_of_a_pairing_is_that_of_one_pair() -> None:
    """At 1/16 s a chunk of 0.3 s has four pairs; a single pairing is cut by no turn."""
    for seconds, most in ((1 / 256, 76), (1 / 16, 4), (5.0, 1)):
        assert max(chunk.pairs for chunk in chunks(seconds) if chunk.first) == most
    strikes = Strikes(PAIRINGS, 0, most=10)
    strikes.extend([PairRange(1, 0, 40)])
    plan = Plan([], strikes)
    plan.add([(1, range(40))], spread=False)
    sizes = []
    while chunk := plan.next():
        sizes.append(chunk.pairs)
        plan.learn(Played(chunk, [], {}, chunk.pairs / 16))
    assert sizes == [1, *[4] * 9, 3]


def test_chunks_that_are_taken_back_come_first_in_the_schedules_order() -> None:
    plan = made()
    first, second, third, fourth = (plan.next() for _ in range(4))
    plan.take_back([fourth, third, first])
    plan.take_back([second])
    assert [plan.next() for _ in range(4)] == [first, second, third, fourth]
    assert plan.next()[:2] == (1, 1)
    (queue := Chunks([first, second])).take_back([queue.next(), queue.next()][::-1])
    assert [queue.next(), queue.next(), queue.next()] == [first, second, None]
    assert not queue.is_out(0)


@pytest.mark.parametrize(("pairs", "sizes"), [(80, [10] * 8), (10, [4, 4, 2])])
def test_a_round_of_one_pairing_is_cut_into_eight_parts_of_four_pairs_at_least(
    pairs: int, sizes: list[int]
) -> None:
    strikes = Strikes(PAIRINGS, 0, most=10)
    strikes.extend([PairRange(1, 0, 1)])
    plan = Plan([], strikes)
    plan.learn(Played(Chunk(1, 0, 1), [], {}, 1e-6))  # they are fast
    strikes.extend([PairRange(1, 100, 100 + pairs)])
    plan.add([(1, range(100, 100 + pairs))], spread=True)
    planned = [(chunk.first, chunk.pairs) for chunk in iter(plan.next, None)]
    assert planned == [(100 + n * sizes[0], size) for n, size in enumerate(sizes)]


def test_a_plan_is_finished_when_all_that_was_given_out_has_been_played() -> None:
    plan = Plan([], Strikes(PAIRINGS, PAIRS, most=10))
    assert plan.is_finished
    plan.add([(0, range(4))], spread=True)
    assert not plan.is_finished
    first, second, *rest = iter(plan.next, None)
    plan.take_back([second])
    for chunk in [first, *rest]:
        plan.learn(Played(chunk, [], {}, 1.0))
    assert not plan.is_finished
    assert plan.next() == second
    assert not plan.is_finished
    plan.learn(Played(second, [], {}, 1.0))
    assert plan.is_finished


def test_only_wanted_pairings_are_given_out_and_the_others_keep_their_place() -> None:
    plan = Plan([[range(2)]] * 3, Strikes(PAIRINGS, PAIRS, most=10))
    odd = plan.next(lambda pairing: pairing == 1)
    assert odd.pairing == 1
    plan.take_back([odd])
    others = [chunk.pairing for chunk in iter(lambda: plan.next(lambda n: n != 1), None)]
    assert others == [0, 0, 2, 2]
    assert [chunk.pairing for chunk in iter(plan.next, None)] == [1, 1]


BOTS = ("greedy", "uniform", "majority")
CUP = Tournament("cup", 7, 1, [resolve(bot) for bot in BOTS], STANDARD)
FIRST = [Meeting("uniform", "greedy", 2)]
SECOND = [Meeting("majority", "uniform", 1), Meeting("uniform", "greedy", 1)]
MEETINGS = [FIRST, SECOND]


def games_of(tournament: Tournament) -> dict[tuple[int, int, int], GameResult]:
    """Play a tournament; return its games by the numbers of pairing, pair and seat."""
    with closing(Store(None)) as store:
        run(tournament, LocalExecutor(1), shown=QUIET, store=store)
        return {(number, *game[:2]): game for number, game in store.results()}


@pytest.mark.slow
def test_meetings_have_the_games_of_a_round_robin_and_go_on_where_they_ended() -> None:
    whole, own = games_of(replace(CUP, pairs=5)), games_of(replace(CUP, meetings=MEETINGS))
    assert len(own) == 8
    for pair, seat in product(range(3), (0, 1)):  # the round robin names greedy first
        game, there = own[0, pair, seat], whole[0, pair, 1 - seat]
        assert (game.actions, game.winner == 0) == (there.actions, there.winner == 1)
    for seat in (0, 1):
        assert own[1, 0, seat].actions == whole[2, 0, 1 - seat].actions


def test_a_tournament_of_meetings_has_their_rounds() -> None:
    tournament = replace(CUP, meetings=MEETINGS)
    assert (tournament.games, tournament.most_pairs) == (8, 3)
    rounds = make_rounds(tournament)
    assert [rounds.next(number, {}, ()) for number in range(3)] == [
        [PairRange(0, 0, 2)],
        [PairRange(1, 0, 1), PairRange(0, 2, 3)],
        [],
    ]


@pytest.mark.slow
def test_meetings_are_stored_without_tables_and_read_back(tmp_path: Path) -> None:
    """`play_games` leaves the games alone, and plays only a round that has been added."""
    for meetings, played in ((MEETINGS[:1], (4, 0)), (MEETINGS, (4, 4))):
        there = replace(CUP, meetings=meetings), LocalExecutor(1), RunFolder(tmp_path / "run")
        assert play_games(*there, QUIET) == played
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.log", "run.sqlite"]
    read, store = read_run(tmp_path / "run")
    with closing(store):
        assert store.count_games() == 8
    assert read.meetings == MEETINGS


@pytest.mark.slow
def test_a_new_version_meets_the_deals_of_the_first_one(tmp_path: Path) -> None:
    entries = [*CUP.entries, replace(CUP.entries[0], label="uniform@2")]
    meetings = [FIRST, [Meeting("uniform@2", "greedy", 1)]]
    tournament = replace(CUP, entries=entries, meetings=meetings)
    fixture = tournament.fixture(1, 0, 1)
    assert tournament.draw(fixture).deal == tournament.draw(tournament.fixture(0, 0, 1)).deal
    done = run_here(tmp_path, *shlex.split(replay_commands(tournament)(fixture))[1:])
    assert games_of(tournament)[1, 0, 1].actions in done.stdout


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"meetings": [[["greedy", "nobody", 1]]]}, "a bot that it does not have"),
        ({"meetings": [[["greedy", "greedy", 1]]]}, "a bot with itself"),
        ({"meetings": [[["greedy", "uniform", 1]], [["uniform", "greedy", 1]]]}, "two meetings"),
        ({"meetings": 2 * [[["greedy", "uniform", 10**9]]]}, "beyond pair 1,000,000,000"),
        ({"meetings": [[["greedy", "uniform", 0]]]}, "meetings"),
        ({"meetings": [["greedy", "uniform", 0, 1]]}, "meetings"),
        ({"meetings": [[["greedy", "uniform", 1]]], "rounds": 2}, "something else"),
    ],
)
def test_wrong_meetings_are_refused(changes: dict[str, object], why: str) -> None:
    manifest = replace(CUP, meetings=MEETINGS).manifest() | changes
    with pytest.raises(InputError, match=why):
        read_tournament(manifest_text(manifest))


LABELS = "abcd"
OF_FOUR = round_robin(LABELS)
TWENTY = 20


def strike(pair: int, seat: int, loser: int) -> GameResult:
    """Return a game that the pairing's first bot (0) or its opponent (1) has forfeited."""
    return GameResult(pair, seat, 1 - loser, "forfeit", 0, 0, 0, Fault("exception", "boom"), "")


def play(strikes: Strikes, faults: Mapping[int, Sequence[GameResult]]) -> dict[int, range]:
    """Finish all pairings; return the games by rule of each, from one on, and see who loses."""
    for number in range(len(OF_FOUR)):
        strikes.finish(number, 0, TWENTY, faults.get(number, ()))
    games: dict[int, list[int]] = {}
    for due in strikes.take_due():
        games.setdefault(due.pairing, []).extend(range(due.first, due.end))
        first = next(label for label in strikes.out if label in OF_FOUR[due.pairing])
        assert OF_FOUR[due.pairing][due.loser] == first
    for number, played in games.items():
        assert played == [*range(played[0], 2 * TWENTY)], number
    return {number: range(played[0], 2 * TWENTY) for number, played in games.items()}


def test_after_the_last_allowed_fault_all_games_are_forfeits() -> None:
    """The rest of that turn and all later turns; what stands before does not change."""
    strikes = Strikes(OF_FOUR, TWENTY, most=3)
    of_b = [strike(*place, loser=1) for place in ((2, 0), (2, 1), (4, 0), (9, 1))]
    games = play(strikes, {0: of_b, 3: [strike(5, 0, loser=1)] * 5})  # a - b, and b - c later
    assert list(strikes.out) == ["b"]
    # the third fault is in pair 4 of a - b, game 8; b - c and b - d come after it in that turn
    assert games == {0: range(9, 40), 3: range(8, 40), 4: range(8, 40)}
    assert (strikes.is_out(3), strikes.is_out(5)) == (True, False)  # the second is c - d
    strikes = Strikes(OF_FOUR, TWENTY, most=2)  # faults of earlier turns count first
    faults = {0: [strike(7, 0, loser=1)], 4: [strike(1, seat, loser=0) for seat in (0, 1)]}
    games = play(strikes, faults)  # a - b, and b - d
    assert games == {0: range(4, 40), 3: range(4, 40), 4: range(4, 40)}


@pytest.mark.parametrize(
    ("first", "second", "out", "lost"),
    [
        (0, 1, ["b", "c"], 3),  # in a - b and a - c; their games are b - c
        (2, 3, ["d", "c"], 5),  # in a - d and b - c: the second of their pairing, c - d, loses
    ],
)
def test_of_two_bots_that_are_out_the_first_loses_their_games(
    first: int, second: int, out: list[str], lost: int
) -> None:
    strikes = Strikes(OF_FOUR, TWENTY, most=1)
    games = play(strikes, {number: [strike(0, 0, loser=1)] for number in (first, second)})
    assert list(strikes.out) == out
    assert games[lost] == range(40)


def test_the_schedule_decides_which_bot_went_out_first() -> None:
    """c's fault in b - c is reported before d's in a - d, but counts after it."""
    strikes = Strikes(OF_FOUR, TWENTY, most=1)
    strikes.finish(3, 0, TWENTY, [strike(0, 0, loser=1)])  # b - c
    assert list(strikes.out) == []
    for number in (0, 1):
        strikes.finish(number, 0, TWENTY)
    strikes.finish(2, 0, TWENTY, [strike(0, 0, loser=1)])  # a - d
    assert list(strikes.out) == ["d", "c"]


@pytest.mark.parametrize("seed", range(20))
def test_the_sizes_and_the_order_of_chunks_change_no_forfeit(seed: int) -> None:
    rng = Random(seed)
    games = [*product(range(TWENTY), (0, 1))]
    faults = [
        [strike(*game, rng.randrange(2)) for game in games if rng.random() < 0.1] for _ in OF_FOUR
    ]
    outcomes = []
    for sizes in ([TWENTY], [1], [3, 1, 7]):
        chunks = []
        for number in range(len(OF_FOUR)):
            first = 0
            while first < TWENTY:
                chunks.append((number, first, min(rng.choice(sizes), TWENTY - first)))
                first += chunks[-1][2]
        rng.shuffle(chunks)
        strikes, lost = Strikes(OF_FOUR, TWENTY, most=5), {}
        for number, first, pairs in chunks:
            own = [s for s in faults[number] if first <= s.pair < first + pairs]
            strikes.finish(number, first, pairs, rng.sample(own, len(own)))
            for due in strikes.take_due():
                lost |= {(due.pairing, game): due.loser for game in range(due.first, due.end)}
        outcomes.append((lost, list(strikes.out)))
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][0]


@pytest.mark.parametrize("label", ["a", "b"])
def test_of_a_pair_the_game_counts_first_in_which_the_smaller_label_began(label: str) -> None:
    """Whichever of the two stands first in the pairing; the other game is forfeited by rule."""
    other = "b" if label == "a" else "a"
    strikes = Strikes([Pairing(label, other)], TWENTY, most=1)
    losers = [int(label == "b"), int(label == "a")]  # a loses the game of seat 0, b the other
    strikes.finish(0, 0, TWENTY, [strike(3, seat, loser) for seat, loser in enumerate(losers)])
    (out,) = strikes.out
    first = 0 if label == "a" else 1
    assert out == (label, other)[losers[first]]
    assert [(due.first, due.end) for due in strikes.take_due()] == [(7 - first, 8 - first), (8, 40)]


def timing_of(*decisions: float) -> Distribution:
    timing = Distribution()
    for seconds in decisions:
        timing.add(seconds)
    return timing


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1.0, 60.0])
def test_a_quantile_is_at_most_4_5_percent_too_high_and_never_above_the_longest(
    unit: float,
) -> None:
    """The upper end of a bucket is 2 ** (1/16) = 1.0443 times the lower one."""
    timing = timing_of(*(number * unit for number in range(100, 0, -1)))
    for rank in (50, 90, 99):
        assert rank * unit <= timing.quantile(rank / 100) <= rank * unit * 1.045
    timing = timing_of(0.25, 0.25, 4.0, 4.0)
    assert 0.25 <= timing.quantile(0.5) <= 0.25 * 1.045
    assert (timing.quantile(0.51), timing_of(0.1, 0.3).quantile(0.99)) == (4.0, 0.3)
    for timing in (timing_of(), timing_of(0.0)):  # never asked, or by too coarse a clock
        assert (timing.mean, timing.longest, timing.quantile(0.99)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ([0.5, 0.25], [2.0, 0.125, 0.125]),
        ([2.0, 0.125], [0.5, 0.25, 0.125]),  # the longest is our own
        ([], [2.0, 0.5, 0.25, 0.125, 0.125]),
        ([2.0, 0.5, 0.25, 0.125, 0.125], []),
    ],
)
def test_merged_timings_are_those_of_all_decisions(mine: list[float], theirs: list[float]) -> None:
    timing, other = timing_of(*mine), timing_of(*theirs)
    timing.merge(other)
    assert (timing.count, timing.total, timing.mean, timing.longest) == (5, 3.0, 0.6, 2.0)
    for share, exact in ((0.3, 0.125), (0.5, 0.25), (0.7, 0.5), (0.9, 2.0)):
        assert exact <= timing.quantile(share) <= exact * 1.045
    assert (other.count, other.total) == (len(theirs), sum(theirs))


def test_a_timing_keeps_both_clocks_apart() -> None:
    timing, other = Timing(), Timing()
    timing.add(Spent(wall=2.0, cpu=0.5))
    other.add(Spent(wall=1.0, cpu=0.25, before=0.25))
    timing.merge(other)
    assert (timing.decisions, timing.wall.total, timing.wall.longest) == (2, 3.0, 2.0)
    assert (timing.cpu.total, timing.cpu.longest) == (1.0, 0.5)


def pace_of(count: int, seconds: float) -> Pace:
    """Return what is known of a bot that has made so many decisions, each in so long."""
    timing = Timing()
    for _ in range(count):
        timing.add(Spent(seconds, seconds))
    pace = Pace(["bot", "new"], (), Limits(), 52)
    pace.learn({"bot": timing})
    return pace


@pytest.mark.parametrize(
    ("count", "seconds", "timed"),
    [(200, 1e-5, False), (50, 1e-5, True), (200, 1e-3, True), (0, 0.0, True)],
)
def test_only_the_decisions_of_a_cheap_bot_that_is_known_are_not_timed(
    count: int, seconds: float, timed: bool
) -> None:
    """Those of one game in 64 are, whatever the bot; of two bots both must be cheap and known."""
    pace = pace_of(count, seconds)
    assert [pace.needs_no_clock(["bot"]) for _ in range(128)] == ([not timed] * 63 + [False]) * 2
    assert not pace.needs_no_clock(["bot", "new"])


def test_after_a_game_that_took_long_only_some_are_timed() -> None:
    pace = pace_of(200, 1e-5)
    for timed in (64, 256, 1024):
        assert pace.needs_no_clock(["bot"])
        pace.watch(["bot"])
        assert not any(pace.needs_no_clock(["bot"]) for _ in range(timed))


def test_the_time_of_a_run_is_of_its_workers_its_parent_and_its_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Children of before do not count; what this process has played is a worker's."""
    told = iter([(3.0, 6.0), (8.0, 12.0), (12.0, 12.0)])
    monkeypatch.setattr("arena.tournament.timing._read_clocks", lambda: next(told))
    clocks = Clocks()
    clocks.end_play()
    assert clocks.read(here=1.5) == (7.5, 3.5, 4.0)
