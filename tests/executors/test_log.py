"""No record of a worker process is lost, and one that was killed does not block others."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.executors import log
from arena.lanes.output import write_all
from tests import rogues
from tests.conftest import run_command
from tests.runs.test_rogues import LONG, played, rows
from tests.waiting import until

RECORDS = 2500


def forked(work: Callable[[int, str], None], channel: log.Channel, name: str) -> int:
    """Return a new process that writes into a channel."""
    assert channel.pipe is not None
    pid = os.fork()
    if pid == 0:
        try:
            for handler in log.logger.handlers[:]:
                log.logger.removeHandler(handler)
            log.log_to(channel.pipe, f"worker-{name}")
            work(channel.pipe, name)
        finally:
            os._exit(0)
    return pid


def write_records(_pipe: int, name: str) -> None:
    for number in range(RECORDS):
        log.logger.info("record %s %d", name, number)


def write_forever(_pipe: int, _name: str) -> None:
    while True:
        log.logger.info("x" * 5000)


def test_all_5000_records_of_two_processes_arrive(tmp_path: Path) -> None:
    """Each is complete and on a line of its own, beside the parent's record."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        channels = [run_log.channel() for _ in range(2)]
        processes = [
            forked(write_records, channel, str(number)) for number, channel in enumerate(channels)
        ]
        log.logger.info("the parent's")
        for process, channel in zip(processes, channels, strict=True):
            os.waitpid(process, 0)
            channel.close(killed=False)
    lines = path.read_text().splitlines()
    written = sorted(line.partition("record ")[2] for line in lines if "record " in line)
    assert written == sorted(f"{name} {number}" for name in "01" for number in range(RECORDS))
    assert sum("MainProcess INFO the parent's" in line for line in lines) == 1
    assert sum(" worker-1 INFO record 1 " in line for line in lines) == RECORDS


def test_a_worker_killed_while_it_writes_blocks_no_other(tmp_path: Path) -> None:
    """Another worker's records still arrive, and closing ends."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        doomed, steady = run_log.channel(), run_log.channel()
        process = forked(write_forever, doomed, "doomed")
        until(lambda: path.exists() and path.stat().st_size > 100_000)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        assert os.waitpid(forked(write_records, steady, "steady"), 0)[1] == 0
        doomed.close(killed=True)
        steady.close(killed=False)
    assert path.read_text().count("record steady") == RECORDS


def test_without_a_file_nothing_is_written() -> None:
    """A channel without a file has no pipe."""
    with log.run_log(None) as run_log:
        channel = run_log.channel()
        assert channel.pipe is None
        channel.close(killed=False)


class Evil:
    """Shows where it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[int, bytes]]:
        return (os.write, (2, b"unpickled\n"))


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff" * 99,
        (99).to_bytes(4) + pickle.dumps(Evil()),
        b"[" * 10**5,
        b'{"process": "x", "level": "high", "text": "y"}',
        b"x" * (3 << 20),
    ],
    ids=["garbage", "pickle", "deep", "wrong type", "long"],
)
def test_what_is_no_record_is_one_warning_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], damage: bytes
) -> None:
    """The records after it arrive, and nothing is shown, unpickled or kept without end."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        channel = run_log.channel()
        assert channel.pipe is not None
        for _ in range(2):
            write_all(channel.pipe, damage + b"\n")
        sender = log.Sender(channel.pipe, "worker-1")
        record = logging.LogRecord("arena", logging.INFO, "", 0, "a\x1b\nb", None, None)
        sender.emit(record)
        channel.close(killed=False)
    first, last = path.read_text().splitlines()
    assert "WARNING what a worker writes to its log is damaged" in first
    assert last.endswith("worker-1 INFO a? b")
    assert capfd.readouterr() == ("", "")


def test_a_long_record_arrives_whole(tmp_path: Path) -> None:
    """It is read in several pieces, which are put together; so is the one after it."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        channel = run_log.channel()
        assert channel.pipe is not None
        for text in ("x" * 900_000, "y" * 200_000):
            record = logging.LogRecord("arena", logging.INFO, "", 0, text, None, None)
            log.Sender(channel.pipe, "worker-1").emit(record)
        channel.close(killed=False)
    lines = [line.rpartition(" ")[2] for line in path.read_text().splitlines()]
    assert [(line[0], len(line)) for line in lines] == [("x", 900_000), ("y", 200_000)]


@pytest.mark.slow
def test_a_bot_that_breaks_the_log_of_its_run_is_not_shown(tmp_path: Path) -> None:
    """It writes into all pipes; its games are the same."""
    ways = ("garbage", "pickle")
    bot = str(rogues.FOLDER / "breaks_log.py")
    bots: list[object] = [
        {"bot": bot, "label": way, "lane": "inproc", "params": {"how": way}} for way in ways
    ]
    config = {"name": "breaks", "seed": 7, "pairs": 2, "bots": ["uniform", *bots]}
    (tmp_path / "breaks.yaml").write_text(json.dumps(config))
    done = run_command(tmp_path, "run", "breaks.yaml", "--quiet", "--workers", "2", "--out", "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    honest = [resolve("uniform"), *(rogues.first(way, "inproc") for way in ways)]
    expected = rows(played(tmp_path / "honest", honest, LONG, pairs=2) / "games.csv")
    assert rows(tmp_path / "out" / "games.csv") == expected
    assert "is damaged" in (tmp_path / "out" / "run.log").read_text()
