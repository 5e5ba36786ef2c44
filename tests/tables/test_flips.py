"""A bit that has flipped in a store is named, or changes nothing that is read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from arena.errors import InputError
from arena.store import damage
from arena.store.store import Store
from arena.tournament.schedule import Pairing
from tests.store.test_store import played

FLIPS = 40  # of each store; tests/runs/test_verify.py has 500 of a whole run's
BOTS = {"bots": [{"label": "a", "sha256": "1f"}, {"label": "b", "sha256": "2e"}]}


class Content(NamedTuple):
    """All that a store keeps."""

    games: frozenset[Any]
    left_out: frozenset[Any]
    bots: frozenset[Any]
    manifest: str | None


def read(path: Path, *, copied: bool) -> Content:
    with closing(Store(path, copied=copied)) as store:
        left_out, bots = (store._rows(f"SELECT * FROM {name}") for name in ("left_out", "bots"))
        tables = frozenset(store.results()), frozenset(left_out), frozenset(bots)
        return Content(*tables, store.manifest)


def fill(store: Store) -> None:
    """Keep games of two pairings, forfeits among them, and some that are left out."""
    store.begin(BOTS)
    for first in range(0, 90, 30):
        store.add(played(0, first, 30, (first, 0), (first + 1, 1)))
        store.add(played(1, first, 30))
        store.commit()
    store.trim([Pairing("a", "b"), Pairing("a", "c")], {0: 80, 1: 90})
    store.commit()


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a store that was closed."""
    folder = tmp_path_factory.mktemp("closed")
    with closing(Store(folder / "run.sqlite")) as store:
        fill(store)
    return folder


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a store that was killed: its files are copied while it is open."""
    folder = tmp_path_factory.mktemp("killed")
    with closing(Store(folder / "open.sqlite")) as store:
        fill(store)
        for ending in ("", "-wal"):
            shutil.copy(folder / f"open.sqlite{ending}", folder / f"run.sqlite{ending}")
    return folder


def flipped(folder: Path, place: Path, names: list[str], seed: str) -> None:
    """Copy files of a store to a place, and flip one bit of one of them."""
    rng = Random(seed)
    contents = {name: bytearray((folder / name).read_bytes()) for name in names}
    content = contents[rng.choice(names)]
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    for name in ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm"):
        (place / name).unlink(missing_ok=True)
    for name, changed in contents.items():
        (place / name).write_bytes(changed)


def found(folder: Path, place: Path, names: list[str]) -> Iterator[Content | str]:
    """Yield what is read after each flip, or why the store is refused."""
    for number in range(FLIPS):
        for copied in (True, False):  # as it is read, and as a run goes on with it
            flipped(folder, place, names, str(number))
            try:
                yield read(place / "run.sqlite", copied=copied)
            except InputError as error:
                yield str(error)


@pytest.mark.slow
def test_a_flip_in_a_closed_store_is_named_or_harmless(closed: Path, tmp_path: Path) -> None:
    """What is read is what was written, all of it."""
    whole = read(closed / "run.sqlite", copied=True)
    assert [len(part) for part in whole[:3]] == [340, 20, 2]
    refused = [seen for seen in found(closed, tmp_path, ["run.sqlite"]) if seen != whole]
    assert len(refused) > FLIPS // 2  # of 2 * FLIPS
    for message in refused:
        assert isinstance(message, str), message
        assert message.startswith(f"{tmp_path / 'run.sqlite'}: ")
        assert message.endswith(("; a run with --fresh starts over", "; choose another folder"))


def test_a_pairing_is_part_of_a_checksum(tmp_path: Path) -> None:
    """In a node of SQLite's tree a key can change so that a game is found in its old place."""
    path = tmp_path / "run.sqlite"
    with closing(Store(path)) as store:
        store.add(played(0, 0, 2))
        found = damage._sum_games(store._connection, 0, 0)
        store._connection.execute("UPDATE games SET pairing = 1")
        assert damage._sum_games(store._connection, 1, 0) != found


@pytest.mark.slow
def test_a_flip_in_a_store_that_was_killed_loses_commits_at_most(
    killed: Path, tmp_path: Path
) -> None:
    """SQLite has a checksum for each page of its log, and leaves out what comes after a bad one."""
    whole = read(killed / "run.sqlite", copied=True)
    lost = 0
    for content in found(killed, tmp_path, ["run.sqlite", "run.sqlite-wal"]):
        if isinstance(content, Content) and content != whole:
            lost += 1
            assert content.games < whole.games or content.left_out < whole.left_out
            assert content.manifest in (None, whole.manifest)
    assert lost
