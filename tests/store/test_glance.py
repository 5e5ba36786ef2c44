"""The state of a run is found at a glance, and nothing in its folder can hold that up."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import arena
from arena.errors import ArenaError
from arena.store.folder import RunFolder
from arena.store.reader import glimpse

LONG_AGO = (0.0, 0.0)
ENDLESS = (
    "CREATE VIEW run AS WITH RECURSIVE more(key, value) AS"
    " (SELECT 'a', 1 UNION ALL SELECT key, value + 1 FROM more) SELECT * FROM more"
)


@pytest.fixture
def cup(duel: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder of a run that has ended, which a test may change."""
    return shutil.copytree(duel, tmp_path / "cup")


def test_a_run_has_ended_when_its_manifest_is_that_of_its_store(cup: Path) -> None:
    """One that goes on with more pairs has the old files until its end."""
    assert glimpse(cup).state == "finished"
    manifest = cup / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"pairs": 1', '"pairs": 2'))
    assert glimpse(cup).state == "not finished"
    manifest.unlink()
    assert glimpse(cup).state == "not finished"


def test_a_run_is_under_way_as_long_as_its_folder_is_locked(cup: Path) -> None:
    """After a kill its log of changes stays, and is older than a minute at last."""
    log = cup / "run.sqlite-wal"
    log.touch()
    assert glimpse(cup).state == "running"
    os.utime(log, LONG_AGO)
    assert glimpse(cup).state == "finished"
    if Path("/proc/locks").exists():
        with RunFolder(cup).locked():
            assert glimpse(cup).state == "running"


@pytest.mark.parametrize("what", ["noise", "endless", "pipe", "empty", "link"])
def test_what_a_stranger_may_put_there_is_not_finished(cup: Path, what: str) -> None:
    """It takes no longer than a store does; what is no database is damaged."""
    store = cup / "run.sqlite"
    store.unlink()
    if what == "endless":
        with sqlite3.connect(store) as database:
            database.execute(ENDLESS)
    elif what == "pipe":
        os.mkfifo(store)
    elif what == "link":
        store.symlink_to(store)
    else:
        store.write_bytes(b"noise" * (what == "noise"))
    assert glimpse(cup).state == ("damaged" if what == "noise" else "not finished")


def test_a_store_that_is_cut_off_or_is_not_of_a_run_is_damaged(cup: Path) -> None:
    """Also one with a manifest that is none; a run that is not finished has nothing of these."""
    store = cup / "run.sqlite"
    content = store.read_bytes()
    store.write_bytes(content[: len(content) // 2])
    assert glimpse(cup).state == "damaged"
    store.write_bytes(content[:68] + b"\0\0\0\1" + content[72:])
    assert glimpse(cup).state == "damaged"
    store.write_bytes(content)
    assert glimpse(cup) == ("finished", False)
    for manifest, expected in (
        ("[]", ("damaged", False)),
        ('{"stop": {"kind": "sprt"}}', ("not finished", True)),
        ('{"stop": {"kind": "ranks"}}', ("not finished", False)),
    ):
        with closing(sqlite3.connect(store)) as database:
            database.execute("UPDATE run SET value = ? WHERE key = 'manifest'", [manifest])
            database.commit()
        assert glimpse(cup) == expected


def test_a_folder_on_a_file_system_without_locks_is_one_line(
    cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for the folder for temporary files."""

    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ArenaError, match=r"has no locks \(Operation not supported\); choose"):
        arena.run(["uniform", "greedy"], pairs=2, seed=7, out=cup, progress=False)
