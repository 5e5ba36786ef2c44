"""`arena new` writes a bot that plays at once, and its test, and overwrites no file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.entries.catalogue import ELO
from arena.entries.new_bot import write_draft
from arena.errors import InputError
from tests import ROOT
from tests.conftest import Arena
from tests.kit import refused, run_python


@pytest.fixture
def written(arena: Arena, tmp_path: Path) -> Path:
    """Return the folder in which `arena new clever_one` has written its files."""
    done = arena("new", "clever_one")
    assert (done.returncode, done.stderr) == (0, "")
    return tmp_path


@pytest.mark.slow
def test_it_says_what_to_do_next(arena: Arena, tmp_path: Path) -> None:
    """The commands it prints can be run as they are."""
    (tmp_path / "mine").mkdir()
    shown = arena("new", "clever_one", "--dir", "mine").stdout
    assert shown.splitlines()[0] == "wrote mine/clever_one.py and mine/test_clever_one.py; now:"
    assert "  arena check mine/clever_one.py " in shown
    assert "  arena play mine/clever_one.py greedy " in shown
    assert "  python mine/test_clever_one.py " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert arena("play", "mine/clever_one.py", "greedy", "--pairs", "2").returncode == 0


def test_the_bot_has_its_name_everywhere(written: Path) -> None:
    """The template's name is left nowhere."""
    assert {path.name for path in written.iterdir()} == {"clever_one.py", "test_clever_one.py"}
    text = "".join(path.read_text() for path in written.iterdir())
    assert "class CleverOne:" in text
    assert "from clever_one import bot" in text
    assert "my_bot" not in text.lower()


@pytest.mark.slow
def test_its_own_test_passes(written: Path) -> None:
    """With plain pytest; without it, by the command that is printed, which says if it fails."""
    name = "test_clever_one.py"
    done = run_python("-m", "pytest", "-q", "-p", "no:cacheprovider", name, folder=written)
    assert (done.returncode, "4 passed" in done.stdout) == (0, True), done.stdout
    (written / "pytest.py").write_text("raise ImportError('not installed')\n")
    done = run_python(name, folder=written)
    assert (done.returncode, done.stdout) == (0, "4 tests passed\n"), done.stderr
    text = (written / name).read_text()
    (written / name).write_text(text.replace("wins >= 67", "wins >= 670"))
    done = run_python(name, folder=written)
    assert (done.returncode, done.stdout) == (1, "")
    assert "AssertionError" in done.stderr


@pytest.mark.parametrize("config", [["--isolated"], ["--config", str(ROOT / "pyproject.toml")]])
def test_it_passes_ruff(written: Path, config: list[str]) -> None:
    """With ruff's default settings, and with this repository's."""
    done = run_python("-m", "ruff", "check", "--no-cache", *config, ".", folder=written)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_it_is_accepted_and_better_than_random(arena: Arena, written: Path) -> None:
    """`arena check` accepts it, and rates it well above uniform."""
    done = arena("check", "./clever_one.py", "--games", "40", "--json")
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    rating = json.loads(done.stdout)["items"][-1]["figures"]
    assert rating["low"] > ELO["uniform"] + 50
    assert (written / "clever_one.py").exists()


@pytest.mark.slow
def test_its_parameter_can_be_set(arena: Arena, written: Path) -> None:
    """By its name in the spec; a value of the wrong type is refused."""
    assert (written / "clever_one.py").exists()
    words = ("uniform", "--pairs", "2")
    assert arena("play", "./clever_one.py(enough=2.5)", *words).returncode == 0
    wrong = arena("play", "./clever_one.py(enough='much')", *words)
    assert "parameter enough='much': Expected `float`, got `str`" in refused(wrong)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *((name, "not a plain name") for name in ("class", "my-bot", "mine.py", "mein_böser", "")),
        ("../mine", "--dir names another folder"),
        ("x" * 41, "longer than 40"),
        ("greedy", "a bot in bots/"),
        ("random", "a Python module"),
        ("engine", "a Python module"),
    ],
)
def test_an_invalid_name_is_refused(arena: Arena, tmp_path: Path, name: str, reason: str) -> None:
    """With one line and status 2, and nothing is written."""
    assert reason in refused(arena("new", name))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("existing", ["mine.py", "test_mine.py"])
def test_nothing_is_overwritten_and_nothing_is_written_in_part(
    arena: Arena, tmp_path: Path, existing: str
) -> None:
    """If one of the two files exists, it is kept and the other is not written."""
    (tmp_path / existing).write_text("precious")
    assert refused(arena("new", "mine")) == f"{existing}: exists already, and is not changed"
    assert [path.name for path in tmp_path.iterdir()] == [existing]
    assert (tmp_path / existing).read_text() == "precious"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """It is not created."""
    with pytest.raises(InputError, match="none: no such folder; make it first"):
        write_draft("mine", tmp_path / "none")
