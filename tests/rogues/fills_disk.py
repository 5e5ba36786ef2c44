"""Writes up to 100 MB wherever it can, and removes them."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

PLACES = ("/", "/dev", "/dev/shm", "/etc", "/proc", "/root", "/run", "/usr", "/var", "/var/tmp")
MOST = 100 << 20
STEP = 1 << 20
ALLOWED = 64 << 20


def fill(folder):
    """Return how many bytes could be written to files in a folder."""
    written = 0
    name = ""
    with suppress(OSError):
        name = tempfile.mkdtemp(dir=folder)
        while written < MOST:
            with open(f"{name}/{written}", "wb") as file:
                written += file.write(bytes(STEP))
    with suppress(OSError):
        for path in Path(name or "/nowhere").iterdir():
            path.unlink()
        os.rmdir(name)
    return written


class FillsDisk:
    """The private folder holds a bounded size, and no other folder can be written."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Raise if more was written than is allowed."""
        if view.history[1:]:
            return view.legal[0]
        home = os.path.realpath(tempfile.gettempdir())
        written = {place: fill(place) for place in PLACES if os.path.realpath(place) != home}
        written = {place: size for place, size in written.items() if size}
        private = fill(home)
        if written or not 0 < private <= ALLOWED:
            raise RuntimeError(f"wrote {written}, and {private} in the private folder")
        return view.legal[0]


bot = FillsDisk
