"""Make a small folder of every format, by the commands that users type; list what they print.

The bots play by the engine and by their source alone, so the tables have the same bytes anywhere.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.store.column_titles import LEAGUE, TIMINGS
from tests.conftest import run_here

_CUP = """\
bots: [greedy, uniform, majority, ./breaks.py]
pairs: 3
seed: 7
max_faults: 4
anchor: greedy=1500
"""
_BREAKS = '''\
"""Plays no legal action after the first."""


class Breaks:
    def __init__(self, setup):
        self.first = True

    def choose(self, view):
        if self.first:
            self.first = False
            return view.legal[0]
        return 99


bot = Breaks
'''
_RUN = ("--workers", "1", "--json")
ENDINGS = (".csv", ".json", ".md", ".sqlite")
"""Of the files that every installation writes."""

COMMANDS = {
    "run": ("run", "cup.yaml", "--out", "run", *_RUN),
    "gauntlet": (
        *("run", "cup.yaml", "--against", "denier,timing", "--until", "500", "--max-pairs", "20"),
        *("--out", "gauntlet", *_RUN),
    ),
    "swiss": ("run", "swiss.yaml", "--out", "swiss", *_RUN),
    "comparison": (
        *("compare", "new=greedy(patience=2)", "old=greedy", "--against", "uniform,majority"),
        *("--max-pairs", "20", "--out", "comparison", *_RUN),
    ),
    "ablation": ("ablate", "small.yaml", "--rule", "set_bonus=0", "--out", "ablation", "-q", *_RUN),
    "tuning": (
        *("tune", "greedy", "--param", "patience=0..4", "--against", "majority"),
        *("--budget", "112", "--proof", "20", "--out", "tuning", *_RUN),
    ),
    "league new": (
        *("league", "new", "league", "--seed", "3", "--lane", "process"),
        *("--panel", "uniform,greedy", "--json"),
    ),
    "league host": ("league", "host", "league", "--once", "--workers", "1"),
    "league show": ("league", "show", "league", "--json"),
    "league show NAME": ("league", "show", "league", "greedy", "--json"),
    "analyse": ("analyse", "run", "--games", "2", "--worlds", "4", *_RUN),
    "verify": ("verify", "run", "--sample", "0", "--json"),
    "bots": ("bots", "--json"),
    "doctor": ("doctor", "--json"),
    "export": ("export", "run", "-o", "games.jsonl"),
    "replay": ("replay", "games.jsonl", "--json"),
}
"""What is typed, in this order, by the name of the folder or document that it makes."""


KEPT = {
    "run": ("run", "breaks.py"),
    "comparison": ("comparison",),
    "ablation": ("ablation",),
    "league": ("league",),
    "games": ("games.jsonl",),
}
"""What is in each archive of `folders/`."""

_LEFT_OUT = ("report.html", "report.md", "run.log")  # large, or made again


def write_inputs(folder: Path) -> None:
    """Write the configs and bots of the commands."""
    (folder / "cup.yaml").write_text(_CUP)
    (folder / "small.yaml").write_text("bots: [greedy, uniform]\npairs: 3\nseed: 7\n")
    swiss = "bots: [greedy, uniform, majority, denier]\npairs: 2\nformat: swiss\nseed: 7\n"
    (folder / "swiss.yaml").write_text(swiss)
    (folder / "breaks.py").write_text(_BREAKS)
    (folder / "notes.txt").write_text("a file of a bot\n")


def make(folder: Path) -> dict[str, str]:
    """Make all folders and files in a folder, and return what each command prints."""
    write_inputs(folder)
    printed = {}
    for name, words in COMMANDS.items():
        done = run_here(folder, *words)
        assert done.returncode == 0, f"arena {' '.join(words)}: {done.stdout}{done.stderr}"
        printed[name] = done.stdout
    return printed


def made(folder: Path, printed: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys of all documents and records, and the files of folders with their columns."""
    records = (folder / "games.jsonl").read_text()
    for name, text in {**printed, "record": records}.items():
        if name == "record" or "--json" in COMMANDS[name]:
            parts = text.splitlines() if name in ("record", "replay") else [text]
            keys = {key for part in parts for key in _keys(json.loads(part))}
            yield from (f"keys of {name}: {key}" for key in sorted(keys))
    for name in ("run", "comparison", "ablation", "tuning"):
        top = folder / name
        files = [path for path in sorted(top.iterdir()) if path.suffix in ENDINGS]
        files += sorted(top.glob("details/*"))
        yield from (f"file of {name}: {path.relative_to(top).as_posix()}" for path in files)
        for path in files:
            if path.suffix == ".csv":
                header = path.read_text().partition("\n")[0].split(",")
                yield from (f"column of {name}/{path.name}: {column}" for column in header)


def _keys(data: Any, place: str = "") -> Iterator[str]:
    """Yield the keys of a document, with those of the objects in it."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield f"{place}{key}"
            yield from _keys(value, f"{place}{key}.")
    elif isinstance(data, list):
        for value in data:
            yield from _keys(value, place)


def hashes(folder: Path) -> Iterator[str]:
    """Yield the sha256 of every table and record that a seed decides."""
    paths = [path for path in folder.rglob("*.csv") if path.name not in (TIMINGS.file, LEAGUE.file)]
    for path in sorted([*paths, folder / "games.jsonl"]):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield f"{digest}  {path.relative_to(folder)}"


def zip_folders(folder: Path, to: Path) -> None:
    """Keep each folder that was made, and the files beside it, as an archive of a few kB."""
    to.mkdir(parents=True)
    for name in KEPT:
        with zipfile.ZipFile(to / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as kept:
            for path in sorted(folder.rglob("*")):
                place = path.relative_to(folder)
                is_kept = place.parts[0] in KEPT[name] and place.name not in _LEFT_OUT
                if path.is_file() and is_kept and (name == "run" or path.suffix != ".csv"):
                    kept.write(path, place)
