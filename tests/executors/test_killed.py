"""After kill -9 of a run's parent no process is left, whatever its workers do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from arena.lanes.scratch import scratch_folder
from tests.rogues import FOLDER
from tests.runs.test_resume import left_over, runs_in
from tests.waiting import until


@pytest.mark.slow
@pytest.mark.parametrize("lane", ["process", "inproc"])
def test_a_bot_that_holds_the_interpreter_ends_with_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    """It never lets its worker's other threads run; the next run removes the folder."""
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
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        with scratch_folder() as own:
            assert runs_in(tmp_path) == [own]
    finally:
        for process in left_over(tmp_path):
            with suppress(psutil.Error):
                os.kill(process.pid, signal.SIGKILL)
