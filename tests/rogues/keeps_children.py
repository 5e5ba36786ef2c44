"""Keeps up to 150 children alive, and plays on; raises if there are more than 32."""

import os
import signal
import time

MOST = 150
ALLOWED = 32
SECONDS = 20.0


class KeepsChildren:
    """The children end when the pipe is closed that they read."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Start the children, count them and let them end."""
        if view.history[1:]:
            return view.legal[0]
        children = []
        try:
            while len(children) < MOST:
                if (child := os.fork()) == 0:
                    time.sleep(SECONDS)
                    os._exit(0)
                children.append(child)
        except OSError:
            pass
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        if len(children) > ALLOWED:
            raise RuntimeError(f"{len(children)} children lived at one time")
        return view.legal[0]


bot = KeepsChildren
