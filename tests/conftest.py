"""A fixture for every test: the command `arena` in a folder of its own."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestItem, DoctestModule
from hypothesis import settings

from arena.cli import main
from tests.waiting import PATIENCE

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job
    signal.signal(signal.SIGINT, signal.default_int_handler)  # child processes would inherit it
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup
    signal.signal(signal.SIGHUP, lambda *_: None)

settings.register_profile("patient", settings.default, deadline=None)  # as with all tests
settings.register_profile("quick", settings.get_profile("patient"), max_examples=20)

Done = subprocess.CompletedProcess[str]
Arena = Callable[..., Done]
Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, nor later among them: they stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()  # what a test leaves is still collected
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Let the hooks below hold in every folder, and not only in this one."""
    settings.load_profile("quick" if "not slow" in config.option.markexpr else "patient")
    config.pluginmanager.register(_Examples())


SLOW_EXAMPLES = (
    *("addons.learn.probe_bot", "addons.studies.tuning.Tuning"),
    *("library.running.c", "library.results", "library.rating.RunReport"),
    *("runs.judge_games", "addons.rl.decisions", "addons.rl.spiel_bots"),
)
"""Beginnings of the names of examples that play for about a second, all below `arena.`"""


class _Examples:
    """Looks for examples only where one is: pytest would import every file, and search it."""

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Mark examples that take long as slow."""
        name = item.name.removeprefix("arena.")
        if isinstance(item, DoctestItem) and name.startswith(SLOW_EXAMPLES):
            item.add_marker("slow")

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self, file_path: Path
    ) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        return [
            one
            for one in found
            if not isinstance(one, DoctestModule) or b">>>" in file_path.read_bytes()
        ]


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """Return a function that runs `arena` with these words in the test's folder.

    It runs in this process, which saves a second of imports. Environment variables are set
    only while it runs.
    """

    def run(*words: str, **environment: str) -> Done:
        return run_here(tmp_path, *words, **environment)

    return run


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Once:
    """Return a function that returns a folder of a name, built once for all processes.

    The first process that asks for it builds it. It is for reading: who changes it takes a copy.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(pytestconfig, "workerinput") else base

    def build_once(name: str, build: Callable[[Path], object]) -> Path:
        folder, ready = shared / name, shared / f"{name}.ready"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not ready.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a process that has failed
                folder.mkdir()
                build(folder)
                ready.touch()
        return folder

    return build_once


@pytest.fixture(scope="session")
def duel(once: Once) -> Path:
    """Return the folder of a finished run of one pair of `greedy` and `uniform`."""
    return once("duel", _play_duel) / "run"


def _play_duel(folder: Path) -> None:
    words = ("play", "greedy", "uniform", "--pairs", "1", "--seed", "7", "--out", "run", "-q")
    done = run_here(folder, *words)
    assert done.returncode == 0, done.stderr


def start_command(folder: Path, *words: str, **environment: str) -> subprocess.Popen[str]:
    """Start the real command in a folder, as the leader of a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "arena", *words],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run_command(folder: Path, *words: str, **environment: str) -> Done:
    """Run the real command in a folder."""
    with start_command(folder, *words, **environment) as process:
        out, errors = process.communicate(timeout=PATIENCE)
    return Done(words, process.returncode, out, errors)


def run_here(folder: Path, *words: str, **environment: str) -> Done:
    """Run the command in this process, and return its output and status."""
    out, errors = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
        contextlib.chdir(folder),
    ):
        patch.setattr(sys, "argv", ["arena", *words])
        for name, value in environment.items():
            patch.setenv(name, value)
        if environment:
            patch.setattr(tempfile, "tempdir", None)  # tempfile remembers TMPDIR
        try:
            main()
        except SystemExit as end:
            status = end.code
    assert isinstance(status, int)
    return Done(words, status, out.getvalue(), errors.getvalue())
