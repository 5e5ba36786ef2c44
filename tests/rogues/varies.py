"""Fails in its first decision; what it says of it is new each time, unless the arena helps.

Each game has its own way, by the game's generator.
"""

import logging
import os
import socket
import subprocess
import sys
import tempfile
import threading
import warnings


class Addr:
    """Its repr has its address."""


class Last:
    """Prints when its game is over."""

    def __del__(self):
        print("the last of a game")


class Lazy:
    """Recurses in its attributes and methods."""

    def __getattr__(self, name):
        return getattr(self, name + "x")

    def key(self, number):
        return sorted([number, number + 1], key=self.key)

    def even(self, number):
        return self.odd(number + 1)

    def odd(self, number):
        return self.even(number + 1)


def address():
    raise ValueError(f"lost {Addr()!r} and {Addr.__repr__}")


def folder():
    print(os.environ.get("ARENA_BOT_FOLDER", "").partition("/bot-")[0], tempfile.mkdtemp())
    os.stat(os.path.abspath("notes.txt"))


def source():
    """Raise in a module that was written into the folder."""
    path = os.path.join(tempfile.gettempdir(), "made.py")
    exec(compile("def made():\n    raise ValueError('made')\nmade()", path, "exec"), {})


def long():
    for number in range(200):
        print(f"{number:3} {Addr()} {os.getcwd()}")
    raise ValueError(f"{os.getcwd()} " * 8 + f"{Addr()} " * 20)


def warning():
    warnings.warn("played like this for years", stacklevel=2)
    warnings.warn("ignored", DeprecationWarning, stacklevel=2)
    logging.warning("logged")
    raise ValueError("warned")


def thread():
    helper = threading.Thread(target=address)
    helper.start()
    helper.join()
    with socket.socket() as opened:
        raise ValueError(f"{helper} {opened}")


def texts():
    """Raise with a set of texts, whose order depends on the process."""
    raise ValueError({"brine", "vell", "ferrant", "harbour", "old town"})


def mutual():
    Lazy().even(0)


def attribute():
    _ = Lazy().sleep


def keys():
    Lazy().key(0)


def wrapped():
    try:
        Lazy().even(0)
    except RecursionError:
        raise ValueError("too deep") from None


def raising():
    """Print in every way, and raise."""
    print("printed", Addr())
    print("to the first output", file=sys.__stdout__)
    os.write(1, b"written to 1\n")
    os.write(2, b"written to 2\n")
    subprocess.run(["echo", "by a child"], check=False)
    raise ValueError("spoke")


WAYS = (address, folder, source, long, warning, thread, texts, raising)
WAYS += (mutual, attribute, keys, wrapped)


class Varies:
    """Goes one of these ways."""

    def __init__(self, setup):
        self.way = setup.rng.choice(WAYS)
        self.last = Last()

    def choose(self, _view, /):
        print("asked")
        self.way()


bot = Varies
