"""Every error on docs/troubleshooting.md is what its command prints."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from arena.lanes.jail_support import find_bubblewrap
from tests import ROOT, markdown
from tests.conftest import Done
from tests.tiers import few

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
ENTRIES = {
    entry.partition("\n")[0]: entry for entry in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]
}
INIT = "    def __init__(self, setup): pass\n"
CHOOSE = "    def choose(self, view): return view.legal[0]\n"
FILES = {
    "mine.py": f"class Bot:\n{INIT}{CHOOSE}bot = Bot\n",
    "bare.py": f"class Bot:\n{CHOOSE}bot = Bot\n",
    "unbound.py": f"class Bot:\n{INIT}{CHOOSE}",
    "lacks.py": "import torchh\n",
    "illegal.py": f"class Bot:\n{INIT}    def choose(self, view): return 99\nbot = Bot\n",
    "slow.py": f"class Bot:\n{INIT}    def choose(self, view):\n"
    "        return view.legal[0] if len(view.history) < 2 else any(iter(int, 1))\nbot = Bot\n",
    "misspelt.yaml": "name: cup\npair: 3\nbots: [uniform, greedy]\n",
}
PLAYED = [name for name, entry in ENTRIES.items() if "--pairs" in entry]
OTHERS = [name for name in ENTRIES if name not in PLAYED]


def hide_bubblewrap(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Leave no bwrap on the PATH, and forget the one that was found before."""
    patch.setenv("PATH", str(folder))
    find_bubblewrap.cache_clear()


def hide_commands(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Leave nothing on the PATH but a shell of the kind that most people have."""
    (folder / "sh").symlink_to(str(shutil.which("bash")))
    patch.setenv("PATH", str(folder))


def make_old_python(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Put a python3.10 on the PATH which is as old as it says, beside a copy of the Makefile."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    python = folder / "python3.10"
    python.write_text(
        "#!/bin/sh\n[ $1 = -c ] || exit 9\n"
        f'exec {shlex.quote(sys.executable)} -c "import sys; sys.version_info = (3, 10, 13); $2"\n'
    )
    python.chmod(0o755)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def take_port(_: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the port of the table be in use, whatever else this machine does."""
    in_use = OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    patch.setattr(socket.socket, "bind", Mock(side_effect=in_use))


CONDITIONS: dict[str, Callable[[Path, pytest.MonkeyPatch], None]] = {
    "The command is not found": hide_commands,
    "Python is too old": make_old_python,
    "There is no jail": hide_bubblewrap,
    "The port is in use": take_port,
}
"""What is arranged before the commands of an entry."""

IN_A_SHELL = ("The command is not found", "Python is too old")


def run(command: str, folder: Path, name: str) -> Done:
    """Run a command of an entry."""
    if name not in IN_A_SHELL:
        return markdown.run(command, folder)
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )


def plain(text: str) -> str:
    """Return a text without what differs between two users, or two times that a command is run."""
    for pattern, same in {
        r"\b[0-9a-f]{12}\.\.\.": "SHA256...",
        r"Operation not permitted": "Permission denied",
        r"ply \d": "ply N",  # both games of a pair are played at once
        r"legal: .*": "legal: ...",
    }.items():
        text = re.sub(pattern, same, text)
    return text


@pytest.mark.parametrize("name", [*OTHERS, *few(PLAYED, quick=2)])
def test_the_line_is_what_the_command_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last command of an entry prints its line; an error ends with its status."""
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    with monkeypatch.context() as patch:
        CONDITIONS.get(name, lambda *_: None)(tmp_path, patch)
        *before, last = markdown.blocks(ENTRIES[name], "console")[0].splitlines()
        for command in before:
            assert run(command, tmp_path, name).returncode == 0, command
        done = run(last, tmp_path, name)
    find_bubblewrap.cache_clear()
    (said,) = markdown.blocks(ENTRIES[name], "text")
    printed = plain(done.stdout + done.stderr)
    assert any(line.endswith(plain(said.strip())) for line in printed.splitlines()), printed
    if said.startswith("error: ") and name not in IN_A_SHELL:
        assert (done.returncode, done.stdout) == (1 if "memory" in said else 2, "")
        assert len(done.stderr.splitlines()) == 1


def test_there_are_more_than_fifteen_and_each_says_what_to_do() -> None:
    """Below its line; the conditions and files belong to entries of the page."""
    assert len(ENTRIES) > 15
    assert CONDITIONS.keys() <= ENTRIES.keys()
    for name, entry in ENTRIES.items():
        assert len(markdown.blocks(entry, "text")) == 1, name
        advice = entry.rpartition("```\n")[2].partition("\n## ")[0].strip()
        assert len(advice) > 25, name
        assert advice.endswith("."), name
    for file in FILES:
        assert re.search(rf"\b{file.removesuffix('.py')}\b", PAGE), file
