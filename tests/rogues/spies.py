"""Looks for what it must not know, and raises if it finds it, or plays by it with `uses`."""

import gc
import os
import sys
from pathlib import Path


def frames():
    frame = sys._getframe()
    while frame is not None:
        yield from (value for value in frame.f_locals.values() if is_state(value))
        frame = frame.f_back


def objects():
    return (thing for thing in gc.get_objects() if is_state(thing))


def modules():
    """Yield the modules of other bots, whose classes could be changed."""
    return (name for name in sys.modules if name.startswith("bots."))


def run_folder():
    """Yield the files of a run that any visible process has open."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            name = Path(os.readlink(link)).name
        except OSError:
            continue
        if name in ("run.sqlite", "run.log"):
            yield name


def is_state(thing):
    """Return whether an object is the State of a game, with both hands and the deck."""
    return type(thing).__name__ == "State" and hasattr(type(thing), "deck")


PLACES = {
    "frames": (frames, "a State in a frame"),
    "gc": (objects, "a State in memory"),
    "opponent": (modules, "the opponent's module"),
    "run_folder": (run_folder, "the run's folder"),
}


class Spies:
    """`where` names the place where it looks."""

    def __init__(self, _setup, where: str, uses: bool = False):
        self.search, self.what = PLACES[where]
        self.uses = uses

    def choose(self, view, /):
        for found in self.search():
            if not self.uses:
                raise RuntimeError(f"found {self.what}")
            return view.legal[found.hands[view.opponent] % 997 % len(view.legal)]
        return view.legal[0]


bot = Spies
