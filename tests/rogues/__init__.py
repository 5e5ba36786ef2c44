"""The gallery of rogues: bots that break the rules of the arena.

Every file in this folder is a kind of bot, whose variants a parameter chooses; those of a few lines
are in SHORT. Each can be played by itself: `rogues.spec(name)` is what the command line needs. A
rogue that could harm the machine stops by itself.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from arena.entries.entry import Entry
from arena.entries.resolve import resolve

FOLDER = Path(__file__).parent
LANES = ("inproc", "process", "jail")

ILLEGAL = {
    f"answers_{what}": f"answers.py(what='{what}')"
    for what in ("99", "huge", "minus_one", "none", "float", "text", "true", "list", "chameleon")
}
"""Rogues whose first answer is not a legal action."""

RAISING = {
    f"raises_{what}": f"answers.py(what='{what}')"
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

_LATE = """import os
import this

raise ImportError(f"not found: {os.path.abspath('model.bin')} for {object()}")
"""
_ONE_GAME = """WORTH = {5: 1.0, 6: 1.2, 7: 1.4, 8: 1.6}

class Rogue:
    def __init__(self, setup):
        self.worth = [WORTH[value] for value in setup.rules.majority_values]

    def choose(self, view, /):
        return view.legal[0]

bot = Rogue
"""
_MEETS_AGAIN = """met = set()

class Rogue:
    def __init__(self, _setup):
        self.again = None

    def choose(self, view, /):
        if self.again is None:
            key = (view.seat, view.opening, view.hand)
            self.again = key in met
            met.add(key)
        return view.legal[-1 if self.again else 0]

bot = Rogue
"""
_HOLDS = """class Rogue:
    def __init__(self, _setup, mark):
        self.mark = mark

    def choose(self, view, /):
        open(self.mark, "w").close()
        pow(3, 3 * 10**8)  # it has 140 million digits, and takes minutes
        return view.legal[0]

bot = Rogue
"""
_BREAKS_ENGINE = """import sys

class Rogue:
    def __init__(self, _setup):
        sys.modules["engine.state"].State.apply = lambda _state, _action: None

    def choose(self, view, /):
        return view.legal[0]

bot = Rogue
"""
SHORT = {
    "no_bot": "",
    "raises_in_import": 'raise RuntimeError("not today")\n',
    "exits_in_import": "import sys\n\nsys.exit(0)\n",
    "dies_in_import": "import os\n\nos._exit(0)\n",
    "loops_in_import": "while True:\n    pass\n",
    "fails_late_in_import": _LATE,  # after a module that prints something once in a process
    "chooses_nothing": "class Rogue:\n    def __init__(self, _setup): ...\n\nbot = Rogue\n",
    "raises_in_construction": "def bot(_setup):\n    raise SystemExit(3)\n",
    "knows_one_game": _ONE_GAME,  # raises KeyError at rules with other majority values
    "meets_again": _MEETS_AGAIN,  # plays otherwise in a game whose deal its process has met before
    "holds": _HOLDS,  # holds the interpreter, so that no other thread of its process runs
    "breaks_engine": _BREAKS_ENGINE,  # of the process that it plays in: no game ends there
}
"""The whole files of short rogues, by label."""

APART = ("knows_one_game", "meets_again", "holds", "breaks_engine")
"""Those of them that are not in ROGUES, as tests of one subject play them."""

ROGUES = {
    **ILLEGAL,
    **RAISING,
    "not_python": "not_python.txt",
    **{name: f"{name}.py" for name in SHORT if name not in APART},
    **{how: f"dies.py(how='{how}')" for how in ("late", "loops", "sleeps", "swallows")},
    "bends_clock": "dies.py(how='clock')",
    **{
        f"bends_in_{where}": f"dies.py(how='{where}')"
        for where in ("child", "grandchild", "ignored_children", "thread")
    },
    "stops": "dies.py(how='sigstop')",
    "exits_at_once": "dies.py(how='os_exit')",
    "kills_itself": "dies.py(how='sigkill')",
    "crashes": "dies.py(how='sigsegv')",
    "kills_group": "dies.py(how='with_group')",
    "kills_parent": "dies.py(how='with_parent')",
    "allocates": "fills.py(what='memory')",
    "hoards": "fills.py(what='all_memory')",
    "forks": "fills.py(what='processes', most=150)",
    "forks_away": "fills.py(what='processes', away=True, most=100)",
    "leaves_process": "meddles.py(what='process')",
    "leaves_hidden_process": "meddles.py(what='hidden_process')",
    "prints": "meddles.py(what='prints')",
    "closes_stdout": "meddles.py(what='stdout')",
    "closes_descriptors": "meddles.py(what='descriptors')",
    **{
        f"reads_{where}": f"spies.py(where='{where}')"
        for where in ("frames", "gc", "opponent", "run_folder")
    },
    "connects": "meddles.py(what='network')",
    "litters": "meddles.py(what='files')",
    "reseeds": "meddles.py(what='seeds')",
    "mutates": "meddles.py(what='view')",
    "varies": "varies.py",
    "breaks_log": "garbles.py(how='pipes')",
}
"""Every rogue in Python, by its label: its file and parameters."""

WORKING = {"works_on": "answers.py(what='works_on')"}
"""Rogues that work while it is their opponent's turn."""

