"""Make the opponents of a bot, which respond to it or to a clone, and ask it in small games."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.addons import hook
from arena.entries.entry import Entry
from arena.entries.loader import make_archive
from arena.entries.new_bot import INNER, MAIN, ending_of, plain_label, wrap
from arena.entries.resolve import BOTS, resolve
from arena.errors import InputError
from arena.executors.local import Executor
from arena.lanes.faults import Forfeit
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.runs.progress_bar import Progress, show_progress
from arena.runs.rerun import prepare
from arena.runs.run import play_games
from arena.statistics.number_texts import write_ends
from arena.store.folder import RunFolder
from arena.store.reader import read_run
from arena.tournament.asking import Asked, asking
from arena.tournament.config import Config, make_tournament
from engine import Action, Rules, Seat, View
from engine.cards import CHARS
from engine.notation import parse_actions
from engine.seeds import stream

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--learn PAIRS learns it from games (see `arena docs probe`)"

SOMEBODY: Final = ("its opponent", "uniform")
"""The second bot of a request, whose label no other bot is likely to have."""

NO_SCORES: Final = "has no method scores(games)"
"""The message about a bot whose policy cannot be queried for many games at once."""

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
    if not hasattr(own, "scores"):
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
    return wrap(victim, _TEXT, "from bots.responder import Responder", how=how)


def question(victim: Entry) -> bytes:
    """Return the source of a Python bot that plays as another one, or a zip with its files.

    It fails if that bot leaves other rules than the published ones to another strategy, or if it
    has no method `scores`.
    """
    words = {"lacks": NO_SCORES, "falls_back": FALLS_BACK}
    return wrap(victim, _QUESTION, "from engine import STANDARD", **words)


def respond_to_clone(victim: Entry, clone: Clone, *, blind: bool = False) -> bytes:
    """Return a zip of the best response to a clone, and of the clone."""
    about = (
        f"a clone of {victim.label}, which plays as it does in {100 * clone.alike:.0f} % of choices"
    )
    doubt = min(0.9, max(0.02, round(1 - clone.alike, 2)))
    text = _TEXT.format(
        label=plain_label(about),
        imports="from bots.responder import Responder\n"
        "from engine import Setup, Strategy\n\nfrom .victim import victim",
        how=f"setup, doubt={doubt}, blind={blind}",
        victim="victim",
    )
    files = {MAIN: text.encode(), INNER: _NETWORK.encode(), "victim.npz": clone.content}
    return make_archive(files, MAIN)


TEACHER: Final = "apprentice"
"""The opponent in these games; its network is the start of a clone."""


def play_to_learn(
    victim: Entry,
    folder: Path,
    executor: Executor,
    pairs: int,
    seed: int,
    shown: int,
) -> None:
    """Play so many pairs into a folder, but for games that are there.

    Raises InputError for bots that do not load, and what `run` raises.
    """
    tournament = make_tournament(Config([], pairs, name=folder.name, seed=seed))
    tournament = replace(tournament, entries=[resolve(TEACHER, label="network"), victim])
    prepare(tournament, folder, strict=True)
    play_games(tournament, executor, RunFolder(folder), shown)


def learn_clone(folder: Path, pairs: int, seed: int) -> Clone:
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


_TRIALS: Final = 16  # of a bot that may draw by chance, at each view


class Small(NamedTuple):
    """How much a bot loses in a small game to the best opponent that knows it, from 0 to 1.

    `low` and `high` are the ends of a 95 % interval, which are equal if the number is `exact`. The
    bot was asked `trials` times at each of the `views` at which it has a choice.
    """

    game: str
    exact: bool
    low: float
    high: float
    views: int
    trials: int

    def line(self) -> str:
        """Return the finding for a terminal.

        >>> Small("points", False, 0.6403, 0.7511, 253, 16).line()
        '  points: 0.640..0.751 (95 %), a sample: asked 16 times at each of 253 choices'
        """
        if self.exact:
            return f"  {self.game}: {self.low:.4f}, exact: asked at each of {self.views:,} choices"
        how = f"asked {self.trials} times at each of {self.views:,} choices"
        return f"  {self.game}: {write_ends(self.low, self.high, '.3f')} (95 %), a sample: {how}"


def probe_small(victim: Entry, seed: int, *, shown: bool) -> Iterator[Small]:
    """Yield what a bot loses in each small game.

    It is exact for a bot that has `scores`, which plays the action with the highest score and so
    always the same one. Raises InputError for a bot that fails, and for one that leaves these rules
    to another bot, whose figure this would be.
    """
    is_exact: bool | None = None
    for name, rules, exploit in hook("small_games")():
        try:
            is_exact = _is_scored(victim, rules) if is_exact is None else is_exact
            trials = 1 if is_exact else _TRIALS
            with asking(victim, rules) as make, show_progress(0, shown=shown) as bar:
                low, high, views = exploit(partial(_choose, make, bar, (seed, name)), trials)
        except Forfeit as forfeit:
            raise InputError(f"{victim.label}: {_explain(forfeit.fault.message)}") from None
        yield Small(name, is_exact, low, high, views, trials)


def _is_scored(victim: Entry, rules: Rules) -> bool:
    """Return whether a bot has the method `scores`; raises Forfeit if it falls back."""
    if victim.command or victim.lane == "remote":
        return False
    lane = None if victim.lane == "inproc" else victim.lane
    content = question(victim)
    with scratch_folder() as folder:
        file = folder / f"question{ending_of(content)}"
        file.write_bytes(content)
        try:
            with asking(resolve(str(file), lane=lane), rules) as make:
                make(0, 0)
        except Forfeit as forfeit:
            if NO_SCORES not in forfeit.fault.message:
                raise
            return False
    return True


def _explain(message: str) -> str:
    _, falls_back, another = message.partition(FALLS_BACK)
    return f"{falls_back}{another}, so it has no figure of its own" if another else message


def _choose(
    make: Callable[[Seat, int], Asked], bar: Progress, place: Any, seen: View, number: int
) -> Action:
    """Return the action of a new strategy at a view."""
    luck = stream(*place, seen.to_text(), number).getrandbits(62)
    bar.add(1)
    return CHARS.index(make(seen.seat, luck).choose(seen))
