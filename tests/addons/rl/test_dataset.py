"""Dataset: what the games' views say, in arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import arena
from arena.addons.rl import Encoding, dataset, mask
from arena.addons.rl.decisions import Decisions
from arena.errors import InputError
from arena.replays.finished_game import Game
from engine import Rules, State
from engine.notation import parse_actions, parse_deal
from engine.view import view
from tests.conftest import Once
from tests.tiers import few

UPSET = """
class Upset:
    def __init__(self, setup):
        pass

    def choose(self, view):
        assert view.opening[0] % 2
        return view.legal[0]


bot = Upset
"""
RULES = {"rounds": 3, "removed": 13}


@pytest.fixture(scope="module")
def folder(once: Once) -> Path:
    """A run of three bots under other rules."""
    return once("dataset", play) / "run"


def play(folder: Path) -> None:
    bots = ["greedy", "uniform", "majority"]
    arena.run(bots, pairs=4, rules=RULES, out=folder / "run", progress=False)


def expected(folder: Path) -> list[tuple[bytes, bytes, int, int, int, str, int]]:
    """Return the rows that the views of the run's games give, by game and ply."""
    rules = Rules(**RULES)
    results, encoding, rows = arena.open(folder), Encoding(rules), []
    number = 0
    for first, second in (("greedy", "uniform"), ("greedy", "majority"), ("uniform", "majority")):
        for pair in range(4):
            for seat in (0, 1):
                game = results.game(first, second, pair, seat)
                state = State(parse_deal(game.record.deal, rules), rules)
                for action in parse_actions(game.record.actions):
                    seen = view(state, state.to_act)
                    label = game.seats[state.to_act]
                    brought = 0 if game.winner is None else 1 if game.winner == label else -1
                    bits = encoding.observation(seen).tobytes()
                    legal = mask(seen).tobytes()
                    rows.append((bits, legal, action, brought, seen.seat, label, number))
                    state.apply(action)
                number += 1
    return rows


def rows_of(blocks: list[Decisions]) -> list[tuple[bytes, bytes, int, int, int, str, int]]:
    """Return the rows of all blocks."""
    labels = ["greedy", "uniform", "majority"]
    return [
        (seen.tobytes(), legal.tobytes(), *map(int, rest[:3]), labels[rest[3]], int(rest[4]))
        for block in blocks
        for seen, legal, *rest in zip(*block, strict=True)
    ]


@pytest.mark.parametrize("games", few([5, 1, 1000], 0))
def test_every_decision_is_there_once(folder: Path, games: int) -> None:
    """However many games at a time: what the view says, what was played, what it brought."""
    assert rows_of([*dataset(folder, games)]) == expected(folder)


@pytest.mark.slow
def test_games_that_a_fault_ended_are_left_out(tmp_path: Path) -> None:
    """Their results are not those of their actions; the others keep their numbers."""
    out = tmp_path / "run"
    bot = tmp_path / "upset.py"
    bot.write_text(UPSET)
    arena.run(["greedy", str(bot)], pairs=3, out=out, progress=False)
    results = arena.open(out)
    faulty = [bool(results.game("greedy", "upset", n // 2, n % 2).fault) for n in range(6)]
    numbers = {int(number) for block in dataset(out) for number in block.games}
    assert 0 < sum(faulty) < 6
    assert numbers == {number for number, is_out in enumerate(faulty) if not is_out}


@pytest.mark.parametrize("actions", ["C" * 36, "T" * 60, "T5"])
def test_a_record_that_cannot_be_played_is_named(folder: Path, actions: str) -> None:
    """Illegal actions, too many and too few."""

    unchanged = Game.of

    def changed(*args: Any) -> Game:
        game = unchanged(*args)
        record = game.record._replace(actions=actions)
        return Game(record, game.seats, game.winner, game.win_type, game.points)

    with (
        mock.patch("arena.store.reader.Game.of", changed),
        pytest.raises(InputError, match=r"game greedy/uniform/./.: its record cannot be played"),
    ):
        next(dataset(folder))