CLOSING = {
    f"closes_and_{how}": f"answers.py(what='closes_and_{how}')"
    for how in ("raises", "exits", "loops", "sleeps")
}
"""Rogues that have no fault in a game, and fail in `close()` after it."""

FRAMING = {"frames": "frames.py", "frames_by_workers": "frames.py(all=True)"}
"""Rogues that make others seem to be at fault."""

ESCAPING = {
    "writes_proc_sys": "reaches.py(what='settings')",
    "fills_disk": "fills.py(what='disk')",
    "gains": "gains.py",
    "could_kill": "reaches.py(what='kill')",
    "could_write": "reaches.py(what='write')",
    "rewrites": "reaches.py(what='memory')",
    "strays": "reaches.py(what='files')",
    "fills_kernel": "fills.py(what='kernel')",
    "keeps_children": "fills.py(what='children')",
    "shares_memory": "fills.py(what='shared_memory')",
    "shares_memory_with_children": "fills.py(what='shared_memory_of_children')",
}
"""Rogues that try what a jail forbids; those that succeed have the fault `exception`."""

UNTRUE = {
    "peeks_in_frames": "spies.py(where='frames', uses=True)",
    "peeks_in_memory": "spies.py(where='gc', uses=True)",
    "draws": "depends.py(what='random')",
    "draws_from_numpy": "depends.py(what='numpy')",
    **{
        f"depends_on_{what}": f"depends.py(what='{what}')"
        for what in ("hashes", "the_clock", "the_system", "memory", "earlier_games")
    },
    "forges": "forges.py",
    "remembers": "remembers.py",
    "knows_one_game": "knows_one_game.py",
    "tampers": "forges.py(actions='CCCC')",
    "tampers_with_the_end": "forges.py(actions='')",
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
    others = ESCAPING | UNTRUE | WORKING | CLOSING | FRAMING
    return str(_written() / f"{name}.py" if name in SHORT else FOLDER / (ROGUES | others)[name])


@cache
def _written() -> Path:
    """Return a folder with the short rogues, which goes with this process."""
    folder, pid = Path(tempfile.mkdtemp(prefix="rogues-")), os.getpid()
    atexit.register(lambda: pid == os.getpid() and shutil.rmtree(folder, ignore_errors=True))
    for name, text in SHORT.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def rogue(name: str, lane: str | None = None, **params: Any) -> Entry:
    """Return a rogue with its name as label, and with these parameters besides its own."""
    return resolve(spec(name), label=name, params=params, lane=lane)


def first(name: str, lane: str | None = None) -> Entry:
    """Return an honest bot with a rogue's label, which plays the first legal action."""
    return resolve(str(FOLDER / "first.py"), label=name, lane=lane)


def write(folder: Path, name: str, body: str, init: str = "pass") -> Path:
    """Write a bot of this name, and return its file.

    The body is that of its class, or without a `def` that of its method `choose`.
    """
    path, body = folder / f"{name}.py", dedent(body)
    method = body if "def " in body else f"def choose(self, view, /):\n{indent(body, '    ')}"
    path.write_text(
        f"class Rogue:\n    def __init__(self, setup):\n        {init}\n\n"
        f"{indent(method, '    ')}\n\nbot = Rogue\n"
    )
    return path
