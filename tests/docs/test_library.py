"""The page of the library is true: its examples, and the arguments that it lists."""

from __future__ import annotations

import inspect
import re

import arena
from tests import ROOT

PAGE = (ROOT / "docs" / "library.md").read_text()


def test_every_argument_of_run_is_explained() -> None:
    """And no other one."""
    table = PAGE.split("## `arena.run`")[1].split("\n\nKeywords")[0]
    explained = [
        name for row in table.splitlines()[4:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(explained) == sorted(inspect.signature(arena.run).parameters)


def test_every_table_and_every_call_is_named() -> None:
    """The public names of `Results` and of the arena are on the page."""
    names = [name for name in vars(arena.Results) if not name.startswith("_")]
    for name in [*names, *arena.__all__]:
        assert re.search(rf"\b{name}\b", PAGE) or name in (
            "ArenaError",
            "NoSites",
            "WorkerDied",
            "name",
        ), name
