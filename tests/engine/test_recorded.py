"""Golden games and counts: the engine and the second referee still come to what is recorded."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine import Record, outcome
from engine.cards import count
from tests.perft import REFEREES_MOST, engine_counts, entries, referee_counts
from tests.playthrough import FOLDER, playthrough
from tests.positions import dealt
from tests.referee import Table
from tests.tiers import few

FILES = sorted(FOLDER.glob("*.txt"))


def read(path: Path) -> tuple[str, Record, str]:
    text = path.read_text(encoding="utf-8")
    title, record = text.splitlines()[:2]
    return title, Record.from_json(record), text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_game_plays_as_it_is_written(path: Path) -> None:
    """State and both views at every ply; `python -m tests.playthrough` after a wanted change."""
    title, record, text = read(path)
    assert playthrough(title, record) == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_second_referee_gets_the_same_result(path: Path) -> None:
    """Winner, win type and points are those of a referee that shares no code."""
    _, record, text = read(path)
    table = Table(record.deal, **record.rules.changes())
    for action in record.actions:
        table.act(action)
    winner, win_type = table.result()
    name = "nobody" if winner is None else winner
    score = f"{table.points(0)} : {table.points(1)}"
    assert f"\nwinner {name}, {win_type}, {score}\n" in text


def test_the_games_cover_every_kind_of_end_and_take() -> None:
    """City wins of both seats, a tie at every depth, a draw, forced and short takes."""
    assert len(FILES) >= 10
    ends = Counter[object]()
    forced = 0
    for path in FILES:
        _, record, text = read(path)
        state = record.replay()
        winner, win_type, _ = outcome(state.piles, record.rules)
        depth = None
        if win_type == "tiebreak":
            first, second = state.piles
            depth = next(k for k in (3, 2, 1, 0, 10) if count(first, k) != count(second, k))
        ends[win_type, winner if win_type == "city" else depth] += 1
        forced += len(re.findall(r"legal T,", text))
    assert {("city", 0), ("city", 1), ("draw", None)} <= set(ends)
    assert {("tiebreak", kind) for kind in (3, 2, 1, 0, 10)} <= set(ends)
    assert forced >= 8
    _, short_take, _ = read(FOLDER / "take_of_two_then_empty_row.txt")
    assert short_take.actions[0] == "T"  # of the opening row's two cards


ENTRIES = entries()
SHORT_FIRST = sorted(ENTRIES, key=lambda entry: sum(entry["sequences"]))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["what"])
def test_the_engine_counts_what_is_recorded(entry: dict[str, Any]) -> None:
    """Sequences and distinct positions, to the recorded depth."""
    record = Record.from_json(json.dumps(entry))
    counts = engine_counts(record, len(entry["sequences"]))
    assert [sequences for sequences, _ in counts] == entry["sequences"]
    assert [positions for _, positions in counts] == entry["positions"]


@pytest.mark.parametrize("entry", few(SHORT_FIRST, 5), ids=lambda entry: entry["what"])
def test_the_second_referee_counts_the_same(entry: dict[str, Any]) -> None:
    """As deep as it gets in about a second."""
    depth = sum(1 for sequences in entry["sequences"] if sequences <= REFEREES_MOST)
    assert depth >= 2
    counts = referee_counts(Record.from_json(json.dumps(entry)), depth)
    assert [sequences for sequences, _ in counts] == entry["sequences"][:depth]
    assert [positions for _, positions in counts] == entry["positions"][:depth]


def test_counts_worked_out_by_hand() -> None:
    """With hands of one kind, the only choice is when to take.

    Seat 0 plays or takes, then seat 1 does; it cannot take from a row just emptied.
    """
    record = Record(dealt("55555", "66666", "77", removed="CCC"), "")
    assert engine_counts(record, 2) == [(2, 2), (3, 3)]
