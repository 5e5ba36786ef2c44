"""The bar of a run never stops the run."""

from __future__ import annotations

import sys

import pytest

from arena.runs.progress import make_bar


def test_without_standard_error_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose standard error is closed has None in its place."""
    monkeypatch.setattr(sys, "stderr", None)
    with make_bar(10) as bar:
        bar.update(10)
    assert bar.disable
