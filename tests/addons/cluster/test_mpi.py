"""A run by the ranks of MPI is the same run; a rank that dies ends it, and it goes on."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.cli.starting import find_venue
from arena.tournament.config_keys import Venue
from tests import rogues
from tests.conftest import Arena, run_command
from tests.kit import count_games, same_files
from tests.waiting import PATIENCE, until

LACKS = next(
    (
        f"{what} is not installed"
        for what, place in (
            ("mpirun", shutil.which("mpirun")),
            ("mpi4py", importlib.util.find_spec("mpi4py")),
        )
        if not place
    ),
    "",
)
needs_mpi = pytest.mark.skipif(bool(LACKS) and "CI" not in os.environ, reason=LACKS)
ROOT_MAY = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RANKS = 3
FUTURES = ["-m", "mpi4py.futures", "-m", "arena"]
HONEST = ["uniform", "greedy", {"bot": "apart=greedy", "lane": "process"}]
BOOM = {"bot": f"boom={rogues.FOLDER}/answers.py(what='boom')", "lane": "process"}
CUPS = {
    "cup": {"pairs": 6, "seed": 3, "bots": [*HONEST, BOOM]},
    "long": {"pairs": 80, "seed": 3, "bots": HONEST},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with a cup; when it ends, no process of it is left, and no file but its own.

    Open MPI has a socket in its temporary folder, whose name must be short.
    """
    temporary = Path(tempfile.mkdtemp(prefix="mpi-"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTEST_MPI", str(tmp_path))
    for name, value in ROOT_MAY.items():
        monkeypatch.setenv(name, value)
    for cup, config in CUPS.items():
        (tmp_path / f"{cup}.yaml").write_text(json.dumps(config))
    yield tmp_path
    until(lambda: not processes_of(tmp_path))
    until(lambda: [path.name for path in temporary.iterdir() if "ompi" not in path.name] == [])
    shutil.rmtree(temporary, ignore_errors=True)


def processes_of(folder: Path) -> list[psutil.Process]:
    """Return the processes that were started in a test's folder and still run."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            here = process.environ().get("PYTEST_MPI") == str(folder)
            if here and process.pid != os.getpid() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start `arena` with these words on so many ranks."""
    return subprocess.Popen(
        ["mpirun", "--oversubscribe", "-n", str(RANKS), sys.executable, *FUTURES, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(run: subprocess.Popen[str]) -> tuple[str, str]:
    out, errors = run.communicate(timeout=PATIENCE)
    return out, errors


@pytest.mark.slow
@needs_mpi
def test_a_run_by_ranks_has_the_bytes_of_a_local_run(folder: Path) -> None:
    """All files are equal, also the faults, and only rank 0 says something."""
    alone = run_command(folder, "run", "cup.yaml", "--workers", "1", "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    run = start(folder, "run", "cup.yaml", "--executor", "mpi", "--out", "ranks")
    out, errors = finish(run)
    assert run.returncode == 0, errors
    _, *table, spent = alone.stdout.replace("alone", "ranks").splitlines()
    assert out.splitlines()[1:] == table
    assert spent.startswith("CPU time: ")  # of ranks elsewhere it is not known
    said, alone_said = (
        [line for line in text.splitlines() if " games, " not in line]  # progress, by the clock
        for text in (errors, alone.stderr)
    )
    assert len(said) < 2 * len(alone_said)
    assert same_files(folder / "ranks") == same_files(folder / "alone")
    assert "exception" in (folder / "ranks" / "faults.csv").read_text()
    log = (folder / "ranks" / "run.log").read_text()
    assert f"{RANKS - 1} ranks of MPI" in log


@pytest.mark.study
@needs_mpi
def test_a_killed_rank_ends_the_job_and_the_same_command_goes_on(folder: Path) -> None:
    """The games so far are kept; the bytes are those of a run that was not killed."""
    words = ("run", "long.yaml", "--executor", "mpi")
    run = start(folder, *words)
    cup = folder / "results" / "long"
    until(lambda: run.poll() is not None or count_games(cup) > 0)
    ranks = psutil.Process(run.pid).children()
    assert len(ranks) == RANKS
    ranks[-1].send_signal(signal.SIGKILL)
    finish(run)
    assert run.returncode != 0
    until(lambda: not processes_of(folder))
    kept = count_games(cup)
    assert 0 < kept < 3 * 80 * 2
    again = start(folder, *words)
    out, errors = finish(again)
    assert again.returncode == 0, errors
    assert f"{kept:,}" in out.splitlines()[0]
    alone = run_command(folder, *words[:2], "--out", "alone")
    assert alone.returncode == 0, alone.stderr
    assert same_files(cup) == same_files(folder / "alone")


@pytest.mark.parametrize("mpi", ["OMPI_COMM_WORLD", "PMI"])
def test_a_rank_that_would_play_alone_is_refused(
    folder: Path, mpi: str, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the ranks would play the whole run into one folder; a single one plays."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv(f"{mpi}_SIZE", "3")
    monkeypatch.setenv(f"{mpi}_RANK", "1")
    done = arena("run", "cup.yaml")
    assert (done.returncode, done.stderr) == (
        2,
        "error: this is rank 1 of 3: --executor mpi is missing\n",
    )
    assert not (folder / "results").exists()
    monkeypatch.setenv(f"{mpi}_SIZE", "1")
    assert find_venue(dict.fromkeys(Venue.__struct_fields__)).kind == "local"
