"""The doctor reports what a machine lacks, whatever its state."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.cli import machine as doctor
from arena.cli.examined import Finding, advise, ask, format_findings
from arena.cli.machine import (
    examine,
    examine_bubblewrap,
    examine_interpreter,
)
from arena.entries.resolve import resolve
from arena.lanes.bubblewrap import TRIAL
from tests.packaging.test_metadata import PROJECT
from tests.runs.test_rogues import needs_jail
from tests.waiting import until

SHORT = 0.5  # seconds
LONG = "600"  # seconds that a hanging program takes
COMPLAINT = "bwrap: No permissions to create new namespace"

Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Return a function that puts a shell script on an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, *script: str) -> Path:
        path = folder / name
        path.write_text("\n".join(["#!/bin/sh", "PATH=/usr/bin:/bin", *script, ""]))
        path.chmod(0o755)
        return path

    return put


@pytest.fixture
def _nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set PATH to an empty folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))


def named(what: str, patience: float = doctor.PATIENCE) -> Finding:
    return next(finding for finding in examine(patience) if finding.what == what)


def alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    done = subprocess.run(
        ["/bin/ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


def test_the_extras_of_the_package_are_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that lack a library are named, with what they are for and how they are installed."""
    of_developers = {"test", "docs", "bench", "fuzz", "mutants", "release"}
    assert doctor.EXTRAS.keys() == PROJECT["optional-dependencies"].keys() - of_developers
    assert doctor._is_installed("pytest")
    assert not doctor._is_installed("no-package-of-this-name")
    monkeypatch.setattr(doctor, "_is_installed", bool)
    assert doctor.examine_extras().detail == ", ".join(doctor.EXTRAS)
    hidden = ("networkx", "vl-convert-python")
    monkeypatch.setattr(doctor, "_is_installed", lambda name: name not in hidden)
    finding = named("extras")
    assert finding.ok is None
    assert finding.detail.startswith("table, remote, dask, mpi, rl, openspiel; not ")
    assert finding.detail.endswith("; not report (report.html, and charts), swiss (format: swiss)")
    assert finding.advice.startswith("pip install 'district-noir-arena[report]'")
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-package-of-this-name")
    assert doctor.examine_extras().detail.startswith("unknown")


@pytest.mark.usefixtures("_nothing")
def test_without_bubblewrap_there_is_advice_and_no_jail() -> None:
    """The package is named, and the other lanes are still available."""
    finding = examine_bubblewrap()
    assert finding.ok is False
    assert "not found" in finding.detail
    assert "apt-get install bubblewrap" in finding.advice
    assert named("lanes").detail == "inproc, process; no jail"


def test_a_bubblewrap_that_works(program: Program) -> None:
    """The finding has its version and no advice, and there is a jail."""
    words = " ".join(TRIAL)
    program(
        "bwrap",
        'test "$1" = --version && echo bubblewrap 0.8.0 && exit',
        f'test "$*" = "{words}"',
    )
    assert examine_bubblewrap() == ("bubblewrap", True, "bubblewrap 0.8.0, works", "")
    assert named("lanes") == ("lanes", None, "inproc, process, jail", "")


def test_a_bubblewrap_that_fails_says_why(program: Program, tmp_path: Path) -> None:
    """The finding has its last line of errors and the probable cause."""
    program(
        "bwrap",
        'test "$1" = --version && echo bubblewrap 0.8.0 && exit',
        "echo a first line >&2",
        f"echo '{COMPLAINT}' >&2",
        "exit 1",
    )
    finding = examine_bubblewrap(system=tmp_path)
    assert finding.ok is False
    assert finding.detail == f"bubblewrap 0.8.0, does not start: exit status 1: {COMPLAINT}"
    assert "user namespaces" in finding.advice
    assert named("lanes").detail == "inproc, process; no jail"


