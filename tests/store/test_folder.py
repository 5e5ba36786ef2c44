"""A run's folder: all files or none, the same run or none, and a disk that is full."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import pytest

import arena
from arena.cli.records import open_out
from arena.errors import ArenaError, InputError
from arena.files import replacing
from arena.store.database import SqliteFile
from arena.store.folder import MANIFEST, RunFolder, home_of, locate, make_place
from arena.store.manifest import make_tournament, manifest_text
from tests.conftest import run_here
from tests.reports.runs import cup


def text(content: str) -> Callable[[TextIO], object]:
    return lambda file: file.write(content)


def fill(_: object) -> None:
    """Write as on a full disk, whose error names no file."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_files_are_written_and_an_earlier_runs_are_replaced(tmp_path: Path) -> None:
    """The second run's text replaces the first; other files stay, and no temporary file is left."""
    out = tmp_path / "deep" / "run"
    RunFolder(out).write({"games.csv": text("old\n"), "manifest.json": text("{}")})
    (out / "notes.txt").write_text("mine")
    RunFolder(out).write({"games.csv": text("new\n")})
    assert (out / "games.csv").read_text() == "new\n"
    names = {path.name for path in out.iterdir()}
    assert names == {"games.csv", "manifest.json", "run.log", "notes.txt"}


