"""The tree search: its worlds, its statistics, its playouts, and that searching more helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random
from time import perf_counter

import pytest
import scipy

from arena.entries.resolve import resolve
from bots.ismcts import Ismcts, Node, Playout
from engine import STANDARD, TAKE, Rules, State, View, play_game
from engine.cards import cards_of, pack_of, size
from engine.play import setup
from engine.state import random_deal
from engine.view import view
from engine.worlds import hands
from tests.minimax import worth
from tests.positions import RULE_SETS
from tests.waiting import PATIENCE

PLAYOUTS: tuple[Playout, ...] = ("game", "uniform", "greedy")
LEAST_P = 1e-4


def states(games: int, rules: Rules = STANDARD, seed: int = 0) -> Iterator[State]:
    """Yield every state with a seat to act from random games."""
    rng = Random(seed)
    for _ in range(games):
        state = State(random_deal(rng, rules), rules)
        while not state.over:
            yield state.copy()
            state.apply(rng.choice(state.legal()))


def views(games: int, rules: Rules = STANDARD, seed: int = 0) -> list[View]:
    """Return the view of the seat to act wherever it has a choice, in random games."""
    seen = [view(state, state.to_act) for state in states(games, rules, seed)]
    return [one for one in seen if len(one.legal) > 1]


def searcher(rules: Rules = STANDARD, playout: Playout = "greedy", iterations: int = 30) -> Ismcts:
    """Return a search without the exact last round."""
    return Ismcts(setup(1, 0, rules), iterations, playout=playout, positions=0)


@pytest.mark.parametrize("playout", PLAYOUTS)
@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_its_worlds_look_like_the_view(rules: Rules, playout: Playout) -> None:
    """view(world) == view for each world, and changing one world changes no other."""
    for seen in views(2, rules)[::3]:
        drawn = list(islice(searcher(rules, playout).worlds(seen), 12))
        for world in drawn:
            assert view(world, seen.seat) == seen
            assert world.to_act == seen.seat
            world.apply(seen.legal[0])
        assert len({id(world.hands) for world in drawn}) == len(drawn)


def test_only_a_playout_to_the_games_end_deals_later_rounds() -> None:
    """For the other playouts a world ends with its round."""
    seen = views(1)[0]
    decks = {playout: next(searcher(playout=playout).worlds(seen)).deck for playout in PLAYOUTS}
    assert len(decks["game"]) == 30
    assert decks["uniform"] == decks["greedy"] == b""


@pytest.mark.slow
@pytest.mark.parametrize("playout", PLAYOUTS)
def test_the_opponents_hands_are_drawn_in_proportion_to_their_deals(playout: Playout) -> None:
    """Chi-square over all hands in a last round; one shuffle gives several worlds."""
    seen = View.from_text("1 5z 78 8T526xT27C7x676y7x38T8CT2y6568T75T46zyy753")
    expected = dict(hands(seen))
    drawn = islice(searcher(playout=playout).worlds(seen), 8000)
    frequencies = Counter(world.hands[seen.opponent] for world in drawn)
    assert set(frequencies) == set(expected)
    total = sum(expected.values())
    shares = [8000 * ways / total for ways in expected.values()]
    assert scipy.stats.chisquare([frequencies[hand] for hand in expected], shares).pvalue > LEAST_P


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it."""
    yield node
    for child in node.children.values():
        yield from nodes(child)


@pytest.mark.parametrize("playout", PLAYOUTS)
def test_the_counts_of_the_tree_add_up(playout: Playout) -> None:
    """Each iteration visits one action at the root, and at most one below each visit."""
    for seen in views(2, seed=2)[::4]:
        tree = searcher(playout=playout, iterations=60).search(seen)
        assert set(tree.children) == set(seen.legal)
        assert sum(child.visits for child in tree.children.values()) == 60
        for child in tree.children.values():
            assert child.visits >= 1
            for node in nodes(child):
                assert sum(below.visits for below in node.children.values()) <= node.visits
                assert 0.0 <= node.total <= node.visits
                assert node.visits <= node.chances
                assert node.chances <= 60


@pytest.mark.parametrize("playout", PLAYOUTS)
def test_the_search_prefers_the_winning_action(playout: Playout) -> None:
    """Taking the third city always wins, and nine in ten iterations take it."""
    seen = View.from_text("1 8y 63 yz6T555782T6xT4878662CT3TCxT6787877yy255xC")
    tree = searcher(playout=playout, iterations=300).search(seen)
    won = tree.children[TAKE]
    assert won.total == won.visits > 270


@pytest.mark.parametrize("seat", [0, 1])
def test_results_are_credited_to_the_seat_that_acts(seat: int) -> None:
    """In a decided last round, seen from either seat, all actions win or all lose."""
    checked = Counter[int]()
    for seen in views(40, seed=3):
        few = size(seen.hand) + seen.opponent_cards <= 3
        if seen.seat != seat or seen.round < 4 or seen.taken == (True, True) or not few:
            continue
        values = worth(seen)
        deals = sum(ways for _, ways in hands(seen))
        if set(values.values()) not in ({deals}, {-deals}):
            continue
        sure = values[seen.legal[0]]
        tree = searcher(iterations=200).search(seen)
        best = max(tree.children.values(), key=lambda child: child.visits)
        share = best.total / best.visits
        assert share > 0.75 if sure > 0 else share < 0.25
        checked[sure > 0] += 1
    assert min(checked[True], checked[False]) >= 3


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
@pytest.mark.parametrize("playout", ["uniform", "greedy"])
def test_a_playout_ends_the_round_as_the_rules_would(rules: Rules, playout: Playout) -> None:
    """No card is lost, no take is too long, and both have taken unless a city win came first."""
    bot = searcher(rules, playout)
    for state in states(6, rules, seed=4):
        seen = view(state, state.to_act)
        bot.look(seen)
        world = next(bot.worlds(seen))
        before = [*world.piles]
        cards = sum(world.piles) + pack_of(world.row) + sum(world.hands)
        bot.finish(world)
        assert sum(world.piles) + pack_of(world.row) == cards
        won = max(world.piles) >= rules.city_pack
        for seat in (0, 1):
            brought = cards_of(world.piles[seat] - before[seat])
            assert len(brought) <= (0 if seen.taken[seat] else rules.take_size)
            assert brought or seen.taken[seat] or won


@pytest.mark.slow
@pytest.mark.parametrize("playout", PLAYOUTS)
def test_every_policy_plays_whole_games(playout: Playout) -> None:
    """Without an illegal action, in either seat, under all rule sets of the tests."""
    bot = resolve(f"ismcts(playout={playout!r}, iterations=15, positions=100)")
    other = resolve("greedy").load()
    for number, rules in enumerate(RULE_SETS.values()):
        seats = [bot.create, other][:: 1 if number % 2 else -1]
        game = play_game(*seats, seed=number, rules=rules)
        assert game.record.replay().over


def test_seconds_end_a_search_of_any_length() -> None:
    """It ends after 0.05 seconds, though its iterations would take days."""
    bot = Ismcts(setup(0, 0), iterations=10**9, seconds=0.05, positions=0)
    seen = views(1)[0]
    start = perf_counter()
    assert bot.choose(seen) in seen.legal
    assert perf_counter() - start < PATIENCE