@pytest.mark.parametrize(
    ("setting", "forbidden", "allowed"),
    [
        ("user/max_user_namespaces", "0", "96365"),
        ("kernel/unprivileged_userns_clone", "0", "1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ],
)
def test_the_switch_that_forbids_user_namespaces_is_named(
    program: Program, tmp_path: Path, setting: str, forbidden: str, allowed: str
) -> None:
    """Only a switch with the wrong value is named."""
    program("bwrap", "exit 1")
    path = tmp_path / "sys" / setting
    path.parent.mkdir(parents=True)
    path.write_text(f"{forbidden}\n")
    assert (
        f"sysctl -w {setting.replace('/', '.')}="
        in examine_bubblewrap(system=tmp_path / "sys").advice
    )
    path.write_text(f"{allowed}\n")
    assert "sysctl" not in examine_bubblewrap(system=tmp_path / "sys").advice


def test_a_bubblewrap_that_hangs_has_a_finding_of_its_own(program: Program) -> None:
    """It is reported after the time limit, and namespaces are not blamed."""
    program("bwrap", f"sleep {LONG}")
    finding = examine_bubblewrap(SHORT)
    assert finding.ok is False
    assert finding.detail.endswith(f"no answer within {SHORT} s")
    assert "does not start" not in finding.detail
    assert "namespaces" not in finding.advice
    assert " ".join(TRIAL) in finding.advice


def test_a_bubblewrap_that_is_no_program(program: Program) -> None:
    """A file that cannot be executed is a finding like any other."""
    program("bwrap").write_bytes(b"\x7fELF and then nothing")
    finding = examine_bubblewrap()
    assert finding.ok is False
    assert "cannot be run" in finding.detail
    assert finding.advice == "reinstall bubblewrap"


@pytest.mark.skipif(not shutil.which("bwrap"), reason="this machine has no bubblewrap")
def test_the_real_bubblewrap_is_judged_as_the_shell_judges_it() -> None:
    """The doctor's finding agrees with the same command run directly."""
    done = subprocess.run(["bwrap", *TRIAL], check=False, capture_output=True, timeout=60)
    assert examine_bubblewrap().ok is (done.returncode == 0)


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="needs ps")
@pytest.mark.parametrize("ending", ["wait", "exit 0"])
def test_a_program_that_hangs_is_killed_with_its_children(
    program: Program, tmp_path: Path, ending: str
) -> None:
    """A child that keeps the output open neither delays the doctor nor survives."""
    note = tmp_path / "pid"
    path = program("parent", f"sleep {LONG} &", f"echo $! >{note}", ending)
    assert ask([str(path)], 2 * SHORT).fault == "hung"
    child = int(note.read_text())
    until(lambda: not alive(child))


@pytest.mark.usefixtures("_nothing")
def test_an_empty_path_raises_nothing() -> None:
    """Every interpreter is "not found", which is information, not a fault."""
    findings = {finding.what: finding for finding in examine()}
    assert findings.keys() >= {"python", "workers", "cores", "memory", "sqlite", "user"}
    for command in doctor.INTERPRETERS:
        assert findings[command] == (command, None, "not found", "")


@pytest.mark.parametrize("path", ["", ".", "/dev/null", "relative:/nowhere"])
def test_an_odd_path_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Without a usable PATH there are still findings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    assert [finding for finding in examine() if finding.what == "bubblewrap" and not finding.ok]


def test_a_program_in_the_current_folder_is_found_by_a_relative_path(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The doctor runs programs in another folder than the current one."""
    monkeypatch.chdir(program("node", "echo v20.1.0").parent)
    monkeypatch.setenv("PATH", ".")
    assert examine_interpreter("node").detail == "v20.1.0"


def test_an_interpreters_first_line_is_its_version(program: Program) -> None:
    """Empty and further lines are left out; standard error is read if there is no output."""
    program("cc", "echo", "echo cc 12.2.0", "echo Copyright", "echo a warning >&2")
    program("java", "echo openjdk 17 >&2")
    assert examine_interpreter("cc") == ("cc", None, "cc 12.2.0", "")
    assert examine_interpreter("java").detail == "openjdk 17"


def test_an_interpreter_that_fails_or_hangs_is_information(program: Program) -> None:
    """The finding has its path and what went wrong, and no advice."""
    broken = program("rustc", "echo no toolchain >&2", "exit 3")
    hung = program("go", f"sleep {LONG}")
    assert examine_interpreter("rustc") == (
        "rustc",
        None,
        f"{broken}: exit status 3: no toolchain",
        "",
    )
    assert examine_interpreter("go", SHORT) == (
        "go",
        None,
        f"{hung}: no answer within {SHORT} s",
        "",
    )


def test_output_that_is_not_text_raises_nothing(program: Program) -> None:
    """Bytes that are not UTF-8 are replaced, and control characters are not printed."""
    program("node", r"printf '\377\033[31mred\n'")
    (line,) = format_findings([examine_interpreter("node")])
    assert "red" in line
    assert line.isprintable()


def test_a_probe_that_breaks_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error does not stop the doctor."""

    def broken() -> None:
        raise RuntimeError("no cores today")

    monkeypatch.setattr(os, "cpu_count", broken)
    finding = named("cores")
    assert finding.ok is False
    assert "no cores today" in finding.detail


def test_python_is_new_enough_from_3_11_on() -> None:
    """The version is compared as numbers and not as text."""
    assert doctor.examine_python((3, 11, 0)).ok
    assert doctor.examine_python((4, 0, 0)).ok
    for old in ((3, 10, 14), (3, 9, 1), (2, 7, 18)):
        finding = doctor.examine_python(old)
        assert finding.ok is False
        assert "3.11" in finding.advice
    assert doctor.examine_python().ok is (sys.version_info >= (3, 11))


def test_where_nothing_forks_there_are_no_workers() -> None:
    """Then only the lane inproc is left."""
    assert doctor.examine_workers().ok
    finding = doctor.examine_workers(forks=False)
    assert (finding.ok, finding.detail) == (False, "cannot be forked")
    assert (
        doctor.examine_lanes(has_workers=False, has_jail=True).detail
        == "inproc; no process and no jail"
    )


def test_cores_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """The affinity counts, or the machine's number if there is no affinity."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert doctor.examine_cores().detail == "2 of 8"
    monkeypatch.delattr(os, "sched_getaffinity")
    assert doctor.examine_cores().detail == "8"


def test_memory_is_what_a_container_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit below the machine's memory counts; "max" and a larger limit do not."""
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 2**20, "SC_PAGE_SIZE": 2**12}.get)
    limit = tmp_path / "memory.max"
    for text, detail in [
        ("1073741824\n", "1.0 GiB, a limit; the machine has 4.0 GiB"),
        ("max\n", "4.0 GiB"),
        ("9223372036854771712\n", "4.0 GiB"),
    ]:
        limit.write_text(text)
        assert doctor.examine_memory(tmp_path).detail == detail
    monkeypatch.delattr(os, "sysconf")
    assert doctor.examine_memory(tmp_path) == ("memory", None, "unknown", "")


