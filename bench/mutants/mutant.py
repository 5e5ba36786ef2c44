"""Mutant: one small change of one module, by the operator that makes it and its place."""

from __future__ import annotations

from collections import Counter, defaultdict
from hashlib import sha256
from typing import NamedTuple

TOPS = ("engine", "bots", "arena")
"""The folders whose modules are changed."""

_OF_EACH_ROOM = 4


class Mutant(NamedTuple):
    """The change that an operator of cosmic-ray makes at one of its places in a module."""

    module: str
    operator: str
    occurrence: int
    line: int
    column: int

    @property
    def place(self) -> str:
        """The place in the source, at which several operators may change something."""
        return f"{self.module}:{self.line}:{self.column}"

    @property
    def room(self) -> str:
        """The folder of the room: engine, bots, arena, or a room or an add-on of arena.

        The module of the folder of add-ons is arena's own.

        >>> Mutant("arena/entries/template/bot.py", "AddNot", 0, 1, 0).room
        'arena/entries'
        >>> Mutant("arena/addons/cluster/call.py", "AddNot", 0, 1, 0).room
        'arena/addons/cluster'
        """
        top, *parts = self.module.split("/")[:-1]
        depth = 0 if top != "arena" or parts == ["addons"] else 2 if "addons" in parts else 1
        return "/".join([top, *parts[:depth]])


def shuffle_places(population: list[Mutant], seed: int) -> list[tuple[str, list[Mutant]]]:
    """Return the mutants of each place with the place's address, in an order drawn at random.

    Four of each room come first, a room after the other, then those of any room. The seed and the
    place itself decide, so an edit of one module changes nothing in the order of the other rooms.
    """
    places: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in population:
        places[sha256(f"{seed} {mutant.place}".encode()).hexdigest()].append(mutant)
    of_room = Counter[str]()
    turns = {}
    for address in sorted(places):
        of_room[room := places[address][0].room] += 1
        turns[address] = min(of_room[room], _OF_EACH_ROOM + 1)
    return [(address, places[address]) for address in sorted(turns, key=lambda one: turns[one])]
