"""The doctor says in a line a check what a machine lacks, whatever its state."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.cli import doctor
from arena.cli.doctor import CHECKS, EXTRAS, Finding, examine, examine_bot
from arena.lanes.jail_support import find_bubblewrap
from tests import ROOT
from tests.conftest import Arena
from tests.runs.test_rogues import needs_jail

Program = Callable[..., None]


@pytest.fixture
def bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Yield what makes bwrap a script of these lines, or takes it off the PATH."""
    find_bubblewrap.cache_clear()

    def put(*script: str) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        if script:
            (tmp_path / "bwrap").write_text("\n".join(["#!/bin/sh", *script, ""]))
            (tmp_path / "bwrap").chmod(0o755)

    yield put
    find_bubblewrap.cache_clear()


def named(what: str) -> Finding:
    return next(finding for finding in examine() if finding.what == what)


def test_every_check_is_a_line_and_the_extras_are_examined(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that lack a library are named, with what they are for and how they are installed."""
    assert [finding.what for finding in examine()] == [*CHECKS]
    lines = arena("doctor").stdout.splitlines()
    assert [line[5:22].strip() for line in lines if line[0] != " "] == [*CHECKS]
    assert max(map(len, lines)) <= 80
    of_developers = {"test", "docs", "bench", "release"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {name for name, asked in project["optional-dependencies"].items() if asked}
    assert EXTRAS.keys() == asked - of_developers
    monkeypatch.setattr(doctor, "_is_installed", lambda name: name != "networkx")
    finding = named("extras")
    assert finding.detail.startswith("table, remote, dask, mpi, rl, openspiel; not ")
    assert finding.detail.endswith("; not swiss (format: swiss)")
    assert finding.advice.startswith("pip install 'district-noir-arena[swiss]'")


def test_without_bubblewrap_there_is_advice(bwrap: Program) -> None:
    """It is for the jail only, so the machine is fit without it."""
    bwrap()
    assert named("bubblewrap") == Finding(
        "bubblewrap",
        False,
        "bubblewrap (bwrap) is not on PATH: no lane jail",
        "apt-get install bubblewrap, or your system's package (Linux only)",
    )


@pytest.mark.parametrize(
    ("setting", "forbidden"),
    [("user/max_user_namespaces", "0"), ("kernel/apparmor_restrict_unprivileged_userns", "1")],
)
def test_a_bubblewrap_that_fails_says_why(
    bwrap: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, forbidden: str
) -> None:
    """Its last line of errors, and the switch of the system that forbids user namespaces."""
    monkeypatch.setattr(doctor, "_SYSTEM", tmp_path)
    bwrap("echo a first line >&2", "echo no new namespace >&2", "exit 1")
    finding = named("bubblewrap")
    assert finding.detail.endswith("bubblewrap does not work here: no new namespace")
    assert finding.advice.startswith("have user namespaces allowed")
    (tmp_path / setting).parent.mkdir()
    (tmp_path / setting).write_text(f"{forbidden}\n")
    assert f"sysctl -w {setting.replace('/', '.')}=" in named("bubblewrap").advice


@needs_jail
def test_a_bubblewrap_that_works_makes_the_jail() -> None:
    """As docs/course says."""
    finding = named("bubblewrap")
    assert (finding.ok, finding.advice) == (True, "")
    assert finding.detail.endswith("/bwrap makes the lane jail")


def test_an_old_python_a_full_folder_and_little_memory_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do; a limit of a container is its memory, and `max` is none."""
    monkeypatch.setattr(doctor, "_OLDEST_PYTHON", (99, 1))
    assert named("python").advice == "install Python 99.1 or newer"
    monkeypatch.setattr(doctor, "_LEAST_FREE", 2**80)
    assert (named("temporary folder").ok, "TMPDIR" in named("temporary folder").advice) == (
        False,
        True,
    )
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert "cannot be written" in named("temporary folder").detail
    (tmp_path / "one").write_text("max\n")
    (tmp_path / "two").write_text(f"{2**29}\n")
    monkeypatch.setattr(doctor, "_LIMITS", (str(tmp_path / "one"), str(tmp_path / "two")))
    assert named("memory").detail == "0.5 GiB"


def test_what_a_bot_can_read_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own files; and a command that is a script is named, for it may start another program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "play").write_text("#!/bin/sh\n")
    (tmp_path / "play").chmod(0o755)
    assert {finding.what for finding in examine_bot("greedy")} == {"can be read"}
    *_, last = examine_bot("cmd:./play")
    assert (last.what, last.ok) == ("command", None)
    assert "play is a script" in last.detail
