"""Lockstep and Replay are the games of the engine, all at once; what networks learn from them."""

from __future__ import annotations

import io
import pkgutil
from itertools import pairwise
from random import Random
from typing import Any

import gymnasium
import numpy as np
import pytest

from arena.addons.rl import DRAW, Trajectories, by_seat, find_worths, mask
from arena.batch import learner
from arena.batch.learner import Choices, Network, from_bytes, gather, imitate, to_bytes
from arena.batch.lockstep import Encoding, Lockstep, random_deals
from arena.batch.positions import _ARRAYS as ARRAYS
from arena.batch.replay import NOTHING, Replay, find_points, find_sources, record_arrays
from arena.errors import InputError
from arena.tables.game_arrays import Row, read_batches
from bots import apprentice
from bots.greedy import bot as greedy
from bots.timing import bot as timing
from engine import (
    CITY,
    STANDARD,
    TAKE,
    Pack,
    Rules,
    State,
    View,
    breakdown,
    counts,
    hands,
    outcome,
    play_game,
)
from engine import points as points_of
from engine.cards import pack_of
from engine.encoding import NEWEST, encoder_of, worths
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


def step_at_random(games: Lockstep, states: list[State], rng: Random) -> None:
    """Carry out a random action in each game that is not over, and in the engine."""
    actions = [0 if state.over else rng.choice(state.legal()) for state in states]
    games.step(np.array(actions))
    for state, action in zip(states, actions, strict=True):
        if not state.over:
            state.apply(action)


def as_games(views: list[View], held: list[Pack] | None = None) -> Lockstep:
    """Return a game for each view; if no hands of the opponents are given, any that fit."""
    games = Lockstep(len(views), views[0].rules)
    games.by_round = True
    for place, seen in enumerate(views):
        hand = held[place] if held else next(hands(seen))[0]
        one = Lockstep.from_view(seen, [hand])
        for name in ARRAYS:
            getattr(games, name)[..., place] = getattr(one, name)[..., 0]
    return games


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
        step_at_random(games, states, rng)
        check_same(games, states)
    ended = [outcome(state.piles, rules).winner for state in states]
    winners = games.winners(np.arange(count))
    assert winners.tolist() == [DRAW if winner is None else winner for winner in ended]


@pytest.mark.parametrize("rules", few(ALL_RULES.values(), 1), ids=ALL_RULES)
def test_games_are_those_of_the_engine(rules: Rules) -> None:
    """Action by action: hands, rows, piles, what the seats know, and who wins."""
    check_play(rules, count=40, seed=6)


def test_deals_are_shuffles_of_decks_of_all_lengths() -> None:
    """Shorter than the newest cards, and as long; equal seeds give equal deals, others do not."""
    sizes = {len(rules.deck) for rules in SMALL_DECKS.values()}
    assert min(sizes) < NEWEST - 5
    assert {NEWEST - 1, NEWEST, NEWEST + 1} <= sizes
    assert SMALL_DECKS.items() >= VARIANTS.items()
    deals = random_deals(50, np.random.default_rng(1))
    assert (np.sort(deals, axis=1) == np.frombuffer(STANDARD.deck, np.uint8)).all()
    assert (deals == random_deals(50, np.random.default_rng(1))).all()
    assert (deals != random_deals(50, np.random.default_rng(2))).any()
    assert len(np.unique(deals, axis=0)) == 50


def test_a_game_can_begin_anew_and_one_that_is_over_stays() -> None:
    """Its column only, whatever was in it, and whatever action stands in its place."""
    games, states = begin(6)
    rng = Random(2)
    for ply in range(70):
        for number in np.flatnonzero(games.over):
            deal = random_deals(1, np.random.default_rng(100 + ply))
            games.begin(np.array([number]), deal)
            states[number] = State(deal.tobytes())
        step_at_random(games, states, rng)
        check_same(games, states)
    assert len({state.round for state in states}) > 1
    while not games.over.any():
        games.step(games.legal().argmax(axis=1))
    ended = games.over.copy()
    piles, seats = games.piles[:, :, ended].copy(), games.to_act[ended].copy()
    for action in (0, 11):
        games.step(np.where(ended, action, games.legal().argmax(axis=1)))
    assert games.over[ended].all()
    assert (games.piles[:, :, ended] == piles).all()
    assert (games.to_act[ended] == seats).all()


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
    """Return every take of a game: place, seat, round, action of its seat, piles, cards."""
    takes = []
    for ply, (before, after) in enumerate(pairwise(states)):
        seat = before.to_act
        if after.history[-1] == TAKE:
            of_round = range(ply - ply % before.rules.round_plies, ply + 1)
            action = sum(states[other].to_act == seat for other in of_round)
            piles = *map(counts, before.piles), counts(after.piles[seat] - before.piles[seat])
            takes.append((number, ply, seat, before.round, action, *piles))
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
    piles = (map(tuple, pile.T.tolist()) for pile in (*takes.before, takes.cards))
    assert sorted(zip(*(column.tolist() for column in columns), *piles, strict=True)) == wanted


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


WEIGHTS = pkgutil.get_data("bots", "apprentice.npz") or b""


def choices_of(games: int) -> tuple[Choices, Any, Any]:
    """Return what greedy chose in seat 0 and 1 in turn, with the deals and the actions."""
    bots = greedy, timing, greedy
    records = [play_game(*bots[n % 2 :][:2], seed=n).record for n in range(games)]
    deals, actions = record_arrays([(one.deal, one.actions) for one in records])
    return gather(deals, actions, np.arange(games) % 2), deals, actions


