"""Each item of a report says what is so, and the rating that ends it too."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from arena.check import SLOWER, inspector
from arena.check.inspector import Inspection, check_time, run_check
from arena.check.item import NAMES, Item, Order, complete, fail, to_data
from arena.check.sparring import VARIANTS, Climb, CutShort, Games, Watch, open_games
from arena.entries.catalogue import ELO
from arena.entries.resolve import resolve
from arena.entries.spec import Lane
from arena.errors import ArenaError, Exhausted
from arena.lanes.faults import Fault
from arena.lanes.launch import Launch
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult
from arena.tournament.timing import Distribution
from bench.studies import guess
from engine import STANDARD
from tests.rogues import write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

FIRST = "return view.legal[0]"


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Item]:
    """Return the report of a bot that takes the first legal action, by the names of the items."""
    path = write(tmp_path_factory.mktemp("honest"), "checked", FIRST)
    return {item.name: item for item in run_check(Order(str(path), "process", games=4))}


def test_an_honest_bot_has_no_fault_and_each_item_says_why(honest: dict[str, Item]) -> None:
    """In the order of the report, but for the other lane; numbers stand in line and figures."""
    assert tuple(honest) == NAMES
    assert {name for name, item in honest.items() if item.status != "ok"} == {"lane jail"}
    assert honest["lane jail"].status == "none"
    assert not any(item.command for item in honest.values())
    lines = {
        "binds bot": "to something that can be called",
        "parameters": "needs none",
        "lane process": "4 games: no fault",
        "same seed": "4 games played again: the same moves",
        "lane inproc": "4 games played again: the same moves",
        "hidden cards": "8 decisions asked again: the same answers",
        "rules variants": f"all {len(VARIANTS)}: no fault",
    }
    assert {name: honest[name].message for name in lines} == lines
    assert honest["lane process"].figures == honest["lane inproc"].figures == {"games": 4}
    rating = honest["rating"].figures
    assert sum(one["games"] for one in rating["against"].values()) == rating["games"] == 8
    assert rating["low"] < rating["elo"] < rating["high"]
    assert honest["time"].figures["decisions"] > 50


@pytest.mark.parametrize(
    ("longest", "status", "message"),
    [
        (0.0004, "ok", "median 0.0001 ms, 99 % 0.4 ms, longest 0.4 ms per decision"),
        (0.9, "ok", "median 0.0001 ms, 99 % 0.9 s, longest 0.9 s per decision"),
        (1.1, "warn", "median 0.0001 ms, 99 % 1.1 s, longest 1.1 s per decision; the limit is 2 s"),
    ],
)
def test_more_than_half_the_limit_is_a_warning(longest: float, status: str, message: str) -> None:
    """Of 50 decisions one is long: it is the longest, and with the 99 % the slowest."""
    times = Distribution()
    for seconds in (*[1e-7] * 49, longest):
        times.add(seconds)
    item = check_time(times, 2.0)
    assert (item.name, item.status, item.message) == ("time", status, message)
    assert item.figures["decisions"] == 50
    assert item.figures["max"] == longest


def test_a_failure_shows_its_end_and_items_not_reached_are_not_tried() -> None:
    """Three lines of each, without those that the message has; the order is that of the report."""
    fault = Fault("exception", "ValueError: no", "1\n2\n3\n4\nValueError: no", "a\nb\nc\nd\n")
    item = fail("lane process", fault, "at ply 3 against greedy", "arena game x greedy")
    assert to_data(item) == {
        "name": "lane process",
        "status": "fail",
        "message": "exception at ply 3 against greedy: ValueError: no",
        "kind": "exception",
        "evidence": ("3", "4", "b", "c", "d"),
        "command": "arena game x greedy",
    }
    assert fail("time", Fault("timeout", "")).message == "timeout: no answer in time"
    found = [Item("imports", "ok", ""), Item("parameters", "fail", "no")]
    items = list(complete(found))
    assert tuple(item.name for item in items) == NAMES
    assert [items[0], items[2]] == found
    others = [items[1], *items[3:]]
    assert {(item.status, item.message) for item in others} == {("none", "not tried")}


@pytest.mark.parametrize(
    ("used", "clock", "why"),
    [
        (9.0, 9.0 * SLOWER, ""),  # on a busy machine
        (11.0, 11.0, "in 11 s the bot used 11 s of processor time"),
        (2.0, 601.0, "in 601 s the bot used 2 s of processor time"),  # it sleeps
    ],
)
def test_the_time_of_a_check_is_what_the_bot_works(
    monkeypatch: pytest.MonkeyPatch, used: float, clock: float, why: str
) -> None:
    """Who sleeps is found by the clock, much later."""
    now = iter([100.0, 100.0, 100.0 + clock])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    named: list[str] = []
    watch = Watch(named.append, 10.0)
    watch.begin("same seed")
    watch.used = used
    if not why:
        watch.look()
    else:
        with pytest.raises(CutShort) as raised:
            watch.look()
        assert str(raised.value) == f"cut short at 'same seed': {why}"
        watch.look()  # as its bots are ended
    assert named == ["same seed"] * 2


@pytest.mark.parametrize("where", ["a folder", "a start", "the games"])
def test_a_refusal_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Folders and processes of the check, those of the bot, and those of its games."""

    def refuse(*_: object, **__: object) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    owner, name = {
        "a folder": (inspector, "resolve"),
        "a start": (Launch, "popen"),
        "the games": (Games, "play"),
    }[where]
    monkeypatch.setattr(owner, name, refuse)
    path = write(tmp_path, "first", FIRST)
    with pytest.raises(Exhausted, match="No space left on device"):
        list(run_check(Order(str(path), "process", games=4)))