def test_a_folder_with_a_users_own_games_is_refused_also_beside_a_log(tmp_path: Path) -> None:
    (tmp_path / "games.csv").write_text("mine")
    for names in (["games.csv"], ["games.csv", "run.log"]):
        (tmp_path / names[-1]).touch()
        with pytest.raises(InputError, match="holds other files"):
            RunFolder(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """The log and the store, also by an analysis; a table takes the place of a link."""
    for name in ("run.log", "run.sqlite", "run.sqlite-wal", "replaced.sqlite"):
        out, elsewhere = tmp_path / f"to-{name}", tmp_path / "elsewhere"
        RunFolder(out).write({"manifest.json": text("{}")})
        place = home_of(out, name)
        place.unlink(missing_ok=True)
        place.symlink_to(elsewhere)
        with pytest.raises(InputError, match=f"{name}: a link, which is not followed"):
            RunFolder(out)
        assert not elsewhere.exists()
    (tmp_path / "mine").write_text("mine")
    place.unlink()
    (out / "games.csv").symlink_to(tmp_path / "mine")
    RunFolder(out).write({"games.csv": text("new")})
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_file_in_place_of_the_folder_or_above_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path in (file, file / "run"):
        with pytest.raises(InputError, match=r"file.*cannot be written"):
            RunFolder(path)


def test_a_failed_write_leaves_the_earlier_run(tmp_path: Path) -> None:
    """If the second of two files cannot be written, the first is still the old one."""
    folder = RunFolder(tmp_path)
    folder.write({"a.csv": text("old"), "b.csv": text("old")})
    with pytest.raises(OSError, match="No space"):
        folder.write({"a.csv": text("new"), "b.csv": fill})
    assert (tmp_path / "a.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", "b.csv", "run.log"}
    (tmp_path / "cards.csv").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        folder.write({"cards.csv": text("\udc80")})
    assert (tmp_path / "cards.csv").read_text() == "old"
    assert [*(tmp_path / "details").iterdir()] == []


def test_only_what_people_open_is_at_the_top(duel: Path) -> None:
    """The rest is in the details, whose index says what each file is for."""
    top = {path.name for path in duel.iterdir() if path.is_file()}
    assert top <= {
        *("report.html", "report.md", "standings.csv", "verdicts.csv", "head_to_head.csv"),
        *("win_types.csv", "games.csv", "faults.csv", "timings.csv", "manifest.json"),
        *("run.sqlite", "run.log"),
    }
    details = {path.name for path in (duel / "details").iterdir()}
    assert {f"{name}.csv" for name in ("wins", "takes", "cards")} < details
    listed = re.findall(r"^- `(.+?)`: \w", (duel / "details" / "README.md").read_text(), re.M)
    assert details - {"README.md"} <= {*listed}


def test_files_that_an_older_arena_left_at_the_top_move(tmp_path: Path) -> None:
    """Of each there is one, whatever is written again; what the user has put there stays."""
    out = tmp_path / "out"
    RunFolder(out).write({"manifest.json": text("{}")})
    for name in ("cards.csv", "analysis.csv", "analysis.sqlite", "mine.csv"):
        (out / name).write_text("old")
    assert locate(out, "cards.csv") == out / "cards.csv"
    assert make_place(out, "analysis.csv") == out / "analysis.csv"
    assert make_place(out, "decided.csv") == out / "details" / "decided.csv"
    for content in ("new", "newer"):
        run = {"games.csv": text("rows"), "manifest.json": text("{}")}
        RunFolder(out).write({"cards.csv": text(content), **run})
        assert (out / "details" / "cards.csv").read_text() == content
        assert {path.name for path in (out / "details").iterdir()} == {"cards.csv", "analysis.csv"}
        assert {path.name for path in out.iterdir()} == {
            *("details", "games.csv", "manifest.json", "run.log"),
            *("mine.csv", "analysis.sqlite"),  # what 1.x has judged is not read
        }
    (out / "cards.csv").write_text("a copy of the user's")
    RunFolder(out).write({"cards.csv": text("newest"), **run})
    assert (out / "cards.csv").read_text() == "a copy of the user's"
    assert (out / "details" / "cards.csv").read_text() == "newest"


def test_details_are_removed_with_their_run_and_nothing_else(tmp_path: Path) -> None:
    """With --fresh; a file that is not the run's keeps its folder."""
    folder = RunFolder(tmp_path)
    for beside in ("", "notes.txt"):
        folder.write({"cards.csv": text("1"), "manifest.json": text("{}")})
        if beside:
            (tmp_path / "details" / beside).write_text("mine")
        (tmp_path / "takes.csv").write_text("of an older arena")
        assert sorted(folder.clear()) == ["details/cards.csv", "manifest.json", "takes.csv"]
        assert (tmp_path / "details").exists() == bool(beside)
    assert {path.name for path in tmp_path.rglob("*.*")} == {"run.log", "notes.txt"}


def test_details_that_lead_elsewhere_are_refused(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    RunFolder(out).write({"manifest.json": text("{}")})
    elsewhere.mkdir()
    (out / "details").symlink_to(elsewhere)
    reason = "details: a link, which is not followed"
    for write in (RunFolder, lambda path: make_place(path, "cards.csv")):
        with pytest.raises(InputError, match=reason):
            write(out)
    (out / "details").unlink()
    (out / "details").write_text("")
    with pytest.raises(InputError, match="details: a file in the place of a folder"):
        RunFolder(out)
    assert not [*elsewhere.iterdir()]


def test_a_folder_on_a_file_system_without_locks_is_one_line(
    duel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(95, "Operation not supported")

    out = shutil.copytree(duel, tmp_path / "cup")
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ArenaError, match=r"has no locks \(Operation not supported\); choose"):
        arena.run(["uniform", "greedy"], pairs=2, seed=7, out=out, progress=False)


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Write a file of a run, as the others do that are left by an error."""
    yield RunFolder(path.parent).write({path.name: fill})


@pytest.mark.parametrize("writing", [written, replacing, open_out])
def test_the_file_that_does_not_fit_is_named_and_nothing_is_left_of_it(
    tmp_path: Path, writing: Callable[[Path], AbstractContextManager[object]]
) -> None:
    full = pytest.raises(OSError, match="No space left on device")
    with full as caught, writing(tmp_path / "wins.csv") as file:
        fill(file)
    assert Path(caught.value.filename).name == "wins.csv"
    assert not [*tmp_path.rglob("*wins*")]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_standard_output_that_is_full_is_named() -> None:
    words = [sys.executable, "-m", "arena", "docs", "--path"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "error: standard output: No space left on device"


def fail(code: int, message: str) -> Callable[..., Any]:
    """Return a function that fails as SQLite does with this code."""

    def raise_error(*_: object) -> None:
        error = sqlite3.OperationalError(message)
        error.sqlite_errorcode = code
        raise error

    return raise_error


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, 4874, sqlite3.SQLITE_CANTOPEN])
def test_a_good_run_on_a_full_disk_is_not_to_be_played_again(
    duel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """SQLite cannot make the index of its log (4874), which says nothing of the games."""
    shutil.copytree(duel, tmp_path / "run")
    before = (tmp_path / "run" / "run.sqlite").read_bytes()
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=0))
    monkeypatch.setattr("arena.store.database.enable", fail(code, "disk I/O error"))
    for words in (("verify", "run"), ("play", "greedy", "uniform", "--out", "run", "-q")):
        done = run_here(tmp_path, *words)
        said = "error: run/run.sqlite: disk I/O error; no space is left in run\n"
        assert (done.returncode, done.stderr) == (2, said)
    assert (tmp_path / "run" / "run.sqlite").read_bytes() == before


def test_only_damage_is_followed_by_advice_to_begin_anew(tmp_path: Path) -> None:
    class Made(SqliteFile):
        path = tmp_path / "one.sqlite"

    for code, advised in ((sqlite3.SQLITE_CORRUPT, True), (sqlite3.SQLITE_IOERR_READ, False)):
        with pytest.raises(ArenaError) as caught, Made().errors(advice="; begin anew"):
            fail(code, "broken")()
        assert ("begin anew" in str(caught.value)) == advised


RUN: dict[str, Any] = {
    "seed": 1,
    "rules": {"set_bonus": 3},
    "notes": [{"label": "a", "sha256": "0" * 31}, {"label": "b", "sha256": "1" * 30}],
    "versions": {"arena": "0.1.0", "python": "3.11.7"},
}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def differences(folder: RunFolder, **changes: Any) -> list[str]:
    """Return the differences that are reported for a folder whose run had these changes."""
    try:
        folder.check(RUN, manifest_text(RUN | changes))
    except InputError as error:
        start, _, advice = str(error).rpartition("; ")
        assert advice == "--fresh starts over, and --out FOLDER writes elsewhere"
        prefix = f"{folder.path}: holds another run: "
        assert start.startswith(prefix)
        return start.removeprefix(prefix).split("; ")
    return []


def test_results_without_a_store_are_not_resumed(folder: RunFolder) -> None:
    """Their games are missing; with a store they are not."""
    folder.check(RUN, None)  # a new folder takes any
    (folder.path / MANIFEST).write_text(manifest_text(RUN))
    with pytest.raises(InputError, match=r"results, but no run\.sqlite to go on from; --fresh"):
        folder.check(RUN, None)
    folder.check(RUN, manifest_text(RUN))


PYTHON = "versions.python: there 3.12, here 3.11"
OTHER = [RUN["notes"][0], {"label": "c", "sha256": "1" * 30}]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"seed": 2}, ["seed: there 2, here 1"]),
        ({"rules": {"set_bonus": 4}}, ["rules.set_bonus: there 4, here 3"]),
        ({"rules": {}}, ["rules.set_bonus: there None, here 3"]),
        ({"notes": OTHER}, ["notes[1].label: there c, here b"]),
        ({"versions": {"arena": "0.2.0", "python": "3.11.2"}}, []),
        ({"versions": {"arena": "0.1.0", "python": "3.12.0"}}, [PYTHON]),
    ],
)
def test_the_same_run_is_resumed_and_what_differs_is_named_by_its_place(
    folder: RunFolder, changes: dict[str, object], said: list[str]
) -> None:
    assert differences(folder, **changes) == said


def test_one_run_at_a_time_writes_to_a_folder(folder: RunFolder) -> None:
    """Until the first has ended, also by an error; no descriptor is left open."""
    refused = pytest.raises(InputError, match="another run is writing there")
    with folder.locked(), refused, folder.locked():
        pass
    with pytest.raises(KeyError), folder.locked():
        raise KeyError
    with folder.locked():
        pass
    for descriptor in os.listdir("/dev/fd"):
        with suppress(OSError):  # that of the list itself
            assert not os.path.samestat(os.fstat(int(descriptor)), folder.path.stat())


def test_an_earlier_runs_files_are_removed_and_named(folder: RunFolder) -> None:
    """All but its log, and no other files."""
    for name in ("games.csv", "timings.csv", "manifest.json", "run.sqlite-wal", "notes.txt"):
        (folder.path / name).write_text("")
    assert sorted(folder.clear()) == ["games.csv", "manifest.json", "run.sqlite-wal", "timings.csv"]
    assert {path.name for path in folder.path.iterdir()} == {"run.log", "notes.txt"}
    assert folder.clear() == []


def test_a_folder_with_another_programs_database_is_not_cleared(folder: RunFolder) -> None:
    folder.store.write_bytes(b"SQLite format 3\0" + bytes(84 + 8092))
    (folder.path / "games.csv").write_text("")
    with pytest.raises(InputError, match="not one of a run; it is kept"):
        folder.clear()
    assert (folder.path / "games.csv").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}"], ids=range(6)
)
def test_a_manifest_that_cannot_be_read_is_an_error(folder: RunFolder, text: str) -> None:
    with pytest.raises(InputError, match=r"run\.sqlite: its manifest cannot be read: .*; --fresh"):
        folder.check(RUN, text)


@pytest.mark.parametrize(
    ("labels", "change", "why"),
    [
        ("a", {}, "a tournament needs two bots"),
        ("ab", {"panel": ["a"]}, "the panel is not the last of its bots"),
        ("ab", {"panel": ["a", "b"]}, "the panel is not the last of its bots"),
        ("ab", {"paired": True}, "versions of a bot have a panel"),
        ("ab", {"panel": ["b"], "paired": True}, "versions of a bot have a panel"),
    ],
)
def test_a_manifest_of_a_run_that_cannot_be_is_an_error(
    labels: str, change: dict[str, object], why: str
) -> None:
    manifest = cup("abc", 2).manifest()
    bots = [bot for bot in manifest["bots"] if bot["label"] in labels]
    with pytest.raises(InputError, match=f"its manifest cannot be read: {why}"):
        make_tournament(manifest | {"bots": bots} | change)


@pytest.mark.parametrize(
    ("name", "make", "why"),
    [
        *(
            (f"run.{end}", os.mkfifo, "not a regular")
            for end in ("log", "sqlite", "sqlite-journal")
        ),
        ("games.csv", os.mkfifo, "not a regular"),  # nothing waits for somebody to write into it
        ("games.csv", Path.mkdir, "a folder in the place of a"),
    ],
)
def test_what_is_not_a_file_in_the_place_of_one_is_refused(
    folder: RunFolder, name: str, make: Callable[[Path], object], why: str
) -> None:
    (folder.path / name).unlink(missing_ok=True)
    make(folder.path / name)
    with pytest.raises(InputError, match=f"{name}: {why} file"):
        RunFolder(folder.path)
