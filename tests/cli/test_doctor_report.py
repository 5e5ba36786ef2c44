"""The block that `arena doctor --report` prints can be shown to everybody."""

from __future__ import annotations

import platform
import re
import socket
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import pytest

from arena.cli import doctor_report, machine
from arena.cli.doctor_report import write_report
from arena.cli.examined import Finding
from tests.cli.test_mistakes import refusal
from tests.conftest import Arena

USER, HOST = "annabel", "quists-laptop"
SPEAKS = f"""#!/bin/sh
test "${{0##*/}} $1" = "bwrap --version" && echo bubblewrap 0.8.0 && exit
echo "v20.1.2 (built by {USER} on {HOST}.lan in $0)" >&2
echo "bwrap: failed in $0: {USER} is not allowed on {HOST}.lan, nor in $HOME/my bots" >&2
test "${{0##*/}}" != bwrap
"""


@pytest.fixture
def _of_somebody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every place and name of this process somebody's own."""
    home = tmp_path / f"home of {USER}"
    programs = home / "my tools" / "bin"
    for folder in (programs, home / "private tmp", home / "venv"):
        folder.mkdir(parents=True)
    for name in doctor_report._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("bwrap", "node", "cc"):
        (programs / name).write_text(SPEAKS)
        (programs / name).chmod(0o755)
    for name, value in {
        "HOME": str(home),
        "HOSTNAME": HOST,
        "LOGNAME": USER,
        "USER": USER,
        "PATH": f"{programs}:/usr/bin:/bin",
        "TMPDIR": str(home / "private tmp"),
        "VIRTUAL_ENV": str(home / "venv"),
        "PYTHONPATH": str(home / "my bots"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(sys, "prefix", str(home / "venv"))
    monkeypatch.setattr(socket, "gethostname", lambda: f"{HOST}.lan")
    monkeypatch.setattr(platform, "node", lambda: HOST)
    monkeypatch.setattr(platform, "release", lambda: f"6.1.0-of-{USER}-microsoft")


@pytest.mark.slow
@pytest.mark.usefixtures("_of_somebody")
def test_it_says_nothing_of_whose_machine_it_is(arena: Arena, tmp_path: Path) -> None:
    """No path, user or machine, whatever programs print; what is of use stays."""
    text = arena("doctor", "--report").stdout
    for word in (USER, "quist", "home", "venv", "my tools", "my bots", "private tmp"):
        assert word not in text.lower(), word
    assert not [part for part in tmp_path.parts[1:] if part in text]
    assert not re.search(r"(?<!\w)/\w", text)
    assert "system    Linux 6.1.0 (WSL)" in text
    assert "variables PYTHONPATH, TMPDIR, VIRTUAL_ENV\n" in text
    (line,) = re.findall(r"^bad  bubblewrap +(.*)$", text, re.M)
    end = "does not start: exit status 1: bwrap: failed in (hidden)"
    assert line == f"bubblewrap 0.8.0, {end}"
    assert re.search(r"^-    node +20\.1\.2$", text, re.M)
    assert re.search(r"^ok   temporary folder [\d.]+ GiB free$", text, re.M)


@pytest.mark.slow
def test_it_is_one_block_with_every_version(arena: Arena) -> None:
    """Of the arena, its engine, Python, and what each extra brings; with all findings."""
    done = arena("doctor", "--report")
    lines = done.stdout.splitlines()
    assert (lines[0], lines[-1], done.stdout.count("```")) == ("```text", "```", 2)
    assert lines[1].startswith(f"arena     {metadata.version('district-noir-arena')}, ")
    assert re.search(r"; engine [0-9a-f]{12}, arena [0-9a-f]{12}$", lines[1])
    for name in ("pandas", "networkx", "open-spiel"):
        assert f"{name} {metadata.version(name)}" in done.stdout
    findings = [line[5:21].rstrip() for line in lines[lines.index("") + 1 : -1]]
    assert findings == [finding.what for finding in machine.examine()]
    assert done.returncode == arena("doctor").returncode


def test_it_survives_an_arena_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And text that would end the block; a local version may name a machine."""
    for module in (doctor_report, machine):
        monkeypatch.setattr(module, "DISTRIBUTION", "no-package-of-this-name")
    text = write_report([Finding("user", None, "```\nover")])
    assert "arena     missing, not installed; engine " in text
    assert text.count("```") == 2
    assert "over" in text.splitlines()[-2]
    monkeypatch.setattr(metadata, "version", lambda _: "1.2+of.annabel")
    assert doctor_report._version_of("pandas") == "1.2"


@pytest.mark.parametrize("other", ["greedy", "--json"])
def test_it_goes_with_nothing_else(arena: Arena, other: str) -> None:
    """One line says so: of a bot the doctor says paths, and a document is not for people."""
    said = refusal(arena, "doctor", "--report", other)
    assert said == "--report: a block of text about this machine; not with BOT or --json"


@pytest.mark.slow
def test_a_traceback_ends_with_the_line_that_says_how_to_report_it(tmp_path: Path) -> None:
    """Of an error that nobody foresaw; the exit status is 1."""
    program = (
        "import sys, arena.cli, arena.entries.catalogue as catalogue\n"
        "catalogue.catalogue = lambda: 1 / 0\n"
        "sys.argv = ['arena', 'bots']\n"
        "arena.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    lines = done.stderr.splitlines()
    assert (done.returncode, lines[0], lines[-2]) == (
        1,
        "Traceback (most recent call last):",
        "ZeroDivisionError: division by zero",
    )
    assert lines[-1].startswith("error: this is a fault of the arena; please report it, ")
    assert lines[-1].endswith(" the output of `arena doctor --report`")
