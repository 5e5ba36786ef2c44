"""The drill: faults planted in a copy of the repository, each of which a test must catch."""

from __future__ import annotations

from tests.drill.arena import ARENA
from tests.drill.bots import BOTS
from tests.drill.engine import ENGINE
from tests.drill.fault import Fault, copy_repository
from tests.drill.table import TABLE

__all__ = ["FAULTS", "Fault", "copy_repository"]

FAULTS = ENGINE + ARENA + BOTS + TABLE
