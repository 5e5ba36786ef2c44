"""Progress: a bar on the terminal, in the parent only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tqdm import tqdm

from arena.executors.log import keep_start_method

if TYPE_CHECKING:
    from typing import Never

    Bar = tqdm[Never]


def make_bar(games: int, played: int = 0, *, shown: bool = True) -> Bar:
    """Return a progress bar for so many games; without a terminal it shows nothing."""
    with keep_start_method():  # tqdm makes a lock of multiprocessing, which would fix it
        return tqdm(
            total=games,
            initial=played,
            unit=" games",
            disable=None if shown and sys.stderr else True,  # a daemon may have no stderr
            dynamic_ncols=True,
            leave=False,
        )
