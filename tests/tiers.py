"""Which cases of a test `make test` has, which `make test-all`, and which `make study`."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import pytest


def few(
    cases: Iterable[Any], quick: int = 1, slow: float = inf, *, unpack: bool = False
) -> list[Any]:
    """Return cases as parameters of a test: a few are quick, the next ones slow.

    Those after the first `quick` and the next `slow` are for the study. With `unpack`, a case is
    a tuple of several parameters.
    """
    params = []
    for number, case in enumerate(cases):
        marks = tier(number, quick, slow)
        params.append(pytest.param(*(case if unpack else (case,)), marks=marks))
    return params


def tier(number: int, quick: int, slow: float) -> list[pytest.MarkDecorator]:
    """Return the marks of a case with this number."""
    if number < quick:
        return []
    return [pytest.mark.slow if number < quick + slow else pytest.mark.study]
