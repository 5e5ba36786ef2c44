"""Tells its process for the other game of a pair what it holds, as long as both processes live.

A hand is the name of a socket, which everybody can read and which goes with its process. It stands
for all that two processes can notice of each other at the same moment. A jail has its own sockets.
"""

import hashlib
import os
import socket

from engine.cards import cards_of
from engine.state import played

RUN = os.path.dirname(os.path.dirname(os.environ["HOME"]))
MOST = 200  # sockets: a process has 256 descriptors
held = []


def name(deal, seat):
    """Return how the name begins of a socket for the hand of a seat."""
    return hashlib.sha256(repr((RUN, deal, seat)).encode()).hexdigest()[:32]


def tell(begin, hand):
    """Let everybody know a hand, as long as this process lives."""
    if len(held) < MOST:
        held.append(socket.socket(socket.AF_UNIX))
        try:
            held[-1].bind(f"\0{begin}{hand.hex()}")
        except OSError:  # told already
            held.pop().close()


class Tells:
    """Plays the first legal action, or the last one if it knows its opponent's hand."""

    def __init__(self, _setup):
        pass

    def choose(self, view, /):
        """Return the action."""
        number = view.round - 1
        if number == 0:
            return view.legal[0]
        rounds = [played(view.history, 0, seat, view.rules) for seat in (0, 1)]
        deal = (view.opening, *(bytes(sorted(cards)) for cards in rounds), number)
        mine = played(view.history, number, view.seat, view.rules) + cards_of(view.hand)
        tell(name(deal, view.seat), bytes(sorted(mine)))
        with open("/proc/net/unix") as sockets:
            knows = name(deal, view.opponent) in sockets.read()
        return view.legal[-1] if knows else view.legal[0]


bot = Tells
