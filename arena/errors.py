"""The exceptions of the arena."""

from __future__ import annotations


class ArenaError(Exception):
    """Any error that the arena raises on purpose; its message is one line for the user."""


class InputError(ArenaError):
    """Input that cannot be used; the message names the file or option, and the place in it."""


class WorkerDied(ArenaError):
    """A worker process died, and no bot can be blamed for it."""
