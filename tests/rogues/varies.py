"""Fails in its first decision; what it says of it is new each time, unless the arena helps.

Without `what`, each game has its own way, by the game's generator.
"""

import logging
import os
import signal
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
    """Recurses in each of its special methods."""

    def __getattr__(self, name):
        return getattr(self, name + "x")

    def __repr__(self):
        return f"<{self!r}>"

    def __eq__(self, other):
        return other == self

    __hash__ = None

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


def words():
    repr(Lazy())


def equal():
    _ = Lazy() == Lazy()


def keys():
    Lazy().key(0)


def wrapped():
    try:
        Lazy().even(0)
    except RecursionError:
        raise ValueError("too deep") from None


def chained():
    try:
        attribute()
    except RecursionError as error:
        raise ValueError("too deep") from error


def speak():
    """Print in every way."""
    print("printed", Addr())
    print("to the first output", file=sys.__stdout__)
    os.write(1, b"written to 1\n")
    os.write(2, b"written to 2\n")
    subprocess.run(["echo", "by a child"], check=False)


def raising():
    speak()
    raise ValueError("spoke")


def exiting():
    speak()
    os._exit(3)


def killed():
    speak()
    os.kill(os.getpid(), signal.SIGKILL)


RAISING = (address, folder, source, long, warning, thread, texts, raising)
RECURSING = (mutual, attribute, words, equal, keys, wrapped, chained)
DYING = (exiting, killed)


class Varies:
    """`what` is the way, or one of the groups of ways below."""

    def __init__(self, setup, what: str = ""):
        ways = {way.__name__: (way,) for way in (*RAISING, *RECURSING, *DYING)}
        ways |= {"": RAISING + RECURSING, "dies": DYING, "all": RAISING + RECURSING + DYING}
        self.way = setup.rng.choice(ways[what])
        self.last = Last()

    def choose(self, _view, /):
        print("asked")
        self.way()


bot = Varies
