"""A fleet plays every game once, whatever its sites do; here they do what a script says."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import pytest

from arena.addons.cluster import calls, wire
from arena.addons.cluster import fleet as fleets
from arena.addons.cluster import roster as rosters
from arena.addons.cluster.fleet import Fleet
from arena.addons.cluster.roster import Place, Roster, Site
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError
from arena.executors.log import RunLog, logger
from arena.tournament.keys import Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.executors.scripted import Scripted, ScriptedHost, faulty, won
from tests.executors.test_contract import LOG
from tests.waiting import PATIENCE

PAIRS = 8
BOTS = [resolve("greedy"), resolve("majority"), resolve("uniform")]
TOURNAMENT = Tournament("fleet", 1, PAIRS, BOTS, STANDARD)
Results = dict[tuple[int, int, int], GameResult]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing wait for long; sites that answer at once need no patience."""
    monkeypatch.setattr(fleets, "_TICK", 0.01)
    monkeypatch.setattr(calls, "_TICK", 0.01)
    monkeypatch.setattr(fleets, "_LATE_AT_LEAST", PATIENCE)
    monkeypatch.setattr(calls, "_CLOSING", 0.1)
    monkeypatch.setattr(calls, "_LOOK", 0.1)
    monkeypatch.setattr(rosters, "_PAUSE", 0.0)


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Yield the lines of the log as they come."""
    handler, found = logging.Handler(), []
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


def play(
    transport: Scripted,
    own: ScriptedHost | None = None,
    most: int = 1000,
    patience: float = PATIENCE,
    results: Results | None = None,
) -> Results:
    """Return the results of all games that have come; `own` is the host of the client's site."""
    strikes = Strikes(TOURNAMENT.pairings, PAIRS, most)
    plan = Plan([[range(PAIRS)]] * 3, strikes)
    fleet = Fleet(transport, plan, TOURNAMENT, LOG, venue=Venue(workers=1), patience=patience)
    own = own or ScriptedHost(answer=lambda _: pytest.fail("the client plays"))
    fleet.own.place = Place(own)
    transport.changed = fleet.calls.look
    results = {} if results is None else results
    for played in fleet.play():
        plan.learn(played)
        for result in played.results:
            place = (played.chunk.pairing, *result[:2])
            assert place not in results
            results[place] = result
    assert plan.is_finished
    return results


def every() -> set[tuple[int, int, int]]:
    """Return the places of all games."""
    return {(number, pair, seat) for number in range(3) for pair in range(PAIRS) for seat in (0, 1)}


class Times:
    """Answers so many times with one script, and then with another."""

    def __init__(self, times: int, first: Any, then: Any) -> None:
        self.left = times
        self.first = first
        self.then = then

    def __call__(self, chunks: Sequence[Chunk]) -> Any:
        self.left -= 1
        return (self.first if self.left >= 0 else self.then)(chunks)


def silent(_chunks: Sequence[Chunk]) -> None:
    """Give no answer."""


def fails(_chunks: Sequence[Chunk]) -> None:
    raise ArenaError("its disk is full")


def garbles(_chunks: Sequence[Chunk]) -> bytes:
    return b"\xc1"


def test_all_sites_play_and_are_closed() -> None:
    """Every game comes once, and each site is closed once."""
    hosts = {"a": ScriptedHost(), "b": ScriptedHost(cores=3)}
    assert play(Scripted(**hosts)).keys() == every()
    for host in hosts.values():
        assert host.asked
        assert host.closed == host.opened != []


@pytest.mark.parametrize("bad_answer", [fails, garbles])
def test_a_site_that_fails_is_opened_again_and_at_last_left_out(
    bad_answer: Any, lines: list[str]
) -> None:
    """Its batches go elsewhere; the log says it, and no value waits to be taken."""
    transport = Scripted()

    def answer(chunks: Sequence[Chunk]) -> Any:
        if len(bad.opened) == 3 and "good" not in transport.hosts:
            transport.join("good", ScriptedHost())
        return bad_answer(chunks)

    transport.hosts["bad"] = bad = ScriptedHost(answer)
    assert play(transport).keys() == every()
    assert len(bad.opened) == 3
    assert {*bad.closed} == {*bad.opened}
    reason = {"fails": "its disk is full", "garbles": "its answer cannot be read"}
    ended, again, out = (line for line in lines if line.startswith("site bad"))
    assert ended == again
    assert f"site bad has ended: {reason[bad_answer.__name__]}" in ended
    assert f"site bad is left out after 3 failures: {reason[bad_answer.__name__]}" in out


