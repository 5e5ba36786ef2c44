"""A worker's death is a bot's fault only if it happens again at the same decision."""

from __future__ import annotations

import pytest

from arena.errors import WorkerDied
from arena.executors.deaths import Blame
from arena.executors.marks import IDLE, IMPORTING, NOBODY, THINKING, Marks, Seen
from arena.lanes.limits import Limits
from arena.tournament.chunk import Chunk
from arena.tournament.schedule import Pairing

AB = Pairing("a", "b")


def seen(pair: int, stage: int = THINKING, history: bytes = b"\0\1", who: int = 1) -> Seen:
    return Seen(9, pairing=0, pair=pair, seat=0, stage=stage, who=who, history=history)


def test_the_game_that_was_played_is_played_again_alone() -> None:
    """Before and after it, the chunk is as it was."""
    again = Blame(Limits()).again(Chunk(0, 10, 10), AB, seen(13), "ended by SIGKILL", False)
    assert again == [Chunk(0, 10, 3), Chunk(0, 13, 1, alone=True), Chunk(0, 14, 6)]


def test_without_a_mark_in_the_chunk_its_first_game_is_played_alone() -> None:
    """The worker died before it marked a game of it."""
    again = Blame(Limits()).again(Chunk(0, 10, 2), AB, seen(3), "ended by SIGKILL", False)
    assert again == [Chunk(0, 10, 1, alone=True), Chunk(0, 11, 1)]


@pytest.mark.parametrize(("how", "wanted"), [("ended by SIGSEGV", 2), ("ended by SIGKILL", 6)])
def test_deaths_in_a_row_at_one_decision_are_the_bots(how: str, wanted: int) -> None:
    """Two, or more where they may come from outside; another one in between starts anew."""
    blame = Blame(Limits())
    alone = Chunk(0, 13, 1, alone=True)
    for _ in range(wanted - 1):
        assert blame.again(alone, AB, seen(13), how, False) == [alone]
    assert blame.again(alone, AB, seen(13, history=b"\0"), how, False) == [alone]
    for _ in range(wanted - 1):
        assert blame.again(alone, AB, seen(13), how, False) == [alone]
    (judged,) = blame.again(alone, AB, seen(13), how, False)
    history, fault = judged.verdicts[13, 0]
    assert history == b"\0\1"
    assert fault[:4] == (1, "crash", 2, how)


def test_deaths_while_a_bot_starts_are_weighed_with_more_care() -> None:
    """Starting takes longer than many a game, so that kills from outside often meet it."""
    blame = Blame(Limits())
    alone = Chunk(0, 13, 1, alone=True)
    starting = seen(13, IMPORTING, b"")
    for _ in range(11):
        assert blame.again(alone, AB, starting, "ended by SIGKILL", False) == [alone]
    (judged,) = blame.again(alone, AB, starting, "ended by SIGKILL", False)
    assert judged.verdicts[13, 0][1].kind == "import"


def test_who_kills_workers_now_here_now_there_is_blamed_in_the_end() -> None:
    """After 30 deaths in one pair of games; before, nobody is."""
    blame = Blame(Limits())
    alone = Chunk(0, 13, 1, alone=True)
    for ply in range(29):
        assert blame.again(alone, AB, seen(13, history=bytes(ply)), "x", False) == [alone]
    (judged,) = blame.again(alone, AB, seen(13), "ended by SIGKILL", False)
    assert judged.verdicts[13, 0][1].kind == "crash"


def test_a_hang_is_the_bots_at_once() -> None:
    """It was the parent that ended it; the second game of the pair keeps the first's verdict."""
    blame = Blame(Limits(decision=2.0))
    (judged,) = blame.again(Chunk(0, 13, 1, alone=True), AB, seen(13), "", True)
    assert judged.verdicts[13, 0][1][:4] == (1, "timeout", 2, "no answer within 2 s")
    second = seen(13)._replace(seat=1)
    (judged,) = blame.again(judged, AB, second, "", True)
    assert sorted(judged.verdicts) == [(13, 0), (13, 1)]


def test_a_death_while_importing_is_a_fault_of_the_import() -> None:
    """However it died."""
    (judged,) = Blame(Limits(start=4.0)).again(
        Chunk(0, 1, 1, alone=True), AB, seen(1, IMPORTING, b""), "", True
    )
    assert judged.verdicts[1, 0][1][1:4] == ("import", 0, "not imported within 4 s")


def test_workers_that_die_before_a_bot_is_called_end_the_run() -> None:
    """Nobody can be blamed."""
    blame = Blame(Limits())
    alone = Chunk(0, 13, 1, alone=True)
    nobody = seen(13, IDLE, b"", NOBODY)
    for _ in range(29):
        assert blame.again(alone, AB, nobody, "ended by SIGKILL", False) == [alone]
    with pytest.raises(WorkerDied, match=r"30 times in pair 13 of a - b before .* by SIGKILL"):
        blame.again(alone, AB, nobody, "ended by SIGKILL", False)


def test_who_answers_and_leaves_a_spoilt_worker_is_blamed() -> None:
    """The last bot that was called, if it happens again."""
    blame = Blame(Limits())
    alone = Chunk(0, 13, 1, alone=True)
    assert blame.again(alone, AB, seen(13, IDLE), "ended with exit status 1", False) == [alone]
    (judged,) = blame.again(alone, AB, seen(13, IDLE), "ended with exit status 1", False)
    assert judged.verdicts[13, 0][1][:2] == (1, "crash")


def test_marks_are_read_as_they_were_written() -> None:
    """From the same memory, by another object."""
    memory = bytearray(Marks.length(48))
    marks = Marks(memory)
    history = bytes(range(12)) * 4
    marks.at_work((3, 1_000_000, 1), 1, THINKING, history)
    there = Marks(memory).read()
    assert there == Seen(1, 3, 1_000_000, 1, THINKING, 1, history)
    marks.beat()
    assert Marks(memory).read().beat == 2
    assert Marks(memory).read().place == there.place
