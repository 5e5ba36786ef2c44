"""What a worker sends is believed only if it can be: a bot in its process may have written it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from arena.executors.answers import (
    FAILED,
    PLAYED,
    Frames,
    Garbled,
    Part,
    most_bytes,
    pack,
    read_answer,
    write_answer,
)
from arena.lanes.evidence import MOST_OUTPUT
from arena.lanes.faults import Fault
from arena.statistics.counts import BY_RULE
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.timing import Timing
from engine.strategy import Spent

CHUNK = Chunk(0, 5, 1, seats=(1,))
GAME = GameResult(5, 1, 0, "points", 10, -8, 4, None, "567T")
FAULT = Fault("exception", "ValueError: no", "Traceback\nline", "printed\n")
FORFEIT = GAME._replace(win_type="forfeit", fault=FAULT)
DRAW = GAME._replace(win_type="draw", winner=None)


def read(kind: int, content: object, chunk: Chunk = CHUNK) -> Any:
    """Return what a worker's message of this kind is read as."""
    frames = Frames(1 << 24)
    frames.add(pack(kind, msgspec.msgpack.encode(content)))
    ((found, data),) = frames.take()
    return read_answer(found, data, [chunk])


def part(*results: GameResult, timings: Any = None, **changes: Any) -> Part:
    """Return the results of the chunk as they are sent."""
    made = Part(0, 5, 1, list(results), timings or {}, 1.5)
    return msgspec.structs.replace(made, **changes)


@pytest.mark.parametrize("game", [GAME, FORFEIT, DRAW, GAME._replace(points=999_999)])
def test_what_can_be_is_read_as_it_was_written(game: GameResult) -> None:
    """With the times, and the bots that had a new process."""
    timing = Timing()
    timing.add(Spent(wall=0.5, cpu=0.25, before=0.0))
    played = Played(CHUNK, [game], {"one": timing}, 1.5, renewed=["one"])
    frames = Frames(1 << 24)
    frames.add(write_answer([played]))
    (frame,) = frames.take()
    (found,) = read_answer(*frame, [CHUNK])  # type: ignore[misc]
    assert isinstance(found, Played)
    assert (found.results, found.seconds, found.renewed) == ([game], 1.5, ["one"])
    assert found.timings["one"].to_data() == timing.to_data()


@pytest.mark.parametrize(
    "changes",
    [
        {"win_type": "luck"},
        {"winner": None},
        {"win_type": "draw"},
        {"winner": 2},
        {"points": 1_000_000},
        {"opponent_points": -1_000_000},
        {"plies": 5},
        {"actions": "5?7T"},
        {"win_type": "forfeit"},
        {"fault": FAULT},
    ],
    ids=str,
)
def test_a_game_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    """Each of these is wrong in one thing only."""
    with pytest.raises(Garbled, match="a game that cannot be"):
        read(PLAYED, [part(GAME._replace(**changes))])


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": BY_RULE},
        {"kind": "unheard of"},
        {"message": "two\nlines"},
        {"traceback": "\x1b[2J"},
        {"output": "x" * (2 * MOST_OUTPUT)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_fault_that_no_lane_reports_is_refused(changes: dict[str, Any]) -> None:
    """Forfeits by rule are the parent's; nothing that a terminal obeys is evidence."""
    game = FORFEIT._replace(fault=FAULT._replace(**changes))
    with pytest.raises(Garbled, match="a game that cannot be"):
        read(PLAYED, [part(game)])
    with pytest.raises(Garbled, match="a fault that cannot be"):
        read(FAILED, [game])


@pytest.mark.parametrize(
    ("count", "buckets", "is_right"),
    [
        (0, {}, True),
        ((1 << 40) - 1, {999: 1, -999: (1 << 40) - 1}, True),
        (-1, {}, False),
        (1 << 40, {}, False),
        (1, {1000: 1}, False),
        (1, {-1000: 1}, False),
        (1, {3: 0}, False),
        (1, {3: 1 << 40}, False),
    ],
)
def test_times_are_in_range(count: int, buckets: dict[int, int], is_right: bool) -> None:
    """Of the wall clock, of the processor, and of whole games."""
    good, data = (0, 0.0, 0.0, {}), (count, 1.0, 1.0, buckets)
    for all_three in ((good, data, good), (data, good, good), (good, good, data)):
        sent = part(GAME, timings={"one": all_three})
        if is_right:
            assert read(PLAYED, [sent])[0].timings["one"].to_data() == all_three
        else:
            with pytest.raises(Garbled, match="a game that cannot be"):
                read(PLAYED, [sent])


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
        read(PLAYED, [sent])


def test_a_fault_that_is_told_early_is_one_of_the_chunk() -> None:
    """It has a fault, and its place is in the chunk."""
    assert read(FAILED, [FORFEIT]).result == FORFEIT
    for game in (GAME, FORFEIT._replace(pair=4), FORFEIT._replace(seat=0)):
        with pytest.raises(Garbled, match="a fault that cannot be"):
            read(FAILED, [game])


def test_the_longest_answer_grows_with_the_games_of_a_chunk() -> None:
    """Those of both seats and of all chunks count."""
    rest = most_bytes([])
    one = most_bytes([CHUNK]) - rest
    large = Chunk(0, 0, 3)
    assert most_bytes([CHUNK, large, CHUNK]) - rest == 8 * one
    assert one > 2 * MOST_OUTPUT


def test_results_of_several_chunks_come_in_the_order_in_which_they_were_given() -> None:
    """They may be some of the first; not none, not more, and not those of other chunks."""
    chunks = [CHUNK, Chunk(1, 5, 1, seats=CHUNK.seats), Chunk(2, 5, 1, seats=CHUNK.seats)]
    played = [Played(chunk, [GAME], {}, 1.5) for chunk in chunks]

    def told(some: list[Played]) -> Any:
        frames = Frames(1 << 24)
        frames.add(write_answer(some))
        ((kind, data),) = frames.take()
        return read_answer(kind, data, chunks)

    for most in (1, 2, 3):
        assert [one.chunk for one in told(played[:most])] == chunks[:most]
    later = played[0]._replace(results=[GAME._replace(pair=6)])
    for wrong in ([], [*played, played[0]], [later]):
        with pytest.raises(Garbled):
            told(wrong)
