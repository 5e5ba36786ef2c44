"""What jails show is in the page cache before the first game."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors.local import open_crew
from arena.executors.log import run_log
from arena.lanes import launch
from arena.tournament.plan import Plan
from arena.tournament.strikes import Strikes
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.lanes.telling import forget

PAGE = 4096


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the paths that the kernel is asked to read."""
    asked: list[str] = []

    def advise(descriptor: int, _first: int, _length: int, advice: int) -> None:
        assert advice == os.POSIX_FADV_WILLNEED
        asked.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    launch.warm.cache_clear()
    monkeypatch.setattr(os, "posix_fadvise", advise)
    yield asked
    launch.warm.cache_clear()


def test_all_files_of_a_folder_are_read_and_links_lead_nowhere(
    tmp_path: Path, read: list[str]
) -> None:
    """Pipes are not opened, and each path is read once."""
    folder, outside = tmp_path / "bot", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    for file in (folder / "a", folder / "deep" / "b", outside):
        file.write_text("x")
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    for _ in range(2):
        launch.warm(folder)
    assert read == [str(folder / "a"), str(folder / "deep" / "b")]


def test_no_more_than_so_many_bytes_are_read(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a config names with `needs:` may be larger than the memory."""
    monkeypatch.setattr(launch, "MOST", 5)
    for name in "abc":
        (tmp_path / name).write_text("xxx")
    launch.warm(tmp_path)
    assert read == [str(tmp_path / "a")]


def test_what_is_warm_has_been_read(tmp_path: Path) -> None:
    """A file that is asked for alone is not there yet: three of four pages of this one were not."""
    file = tmp_path / "table.bin"
    with file.open("wb") as written:
        written.write(bytes(64 << 20))
        os.fsync(written.fileno())
    forget(str(file))
    launch.warm.cache_clear()
    launch.warm(file)
    with file.open("rb") as opened:
        for place in range(0, 64 << 20, PAGE):
            assert os.preadv(opened.fileno(), [bytearray(1)], place, os.RWF_NOWAIT) == 1


def test_a_crew_begins_when_all_that_its_jails_show_has_been_asked_for(
    tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing where there is no jail."""
    (tmp_path / "table.bin").write_bytes(bytes(10))
    monkeypatch.setattr(launch, "readable", lambda *_: [tmp_path])
    for lane, files in (("inproc", []), ("jail", [str(tmp_path / "table.bin")])):
        bots = [resolve("uniform"), resolve("greedy", lane=lane)]  # type: ignore[arg-type]
        tournament = Tournament("warm", 1, 1, bots, STANDARD)
        plan = Plan([], Strikes(tournament.pairings, 1, most=1))
        with run_log(tmp_path / "log") as log, open_crew(1, plan, tournament, log):
            assert [file for file in read if not file.endswith("log")] == files
