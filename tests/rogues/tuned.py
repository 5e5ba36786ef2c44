"""A stranger's bot with parameters, some of whose values fail.

`mode` "broken" cannot be made, "late" fails in its games, and "tells" prints what is no text.
"""

import sys


class Tuned:
    def __init__(self, setup, patience: float = 0.0, mode: str = "plain", weight: float = 1.0):
        if mode == "broken":
            raise ValueError("no such mode")
        if mode == "tells":
            sys.stdout.buffer.write(b"\x1b[31m\xff<script>\n")
        self.rng = setup.rng
        self.patience = patience
        self.mode = mode
        self.weight = weight

    def choose(self, view, /):
        if self.mode == "late" and len(view.history) > 9:
            raise RuntimeError("too deep")
        take = 11 in view.legal and len(view.row) >= self.patience
        return 11 if take else view.legal[0]


bot = Tuned
