"""Works, answers late or never in its second decision, or ends its process or its parent."""

import os
import signal
import threading
import time
from contextlib import suppress

SECONDS = 0.8  # of work, more than a test's limit
CHILDREN = 40
PROCESS_TIME = time.process_time
ONCE = ("clock", "child", "grandchild", "ignored_children", "thread")
"""What works for longer than it may, once in a game, and hides it from the clock."""


def work(seconds=SECONDS):
    """Use so much time of the processor, by a clock that nobody has replaced."""
    end = PROCESS_TIME() + seconds
    while PROCESS_TIME() < end:
        pass


class Dies:
    """`how` names what it does; the first decision has the limit of a start."""

    def __init__(self, setup, how: str):
        self.how = how
        self.limit = setup.clock.decision or 1.0
        self.begun = False

    def choose(self, view, /):
        if len(view.history) > 1 and not (self.begun and self.how in ONCE):
            self.begun = True
            getattr(self, self.how, self.signal)()
        return view.legal[0]

    def late(self):
        work(self.limit + 0.1)

    def loops(self):
        while True:
            pass

    def sleeps(self):
        time.sleep(10**6)

    def naps(self):
        time.sleep(1)

    def swallows(self):
        while True:
            with suppress(BaseException):
                self.loops()

    def os_exit(self):
        os._exit(0)

    def with_parent(self):
        """Kill the parent, unless it is root's, around a jail."""
        with suppress(PermissionError):
            os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()

    def with_group(self):
        os.killpg(0, signal.SIGKILL)

    def signal(self):
        os.kill(os.getpid(), getattr(signal, self.how.upper()))

    def clock(self):
        """Work, after every clock of the process was replaced."""
        from engine import strategy

        nothing = strategy.Spent(0.0, 0.0)
        strategy.Clock.stop = lambda *_: (nothing, True)
        strategy.Clock.spend = lambda *_: True
        strategy.perf_counter = strategy.process_time = lambda: 0.0
        time.perf_counter = time.process_time = time.monotonic = lambda: 0.0
        work()

    def child(self):
        if child := os.fork():
            os.waitpid(child, 0)
        else:
            work()
            os._exit(0)

    def grandchild(self):
        """Let a process work whose parent has ended, and wait for its end."""
        read, write = os.pipe()
        if child := os.fork():
            os.close(write)
            os.waitpid(child, 0)
            os.read(read, 1)
        elif os.fork():
            os._exit(0)
        else:
            os.setsid()
            work()
            os._exit(0)

    def ignored_children(self):
        """Let children work that are too short-lived to be seen, and whose time is not kept."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(CHILDREN):
            if child := os.fork():
                with suppress(ChildProcessError):
                    os.waitpid(child, 0)
            else:
                work(SECONDS / CHILDREN)
                os._exit(0)

    def thread(self):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


bot = Dies
