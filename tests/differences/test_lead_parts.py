"""The parts of a lead, held against games that the engine plays again, and a heading's errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import pytest

from arena.differences.lead_parts import (
    ALL,
    ENDING,
    ROUND,
    SOURCE,
    LeadParts,
    find_most,
    make_lead_parts,
)
from arena.differences.lead_parts import _divide as divide
from arena.lanes.faults import Fault
from arena.statistics.intervals import Estimate
from arena.store.store import Store
from arena.tables.replayed_games import SOURCES
from arena.tournament.plan import Chunk, Played
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament
from engine import State, breakdown
from engine.notation import parse_actions
from tests.reports.runs import cup, make_store

STOP = Sprt(0, 30, 0.05, 0.05, 20)
DIRECT = cup(["a", "b"], 12, stop=STOP)
AGAINST = cup(["a", "b", "c", "d"], 6, panel=2, paired=True, stop=STOP)
WHOLE = Estimate(0.1, -0.4, 0.6, 0.25)


def parts_of(tournament: Tournament, store: Store) -> LeadParts:
    return make_lead_parts(tournament, store, WHOLE)


def by_name(parts: LeadParts) -> Mapping[tuple[str, str], float]:
    return {(part.split, part.part): part.lead.value for part in parts.parts}


def points_after_rounds(
    tournament: Tournament, place: tuple[int, int, int], actions: str
) -> np.ndarray:
    """Return the points of both seats by round and source, as the engine counts them."""
    state = State(tournament.draw(tournament.fixture(*place)).deal, tournament.rules)
    found = np.zeros((2, tournament.rules.rounds + 1, len(SOURCES)))
    step = tournament.rules.round_plies
    played = [*parse_actions(actions)]
    for number in range(1, tournament.rules.rounds + 1):
        state.follow(played[step * (number - 1) : step * number])
        for seat, part in enumerate(breakdown(state.piles, state.rules)):
            points = [*part.majorities, part.sets, part.alliances, part.betrayals]
            found[seat, number] = [*points, sum(points)]
    return np.diff(found, axis=1)


def count_by_hand(tournament: Tournament, store: Store) -> dict[tuple[str, str], float]:
    """Return the leads game by game: of the first bot, or of the new version."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    new = tournament.new_pairings or {0}
    old = {tournament.old_pairing(number): -1 for number in tournament.new_pairings}
    weights = dict.fromkeys(new, 1) | old
    games = 0
    for number, weight in weights.items():
        for game in store.games_of(number):
            games += number in new
            place = number, game.pair, game.seat
            names = {"city": "City", "tiebreak": "tie-break"}
            if game.winner is not None:
                name = names.get(game.win_type, game.win_type)
                half = 0.5 if tournament.paired else 1
                sums[ENDING, name] += weight * half * (1 if game.winner == 0 else -1)
            points = points_after_rounds(tournament, place, game.actions)
            lead = weight * (points[game.seat] - points[1 - game.seat])
            for at, of_round in enumerate(lead, 1):
                sums[ROUND, str(at)] += of_round[-1]
                for name, value in zip(SOURCES[:-1], of_round, strict=False):
                    sums[SOURCE, name] += value
                    sums[f"{ROUND} {at}", name] += value
    return {key: total / games for key, total in sums.items()}


@pytest.mark.slow
@pytest.mark.parametrize("tournament", [DIRECT, AGAINST], ids=["direct", "against"])
def test_the_parts_are_those_of_the_games_played_again(tournament: Tournament) -> None:
    """By ending, round, source, and source in each round; and each split adds up to its whole."""
    store = make_store(tournament)
    parts = parts_of(tournament, store)
    found = by_name(parts)
    for key, value in count_by_hand(tournament, store).items():
        assert found.get(key, 0.0) == pytest.approx(value, abs=1e-9), key
    splits = {part.split for part in parts.parts}
    assert splits == {ENDING, ROUND, SOURCE, *(f"{ROUND} {n}" for n in range(1, 5))}
    for split in splits:
        *some, whole = parts.split(split)
        assert whole.part == ALL
        assert sum(part.lead.value for part in some) == pytest.approx(whole.lead.value)
        assert sum(part.new for part in some) == pytest.approx(whole.new)
        for part in (*some, whole):
            assert part.new - part.old == pytest.approx(part.lead.value)
            assert part.lead.low <= part.lead.value <= part.lead.high
    assert found[ROUND, ALL] == pytest.approx(found[SOURCE, ALL])
    assert {part.sure for part in parts.parts if part.split[-1].isdigit() or part.part == ALL} == {
        None
    }


def test_a_forfeit_counts_by_ending_and_no_whole_pair_has_no_parts() -> None:
    """Its deal is left out of the margin."""
    plain = by_name(parts_of(DIRECT, make_store(DIRECT)))
    store = make_store(DIRECT, None, {(0, 0, 0): Fault("timeout", "late")})
    parts = parts_of(DIRECT, store)
    assert parts.ended["forfeit"] in [(0, 1, 1, 0), (1, 0, 0, 1)]
    assert "forfeit" in [part.part for part in parts.split(ENDING)]
    assert by_name(parts)[ROUND, ALL] != plain[ROUND, ALL]
    assert all(shown.place[1] != 0 for shown in parts.games)
    whole, one = make_store(DIRECT), Store(None)
    one.add(Played(Chunk(0, 0, 1), [next(whole.games_of(0))], {}, 0.0))
    assert parts_of(DIRECT, one) == LeadParts()
    assert len(parts_of(DIRECT, one).table()) == 0


def test_games_that_show_a_part_are_those_of_its_sort() -> None:
    """The largest of a round come first; a typical game ended as is said."""
    store = make_store(DIRECT)
    parts = parts_of(DIRECT, store)
    games = {(0, game.pair, game.seat): game for game in store.games_of(0)}
    shown = [one for one in parts.games if one.split == ROUND]
    assert len(shown) == 3
    (name,) = {one.part for one in shown}
    leads = []
    for place, game in games.items():
        points = points_after_rounds(DIRECT, place, game.actions)
        leads.append((points[game.seat] - points[1 - game.seat])[int(name) - 1, -1])
    sign = 1 if by_name(parts)[ROUND, name] > 0 else -1
    assert [sign * one.brought for one in shown] == sorted(
        (sign * one for one in leads), reverse=True
    )[:3]
    for one in parts.games:
        if one.split == ENDING:
            game = games[one.place]
            how = {"city": "City", "tiebreak": "tie-break"}.get(game.win_type, game.win_type)
            assert one.part == f"{'won' if game.winner == 0 else 'lost'} by {how}"


@pytest.mark.slow
def test_that_a_part_is_most_of_the_whole_is_seldom_said_wrongly() -> None:
    """Where a part is exactly half of the whole, and heavy tails, in 5 % of comparisons at most."""
    rng = np.random.default_rng(48)
    wrong, runs = 0, 600
    for _ in range(runs):
        means = np.array([2.0, 1.0, 1.0, 0.0])
        new = means + 3 * rng.standard_t(4, (60, 4))
        parts = [*divide(ROUND, ["1", "2", "3", "4"], [new], [np.zeros_like(new)])]
        wrong += find_most(parts) is not None
    assert 0 < wrong <= 0.05 * runs
