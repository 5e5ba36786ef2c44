"""A wheel in a new environment has all that the clone has."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest

from arena.tournament.yaml_text import shipped
from tests import ROOT
from tests.packaging import smoke, wheel
from tests.packaging.__main__ import MOST
from tests.packaging.test_metadata import PROJECT

OUTSIDE_JAIL = ("--lane", "process")  # the libraries are borrowed from a folder it does not show


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from the sdist that lies beside it."""
    return wheel.build(tmp_path_factory.mktemp("built") / "here", "--no-isolation")


@pytest.fixture(scope="module")
def bin_folder(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the commands of an environment with the wheel and what it needs.

    The libraries of the extras are not in it.
    """
    needed = wheel.libraries(PROJECT["dependencies"])
    return wheel.install_beside(built, tmp_path_factory.mktemp("environment") / "here", needed)


@pytest.mark.study
def test_its_commands_work_in_an_empty_folder(bin_folder: Path, tmp_path: Path) -> None:
    """A run of a config by its name, and `verify`, `bots`, `new`, `play` and `check`."""
    smoke.try_commands(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_a_run_without_extras_has_every_table_and_its_page(
    bin_folder: Path, tmp_path: Path
) -> None:
    """Nothing of the page comes from another library than jinja2."""
    smoke.try_run(bin_folder, tmp_path)


@pytest.mark.slow
def test_they_work_in_a_folder_with_modules_of_its_own(bin_folder: Path, tmp_path: Path) -> None:
    """bots/, engine.py, random.py and others are imported by no process of the arena."""
    smoke.try_in_another_project(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_what_it_needs_is_small(built: Path) -> None:
    """With itself; most of it is pandas and numpy. With pip an environment has 200 MB at most."""
    files = {
        Path(str(file.locate())).resolve()
        for library in wheel.libraries(PROJECT["dependencies"])
        for file in library.files or []
    }
    sizes = [path.stat().st_blocks * 512 for path in files if path.is_file()]
    unpacked = sum(info.file_size for info in zipfile.ZipFile(built).infolist())
    assert sum(sizes) + 2 * unpacked < MOST * 2**20  # what pip compiles is about as large


@pytest.mark.slow
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
