"""What the package says of itself agrees, in every file that says it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from arena.tournament.versions import version_here
from tests import ROOT
from tests.conftest import Arena

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def normal(name: str) -> str:
    """Return the name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_licence_and_citation_agree_with_the_package() -> None:
    """The same licence and authors; the notice says what is not in it."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["license"] == PROJECT["license"]
    assert citation["authors"] == PROJECT["authors"]
    assert PROJECT["authors"][0]["name"] in (ROOT / "LICENSE").read_text()
    notice = " ".join((ROOT / "NOTICE").read_text().split())
    assert "unofficial implementation" in notice
    assert "no art and no text" in notice


def test_every_library_that_make_installs_has_one_version() -> None:
    """constraints.txt pins each requirement, at most for some Pythons only."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines[0].startswith("#")
    pin = re.compile(r"([\w.-]+)==[\w.]+(; python_version (<|>=) \"3\.\d+\")?")
    pins = [pin.fullmatch(line) for line in lines[1:]]
    assert all(pins)
    pinned = {normal(one[1]) for one in pins if one}
    extras = PROJECT["optional-dependencies"]
    assert {"test", "docs"} <= extras.keys()
    wanted = [*PROJECT["dependencies"], *(need for extra in extras.values() for need in extra)]
    names = {normal(re.split(r"[<>=;]", need)[0]) for need in wanted}
    assert names <= pinned


@pytest.mark.slow
def test_the_command_works_where_the_working_folder_was_removed(tmp_path: Path) -> None:
    """`python -m arena` says what it says elsewhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f'rmdir "{gone}"; exec "{sys.executable}" -m arena --version'
    done = subprocess.run(["sh", "-c", line], cwd=gone, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_checkout_without_an_installation_says_how_to_install_it(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, by whatever writes a version to a file; help and the doctor's report need none."""
    found = metadata.Distribution.from_name

    def find(name: str) -> metadata.Distribution:
        if name == "district-noir-arena":
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(metadata.Distribution, "from_name", find)
    version_here.cache_clear()  # which an earlier test of this process has filled
    said = f"error: the arena is not installed: run `pip install -e .` in {str(ROOT)!a}\n"
    for words in (("--version",), ("play", "greedy", "uniform", "--pairs", "1", "--out", "run")):
        done = arena(*words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert arena("--help").returncode == 0
    assert "with arena that is not installed" in arena("doctor").stdout


def test_a_python_without_its_libraries_says_so(tmp_path: Path) -> None:
    """As a new clone with the system's Python; `-S` leaves out what is installed."""
    words = [sys.executable, "-S", "-m", "arena", "--help"]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"error: no library click: run `pip install -e .` in {str(ROOT)!a}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
