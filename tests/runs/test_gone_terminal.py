"""A run ends when its terminal goes away, and at Ctrl-C, at any moment; under nohup it goes on."""

from __future__ import annotations

import io
import sys
import threading
import time
from pathlib import Path
from random import Random

import pytest

from arena.runs import progress_bar
from arena.runs.progress_bar import show_progress
from tests.console import Console
from tests.kills import count_games
from tests.tiers import few
from tests.waiting import until

ENDLESS = "100000"  # pairs
COMMANDS = [
    ["play", "greedy", "uniform", "--pairs", ENDLESS],
    ["compare", "greedy", "uniform", "--max-pairs", ENDLESS, "--elo0", "0", "--elo1", "0.1"],
]
HANG_UP = 129, -1  # -1 before a run has begun: a shell says 129 then, too
CTRL_C = 130, -2


def start(folder: Path, moment: int, *, controlling: bool) -> tuple[Console, int]:
    """Start a run, and return it with the games that it has stored at a random moment."""
    words = COMMANDS[moment % len(COMMANDS)]
    console = Console(folder, *words, "--out", "out", "--workers", "1", controlling=controlling)
    until(lambda: (folder / "out").exists() or console.process.poll() is not None)
    time.sleep(Random(moment).uniform(0, 4))
    return console, count_games(folder / "out")


@pytest.mark.slow
@pytest.mark.parametrize("moment", few(range(20), 2, 4))
def test_a_run_ends_when_its_terminal_goes_away(tmp_path: Path, moment: int) -> None:
    """As after SIGHUP, whether the kernel sends one or not; its games are kept."""
    console, games = start(tmp_path, moment, controlling=bool(moment // 2 % 2))
    try:
        console.close()
        until(lambda: console.process.poll() is not None)
    finally:
        console.kill()
    assert console.process.returncode in HANG_UP
    assert count_games(tmp_path / "out") >= games


@pytest.mark.parametrize("moment", few([1, 0, *range(2, 20)], 0, 5))
def test_a_run_ends_at_ctrl_c(tmp_path: Path, moment: int) -> None:
    """Without a traceback, and it says what is kept."""
    console, games = start(tmp_path, moment, controlling=True)
    try:
        console.type("\x03")
        status, shown = console.end()
    finally:
        console.kill()
    assert status in CTRL_C
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert count_games(tmp_path / "out") >= games


@pytest.mark.slow
def test_under_nohup_a_run_goes_on_without_its_terminal(tmp_path: Path) -> None:
    """It writes all its files."""
    words = ["play", "greedy", "uniform", "--pairs", "100", "--out", "out", "-v"]
    console = Console(tmp_path, *words, hears_hang_up=False)
    try:
        until((tmp_path / "out").exists)
        console.close()
        until(lambda: console.process.poll() is not None)
    finally:
        console.kill()
    assert console.process.returncode == 0
    assert count_games(tmp_path / "out") == 200
    assert (tmp_path / "out" / "standings.csv").exists()


class Gone(io.StringIO):
    """A terminal whose end holds up who writes, until it fails."""

    def __init__(self, lasts: threading.Event) -> None:
        super().__init__()
        self.lasts = lasts
        self.was_written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, _text: str) -> int:
        self.was_written.set()
        self.lasts.wait()
        raise OSError(5, "Input/output error")


def test_drawing_that_fails_or_never_returns_holds_up_no_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What plays waits for no drawing, and at the end only for a while."""
    monkeypatch.setattr(progress_bar, "DRAW_EVERY", 0.01)
    monkeypatch.setattr(progress_bar, "_PATIENCE", 0.01)
    for fails_at_once in (True, False):
        lasts = threading.Event()
        terminal = Gone(lasts)
        if fails_at_once:
            lasts.set()
        monkeypatch.setattr(sys, "stderr", terminal)
        with show_progress(10, 0, lambda: ["rank"]) as progress:
            until(terminal.was_written.is_set)
            progress.add(10)
        lasts.set()
