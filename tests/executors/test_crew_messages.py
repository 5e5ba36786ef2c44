"""What a worker sends, answers and log, has a form and is not lost; whose fault a death is."""

from __future__ import annotations

import logging
import pickle
import struct
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from multiprocessing_logging import MultiProcessingHandler

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import WorkerDied
from arena.executors import log
from arena.executors.crew_messages import (
    MOST,
    Answer,
    Asking,
    Failed,
    Frames,
    Garbled,
    LastWords,
    Part,
    Progress,
    Results,
    pack,
    read_answer,
    write_answer,
)
from arena.executors.local import Deaths, LocalExecutor
from arena.executors.log import run_log
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Pairing
from arena.tournament.timing import SPENT, Timing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules
from engine.strategy import Spent
from tests.kit import Games, play_plan
from tests.rogues import FOLDER, first
from tests.tiers import few

CHUNK = Chunk(0, 5, 1, seats=(1,))
GAME = GameResult(5, 1, 0, "points", 10, -8, 4, None, "567T")
FAULT = Fault("exception", "ValueError: no", "Traceback\nline", "printed\n")
FORFEIT = GAME._replace(win_type="forfeit", fault=FAULT)
DRAW = GAME._replace(win_type="draw", winner=None)


def reread(answer: Answer, chunks: Sequence[Chunk] = (CHUNK,)) -> Any:
    """Return what a worker's answer about chunks is read as."""
    frames = Frames()
    frames.add(write_answer(answer))
    (data,) = frames.take()
    return read_answer(data, chunks)


def part(*results: GameResult, timings: Any = None, **changes: Any) -> Part:
    """Return the results of the chunk as they are sent."""
    return Part(0, 5, 1, [*results], timings or {}, 1.5, [], "")._replace(**changes)


@pytest.mark.parametrize("game", [GAME, FORFEIT, DRAW, GAME._replace(points=999_999)])
def test_what_can_be_is_read_as_it_was_written(game: GameResult) -> None:
    """With the times."""
    timing = Timing()
    timing.add(Spent(wall=0.5, cpu=0.25, before=0.0))
    played = Played(CHUNK, [game], {"one": timing}, 1.5)
    (found,) = reread([played])
    assert isinstance(found, Played)
    assert (found.results, found.seconds) == ([game], 1.5)
    assert found.timings == {"one": timing}


@pytest.mark.parametrize(
    "sent",
    [
        part(),
        part(GAME, GAME),
        part(GAME._replace(pair=6)),
        part(GAME._replace(seat=0)),
        part(GAME, refusal="no"),
    ],
    ids=["none", "twice", "another pair", "another seat", "refused"],
)
def test_other_games_than_were_asked_for_are_refused(sent: Part) -> None:
    """Also the right ones beside what belongs to another question."""
    with pytest.raises(Garbled, match="other games than it was asked for"):
        read_answer(msgspec.msgpack.encode(Results([sent])), [CHUNK])


def test_results_of_several_chunks_come_in_the_order_in_which_they_were_given() -> None:
    """They may be some of the first; not more, and not those of other chunks."""
    chunks = [CHUNK, Chunk(1, 5, 1, seats=CHUNK.seats), Chunk(2, 5, 1, seats=CHUNK.seats)]
    played = [Played(chunk, [GAME], {}, 1.5) for chunk in chunks]
    for most in (1, 2, 3):
        assert [one.chunk for one in reread(played[:most], chunks)] == chunks[:most]
    later = played[0]._replace(results=[GAME._replace(pair=6)])
    for wrong in ([*played, played[0]], [later]):
        with pytest.raises(Garbled):
            reread(wrong, chunks)


WAYS = ("four", "words", "pickle", "begun", "progress", "long", "unknown", "words_of_nobody")
SHORT = Limits(decision=1, start=3, backstop=3)
"""For a message that is begun and never ends the parent waits as long as for an answer."""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's list of descriptors")
@pytest.mark.parametrize("how", few(WAYS, 0, 2))
def test_what_a_bot_writes_to_the_parent_changes_no_game(tmp_path: Path, how: str) -> None:
    """Its worker is found dead or garbled, and its pairs are played apart.

    Words that could be a worker's last ones are kept, and nothing is made of them.
    """
    rogue = resolve(str(FOLDER / "garbles.py"), "rogue", {"how": how}, "inproc")
    assert played(rogue, tmp_path / "log") == played(first("rogue", "inproc"), tmp_path / "other")
    assert ("is replaced" in (tmp_path / "log").read_text()) == (how != "words")


@pytest.mark.study
def test_a_bot_that_gives_the_signs_of_life_is_found_all_the_same(tmp_path: Path) -> None:
    """When its chunk has taken longer than its games can; here they have four plies."""
    rules = Rules(removed=41, hand_size=1, rounds=1, take_size=2)
    rogue = resolve(str(FOLDER / "garbles.py"), "rogue", {"how": "beats"}, "inproc")
    honest = played(first("rogue", "inproc"), tmp_path / "other", rules)
    assert played(rogue, tmp_path / "log", rules) == honest
    assert "worker-1 finished no game in time" in (tmp_path / "log").read_text()


