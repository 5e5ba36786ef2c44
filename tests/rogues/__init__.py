"""The gallery of rogues: bots that break the rules of the arena.

Every file in this folder is one bot, which can be played by itself. Some have variants,
chosen by a parameter. A rogue that could harm the machine stops by itself.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

from arena.entries.entry import Entry
from arena.entries.resolve import resolve

FOLDER = Path(__file__).parent
LANES = ("inproc", "process", "jail")

ILLEGAL = {
    f"answers_{what}": f"answers.py(what='{what}')"
    for what in ("99", "minus_one", "none", "float", "text", "true", "list", "chameleon")
}
"""Rogues whose first answer is not a legal action."""

RAISING = {
    f"raises_{what}": f"raises.py(what='{what}')"
    for what in (
        "boom",
        "system_exit",
        "keyboard_interrupt",
        "unspeakable",
        "odd_syntax",
        "illegal",
        "illegal_and_unspeakable",
        "untouchable",
        "shout",
        "recursion",
    )
}
"""Rogues that raise in their first decision, which is the fault `exception`."""

ROGUES = {
    **ILLEGAL,
    **RAISING,
    "no_bot": "no_bot.py",
    "not_python": "not_python.txt",
    "chooses_nothing": "chooses_nothing.py",
    "raises_in_import": "raises_in_import.py",
    "exits_in_import": "exits_in_import.py",
    "dies_in_import": "dies_in_import.py",
    "loops_in_import": "loops_in_import.py",
    "raises_in_construction": "raises_in_construction.py",
    "late": "waits.py(how='late')",
    "loops": "waits.py(how='loops')",
    "sleeps": "waits.py(how='sleeps')",
    "swallows": "waits.py(how='swallows')",
    "bends_clock": "bends.py(how='clock')",
    "bends_in_child": "bends.py(how='child')",
    "bends_in_grandchild": "bends.py(how='grandchild')",
    "bends_in_ignored_children": "bends.py(how='ignored_children')",
    "bends_in_thread": "bends.py(how='thread')",
    "stops": "dies.py(how='sigstop')",
    "exits_at_once": "dies.py(how='os_exit')",
    "kills_itself": "dies.py(how='sigkill')",
    "crashes": "dies.py(how='sigsegv')",
    "kills_group": "dies.py(how='with_group')",
    "kills_parent": "dies.py(how='with_parent')",
    "allocates": "allocates.py",
    "hoards": "allocates.py(swallows=True)",
    "forks": "forks.py(most=150)",
    "forks_away": "forks.py(away=True, most=100)",
    "leaves_process": "leaves.py",
    "leaves_hidden_process": "leaves.py(hides=True)",
    "prints": "prints.py",
    "closes_stdout": "closes.py(what='stdout')",
    "closes_descriptors": "closes.py(what='descriptors')",
    "reads_frames": "spies.py(where='frames')",
    "reads_gc": "spies.py(where='gc')",
    "reads_opponent": "spies.py(where='modules')",
    "reads_run_folder": "spies.py(where='run_folder')",
    "connects": "connects.py",
    "litters": "litters.py",
    "reseeds": "reseeds.py",
    "mutates": "mutates.py",
    "varies": "varies.py",
    "fails_late_in_import": "fails_late_in_import.py",
    "breaks_log": "breaks_log.py",
}
"""Every rogue in Python, by its label: its file and parameters."""

WORKING = {"works_on": "works_on.py"}
"""Rogues that work while it is their opponent's turn."""

CLOSING = {
    f"closes_and_{how}": f"closes_badly.py(how='{how}')"
    for how in ("raises", "exits", "loops", "sleeps")
}
"""Rogues that have no fault in a game, and fail in `close()` after it."""

FRAMING = {"frames": "frames.py", "frames_by_workers": "frames.py(all=True)"}
"""Rogues that make others seem to be at fault."""

TALKING = {"tells": "tells.py"}
"""Rogues that talk with their process for the other game of a pair."""

ESCAPING = {
    "writes_proc_sys": "writes_proc_sys.py",
    "fills_disk": "fills_disk.py",
    "gains": "gains.py",
    "could_kill": "reaches.py(what='kill')",
    "could_write": "reaches.py(what='write')",
    "rewrites": "rewrites.py",
    "strays": "strays.py",
    "fills_kernel": "fills_kernel.py",
    "keeps_children": "keeps_children.py",
    "shares_memory": "shares_memory.py",
    "shares_memory_with_children": "shares_memory.py(children=True)",
}
"""Rogues that try what a jail forbids; those that succeed have the fault `exception`."""

UNTRUE = {
    "peeks_in_frames": "peeks.py(where='frames')",
    "peeks_in_memory": "peeks.py(where='gc')",
    "draws": "draws.py",
    "draws_from_numpy": "draws.py(where='numpy')",
    "depends_on_hashes": "depends.py(what='hashes')",
    "depends_on_the_clock": "depends.py(what='clock')",
    "depends_on_the_system": "depends.py(what='system')",
    "depends_on_memory": "depends.py(what='memory')",
    "depends_on_earlier_games": "depends.py(what='games')",
    "forges": "forges.py",
    "remembers": "remembers.py",
    "knows_one_game": "knows_one_game.py",
    "tampers": "tampers.py",
    "tampers_with_the_end": "tampers.py(actions='')",
}
"""Rogues that have no fault in a game, but break the contract of bots."""

COMMANDS = {
    f"says_{what}": what
    for what in (
        "exits_at_once",
        "nothing_at_all",
        "rubbish_at_once",
        "not_ready",
        "error_at_once",
        "never_reads",
        "talks_without_reading",
        "rubbish",
        "not_utf8",
        "a_list",
        "deep",
        "half_a_line",
        "100_mb",
        "nothing",
        "twice",
        "wrong_id",
        "no_action",
        "illegal",
        "long_action",
        "error",
        "memory",
        "exits",
        "closes_stdout",
        "100_mb_of_errors",
        "other_moves_later",
    )
} | {"unknown_program": ""}
"""The rogues that are programs, by label: the argument of `says.py`."""


def spec(name: str) -> str:
    """Return the spec of a rogue, as on the command line."""
    if name == "unknown_program":
        return "cmd:env no-such-program-anywhere"
    if name in COMMANDS:
        words = [sys.executable, str(FOLDER / "says.py"), COMMANDS[name]]
        return f"cmd:{shlex.join(words)}"
    others = ESCAPING | UNTRUE | WORKING | CLOSING | FRAMING | TALKING
    return str(FOLDER / (ROGUES | others)[name])


def rogue(name: str, lane: str | None = None, **params: Any) -> Entry:
    """Return a rogue with its name as label, and with these parameters besides its own."""
    return resolve(spec(name), label=name, params=params, lane=lane)


def first(name: str, lane: str | None = None) -> Entry:
    """Return an honest bot with a rogue's label, which plays the first legal action."""
    return resolve(str(FOLDER / "first.py"), label=name, lane=lane)


def write(folder: Path, name: str, body: str, init: str = "pass") -> Path:
    """Write a bot of this name with this class body, and return its file."""
    path = folder / f"{name}.py"
    path.write_text(
        f"class Rogue:\n    def __init__(self, setup):\n        {init}\n\n{body}\n\nbot = Rogue\n"
    )
    return path
