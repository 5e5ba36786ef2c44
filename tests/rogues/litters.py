"""Leaves files behind, and plays on."""

import os
import tempfile
from pathlib import Path


class Litters:
    """Writes them at every decision."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Write into the current and the temporary folder; return the first legal action."""
        for folder in (Path(), Path(tempfile.gettempdir())):
            litter = folder / "litter"
            litter.mkdir(exist_ok=True)
            (litter / "wrapper.txt").write_text("x" * 1000)
            (litter / "link").unlink(missing_ok=True)
            (litter / "link").symlink_to("/")
        descriptor, _ = tempfile.mkstemp()
        os.close(descriptor)
        return view.legal[0]


bot = Litters
