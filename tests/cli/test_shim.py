"""The doctor names a command that is a script of a program which no jail shows."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from arena.cli.machine import Finding, examine_bot
from arena.entries.resolve import resolve
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Limits
from tests.conftest import run_here
from tests.runs.test_rogues import needs_jail

SHIM = """#!/usr/bin/env bash
# like {hidden}/other, which is only named in this comment
program="${{0##*/}}"
export ROOT="{hidden}"
exec "{hidden}/launcher" exec "$program" "$@"
"""
LAUNCHER = '#!/bin/sh\nshift 2\nexec "{python}" "$@"\n'
"""It starts one program, whatever name it is called by."""


@pytest.fixture
def shims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of shims that are first on the PATH, and start this Python."""
    hidden, folder = tmp_path / "hidden", tmp_path / "shims"
    for place in (hidden, folder):
        place.mkdir()
    put(hidden / "launcher", LAUNCHER.format(python=sys.executable))
    put(hidden / "other", "#!/bin/sh\n")
    for name in ("python3", "ruby"):
        put(folder / name, SHIM.format(hidden=hidden))
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my bot.py").write_text("print(40 + 2)\n")
    return folder


def put(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def test_a_shim_is_named_with_what_to_write_instead(shims: Path) -> None:
    """The program that it starts, and the interpreter that this leads to, with the same words."""
    *shown, finding = examine_bot("cmd:python3 'my bot.py' -v")
    assert all(one.ok is None for one in shown)
    launcher = shims.parent / "hidden" / "launcher"
    assert finding == Finding(
        "command",
        False,
        f"{shims}/python3 is a script that starts {launcher}, which a jail does not show",
        f"write cmd:{shlex.join([sys.executable, 'my bot.py', '-v'])}",
    )


def test_of_other_shims_the_program_is_to_be_found(shims: Path) -> None:
    """Only Python says where it is."""
    *_, finding = examine_bot("cmd:ruby bot.rb")
    assert finding.advice == "write the path of the program that ruby starts"
    assert f"{shims}/ruby is a script" in finding.detail


@pytest.mark.usefixtures("shims")
def test_another_python_needs_its_own_files(tmp_path: Path) -> None:
    """Unless they are the system's, or those of the arena's own Python."""
    put(tmp_path / "hidden" / "launcher", "#!/bin/sh\nprintf '/opt/it/bin/python3\\t/opt/it'\n")
    *_, finding = examine_bot("cmd:python3 bot.py")
    wanted = "write cmd:/opt/it/bin/python3 bot.py, in a config with needs: [/opt/it]"
    assert finding.advice == wanted


@pytest.mark.usefixtures("shims")
@pytest.mark.parametrize(
    "command", ["sh bot.sh", shlex.join([sys.executable, "my bot.py"]), "greedy"]
)
def test_what_a_jail_shows_has_no_finding(command: str) -> None:
    """A program that is no script, or a script of one that is there; and no command at all."""
    spec = command if command == "greedy" else f"cmd:{command}"
    assert all(finding.ok is None for finding in examine_bot(spec))


@pytest.mark.usefixtures("shims")
def test_the_status_of_the_command_is_1(tmp_path: Path) -> None:
    """As for whatever is missing."""
    done = run_here(tmp_path, "doctor", "cmd:python3 'my bot.py'")
    assert done.returncode == 1
    assert "bad  command" in done.stdout


@pytest.mark.slow
@needs_jail
@pytest.mark.usefixtures("shims")
def test_the_shim_fails_in_a_jail_and_the_advice_does_not(tmp_path: Path) -> None:
    """So the finding says what is true."""
    *_, finding = examine_bot("cmd:python3 'my bot.py'")
    advised = finding.advice.removeprefix("write ")
    for spec, status, printed in (("cmd:python3 'my bot.py'", 127, b""), (advised, 0, b"42\n")):
        launch = plan_launch(resolve(spec, lane="jail"), Limits(), tmp_path)
        process = launch.popen()
        out, _ = process.communicate(b"")
        assert (process.returncode, out) == (status, printed)


@pytest.mark.slow
@needs_jail
def test_a_program_of_the_system_is_to_be_named(shims: Path, tmp_path: Path) -> None:
    """A script that starts one can do so when its config names that."""
    put(shims / "lists", "#!/bin/sh\nexec /usr/bin/tac\n")
    *_, finding = examine_bot("cmd:lists")
    assert (finding.ok, finding.advice) == (False, "in a config: needs: [/usr/bin/tac]")
    for needs, printed in (([], b""), (["/usr/bin/tac"], b"2\n1\n")):
        launch = plan_launch(resolve("cmd:lists", lane="jail", needs=needs), Limits(), tmp_path)
        process = launch.popen()
        assert process.communicate(b"1\n2\n")[0] == printed
        launch.close()
