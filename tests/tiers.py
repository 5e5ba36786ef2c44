"""Which cases of a test `make test` has, and which only `make test-all`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], quick: int = 1, *, unpack: bool = False) -> list[Any]:
    """Return cases as parameters of a test: after the first few of them, the others are slow.

    With `unpack`, a case is a tuple of several parameters.
    """
    params = []
    for number, case in enumerate(cases):
        marks = [pytest.mark.slow] * (number >= quick)
        params.append(pytest.param(*(case if unpack else (case,)), marks=marks))
    return params
