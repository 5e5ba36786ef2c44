"""Profiles of bots, and two side by side: the numbers of a plain count of the same games."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena.differences.profiles import (
    MOST_BESIDE,
    Beside,
    Files,
    Profiles,
    make_files,
    make_profiles,
)
from arena.lanes.faults import Fault
from arena.statistics.common import compare, join, means_against, shares_against
from arena.statistics.difference import Values, compare_means
from arena.statistics.intervals import Estimate, Moments, find_significant
from arena.store.counting import Counts
from arena.store.store import Store
from arena.tables.counted import BOT_PARTS, PARTS, count_endings, number_sides
from arena.tables.losses import JudgedTables
from engine import TAKE, State
from engine.notation import parse_actions
from tests.reports.runs import cup, make_store

CUP = cup(["c", "a", "d", "b"], pairs=12)
BOOM = Fault("exception", "boom")
PLACES = {part: place for place, part in enumerate(PARTS)}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return the games of CUP, two of which are forfeits."""
    made = make_store(CUP, faults={(1, 2, 0): BOOM, (2, 5, 1): BOOM})
    yield made
    made.close()


@pytest.fixture(scope="module")
def files(store: Store) -> Files:
    return make_files(CUP, store)


@pytest.fixture(scope="module")
def profiles(files: Files) -> Profiles:
    return make_profiles(CUP.pairings, files, JudgedTables(), 200)


def count_plainly(store: Store) -> dict[tuple[str, str, str], dict[int, list[float]]]:
    """Return what each bot has of each part against each opponent: numbers of games, by pair."""
    found: dict[tuple[str, str, str], dict[int, list[float]]] = defaultdict(
        lambda: defaultdict(lambda: [0.0, 0.0])
    )
    titles = {"city": "City", "points": "points", "tiebreak": "tie-break", "forfeit": "forfeit"}
    for number, game in store.results():
        two = [*CUP.pairings[number]]
        for side, (bot, opponent) in enumerate((two, two[::-1])):
            score = 0.5 if game.winner is None else float(game.winner == side)
            ended = {1.0: "won by ", 0.0: "lost by "}.get(score, "")
            ended = f"{ended}{titles[game.win_type]}" if ended else "drawn"
            for part in PARTS:
                sums = found[bot, opponent, part][game.pair]
                sums[0] += 1
                sums[1] += score if part == "score" else part == ended
    return found


def column(profiles: Profiles, group: str, name: str) -> int:
    """Return the place of a measure."""
    return [one[:2] for one in profiles.measures].index((group, name))


def beside(profiles: Profiles, first: str, second: str) -> tuple[Beside, int]:
    """Return a bot beside others, and the row of one of them."""
    one, other = (profiles.bots.index(bot) for bot in (first, second))
    return profiles.beside[one], other - one - 1


def test_the_endings_of_two_pairs_by_hand() -> None:
    """7 pairs that the first bot won, by City and by points; 3 with one game, lost by forfeit."""
    endings = [[0, 3], [13, 15]]  # city won, points won; forfeit lost, no game
    moments = count_endings(np.arange(4), 4, Counts.of(pairing=[1, 1], games=endings, pairs=[7, 3]))
    first, second = moments.sums[:, 2], moments.sums[:, 3]
    assert not moments.sums[:, :2].any()
    assert first[:3, PLACES["score"]].tolist() == [10, 17, 28]
    assert second[:3, PLACES["score"]].tolist() == [10, 17, 6]
    assert first[2, PLACES["won by City"]] == second[2, PLACES["lost by City"]] == 14
    assert first[2, PLACES["lost by forfeit"]] == second[2, PLACES["won by forfeit"]] == 6
    assert first[3:, PLACES["score"]].tolist() == [7 * 4 + 3, 7 * 8, 7 * 16]
    assert [*BOT_PARTS] == [*PARTS]


