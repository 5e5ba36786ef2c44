"""A batch of games is replayed as `engine.State` replays each of them."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from arena.batch.replay import Replay, find_points, find_sources
from arena.errors import InputError
from arena.tables.run_games import Row, read_batches
from engine import CITY, TAKE, Rules, State, breakdown, counts
from engine import points as points_of
from engine.cards import pack_of
from tests.positions import RULE_SETS
from tests.tables.games import Played, play, random_rules, rows_of, tournament

RANDOM_RULES = [random_rules(Random(seed)) for seed in range(30)]


def assert_replayed(played: Replay, number: int, game: Played) -> None:
    """The piles, the row and what a take would bring are those of the State at every ply."""
    size = played.rules.take_size
    for ply, state in enumerate(game.states):
        piles = played.piles[ply, :, :, [number]].T.swapaxes(0, 1)
        assert [tuple(pile) for pile in piles[..., 0]] == [*map(counts, state.piles)]
        assert tuple(played.row[ply, :, number]) == counts(pack_of(state.row))
        assert tuple(played.within[ply, :, number]) == counts(pack_of(state.row[-size:]))
        score = find_points(piles.astype(int), played.rules)[:, 0]
        assert tuple(score) == points_of(state.piles, played.rules)
    parts = breakdown(game.states[-1].piles, played.rules)
    flat = [[*part.majorities, part.sets, part.alliances, part.betrayals] for part in parts]
    by_source = find_sources(played.piles[-1].astype(int), played.rules)
    assert by_source[:, :-1, number].tolist() == flat
    assert by_source[:, -1, number].tolist() == [part.points for part in parts]


def takes_of(number: int, states: list[State]) -> list[tuple[object, ...]]:
    """Return every take of a game: place, seat, round, action of its seat, and what it brought."""
    takes = []
    for ply, (before, after) in enumerate(pairwise(states)):
        seat = before.to_act
        if after.history[-1] == TAKE:
            of_round = range(ply - ply % before.rules.round_plies, ply + 1)
            action = sum(states[other].to_act == seat for other in of_round)
            brought = counts(after.piles[seat] - before.piles[seat])
            takes.append((number, ply, seat, before.round, action, brought))
    return takes


@pytest.mark.parametrize("rules", [*RULE_SETS.values(), *RANDOM_RULES])
def test_every_ply_is_that_of_the_engine(rules: Rules) -> None:
    """Under the published rules, under variants and under random numbers; forfeits too."""
    cup = tournament(bots=2, pairs=3, rules=rules)
    games = [*play(cup, forfeits=True)]
    (batch,) = read_batches(cup, rows_of(games))
    played = batch.replay
    for number, game in enumerate(games):
        assert_replayed(played, number, game)
        assert played.plies[number] == len(game.row.actions)
        for seat in (0, 1):
            moves = [(before.to_act, after.history[-1]) for before, after in pairwise(game.states)]
            mine = [action for actor, action in moves if actor == seat]
            mine_of = played.count_played()[seat, :, number]
            assert tuple(mine_of) == tuple(map(mine.count, range(CITY + 1)))
    wanted = sorted(take for n, game in enumerate(games) for take in takes_of(n, game.states))
    takes = played.takes
    columns = takes.game, takes.ply, takes.seat, takes.round, takes.action
    found = zip(
        *(column.tolist() for column in columns), map(tuple, takes.cards.T.tolist()), strict=True
    )
    assert sorted(found) == wanted
    before = played.piles[takes.ply, :, :, takes.game]
    assert (np.moveaxis(takes.before, -1, 0) == before).all()


def test_the_games_of_a_pair_are_in_one_batch() -> None:
    """A batch may have one game more than asked for; a pair may have only one game."""
    cup = tournament(bots=2, pairs=4)
    rows = rows_of([*play(cup)])
    del rows[3]
    batches = [*read_batches(cup, rows, 3)]
    assert [batch.games for batch in batches] == [3, 4]
    assert [batch.pair.tolist() for batch in batches] == [[0, 0, 1], [0, 0, 1, 1]]
    assert batches[0].bots.tolist() == [[0, 1], [0, 1]]


def test_winners_are_turned_to_seats() -> None:
    """The first bot sits in seat 1 and wins: seat 1 wins."""
    rows = [Row(0, 0, 0, None, "draw", ""), Row(0, 0, 1, 0, "points", "")]
    (batch,) = read_batches(tournament(bots=2), rows)
    assert batch.winner.tolist() == [-1, 1]
    assert batch.finished.all()


@pytest.mark.parametrize(
    ("win_type", "actions"),
    [("points", "5?T"), ("points", "5" * 49), ("5 : 3", "5"), ("draw", "é")],
)
def test_a_damaged_record_is_named(win_type: str, actions: str) -> None:
    """One line has the game's name; no array is filled with nonsense."""
    rows = [Row(0, 1, 0, 0, "city", "5"), Row(0, 1, 1, 0, win_type, actions)]
    with pytest.raises(InputError, match="game a/b/1/1: its record cannot be played"):
        next(read_batches(tournament(bots=2), rows))


@pytest.mark.parametrize("actions", ["TTTT", "T" * 48, "C" * 48, "TTCCCCCTTTTTT"])
def test_a_record_that_no_game_has_does_no_harm(actions: str) -> None:
    """`verify` finds it; here it must not raise or run on."""
    (batch,) = read_batches(tournament(bots=2), [Row(0, 0, 0, 0, "points", actions)])
    assert batch.replay.plies.tolist() == [len(actions)]
    points = find_points(batch.replay.piles.astype(int), tournament().rules)
    assert np.isfinite(points).all()
