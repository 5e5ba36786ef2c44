"""How a person's game ended, in words."""

from __future__ import annotations

from arena.games.match import Finished
from arena.lanes.faults import Fault
from arena.person.ending import format_ending
from engine import State
from tests.positions import at, dealt, packs, quiet_game

CITIES = dealt("CCC56", "55667", "88", removed="xyz")
QUIET = dealt("5678C", "824xz", removed="CCy")


def told(state: State, seat: int, fault: Fault | None = None, since: int = 0) -> list[str]:
    finished = Finished(state, fault, None if fault is None else 1 - seat)
    return [line.text for line in format_ending(finished, seat, "english", "greedy", since)]


def scored(first: str, second: str) -> State:
    """Return a finished game with these piles."""
    state = at(QUIET, quiet_game(QUIET))
    state.piles = packs(first, second)
    return state


def test_a_win_by_city_shows_what_was_hidden() -> None:
    """The last five of 8 8 C 5 C 5 C to seat 1, both hands and the removed cards."""
    state = at(CITIES, "C5C5CT")
    assert told(state, 1, since=4) == [
        "  greedy plays City",
        "  you take 5: City, Support 5, City, Support 5, City",
        "You win at once, with 3 cities.",
        "",
        "pile        Support   5  6  7  8   Alliance       Betrayal        City",
        "you                   2  -  -  -   -              -               3 of 3",
        "greedy                -  -  -  -   -              -               0 of 3",
        "score       majorities          sets  alliances  betrayals   total",
        "you         5                      0          0          0       5",
        "greedy      0                      0          0          0       0",
        "",
        "you held    2x Support 6, Support 7",
        "bot held    Support 5, Support 6",
        "removed     Betrayal -1, Betrayal -2, Betrayal -3",
    ]
    found = told(state, 0)
    assert "greedy wins at once, with 3 cities." in found
    assert "you held    Support 5, Support 6" in found


def test_points_are_told_winner_first() -> None:
    """Eight for the eight, and a betrayal; nobody holds a card any more."""
    state = scored("8", "x")
    assert "You win on points, 8 to -1." in told(state, 0)
    assert "greedy wins on points, 8 to -1." in told(state, 1)
    assert not any("held" in line for line in told(state, 0))


def test_a_tie_break_and_a_draw() -> None:
    """8 points each with more 8s on one side; and with nothing to tell the piles apart."""
    assert "You win the tie-break at 8 points each." in told(scored("8", "2222"), 0)
    assert "greedy wins the tie-break at 8 points each." in told(scored("8", "2222"), 1)
    assert "A draw at 2 points each." in told(scored("2", "2"), 0)


def test_a_forfeit_shows_its_evidence() -> None:
    """Kind, ply and message, the traceback and what the bot printed, in 80 columns."""
    fault = Fault("exception", "ValueError: boom", f"Trace\n  {'x' * 99}", "hello")
    found = told(at(CITIES, "C5C5C"), 0, fault)
    start = found.index("You win.")
    assert found[start + 1 : start + 7] == [
        "greedy forfeits (an exception, ply 5): ValueError: boom",
        "traceback:",
        "  Trace",
        f"    {'x' * 76}",
        "printed:",
        "  hello",
    ]
    assert "bot held    2x Support 6, Support 7" not in found[: start + 1]
    assert "bot held    2x Support 6, Support 7" in found
