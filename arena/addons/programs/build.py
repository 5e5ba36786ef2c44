"""Build a program in the jail, once, and keep what was made in this user's cache folder."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from arena.addons.programs import builder
from arena.addons.programs.builder import PIECE
from arena.entries.entry import Entry
from arena.entries.identity import COPY, hash_command
from arena.entries.loader import MOST_DATA, MOST_ZIP, make_archive
from arena.entries.needs import why_hidden
from arena.entries.read_bot import SYSTEM
from arena.entries.zipped import open_zip
from arena.errors import InputError, naming
from arena.files import read_file, replacing
from arena.lanes.faults import Forfeit
from arena.lanes.jail_support import find_bubblewrap
from arena.lanes.limits import Limits
from arena.lanes.messages import End
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.temp_and_cache_folders import BOT, own_cache, scratch_folder
from engine import STANDARD

LIMITS: Final = Limits(start=60.0, backstop=300.0, idle=20.0, memory=2048)
"""Those of a build: its seconds are those of a processor."""

_MOST_KEPT = 50  # builds


def build(
    words: Sequence[str], files: Mapping[str, bytes], waiting: Callable[[], None] = lambda: None
) -> dict[str, bytes]:
    """Return the files of a program together with those that its build makes in the jail.

    The same files are built once: what was made is kept. Raises InputError, which has the first
    error of the output, if the build fails or exceeds its limits, and what `waiting` raises, which
    is called while it runs.
    """
    key = hash_command(words, files, [])
    with suppress(OSError, RuntimeError, InputError):
        return open_zip(read_file(own_cache("builds") / f"{key}.bot", MOST_ZIP, links=False))
    with naming("build"):
        find_bubblewrap()
        made = open_zip(_build(words, make_archive(files, next(iter(files))), key, waiting))
    both = {**files, **{name: data for name, data in made.items() if "/." not in f"/{name}"}}
    with suppress(OSError, RuntimeError, InputError):
        folder = own_cache("builds")
        with replacing(folder / f"{key}.bot") as part:
            part.write_bytes(make_archive(both, next(iter(files))))
        for path in sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime)[_MOST_KEPT:]:
            path.unlink(missing_ok=True)
    return both


def _build(words: Sequence[str], source: bytes, key: str, waiting: Callable[[], None]) -> bytes:
    """Return the archive of the folder after a build, as it came out of the jail."""
    places = [place for place in map(Path, SYSTEM) if place.is_dir() and not why_hidden(place)]
    needs = tuple(map(str, [*places, *Path("/etc").glob("java-*")]))
    command = (sys.executable, "-I", "-S", builder.__file__, COPY, *words)
    entry = Entry("build", "build", "jail", key, source=source, command=command, needs=needs)
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder()) / BOT
        process = opened.enter_context(bot_process(entry, STANDARD, LIMITS, folder, waiting))
        try:
            process.start()
            return b"".join(_ask(process))
        except Forfeit as forfeit:
            raise InputError(_describe(forfeit, process.printed())) from None
        except ValueError:  # of base64, and of too many parts
            raise InputError("what it made did not come out of the jail") from None


def _ask(process: BotProcess) -> Iterator[bytes]:
    """Yield the parts of the archive; raises ValueError if one is damaged or there are too many."""
    for _ in range(2 * MOST_DATA // PIECE):
        (answer,) = process.ask([End(game=0)], LIMITS.of_start).answers
        if isinstance(answer, Forfeit):
            raise answer
        if not answer.output:
            return
        yield base64.b64decode(answer.output, validate=True)
    raise ValueError


def _describe(forfeit: Forfeit, output: str) -> str:
    """Return why a build failed, with the first lines of its error, but for quoted sources."""
    why = forfeit.fault.message
    if forfeit.fault.kind in ("timeout", "idle"):
        why = f"more than {LIMITS.start:g} s of a processor, or {LIMITS.idle:g} s without work"
    lines = [line for line in map(str.strip, output.splitlines()) if line and "|" not in line]
    first = next((at for at, line in enumerate(lines) if "error" in line.lower()), -1)
    return " | ".join([why, *lines[first:][:3]] if lines else [why])
