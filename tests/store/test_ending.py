"""How a person's game ended, in words."""

from __future__ import annotations

from arena.lanes.faults import Fault
from arena.store.judge import format_ending
from arena.tournament.match import Finished
from engine import State
from tests.positions import at, dealt, packs, quiet_game

CITIES = dealt("CCC56", "55667", "88", removed="xyz")
QUIET = dealt("5678C", "824xz", removed="CCy")


def ending(state: State, seat: int, fault: Fault | None = None, since: int = 0) -> list[str]:
    finished = Finished(state, fault, None if fault is None else 1 - seat)
    return [line.text for line in format_ending(finished, seat, "english", "greedy", since)]


def scored(first: str, second: str) -> State:
    """Return a finished game with these piles."""
    state = at(QUIET, quiet_game(QUIET))
    state.piles = packs(first, second)
    return state


def test_a_win_by_city_shows_what_was_hidden() -> None:
    """Seat 1 takes the last five of 8 8 C 5 C 5 C; both hands and the removed cards show."""
    state = at(CITIES, "C5C5CT")
    assert ending(state, 1, since=4) == [
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
    lines = ending(state, 0)
    assert "greedy wins at once, with 3 cities." in lines
    assert "you held    Support 5, Support 6" in lines


def test_the_winners_points_come_first() -> None:
    """8 points for the 8 against a betrayal; neither seat holds a card."""
    state = scored("8", "x")
    assert "You win on points, 8 to -1." in ending(state, 0)
    assert "greedy wins on points, 8 to -1." in ending(state, 1)
    assert not any("held" in line for line in ending(state, 0))


def test_a_tie_break_and_a_draw() -> None:
    """8 points each with more 8s in one pile, and two equal piles."""
    assert "You win the tie-break at 8 points each." in ending(scored("8", "2222"), 0)
    assert "greedy wins the tie-break at 8 points each." in ending(scored("8", "2222"), 1)
    assert "A draw at 2 points each." in ending(scored("2", "2"), 0)


def test_a_forfeit_shows_its_evidence() -> None:
    """Kind, ply, message, traceback and the bot's output, in 80 columns."""
    fault = Fault("exception", "ValueError: boom", f"Trace\n  {'x' * 99}", "hello")
    lines = ending(at(CITIES, "C5C5C"), 0, fault)
    start = lines.index("You win.")
    assert lines[start + 1 : start + 7] == [
        "greedy forfeits (an exception, ply 5): ValueError: boom",
        "traceback:",
        "  Trace",
        f"    {'x' * 76}",
        "printed:",
        "  hello",
    ]
    assert "bot held    2x Support 6, Support 7" not in lines[: start + 1]
    assert "bot held    2x Support 6, Support 7" in lines
