"""Run programs to get their versions, scan a bot's script, and print the findings.

A missing, broken or hanging program is a finding, too.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from arena.entries.entry import Entry
from arena.entries.spec import COMMAND
from arena.errors import escape
from arena.lanes.bubblewrap import placed
from arena.lanes.jail import programs, shown
from arena.lanes.libraries import OF_SYSTEM

PATIENCE = 10.0  # seconds


_WIDTH = 80
_WHAT_WIDTH = 16
_SIGNS = {True: "ok", False: "bad", None: "-"}


class Finding(NamedTuple):
    """One thing that was examined; `ok` is None if it is only information."""

    what: str
    ok: bool | None
    detail: str
    advice: str = ""


def write_line(finding: Finding) -> str:
    """Return a finding in one line, without its advice."""
    return f"{_SIGNS[finding.ok]:<4} {finding.what:<{_WHAT_WIDTH}} {finding.detail}"


def format_findings(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield the findings for a terminal of 80 columns, each with its advice below.

    >>> findings = [Finding("node", None, "not found"), Finding("sea", False, "dry", "wait")]
    >>> for line in format_findings(findings):
    ...     print(line)
    -    node             not found
    bad  sea              dry
                          -> wait
    """
    indent = " " * (_WHAT_WIDTH + 6)
    for finding in findings:
        yield from _wrap(write_line(finding), indent)
        if finding.advice:
            yield from _wrap(f"{indent}-> {finding.advice}", indent + "   ")


def _wrap(text: str, indent: str) -> list[str]:
    """Break a text between words, escaped."""
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


class Reply(NamedTuple):
    """The first line that a program printed, or what went wrong if `fault` is set."""

    line: str
    fault: Literal["", "failed", "hung", "broken"] = ""


def ask(words: Sequence[str], patience: float = PATIENCE) -> Reply:
    """Run a program and return its first line of output, or its last error message if it failed.

    It runs in the root folder, where no project's settings change its output. After `patience`
    seconds it is killed together with its children.
    """
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=os.sep,
            errors="replace",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Reply(f"cannot be run: {error}", "broken")
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        return Reply(f"no answer within {patience:g} s", "hung")
    finally:
        _end(process)
    return _reply(process.returncode, _lines(out), _lines(err))


def _reply(status: int, out: list[str], err: list[str]) -> Reply:
    if status:
        printed = err or out
        return Reply(f"exit status {status}" + (f": {printed[-1]}" if printed else ""), "failed")
    return Reply((out or err or ["prints nothing"])[0])


def _lines(text: str) -> list[str]:
    """Return the non-empty lines, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _end(process: subprocess.Popen[str]) -> None:
    """Kill a program that has not ended, and do not wait long for it."""
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


_MOST_BYTES = 1 << 16  # of a script that is scanned
_PATH = re.compile(r"(?<![\w.$}])/[^\s\"'`;|&<>()$]+")
_PYTHON = re.compile(r"python[\d.]*")
_WHERE = "import sys; print(sys.executable, sys.base_prefix, sep='\\t')"


def find_hidden(entry: Entry) -> tuple[str, str] | None:
    """Return a bot's command and a program that it starts but cannot see in the jail, or None.

    The command is a script that names this program, also after #!; comments are ignored.
    """
    if not entry.command:
        return None
    script = Path(entry.command[0])
    words = [*entry.command]
    there = programs(entry, words)
    visible = {*map(placed, there), *(path.resolve() for path in there), *shown(entry, words).paths}
    for path in _programs_of(script):
        for place in (placed(path), path.resolve()):  # the target of a link must be visible, too
            if not any(one in (place, *place.parents) for one in visible):
                return str(script), str(path)
    return None


def _programs_of(script: Path) -> Iterator[Path]:
    """Yield the programs that a script names by absolute paths."""
    try:
        with script.open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
    except OSError:  # executable but not readable
        return
    if not text.startswith("#!"):
        return
    first, *lines = text[2:].splitlines()
    for line in (first, *(line for line in lines if not line.lstrip().startswith("#"))):
        for path in map(Path, _PATH.findall(line)):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                yield path


def advise(entry: Entry, program: str, patience: float = PATIENCE) -> str:
    """Return advice for a command that cannot see a program; runs it to find the path of Python."""
    if any(map(Path(program).is_relative_to, OF_SYSTEM)):
        return f"in a config: needs: [{program}]"
    name, *words = shlex.split(entry.target.removeprefix(COMMAND))
    reply = ask([entry.command[0], "-I", "-c", _WHERE], patience)
    python, _, prefix = reply.line.partition("\t")
    if not _PYTHON.fullmatch(Path(name).name) or reply.fault or not prefix:
        return f"write the path of the program that {name} starts"
    advice = f"write {COMMAND}{shlex.join([python, *words])}"
    is_ours = Path(python).resolve() == Path(sys.executable).resolve()
    if is_ours or prefix.startswith("/usr"):
        return advice
    return f"{advice}, in a config with needs: [{prefix}]"