def test_only_failures_in_a_row_leave_a_host_out() -> None:
    """A batch that was played begins the count anew, of the host and of all hosts."""
    roster = Roster(PATIENCE)
    roster.join("a", Place(ScriptedHost()))
    ends = []
    for fails in (True, True, False, True, True):
        (host,) = roster.to_open()
        site = host.site = Site(host)
        if fails:
            roster.fail(site, "it has gone")
        else:
            roster.succeed(site)
            host.site = None
        ends.append(roster.ends)
    assert ends == [1, 2, 0, 1, 2]
    assert [*roster.to_open()] == [host]


def test_a_site_that_is_lost_in_the_middle_costs_nothing() -> None:
    """Its host leaves with two batches on the way, which another one plays."""
    transport = Scripted(b=ScriptedHost())

    def leaves(_chunks: Sequence[Chunk]) -> None:
        transport.leave("a")

    transport.hosts["a"] = a = ScriptedHost(Times(3, won, leaves))
    assert play(transport).keys() == every()
    assert len(a.asked) >= 4


def test_a_host_that_comes_later_plays() -> None:
    """Also one with the name of a host that has left."""
    transport = Scripted()

    def leaves(_chunks: Sequence[Chunk]) -> None:
        transport.leave("a")
        transport.join("a", ScriptedHost())

    transport.hosts["a"] = ScriptedHost(leaves)
    assert play(transport).keys() == every()


def test_that_there_is_no_site_is_said_once(lines: list[str]) -> None:
    """The run waits for the first one without being silent."""
    with pytest.raises(ArenaError, match=r"there was no site for 0\.1 s"):
        play(Scripted(), patience=0.1)
    assert lines.count("there is no site; waiting up to 0.1 s for one") == 1


def test_a_site_that_refuses_is_left_out(lines: list[str]) -> None:
    """It is never asked for a game, and the others play; the log has its reasons."""
    other = ScriptedHost(hello=wire.Hello(["engine: there 1f, here 2e", "python: \x1b[2J"], []))
    assert play(Scripted(a=other, b=ScriptedHost())).keys() == every()
    assert other.asked == []
    assert other.closed == other.opened
    assert "site a is left out: engine: there 1f, here 2e; python: \\x1b[2J" in lines


def test_a_site_where_a_bot_does_not_start_is_left_out(lines: list[str]) -> None:
    """It starts here, so that it is the site that lacks something."""
    problem = "bot 'greedy': does not start: no module named numpy"
    other = ScriptedHost(hello=wire.Hello([], [problem]))
    assert play(Scripted(a=other, b=ScriptedHost())).keys() == every()
    assert other.asked == []
    assert f"site a is left out: {problem}" in lines


def test_if_all_sites_refuse_nothing_is_played() -> None:
    """It is an error of what was asked for, with the first reason."""
    hosts = {name: ScriptedHost(hello=wire.Hello(["python: 3.12"], [])) for name in ("a", "b")}
    with pytest.raises(InputError, match=r"no site can play this run: a: python: 3\.12"):
        play(Scripted(**hosts))


def test_if_all_sites_fail_the_games_so_far_have_come() -> None:
    """It ends with NoSites, which says why."""
    results: Results = {}
    with pytest.raises(ArenaError, match="all sites are left out, the last: a: its disk is full"):
        play(Scripted(a=ScriptedHost(Times(5, won, fails))), results=results)
    assert len(results) >= 5


@pytest.mark.slow
def test_if_the_last_host_leaves_the_fleet_waits_with_patience() -> None:
    """And then ends."""
    transport = Scripted()

    def leaves(_chunks: Sequence[Chunk]) -> None:
        transport.leave("a")

    transport.hosts["a"] = ScriptedHost(Times(3, won, leaves))
    with pytest.raises(ArenaError, match="no site for 3 s, the last: a: its host has gone"):
        play(transport, patience=3)  # in which a busy machine sees that it came


def test_a_site_that_opens_for_long_is_waited_for() -> None:
    """Thirty bots may take longer to start than there may be no site."""
    transport = Scripted(a=ScriptedHost(hello=None))

    def joins() -> None:
        transport.leave("a")
        transport.join("b", ScriptedHost())

    threading.Timer(0.5, joins).start()
    assert play(transport, patience=0.1).keys() == every()


