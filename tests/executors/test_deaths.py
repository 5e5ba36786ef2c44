"""A worker's death is a bot's fault only if it happens repeatedly at one question."""

from __future__ import annotations

import pytest

from arena.errors import WorkerDied
from arena.executors.answers import Asking, Progress
from arena.executors.local import Deaths
from arena.tournament.plan import Chunk
from arena.tournament.schedule import Pairing

AB = Pairing("a", "b")
APART = Chunk(0, 13, 1, apart=True)
KILLED = "ended by SIGKILL"


def asking(ply: int = 2, who: int = 1, seat: int = 0) -> Asking:
    return Asking(13, seat, who, bytes(ply))


def replan(deaths: Deaths, chunk: Chunk, question: Asking | None = None) -> list[Chunk]:
    return deaths.replan(chunk, AB, range(13, 14), question, KILLED)


def test_the_pairs_in_play_are_played_again_apart() -> None:
    """Each is a chunk of its own; the rest of the chunk stays before and after them."""
    again = Deaths().replan(Chunk(0, 10, 10), AB, range(13, 15), None, KILLED)
    assert again == [
        Chunk(0, 10, 3),
        Chunk(0, 13, 1, apart=True),
        Chunk(0, 14, 1, apart=True),
        Chunk(0, 15, 5),
    ]


@pytest.mark.parametrize("pairs", [(0, 0), (3, 1), (1 << 60, 1 << 60), (-5, 3), (14, -9)])
def test_a_worker_that_reported_no_pair_of_its_chunk_was_playing_the_first(
    pairs: tuple[int, int],
) -> None:
    """It died before it reported one, or a bot has written over what it reported."""
    progress = Progress(bytearray(Progress.SIZE))
    progress.set_pairs(*pairs)
    assert progress.pairs_of(Chunk(0, 10, 2)) == range(10, 11)


def test_a_report_of_more_pairs_than_there_are_is_cut() -> None:
    """A bot may have written it, and nobody counts up to it."""
    progress = Progress(bytearray(Progress.SIZE))
    progress.set_pairs(11, (1 << 63) - 1)
    assert progress.pairs_of(Chunk(0, 10, 3)) == range(11, 13)


def test_a_chunk_of_many_pairs_that_is_played_apart_is_split_as_well() -> None:
    """So that deaths are counted for each pair separately."""
    again = Deaths().replan(Chunk(0, 12, 3, apart=True), AB, range(13, 14), asking(), KILLED)
    assert again == [Chunk(0, number, 1, apart=True) for number in (12, 13, 14)]


def test_six_deaths_in_a_row_at_one_question_are_the_bots() -> None:
    """Fewer may come from outside; another question in between resets the count."""
    deaths = Deaths()
    for question in [asking()] * 5 + [asking(ply=1)] + [asking()] * 5:
        assert replan(deaths, APART, question) == [APART]
    (decided,) = replan(deaths, APART, asking())
    verdict = decided.verdicts[13, 0]
    assert (verdict.guilty, verdict.history) == (1, bytes(2))
    assert verdict.fault.kind == "crash"
    assert verdict.fault.message == "each time it was asked, its worker ended by SIGKILL"


def test_twelve_deaths_while_a_bot_starts_are_the_bots() -> None:
    """A start takes longer than many games, so kills from outside often hit it."""
    deaths = Deaths()
    starting = Asking(13, 0, 1, None)
    for _ in range(11):
        assert replan(deaths, APART, starting) == [APART]
    (decided,) = replan(deaths, APART, starting)
    assert decided.verdicts[13, 0].fault.kind == "import"
    assert decided.verdicts[13, 0].history == b""


def test_a_bot_that_kills_workers_at_different_questions_is_blamed_in_the_end() -> None:
    """After 30 deaths in one pair, and not before."""
    deaths = Deaths()
    for ply in range(29):
        assert replan(deaths, APART, asking(ply)) == [APART]
    (decided,) = replan(deaths, APART, asking())
    assert decided.verdicts[13, 0].fault.kind == "crash"


def test_the_second_game_of_a_pair_keeps_the_verdict_on_the_first() -> None:
    """So both games of the pair have their verdict."""
    deaths = Deaths()
    chunk = APART
    for question in [asking(seat=0)] * 6 + [asking(seat=1)] * 6:
        (chunk,) = replan(deaths, chunk, question)
    assert sorted(chunk.verdicts) == [(13, 0), (13, 1)]


def test_workers_that_die_before_a_bot_is_asked_end_the_run() -> None:
    """Then no bot can be blamed."""
    deaths = Deaths()
    for _ in range(29):
        assert replan(deaths, APART) == [APART]
    with pytest.raises(WorkerDied, match=r"30 times in pair 13 of a - b before .* by SIGKILL"):
        replan(deaths, APART)


def test_after_three_deaths_a_pairing_is_played_apart() -> None:
    """A bot that kills only workers, never its own process, costs no more than that."""
    deaths = Deaths()
    for number in range(3):
        assert not deaths.is_unsafe(0)
        deaths.replan(Chunk(0, number, 1), AB, range(number, number + 1), None, KILLED)
    assert deaths.is_unsafe(0)
    assert not deaths.is_unsafe(1)


def test_progress_is_read_as_it_was_written() -> None:
    """Another object reads it from the same memory; every update is a sign of life."""
    memory = bytearray(Progress.SIZE)
    progress, other = Progress(memory), Progress(memory)
    assert other.beat == 0
    progress.set_pairs(1_000_000, 3)
    assert other.pairs_of(Chunk(0, 999_999, 9)) == range(1_000_000, 1_000_003)
    assert other.beat == 1
    progress.count_beat()
    assert other.beat == 2