def test_shares_of_games_are_those_of_a_plain_count(profiles: Profiles, store: Store) -> None:
    """Over all games of a bot, with the interval of the pairs."""
    found = count_plainly(store)
    assert profiles.bots == ["a", "b", "c", "d"]
    for row, bot in enumerate(profiles.bots):
        for part in PARTS:
            pairs = [
                sums
                for (one, _, of), by_pair in found.items()
                if (one, of) == (bot, part)
                for sums in by_pair.values()
            ]
            if ("games", part) not in [one[:2] for one in profiles.measures]:
                assert not any(number for _, number in pairs)
                continue
            moments = Moments(1, 1, 2)
            data = np.array(pairs)
            counts, totals = data[:, :1].T.astype(int), (2 * data[:, 1:]).T.astype(int)
            moments.add(np.zeros(len(pairs), np.int64), counts, totals)
            place = column(profiles, "games", part)
            assert profiles.own.value[row, place] == pytest.approx(data[:, 1].sum() / 72)
            ends = [float(end[0, 0]) for end in moments.shares()]
            assert [float(part[row, place]) for part in profiles.own] == pytest.approx(ends)


def test_two_bots_are_compared_by_common_opponents(profiles: Profiles, store: Store) -> None:
    """Each weighs the same; the games of the two count nowhere; variances add up."""
    found = count_plainly(store)
    one, row = beside(profiles, "a", "c")
    assert one.opponents[row] == 2
    for part in ("score", "won by points", "lost by City"):
        values, variances = [], []
        for bot in ("a", "c"):
            shares = []
            for opponent in ("b", "d"):
                halves = np.array([number for _, number in found[bot, opponent, part].values()])
                shares.append(halves.sum() / 24)
                prior = (halves.sum() + 1) / 26
                full = prior * (1 - prior)
                between = ((halves - 2 * shares[-1]) ** 2).sum()
                alike = 24 * shares[-1] * (1 - shares[-1]) + 2 * full
                least = full * (between + 2 * full) / (24 * alike)
                variances.append(max((between + 4 * full) / 24**2, least))
            values.append(sum(shares) / 2)
        place = column(profiles, "games", part)
        assert one.first[row, place] == pytest.approx(values[0])
        assert one.second[row, place] == pytest.approx(values[1])
        half = 1.959964 * (sum(variances) / 4) ** 0.5
        ends = [values[1] - values[0] + side * half for side in (0, -1, 1)]
        shown = [float(end[row, place]) for end in one.difference]
        assert shown == pytest.approx(ends, abs=0.00051)  # rounded to tenths of a per cent


def test_the_interval_is_that_of_other_comparisons() -> None:
    """`compare_means` of the report of two runs, for the same pairs: within 2 % of its width."""
    rng = np.random.default_rng(3)
    halves = rng.choice([0, 1, 2, 3, 4], (4, 80), p=[0.1, 0.2, 0.3, 0.2, 0.2])
    moments = Moments(4, 1, 2)
    moments.add(np.arange(4).repeat(80), np.full((1, 320), 2), halves.reshape(1, -1))
    two = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    found = compare(shares_against(moments, two, (2, 4)), 0, np.array([1]))
    strata = [Values(halves[n] / 4, halves[n + 2] / 4, 0) for n in (0, 1)]
    other = compare_means(strata)
    assert found.difference.value.item() == pytest.approx(other.estimate.value)
    assert found.difference.high.item() == pytest.approx(other.estimate.high, abs=0.002)
    assert found.p_value.item() == pytest.approx(other.estimate.p_value, abs=0.01)


