"""Progress: a bar on the terminal, in the parent only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from tqdm import tqdm

from arena.executors.log import keep_start_method

if TYPE_CHECKING:
    from typing import Never

    Bar = tqdm[Never]


def make_bar(games: int, played: int = 0, *, shown: bool = True) -> Bar:
    """Return a progress bar for so many games; without a terminal it shows nothing."""
    with keep_start_method():  # tqdm makes a lock of multiprocessing, which would fix it
        return _bar_type()(
            total=games,
            initial=played,
            unit=" games",
            disable=_is_hidden(shown),
            dynamic_ncols=True,
            leave=False,
        )


def _bar_type() -> type[Bar]:
    """Return tqdm, in a notebook in the form that it has there."""
    if not _in_notebook():
        return tqdm
    from tqdm.auto import tqdm as form  # 50 ms, and it looks for widgets

    return cast("type[Bar]", form)


def _is_hidden(shown: bool) -> bool | None:
    """Return whether there is no bar; None lets the terminal decide."""
    if not shown or not sys.stderr:  # a daemon may have no stderr
        return True
    return False if _in_notebook() else None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config
