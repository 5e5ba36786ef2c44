"""Works for longer than it may, and hides it from the clock."""

import contextlib
import os
import signal
import threading
import time

SECONDS = 0.8  # of work, more than a test's limit
CHILDREN = 40


def work(seconds=SECONDS):
    """Use so much time of the processor, by a clock that nobody has replaced."""
    end = PROCESS_TIME() + seconds
    while PROCESS_TIME() < end:
        pass


PROCESS_TIME = time.process_time


class Bends:
    """`how` names where the work is done, in the second decision."""

    def __init__(self, setup, how: str):
        self.how = how
        self.setup = setup
        self.begun = False

    def choose(self, view, /):
        """Answer, after the first work; a process's first decision has the limit of a start."""
        if not self.begun and len(view.history) > 1:
            self.begun = True
            getattr(self, self.how)()
        return view.legal[0]

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
        """Let a child work, and wait for it."""
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
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(child, 0)
            else:
                work(SECONDS / CHILDREN)
                os._exit(0)

    def thread(self):
        """Work in a thread, and wait for it."""
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()


bot = Bends