def test_if_the_transport_is_gone_the_games_so_far_have_come() -> None:
    """There is nobody left to wait for."""
    transport = Scripted()
    results: Results = {}
    transport.hosts["a"] = ScriptedHost(
        Times(5, won, lambda _: transport.end("the scheduler is gone"))
    )
    with pytest.raises(ArenaError, match="the scheduler is gone"):
        play(transport, results=results)
    assert len(results) >= 5


def test_a_slow_site_loses_no_time_and_its_answer_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An idle site plays its batches, too; what the slow one says is too late."""
    monkeypatch.setattr(fleets, "_LATE_AT_LEAST", 0.0)
    late: list[tuple[Future[Any], Any]] = []
    said = threading.Event()

    class Late(ScriptedHost):
        def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
            if function.__name__ != "play_batch" or said.is_set():
                return super().submit(function, *args)
            late.append((Future(), args))
            return late[-1][0]

    class Idle(ScriptedHost):
        def submit(self, function: Any, /, *args: Any, **_: Any) -> Future[Any]:
            future = super().submit(function, *args)
            if late and args[-1:] == late[-1][1][-1:]:
                said.set()
                while late:
                    slow, asked = late.pop()
                    slow.set_result(a.call("play_batch", *asked))
            return future

    a = Late()
    assert play(Scripted(a=a, b=Idle())).keys() == every()
    assert said.is_set()


def test_a_silent_site_is_given_up(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    """Where its host is stopped, nothing else tells of it; the next one plays."""
    monkeypatch.setattr(calls, "_BEAT", 0.01)
    monkeypatch.setattr(fleets, "_SILENCE", 0.2)

    def stops(chunks: Sequence[Chunk]) -> list[GameResult] | None:
        host.is_silent = len(host.opened) == 1
        return None if host.is_silent else won(chunks)

    host = ScriptedHost(stops)
    assert play(Scripted(a=host)).keys() == every()
    assert "site a has ended: no sign of life for 0.2 s; its games are still to be played" in lines


def test_a_doubtful_fault_counts_only_where_another_host_sees_it() -> None:
    """The second result counts."""
    a, b = ScriptedHost(faulty("crash")), ScriptedHost()
    results = play(Scripted(a=a, b=b))
    assert results.keys() == every()
    assert a.asked
    assert {result.win_type for result in results.values()} == {"points"}


def test_an_illegal_action_needs_no_second_look() -> None:
    """It hangs on no machine."""
    a, b = ScriptedHost(faulty("illegal")), ScriptedHost()
    results = play(Scripted(a=a, b=b))
    assert results.keys() == every()
    assert len(a.asked) + len(b.asked) == 3 * PAIRS
    for _, chunk in a.asked:
        assert results[chunk.pairing, chunk.first, 0].win_type == "forfeit"


def test_while_a_game_is_in_doubt_no_more_of_its_pairing_are_given_out() -> None:
    """Else a bot that always crashes would play all its games before it is out."""
    host = ScriptedHost(faulty("crash"))
    play(Scripted(a=host), ScriptedHost(faulty("crash"), opens_after=0.5), most=1)
    first = Counter(chunk.pairing for _, chunk in host.asked)
    assert max(first.values()) <= 4 < PAIRS  # two batches of two chunks


def test_a_fault_that_two_hosts_see_stays() -> None:
    """And no third one is asked."""
    hosts = {name: ScriptedHost(faulty("timeout")) for name in ("a", "b")}
    results = play(Scripted(**hosts))
    assert results.keys() == every()
    assert {result.win_type for result in results.values()} == {"forfeit"}


def test_without_another_host_the_client_looks_again() -> None:
    """Its own site plays only what is in doubt; its result counts."""
    own = ScriptedHost()
    results = play(Scripted(a=ScriptedHost(Times(3, faulty("memory"), won))), own)
    assert results.keys() == every()
    assert 1 <= len(own.asked) < 3 * PAIRS
    assert {result.win_type for result in results.values()} == {"points"}
    assert own.closed == own.opened != []


def test_a_game_is_played_again_also_if_the_second_site_is_lost() -> None:
    """The client's own site fails once, and is opened again."""
    own = ScriptedHost(Times(1, fails, won))
    results = play(Scripted(a=ScriptedHost(Times(1, faulty("memory"), won))), own)
    assert results.keys() == every()
    assert {result.win_type for result in results.values()} == {"points"}
    assert len(own.opened) == 2


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (ScriptedHost(fails), "its disk is full"),
        (ScriptedHost(hello=wire.Hello(["no bubblewrap"], [])), "no bubblewrap"),
    ],
    ids=["fails", "refuses"],
)
def test_if_nobody_can_look_again_it_ends(own: ScriptedHost, reason: str) -> None:
    """A fault that may be the machine's is never booked unseen."""
    with pytest.raises(ArenaError, match=f"the client: {reason}"):
        play(Scripted(a=ScriptedHost(faulty("memory"))), own)
    assert len(own.opened) <= 3


