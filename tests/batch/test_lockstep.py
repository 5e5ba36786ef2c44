"""Lockstep and Replay: the games of the engine, all at once."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from arena.addons.rl import DRAW, Encoding, Lockstep, find_worths, mask, random_deals
from arena.batch.replay import Replay, find_points, find_sources
from arena.errors import InputError
from arena.tables.run_games import Row, read_batches
from engine import CITY, STANDARD, TAKE, Rules, State, breakdown, counts, outcome
from engine import points as points_of
from engine.cards import pack_of
from engine.encoding import NEWEST, worths
from engine.view import view
from tests.addons.rl.ground_truth import SMALL_DECKS, VARIANTS
from tests.positions import RULE_SETS
from tests.tables.games import Played, play, random_rules, rows_of, tournament
from tests.tiers import few

ALL_RULES = RULE_SETS | {f"few cards: {name}": rules for name, rules in SMALL_DECKS.items()}


def begin(count: int, rules: Rules = STANDARD, seed: int = 5) -> tuple[Lockstep, list[State]]:
    """Return games in lockstep, and the same ones in the engine."""
    deals = random_deals(count, np.random.default_rng(seed), rules)
    games = Lockstep(count, rules)
    games.begin(np.arange(count), deals)
    return games, [State(deal.tobytes(), rules) for deal in deals]


def check_same(games: Lockstep, states: list[State]) -> None:
    """Assert that all games stand as the engine's do, hidden hands included."""
    assert games.over.tolist() == [state.over for state in states]
    assert games.round.tolist() == [state.round - 1 for state in states]
    for number, state in enumerate(states):
        row = games.row[: games.length[number], number]
        assert row.tobytes() == state.row
        for seat in (0, 1):
            assert counted(games.hands[seat, :, number]) == state.hands[seat]
            assert counted(games.piles[seat, :, number]) == state.piles[seat]
        if not state.over:
            assert games.to_act[number] == state.to_act
            assert games.taken[:, number].tolist() == [*state.taken]


def counted(counts: np.ndarray) -> int:
    """Return the pack with these counts."""
    return sum(int(n) << 5 * kind for kind, n in enumerate(counts))


def check_seen(games: Lockstep, states: list[State], rules: Rules) -> None:
    """Assert that observations, masks and worths are those of the views."""
    encoding = Encoding(rules)
    observations, masks = games.observe()
    leads = find_worths(games)
    for number, state in enumerate(states):
        if state.over:
            assert not masks[number].any()
            continue
        seen = view(state, state.to_act)
        assert (observations[number] == encoding.observation(seen)).all()
        assert (masks[number] == mask(seen)).all()
        assert leads[number].tolist() == worths(seen)


def check_play(rules: Rules, count: int, seed: int) -> None:
    """Play random games in both, and compare them after every action."""
    games, states = begin(count, rules, seed)
    rng = Random(seed)
    while not games.over.all():
        check_seen(games, states, rules)
        actions = np.zeros(count, np.int64)
        for number, state in enumerate(states):
            if not state.over:
                actions[number] = rng.choice(state.legal())
                state.apply(int(actions[number]))
        games.step(actions)
        check_same(games, states)
    ended = [outcome(state.piles, rules).winner for state in states]
    winners = games.winners(np.arange(count))
    assert winners.tolist() == [DRAW if winner is None else winner for winner in ended]


@pytest.mark.parametrize("rules", few(ALL_RULES.values(), 1), ids=ALL_RULES)
def test_games_are_those_of_the_engine(rules: Rules) -> None:
    """Action by action: hands, rows, piles, what the seats know, and who wins."""
    check_play(rules, count=40, seed=6)


def test_decks_are_shorter_than_the_newest_cards_and_as_long() -> None:
    """Ten decks, the four games that docs/openspiel.md solves among them."""
    sizes = sorted(len(rules.deck) for rules in SMALL_DECKS.values())
    assert len(sizes) == 10
    assert sizes[0] < NEWEST - 5
    assert {NEWEST - 1, NEWEST, NEWEST + 1} <= {*sizes}
    assert SMALL_DECKS.items() >= VARIANTS.items()


def test_a_game_can_begin_anew_and_one_that_is_over_stays() -> None:
    """Its column only, whatever was in it, and whatever action stands in its place."""
    games, states = begin(6)
    rng = Random(2)
    for ply in range(70):
        for number in np.flatnonzero(games.over):
            deal = random_deals(1, np.random.default_rng(100 + ply))
            games.begin(np.array([number]), deal)
            states[number] = State(deal.tobytes())
        actions = np.array([rng.choice(state.legal()) for state in states])
        for action, state in zip(actions, states, strict=True):
            state.apply(int(action))
        games.step(actions)
        check_same(games, states)
    assert len({state.round for state in states}) > 1
    games, states = begin(2)
    rng = Random(3)
    while not games.over[0]:
        actions = [rng.choice(state.legal()) if not state.over else 0 for state in states]
        for action, state in zip(actions, states, strict=True):
            if not state.over:
                state.apply(action)
        games.step(np.array(actions))
    piles = games.piles[:, :, 0].copy()
    seat = games.to_act[0]
    for action in (0, 11):
        games.step(np.array([action, action])) if games.over[1] else None
    assert (games.piles[:, :, 0] == piles).all()
    assert games.to_act[0] == seat


def test_deals_are_shuffles_of_the_deck_by_the_generator() -> None:
    """Each holds every card; equal seeds give equal deals, and other seeds other ones."""
    deals = random_deals(50, np.random.default_rng(1))
    assert (np.sort(deals, axis=1) == np.frombuffer(STANDARD.deck, np.uint8)).all()
    assert (deals == random_deals(50, np.random.default_rng(1))).all()
    assert (deals != random_deals(50, np.random.default_rng(2))).any()
    assert len(np.unique(deals, axis=0)) == 50


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


def test_the_games_of_a_pair_are_in_one_batch_and_winners_are_seats() -> None:
    """A batch may have one game more than asked for; the first bot in seat 1 wins there."""
    cup = tournament(bots=2, pairs=4)
    rows = rows_of([*play(cup)])
    del rows[3]
    batches = [*read_batches(cup, rows, 3)]
    assert [batch.games for batch in batches] == [3, 4]
    assert [batch.pair.tolist() for batch in batches] == [[0, 0, 1], [0, 0, 1, 1]]
    assert batches[0].bots.tolist() == [[0, 1], [0, 1]]
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
