"""No record is lost under forkserver, and a killed worker does not block others."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

from arena.executors import log
from tests.waiting import until

RECORDS = 2500


def write_records(queue: Any, name: str) -> None:
    log.log_to(queue)
    for number in range(RECORDS):
        log.logger.info("record %s %d", name, number)


def write_forever(queue: Any) -> None:
    log.log_to(queue)
    while True:
        log.logger.info("x" * 5000)


def test_all_5000_records_of_two_processes_arrive(tmp_path: Path) -> None:
    """Each is complete and on a line of its own, beside the parent's record."""
    path = tmp_path / "run.log"
    context = multiprocessing.get_context("forkserver")
    with log.run_log(path) as run_log:
        channels = [run_log.channel() for _ in range(2)]
        processes = [
            context.Process(target=write_records, args=(channel.queue, str(number)))
            for number, channel in enumerate(channels)
        ]
        for process in processes:
            process.start()
        log.logger.info("the parent's")
        for process, channel in zip(processes, channels, strict=True):
            process.join()
            channel.close(killed=False)
    lines = path.read_text().splitlines()
    written = sorted(line.partition("record ")[2] for line in lines if "record " in line)
    assert written == sorted(f"{name} {number}" for name in "01" for number in range(RECORDS))
    assert sum("INFO the parent's" in line for line in lines) == 1


def test_a_worker_killed_while_it_writes_blocks_no_other(tmp_path: Path) -> None:
    """Another worker's records still arrive, and closing ends."""
    path = tmp_path / "run.log"
    context = multiprocessing.get_context("forkserver")
    with log.run_log(path) as run_log:
        doomed, steady = run_log.channel(), run_log.channel()
        process = context.Process(target=write_forever, args=(doomed.queue,))
        process.start()
        until(lambda: path.exists() and path.stat().st_size > 100_000)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        other = context.Process(target=write_records, args=(steady.queue, "steady"))
        other.start()
        other.join()
        assert other.exitcode == 0
        doomed.close(killed=True)
        steady.close(killed=False)
    assert path.read_text().count("record steady") == RECORDS


def test_without_a_file_nothing_is_written() -> None:
    """A channel without a file has no queue."""
    with log.run_log(None) as run_log:
        channel = run_log.channel()
        assert channel.queue is None
        channel.close(killed=False)
