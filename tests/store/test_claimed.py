"""A folder for one piece of work: nobody's files are written over, and no two works are mixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import InputError
from arena.store.folder import CLAIM, claimed
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena

WORK = {"evaluation": "greedy", "seed": 0, "bots": ("a", "b")}


def test_the_same_work_goes_on_in_its_folder(tmp_path: Path) -> None:
    """Also beside what it has written itself."""
    place = tmp_path / "new" / "one"
    with claimed(place, WORK):
        (place / "mine.csv").write_text("1")
    with claimed(place, WORK):
        assert (place / "mine.csv").read_text() == "1"


def test_another_work_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    """The line says for what the folder was made."""
    with claimed(tmp_path, WORK):
        pass
    before = (tmp_path / CLAIM).read_bytes()
    message = r"made for {'evaluation': 'greedy', 'seed': 0.*; choose a new folder"
    with pytest.raises(InputError, match=message), claimed(tmp_path, WORK | {"seed": 1}):
        pass
    assert (tmp_path / CLAIM).read_bytes() == before


def test_two_at_once_are_refused(tmp_path: Path) -> None:
    """While one writes there; afterwards the other may."""
    with (
        claimed(tmp_path, WORK),
        pytest.raises(InputError, match="another command is writing there"),
        claimed(tmp_path, WORK),
    ):
        pass
    with claimed(tmp_path, WORK):
        pass


@pytest.mark.parametrize("note", [b"", b"{", b"\xff", b"5", b'["x"]'])
def test_a_damaged_note_is_named(tmp_path: Path, note: bytes) -> None:
    """Or is that of another work."""
    (tmp_path / CLAIM).write_bytes(note)
    with pytest.raises(InputError, match=str(tmp_path)), claimed(tmp_path, WORK):
        pass
    assert (tmp_path / CLAIM).read_bytes() == note


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    """A file, and a name with a NUL."""
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("a\0b")):
        with pytest.raises(InputError, match="cannot be written"), claimed(place, WORK):
            pass


@pytest.mark.parametrize(
    "words",
    [
        ["dataset", "greedy", "uniform", "--games", "2", "--worlds", "4"],
        ["facts", "--play", "uniform", "--percent", "1"],
    ],
)
def test_no_command_writes_over_a_stranger_s_file(
    arena: Arena, tmp_path: Path, words: list[str]
) -> None:
    """Whatever its name is; a bot of a person may be `response.py`."""
    for name in ("response.py", "games.jsonl", "facts.csv"):
        (tmp_path / name).write_text("mine")
    message = refusal(arena, *words, "--out", str(tmp_path))
    assert message == f"{tmp_path}: holds other files; choose a new folder"
    assert {path.read_text() for path in tmp_path.iterdir()} == {"mine"}
