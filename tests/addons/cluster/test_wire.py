"""What travels between a site and its client: it comes back as it was, or is Garbled."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from arena.addons.cluster import wire
from arena.entries.resolve import resolve
from arena.executors import answers
from arena.lanes.faults import Fault
from arena.lanes.limits import Limits
from arena.tournament.judged import PARTS, Judged, JudgedGame, Question, Recorded
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan, Played
from arena.tournament.strikes import Strikes
from arena.tournament.timing import Timing
from arena.tournament.tournament import Tournament
from arena.tournament.versions import Versions
from engine import STANDARD
from engine.strategy import Spent

CHUNK = Chunk(2, 5, 1, seats=(1, 0))
FAULT = Fault("crash", "ended by SIGKILL", "", "a last word")
RESULTS = [
    GameResult(5, 0, 0, "points", 31, 7, 4, None, "5x2T"),
    GameResult(5, 1, 1, "forfeit", 0, -3, 12, FAULT, "x" * 12),
]


def answer(results: list[Any], **changes: Any) -> bytes:
    """Return an answer to batch 7 with these results, which other parts may replace."""
    part = [2, 5, 1, results, {}, 0.5]
    return msgspec.msgpack.encode([7, [changes.get("part", part)], changes.get("lines", [])])


def test_an_answer_comes_back_as_it_was() -> None:
    """Chunk, results, faults, timings and lines of the log are equal; chunks are in order."""
    timing = Timing()
    timing.add(Spent(wall=0.5, cpu=0.25, before=0.125))
    other = Chunk(0, 0, 1)
    games = [result._replace(pair=0) for result in RESULTS]
    sent = [Played(other, games, {}, 0.1), Played(CHUNK, RESULTS, {"greedy": timing}, 0.25)]
    data = wire.write_answer(7, sent, [wire.Line("worker-1", 30, "is late")])
    assert wire.number_of(data) == 7
    played, lines = wire.read_answer(data, [CHUNK, other])
    assert [one.chunk for one in played] == [other, CHUNK]
    assert [one.results for one in played] == [games, RESULTS]
    assert played[1].forfeits == RESULTS[1:]
    assert [one.seconds for one in played] == [0.1, 0.25]
    assert played[1].timings["greedy"].to_data() == timing.to_data()
    assert lines == [wire.Line("worker-1", 30, "is late")]


def test_chunks_that_follow_each_other_come_back_as_one() -> None:
    """Their games are in order, and their times are added; the plan then knows that all is played.

    The client's work is by chunk: a batch of 32 chunks costs as much as one of them.
    """
    strikes = Strikes([("a", "b")], 9, most=1)
    plan = Plan([[range(9)]], strikes)
    chunks = [chunk for _ in range(3) if (chunk := plan.next())]
    sent = []
    for chunk in reversed(chunks):
        games = [RESULTS[0]._replace(pair=chunk.first, seat=seat) for seat in (0, 1)]
        timing = Timing()
        timing.add(Spent(wall=0.5, cpu=0.25, before=0.125))
        sent.append(Played(chunk, games, {"a": timing}, 0.25))
    played, _ = wire.read_answer(wire.write_answer(7, sent, []), chunks)
    assert [one.chunk for one in played] == [Chunk(0, 0, 3)]
    assert [result[:2] for result in played[0].results] == [
        (p, s) for p in range(3) for s in (0, 1)
    ]
    assert played[0].seconds == 0.75
    assert played[0].timings["a"].decisions == 3
    plan.learn(played[0])
    rest = plan.next()
    assert rest is not None
    assert rest[:2] == (0, 3)
    while rest:
        plan.learn(Played(rest, [], {}, 1.0))
        rest = plan.next()
    assert plan.is_finished


def test_a_batch_comes_back_as_it_was() -> None:
    """Number, pairs and the order of the seats are the same."""
    chunks = [CHUNK, Chunk(0, 0, 300)]
    assert wire.read_batch(wire.write_batch(3, chunks)) == (3, chunks)


QUESTION = Question({(5, 0): Recorded("a/b/5/0", "5" * 45, "5T", (0,))}, 8, 3)
ASKED = Chunk(2, 5, 1, seats=(0,), question=QUESTION)
JUDGED = Judged(0, 1, [-1, 500_000, *[-1] * 9, PARTS], -2, 7)


def judged(*games: JudgedGame, results: Sequence[GameResult] = (), refusal: str = "") -> bytes:
    part = [2, 5, 1, results, {}, 0.5, games, refusal]
    return msgspec.msgpack.encode([7, [part], []])


def test_a_question_and_its_answer_come_back_as_they_were() -> None:
    """Or a line that says why there is none."""
    assert wire.read_batch(wire.write_batch(3, [ASKED, CHUNK])) == (3, [ASKED, CHUNK])
    other = ASKED._replace(first=6, question=QUESTION._replace(seed=4))
    games = [JudgedGame(5, 0, [JUDGED]), JudgedGame(6, 0, [])]
    sent = [
        Played(chunk, [], {}, 0.5, [game])
        for chunk, game in zip((ASKED, other), games, strict=True)
    ]
    played, _ = wire.read_answer(wire.write_answer(7, sent, []), [ASKED, other])
    assert played == sent
    refused = [Played(ASKED, [], {}, 0.5, [], "it cannot judge")]
    assert wire.read_answer(wire.write_answer(7, refused, []), [ASKED])[0] == refused


@pytest.mark.parametrize(
    "data",
    [
        judged(),
        judged(JudgedGame(6, 0, [JUDGED])),
        judged(JudgedGame(5, 0, [JUDGED]), results=RESULTS),
        judged(JudgedGame(5, 0, [JUDGED]), refusal="both"),
        *(
            judged(JudgedGame(5, 0, [JUDGED._replace(**wrong)]))
            for wrong in (
                {"ply": 48},
                {"action": 12},
                {"loss": PARTS + 1},
                {"error": -1},
                {"chances": [0] * 11},
                {"chances": [PARTS + 1] * 12},
            )
        ),
    ],
)
def test_a_judgement_that_cannot_be_is_garbled(data: bytes) -> None:
    """As a game is that cannot be."""
    with pytest.raises(answers.Garbled):
        wire.read_answer(data, [ASKED])


def test_games_that_are_to_be_played_cannot_be_refused() -> None:
    """Only a question can, and a bot that lives elsewhere in an outage."""
    (played,), _ = wire.read_answer(judged(refusal="no"), [CHUNK])
    bots = [resolve(name) for name in ("uniform", "greedy", "majority")]
    here = Tournament("test", 0, 1, bots, STANDARD, Limits())
    with pytest.raises(answers.Garbled):
        answers.check_refusal(played, here)
    there = [*bots[:2], replace(bots[2], lane="remote")]
    answers.check_refusal(played, replace(here, entries=there))


def test_a_head_comes_back_as_it_was() -> None:
    """A bot travels with its source."""
    bots = [resolve("uniform"), resolve("greedy")]
    tournament = Tournament("t", 1, 2, bots, STANDARD)
    head = wire.Head(tournament, Versions("1", "2", "3.11"), ["", ""], 4)
    data = wire.write_head(head)
    assert wire.read_versions(data) == head.versions
    assert wire.read_head(data) == head


def test_the_versions_can_be_read_without_the_rest() -> None:
    """An arena whose classes have other names cannot unpickle the tournament."""
    tournament = Tournament("t", 1, 2, [], STANDARD)
    data = wire.write_head(wire.Head(tournament, Versions("1", "2", "3.11"), [], 1))
    other = data.replace(b"Tournament", b"Contention")
    assert wire.read_versions(other) == Versions("1", "2", "3.11")
    with pytest.raises(AttributeError):
        wire.read_head(other)


GARBLED = {
    "nothing": b"",
    "no MessagePack": b"\xc1",
    "a pickle": pickle.dumps(RESULTS),
    "half": answer(RESULTS)[:-9],
    "more behind it": answer(RESULTS) + b"\x00",
    "nested": b"\x91" * 100_000,
    "a list of nothing": msgspec.msgpack.encode([7, [], []]),
    "another chunk": answer(RESULTS, part=[1, 5, 1, RESULTS, {}, 0.5]),
    "a game too few": answer(RESULTS[:1]),
    "a game twice": answer([*RESULTS[:1], *RESULTS[:1]]),
    "another pair": answer([result._replace(pair=6) for result in RESULTS]),
    "the other order": answer(RESULTS[::-1]),
    "text for a number": answer([RESULTS[0]._replace(points="9"), RESULTS[1]]),  # type: ignore
}
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "a third winner": {"winner": 2},
    "a winner of a draw": {"win_type": "draw"},
    "no winner": {"winner": None},
    "an unknown end": {"win_type": "bribery"},
    "more plies than actions": {"plies": 5},
    "fewer than none": {"plies": -1},
    "more points than there are": {"points": 1 << 63},
    "less": {"opponent_points": -(1 << 63)},
    "unknown actions": {"actions": "5\x1b[5"},
    "more actions than plies": {"actions": "5" * 48},
    "a fault without a forfeit": {"fault": FAULT},
    "a forfeit without a fault": {"win_type": "forfeit"},
    "an unknown fault": {"win_type": "forfeit", "fault": FAULT._replace(kind="treason")},
    "a forfeit by rule": {"win_type": "forfeit", "fault": FAULT._replace(kind="max_faults")},
    "a message of two lines": {"win_type": "forfeit", "fault": FAULT._replace(message="a\nb")},
    "a message without end": {"win_type": "forfeit", "fault": FAULT._replace(message="a" * 9999)},
    "a bell in the output": {"win_type": "forfeit", "fault": FAULT._replace(output="\a")},
}


def possible_and_not() -> Iterator[Any]:
    for name, data in GARBLED.items():
        yield pytest.param(data, id=name)
    for name, changes in IMPOSSIBLE.items():
        yield pytest.param(answer([RESULTS[0]._replace(**changes), RESULTS[1]]), id=name)


@pytest.mark.parametrize("data", [*possible_and_not()])
def test_what_was_not_asked_for_is_garbled(data: bytes) -> None:
    """Also a game that cannot be: it would only fail when the tables are made."""
    with pytest.raises(answers.Garbled, match=r"^its answer "):
        wire.read_answer(data, [CHUNK])


@pytest.mark.parametrize("buckets", [{1 << 40: 1}, {0: -1}, {0: 1 << 62}])
def test_impossible_times_are_garbled(buckets: dict[int, int]) -> None:
    """A time that no float holds would end the run when its files are written."""
    distribution = [1, 0.5, 0.5, buckets]
    part = [2, 5, 1, RESULTS, {"greedy": [distribution, distribution]}, 0.5]
    with pytest.raises(answers.Garbled, match=r"^its answer "):
        wire.read_answer(answer([], part=part), [CHUNK])


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\x91" * 100_000, pickle.dumps(["no"])])
def test_a_first_message_that_cannot_be_read_is_garbled(data: bytes) -> None:
    """It is neither taken for a site that lacks nothing, nor executed."""
    with pytest.raises(answers.Garbled, match="first message"):
        wire.read_hello(data)


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def test_nothing_of_a_site_is_unpickled() -> None:
    """A pickle that would end this process is Garbled."""
    bomb = pickle.dumps(Bomb())
    for read in (wire.read_hello, lambda data: wire.read_answer(data, [CHUNK])):
        with pytest.raises(answers.Garbled):
            read(bomb)


def test_frames_arrive_whole() -> None:
    """Also those that are longer than a pipe holds are not needed at once; the end is an error."""
    source, sink = os.pipe()
    answers.send(sink, wire.ANSWER, b"abc")
    answers.send(sink, wire.BEAT)
    assert answers.receive(source) == (wire.ANSWER, b"abc")
    assert answers.receive(source) == (wire.BEAT, b"")
    os.write(sink, b"\x01")
    os.close(sink)
    with pytest.raises(EOFError):
        answers.receive(source)
    os.close(source)


def test_a_frame_of_any_size_is_not_waited_for() -> None:
    """Its length alone ends the conversation: no memory is set aside for it."""
    source, sink = os.pipe()
    os.write(sink, b"\xff" * 9)
    with pytest.raises(EOFError):
        answers.receive(source)
    os.close(source)
    os.close(sink)
