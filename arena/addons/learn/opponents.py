"""Make the opponents of a bot, which respond to it or to a clone of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from arena.entries.archive import MAGIC, make_archive, read_archive
from arena.entries.entry import Entry
from arena.entries.program import ZIP
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.executors.local import Executor
from arena.executors.log import NORMAL
from arena.runs.rerun import prepare
from arena.runs.run import play_games
from arena.store.folder import RunFolder
from arena.store.reader import read_run
from arena.tournament.config import Config, make_tournament
from engine.notation import parse_actions
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--learn PAIRS learns it from games (see `arena docs probe`)"

SOMEBODY: Final = ("its opponent", "uniform")
"""The second bot of a request, whose label no other bot is likely to have."""

NO_SCORES: Final = "has no method scores(games)"
"""The message about a bot whose policy cannot be queried for many games at once."""

_MAIN: Final = "bot.py"
_VICTIM: Final = "victim.py"
_TEXT: Final = '''\
"""Plays the best response to {label}; written by `arena probe`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return what responds to a bot whose policy it knows."""
    return Responder({how}).meet(setup, {victim})
'''


FALLS_BACK: Final = "under other rules than the published ones it plays as"
"""The message about a bot whose figure would be that of another one."""

_QUESTION: Final = '''\
"""Plays as {label}; written by `arena probe --exact`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return the bot's own strategy."""
    own, usual = {victim}(setup), {victim}(setup._replace(rules=STANDARD))
    if type(own) is not type(usual):
        raise TypeError(f"{falls_back} {{type(own).__name__}}")
    if {scored} and not hasattr(own, "scores"):
        raise TypeError("it {lacks}")
    return {victim}(setup)
'''


_NETWORK: Final = '''\
"""Plays as another bot does, by a network that has learned from its games."""

import pkgutil

from bots.apprentice import begin, read

network = read(pkgutil.get_data(__name__, "victim.npz"))


def victim(setup):
    """Return the strategy for one game."""
    return begin(network, setup)
'''


def name_of(victim: Entry, what: str = "probe") -> str:
    """Return the name of the opponent of a bot, or of something else that is made of it."""
    return f"{what}-{re.sub(r'[^0-9A-Za-z_.]+', '-', victim.label).strip('-.')}"


def respond_to(victim: Entry, *, blind: bool = False) -> bytes:
    """Return the source of the best response to a bot, or a zip of it and that bot's files.

    If it is `blind`, it learns nothing about the bot's hand from what the bot plays.
    """
    if victim.command:
        raise InputError(f"bot {victim.target!r}: it {NO_SCORES}; {HOW}")
    how = "setup, blind=True" if blind else "setup"
    return _pack(victim, _TEXT, "from bots.responder import Responder", how=how)


def question(victim: Entry, *, scored: bool) -> bytes:
    """Return the source of a Python bot that plays as another one, or a zip with its files.

    It fails if that bot leaves other rules than the published ones to another strategy, or, with
    `scored`, if it has no method `scores`.
    """
    words = {"scored": scored, "lacks": NO_SCORES, "falls_back": FALLS_BACK}
    return _pack(victim, _QUESTION, "from engine import STANDARD", **words)


def _pack(victim: Entry, text: str, imported: str, **words: Any) -> bytes:
    """Return the source of a bot that imports another one, or a zip of it and that bot's files."""
    if victim.source is None or victim.is_ours:
        return _fill(text, victim, (victim.module, imported), words)
    files, main = {"": victim.source}, ""
    if victim.source.startswith(MAGIC):
        files = read_archive(victim.source)
        main = next(iter(files))
    source = files.pop(main)
    for name in (_MAIN, _VICTIM):
        if name in files:
            raise InputError(f"bot {victim.target!r}: it has a file {name}; rename that one")
    files[main if main == "__init__.py" else _VICTIM] = source
    module = "." if main == "__init__.py" else ".victim"
    files[_MAIN] = _fill(text, victim, (module, imported), words)
    return make_archive(files, _MAIN)


def ending_of(content: bytes) -> str:
    """Return the ending of the file of an opponent.

    >>> ending_of(b"bot = 1")
    '.py'
    """
    return ZIP if content.startswith(MAGIC) else ".py"


def respond_to_clone(victim: Entry, clone: Clone, *, blind: bool = False) -> bytes:
    """Return a zip of the best response to a clone, and of the clone."""
    about = (
        f"a clone of {victim.label}, which plays as it does in {100 * clone.alike:.0f} % of choices"
    )
    doubt = min(0.9, max(0.02, round(1 - clone.alike, 2)))
    text = _TEXT.format(
        label=_plain(about),
        imports="from bots.responder import Responder\n"
        "from engine import Setup, Strategy\n\nfrom .victim import victim",
        how=f"setup, doubt={doubt}, blind={blind}",
        victim="victim",
    )
    files = {_MAIN: text.encode(), _VICTIM: _NETWORK.encode(), "victim.npz": clone.content}
    return make_archive(files, _MAIN)


def _plain(label: str) -> str:
    return label.replace('"', "'").replace("\\", "/")


def _fill(text: str, victim: Entry, needed: tuple[str, str], words: Mapping[str, Any]) -> bytes:
    """Return the source of a bot that imports another one from a module, and something else."""
    module, more = needed
    imports = [f"from {module} import bot as victim", more]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": _plain(victim.label), "imports": "\n".join(imports), "victim": made}
    return text.format(**filled, **words).encode()


TEACHER: Final = "apprentice"
"""The opponent in these games; its network is the start of a clone."""


def play_to_learn(
    victim: Entry,
    folder: Path,
    executor: Executor,
    pairs: int,
    seed: int = 0,
    shown: int = NORMAL,
) -> None:
    """Play so many pairs into a folder, but for games that are there.

    Raises InputError for bots that do not load, and what `run` raises.
    """
    tournament = make_tournament(Config([], pairs, name=folder.name, seed=seed))
    tournament = replace(tournament, entries=[resolve(TEACHER, label="network"), victim])
    prepare(tournament, folder, strict=True)
    play_games(tournament, executor, RunFolder(folder), shown)


def learn_clone(folder: Path, pairs: int, seed: int = 0) -> Clone:
    """Return a clone of the second bot of a run, learned from its first pairs.

    Raises InputError if that bot has forfeited a game.
    """
    import numpy as np

    from arena.batch.learner import gather, imitate
    from arena.batch.replay import in_rows

    tournament, store = read_run(folder)
    with closing(store):
        rows = [*store.records([pairs])]
    deals = bytearray()
    for pairing, pair, seat, _, win_type, _ in rows:
        if win_type == "forfeit":
            raise InputError(
                f"{tournament.labels[1]}: it has forfeited games: see arena show {folder}"
            )
        deals += tournament.draw(tournament.fixture(pairing, pair, seat)).deal
    actions = in_rows([parse_actions(row[-1]) for row in rows], tournament.rules.game_plies)
    seats = np.array([1 - row[2] for row in rows])
    choices = gather(np.frombuffer(bytes(deals), np.uint8).reshape(len(rows), -1), actions, seats)
    rng = np.random.default_rng(stream(seed, "clone").getrandbits(64))
    return imitate((BOTS / f"{TEACHER}.npz").read_bytes(), choices, rng)
