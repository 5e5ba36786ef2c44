"""Programs that the arena starts import the arena that runs, also where another is installed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import ROOT
from tests.tiers import few

STARTS = {
    "bot": """
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from engine import STANDARD
entry = resolve("greedy", lane="process")
with bot_process(entry, STANDARD, Limits(), Path("own")) as process:
    process.start()
""",
    "trial": """
import arena.check.trial as trial
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from engine import STANDARD
entry = resolve("greedy", lane="process")
with bot_process(entry, STANDARD, Limits(), Path("own"), program=trial.__file__) as process:
    process.start()
""",
    "inspector": """
from arena.check.item import Order
from arena.check.supervisor import run_check
items = run_check(Order("greedy", "process"))
assert next(items).status == "ok"
items.close()
""",
    "worker": """
import os, socket
from arena.executors import worker_process
from arena.lanes.limits import Limits
from arena.tournament.tournament import Tournament
from engine import STANDARD
ours, theirs = socket.socketpair()
memory, head = os.memfd_create("progress"), os.memfd_create("head")
os.ftruncate(memory, 4096)
os.write(head, worker_process.write_head(Tournament("own", 0, 1, [], STANDARD, Limits())))
Path("own").mkdir()
program = worker_process.start(theirs.fileno(), memory, head, Path("own").absolute())
theirs.close()
ours.close()
assert program.process.wait() == 0, program.last_words()
""",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python where another arena is installed, and the libraries of this one."""
    home = tmp_path_factory.mktemp("other")
    executable = Path(sys.executable)
    (home / "pyvenv.cfg").write_text(f"home = {executable.resolve().parent}\n")
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to(executable.resolve())
    packages = home / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    for name in ("arena", "engine"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text("raise ImportError('the other arena')\n")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


@pytest.mark.parametrize("name", few(STARTS))
def test_a_program_finds_the_arena_that_runs(tmp_path: Path, python: Path, name: str) -> None:
    """The one that is installed raises as it is imported."""
    begin = "from pathlib import Path; from arena.entries.resolve import resolve"
    path = f"import subprocess, sys; sys.path.insert(0, {str(ROOT)!r})"
    code = f"{path}\n{begin}\n{STARTS[name]}"
    done = subprocess.run(
        [python, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
