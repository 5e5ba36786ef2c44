"""Probe a bot: write the opponent that knows its policy, and let the two play."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.entries.archive import MAGIC, read_archive
from arena.entries.entry import Entry
from arena.entries.identity import imported_bots
from arena.entries.pack import write_file, write_packed
from arena.entries.resolve import BOTS, resolve
from arena.entries.spec import is_file
from arena.errors import InputError, counted
from arena.executors.contract import Executor
from arena.executors.log import NORMAL, QUIET
from arena.runs.clone_bot import learn_clone, play_to_learn
from arena.runs.prepare import prepare
from arena.runs.run import run
from arena.runs.teach_opponent import Taught, policy_of, teach
from arena.statistics.intervals import score_interval
from arena.store.store import Store
from arena.tournament.config import Config, make_tournament
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.batch.learner import Clone

HOW: Final = "--minutes M learns it from games (docs/probe.md)"

NO_SCORES: Final = "has no method scores(games)"
"""What `bots.responder` says of a bot whose policy cannot be asked in many games."""

_MAIN: Final = "response.py"
_TEXT: Final = '''\
"""Plays the best response to {label}; written by `arena probe`."""

{imports}


def bot(setup: Setup) -> Strategy:
    """Return what responds to a bot whose policy it knows."""
    return Responder({how}).meet(setup, {victim})
'''


_CLONE: Final = b'''\
"""Plays as another bot does, by a network that has learned from its games."""

import pkgutil

from bots.apprentice import begin, read

network = read(pkgutil.get_data(__name__, "victim.npz"))


def victim(setup):
    """Return the strategy for one game."""
    return begin(network, setup)
'''


_NETWORK: Final = b'''\
"""Plays by a network that has learned against one bot; written by `arena probe`."""

import pkgutil

from bots.apprentice import begin, read

network = read(pkgutil.get_data(__name__, "weights.npz"))


def bot(setup):
    """Return the strategy for one game."""
    return begin(network, setup)
'''


class Learned(NamedTuple):
    """By how many pairs a clone was made, and in which share of choices it plays as the bot does.

    `before` is that of `apprentice`, from which it was made.
    """

    pairs: int
    alike: float
    before: float


class Probed(NamedTuple):
    """What a probe came to: by how much the opponent has won in so many pairs, and its file.

    The opponent may know only a `clone`, or be a network that was `taught` in so many games.
    """

    bot: str
    file: str
    pairs: int
    score: float
    low: float
    high: float
    clone: Learned | None = None
    taught: int | None = None

    @property
    def sentence(self) -> str:
        """What is known of the bot now, and no more than that."""
        between = f"({100 * self.low:.0f}..{100 * self.high:.0f})"
        if self.low <= 1 / 2:
            share = f"{100 * self.score:.0f} % {between}"
            return f"{self.bot} loses {share} to this opponent, perhaps more to another one"
        return f"{self.bot} loses at least {100 * self.score:.0f} % {between} to this opponent"

    def by(self, how: Learned | int | None) -> Probed:
        """Return the same, with how the opponent has learned."""
        if isinstance(how, int):
            return self._replace(taught=how)
        return self._replace(clone=how)

    def document(self) -> dict[str, Any]:
        """Return what `arena probe --json` prints."""
        clone = self.clone._asdict() if self.clone else None
        return self._asdict() | {"sentence": self.sentence, "clone": clone}

    def lines(self) -> Iterator[str]:
        """Yield what the command prints."""
        yield self.sentence
        yield f"in {counted(self.pairs, 'pair')}; the opponent is {self.file}"
        if self.taught is not None:
            yield f"it is a network that has learned in {counted(self.taught, 'game')} against it"
        if self.clone:
            pairs, alike, before = self.clone
            yield (
                f"it knows only a clone, learned from {counted(pairs, 'pair')}: "
                f"the same action in {100 * alike:.0f} % of choices"
            )
            yield f"  (apprentice, of which it was made: {100 * before:.0f} %)"


def name_of(victim: Entry) -> str:
    """Return what the opponent of a bot is called."""
    return f"probe-{re.sub(r'[^0-9A-Za-z_.]+', '-', victim.label).strip('-.')}"


def write_opponent(victim: Entry, file: Path | None, content: bytes, *, force: bool) -> Path:
    """Write the opponent of a bot, and return its place.

    Raises InputError for a place at which no bot can be written, and for another file there, unless
    with `force`.
    """
    path = file or Path(f"{name_of(victim)}.py")
    if not (path.is_file() and path.read_bytes() == content):
        write_file(path, content, [], force=force)
    return path


def _make_opponent(victim: Entry) -> bytes:
    """Return the source of the bot that responds to another one, packed with the bot's files.

    Raises InputError for a program.
    """
    if victim.command:
        raise InputError(f"bot {victim.target!r}: it {NO_SCORES}; {HOW}")
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


def _respond_to_clone(victim: Entry, clone: Clone) -> bytes:
    """Return the source of the bot that responds to a clone, which is in its files."""
    about = (
        f"a clone of {victim.label}, which plays as it does in {100 * clone.alike:.0f} % of choices"
    )
    doubt = min(0.9, max(0.02, round(1 - clone.alike, 2)))
    text = _TEXT.format(
        label=_plain(about),
        imports="from bots.responder import Responder\n"
        "from engine import Setup, Strategy\n\nfrom .victim import victim",
        how=f"setup, doubt={doubt}",
        victim="victim",
    )
    files = {_MAIN: text.encode(), "victim.py": _CLONE, "victim.npz": clone.content}
    return write_packed(files, _MAIN, imported_bots(files, BOTS))


def _play_network(taught: Taught) -> bytes:
    """Return the source of the bot that plays by a network."""
    files = {"network.py": _NETWORK, "weights.npz": taught.content}
    return write_packed(files, "network.py", imported_bots(files, BOTS))


def _plain(label: str) -> str:
    return label.replace('"', "'").replace("\\", "/")


def _text(victim: Entry, module: str) -> bytes:
    """Return the source of the bot; `module` is where it finds the other one."""
    imports = [f"from {module} import bot as victim", "from bots.responder import Responder"]
    imports = [*sorted(imports), "from engine import Setup, Strategy"]
    made = "victim"
    if victim.params:
        imports.insert(0, "from functools import partial\n")
        made = f"partial(victim, **{victim.params!r})"
    filled = {"label": _plain(victim.label), "imports": "\n".join(imports), "victim": made}
    return _TEXT.format(how="setup", **filled).encode()


def _meet(victim: Entry, file: Path, pairs: int, seed: int) -> Tournament:
    """Return the tournament in which a bot meets the opponent in this file.

    A bot of ours is played in the worker, with its opponent.
    """
    text = os.fspath(file)
    spec = text if is_file(text) else os.path.join(os.curdir, text)
    lane = victim.lane if victim.is_ours else None
    opponent = resolve(spec, lane=lane)
    tournament = make_tournament(Config([], pairs, name="probe", seed=seed))
    return replace(tournament, entries=[opponent, victim])


def probe(
    victim: Entry, file: Path, pairs: int, seed: int, executor: Executor, shown: int = NORMAL
) -> Probed:
    """Let a bot meet the opponent in this file, and return what that came to.

    Raises InputError where one of the two forfeits a game, if it is in the first pair before the
    others are played. An opponent that cannot play is removed. Raises what `run` raises, too.
    """
    tournament = _meet(victim, file, pairs, seed)
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


class How(NamedTuple):
    """How an opponent is found: by `learn` pairs of games, or for so many `minutes`, or neither."""

    learn: int | None = None
    minutes: float | None = None


def find_opponent(
    victim: Entry,
    executor: Executor,
    file: Path | None,
    how: How,
    seed: int,
    shown: int,
    *,
    force: bool,
) -> tuple[Path, Learned | int | None]:
    """Write the opponent of a bot, and return its place and how it learned.

    Without `how` it responds to the bot. With it, a network learns against a bot of ours that can
    be asked in many games; of another one it learns a clone, and responds to that. The games to
    learn a clone from are kept in results/, in a folder of the bot's name and source, and the next
    call goes on from them. Ctrl-C keeps what a network has learned, and raises `Stopped`.
    """
    if how == How():
        return write_opponent(victim, file, _make_opponent(victim), force=force), None
    learn, seconds = how.learn, 60 * (how.minutes or 0)
    if policy := policy_of(victim):
        taught = teach(policy, 2 * learn if learn else None, seconds, seed)
        path = write_opponent(victim, file, _play_network(taught), force=force)
        if taught.stopped:
            raise Stopped(f"the opponent is kept in {path}, after {counted(taught.games, 'game')}")
        return path, taught.games
    folder = Path("results") / f"{name_of(victim)}-{victim.sha256[:8]}-{seed}"
    pairs = play_to_learn(victim, folder, executor, learn, seconds, seed, shown)
    clone = learn_clone(folder, pairs, seed)
    path = write_opponent(victim, file, _respond_to_clone(victim, clone), force=force)
    return path, Learned(pairs, clone.alike, clone.before)


class Stopped(KeyboardInterrupt):
    """Ctrl-C while a network learns: what is kept of it."""
