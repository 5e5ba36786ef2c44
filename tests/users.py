"""Run a program as root and as an ordinary user, whoever runs the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.waiting import PATIENCE

IS_ROOT = os.geteuid() == 0
USERS = ("root", "ordinary") if IS_ROOT else ("ordinary",)
"""The users as which programs can be run here."""

_ORDINARY = 61_347  # nobody's number
_CHANGE = "import os, sys; os.setgroups([]); os.setgid({0}); os.setuid({0}); "
_EXECUTE = "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"


def run_python(user: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these words as a user, in a folder that becomes the user's home.

    Where only root can reach the interpreter, the ordinary user sees it all the same.
    """
    before: list[str] = []
    if IS_ROOT and user == "ordinary":
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _ORDINARY, _ORDINARY)
        before = [*_reachable(folder), sys.executable, "-c", _CHANGE.format(_ORDINARY) + _EXECUTE]
    return subprocess.run(
        [*(before or [sys.executable]), *words],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(folder),
            "TMPDIR": str(folder),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


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
