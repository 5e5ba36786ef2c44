"""What is stored of the ladder is what its pairs say."""

from __future__ import annotations

from arena.entries.catalogue import ELO, STRENGTHS
from arena.statistics.spread import LADDER_SPREAD
from bench import ladder
from tests import ROOT

RATED = ladder.rate(ladder.read())


def test_the_elo_of_the_catalogue_is_that_of_the_stored_pairs() -> None:
    """Of all bots of `configs/ladder.yaml`, each of which met each other one equally often."""
    assert {name: elo for name, elo in RATED.elos.items() if name in ELO} == ELO
    assert all(one.elo == RATED.elos[one.bot] for one in STRENGTHS)
    pairs = {sum(by_score) for by_score in ladder.read().values()}
    assert len(pairs) == 1
    bots = len(RATED.elos)
    assert len(ladder.read()) == bots * (bots - 1) // 2


def test_the_spread_of_the_ladder_is_that_of_the_stored_pairs() -> None:
    """Its interval, too; and the pages say the same."""
    assert tuple(LADDER_SPREAD[:3]) == RATED.spread
    said = "about {:.0f} points ({:.0f} to {:.0f})".format(*RATED.spread)
    for page in ("ladder.md", "results.md"):
        assert said in " ".join((ROOT / "docs" / page).read_text().split()), page


def test_pairs_that_deviate_more_have_a_greater_spread() -> None:
    """With every second pairing turned to its first bot it is above the stored interval."""
    turned = {
        two: by_score if number % 2 else (0, 0, *by_score[:2], sum(by_score[2:]))
        for number, (two, by_score) in enumerate(ladder.read().items())
    }
    assert ladder.rate(turned).spread[1] > RATED.spread[2]
