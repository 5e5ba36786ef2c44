"""A wheel in a new environment has all that the clone has."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from arena.tournament.shipped import shipped
from tests import ROOT
from tests.packaging import smoke, wheel

OUTSIDE_JAIL = ("--lane", "process")  # the libraries are borrowed from a folder it does not show


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from the sdist that lies beside it."""
    return wheel.build(tmp_path_factory.mktemp("built") / "here", "--no-isolation")


@pytest.fixture(scope="module")
def bin_folder(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the commands of an environment in which the wheel is installed."""
    return wheel.install_beside(built, tmp_path_factory.mktemp("environment") / "here")


@pytest.mark.study
def test_its_commands_work_in_an_empty_folder(bin_folder: Path, tmp_path: Path) -> None:
    """A run of a config by its name, and `verify`, `bots`, `new`, `play` and `check`."""
    smoke.try_commands(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_they_work_in_a_folder_with_modules_of_its_own(bin_folder: Path, tmp_path: Path) -> None:
    """bots/, engine.py, random.py and others are imported by no process of the arena."""
    smoke.try_in_another_project(bin_folder, tmp_path, *OUTSIDE_JAIL)


def test_it_has_what_is_no_python(built: Path) -> None:
    """Licence, notice, every config, template and file of a page; the tests are not in it."""
    names = set(zipfile.ZipFile(built).namelist())
    assert {f"arena/configs/{name}.yaml" for name in shipped()} <= names
    for package in ("arena", "bots", "engine"):
        files = [path for path in (ROOT / package).rglob("*") if path.is_file()]
        wanted = {str(path.relative_to(ROOT)) for path in files if path.suffix != ".pyc"}
        assert wanted <= names
        assert f"{package}/py.typed" in wanted
    ends = {name.rpartition("/")[2] for name in names}
    assert {"LICENSE", "NOTICE"} <= ends
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"arena", "bots", "engine"}
    (sdist,) = built.parent.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/configs/quickstart.yaml") for name in archive.getnames())
