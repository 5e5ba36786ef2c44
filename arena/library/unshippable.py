"""Unshippable: why a class or function cannot be sent to a worker."""

from __future__ import annotations


class Unshippable(Exception):
    """Raised for what cannot be sent; the message is the reason."""


def closure(names: object) -> Unshippable:
    """Return the refusal of what uses variables of the function around it."""
    return Unshippable(
        f"it uses {names} of the function around it, and a closure has no source of its own; "
        f"make it a parameter"
    )