def test_the_temporary_folder_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left in it; a missing or full one is a fault with advice."""
    finding = doctor.examine_temporary_folder(str(tmp_path))
    assert str(tmp_path) in finding.detail
    assert list(tmp_path.iterdir()) == []
    missing = doctor.examine_temporary_folder(str(tmp_path / "missing"))
    assert missing.ok is False
    assert "TMPDIR" in missing.advice
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    full = doctor.examine_temporary_folder(str(tmp_path))
    assert full.ok is False
    assert "make room" in full.advice


def test_without_sqlite_another_python_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without SQLite raises ImportError, like None in sys.modules."""
    sqlite3 = pytest.importorskip("sqlite3")
    assert doctor.examine_sqlite() == ("sqlite", True, sqlite3.sqlite_version, "")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    finding = doctor.examine_sqlite()
    assert finding.ok is False
    assert finding.advice


def test_root_is_advised_to_prefer_the_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is information, not a fault: bots outside the jail have the user's rights."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert doctor.examine_user().ok is None
    assert "jail" in doctor.examine_user().advice
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert doctor.examine_user().ok is None
    assert doctor.examine_user().advice == ""


def test_lines_fit_a_terminal_and_lose_no_word() -> None:
    """Long texts are wrapped, and a word longer than a line is broken."""
    detail = " ".join(f"word-{number}" for number in range(40))
    finding = Finding("a rather long name for a thing", False, detail, "x" * 200)
    shown = list(format_findings([finding]))
    assert max(map(len, shown)) <= 80
    text = " ".join(line.strip() for line in shown)
    assert detail in text
    assert text.count("x") == 200


def test_a_long_error_of_bubblewrap_fits_a_terminal(program: Program) -> None:
    """It is wrapped like every other text."""
    program("bwrap", f"echo {'complaint ' * 30} {'/long' * 40} >&2", "exit 1")
    shown = list(format_findings(examine()))
    assert max(map(len, shown)) <= 80
    assert "".join(shown).count("complaint") == 30


def test_this_machines_lines_fit_a_terminal() -> None:
    """Every line has a mark or continues one that has, whatever is installed."""
    shown = list(format_findings(examine()))
    assert max(map(len, shown)) <= 80
    assert all(line.isprintable() and line.strip() for line in shown)
    assert all(line.startswith(("ok ", "bad ", "- ", " ")) for line in shown)


@pytest.mark.parametrize("length", range(40, 60))
def test_a_line_does_not_end_inside_a_word(length: int) -> None:
    """Advice can be copied: `apt-get` is not broken at its hyphen."""
    shown = list(format_findings([Finding("what", None, f"{'x' * length} apt-get")]))
    assert any(line.endswith(" apt-get") for line in shown)


@needs_jail
def test_a_bot_is_told_what_it_could_read(tmp_path: Path) -> None:
    """Its own file is among it, and neither its folder nor the working folder."""
    script = tmp_path / "bin" / "mine.sh"
    for path in (script, tmp_path / "bin" / "other"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    found = doctor.examine_bot(f"cmd:sh {script}")
    shown = {finding.detail for finding in found if finding.what == "can be read"}
    assert {str(script), shutil.which("sh")} <= shown
    assert not [path for path in shown if Path(path) in script.parents]


@pytest.mark.parametrize(
    ("name", "script", "advice"),
    [
        (
            "python3",
            "printf '/x/bin/python3\\t/x\\n'",
            "write cmd:/x/bin/python3 bot.py",
        ),
        ("python3", "exit 0", "write the path of the program that "),
        ("python3", "printf 'a\\tb\\n' >&2; exit 1", "write the path of the program that "),
        ("node", "printf 'a\\tb\\n'", "write the path of the program that "),
    ],
)
def test_where_python_is_a_script_its_own_place_is_advised(
    program: Program, name: str, script: str, advice: str
) -> None:
    """If it says where that is; otherwise, and of another program, only that a path is needed."""
    entry = resolve(f"cmd:{program(name, script)} bot.py", lane="process")
    assert advise(entry, "/x/bin/real").startswith(advice)
