"""A folder resumes only the same run; for another run the error names the differences."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from arena.errors import InputError
from arena.store.folder import MANIFEST, RunFolder
from arena.store.manifest import manifest_text

RUN: dict[str, Any] = {
    "seed": 1,
    "rules": {"set_bonus": 3},
    "notes": [{"label": "a", "sha256": "0" * 31}, {"label": "b", "sha256": "1" * 30}],
    "versions": {"arena": "0.1.0", "python": "3.11.7"},
}


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


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")


def test_the_same_run_is_resumed_and_a_new_folder_takes_any(folder: RunFolder) -> None:
    """An equal manifest and a folder without a manifest are accepted."""
    assert differences(folder) == []
    folder.check(RUN, None)


def test_results_without_a_store_are_not_resumed(folder: RunFolder) -> None:
    """Their games are missing; with a store they are not."""
    (folder.path / MANIFEST).write_text(manifest_text(RUN))
    with pytest.raises(InputError, match=r"results, but no run\.sqlite to go on from; --fresh"):
        folder.check(RUN, None)
    folder.check(RUN, manifest_text(RUN))


def test_what_differs_is_named_by_its_place(folder: RunFolder) -> None:
    """A value, a value in a mapping, one that only one of the two has, and one in a list."""
    assert differences(folder, seed=2) == ["seed: there 2, here 1"]
    assert differences(folder, rules={"set_bonus": 4}) == ["rules.set_bonus: there 4, here 3"]
    assert differences(folder, rules={}) == ["rules.set_bonus: there None, here 3"]
    other = [RUN["notes"][0], {"label": "c", "sha256": "1" * 30}]
    assert differences(folder, notes=other) == ["notes[1].label: there c, here b"]


def test_one_run_at_a_time_writes_to_a_folder(folder: RunFolder) -> None:
    """Until the first has ended, also by an error; no descriptor is left open."""
    before = len(os.listdir("/dev/fd"))
    refused = pytest.raises(InputError, match="another run is writing there")
    with folder.locked(), refused, folder.locked():
        pass
    with pytest.raises(KeyError), folder.locked():
        raise KeyError
    with folder.locked():
        pass
    assert len(os.listdir("/dev/fd")) == before


def test_an_earlier_runs_files_are_removed_and_named(folder: RunFolder) -> None:
    """All but its log, and no other files."""
    for name in ("games.csv", "timings.csv", "manifest.json", "run.sqlite-wal", "notes.txt"):
        (folder.path / name).write_text("")
    assert sorted(folder.clear()) == ["games.csv", "manifest.json", "run.sqlite-wal", "timings.csv"]
    assert {path.name for path in folder.path.iterdir()} == {"run.log", "notes.txt"}
    assert folder.clear() == []


def test_another_programs_database_is_not_removed(folder: RunFolder) -> None:
    """It has the name of the store; nothing else is removed either."""
    header = b"SQLite format 3\0" + bytes(84)
    folder.store.write_bytes(header + bytes(8092))
    (folder.path / "games.csv").write_text("")
    with pytest.raises(InputError, match="not one of a run; it is kept"):
        folder.clear()
    assert (folder.path / "games.csv").exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", "[" * 100_000, '{"seed": ' + "9" * 5000 + "}"], ids=range(6)
)
def test_a_manifest_that_cannot_be_read_is_an_error(folder: RunFolder, text: str) -> None:
    """It names the store."""
    with pytest.raises(InputError, match=r"run\.sqlite: its manifest cannot be read: .*; --fresh"):
        folder.check(RUN, text)


@pytest.mark.parametrize("name", ["run.log", "run.sqlite", "run.sqlite-journal", "games.csv"])
def test_a_pipe_in_the_place_of_a_file_is_refused(folder: RunFolder, name: str) -> None:
    """Nothing waits for somebody to write into it."""
    (folder.path / name).unlink(missing_ok=True)
    os.mkfifo(folder.path / name)
    with pytest.raises(InputError, match=f"{name}: not a regular file"):
        RunFolder(folder.path)
