"""Run a program as root and as an ordinary user, whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests import ROOT
from tests.tiers import few
from tests.waiting import PATIENCE

IS_ROOT = os.geteuid() == 0
USERS = ("root", "ordinary") if IS_ROOT else ("ordinary",)
"""The users as which programs can be run here."""

FIRST_AND_SLOW = few(USERS)
"""The same as parameters of a test that takes long: `make test` has one of them."""

_NUMBERS = {"ordinary": 61_347, "stranger": 61_346}  # nobody's
_CHANGE = "import os, sys; os.setgroups([]); os.setgid({0}); os.setuid({0}); "
_EXECUTE = "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


def run_python(user: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these words as a user, in a folder that becomes the user's home.

    Where only root can reach the interpreter, the ordinary user sees it all the same.
    """
    with start_python(user, folder, *words) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess(words, process.returncode, out, errors)


def start_python(user: str, folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    """Start Python as `run_python` runs it; where the tests are not root's, as this user."""
    before: list[str] = []
    if IS_ROOT and user != "root":
        number = _NUMBERS[user]
        for path in (folder, *folder.rglob("*")):
            os.chown(path, number, number, follow_symlinks=False)
        before = [*_reachable(folder), sys.executable, "-c", _CHANGE.format(number) + _EXECUTE]
    return subprocess.Popen(
        [*(before or [sys.executable]), *words],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(folder),
            "TMPDIR": str(folder),
        }
        | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """Interrupt a Python that was started here; bubblewrap may be above it."""
    below = psutil.Process(process.pid).children() if Path(process.args[0]).stem == "bwrap" else []
    (below[0] if below else process).send_signal(signal.SIGINT)


def _reachable(folder: Path) -> list[str]:
    """Return a command around another one, in which everybody can reach what it needs."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), ROOT, folder]
    closed = {
        parent
        for path in needed
        for parent in path.resolve().parents
        if not parent.stat().st_mode & 0o001
    }
    if not closed:
        return []
    words = [shutil.which("bwrap") or "bwrap", "--dev-bind", "/", "/"]
    for parent in sorted(closed):
        if not closed & {*parent.parents}:
            words += ["--perms", "0755", "--tmpfs", str(parent)]
    for path in needed:
        if closed & {*path.resolve().parents}:
            for parent in reversed(path.resolve().parents):
                if closed & {parent, *parent.parents}:
                    words += ["--dir", str(parent)]
            words += ["--bind", str(path.resolve()), str(path.resolve())]
    return [*words, "--"]
