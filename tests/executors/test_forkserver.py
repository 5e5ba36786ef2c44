"""After kill -9 of a run's parent nothing is left, whatever its workers do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.executors.forking import _open_process
from tests.rogues import FOLDER
from tests.runs.test_resume import left_over, runs_in
from tests.tiers import few
from tests.waiting import until


@pytest.mark.parametrize("lane", few(["process", "inproc"]))
def test_a_bot_that_holds_the_interpreter_ends_with_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    """It never lets its worker's other threads run; the run's folder is removed as well."""
    for name in ("TMPDIR", "PYTEST_CUP"):
        monkeypatch.setenv(name, str(tmp_path))
    mark = tmp_path / "mark"
    bot = {
        "bot": str(FOLDER / "holds.py"),
        "label": "holds",
        "params": {"mark": str(mark)},
        "lane": lane,
    }
    config = {"pairs": 1, "bots": ["uniform", bot], "limits": {"decision": 600}}
    (tmp_path / "cup.yaml").write_text(json.dumps(config))
    run = subprocess.Popen(
        [sys.executable, "-m", "arena", "run", "cup.yaml", "--quiet", "--workers", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: mark.exists() or run.poll() is not None)
        assert run.poll() is None
        run.kill()
        run.wait()
        until(lambda: left_over(tmp_path) == [])
        until(lambda: runs_in(tmp_path) == [])
    finally:
        for process in left_over(tmp_path):
            with suppress(psutil.Error):
                os.kill(process.pid, signal.SIGKILL)


def test_a_process_that_has_ended_has_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor has any where the system gives none: the server then looks for itself."""
    descriptor = _open_process(os.getpid())
    assert descriptor is not None
    os.close(descriptor)
    with subprocess.Popen(["true"]) as process:
        pass
    assert _open_process(process.pid) is None
    monkeypatch.delattr(os, "pidfd_open")
    assert _open_process(os.getpid()) is None
