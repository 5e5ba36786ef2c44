"""Cluster: a Dask scheduler and workers as processes of this machine, which can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tests.waiting import until


class Cluster:
    """A scheduler on a port that the system chooses, and the workers that are started.

    All of them and what they start have `folder` in their environment, also for temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self._file = folder / "scheduler.json"
        self.workers: list[subprocess.Popen[bytes]] = []
        words = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard"]
        self.scheduler = self._start("scheduler", *words)
        until(lambda: self._file.exists() and self._file.read_text().endswith("}"))
        self.address: str = json.loads(self._file.read_text())["address"]

    def _start(self, what: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {
            "DASK_TEMPORARY_DIRECTORY": str(self.folder),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words = (f"distributed.cli.dask_{what}", *words, "--scheduler-file", str(self._file))
        with (self.folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                env=os.environ | environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def add(self, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker."""
        words = ["--nthreads", str(threads), "--nworkers", "1", "--no-dashboard", "--no-nanny"]
        worker = self._start("worker", *words, "--host", "127.0.0.1")
        self.workers.append(worker)
        return worker

    def remove(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill a worker, and what is left of its session, as when its machine dies."""
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers[:]:
            self.remove(worker)
        self.scheduler.kill()
        self.scheduler.wait()
