"""Ends or stops its process, or its parent, in its second decision."""

import os
import signal
from contextlib import suppress


class Dies:
    """`how` names the way."""

    def __init__(self, _setup, how: str):
        self.how = how

    def choose(self, view, /):
        """End or stop the process; the first decision has the limit of a start."""
        if len(view.history) < 2:
            return view.legal[0]
        if self.how == "os_exit":
            os._exit(0)
        if self.how == "with_parent":
            with suppress(PermissionError):  # root's, around a jail
                os.kill(os.getppid(), signal.SIGKILL)
            signal.pause()
        if self.how == "with_group":
            os.killpg(0, signal.SIGKILL)
        os.kill(os.getpid(), getattr(signal, self.how.upper()))
        return view.legal[0]


bot = Dies
