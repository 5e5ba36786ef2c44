"""Keep the ledger of a season: comparisons that share one budget of errors.

The ledger has a line of JSON for each comparison, in the order in which they began. When a
comparison begins, it gets the next place, which determines its error level and its deals. The same
bots with the same settings in the same folder are the same comparison and keep their place. The
season's folder is locked while the ledger is read and written, and the file is replaced atomically.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from arena.entries.file import read_file
from arena.errors import ArenaError, InputError, naming
from arena.lanes.scratch import lock_file
from arena.runs.run import Playing
from arena.statistics.sprt import season_level
from arena.store.folder import check_names, write_text
from arena.tournament.keys import ERROR_RATE
from arena.tournament.stop import MOST_PLACES, Season
from arena.tournament.tournament import Tournament
from engine.errors import show
from engine.seeds import stream

LEDGER: Final = "ledger.jsonl"
_MOST_BYTES = 1 << 24
_TRIES, _PAUSE = 200, 0.05  # to lock the folder, which others hold for milliseconds


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A comparison in a ledger; `result` is its finding as a sentence, "" until it is known."""

    season: str
    place: int
    level: float
    new: dict[str, Any]
    old: dict[str, Any]
    settings: dict[str, Any]
    folder: str
    result: str = ""


def take_place(
    name: str | None, tournament: Tournament, how: Playing
) -> tuple[Tournament, Playing]:
    """Return a comparison as part of a season: with the error level and the deals of its place.

    Without a folder its games are kept beside the ledger. Without a name it is in no season. Raises
    InputError for an invalid name of a season, for a comparison with its own error rates, and for a
    damaged ledger.
    """
    if name is None:
        return tournament, how
    stop = tournament.comparison
    if stop is None or (stop.alpha, stop.beta) != (ERROR_RATE, ERROR_RATE):
        raise InputError("alpha, beta: a season gives the error rates of its comparisons")
    with _open_ledger(name) as (folder, lines):
        for place in range(1, MOST_PLACES + 1):
            line = _write_line(name, place, tournament, how.out, folder)
            if place > len(lines):
                for one in folder.glob(f"{place}-*"):
                    lacks = f"damaged: it lacks comparison {place}, {one.name}"
                    raise InputError(f"{folder / LEDGER}: {lacks}")
                lines.append(line)
            if line == msgspec.structs.replace(lines[place - 1], result=""):
                break
        else:
            raise InputError(f"season {name}: it has {MOST_PLACES:,} comparisons; begin another")
    rate = line.level / 2
    seed = stream(tournament.seed, "season", name, place).getrandbits(63)
    stop = msgspec.structs.replace(stop, alpha=rate, beta=rate, season=Season(name, place))
    return replace(tournament, stop=stop, seed=seed), replace(how, out=Path(line.folder))


def _write_line(
    name: str, place: int, tournament: Tournament, out: Path | None, folder: Path
) -> _Line:
    """Return the ledger's line for a comparison at this place, as after writing and reading it."""
    asked = tournament.manifest()
    del asked["versions"], asked["stop"]["alpha"], asked["stop"]["beta"]
    new, old, *asked["against"] = asked.pop("bots")
    where = str(out or folder / f"{place}-{tournament.name}")
    line = _Line(name, place, season_level(place), new, old, asked, where)
    return msgspec.json.decode(msgspec.json.encode(line), type=_Line)


def keep_result(name: str | None, tournament: Tournament, sentence: str) -> None:
    """Write the result of a comparison into the ledger of the season in which it took its place.

    Without a name it took none: a manifest that is played again has a season, but counts in no
    ledger. Raises InputError for a damaged ledger.
    """
    season = tournament.comparison.season if name and tournament.comparison else None
    if season is None:
        return
    with _open_ledger(season.name) as (folder, lines):
        if len(lines) < season.place:
            raise InputError(f"{folder / LEDGER}: comparison {season.place} is missing")
        lines[season.place - 1].result = sentence


@contextmanager
def _open_ledger(name: str) -> Iterator[tuple[Path, list[_Line]]]:
    """Yield the folder of a season and the lines of its ledger; at the end write the lines."""
    try:
        msgspec.convert({"name": name, "place": 1}, Season)
    except msgspec.ValidationError:
        raise InputError(
            f"season: {show(name)} is not a name of letters, digits, '.', '_' and '-'"
        ) from None
    folder = Path("results") / f"season-{name}"
    path = folder / LEDGER
    with _hold_lock(folder):
        lines = _read(path, name) if os.path.lexists(path) else []
        yield folder, lines
        write_text(path, "".join(f"{msgspec.json.encode(line).decode()}\n" for line in lines))


@contextmanager
def _hold_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, waiting for other holders; it is freed when the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(_TRIES):
            with suppress(BlockingIOError):
                descriptor = lock_file(folder)
                break
            time.sleep(_PAUSE)
        else:
            waited = f"{_TRIES * _PAUSE:g} s"
            raise InputError(f"{folder}: another process has locked it for {waited}")
    except OSError as error:
        raise ArenaError(f"{folder}: cannot be locked: {error.strerror}") from None
    try:
        yield
    finally:
        os.close(descriptor)


def _read(path: Path, name: str) -> list[_Line]:
    """Return the lines of a ledger; raises InputError, which names the damaged line."""
    check_names(path.parent, [path.name])
    with naming(path):
        content = read_file(path, _MOST_BYTES)
    lines: list[_Line] = []
    for place, text in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: damaged: line {place}: {error}") from None
        if (line.season, line.place, line.level) != (name, place, season_level(place)):
            right = f"comparison {place} of season {name} at level {season_level(place)}"
            raise InputError(f"{path}: damaged: line {place} is not {right}")
        lines.append(line)
    return lines
