"""The drill: faults planted in a copy of the repository, each of which a test must catch."""

from __future__ import annotations

from tests.drill.fault import Fault, copy_repository
from tests.drill.faults import FAULTS

__all__ = ["FAULTS", "Fault", "copy_repository"]
