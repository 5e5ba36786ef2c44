"""Results are copied, kept by other libraries and saved, and stay what they are."""

from __future__ import annotations

import copy
import pickle
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import arena
from arena.errors import ChangedBots
from arena.library.running import Interrupted
from arena.store.folder import WINS
from tests.conftest import run_here
from tests.library.test_results import Faulty
from tests.runs.test_extension import content
from tests.stores import forge
from tests.tiers import few

BOTS: list[Any] = ["uniform", "greedy", Faulty]
TABLES = (
    *("standings", "head_to_head", "win_types", *WINS, "games", "faults", "timings"),
    *("verdicts", "unresolved"),
)
NOT_SAME = ("run.log", "timings.csv", "run.sqlite")


def play(bots: list[Any], **more: Any) -> arena.Results:
    how: dict[str, Any] = {"pairs": 3, "seed": 7, "max_faults": 2, "workers": 1}
    how |= {"lane": "inproc", "progress": False}
    return arena.run(bots, **how | more)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run with forfeits, some of them by rule."""
    path: Path = tmp_path_factory.mktemp("copies") / "friday"
    play(BOTS, out=path)
    return path


@pytest.fixture(scope="module")
def in_memory() -> arena.Results:
    """Return the results of the same run without a folder."""
    return play(BOTS)


def pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def assert_same(one: arena.Results, other: arena.Results) -> None:
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name))
    assert (str(one), one.total) == (str(other), other.total)
    assert one.game("greedy", "uniform", 1, 1) == other.game("greedy", "uniform", 1, 1)


@pytest.mark.parametrize("make", few([pickled, copy.deepcopy, copy.copy], 0, 1))
def test_a_copy_has_the_same_tables(
    in_memory: arena.Results, make: Callable[[arena.Results], arena.Results]
) -> None:
    """Of results in memory, before and after the tables were made."""
    assert_same(in_memory, make(in_memory))


@pytest.mark.slow
@pytest.mark.parametrize("against", ["greedy", None])
def test_a_comparison_is_copied(against: str | None) -> None:
    """With its games, its verdict, and the differences of two versions."""
    how: Any = {"against": against, "seed": 1, "max_pairs": 4, "progress": False}
    comparison = arena.compare("denier", "uniform", **how)
    for make in (pickled, copy.deepcopy):
        again = make(comparison)
        assert str(again) == str(comparison)
        assert again.document() == comparison.document()
        assert again.results.games.equals(comparison.results.games)
        if against:
            pd.testing.assert_frame_equal(again.differences, comparison.differences)


def test_errors_reach_another_process(in_memory: arena.Results) -> None:
    """With what they carry."""
    changed = pickled(ChangedBots("results/friday", {"mine": ["sha256: there 1f, here 2e"]}))
    assert changed.labels == ["mine"]
    assert "mine: sha256" in str(changed)
    interrupted = pickled(Interrupted(in_memory, "results/friday"))
    assert interrupted.results.played == in_memory.played
    assert "kept in results/friday/" in str(interrupted)


@pytest.mark.slow
def test_saved_results_are_the_folder_of_the_run(
    folder: Path, in_memory: arena.Results, tmp_path: Path
) -> None:
    """The same files with the same bytes, and a store with the same content."""
    in_memory.save(tmp_path / "deep" / "saved")
    saved = tmp_path / "deep" / "saved"
    names = sorted(path.relative_to(saved) for path in saved.rglob("*.*"))
    assert names == sorted(path.relative_to(folder) for path in folder.rglob("*.*"))
    for name in names:
        same = (saved / name).read_bytes() == (folder / name).read_bytes()
        assert same or name.name in NOT_SAME, name
    assert content(saved) == content(folder)
    assert [*pd.read_csv(saved / "timings.csv")["bot"]] == ["uniform", "greedy", "Faulty"]
    done = run_here(tmp_path, "verify", str(saved), "--sample", "0")
    assert (done.returncode, done.stderr) == (0, "")
    with closing(sqlite3.connect(saved / "run.sqlite")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.slow
def test_a_folder_with_anything_else_is_refused(
    folder: Path, in_memory: arena.Results, tmp_path: Path
) -> None:
    """It is left as it is; one with these very games is written again."""
    in_memory.save(tmp_path / "saved")
    (tmp_path / "saved" / "standings.csv").unlink()
    in_memory.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "standings.csv").exists()
    for name, message in (("notes.txt", "something else"), ("games.csv", "something else")):
        place = tmp_path / name
        place.mkdir()
        (place / name).write_text("mine")
        with pytest.raises(arena.InputError, match=f"{place}: holds {message} than this run"):
            in_memory.save(place)
        assert [path.name for path in place.iterdir()] == [name]
    other = play(["uniform", "greedy"], pairs=1)
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    with pytest.raises(arena.InputError, match="holds other games than these; choose a new"):
        other.save(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before
    (tmp_path / "file").write_text("")
    with pytest.raises(arena.InputError, match="file: holds something else"):
        in_memory.save(tmp_path / "file")


@pytest.mark.slow
def test_a_run_goes_on_from_what_was_saved(tmp_path: Path) -> None:
    """An unfinished run leaves its games and no tables; then nothing is played twice."""
    bots = ["uniform", "greedy"]
    play(bots, out=tmp_path / "whole")
    there = shutil.copytree(tmp_path / "whole", tmp_path / "there")
    forge(there / "run.sqlite", "DELETE FROM games WHERE pair = 1")
    arena.open(there).save(tmp_path / "saved")
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == ["run.log", "run.sqlite"]
    assert play(bots, out=tmp_path / "saved").played == 6
    for name in ("games.csv", "standings.csv", "report.html"):
        paths = [tmp_path / folder / name for folder in ("saved", "whole")]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    assert content(tmp_path / "saved") == content(tmp_path / "whole")
