"""No record of a worker process is lost, and one that was killed does not block others."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from multiprocessing_logging import MultiProcessingHandler

from arena.executors import log
from arena.executors.crew_messages import Frames, read_answer, write_answer
from arena.tournament.timing import SPENT
from tests.waiting import until

RECORDS = 2500


class Talking:
    """A process whose log is read as a worker's is; `bury` returns when it is read to its end."""

    def __init__(self, run_log: log.RunLog, name: str, work: Callable[[str], None]) -> None:
        self.socket, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for handler in log.logger.handlers[:]:
                    log.logger.removeHandler(handler)
                log.log_to(f"worker-{name}", lambda line: theirs.sendall(write_answer(line)))
                work(name)
            finally:
                os._exit(0)
        theirs.close()
        self.log, self.name, self.frames = run_log, f"worker-{name}", Frames()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self) -> None:
        while data := self.socket.recv(1 << 16):
            self.frames.add(data)
            for text in self.frames.take():
                line = read_answer(text, [])
                assert isinstance(line, log.Line)
                self.log.write(self.name, line)

    def bury(self) -> int:
        status = os.waitpid(self.pid, 0)[1]
        self.reader.join()
        self.socket.close()
        return status


def write_records(name: str) -> None:
    for number in range(RECORDS):
        log.logger.info("record %s %d", name, number)


def write_forever(_name: str) -> None:
    while True:
        log.logger.info("x" * 5000)


def write_long(_name: str) -> None:
    for text in ("x" * 900_000, "y" * 200_000):
        log.logger.info(text)


@pytest.mark.slow
def test_a_worker_killed_while_it_writes_blocks_no_other(tmp_path: Path) -> None:
    """All 5,000 records of two others arrive, each on a line of its own beside the parent's."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        doomed = Talking(run_log, "doomed", write_forever)
        until(lambda: path.exists() and path.stat().st_size > 100_000)
        os.kill(doomed.pid, signal.SIGKILL)
        assert doomed.bury() == signal.SIGKILL
        processes = [Talking(run_log, name, write_records) for name in "01"]
        log.logger.info("the parent's")
        assert [process.bury() for process in processes] == [0, 0]
    lines = path.read_text().splitlines()
    written = sorted(line.partition("record ")[2] for line in lines if "record " in line)
    assert written == sorted(f"{name} {number}" for name in "01" for number in range(RECORDS))
    assert sum("MainProcess INFO the parent's" in line for line in lines) == 1
    assert sum(" worker-1 INFO record 1 " in line for line in lines) == RECORDS


def test_without_a_file_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    """Nor shown."""
    with log.run_log(None) as run_log:
        assert run_log.handlers == []
        run_log.write("worker-1", log.Line("worker-1", logging.WARNING, "something"))
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_while_a_log_begins_leaves_nothing_to_join(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither an exit of the program nor the next run finds a handler of it."""
    before, known = list(log.logger.handlers), writers()  # of earlier tests in this process
    monkeypatch.setattr(log, "Thread", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught, log.run_log(tmp_path / "log.txt"):
        pass
    assert log.logger.handlers == before
    assert not [writer for writer in writers() if writer not in known]
    assert caught  # an interrupt that is still shown holds what it has stopped


def writers() -> list[logging.Handler]:
    """Return the handlers for records of workers that an exit of the program would join."""
    handlers = [handler() for handler in logging._handlerList]
    return [handler for handler in handlers if isinstance(handler, MultiProcessingHandler)]


def interrupted(**_words: object) -> threading.Thread:
    """Return a thread that Ctrl-C stops just before it starts."""
    thread = threading.Thread()

    def start() -> None:
        raise KeyboardInterrupt

    vars(thread)["start"] = start
    return thread


def test_the_time_of_the_processor_is_read_from_the_log(tmp_path: Path) -> None:
    """The last one of the program that stored the games: a worker may log anything."""
    path = tmp_path / "run.log"
    assert log.read_spending(path) == ""
    line = f"{SPENT}workers 1.0 s, parent 3.0 s, files 4.0 s"
    with log.run_log(path) as opened:
        log.logger.info("run cup: 4 games")
        log.logger.info("%s", line.replace("1.0", "9.0"))
        log.logger.info("%s", line)
        said = log.Line("worker-1", logging.INFO, f"{SPENT}none\n{SPENT}none")
        opened.write("worker-1", said)
    assert log.read_spending(path) == line
    with path.open("ab") as file:
        file.write(b"\xff" * 70_000)
    assert log.read_spending(path) == ""  # it is too far from the end


def test_a_line_cannot_end_early_or_control_a_terminal(tmp_path: Path) -> None:
    """Whatever a bot has logged; the process is the one that has said it."""
    with log.run_log(tmp_path / "run.log") as run_log:
        run_log.write("worker-1", log.Line("MainProcess", logging.INFO, "a\x1b\nb"))
    (line,) = (tmp_path / "run.log").read_text().splitlines()
    assert line.endswith("worker-1 INFO a\\x1b\\nb")


def test_a_long_record_arrives_whole(tmp_path: Path) -> None:
    """It is read in several pieces, which are put together; so is the one after it."""
    path = tmp_path / "run.log"
    with log.run_log(path) as run_log:
        assert Talking(run_log, "long", write_long).bury() == 0
    lines = [line.rpartition(" ")[2] for line in path.read_text().splitlines()]
    assert [(line[0], len(line)) for line in lines] == [("x", 900_000), ("y", 200_000)]
