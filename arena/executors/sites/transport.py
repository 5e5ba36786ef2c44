"""Transport: how functions are called on hosts, which are the processes that have sites."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from arena.errors import counted


class Joined(NamedTuple):
    """A host is there now, with so many cores."""

    host: str
    cores: int


class Left(NamedTuple):
    """A host has gone; its calls are not answered any more."""

    host: str
    reason: str


class Done(NamedTuple):
    """A call has returned."""

    call: int
    value: Any


class Failed(NamedTuple):
    """A call has raised, or its host was lost."""

    call: int
    reason: str


class Gone(NamedTuple):
    """No host can be reached any more, and none will join."""

    reason: str


Event: TypeAlias = Joined | Left | Done | Failed | Gone


class Transport(Protocol):
    """Calls functions on hosts; `str` names it in messages.

    Events may come from any thread, and before `call` has returned the number of theirs.
    """

    def start(self, tell: Callable[[Event], None]) -> None:
        """Tell from now on which hosts there are, and what calls come to."""

    def call(self, number: int, host: str, function: Callable[..., Any], *args: Any) -> None:
        """Call a function on a host; Done or Failed with this number follows."""

    def took(self, number: int) -> None:
        """Take note that the value of a call has been used: others may be fetched."""

    def close(self) -> None:
        """Tell nothing more; nothing of it is left."""


class Here:
    """Calls functions in threads of this process, which has all the hosts, by name and cores."""

    def __init__(self, hosts: Mapping[str, int]) -> None:
        self.hosts = hosts

    def __str__(self) -> str:
        return f"{counted(len(self.hosts), 'site')} here"

    def start(self, tell: Callable[[Event], None]) -> None:
        """Tell of all hosts."""
        self._tell = tell
        for host, cores in self.hosts.items():
            tell(Joined(host, cores))

    def call(self, number: int, _host: str, function: Callable[..., Any], *args: Any) -> None:
        """Call a function in a new thread."""

        def answer() -> None:
            try:
                event: Event = Done(number, function(*args))
            except Exception as error:
                event = Failed(number, str(error) or repr(error))
            self._tell(event)

        threading.Thread(target=answer, daemon=True).start()

    def took(self, number: int) -> None:
        """Do nothing: there is no queue between."""

    def close(self) -> None:
        """Tell nothing more."""
        self._tell = lambda _event: None
