"""A plan is played through an executor that a test scripts; a call does what it is told."""

from __future__ import annotations

import logging
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from arena.addons.cluster import pool as pools
from arena.addons.cluster.call import (
    Answer,
    find_here,
    hash_imports,
    play_call,
    read_answer,
    write_head,
)
from arena.addons.cluster.pool import PoolExecutor
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, NoSites
from arena.executors.answers import Garbled, to_part
from arena.executors.log import Line, RunLog
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.keys import Venue
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions, version_here, versions_here
from engine import STANDARD
from tests.executors.test_contract import EXECUTORS, played

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
    for done in pool.play(plan, CUP, RunLog([])):
        plan.learn(done)
        yield done


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
    for done in pool.play(plan, CUP, log):
        plan.learn(done)
    assert lines == [("node", "ready")]


@pytest.mark.slow
def test_a_call_plays_its_chunks_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results are those of this process; its workers are those of the venue."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bots = [resolve("uniform"), resolve("greedy"), resolve("remote=greedy", lane="process")]
    cup = Tournament("call", 3, 6, bots, STANDARD, Limits(memory=256))
    chunks = [Chunk(0, 0, 2), Chunk(0, 2, 4), Chunk(1, 0, 6), Chunk(2, 0, 6)]
    data = play_call(versions_here(), write_head(cup, Venue(workers=2)), pickle.dumps(chunks))
    machine, results, lines = read_answer(data, chunks)
    assert machine == os.uname().nodename
    assert {line.process for line in lines} == {machine}
    found = {(one.chunk.pairing, *game[:2]): game for one in results for game in one.results}
    assert found == played(cup, EXECUTORS["here"])
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(Garbled, match="other games"):
        read_answer(data, chunks[1:])


@pytest.mark.parametrize("data", [b"", b"\x93", b"\xc1", b"\x93\xa1a\x90\x91\x90"])
def test_what_is_no_answer_is_not_read(data: bytes) -> None:
    """Whatever it is."""
    with pytest.raises(Garbled, match="cannot be read"):
        read_answer(data, [])


def test_a_machine_with_another_version_refuses_before_it_reads_anything() -> None:
    """The client reads it, so "there" is the machine that was called."""
    here = versions_here()
    with pytest.raises(InputError) as found:
        play_call(Versions("1" * 64, "2" * 64, "3.2", "0.9"), b"no pickle", b"")
    assert str(found.value) == (
        f"{os.uname().nodename}: engine: there {here.engine[:12]}, here {'1' * 12}; "
        f"arena: there {version_here()} ({here.arena[:12]}), here 0.9 ({'2' * 12}); "
        f"python: there {here.python}, here 3.2"
    )


def test_a_machine_says_what_a_bot_lacks_there(tmp_path: Path) -> None:
    """Another source, a module, a program, a file, a bot that it imports."""
    need = tmp_path / "need.txt"
    need.write_text("")
    first, majority = resolve("tests.rogues.first"), resolve("majority", needs=[str(need)])
    travelling = tmp_path / "imports.py"
    travelling.write_text("from bots.greedy import bot\n")
    imports = resolve(str(travelling))
    assert find_here(imports, hash_imports(imports)) == imports
    need.unlink()
    for entry, reason in (
        (replace(first, sha256="0" * 64), "'tests.rogues.first': sha256: there .*, here 0{12}$"),
        (replace(first, target="tests.rogues.gone"), "tests.rogues.gone"),
        (replace(resolve("cmd:env true"), target="cmd:no-such-program"), "no-such-program"),
        (majority, r"'majority': needs: '.*need.txt': no such file or folder"),
        (imports, "the bots that it imports: there .*, here 1{12}$"),
    ):
        with pytest.raises(InputError, match=reason):
            find_here(entry, "1" * 64)
