"""A pair is one deal played twice, and every fault is a forfeit of the guilty bot."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.load import load
from arena.match import play_pair
from arena.schedule import Pairing, round_robin
from engine import STANDARD
from tests.rogues import ILLEGAL, ROGUES, write

UNIFORM, GREEDY = load("uniform"), load("greedy")


def test_the_two_games_of_a_pair_have_one_deal_and_swapped_seats() -> None:
    """A bot against its double: the same luck in each seat, so the games mirror each other."""
    double = load("double=uniform")
    for pair in range(20):
        (first, _), (second, _) = play_pair(
            3, STANDARD, Pairing("uniform", "double"), (UNIFORM, double), pair
        )
        assert (first.seat, second.seat) == (0, 1)
        assert first.points == second.opponent_points
        assert first.opponent_points == second.points
        assert first.plies == second.plies
        if first.winner is not None:
            assert second.winner == 1 - first.winner


def test_a_pairing_has_the_same_games_whichever_bot_is_named_first() -> None:
    """Only the point of view changes, and the order of the two games."""
    for pair in range(10):
        one = [
            r
            for r, _ in play_pair(
                5, STANDARD, Pairing("uniform", "greedy"), (UNIFORM, GREEDY), pair
            )
        ]
        two = [
            r
            for r, _ in play_pair(
                5, STANDARD, Pairing("greedy", "uniform"), (GREEDY, UNIFORM), pair
            )
        ]
        for game, seen in zip(one, reversed(two), strict=True):
            assert (game.points, game.opponent_points) == (seen.opponent_points, seen.points)
            assert (game.win_type, game.plies) == (seen.win_type, seen.plies)


def test_pairs_and_seeds_and_opponents_have_deals_of_their_own() -> None:
    """Deals are fresh for each pairing, pair and seed."""
    addresses = {
        pairing.deal_address(pair) for pairing in round_robin(["a", "b", "c"]) for pair in (0, 1)
    }
    assert len(addresses) == 6
    assert Pairing("b", "a").deal_address(0) == Pairing("a", "b").deal_address(0)


@pytest.mark.parametrize("name", ROGUES)
def test_a_rogue_forfeits_in_either_seat(tmp_path: Path, name: str) -> None:
    """The guilty bot loses, the kind of its fault is told, and nothing is raised."""
    rogue = load(str(write(tmp_path, name, ROGUES[name])))
    games = play_pair(1, STANDARD, Pairing(name, "uniform"), (rogue, UNIFORM), 0)
    for game, fault in games:
        assert (game.winner, game.win_type) == (1, "forfeit")
        assert game.fault == ("illegal" if name in ILLEGAL else "exception")
        assert fault is not None
        assert fault.seat == game.seat
        assert fault.ply == game.plies == game.seat  # at its first action
        assert fault.message
        assert fault.message.isprintable()
        assert len(fault.message) <= 200
        assert len(fault.traceback) <= 4000


def test_the_innocent_opponent_of_a_rogue_wins_as_the_first_bot_too(tmp_path: Path) -> None:
    """The winner is 0 when the first bot of the pairing is the innocent one."""
    rogue = load(str(write(tmp_path, "raises", ROGUES["raises"])))
    games = play_pair(1, STANDARD, Pairing("uniform", "raises"), (UNIFORM, rogue), 0)
    assert [game.winner for game, _ in games] == [0, 0]


def test_a_bot_that_cannot_begin_forfeits_at_ply_0(tmp_path: Path) -> None:
    """The fault is told apart by seat even before the game."""
    rogue = load(str(write(tmp_path, "stillborn", "    pass", init="raise SystemExit(3)")))
    games = play_pair(1, STANDARD, Pairing("uniform", "stillborn"), (UNIFORM, rogue), 0)
    for game, fault in games:
        assert (game.winner, game.win_type, game.fault, game.plies) == (
            0,
            "forfeit",
            "exception",
            0,
        )
        assert fault is not None
        assert fault.seat == 1 - game.seat


def test_an_action_may_be_any_integer(tmp_path: Path) -> None:
    """A member of an IntEnum, as a numpy integer, stands for its number."""
    body = (
        "    def choose(self, view, /):\n"
        "        import enum\n"
        "        names = {f'K{n}': n for n in range(12)}\n"
        "        return enum.IntEnum('Kind', names)(view.legal[0])"
    )
    named = load(str(write(tmp_path, "named", body)))
    for game, _ in play_pair(1, STANDARD, Pairing("named", "uniform"), (named, UNIFORM), 0):
        assert game.win_type != "forfeit"


def test_a_list_among_the_parameters_is_new_in_every_game(tmp_path: Path) -> None:
    """A bot that writes into it finds it empty in the next game."""
    path = tmp_path / "leaks.py"
    path.write_text(
        "class Leaks:\n"
        "    def __init__(self, setup, memory: list):\n"
        "        assert not memory\n"
        "        memory.append(1)\n\n"
        "    def choose(self, view, /):\n"
        "        return view.legal[0]\n\n"
        "bot = Leaks\n"
    )
    leaks = load(str(path), params={"memory": []})
    for pair in range(3):
        for game, _ in play_pair(1, STANDARD, Pairing("x", "y"), (leaks, UNIFORM), pair):
            assert game.win_type != "forfeit"


def test_an_illegal_action_is_told_with_what_was_legal(tmp_path: Path) -> None:
    """The evidence: the action, and the legal ones."""
    rogue = load(str(write(tmp_path, "plays_99", ROGUES["plays_99"])))
    _, fault = play_pair(1, STANDARD, Pairing("plays_99", "uniform"), (rogue, UNIFORM), 0)[0]
    assert fault is not None
    assert fault.message.startswith("illegal action 99; legal: ")
    assert fault.message.endswith(" T")
