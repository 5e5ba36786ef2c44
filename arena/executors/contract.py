"""Base: what every executor can do. The crew of this machine is the first one."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from arena.executors.log import RunLog
from arena.tournament.chunk import Played
from arena.tournament.plan import Plan
from arena.tournament.tournament import Tournament


class Executor(Protocol):
    """Plays the chunks of a plan somewhere; `str` says where, as in "2 workers".

    Chunks go in as data and come back as data; a bot travels as an Entry, with its source and
    sha256. Nothing is shared in memory.
    """

    def play(
        self, plan: Plan, tournament: Tournament, log: RunLog
    ) -> Generator[Played, None, None]:
        """Play every chunk of the plan, and yield each as soon as it is finished.

        The caller lets the plan learn from each chunk before it asks for the next one. Every
        game comes back once, with the same bytes from every executor; a chunk whose machine
        or process dies is played again. However it ends, no process and no file is left; the
        caller closes it, because an exception may keep it for long. Raises WorkerDied if
        workers die and no bot is to blame.
        """
        ...
