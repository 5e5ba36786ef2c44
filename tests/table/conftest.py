"""One server for all tests of the table that need no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.library.running import run
from tests.table import Client, running

HOSTILE = "<b onclick>'&amp;\""
_ROGUE = """
class Raises:
    def __init__(self, setup):
        raise ValueError("</script><script>")
bot = Raises
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of results with a run in it, one with faults, and things that are none."""
    folder = tmp_path_factory.mktemp("results")
    rogue = folder.parent / "raises.py"
    rogue.write_text(_ROGUE)
    run(["greedy", "uniform"], pairs=30, seed=7, out=folder / "cup", progress=False)
    bots = ["greedy", f"{HOSTILE}={rogue}"]
    run(bots, pairs=1, seed=7, out=folder / "series" / "faults", progress=False)
    (folder / "cup" / "report.html").write_text("<!doctype html><script>document.title</script>")
    (folder / "empty").mkdir()
    (folder / ".hidden").mkdir()
    for name in ("run.sqlite", "report.html"):
        (folder / ".hidden" / name).write_bytes((folder / "cup" / name).read_bytes())
    (folder / "linked").symlink_to(folder / "cup")
    (folder.parent / "secret.html").write_text("secret")
    (folder / "series" / "faults" / "report.html").symlink_to(folder.parent / "secret.html")
    return folder


@pytest.fixture(scope="session")
def client(results: Path) -> Iterator[Client]:
    """Return a client of a server over these results."""
    with running(results) as client:
        yield client