def test_the_numbers_of_a_file_are_those_of_apprentice_and_slopes_lead_down() -> None:
    """Its units and weights, read and written again; each slope is what a small change does."""
    assert (learner.UNIT, learner.WEIGHT) == (apprentice.UNIT, apprentice.WEIGHT)
    own = np.load(io.BytesIO(WEIGHTS))
    again = np.load(io.BytesIO(to_bytes(from_bytes(WEIGHTS))))
    assert {*own} == {*again}
    for name in own:
        assert abs(own[name].astype(float) - again[name]).max() <= 1, name
    network = Network.random([5, 7, 3], np.random.default_rng(1))
    inputs = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    wanted = np.ones((4, 3), np.float32)

    def loss() -> float:
        return float(((network(inputs) - wanted) ** 2).sum() / 2)

    losses = [loss()]
    for _ in range(200):
        network.improve(network(inputs) - wanted, 0.01)
        losses.append(loss())
    assert losses[-1] < 0.05 * losses[0]


def test_choices_are_what_the_bot_saw_and_did() -> None:
    """View by view in the engine; forced actions are left out."""
    choices, deals, played = choices_of(4)
    found = {
        (int(game), known.astype(np.float32).tobytes()): (mask.tolist(), int(action))
        for known, mask, action, game in zip(*choices, strict=True)
    }
    count = 0
    for game, (deal, actions) in enumerate(zip(deals, played, strict=True)):
        state = State(deal.tobytes(), STANDARD)
        for action in actions[actions != NOTHING].tolist():
            seen = view(state, state.to_act)
            if state.to_act == game % 2 and len(seen.legal) > 1:
                leads = [worth / learner.TEN_POINTS for worth in worths(seen)]
                bits = [*encoder_of(STANDARD).observation(seen), *leads]
                mask, chosen = found[game, np.array(bits, np.float32).tobytes()]
                assert chosen == action
                assert [kind for kind, legal in enumerate(mask) if legal] == [*seen.legal]
                count += 1
            state.apply(action)
    assert count == len(choices.actions)


@pytest.mark.slow
def test_a_clone_comes_nearer_and_equal_luck_makes_it_again() -> None:
    """In games from which it has not learned; never further away than where it began."""
    choices, _, _ = choices_of(64)
    clones = [imitate(WEIGHTS, choices, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert clones[0] == clones[1] != clones[2]
    for clone in clones:
        assert clone.alike > clone.before + 0.05
    apprentice.read(clones[0].content)
    few, _, _ = choices_of(2)
    assert imitate(WEIGHTS, few, np.random.default_rng(1)).before > 0
    none = Choices(*(part[:0] for part in choices))
    assert imitate(WEIGHTS, none, np.random.default_rng(1)).content == WEIGHTS


ID = "arena.addons.rl.env:DistrictNoir-v0"


def play_at_random(mode: str, illegal: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the seats, rewards and ends of random games, with a share of illegal actions."""
    games = gymnasium.make_vec(ID, num_envs=30, autoreset_mode=mode)
    _, infos = games.reset(seed=1)
    rng = np.random.default_rng(3)
    said: list[Any] = []
    for _ in range(130):
        seats = infos["seat"]
        actions = (rng.random((30, 12)) * infos["action_mask"]).argmax(axis=1)
        actions[rng.random(30) < illegal] = -1
        _, rewards, over, _, infos = games.step(actions)
        said.append((seats, rewards, over))
        if mode == "DISABLED" and over.any():
            _, infos = games.reset(options={"reset_mask": over})
    seats, rewards, over = (np.array(part) for part in zip(*said, strict=True))
    return seats, rewards, over


def plainly(seats: np.ndarray, rewards: np.ndarray, over: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the trajectories of a column at a time, an action after the other."""
    found: list[tuple[Any, ...]] = []
    for game in range(seats.shape[1]):
        open_: dict[int, list[int]] = {}
        for step in range(len(seats)):
            seat = int(seats[step, game])
            if seat < 0:
                continue
            open_.setdefault(seat, []).append(step)
            if over[step, game]:
                for one, steps in open_.items():
                    result = rewards[step, game] * (1 if one == seat else -1)
                    found.append((game, one, steps, result, True))
                open_ = {}
        found += [(game, one, steps, 0.0, False) for one, steps in open_.items()]
    return found


def listed(played: Trajectories) -> list[tuple[Any, ...]]:
    return [(*one[:2], one.steps.tolist(), *one[3:]) for one in played.split()]


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_each_seat_has_its_own_decisions_and_result(mode: str) -> None:
    """In every mode, also of games that the arrays cut off."""
    said = play_at_random(mode, illegal=0.004)
    played = by_seat(*said)
    paths = listed(played)
    assert sorted(paths) == sorted(plainly(*said))
    assert [(steps[0], game) for game, _, steps, *_ in paths] == sorted(
        (steps[0], game) for game, _, steps, *_ in paths
    )
    assert sum(finished for *_, finished in paths) >= 2 * 2 * 30
    for game, seat, steps, result, finished in paths:
        assert (played.seats[steps, game] == seat).all()
        assert (played.returns[steps, game] == result).all()
        assert (played.finished[steps, game] == finished).all()
        assert played.following[steps, game].tolist() == [*steps[1:], -1]
        assert played.last[steps, game].tolist() == [False] * (len(steps) - 1) + [finished]
        assert played.rewards[steps, game].tolist() == [0.0] * (len(steps) - 1) + [result]
