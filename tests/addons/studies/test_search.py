"""The search finds the best of a formula, and keeps its budget."""

from __future__ import annotations

import numpy as np
import pytest

from arena.addons.studies.search import Batch, Point, Search, Space, least_budget, make_space
from arena.statistics.distributions import Floats

ONE = make_space(["patience=0..20"])
TWO = make_space(["patience=0.0..1.0", "mode=a,b", "depth=1..4 if mode=b"])


def one_peak(space: Space, point: Point) -> float:
    """Return a score with its peak at patience 13."""
    return 0.6 - ((space.setting(point)["patience"] - 13) / 20) ** 2


def two_peaks(space: Space, point: Point) -> float:
    """Return a score that is best with mode b, depth 3 and patience 0.3."""
    setting = space.setting(point)
    depth = setting.get("depth", 0)
    return 0.55 - 0.5 * (setting["patience"] - 0.3) ** 2 - 0.03 * abs(depth - 3)


def run(space: Space, score: object, budget: int, seed: int) -> tuple[Search, list[Batch]]:
    """Search with scores that have noise, most of which a deal's settings share."""
    search, batches = Search(space, budget, 2, seed), []
    luck = np.random.default_rng(seed)
    while batch := search.next():
        common = luck.normal(0, 0.3, (1, 2, batch.deals))
        own = luck.normal(0, 0.1, (len(batch.points), 2, batch.deals))
        means = np.array([score(space, point) for point in batch.points])  # type: ignore[operator]
        search.tell(batch, means[:, None, None] + common + own)
        batches.append(batch)
    return search, batches


@pytest.mark.slow
def test_it_finds_the_peak_of_one_parameter_within_its_budget() -> None:
    """In each of some runs; no more pairs are played than there are, and nearly all of them."""
    for seed in range(4):
        search, batches = run(ONE, one_peak, 1000, seed)
        assert abs(ONE.setting(search.best())["patience"] - 13) <= 1
        pairs = sum(2 * batch.deals * len(batch.points) for batch in batches)
        assert 900 <= pairs <= 1000
        assert all(len({*batch.points}) == len(batch.points) >= 2 for batch in batches)


@pytest.mark.slow
def test_it_finds_the_best_choice_and_what_depends_on_it() -> None:
    """A parameter with a condition is tuned where the condition holds."""
    search, _ = run(TWO, two_peaks, 4000, 3)
    best = TWO.setting(search.best())
    assert (best["mode"], best["depth"]) == ("b", 3)
    assert best["patience"] == pytest.approx(0.3, abs=0.12)


@pytest.mark.slow
def test_equal_scores_lead_to_equal_choices() -> None:
    """And another seed to others."""
    first, again, other = (run(ONE, one_peak, 400, seed)[1] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_what_failed_is_never_tried_again() -> None:
    """Its scores are not believed, however high they are."""
    search = Search(ONE, 2000, 1, 5)
    failed: set[Point] = set()
    while batch := search.next():
        assert not failed & {*batch.points}
        bad = [n for n, p in enumerate(batch.points) if ONE.setting(p)["patience"] > 10]
        scores = np.full((len(batch.points), 1, batch.deals), 0.4)
        for n, point in enumerate(batch.points):
            scores[n] = 0.9 if n in bad else 0.4 + ONE.setting(point)["patience"] / 100
        search.tell(batch, scores, bad)
        failed |= {batch.points[n] for n in bad}
    assert failed
    assert ONE.setting(search.best())["patience"] in (9, 10)


def test_a_deal_that_does_not_count_counts_for_nobody() -> None:
    """Where an opponent failed, the other settings' scores on that deal say nothing either."""
    search = Search(ONE, 1000, 1, 5)
    batch = search.next()
    assert batch
    scores: Floats = np.tile(np.linspace(0.3, 0.6, batch.deals), (len(batch.points), 1))[:, None]
    scores[0, 0, -1] = np.nan
    search.tell(batch, scores)
    means = search.rounds[0].means()
    assert means == pytest.approx([scores[1, 0, :-1].mean()] * len(batch.points))


def test_the_least_budget_gives_each_first_point_some_deals() -> None:
    """Four against each opponent."""
    for space, opponents in ((ONE, 1), (TWO, 3)):
        search = Search(space, least_budget(space, opponents), opponents, 0)
        batch = search.next()
        assert batch
        assert batch.deals >= 4
