"""An honest bot that keeps a file in its private folder and reads it in each decision."""

import os
from pathlib import Path


class Notes:
    """Plays the first legal action, as long as its file is there."""

    def __init__(self, setup):
        self.file = Path(os.environ["HOME"]) / f"{setup.rng.random()}"
        self.file.write_text("mine")

    def choose(self, view, /):
        if self.file.read_text() != "mine":
            raise RuntimeError("somebody has written to my file")
        return view.legal[0]


bot = Notes
