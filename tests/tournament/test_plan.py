"""Chunks cover every pair once; a run of meetings plays just these pairs."""

from __future__ import annotations

import shlex
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs.run import play_games, run
from arena.store.folder import RunFolder
from arena.store.manifest import manifest_text, read_tournament
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.replay_command import replay_commands
from arena.tournament.rounds import make_rounds
from arena.tournament.schedule import Meeting, PairRange, round_robin
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
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


def test_every_pair_is_in_one_chunk() -> None:
    """At any speed, from a microsecond to a minute for a pair."""
    for seconds in (1e-6, 1e-3, 0.1, 60.0):
        pairs = pairs_of(chunks(seconds))
        assert sorted(pairs) == [(pairing, pair) for pairing in range(3) for pair in range(1000)]


def test_pairings_play_in_turns() -> None:
    """Pair 0 of all, then pair 1; no pairing has more than a quarter more pairs than another."""
    for seconds in (1e-6, 0.1):
        played = [0, 0, 0]
        pairs = pairs_of(chunks(seconds))
        assert pairs[:24] == [(pairing, pair) for pair in range(8) for pairing in range(3)]
        for pairing, pair in pairs:
            assert pair == played[pairing]
            played[pairing] += 1
            assert max(played) <= max(min(played) + 1, 1.25 * min(played))


def test_what_is_listed_is_played_as_it_is_listed() -> None:
    """Verify plays games again in another order than the run."""
    listed = [[range(9, 10), range(3, 6)], [], [range(0, 1)]]
    plan = Plan(listed, Strikes(PAIRINGS, PAIRS, most=10))
    pairs = pairs_of(list(iter(plan.next, None)))
    assert pairs == [(0, 9), (0, 3), (0, 4), (0, 5), (2, 0)]


def test_a_chunk_takes_a_fraction_of_a_second() -> None:
    """After the first chunk has shown the speed, as far as a turn goes; a slow pair is one."""
    for seconds in (0.003, 0.01):
        sizes = [chunk.pairs for chunk in chunks(seconds) if chunk.first]
        assert 0.2 <= max(sizes) * seconds <= 1
    assert {chunk.pairs for chunk in chunks(5.0) if chunk.first} == {1}


def test_chunks_of_a_size_have_it_whatever_their_speed() -> None:
    """The last one has what is left."""
    plan = Plan([[range(10)]], Strikes([("a", "b")], 10, most=1), (0,), 4)  # type: ignore[list-item]
    found = []
    while chunk := plan.next():
        plan.learn(Played(chunk, [], {}, 9.0))
        found.append((chunk.first, chunk.pairs, chunk.seats))
    assert found == [(0, 4, (0,)), (4, 4, (0,)), (8, 2, (0,))]


def test_the_speed_of_a_pairing_is_that_of_one_pair() -> None:
    """At 1/16 s for a pair, a chunk of 0.3 s has four whole pairs, however many the last had.

    A round of one pairing is a single turn, so no turn's end cuts a chunk.
    """
    assert max(chunk.pairs for chunk in chunks(1 / 16)) == 4
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
    """In whatever order they are taken back."""
    plan = made()
    first, second, third, fourth = (plan.next() for _ in range(4))
    assert first
    assert second
    assert third
    assert fourth
    plan.take_back([fourth, third, first])
    plan.take_back([second])
    assert [plan.next() for _ in range(4)] == [first, second, third, fourth]
    fifth = plan.next()
    assert fifth
    assert fifth[:2] == (1, 1)


def test_a_round_of_one_pairing_has_work_for_many_workers() -> None:
    """It is cut into eight parts, but not into chunks of fewer than four pairs."""
    for pairs, sizes in ((80, [10] * 8), (10, [4, 4, 2])):
        strikes = Strikes(PAIRINGS, 0, most=10)
        strikes.extend([PairRange(1, 0, 1)])
        plan = Plan([], strikes)
        plan.learn(Played(Chunk(1, 0, 1), [], {}, 1e-6))  # they are fast
        strikes.extend([PairRange(1, 100, 100 + pairs)])
        plan.add([(1, range(100, 100 + pairs))], spread=True)
        planned = list(iter(plan.next, None))
        assert [chunk.pairs for chunk in planned] == sizes
        assert [chunk.first for chunk in planned] == [100 + n * sizes[0] for n in range(len(sizes))]


def test_a_plan_is_finished_when_all_that_was_given_out_has_been_played() -> None:
    """Not while a chunk is being played, or has come back unplayed."""
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


def test_only_wanted_pairings_are_given_out() -> None:
    """The others keep their place, also those that came back."""
    plan = Plan([[range(2)]] * 3, Strikes(PAIRINGS, PAIRS, most=10))
    odd = plan.next(lambda pairing: pairing == 1)
    assert odd is not None
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


@pytest.mark.slow
def test_its_games_are_those_of_a_round_robin() -> None:
    """A meeting goes on where the one before has ended, with its seats."""
    with closing(Store(None)) as store:
        run(replace(CUP, pairs=5), LocalExecutor(1), shown=QUIET, store=store)
        whole = {(number, *game[:2]): game[2:] for number, game in store.results()}
    with closing(Store(None)) as store:
        run(replace(CUP, meetings=MEETINGS), LocalExecutor(1), shown=QUIET, store=store)
        own = {(number, *game[:2]): game for number, game in store.results()}
    assert len(own) == 8
    for pair in range(3):
        for seat in (0, 1):  # the round robin names greedy first
            game, there = own[0, pair, seat], whole[0, pair, 1 - seat]
            assert game.actions == there[-1]
            assert (game.winner == 0) == (there[0] == 1)
    assert [own[1, 0, seat].actions for seat in (0, 1)] == [
        whole[2, 0, 1 - seat][-1] for seat in (0, 1)
    ]


def test_a_tournament_of_meetings_has_their_rounds() -> None:
    """Its sizes are those of the meetings, whatever `pairs` says."""
    tournament = replace(CUP, meetings=MEETINGS)
    assert tournament.games == 8
    assert tournament.most_pairs == 3
    rounds = make_rounds(tournament)
    assert rounds.next(0, {}, ()) == [PairRange(0, 0, 2)]
    assert rounds.next(1, {}, ()) == [PairRange(1, 0, 1), PairRange(0, 2, 3)]
    assert rounds.next(2, {}, ()) == []


@pytest.mark.slow
def test_it_is_stored_without_tables_and_read_back(tmp_path: Path) -> None:
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
    """The command of its game plays it again, with the label of the first version."""
    entries = [*CUP.entries, replace(CUP.entries[0], label="uniform@2")]
    tournament = replace(
        CUP, entries=entries, meetings=[FIRST, [Meeting("uniform@2", "greedy", 1)]]
    )
    fixture = tournament.fixture(1, 0, 1)
    assert tournament.draw(fixture).deal == tournament.draw(tournament.fixture(0, 0, 1)).deal
    with closing(Store(None)) as store:
        run(tournament, LocalExecutor(1), shown=QUIET, store=store)
        game = store.game(1, 0, 1)
    done = run_here(tmp_path, *shlex.split(replay_commands(tournament)(fixture))[1:])
    assert game is not None
    assert game.actions in done.stdout


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
    """A store is a stranger's file."""
    manifest = replace(CUP, meetings=MEETINGS).manifest() | changes
    with pytest.raises(InputError, match=why):
        read_tournament(manifest_text(manifest))