@pytest.mark.parametrize("lane", ["process", pytest.param("jail", marks=needs_jail)])
def test_who_waits_for_a_check_can_end_it(tmp_path: Path, lane: Lane) -> None:
    """While a bot thinks, in a worker or in this process; what it had started is gone."""
    body = "while True: pass"
    path = write(tmp_path, "loops", body)
    begun: list[float] = []

    def stop(stage: str) -> None:
        begun.extend([time.monotonic()] * stage.startswith("lane"))
        if begun and time.monotonic() - begun[0] > 1.0:
            raise ArenaError("stopped")

    order = Order(str(path), lane, limits=Limits(start=20.0, decision=20.0))
    with pytest.raises(ArenaError, match="stopped"):
        list(run_check(order, stop))


def check_failures(inspection: Inspection) -> None:
    """Find the items of moves that differ, and of a fault, with the commands that show them."""
    fixture, actions = next(iter(inspection.games.actions.items()))
    item = inspection._compare("same seed", {fixture: f"{actions[:-1]}?"}, "why?")
    assert (item.status, item.kind) == ("fail", "differs")
    assert item.message == f"other moves from ply {len(actions) - 1} on: why?"
    commands = [item.command]
    inspection.trials = Mock(actions=inspection.games.actions)
    inspection.trials.find_questions.return_value = [(fixture, 3)]
    inspection.trials.find_peeking.return_value = f"{actions[:3]}?"
    item = inspection._ask_again("hidden cards")
    assert (item.status, item.kind) == ("fail", "hidden")
    assert item.message == "other moves from ply 3 on: only cards that it cannot see differed"
    (item,) = inspection.games.blame(Fault("crash", "x"), fixture, None, STANDARD, "at ply 5 ").args
    assert item.message == "crash at ply 5 against uniform: x"
    commands.append(item.command)
    assert all(command.startswith("arena game ") for command in commands)


def test_a_pair_is_played_once_and_the_opponents_faults_are_its_own(tmp_path: Path) -> None:
    """What was played in the lane counts for the rating; a late bot of ours is not the bot's."""
    path = write(tmp_path, "first", FIRST)
    entry, order = resolve(str(path), lane="process"), Order(str(path), "process")
    watch = Watch(lambda _: None, 1e9)
    with open_games(entry, order, watch) as games:
        games.play_series(1)
        assert len(games.actions) == 4
        crew, games._crew = games._crew, Mock()
        scores = [games.score(opponent, 0) for opponent in ("uniform", "greedy")]
        assert sum(scores) == sum(games.scores.values())
        fixture = games.fixture("timing", 0, 1)
        late = GameResult(0, 1, 0, "forfeit", 0, 0, 5, Fault("timeout", "late"), "")
        games._crew.play.return_value = [Mock(timings={}, results=[late])]
        games.play("timing", 0, seats=(1,))
        assert games.scores[fixture] == 1.0
        assert fixture not in games.actions
        games._crew = crew
        check_failures(Inspection(entry, order, Mock(), games))
    assert watch.used > 0


