"""games.csv and faults.csv: a row for each game, and one for each forfeit with its evidence."""

from __future__ import annotations

import csv
import io
from itertools import product
from random import Random

import pytest

from arena.lanes.faults import Fault
from arena.statistics.counts import BY_RULE
from arena.store.csv_files import GAME_COLUMNS, guard, write_faults, write_games
from arena.store.store import Store
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Fixture, Pairing

AB = Pairing("a", "b")


@pytest.mark.slow
def test_the_lines_of_games_are_those_that_csv_writes() -> None:
    """For labels and kinds of faults that it quotes, and across the ends of texts."""
    store = Store(None)
    pairings = [Pairing("a, b", 'the "new" one'), Pairing("a, b", "Äpfel"), Pairing("=x", "y'")]
    rng = Random(1)
    for number, pairs in enumerate((2000, 1, 2500)):
        kinds = ["", "", "illegal", 'a "b"', "a,b", "a\nb", "NA", "=1+1"]
        games = []
        for pair, seat in product(range(pairs), (0, 1)):
            kind, winner = rng.choice(kinds), rng.choice((0, 1, None))
            fault = Fault(kind, "no") if kind else None
            numbers = rng.randrange(-9, 99), rng.randrange(99), rng.randrange(49)
            games.append(GameResult(pair, seat, winner, "points", *numbers, fault, ""))
        store.add(Played(Chunk(number, 0, pairs), games, {}, 0.0))
    wanted, found = io.StringIO(), io.StringIO()
    writer = csv.writer(wanted, lineterminator="\n")
    writer.writerow(GAME_COLUMNS)
    writer.writerows(map(guard, row) for row in store.named_games(pairings))
    write_games(found, store.game_lines(pairings))
    assert found.getvalue() == wanted.getvalue()
    store.close()


def rows(*forfeits: tuple[int, int | None, Fault]) -> list[dict[str, str]]:
    """Return the rows of pair 3 for these forfeits: seat of a, winner and fault."""
    file = io.StringIO()
    games = [
        (Fixture(AB, 3, seat), GameResult(3, seat, winner, "forfeit", 0, 0, 7, fault, "5555555"))
        for seat, winner, fault in forfeits
    ]
    write_faults(file, games, lambda fixture: f"play {fixture.name}")
    return list(csv.DictReader(io.StringIO(file.getvalue())))


def test_a_fault_is_a_row_with_bot_kind_place_and_command() -> None:
    """The winner 1 is the opponent, so the pairing's first bot is guilty."""
    (row,) = rows((1, 1, Fault("illegal", "illegal action 9 (z)", "", "hello\n")))
    assert row == {
        "game": "a/b/3/1",
        "bot": "a",
        "kind": "illegal",
        "ply": "7",
        "message": "illegal action 9 (z)",
        "traceback": "",
        "output": "hello",
        "command": "play a/b/3/1",
    }


def test_the_guilty_bot_is_the_loser_in_either_seat() -> None:
    """For seats 0 and 1 and winners 0 and 1."""
    fault = Fault("illegal", "")
    places = [(seat, winner) for seat in (0, 1) for winner in (0, 1)]
    faults = rows(*((seat, winner, fault) for seat, winner in places))
    assert [row["bot"] for row in faults] == ["b", "a", "b", "a"]


def test_the_last_lines_of_the_evidence_are_kept() -> None:
    """Four of the traceback, where the exception is, and ten of the output."""
    traceback = "Traceback:\n  File one\n    a()\n  File two\n    b()\nValueError: boom\n"
    output = "".join(f"line {number}\n" for number in range(12))
    (row,) = rows((0, 0, Fault("exception", "boom", traceback, output)))
    assert row["traceback"] == "a() | File two | b() | ValueError: boom"
    assert row["output"] == " | ".join(f"line {number}" for number in range(2, 12))


def test_a_forfeit_by_rule_has_no_command() -> None:
    """There is no game to play again."""
    (row,) = rows((0, 0, Fault(BY_RULE, "not played")))
    assert (row["kind"], row["command"]) == ("max_faults", "")
