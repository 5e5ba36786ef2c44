"""Environment: variables that processes inherit when they are started meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set environment variables, and restore them at the end.

    >>> with environment(ARENA_EXAMPLE="1"):
    ...     os.environ["ARENA_EXAMPLE"]
    '1'
    >>> "ARENA_EXAMPLE" in os.environ
    False
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
