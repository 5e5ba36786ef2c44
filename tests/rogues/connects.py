"""Connects to a port of this machine, and plays on if it cannot."""

import socket


class Connects:
    """Sends the cards of its hand to a listener."""

    def __init__(self, _setup, port: int = 9):
        self.port = port

    def choose(self, view, /):
        """Raise if the connection succeeds, else return the first legal action."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.2) as listener:
                listener.sendall(repr(view.hand).encode())
        except OSError:
            return view.legal[0]
        raise RuntimeError("told the listener")


bot = Connects
