"""A check ends for what the bot did, and never for what the machine refuses or how busy it is."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from arena.check import supervisor, traces
from arena.check.item import Order
from arena.check.supervisor import SLOWER, CutShort, NoVerdict, _check_time, _items, run_check
from arena.errors import Exhausted
from tests import ROOT, rogues
from tests.runs.test_rogues import needs_jail

FIRST = "    def choose(self, view, /): return view.legal[0]"


@pytest.mark.parametrize(
    ("used", "clock", "why"),
    [
        (1.0, 9.0, None),
        (0.0, 9.0 * SLOWER, None),  # on a busy machine
        (11.0, 11.0, r"cut short at 'imports': the bot used 10 s of processor time$"),
        (2.0, 10.0 * SLOWER + 1, "the bot had worked for 2 s: it sleeps or waits$"),
    ],
)
def test_the_time_of_a_check_is_what_the_bot_works(
    monkeypatch: pytest.MonkeyPatch, used: float, clock: float, why: str | None
) -> None:
    """The inspector's own work does not count; who sleeps is found by the clock, much later."""
    own = 100.0
    monkeypatch.setattr(supervisor, "read_clock", lambda _: own)
    meter = Mock(works=True)
    meter.look.return_value = own + used
    if why is None:
        _check_time(meter, 10.0, clock, "imports")
        return
    with pytest.raises(CutShort, match=why):
        _check_time(meter, 10.0, clock, "imports")


def ended(status: int, lines: list[bytes], lane: Any = "jail") -> BaseException:
    """Return what is raised for an inspector that has written some lines and ended."""
    process = Mock(pid=os.getpid())
    process.wait.return_value = status
    inspector: Any = SimpleNamespace(process=process, last_words=lambda: "its last words")
    order = Order("greedy", lane)
    with pytest.raises((Exhausted, NoVerdict)) as raised:
        list(_items(inspector, iter(lines), order, lambda _: None, 1e9))
    return raised.value


def test_an_inspector_that_the_machine_ends_is_no_verdict_on_the_bot() -> None:
    """It says so, or was killed where no bot could reach it, or has not even begun."""
    beat = b'{"beat":"imports"}'
    refused = ended(1, [beat, b'{"refused":"no process: Resource temporarily unavailable"}'])
    assert type(refused) is Exhausted
    assert str(refused) == "no process: Resource temporarily unavailable"
    assert type(ended(-9, [beat])) is Exhausted
    assert type(ended(1, [])) is Exhausted
    assert type(ended(1, [beat])) is NoVerdict
    assert type(ended(1, [beat], "process")) is NoVerdict


def test_an_inspector_reports_what_the_machine_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own folders and processes too, wherever in the check; then it has no verdict."""
    program = supervisor.Program
    lack = f"OSError({errno.ENOSPC}, 'No space left on device')"
    fault = f"inspector.resolve = __import__('unittest.mock').mock.Mock(side_effect={lack}); "

    def faulty(statement: str, **options: Any) -> Any:
        return program(statement.replace("inspector.main", f"{fault}inspector.main"), **options)

    monkeypatch.setattr(supervisor, "Program", faulty)
    path = rogues.write(tmp_path, "first", FIRST)
    with pytest.raises(Exhausted, match="No space left on device"):
        list(run_check(Order(str(path), "process")))


def test_a_check_that_cannot_be_started_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is left for it."""

    def refuse(*_: object, **__: object) -> Iterator[None]:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(supervisor, "Program", refuse)
    with pytest.raises(Exhausted, match=os.strerror(errno.EAGAIN)):
        list(run_check(Order("greedy", "process")))


def test_what_the_arena_puts_into_a_jail_is_not_left_by_the_bot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Python that is installed below /tmp has links in the bot's private folder."""
    monkeypatch.setattr(traces, "_private_folder", lambda _: tmp_path)
    (tmp_path / "x" / "bin").mkdir(parents=True)
    for name in ("python", "python9"):
        (tmp_path / "x" / "bin" / name).symlink_to("/usr/bin/python3")
    words = ["bwrap", "--symlink", "/usr/bin/python3", "/tmp/x/bin/python", "--", "python"]
    bot: Any = SimpleNamespace(launch=SimpleNamespace(words=words, environment={"HOME": "/tmp"}))
    assert traces._files(bot) == ["x/bin/python9"]


@needs_jail
@pytest.mark.slow
def test_an_arena_installed_below_tmp_accepts_an_honest_bot() -> None:
    """With its own Python there, which each jail shows at its place."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        folder = Path(place)
        folder.chmod(0o755)
        venv = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        (packages,) = (venv / "lib").glob("*/site-packages")
        places = [str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))]
        (packages / "arena.pth").write_text("\n".join(places))
        bot = rogues.write(folder, "first", FIRST)
        words = [venv / "bin" / "python", "-m", "arena", "check", bot, "--lane", "jail"]
        done = subprocess.run(
            [*words, "--games", "4"], capture_output=True, text=True, check=False, cwd=folder
        )
    assert done.stdout.endswith("\naccepted\n"), done.stdout + done.stderr
    assert "no process, no file, no output" in done.stdout
