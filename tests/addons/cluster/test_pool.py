"""A plan is played through an executor that a test scripts: what is lost, in doubt, or late."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any

import msgspec
import pytest

from arena.addons.cluster import pool as pools
from arena.addons.cluster.call import Answer
from arena.addons.cluster.pool import PoolExecutor
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, NoSites
from arena.executors.answers import to_part
from arena.executors.log import Line, RunLog
from arena.lanes.faults import Fault
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD

PAIRS = 12
CUP = Tournament("cup", 3, PAIRS, [resolve("uniform"), resolve("greedy")], STANDARD)
Playing = Callable[[Sequence[Chunk]], list[Played]]


def won(chunks: Sequence[Chunk], fault: Fault | None = None) -> list[Played]:
    """Return chunks of games that the first bot has won, or lost by a fault."""
    how: Any = (1, "forfeit") if fault else (0, "points")
    return [
        Played(
            chunk,
            [
                GameResult(pair, seat, *how, 1, 0, 2, fault, "55")
                for pair in range(chunk.first, chunk.first + chunk.pairs)
                for seat in (0, 1)
            ],
            {},
            1.0,
        )
        for chunk in chunks
    ]


def faulty(kind: str) -> Playing:
    return lambda chunks: won(chunks, Fault(kind, "as it was told"))


class Scripted(Executor):
    """Answers each call at once as a function plays; one that raises fails the call."""

    def __init__(self, play: Playing = won, lines: Sequence[Line] = ()) -> None:
        self.play = play
        self.lines = [*lines]
        self.asked: list[list[Chunk]] = []
        self.silent = False
        self.futures: list[Future[bytes]] = []

    def submit(self, _function: Any, /, *args: Any, **_: Any) -> Future[Any]:
        """Answer a call, or never."""
        chunks = pickle.loads(args[-1])
        self.asked.append(chunks)
        future: Future[bytes] = Future()
        self.futures.append(future)
        if self.silent:
            return future
        try:
            parts = [to_part(one) for one in self.play(chunks)]
            future.set_result(msgspec.msgpack.encode(Answer("node", parts, self.lines)))
        except Exception as error:
            future.set_exception(error)
        return future


def play(
    executor: Executor, count: Callable[[], int] = lambda: 2, patience: float = 60.0, most: int = 99
) -> Iterator[Played]:
    """Yield the results of the cup, from which the plan learns."""
    plan = Plan([[range(PAIRS)]], Strikes(CUP.pairings, PAIRS, most))
    pool = PoolExecutor(executor, count, "scripted processes", patience=patience)
    for played in pool.play(plan, CUP, RunLog([])):
        plan.learn(played)
        yield played


def games(played: Iterator[Played]) -> list[GameResult]:
    return sorted((game for one in played for game in one.results), key=lambda game: game[:2])


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """Return the list of chunks that are replayed here, where every game is won."""
    replayed: list[Chunk] = []

    def play_here(_workers: int, _cup: object, _venue: object, chunks: Any, *_: Any) -> Any:
        replayed.extend(chunks)
        return won(chunks)

    monkeypatch.setattr(pools, "play_chunks", play_here)
    return replayed


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of what the run says."""
    lines: list[str] = []
    monkeypatch.setattr(
        logging.getLogger("arena"), "warning", lambda text, *args: lines.append(text % args)
    )
    return lines


def test_every_game_comes_once(replays: list[Chunk]) -> None:
    """Several chunks travel in a call, and nothing is replayed."""
    executor = Scripted()
    assert games(play(executor)) == won([Chunk(0, 0, PAIRS)])[0].results
    assert sum(chunk.pairs for call in executor.asked for chunk in call) == PAIRS
    assert replays == []


@pytest.mark.parametrize("kind", ["crash", "timeout", "import"])
def test_a_fault_that_a_machine_may_have_caused_counts_only_if_it_recurs_here(
    kind: str, replays: list[Chunk], said: list[str]
) -> None:
    """All pairs with one are replayed; a machine with such faults is named once."""
    assert games(play(Scripted(faulty(kind)))) == won([Chunk(0, 0, PAIRS)])[0].results
    assert sorted(chunk.first for chunk in replays) == [*range(PAIRS)]
    assert said == ["node: as it was told; not so here: uniform - greedy"]


@pytest.mark.parametrize("kind", ["illegal", "idle"])
def test_a_fault_that_no_machine_causes_is_final(kind: str, replays: list[Chunk]) -> None:
    """An illegal action is one everywhere."""
    assert {game.fault and game.fault.kind for game in games(play(Scripted(faulty(kind))))} == {
        kind
    }
    assert replays == []


def test_while_a_fault_is_in_doubt_no_more_games_of_its_pairing_are_given_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a bot that always crashes is soon out, and the rest of its games is not played."""
    fault = Fault("crash", "as it was told")
    monkeypatch.setattr(pools, "play_chunks", lambda *args: won(args[3], fault))
    executor = Scripted(faulty("crash"))
    found = games(play(executor, count=lambda: 1, most=1))
    assert len(found) < 2 * PAIRS
    assert len(executor.asked) == 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda chunks: won(chunks[1:]), "other games than it was asked for"),
        (lambda chunks: won([*chunks, chunks[0]]), "other games than it was asked for"),
        (lambda _: {}["\x1b[2J\nlost"], r"was lost: '\\x1b"),
    ],
)
def test_what_is_no_answer_ends_the_run(answer: Playing, reason: str) -> None:
    """In one line; the games so far have come."""
    with pytest.raises(NoSites, match=reason) as found:
        games(play(Scripted(answer)))
    assert str(found.value).startswith("a call to scripted processes was lost: ")
    assert "\n" not in str(found.value)


def test_a_machine_that_lacks_something_ends_the_run() -> None:
    """It is an error of what was asked for, as on this machine."""

    def play_call(_chunks: Sequence[Chunk]) -> list[Played]:
        raise InputError("node: python: there 3.12, here 3.11")

    with pytest.raises(InputError, match=r"^node: python: there 3.12, here 3.11$"):
        games(play(Scripted(play_call)))


def test_that_there_is_no_machine_is_said_once_and_then_ends_the_run(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many seconds; one that comes in time plays."""
    monkeypatch.setattr(pools, "_TICK", 0.01)
    with pytest.raises(ArenaError, match=r"there was no machine for 0\.1 s"):
        games(play(Scripted(), count=lambda: 0, patience=0.1))
    assert said == ["there is no machine; waiting up to 0.1 s for one"]
    counts = iter([0, 0, 0])
    assert len(games(play(Scripted(), count=lambda: next(counts, 1)))) == 2 * PAIRS


def test_what_workers_log_is_repeated_under_the_name_of_their_machine() -> None:
    """In the run's log."""
    lines: list[tuple[str, str]] = []
    log = RunLog([])
    log.write = lambda process, line: lines.append((process, line.text))  # type: ignore[method-assign]
    plan = Plan([[range(1)]], Strikes(CUP.pairings, 1, 99))
    pool = PoolExecutor(Scripted(lines=[Line("node", 20, "ready")]), lambda: 1, "processes")
    for played in pool.play(plan, CUP, log):
        plan.learn(played)
    assert lines == [("node", "ready")]
