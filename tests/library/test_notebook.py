"""In a notebook a class of a cell plays, and the interrupt button keeps what was played."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import arena
from tests import ROOT
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient

CELL = """
from __future__ import annotations
import arena
from engine import Setup, View
from arena.library.written import bundle

class Base:
    def __init__(self, setup: Setup) -> None:
        self.rng = setup.rng
"""
SECOND_CELL = """
class Mine(Base):
    def choose(self, view: View):
        return self.rng.choice(view.legal)

old = Mine

class Mine(Base):
    def choose(self, view: View):
        return view.legal[0]

class Alone:
    def __init__(self, setup):
        assert Setup

    def choose(self, view):
        return view.legal[0]
"""

PLAYING = [
    "assert b'from engine import Setup' in bundle(Alone).source",
    "assert b'uses \\'Base\\' of its module' in bundle(Mine).source",
    "assert not len(arena.run([Alone, 'greedy'], pairs=1).faults)",
    "results = arena.run([Mine, ('old', old), 'greedy'], pairs=1)",
    "assert not len(results.faults), results.faults",
    "games = [results.game(label, 'greedy') for label in ('Mine', 'old')]",
    "assert games[0].record.actions != games[1].record.actions",
]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, BlockingKernelClient]]:
    """A kernel and its client; the working folder is the test's."""
    from jupyter_client.manager import start_new_kernel

    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    manager, client = start_new_kernel(
        startup_timeout=PATIENCE, kernel_name="python3", cwd=str(tmp_path), env=environment
    )
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def count(folder: Path) -> int:
    """Return how many games a run has played, which may be just about to begin."""
    try:
        return arena.open(folder).played
    except arena.InputError:
        return 0


def run_cell(client: BlockingKernelClient, text: str) -> dict[str, Any]:
    """Run a cell, and return the kernel's reply."""
    reply: dict[str, Any] = client.execute_interactive(
        text, timeout=PATIENCE, output_hook=lambda _: None
    )
    return reply["content"]  # type: ignore[no-any-return]


@pytest.mark.slow
def test_classes_of_cells_play(kernel: tuple[Any, BlockingKernelClient]) -> None:
    """Also the one that a later class of the same name has replaced."""
    _, client = kernel
    for cell in (CELL, SECOND_CELL):
        assert run_cell(client, cell)["status"] == "ok"
    for cell in PLAYING:
        content = run_cell(client, cell)
        assert content["status"] == "ok", content


@pytest.mark.slow
def test_the_interrupt_button_keeps_what_was_played(
    kernel: tuple[Any, BlockingKernelClient], tmp_path: Path
) -> None:
    """The kernel goes on, the exception has the results, and so has the folder."""
    manager, client = kernel
    assert run_cell(client, CELL)["status"] == "ok"
    long = "arena.run(['uniform', 'greedy'], pairs=100_000, out='long')"
    client.execute(long, stop_on_error=False)  # else what comes next may be aborted, too

    folder = tmp_path / "long"
    until(lambda: count(folder) or client.shell_channel.msg_ready())
    assert count(folder), client.get_shell_msg(timeout=PATIENCE)
    manager.interrupt_kernel()
    reply = client.get_shell_msg(timeout=PATIENCE)
    while reply["content"].get("status") != "error":
        reply = client.get_shell_msg(timeout=PATIENCE)
    assert reply["content"]["ename"] == "Interrupted"
    check = "import sys; assert sys.last_value.results.played == arena.open('long').played > 0"
    content = run_cell(client, check)
    assert content["status"] == "ok", content
