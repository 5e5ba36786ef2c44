"""A plugin of pytest: collect once, and fork processes that run the tests.

    pytest -p tests.forkrun --forks 4

Each process takes a file of tests, then the next one; when no file is left, it takes half of what
another process still has to do. If a process dies, its test has failed, and a new one goes on.
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
from itertools import groupby
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
    workers = Workers(session)
    try:
        workers.run(option.forks)
    except KeyboardInterrupt:
        workers.interrupt()
        raise
    finally:
        workers.kill()
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    if workers.left and not session.shouldfail:
        session.shouldfail = f"{len(workers.left)} tests were not run"
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


class Worker:
    """A process, and its tests as numbers in `session.items`.

    `taken` are the one that runs and the one after it, and `last` is the last one that has ended.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.tests: deque[int] = deque()
        self.taken: deque[int] = deque()
        self.last: int | None = None
        self.reason = ""
        self.is_done = False
        self.is_cut = False


class Workers:
    """The processes by their connections, and the tests that have not ended."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session
        self.hook = session.config.hook
        self.left = {*range(len(session.items))}
        files = groupby(sorted(self.left), key=lambda number: session.items[number].path)
        self.files = deque(deque(numbers) for _, numbers in files)
        self.running: dict[Connection, Worker] = {}
        self.started = 0
        config: Any = session.config
        config._tmp_path_factory.getbasetemp()

    def run(self, count: int) -> None:
        """Run all tests in this number of processes."""
        for _ in range(min(count, len(self.left))):
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

    def interrupt(self) -> None:
        """Interrupt the tests, and wait until their fixtures have ended."""
        for worker in self.running.values():
            os.kill(worker.pid, signal.SIGINT)
        deadline = time.monotonic() + GRACE
        while self.running and time.monotonic() < deadline:
            for connection in wait([*self.running], LOOK):
                assert isinstance(connection, Connection)
                with suppress(OSError):
                    os.read(connection.fileno(), 1 << 16)  # nobody waits for room in the pipe
            for connection, worker in [*self.running.items()]:
                if os.waitpid(worker.pid, os.WNOHANG)[0]:
                    del self.running[connection]

    def kill(self) -> None:
        """Kill the processes that still run."""
        for worker in self.running.values():
            os.kill(worker.pid, signal.SIGKILL)
            os.waitpid(worker.pid, 0)

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
        """Take a message of a process, and answer it."""
        worker = self.running[connection]
        try:
            kind, content = connection.recv()
            if kind in ("begin", "go on"):
                choose = self._begin if kind == "begin" else self._go_on
                connection.send(choose(worker))
        except (EOFError, OSError):
            worker.is_cut = True
            return
        if kind == "report":
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

    def _begin(self, worker: Worker) -> int | None:
        """Return the first test of other ones for a process that has run its own, or None."""
        self._finish(worker)
        worker.tests = self._find_tests()
        return self._take(worker)

    def _go_on(self, worker: Worker) -> int | None:
        """Return the test after the one that a process is about to run; None after the last one.

        They are of the same file, and may share fixtures.
        """
        if len(worker.taken) == 2:
            self._finish(worker)
        return self._take(worker)

    def _take(self, worker: Worker) -> int | None:
        if self.session.shouldfail or self.session.shouldstop or not worker.tests:
            return None
        worker.taken.append(worker.tests.popleft())
        return worker.taken[-1]

    def _find_tests(self) -> deque[int]:
        """Return the tests of a file, or half of those that a process still has to run."""
        if self.files:
            return self.files.popleft()
        most = max((worker.tests for worker in self.running.values()), key=len)
        half = [most.pop() for _ in range((len(most) + 1) // 2)]
        return deque(reversed(half))

    def _finish(self, worker: Worker) -> None:
        """Note that the test of a process has ended, if there was one."""
        if worker.taken:
            worker.last = worker.taken.popleft()
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
        self._finish(worker)
        if worker.last is None:
            raise RuntimeError(reason)
        item = self.session.items[worker.last]
        self._log(pytest.TestReport(item.nodeid, item.location, {}, "failed", reason, "call"))
        worker.tests.extendleft(worker.taken)
        if worker.tests:
            self.files.appendleft(worker.tests)
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
    """Run tests as long as there are any."""

    def ask(what: str) -> pytest.Item | None:
        connection.send((what, None))
        number = connection.recv()
        return None if number is None else session.items[number]

    item = ask("begin")
    while item is not None and not session.shouldfail:
        following = ask("go on")
        # what both use stays, and what the session uses in any case
        nextitem: Any = session if following is None else following
        item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        item = following or ask("begin")
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
