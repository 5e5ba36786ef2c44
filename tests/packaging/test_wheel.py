"""A wheel in a new environment has all that the clone has; each step of a release can fail."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from arena.tournament.yaml_text import shipped
from tests import ROOT
from tests.packaging import __main__ as release
from tests.packaging import clones, licences, smoke, wheel
from tests.packaging.__main__ import MOST
from tests.packaging.licences import Licensed
from tests.packaging.test_metadata import normal
from tests.packaging.wheel import PROJECT

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
def test_it_works_beside_modules_of_the_same_names_and_without_extras(
    bin_folder: Path, tmp_path: Path
) -> None:
    """bots/, engine.py, random.py and others are imported by no process; a run has its page."""
    (tmp_path / "alone").mkdir()
    smoke.try_run(bin_folder, tmp_path / "alone")
    smoke.try_in_another_project(bin_folder, tmp_path, *OUTSIDE_JAIL)


@pytest.mark.slow
def test_it_is_small_and_has_what_is_no_python(built: Path) -> None:
    """Most is pandas and numpy; every config, template and file of a page, and no tests."""
    files = {
        Path(str(file.locate())).resolve()
        for library in wheel.libraries(PROJECT["dependencies"])
        for file in library.files or []
    }
    sizes = [path.stat().st_blocks * 512 for path in files if path.is_file()]
    unpacked = sum(info.file_size for info in zipfile.ZipFile(built).infolist())
    assert sum(sizes) + 2 * unpacked < MOST * 2**20  # what pip compiles is about as large
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


MOST_OF_WHEEL = 4_000_000
"""Bytes; without the site it has 1.2 million."""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on the PATH; pyenv's folder is in it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    return tmp_path


def metadata_of(**lines: str) -> Message:
    """Return what a library says of itself."""
    message = Message()
    for name, value in lines.items():
        message[name.replace("_", "-")] = value
    return message


MIT = "License :: OSI Approved :: MIT License"


@pytest.mark.parametrize(
    ("about", "licence"),
    [
        ({"License_Expression": "GPL-3.0-only", "Classifier": MIT}, "GPL-3.0-only"),
        ({"License": "MPL-2.0 AND MIT"}, "MPL-2.0 AND MIT"),
        ({"License": "Permission is hereby granted ...", "Classifier": MIT}, "MIT"),
        ({"License": "as you like"}, ""),
        ({"Classifier": "License :: Other/Proprietary License"}, ""),
        ({}, ""),
    ],
)
def test_a_licence_is_what_the_metadata_say(about: dict[str, str], licence: str) -> None:
    """An expression first, then a text that is a known name, then the classifier."""
    assert licences.read(metadata_of(**about)) == licence  # type: ignore[arg-type]


@pytest.mark.parametrize("licence", ["", "GPL-3.0-only", "MIT AND GPL-3.0-only"])
def test_a_licence_that_is_unknown_or_not_allowed_fails(
    monkeypatch: pytest.MonkeyPatch, licence: str
) -> None:
    """The line names the library; so does a step's finding."""
    rows = [Licensed("good", "1", "MIT", ("",)), Licensed("bad", "2", licence, ("rl",))]
    monkeypatch.setattr(licences, "survey", lambda _: rows)
    finding = release._try("licences", release._check_licences)
    assert finding[:3] == ("licences", False, f"not allowed: bad ({licence or 'unknown'})")


@pytest.mark.slow
def test_every_library_that_users_get_is_looked_at() -> None:
    """Those of every install and of each extra, with what brings them; all are allowed."""
    extras = PROJECT["optional-dependencies"]
    rows = {normal(row.name): row for row in licences.survey({"rl": extras["rl"]})}
    assert rows["gymnasium"].extras == ("rl",)
    assert "cloudpickle" in rows  # gymnasium needs it
    assert release._check_licences().endswith(" libraries, all allowed")


@pytest.mark.study
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this folder is no clone")
def test_two_clones_of_the_commit_give_the_same_bytes(tmp_path: Path) -> None:
    """And its sdist has what Git has, `configs` as files in both places, and the site."""
    built, sdist = clones.build_twice(tmp_path, clones.read_commit(), "--no-isolation")
    assert built.suffix == ".whl"
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    words = ["git", "-C", str(ROOT), "ls-tree", "-r", "--name-only", "HEAD"]
    tracked = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")
    configs = {f"arena/configs/{path.name}" for path in (ROOT / "configs").iterdir()}
    site = {name for name in names if name.startswith("arena/site/")}
    assert {"arena/site/index.html", "arena/site/reference/arena-run.html"} < site
    assert names - {"PKG-INFO"} - site == {*tracked} - {"", "arena/configs"} | configs
    with zipfile.ZipFile(built) as wheel:
        assert site < {*wheel.namelist()}
    assert built.stat().st_size < MOST_OF_WHEEL