def test_takes_are_those_of_the_records(profiles: Profiles, store: Store, files: Files) -> None:
    """At which action of the round, and how many cards, over all games and by opponent."""
    takes: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for number, game in store.results():
        fixture = CUP.fixture(number, game.pair, game.seat)
        state = State(CUP.draw(fixture).deal, CUP.rules)
        seats = [*fixture.pairing] if game.seat == 0 else [*fixture.pairing[::-1]]
        for ply, action in enumerate(parse_actions(game.actions)):
            seat = state.to_act
            if action == TAKE:
                own = sum(CUP.rules.seat_at(p) == seat for p in range(ply // 12 * 12, ply + 1))
                takes[seats[seat], seats[1 - seat]].append((own, min(5, len(state.row))))
            state.apply(action)
    for row, bot in enumerate(profiles.bots):
        own = [take for (one, _), some in takes.items() if one == bot for take in some]
        for action in range(1, 7):
            share = sum(at == action for at, _ in own) / len(own)
            place = column(profiles, "takes", f"at {action}")
            assert profiles.own.value[row, place] == pytest.approx(share)
        mean = sum(cards for _, cards in own) / len(own)
        assert profiles.own.value[row, column(profiles, "takes", "cards")] == pytest.approx(mean)
    one, row = beside(profiles, "b", "d")
    means = [np.mean([cards for _, cards in takes["b", other]]) for other in ("a", "c")]
    assert one.first[row, column(profiles, "takes", "cards")] == pytest.approx(np.mean(means))
    check_with_takes(profiles, files.wins().takes.frame)


def check_with_takes(profiles: Profiles, takes: pd.DataFrame) -> None:
    """Check means and intervals of takes with takes.csv."""
    table = takes[takes["round"].isna() & takes["action"].isna()].set_index("bot")
    for name in ("cards", "gain"):
        expected = table.loc[[*profiles.bots], [name, f"{name}_low", f"{name}_high"]]
        place = column(profiles, "takes", name)
        found = np.stack([part[:, place] for part in profiles.own], axis=1)
        np.testing.assert_allclose(found, expected.to_numpy(float), atol=6e-5)


@pytest.mark.slow
def test_means_have_students_interval_by_welch_and_satterthwaite() -> None:
    """By hand: means 2 and 5 of two pairs with variances 1 and 4, so 25 / 17 degrees of freedom."""
    moments = Moments(2, 1)
    totals = np.array([[1, 3, 3, 7]])
    moments.add(np.array([0, 0, 1, 1]), np.ones((1, 4), np.int64), totals)
    found = compare(means_against(moments, np.array([[0, 2], [1, 2]]), (2, 3)), 0, np.array([1]))
    assert found.difference.value.item() == 3
    from scipy.stats import t

    half = t.ppf(0.975, 25 / 17) * 5**0.5
    assert found.difference.high.item() == pytest.approx(3 + half)
    p_value = 2 * t.sf(3 / 5**0.5, 25 / 17)
    assert found.p_value.item() == pytest.approx(p_value, abs=0.01)


def test_where_nothing_differs_nothing_is_known_of_a_mean() -> None:
    """One pair has no error, and pairs that are all alike would have one of 0."""
    moments = Moments(2, 1)
    moments.add(np.array([0, 0, 1]), np.ones((1, 3), np.int64), np.array([[2, 2, 5]]))
    found = compare(means_against(moments, np.array([[0, 2], [1, 2]]), (2, 3)), 0, np.array([1]))
    assert found.difference.value.item() == 3
    assert np.isnan(found.difference.low.item())


def test_without_a_common_opponent_nothing_is_compared() -> None:
    """Two bots that have only met each other."""
    two = cup(["a", "b"], 4)
    made = make_profiles(two.pairings, make_files(two, make_store(two)), JudgedTables(), 9)
    assert made.beside[0].opponents.tolist() == [0]
    known = ~np.isnan(made.beside[0].difference.value[0])
    assert {one.group for one, is_known in zip(made.measures, known, strict=True) if is_known} <= {
        "cards"
    }


def test_significance_is_that_of_all_rows_together(profiles: Profiles) -> None:
    """As `find_significant` finds it; of so many pairs Student's t is nearly normal."""
    one = profiles.beside[0]
    assert one.sure.any()
    for row in range(len(one.sure)):
        shown = [
            Estimate(*(float(part[row, place]) for part in one.difference))
            for place in range(len(profiles.measures))
        ]
        errors = [(end.high - end.low) / 2 / 1.959964 for end in shown]
        both = zip(shown, errors, strict=True)
        found = find_significant([end._replace(error=error) for end, error in both])
        assert one.sure[row].tolist() == found


def test_cards_differ_by_more_than_two_independent_numbers(profiles: Profiles) -> None:
    """A third of the pairs of each are common to both, as all four bots have met equally often."""
    one, row = beside(profiles, "a", "b")
    a, b = (profiles.bots.index(bot) for bot in "ab")
    place = column(profiles, "cards", "8")
    halves = [(profiles.own.high - profiles.own.low)[bot, place] / 2 for bot in (a, b)]
    half = (halves[0] ** 2 + halves[1] ** 2 + 2 / 3 * halves[0] * halves[1]) ** 0.5
    width = one.difference.high[row, place] - one.difference.low[row, place]
    assert width / 2 == pytest.approx(half, abs=0.001)


def test_losses_are_compared_only_against_common_opponents(files: Files) -> None:
    """By hand: against d, a loses 0.1 and 0.3, b 0.5 and 0.6; a's loss against c counts nowhere."""
    rows = [("a", "d", 0, 0.1), ("a", "d", 1, 0.3), ("a", "c", 0, 0.9), ("b", "d", 0, 0.5)]
    rows += [("b", "d", 1, 0.6), ("b", "a", 0, 0.9)]
    judged = JudgedTables(pd.DataFrame(rows, columns=["bot", "opponent", "pair", "loss"]))
    made = make_profiles(CUP.pairings, files, judged, 200)
    one, row = beside(made, "a", "b")
    place = column(made, "losses", "loss")
    assert one.first[row, place] == pytest.approx(0.2)
    assert one.second[row, place] == pytest.approx(0.55)
    assert one.difference.value[row, place] == pytest.approx(0.35)
    assert np.isnan(made.own.value[:, place]).all()


def test_many_bots_have_no_takes_by_opponent_and_few_stand_side_by_side() -> None:
    """The sums would take too much room; all else is there."""
    many = cup([f"b{number:03}" for number in range(3)], 2)
    store = make_store(many)
    files = make_files(many, store)
    wins = replace(files.wins(), takes_by_opponent=Moments(0, 8))
    made = make_profiles(many.pairings, replace(files, wins=lambda: wins), JudgedTables(), 2)
    assert "takes" not in {one.group for one in made.measures}
    assert len(made.bots) == 2
    assert number_sides(many.pairings, ["b001"]).max() == 1
    assert MOST_BESIDE == 40


def simulate(rng: np.random.Generator, pairs: int) -> tuple[Moments, Moments, np.ndarray]:
    """Return shares and means of two bots against three opponents, and the true differences."""
    chances = np.array([[0.3, 0.6, 0.9], [0.4, 0.5, 0.95]])
    means = np.array([[4.0, 4.5, 3.8], [4.2, 4.4, 3.9]])
    halves = 2 * rng.binomial(2, chances[:, :, None], (2, 3, pairs))
    counts = rng.integers(6, 9, (2, 3, pairs))
    luck = rng.normal(0, 0.3, (2, 3, pairs))
    totals = np.rint(counts * (means[:, :, None] + luck) + rng.normal(0, 2, counts.shape))
    groups = np.arange(6).repeat(pairs)
    shares, takes = Moments(6, 1, 2), Moments(6, 1)
    shares.add(groups, np.full((1, 6 * pairs), 2), halves.reshape(1, -1))
    takes.add(groups, counts.reshape(1, -1), totals.reshape(1, -1).astype(np.int64))
    truth = np.array([(of[1] - of[0]).mean() for of in (chances, means)])
    return shares, takes, truth


@pytest.mark.study
@pytest.mark.parametrize("pairs", [5, 20, 100])
def test_intervals_of_differences_cover_the_truth(pairs: int) -> None:
    """In 4,000 simulated runs; with few pairs those of shares are a little too wide."""
    rng = np.random.default_rng(pairs)
    two = np.array([[bot, 2 + opponent] for bot in (0, 1) for opponent in range(3)])
    covered = np.zeros(2)
    for _ in range(4000):
        shares, takes, truth = simulate(rng, pairs)
        found = join(shares_against(shares, two, (2, 5)), means_against(takes, two, (2, 5)))
        ends = compare(found, 0, np.array([1])).difference
        covered += (ends.low[0] <= truth) & (truth <= ends.high[0])
    for share in (100 * covered / 4000).tolist():
        assert 93.5 <= share <= (98 if pairs == 5 else 96.5)
