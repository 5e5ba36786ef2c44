"""Probe a bot: write the opponent that knows its policy, and let the two play."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import imported_bots
from arena.entries.pack import write_file, write_packed
from arena.entries.resolve import BOTS, resolve
from arena.entries.spec import is_file
from arena.errors import InputError, counted
from arena.executors.contract import Executor
from arena.executors.log import NORMAL, QUIET
from arena.runs.prepare import prepare
from arena.runs.run import run
from arena.statistics.intervals import score_interval
from arena.store.store import Store
from arena.tournament.config import Config, make_tournament
from arena.tournament.tournament import Tournament

HOW: Final = "docs/probe.md says how a bot gets one"

NO_SCORES: Final = "has no method scores(games)"
"""What `bots.responder` says of a bot whose policy cannot be asked in many games."""

_MAIN: Final = "response.py"
_TEXT: Final = '''\
"""Plays the best response to {label}; written by `arena probe`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return what responds to a bot whose policy it knows."""
    return Responder(setup).meet(setup, {victim})
'''


class Probed(NamedTuple):
    """What a probe came to: by how much the opponent has won in so many pairs, and its file."""

    bot: str
    file: str
    pairs: int
    score: float
    low: float
    high: float

    @property
    def sentence(self) -> str:
        """What is known of the bot now, and no more than that."""
        between = f"({100 * self.low:.0f}..{100 * self.high:.0f})"
        if self.low <= 1 / 2:
            share = f"{100 * self.score:.0f} % {between}"
            return f"{self.bot} loses {share} to this opponent, perhaps more to another one"
        return f"{self.bot} loses at least {100 * self.score:.0f} % {between} to this opponent"

    def document(self) -> dict[str, Any]:
        """Return what `arena probe --json` prints."""
        return self._asdict() | {"sentence": self.sentence}

    def lines(self) -> Iterator[str]:
        """Yield what the command prints."""
        yield self.sentence
        yield f"in {counted(self.pairs, 'pair')}; the opponent is {self.file}"


def write_opponent(victim: Entry, file: Path | None, *, force: bool = False) -> Path:
    """Write the bot that responds to another one, and return its place.

    A bot that is a file or a folder travels with it. Raises InputError for a program, for a place
    at which no bot can be written, and for another file there, unless with `force`.
    """
    if victim.command or victim.is_code:
        raise InputError(f"bot {victim.target!r}: {NO_SCORES}: only a Python file can have one")
    path = file or Path(f"probe-{re.sub(r'[^0-9A-Za-z_.]+', '-', victim.label).strip('-.')}.py")
    content = _make_opponent(victim)
    if not (path.is_file() and path.read_bytes() == content):
        write_file(path, content, [], force=force)
    return path


def _make_opponent(victim: Entry) -> bytes:
    """Return the source of the bot that responds to another one, packed with the bot's files."""
    if victim.source is None or victim.is_ours:
        return _text(victim, victim.module)
    files, main = {"victim.py": victim.source}, "victim"
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files)).removesuffix(".py")
    if _MAIN in files:
        raise InputError(f"bot {victim.target!r}: it has a file {_MAIN}; rename that one")
    module = "." if main == "__init__" else f".{main}"
    packed = {**files, _MAIN: _text(victim, module)}
    return write_packed(packed, _MAIN, imported_bots(packed, BOTS))


def _text(victim: Entry, module: str) -> bytes:
    """Return the source of the bot; `module` is where it finds the other one."""
    imports = [f"from {module} import bot as victim", "from bots.responder import Responder"]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    label = victim.label.replace('"', "'")
    return _TEXT.format(label=label, imports="\n".join(imports), victim=made).encode()


def meet(victim: Entry, file: Path, pairs: int, seed: int) -> Tournament:
    """Return the tournament in which a bot meets the opponent in this file.

    A bot of ours is played in the worker, with its opponent.
    """
    text = os.fspath(file)
    spec = text if is_file(text) else os.path.join(os.curdir, text)
    lane = victim.lane if victim.is_ours else None
    opponent = resolve(spec, lane=lane)
    tournament = make_tournament(Config([], pairs, name="probe", seed=seed))
    return replace(tournament, entries=[opponent, victim])


def probe(tournament: Tournament, file: Path, executor: Executor, shown: int = NORMAL) -> Probed:
    """Play what `meet` returned, and return what it came to.

    Raises InputError where one of the two forfeits a game, if it is in the first pair before the
    others are played. An opponent that cannot play is removed. Raises what `run` raises, too.
    """
    try:
        for problem in prepare(tournament):
            raise InputError(problem)
    except InputError:
        file.unlink()
        raise
    with closing(Store(None)) as store:
        run(replace(tournament, pairs=1), executor, None, QUIET, store=store)
        _check(tournament, store, file)
        run(tournament, executor, None, shown, store=store)
        _check(tournament, store, file)
        scores = [0.0] * tournament.pairs
        for _, result in store.results():
            scores[result.pair] += result.score
    total, squares = sum(scores), sum(score * score for score in scores)
    low, high = score_interval(tournament.pairs, total, squares)
    score = total / (2 * tournament.pairs)
    return Probed(tournament.labels[1], os.fspath(file), tournament.pairs, score, low, high)


def _check(tournament: Tournament, store: Store, file: Path) -> None:
    """Raise InputError if a bot has forfeited a game."""
    _, victim = tournament.labels
    for _, result in store.results():
        if result.fault is None:
            continue
        message = result.fault.message
        if result.winner == 0:
            raise InputError(f"{victim}: it has forfeited a game: {message}")
        file.unlink()
        if NO_SCORES in message:
            raise InputError(f"{victim}: it {NO_SCORES}, by which its policy is asked; {HOW}")
        raise InputError(f"{victim}: its method scores fails: {message}")
