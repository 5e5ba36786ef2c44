"""Loading: whether a bot is imported, binds `bot`, and takes its parameters."""

from __future__ import annotations

import re
import time

from arena.check.item import Item, fail
from arena.check.sparring import Candidate
from arena.entries.beside import explain_missing
from arena.lanes.faults import Forfeit
from arena.lanes.process import bot_process
from engine import STANDARD

_NO_BOT = re.compile(r"ImportError: .* (does not bind|binds) `bot`")


def check_loading(candidate: Candidate) -> list[Item]:
    """Return the first three items, or those of them up to the one that fails."""
    entry, limits, folder = candidate.entry, candidate.limits, candidate.make_folder()
    start = time.perf_counter()
    with bot_process(entry, STANDARD, limits, folder, candidate.beat, check=True) as process:
        try:
            process.start()
        except Forfeit as forfeit:
            return _refuse(forfeit, entry.target)
        seconds = time.perf_counter() - start
    imports = Item("imports", "ok", f"ready in {seconds:.2f} s", figures={"seconds": seconds})
    if entry.command:
        message = "does not apply to a command"
        return [imports, Item("binds bot", "none", message), Item("parameters", "none", message)]
    written = ", ".join(f"{name}={value!r}" for name, value in entry.params.items())
    params = Item("parameters", "ok", f"takes {written}" if written else "needs none")
    return [imports, Item("binds bot", "ok", "to something that can be called"), params]


def _refuse(forfeit: Forfeit, target: str) -> list[Item]:
    imports = Item("imports", "ok", "")
    kind, message = forfeit.fault[:2]
    if kind == "params":
        return [
            imports,
            Item("binds bot", "ok", ""),
            Item("parameters", "fail", message, "params"),
        ]
    if _NO_BOT.match(message):
        return [imports, Item("binds bot", "fail", message, "import")]
    advice = explain_missing(target, message)
    return [fail("imports", forfeit.fault._replace(message=message + advice))]
