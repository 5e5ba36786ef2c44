"""Answers late or never in its second decision, or ends or stops its process or its parent."""

import os
import signal
import time
from contextlib import suppress


class Dies:
    """`how` names what it does; the first decision has the limit of a start."""

    def __init__(self, setup, how: str):
        self.how = how
        self.limit = setup.clock.decision or 1.0

    def choose(self, view, /):
        """Return the first legal action, in its second decision too late or never."""
        if len(view.history) > 1:
            getattr(self, self.how, self.signal)()
        return view.legal[0]

    def late(self):
        """Work a little longer than the limit."""
        end = time.process_time() + self.limit + 0.1
        while time.process_time() < end:
            pass

    def loops(self):
        """Loop forever."""
        while True:
            pass

    def sleeps(self):
        """Sleep for days."""
        time.sleep(10**6)

    def naps(self):
        """Sleep for a second."""
        time.sleep(1)

    def swallows(self):
        """Loop forever, also after exceptions."""
        while True:
            with suppress(BaseException):
                self.loops()

    def os_exit(self):
        """End the process."""
        os._exit(0)

    def with_parent(self):
        """Kill the parent, unless it is root's, around a jail."""
        with suppress(PermissionError):
            os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()

    def with_group(self):
        """Kill the group of the process."""
        os.killpg(0, signal.SIGKILL)

    def signal(self):
        """Send itself the signal of this name."""
        os.kill(os.getpid(), getattr(signal, self.how.upper()))


bot = Dies
