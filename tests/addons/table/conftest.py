"""One server for all tests of the table that need no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.addons.table import Client, running
from tests.addons.table.results import make_results


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results."""
    folder = tmp_path_factory.mktemp("results")
    make_results(folder)
    return folder


@pytest.fixture(scope="session")
def client(results: Path) -> Iterator[Client]:
    """Return a client of a server over these results."""
    with running(results) as client:
        yield client
