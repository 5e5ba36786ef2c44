"""Two versions are compared on the deals that both have played against the same opponents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.addons.league import submission
from arena.addons.league.league_tables import Pairs
from arena.addons.league.shown import find_change, history
from arena.statistics.difference import Values, compare_means
from tests.addons.league.small import a_league, accept, play, version


def test_pairs_are_matched_by_opponent_and_number(tmp_path: Path) -> None:
    """Whoever is named first, also where a pair does not count, and only common deals."""
    with a_league(tmp_path / "club") as league:
        ledger = league.ledger
        with ledger.changing():
            old, new, other = (
                ledger.add_version(version(0, name)) for name in ("mine", "mine", "other")
            )
            none = [0] * 15
            ledger.add_result(1, Pairs(old.id, 1, (0,) * 5), 0, none, "0123444444")
            ledger.add_result(1, Pairs(2, old.id, (0,) * 5), 10, none, "0000-00000")
            ledger.add_result(2, Pairs(1, new.id, (0,) * 5), 2, none, "44444444")
            ledger.add_result(2, Pairs(2, new.id, (0,) * 5), 12, none, "4433221100")
            ledger.add_result(2, Pairs(other.id, new.id, (0,) * 5), 0, none, "4444")
        change = find_change(ledger, new, old)
        assert change is not None
        first = Values(np.array([2, 3, 4, 4, 4, 4, 4, 4]) / 4, np.zeros(8), 8)
        second = Values(np.ones(7), np.array([0, 0, 1, 2, 2, 3, 3]) / 4, 7)
        assert change.estimate == compare_means([first, second]).estimate
        assert (change.pairs, change.opponents) == (15, 2)
        assert find_change(ledger, other, old) is None
        back = find_change(ledger, old, new)
        assert back is not None
        assert back.estimate.value == pytest.approx(-(change.estimate.value or 0))


@pytest.mark.study
def test_a_stronger_version_is_seen_to_be_stronger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By common deals, in the history of the name."""
    monkeypatch.setattr(submission, "run_check", accept)
    with a_league(tmp_path / "club", round_pairs=200) as league:
        for patience in (1, 11):
            league.desk.submit(f"greedy(patience={patience})", "patient")
            play(league)
        told = history(league, "patient")["versions"]
        assert told[0]["change"] is None
        change = told[1]["change"]
        assert change["version"] == 1
        assert change["low"] > 0
        assert change["pairs"] >= 60
        assert change["sentence"].startswith("It scores +")
        (new, old) = league.find("patient")[::-1]
        found = find_change(league.ledger, new, old)
        assert found is not None
        assert found.estimate.error is not None
        ours = league.ledger.results_of(new.id)
        assert sum(len(one.scores) for one in ours) == sum(sum(one.by_score) for one in ours)
