"""What a bot writes into what its worker and the parent share changes no game, and ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.executors.answers import (
    ASKING,
    PLAYED,
    WORDS,
    Asking,
    Frames,
    Garbled,
    LastWords,
    pack,
    read_answer,
    write_answer,
)
from arena.executors.local import LocalExecutor
from arena.executors.log import run_log
from arena.lanes.limits import Limits
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules
from tests.rogues import FOLDER, first
from tests.tiers import few

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


def played(bot: Entry, log: Path, rules: Rules = STANDARD) -> list[GameResult]:
    """Return the games of a bot against another one."""
    tournament = Tournament("garbled", 3, 2, [resolve("uniform"), bot], rules, SHORT)
    plan = Plan([[range(2)]], Strikes(tournament.pairings, 2, most=1000))
    results: list[GameResult] = []
    with run_log(log) as to:
        for chunk in LocalExecutor(2).play(plan, tournament, to):
            plan.learn(chunk)
            results += chunk.results
    return sorted(results, key=lambda result: result[:2])


def test_an_answer_is_read_only_by_whom_it_was_asked_of() -> None:
    """A question about another pair, or a game that was not asked for, is garbled."""
    chunk = Chunk(0, 5, 1, apart=True, seats=(1,))
    frames = Frames(1000)
    for asking in (Asking(5, 1, 0, b"\1"), Asking(5, 0, 0, None), Asking(6, 1, 0, None)):
        frames.add(write_answer(asking))
    (good, *bad) = frames.take()
    assert read_answer(*good, [chunk]) == Asking(5, 1, 0, b"\1")
    for answer in (*bad, (ASKING, b""), (PLAYED, b"\xc0"), (99, b""), (WORDS, b"\x91\x01")):
        with pytest.raises(Garbled):
            read_answer(*answer, [chunk])
    with pytest.raises(Garbled):
        read_answer(*good, [])
    assert read_answer(WORDS, b"\x91\xa3why", []) == LastWords("why")


def test_a_frame_is_bounded_before_it_is_kept() -> None:
    """Its length is refused as soon as it is read."""
    frames = Frames(most=4)
    frames.add(pack(1, b"1234") + pack(1, b"12345")[:9])
    taken = frames.take()
    assert next(taken) == (1, b"1234")
    with pytest.raises(Garbled, match="5 bytes; 4 are allowed"):
        next(taken)