def played(bot: Entry, log: Path, rules: Rules = STANDARD) -> Games:
    """Return the games of a bot against another one."""
    tournament = Tournament("garbled", 3, 2, [resolve("uniform"), bot], rules, SHORT)
    with run_log(log) as to:
        return play_plan(tournament, LocalExecutor(2), to)


def test_an_answer_is_read_only_while_something_is_asked_and_bounded_before() -> None:
    """A question or a fault is about a chunk; last words come at any time; lengths are bounded."""
    for answer in (Asking(5, 1, 0, b"\1"), Failed(0, FORFEIT)):
        assert reread(answer) == answer
        with pytest.raises(Garbled):
            reread(answer, [])
    assert reread(LastWords("why"), []) == LastWords("why")
    frames = Frames()
    frames.add(pack(b"1234") + struct.pack("<Q", MOST + 1))
    taken = frames.take()
    assert next(taken) == b"1234"
    with pytest.raises(Garbled, match=f"{MOST + 1:,} bytes; {MOST:,} are allowed"):
        next(taken)


@pytest.mark.parametrize(
    "damage",
    [
        *(b"", b"\xc0", b"\x91\xa6Asking", b"\x92\xa9LastWords\x01", b"\xff" * 99),
        *(pickle.dumps(print), b"\x91" * 10**5),
        msgspec.msgpack.encode(["Line", "x", "high", "y"]),
    ],
    ids=range(8),
)
def test_what_has_no_form_of_an_answer_is_garbled(damage: bytes) -> None:
    """Its worker is not believed any more."""
    with pytest.raises(Garbled):
        read_answer(damage, [CHUNK])


AB = Pairing("a", "b")
APART = Chunk(0, 13, 1, apart=True)
KILLED = "ended by SIGKILL"


def asking(ply: int | None = 2, seat: int = 0) -> Asking:
    return Asking(13, seat, 1, None if ply is None else bytes(ply))


def replan(deaths: Deaths, chunk: Chunk, question: Asking | None = None) -> list[Chunk]:
    return deaths.replan(chunk, AB, range(13, 14), question, KILLED)


def test_the_pairs_in_play_are_told_in_shared_memory_and_played_again_apart() -> None:
    """Each is a chunk of its own, as deaths are counted by pair; the rest of the chunk stays."""
    again = Deaths().replan(Chunk(0, 10, 10), AB, range(13, 15), None, KILLED)
    apart = [Chunk(0, 13, 1, apart=True), Chunk(0, 14, 1, apart=True)]
    assert again == [Chunk(0, 10, 3), *apart, Chunk(0, 15, 5)]
    again = replan(Deaths(), Chunk(0, 12, 3, apart=True), asking())
    assert again == [Chunk(0, 12, 1, apart=True), *apart]
    memory = bytearray(Progress.SIZE)
    progress, other = Progress(memory), Progress(memory)
    assert other.beats == 0
    progress.playing(0, 1_000_000, 3)
    assert other.find([Chunk(0, 999_999, 9)])[1] == range(1_000_000, 1_000_003)
    assert other.beats == 1
    progress.beat()
    assert other.beats == 2


@pytest.mark.parametrize(
    ("reported", "playing"),
    [
        (None, (0, range(10, 11))),
        *((wrong, (0, range(10, 11))) for wrong in ((0, 0), (3, 1), (1 << 60, 1 << 60), (-5, 3))),
        ((14, -9), (0, range(10, 11))),
        ((11, (1 << 63) - 1), (1, range(11, 13))),
    ],
)
def test_the_pairs_in_play_are_reported(
    reported: tuple[int, int] | None, playing: tuple[int, range]
) -> None:
    """The first if none was, or a bot has written over them; nobody counts up to what is not."""
    progress, batch = Progress(bytearray(Progress.SIZE)), [Chunk(0, 10, 2), Chunk(1, 10, 3)]
    if reported:
        progress.playing(1, *reported)
    assert progress.find(batch) == (batch[playing[0]], playing[1])


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ([asking()] * 5 + [asking(1)] + [asking()] * 5, "crash"),
        ([asking(None)] * 11, "import"),
        ([asking(ply) for ply in range(29)], "crash"),
    ],
    ids=["six at one question", "twelve in a start", "thirty in one pair"],
)
def test_deaths_at_a_question_are_the_bots_in_the_end(before: list[Asking], kind: str) -> None:
    """Fewer may come from outside, and a start takes longer than many games."""
    deaths = Deaths()
    for question in before:
        assert replan(deaths, APART, question) == [APART]
    (decided,) = replan(deaths, APART, before[0] if kind == "import" else asking())
    verdict = decided.verdicts[13, 0]
    assert (verdict.guilty, verdict.history) == (1, b"" if kind == "import" else bytes(2))
    assert verdict.fault.kind == kind
    assert verdict.fault.message == "each time it was asked, its worker ended by SIGKILL"


