"""Loading: whether a bot is imported, binds `bot`, and takes its parameters."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from arena.check.item import Item, failed
from arena.check.table import Candidate
from arena.lanes.faults import Forfeit
from arena.lanes.launch import hello, launch
from arena.lanes.process import BotProcess
from engine import STANDARD

_NO_BOT = re.compile(r"ImportError: .* (does not bind|binds) `bot`")


def loading(candidate: Candidate) -> list[Item]:
    """Return the first three items, or those of them up to the one that fails."""
    entry = replace(candidate.entry, lane="process")
    started = launch(entry, candidate.limits, candidate.new_folder())
    said = hello(entry, STANDARD, check=True)
    process = BotProcess(started, said, candidate.limits, candidate.beat)
    begun = time.perf_counter()
    try:
        process.start()
    except Forfeit as forfeit:
        return _refused(forfeit)
    finally:
        process.kill()
    seconds = time.perf_counter() - begun
    imports = Item("imports", "ok", f"ready in {seconds:.2f} s", figures={"seconds": seconds})
    if entry.command:
        told = "a command answers for itself"
        return [imports, Item("binds bot", "none", told), Item("parameters", "none", told)]
    given = ", ".join(f"{name}={value!r}" for name, value in entry.params.items())
    params = Item("parameters", "ok", f"takes {given}" if given else "needs none")
    return [imports, Item("binds bot", "ok", "to something that can be called"), params]


def _refused(forfeit: Forfeit) -> list[Item]:
    imports = Item("imports", "ok", "")
    if forfeit.kind == "params":
        params = Item("parameters", "fail", forfeit.message, "params")
        return [imports, Item("binds bot", "ok", ""), params]
    if _NO_BOT.match(forfeit.message):
        return [imports, Item("binds bot", "fail", forfeit.message, "import")]
    return [failed("imports", forfeit)]
