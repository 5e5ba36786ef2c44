"""`Results.worth` swaps cards in the games of a run, also where bots are classes."""

from __future__ import annotations

from typing import Any

import pytest

import arena
from arena.errors import InputError
from arena.tables.cards import ADJUSTED
from tests.tiers import few


class Remembers:
    """Plays its first legal action, and refuses a past that is not the one it has seen."""

    seen = b""

    def __init__(self, setup: Any) -> None:
        self.seat = setup.seat

    def choose(self, view: Any, /) -> int:
        assert view.history.startswith(self.seen), "another past"
        self.seen = view.history
        return int(view.legal[0])


@pytest.mark.slow
def test_without_the_experiment_it_is_what_cards_add() -> None:
    """The columns of `cards`."""
    results = arena.run(["greedy", "uniform"], pairs=2, progress=False)
    assert results.worth().equals(results.cards[[*ADJUSTED]])


@pytest.mark.slow
def test_a_class_plays_on_and_what_it_fails_in_is_left_out_with_a_warning() -> None:
    """In the process that has defined it."""
    results = arena.run([Remembers, "uniform"], pairs=2, lane="inproc", progress=False)
    with pytest.warns(UserWarning, match="left out, after which a bot forfeited the game"):
        table = results.worth(intervene=True, swaps=4, workers=1, progress=False)
    assert "left out" in table.attrs["note"]
    assert 0 < table[table["bot"].isna()]["swaps"].sum() < 4
    assert not table["swaps"].isna().any()
    assert table[table["swaps"] == 0]["effect"].isna().all()


@pytest.mark.parametrize(
    "wrong", few([{"swaps": 0}, {"swaps": 2.0}, {"seed": -1}, {"workers": True}]), ids=str
)
def test_a_number_out_of_its_bounds_is_refused(wrong: dict[str, Any]) -> None:
    """By name."""
    results = arena.run(["greedy", "uniform"], pairs=1, progress=False)
    with pytest.raises(InputError, match=next(iter(wrong))):
        results.worth(intervene=True, **wrong)