def test_deaths_are_counted_by_question_by_pair_and_by_pairing() -> None:
    """Who dies before a bot is asked ends the run; each game has its verdict; three are enough."""
    deaths = Deaths()
    for _ in range(29):
        assert replan(deaths, APART) == [APART]
    with pytest.raises(WorkerDied, match=r"30 times in pair 13 of a - b before .* by SIGKILL"):
        replan(deaths, APART)
    deaths = Deaths()
    chunk = APART
    for question in [asking(seat=0)] * 6 + [asking(seat=1)] * 6:
        (chunk,) = replan(deaths, chunk, question)
    assert sorted(chunk.verdicts) == [(13, 0), (13, 1)]
    deaths = Deaths()
    for number in range(3):
        assert not deaths.is_unsafe(0)
        deaths.replan(Chunk(0, number, 1), AB, range(number, number + 1), None, KILLED)
    assert deaths.is_unsafe(0)
    assert not deaths.is_unsafe(1)


RECORDS = 2500


def test_all_records_of_workers_and_parent_are_written(tmp_path: Path) -> None:
    """Each on a line of its own, however many write at once, and however long one is."""
    with log.run_log(tmp_path / "run.log") as run_log, ThreadPoolExecutor(3) as pool:

        def write_records(name: str) -> None:
            for number in range(RECORDS):
                run_log.write(name, log.Line("x", logging.INFO, f"record {name} {number}"))

        ends = [pool.submit(write_records, name) for name in ("worker-0", "worker-1")]
        ends.append(pool.submit(log.logger.info, "the parent's"))
        run_log.write("worker-2", log.Line("x", logging.INFO, "x" * 900_000))
        assert [end.result() for end in ends] == [None] * 3
    lines = (tmp_path / "run.log").read_text().splitlines()
    written = sorted(line.partition("record ")[2] for line in lines if "record " in line)
    expected = (f"worker-{name} {number}" for name in "01" for number in range(RECORDS))
    assert written == sorted(expected)
    assert sum("MainProcess INFO the parent's" in line for line in lines) == 1
    assert sum(" worker-1 INFO record worker-1 " in line for line in lines) == RECORDS
    (long,) = (line for line in lines if len(line) > 900_000)
    assert long.endswith(f"worker-2 INFO {'x' * 900_000}")


def test_a_line_is_in_the_file_and_cannot_end(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Whatever a bot has logged; the process is the one that has said it, and nothing is shown."""
    with log.run_log(None) as run_log:
        assert run_log.handlers == []
        run_log.write("worker-1", log.Line("worker-1", logging.WARNING, "something"))
    assert capfd.readouterr() == ("", "")
    with log.run_log(tmp_path / "run.log") as run_log:
        run_log.write("worker-1", log.Line("MainProcess", logging.INFO, "a\x1b\nb"))
    (line,) = (tmp_path / "run.log").read_text().splitlines()
    assert line.endswith("worker-1 INFO a\\x1b\\nb")


def test_an_interrupted_log_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an exit of the program nor the next run finds a handler of it."""
    before, known = list(log.logger.handlers), writers()  # of earlier tests in this process
    monkeypatch.setattr(log, "Thread", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught, log.run_log(tmp_path / "log.txt"):
        pass
    assert log.logger.handlers == before
    assert not [writer for writer in writers() if writer not in known]
    assert caught  # an interrupt that is still shown holds what it has stopped


def writers() -> list[logging.Handler]:
    """Return the handlers for records of workers that an exit of the program would join."""
    handlers = [handler() for handler in logging._handlerList]
    return [handler for handler in handlers if isinstance(handler, MultiProcessingHandler)]


def interrupted(**_words: object) -> threading.Thread:
    """Return a thread that Ctrl-C stops just before it starts."""
    thread = threading.Thread()

    def start() -> None:
        raise KeyboardInterrupt

    vars(thread)["start"] = start
    return thread


def test_the_time_of_the_processor_is_read_from_the_log(tmp_path: Path) -> None:
    """The last one of the program that stored the games: a worker may log anything."""
    path = tmp_path / "run.log"
    assert log.read_spending(path) == ""
    line = f"{SPENT}workers 1.0 s, parent 3.0 s, files 4.0 s"
    with log.run_log(path) as opened:
        log.logger.info("run cup: 4 games")
        log.logger.info("%s", line.replace("1.0", "9.0"))
        log.logger.info("%s", line)
        said = log.Line("worker-1", logging.INFO, f"{SPENT}none\n{SPENT}none")
        opened.write("worker-1", said)
    assert log.read_spending(path) == line
    with path.open("ab") as file:
        file.write(b"\xff" * 70_000)
    assert log.read_spending(path) == ""  # it is too far from the end
