"""A plugin of pytest: collect once, and fork processes that run the tests.

    pytest -p tests.forkrun --forks 4

Each process takes tests of one file, then of the next one: fewer at a time, the fewer are left. If
a process dies, its test has failed, and a new one goes on.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any, NoReturn

import pytest

LOOK = 1.0  # seconds between looks for processes that have died
GRACE = 60.0  # seconds that the fixtures of interrupted tests have to end


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number of processes; with 0, pytest runs the tests itself."""
    parser.addoption("--forks", type=int, default=0, help="run tests in this number of processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in processes, unless pytest is to run them itself, or none."""
    option = session.config.option
    if not option.forks or option.collectonly or option.usepdb or session.testsfailed:
        return None
    if threading.active_count() > 1:
        raise pytest.UsageError(f"--forks: threads since collection: {threading.enumerate()[1:]}")
    workers = Workers(session, option.forks)
    try:
        workers.run()
    finally:
        workers.end()
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    if workers.left and not session.shouldfail:
        session.shouldfail = f"{len(workers.left)} tests were not run"
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


class Worker:
    """A process, the tests that it was given and has not begun, and the last one that it has.

    Tests are numbers in `session.items`.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.given: deque[int] = deque()
        self.last: int | None = None
        self.reason = ""
        self.is_done = self.is_cut = False


class Workers:
    """The processes by their connections, and the tests that have not ended."""

    def __init__(self, session: pytest.Session, count: int) -> None:
        self.session, self.count, self.started = session, count, 0
        self.hook = session.config.hook
        self.left = {*range(len(session.items))}
        self.waiting = deque(sorted(self.left))
        self.running: dict[Connection, Worker] = {}
        config: Any = session.config
        config._tmp_path_factory.getbasetemp()

    def run(self) -> None:
        """Run all tests."""
        for _ in range(min(self.count, len(self.left))):
            self._start()
        while self.running:
            for connection in wait([*self.running], LOOK):
                assert isinstance(connection, Connection)
                self._listen(connection)
            for connection, worker in [*self.running.items()]:
                # a process that it has started may keep the connection of a dead one open
                pid, status = os.waitpid(worker.pid, 0 if worker.is_cut else os.WNOHANG)
                if pid:
                    while not worker.is_cut and connection.poll():
                        self._listen(connection)
                    self._bury(connection, status)

    def end(self) -> None:
        """Interrupt the processes that still run, and kill those whose fixtures do not end."""
        for connection, worker in self.running.items():
            os.kill(worker.pid, signal.SIGINT)
            connection.close()  # nobody waits for room in it
        deadline, pids = time.monotonic() + GRACE, {one.pid for one in self.running.values()}
        while pids := {pid for pid in pids if not os.waitpid(pid, os.WNOHANG)[0]}:
            if time.monotonic() > deadline:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _start(self) -> None:
        """Fork a process."""
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            for connection in (ours, *self.running):
                connection.close()
            work(self.session, theirs, f"gw{self.started}")
        self.started += 1
        theirs.close()
        self.running[ours] = Worker(pid)

    def _listen(self, connection: Connection) -> None:
        """Take a message of a process, and answer one that asks for tests."""
        worker = self.running[connection]
        try:
            kind, content = connection.recv()
            if kind == "ask":
                worker.given = self._take()
                connection.send([*worker.given])
        except (EOFError, OSError):
            worker.is_cut = True
            return
        if kind == "begin":
            worker.last = worker.given.popleft()
        elif kind == "end":
            self._finish(worker)
        elif kind == "report":
            config = self.session.config
            report = self.hook.pytest_report_from_serializable(config=config, data=content)
            self._log(report)
        elif kind == "warning":
            (text, name, *place), about = content
            shown = warnings.WarningMessage(text, type(name, (Warning,), {}), *place)
            self.hook.pytest_warning_recorded.call_historic(
                kwargs={"warning_message": shown, **about}
            )
        elif kind == "died":
            worker.reason = content
        elif kind == "done":
            worker.is_done = True

    def _log(self, report: pytest.TestReport) -> None:
        """Log a report; a failure is named at once, since who ends the run sees no summary."""
        self.hook.pytest_runtest_logreport(report=report)
        reporter = self.session.config.pluginmanager.getplugin("terminalreporter")
        if report.failed and reporter is not None:
            reporter.write_line(f"\nfailed: {report.nodeid}")

    def _take(self) -> deque[int]:
        """Return tests of one file for a process, which may share fixtures; none at the end."""
        taken: deque[int] = deque()
        items, most = self.session.items, max(1, len(self.waiting) // (2 * self.count))
        while self.waiting and len(taken) < most and not self._is_over():
            if taken and items[taken[0]].path != items[self.waiting[0]].path:
                break
            taken.append(self.waiting.popleft())
        return taken

    def _is_over(self) -> bool:
        return bool(self.session.shouldfail or self.session.shouldstop)

    def _finish(self, worker: Worker) -> None:
        """Note that the test of a process has ended."""
        assert worker.last is not None
        self.left.remove(worker.last)
        item = self.session.items[worker.last]
        self.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, connection: Connection, status: int) -> None:
        """Forget a process that has ended. If it has died, its test has failed; start another."""
        worker = self.running.pop(connection)
        connection.close()
        if worker.is_done and status == 0:
            return
        code = os.waitstatus_to_exitcode(status)
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        reason = f"{how} ended the process of this test\n{worker.reason}"
        if worker.last is None:
            raise RuntimeError(reason)
        item = self.session.items[worker.last]
        self._log(pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call"))
        if worker.last in self.left:
            self._finish(worker)
        self.waiting.extendleft(reversed(worker.given))
        self._start()


def work(session: pytest.Session, connection: Connection, name: str) -> NoReturn:
    """Run tests in a process that was forked, and end it."""
    status = 1
    try:
        prepare(session, connection, name)
        run_tests(session, connection)
        connection.send(("done", None))
        atexit._run_exitfuncs()
        status = 0
    except BaseException as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal may send it, too
        with suppress(OSError):
            if not isinstance(error, KeyboardInterrupt):
                connection.send(("died", traceback.format_exc()))
        session._setupstate.teardown_exact(None)
    finally:
        os._exit(status)


def prepare(session: pytest.Session, connection: Connection, name: str) -> None:
    """Give a process what must be its own: output that is captured, folders, and a reporter."""
    config: Any = session.config
    config.workerinput = {"workerid": name}  # as pytest-xdist has it
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    folder = config._tmp_path_factory.getbasetemp() / name
    folder.mkdir(mode=0o700)
    config._tmp_path_factory._basetemp = folder
    config.pluginmanager.unregister(name="terminalreporter")
    reporter = Reporter(config)
    config.pluginmanager.register(reporter)  # which repeats the warnings of the past
    reporter.send = connection.send


def run_tests(session: pytest.Session, connection: Connection) -> None:
    """Run tests as long as there are any; what the session uses stays."""
    connection.send(("ask", None))
    while numbers := connection.recv():
        items: list[Any] = [*map(session.items.__getitem__, numbers), session]
        for item, following in pairwise(items):
            connection.send(("begin", None))
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            connection.send(("end", None))
            if session.shouldfail or session.shouldstop:
                break
        connection.send(("ask", None))
    session._setupstate.teardown_exact(None)


class Reporter:
    """Sends reports and warnings to the process that prints them."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.send: Callable[[Any], None] = lambda _: None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report."""
        hook = self.config.hook.pytest_report_to_serializable
        self.send(("report", hook(config=self.config, report=report)))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        """Send a warning, whose class need not be known there."""
        shown = warning_message
        text = (str(shown.message), shown.category.__name__, shown.filename, shown.lineno)
        about = {"when": when, "nodeid": nodeid, "location": location}
        self.send(("warning", (text, about)))
