"""Opening: what a site is told first, and whether it lacks something that the client has."""

from __future__ import annotations

from functools import cached_property

from arena.entries.elsewhere import hash_imports
from arena.executors.sites import wire
from arena.executors.sites.versions import versions_here
from arena.lanes.faults import printable
from arena.lanes.probe import find_problems
from arena.tournament.tournament import Tournament


class Opening:
    """Opens the sites of one run."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self._imports = [hash_imports(entry) for entry in tournament.entries]
        self._heads: dict[int, bytes] = {}  # by number of workers

    def head(self, workers: int) -> bytes:
        """Return what a site of so many workers is told; 1,000 sites get the same."""
        if workers not in self._heads:
            head = wire.Head(self.tournament, versions_here(), self._imports, workers)
            self._heads[workers] = wire.write_head(head)
        return self._heads[workers]

    def find_lack(self, data: bytes) -> str:
        """Return what a site lacks by its first message, nothing if it can play.

        Raises Garbled.
        """
        hello = wire.read_hello(data)
        lacking = hello.refusals or [text for text in hello.problems if self._is_lack(text)]
        return "; ".join(printable(text) for text in lacking)

    def _is_lack(self, problem: str) -> bool:
        """Return whether a bot that does not start on a site starts here."""
        return _bot_of(problem) not in self._problems_here

    @cached_property
    def _problems_here(self) -> set[str]:
        tournament = self.tournament
        found = find_problems(tournament.entries, tournament.rules, tournament.limits)
        return {_bot_of(problem) for problem in found}


def _bot_of(problem: str) -> str:
    """Return which bot a problem is about."""
    return problem.partition(": does not start")[0]
