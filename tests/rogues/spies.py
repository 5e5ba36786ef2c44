"""Looks for what it must not know, and says loudly what it has found."""

import gc
import os
import sys
from pathlib import Path


def frames():
    """The states among the variables of its callers."""
    frame = sys._getframe()
    while frame is not None:
        yield from (name for name, value in frame.f_locals.items() if is_state(value))
        frame = frame.f_back


def objects():
    """The states among everything that there is."""
    return (type(thing).__name__ for thing in gc.get_objects() if is_state(thing))


def modules():
    """The modules of other bots, in which their classes can be changed."""
    return (name for name in sys.modules if name.startswith("bots."))


def run_folder():
    """The files of a run that any process it can see has open."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            name = Path(os.readlink(link)).name
        except OSError:
            continue
        if name in ("run.sqlite", "run.log"):
            yield name


def is_state(thing):
    """Whether it is the whole truth of a game: both hands and the deck."""
    return type(thing).__name__ == "State" and hasattr(type(thing), "deck")


class Spies:
    """`where` says where it looks."""

    def __init__(self, _setup, where: str):
        self.where = where

    def choose(self, view, /):
        """Raise if there is anything, else return the first legal action."""
        places = {
            "frames": (frames, "a State in a frame"),
            "gc": (objects, "a State in memory"),
            "modules": (modules, "the opponent's module"),
            "run_folder": (run_folder, "the run's folder"),
        }
        found, what = places[self.where]
        if any(found()):
            raise RuntimeError(f"found {what}")
        return view.legal[0]


bot = Spies