@pytest.mark.parametrize(
    ("score", "beginning", "end"),
    [(2.0, "at least ", ": won all of 80 games"), (0.0, "at most ", ": won none of 80 games")],
)
def test_a_bot_that_wins_all_or_none_has_one_bound(score: float, beginning: str, end: str) -> None:
    """It still meets several, and the rating is finite; the figures have the games against each."""
    climb = Climb(ELO, lambda _: score)
    climb.play(40)
    assert len(climb.in_reach()) in (1, 5)
    assert -1000 < climb.rating().low < climb.rating().high < 4000
    item = climb.to_item()
    assert item.message.startswith(beginning)
    assert item.message.endswith(end)
    games = {name: one["games"] for name, one in item.figures["against"].items()}
    assert sum(games.values()) == item.figures["games"] == 80
    scores = {name: one["score"] for name, one in item.figures["against"].items()}
    assert scores == {name: number / 2 * score for name, number in games.items()}


def climb(elo: float) -> Climb:
    """Return the climb of a bot of this Elo after 40 pairs without luck."""

    def meet(anchor: int) -> float:
        lead = elo - [*ELO.values()][anchor]
        return float(2 / (1 + 10 ** (-lead / 400)))

    played = Climb(ELO, meet)
    played.play(40)
    return played


@pytest.mark.parametrize("elo", [1100, 1500, 1800])
def test_pairs_are_spread_evenly_over_the_nearest_anchors(elo: int) -> None:
    """Each of those in reach has as many as the next one, and only the way there cost others."""
    played = climb(elo)
    pairs = [len(own) for own in played.scores]
    near = [pairs[anchor] for anchor in played.in_reach()]
    assert sum(pairs) == 40
    assert len(near) == 5
    assert max(near) - min(near) <= 2
    assert sum(near) >= 30


def test_a_guess_says_what_it_is_and_anchors_that_win_nearly_all_are_out_of_reach() -> None:
    """A number, its interval, its place on the ladder, and from how many games; also from few."""
    played = climb(ELO["uniform"] - 150)
    assert played.in_reach() == [0]
    assert len(played.scores[0]) >= 30
    for pairs in range(8):
        few_pairs = Climb(ELO, lambda _: 1.0)
        few_pairs.play(pairs)
        assert sum(map(len, few_pairs.scores)) == pairs
    played = climb(1500)
    message, rated = played.to_item().message, played.rating().value
    assert rated == pytest.approx(1500, abs=1)
    assert message.startswith(f"about {rated:.0f} (")
    assert message.endswith("), between timing and ismcts: a first guess from 80 games")


@pytest.mark.slow
def test_twenty_seeds_of_five_real_bots_agree_within_their_intervals() -> None:
    """Of 100 checks 95; their pairs are drawn of the ladder's own, and deviate as these do."""
    bots = ("uniform", "city_hunter", "greedy", "timing", "grandmaster")
    held = [guess.guess_real(bot, run).held for bot in bots for run in range(20)]
    assert sum(held) >= 95


SPREADS = [(1400, 38.0, 60, 52 / 60)]
SPREADS += [(elo, by, 1000, 0.93) for elo in guess.ELOS for by in (0.0, 20.0, 38.0, 60.0)]


@pytest.mark.parametrize(("elo", "spread", "checks", "least"), few(SPREADS, 0, 1, unpack=True))
def test_intervals_hold_the_rating(elo: int, spread: float, checks: int, least: float) -> None:
    """Of simulated checks 95 % are expected; fewer than the least have less than 1 %."""
    assert guess.guess_often(elo, spread, checks, workers=2).held >= least
