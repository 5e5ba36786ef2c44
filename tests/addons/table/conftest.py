"""One server for all tests of the table that need no other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.addons.table import Client, running


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of a server."""
    with running(tmp_path_factory.mktemp("results")) as client:
        yield client