def test_forfeits_by_rule_pass_over_what_waits() -> None:
    """Both bots of the first pairing go out; what is on the way of them counts for nothing."""
    hosts = {name: ScriptedHost(faulty("illegal")) for name in ("a", "b")}
    results = play(Scripted(**hosts), most=1)
    assert results.keys() < every()
    assert (0, 0, 0) in results


def test_forfeits_by_rule_pass_over_what_is_to_be_played_again() -> None:
    """A doubtful game of a bot that has gone out meanwhile is not waited for."""
    transport = Scripted()
    first = Times(1, faulty("crash"), faulty("illegal"))
    transport.hosts = {"a": ScriptedHost(first), "b": ScriptedHost(faulty("illegal"))}
    assert play(transport, most=1).keys() <= every()


def test_closed_early_it_closes_its_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are just asked for a sign of life."""
    monkeypatch.setattr(calls, "_BEAT", 0.0)
    host = ScriptedHost(is_silent=True)
    strikes = Strikes(TOURNAMENT.pairings, PAIRS, 1000)
    plan = Plan([[range(PAIRS)]] * 3, strikes)
    played = Fleet(Scripted(a=host), plan, TOURNAMENT, LOG, venue=Venue(workers=1)).play()
    next(played)
    played.close()
    assert host.closed == host.opened != []


def test_each_place_of_a_pool_plays_and_opens_a_site_for_each_batch() -> None:
    """Nothing is opened, beaten or closed; later batches have more chunks."""
    hosts = {name: ScriptedHost(pool="two processes") for name in ("1", "2")}
    assert play(Scripted(**hosts)).keys() == every()
    for host in hosts.values():
        assert host.asked
        assert host.opened == host.closed == []


def test_a_doubtful_fault_in_a_pool_is_looked_at_by_the_client() -> None:
    """Its places may all be on one machine."""
    own = ScriptedHost()
    hosts = {name: ScriptedHost(faulty("crash"), pool="two processes") for name in ("1", "2")}
    results = play(Scripted(**hosts), own)
    assert results.keys() == every()
    assert len(own.asked) == len(every()) / 2
    assert {result.win_type for result in results.values()} == {"points"}


def test_a_pool_that_lacks_something_plays_nothing() -> None:
    """Each of its places says so with its first batch."""
    lacking = ScriptedHost(hello=wire.Hello(["python: 3.12"], []), pool="one process")
    with pytest.raises(InputError, match=r"no site can play this run: 1: python: 3\.12"):
        play(Scripted(**{"1": lacking}))


def test_a_pool_whose_processes_die_has_lost_its_sites() -> None:
    """As that of concurrent.futures, which takes no calls any more."""
    broken = ScriptedHost(fails, pool="one process")
    with pytest.raises(ArenaError, match="all sites are left out, the last: 1: its disk is full"):
        play(Scripted(**{"1": broken}))


def test_what_a_site_logs_is_repeated_under_its_name(lines: list[str]) -> None:
    """Its own lines in the client's log; those of its workers only where the workers' are."""
    said = [wire.Line(name, logging.WARNING, f"of {name}") for name in ("MainProcess", "worker-1")]
    written: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: written.append(record.getMessage())  # type: ignore[method-assign]

    log = RunLog([handler])
    plan = Plan([[]] * 3, Strikes(TOURNAMENT.pairings, PAIRS, 1))
    fleet = Fleet(Scripted(), plan, TOURNAMENT, log, venue=Venue(workers=1))
    fleet._repeat("a", said)  # type: ignore[arg-type]
    assert lines == ["site a: of MainProcess"]
    assert written == ["of worker-1"]
