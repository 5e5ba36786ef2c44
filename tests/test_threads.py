"""The arena's own matrices use one thread, and a caller's setting is as before."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arena import threads
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.statistics.ratings import Fit
from arena.statistics.two_bots import pair_scores
from arena.statistics.verdicts import Verdicts
from arena.threads import one_thread


class Library:
    """A library of matrices, whose number of threads is read here."""

    def __init__(self) -> None:
        self.count = 8
        self.before: list[int] = []

    def limit(self, limits: int) -> Library:
        """Set the number of threads."""
        self.before.append(self.count)
        self.count = limits
        return self

    def restore_original_limits(self) -> None:
        """Set the number of before."""
        self.count = self.before.pop()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Return a library that stands for numpy's."""
    found = Library()
    monkeypatch.setattr(threads, "_libraries", lambda: found)
    return found


def test_a_block_has_one_thread_and_the_number_of_before_comes_back(library: Library) -> None:
    """Also after an error, and when a caller has set another number since."""

    @one_thread()
    def fail() -> None:
        with one_thread():
            raise ValueError(library.count)

    with pytest.raises(ValueError, match=r"^1$"):
        fail()
    assert library.count == 8
    library.count = 3
    with one_thread():
        assert library.count == 1
    assert library.count == 3


def test_the_last_of_blocks_in_several_threads_restores_the_number(library: Library) -> None:
    """The first one to end may be the first one that began."""
    entered, leave = threading.Event(), threading.Event()

    def compute() -> None:
        with one_thread():
            entered.set()
            leave.wait()

    other = threading.Thread(target=compute)
    with one_thread():
        other.start()
        entered.wait()
    assert library.count == 1
    leave.set()
    other.join()
    assert library.count == 8


SCORES = {(0, 1): (3, 1, 9, 1, 6), (0, 2): (1, 1, 5, 1, 12), (1, 2): (4, 0, 9, 0, 7)}


def rate() -> None:
    """Compute what a table of standings has."""
    fit = Fit(3, [pair_scores(*two, counts) for two, counts in SCORES.items()])
    verdicts = Verdicts(fit, SCORES)
    assert len({*verdicts.likely.round(6).ravel()}) > 3
    assert verdicts.first().sum() == pytest.approx(1, abs=1e-3)
    assert np.isfinite(verdicts.ends).any()


def play() -> None:
    """Play some steps against a network."""
    games = DistrictNoirVectorEnv(num_envs=2, opponent="apprentice")
    _, infos = games.reset(seed=1)
    games.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.parametrize("compute", [rate, play])
def test_what_the_arena_computes_uses_one_thread(
    library: Library, monkeypatch: pytest.MonkeyPatch, compute: Callable[[], None]
) -> None:
    """In every product and decomposition that goes through numpy's functions."""
    counts = []

    def spy(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **keys: Any) -> Any:
            counts.append(library.count)
            return function(*given, **keys)

        return call

    for name in ("inv", "cholesky", "solve", "slogdet", "eigh", "lstsq"):
        monkeypatch.setattr(np.linalg, name, spy(getattr(np.linalg, name)))
    monkeypatch.setattr("bots.apprentice.np.floor", spy(np.floor))
    compute()
    assert {*counts} == {1}
    assert library.count == 8
