"""One game is judged here as a crew of workers judges it, and by what its seats knew."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from arena.errors import InputError
from arena.runs.judge_games import JudgedGames, review_record
from arena.tournament.judged import Judged
from engine import STANDARD, Record, Rules, to_text
from engine.notation import parse_cards
from tests.replays.games import random_record


def deal_of(first: str, second: str, row: str) -> str:
    """Return a deal that begins with these hands and this row; the rest lies in order."""
    left = [*STANDARD.deck]
    for card in parse_cards(first + second + row):
        left.remove(card)
    return first + second + row + to_text(bytes(left))


@pytest.mark.slow
def test_it_runs_in_a_thread() -> None:
    """As the server of the table asks for it."""
    record = random_record(Random(5), plies=12)
    found: list[list[Judged]] = []
    thread = Thread(target=lambda: found.append(review_record(record, worlds=4)))
    thread.start()
    thread.join()
    assert found == [review_record(record, worlds=4)]


@pytest.mark.slow
def test_whether_the_other_seat_had_a_choice_changes_no_number() -> None:
    """At ply 7 seat 1 held 555 in one game and 558 in the other, and played 5."""
    actions = "5T6677858"
    forced, free = (
        review_record(Record(deal_of("56788", hand, "4x"), actions)) for hand in ("67555", "67558")
    )
    assert 7 in [one.ply for one in free]
    assert 7 not in [one.ply for one in forced]
    last = [[one for one in judged if one.ply == 8] for judged in (forced, free)]
    assert len(last[0]) == 1
    assert last[0] == last[1]


def test_what_is_kept_is_read_and_not_written(tmp_path: Path) -> None:
    """So it is found also where the run is somebody else's."""
    place = tmp_path / "analysis.sqlite"
    with closing(JudgedGames(place)) as kept:
        kept.add({b"key": []})
    os.utime(place, ns=(0, 0))
    with closing(JudgedGames(place)) as kept:
        assert kept.find([b"key", b"other"]) == {b"key": []}
    assert place.stat().st_mtime_ns == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"worlds": 5}, "worlds: 5 is odd"),
        ({"worlds": 2}, "worlds: 2 is not a number from 4 to 1,000"),
        ({"seed": -1}, "seed: -1 is not a number"),
        ({"by": "uniform"}, "bot 'uniform': it cannot judge"),
        ({"by": "nobody"}, "nobody"),
    ],
)
def test_what_cannot_judge_is_refused(change: dict[str, object], message: str) -> None:
    """In one line that says why."""
    with pytest.raises(InputError, match=message):
        review_record(random_record(Random(5)), **change)  # type: ignore[arg-type]


def test_what_cannot_be_judged_is_refused() -> None:
    """Other rules, and a record whose actions are not legal."""
    record = random_record(Random(5))
    with pytest.raises(InputError, match="other rules than the published ones"):
        review_record(Record(record.deal, "", Rules(set_bonus=4)))
    with pytest.raises(InputError, match="cannot be played"):
        review_record(Record(record.deal, "TTT"))
