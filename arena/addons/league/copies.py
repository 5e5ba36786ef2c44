"""Find how much a bot is like those of others: by its choices, and by its syntax tree.

Every bot is asked at the same positions, drawn by the secret seed of the league, with equal seeds
of its own generator. So renamed variables and moved functions hide no copy. What is found is a
number for the organiser, and no verdict: independent bots choose alike, too, as `USUAL` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.addons.league.league_tables import Copy, Version
from arena.addons.league.ledger import Ledger
from arena.entries.entry import Entry
from arena.entries.source_reader import PARTS
from arena.lanes.faults import Forfeit
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, End, Message
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from engine import Rules, State
from engine.cards import CHARS
from engine.seeds import address, digest, stream
from engine.state import random_deal
from engine.view import View, view

GAMES: Final = 24
"""Games in which a bot is asked at every decision of one seat that is not forced."""

SECONDS: Final = 20.0
"""Seconds of a bot's work on its choices; a slow one is asked at fewer positions."""

_UNKNOWN: Final = "-"  # no answer, or an invalid one
_LEAST: Final = 50  # positions at which both have answered
_LEAST_PARTS: Final = 40  # of the smaller tree: those of tiny bots are alike by chance
_MOST_FAULTS: Final = 3
_MOST_KEPT: Final = 5  # versions to which a new one is nearest
_MOST_TOLD = 3  # of them, in a line each
_WORD: Final = np.dtype("<u4")  # of a syntax tree
_ALL: Final = 2**32 - 1


class Trace(NamedTuple):
    """What a bot chose, a character for each position, and the sketch of its syntax tree."""

    moves: str = ""
    tree: bytes = b""


def draw_views(seed: int, rules: Rules, game: int) -> Iterator[View]:
    """Yield the views of one seat at its decisions in a random game, without forced ones.

    >>> from engine import STANDARD
    >>> sum(1 for game in range(GAMES) for _ in draw_views(7, STANDARD, game)) > 300
    True
    """
    rng = stream(seed, "copies", game)
    state = State(random_deal(rng, rules), rules)
    while not state.over:
        legal = state.legal()
        if len(legal) > 1 and state.to_act == game % 2:
            yield view(state, state.to_act)
        state.apply(rng.choice(legal))


def ask_moves(
    entry: Entry,
    seed: int,
    rules: Rules,
    limits: Limits,
    seconds: float = SECONDS,
    waiting: Callable[[], None] = lambda: None,
) -> str:
    """Return what a bot chooses at the positions of a league, in its own lane.

    It ends after `seconds` of its work, or a few faults. `waiting` is called regularly.
    """
    moves: list[str] = []
    faults, used = 0, 0.0
    with (
        scratch_folder() as folder,
        bot_process(entry, rules, limits, folder / BOT, waiting) as process,
    ):
        for game in range(GAMES):
            asking = _Asking(process, digest(address(seed, "copies", game, "bot")), game % 2)
            for one in draw_views(seed, rules, game):
                if used + asking.used >= seconds or faults >= _MOST_FAULTS:
                    return "".join(moves)
                moves.append(asking.choose(one))
                faults += asking.has_failed
            asking.end()
            used += asking.used
    return "".join(moves)


class _Asking:
    """Asks a bot in one game; after a fault it is not asked again in this game."""

    def __init__(self, process: BotProcess, luck: int, seat: int) -> None:
        self.process = process
        self.player = RemotePlayer(process, 0, seat, luck, process.limits.clock(), Timing())
        self.has_begun = False
        self.has_failed = False
        self.is_over = False
        self.used = 0.0  # seconds that count against the bot

    def choose(self, seen: View) -> str:
        """Return the character of the bot's action, or - without a valid one."""
        self.has_failed = False
        if self.is_over:
            return _UNKNOWN
        try:
            if not self.has_begun:
                self.process.start()
                self._ask(self.player.begin_message())
                self.has_begun = True
            action = self._ask(self.player.choose_message(seen)).action or ""
        except Forfeit:
            self.has_failed = self.is_over = True
            return _UNKNOWN
        number = CHARS.find(action) if len(action) == 1 else -1
        return action if number in seen.legal else _UNKNOWN

    def end(self) -> None:
        """Tell the bot that the game is over."""
        if self.has_begun and not self.is_over:
            try:
                self._ask(End(game=0))
            except Forfeit:
                self.has_failed = True

    def _ask(self, message: Message) -> Answer:
        (answer,), spent = self.process.ask([message], self.process.limits.longest)
        self.used += spent.charged
        if isinstance(answer, Forfeit):
            raise answer
        return answer


def share_of_moves(one: str, other: str) -> tuple[float | None, int]:
    """Return the share of positions at which two bots chose alike, and the number of positions.

    Positions without an answer do not count; the share is None if few are left.

    >>> share_of_moves(60 * "5T", 60 * "5C"), share_of_moves("5T", "5C")
    ((0.5, 120), (None, 2))
    """
    both = min(len(one), len(other))
    first, second = (np.frombuffer(text[:both].encode(), np.uint8) for text in (one, other))
    known = (first != ord(_UNKNOWN)) & (second != ord(_UNKNOWN))
    count = int(known.sum())
    share = int(((first == second) & known).sum()) / max(1, count)
    return (share if count >= _LEAST else None), count


def share_of_trees(one: bytes, other: bytes) -> float | None:
    """Return the share of the smaller syntax tree that the other one has, None for a tiny one.

    Both are sketches: the smallest hashes of the parts of a tree, so the same hashes of both count.
    Source: Broder 1997, "On the resemblance and containment of documents".

    >>> share_of_trees(bytes(range(200)), bytes(range(240))), share_of_trees(b"", b"1234")
    (1.0, None)
    """
    trees = [np.frombuffer(tree, _WORD) for tree in (one, other)]
    known = min((tree[-1] for tree in trees if len(tree) == PARTS), default=_ALL)
    first, second = (tree[tree <= known] for tree in trees)
    smaller = min(len(first), len(second))
    if smaller < _LEAST_PARTS:
        return None
    return len(np.intersect1d(first, second, assume_unique=True)) / smaller


USUAL_MOVES: Final = 0.8
USUAL_TREE: Final = 0.22
"""What 95 of 100 pairs of independent bots do not exceed: those of bots/ (docs/league.md)."""


def find_copies(
    ledger: Ledger, version: Version, trace: Trace, same: Sequence[Version]
) -> list[Copy]:
    """Return the versions of other owners to which a new one is nearest, and those of its program.

    `same` are those that differ only in comments and layout.
    """
    found = {one.id: Copy(version.id, one.id, True, None, 0, None) for one in same}
    for other, moves, tree in ledger.traces(version.owner):
        share, positions = share_of_moves(trace.moves, moves)
        is_same = other in found
        copy = Copy(version.id, other, is_same, share, positions, share_of_trees(trace.tree, tree))
        found[other] = copy
    ordered = sorted(found.values(), key=_nearness, reverse=True)
    return [
        one
        for number, one in enumerate(ordered)
        if one.same or (number < _MOST_KEPT and (one.moves or one.tree))
    ]


def _nearness(one: Copy) -> tuple[bool, float, int]:
    return one.same, max(one.moves or 0.0, one.tree or 0.0), -one.other


def nearest(copies: Sequence[Copy]) -> Copy | None:
    """Return the nearest one of some copies, None without any."""
    return max(copies, key=_nearness, default=None)


def describe_copies(ledger: Ledger, version: Version) -> Iterator[str]:
    """Yield lines for the organiser about those to which a version is nearer than is usual.

    The nearest have a line each, and the others one together.
    """
    lines = [*_describe_each(ledger, version)]
    yield from lines[:_MOST_TOLD]
    if more := len(lines[_MOST_TOLD:]):
        yield f"note: {version.title} is as near to {more} more; `arena league copies` has them"


def _describe_each(ledger: Ledger, version: Version) -> Iterator[str]:
    found = ledger.copies("version = ?", version.id)
    for one in sorted(found, key=_nearness, reverse=True):
        (other,) = ledger.versions("id = ?", one.other)
        if one.same:
            yield f"warning: but for comments {version.title} is the same as {other.title}"
        elif (one.moves or 0.0) > USUAL_MOVES or (one.tree or 0.0) > USUAL_TREE:
            yield f"note: {version.title} and {other.title} of {other.owner}: {describe(one)}"


def describe(one: Copy) -> str:
    """Return how much two versions are alike, in words.

    >>> describe(Copy(2, 1, False, 0.955, 400, 0.5))
    '96 % of 400 choices alike, 50 % of the smaller syntax tree'
    """
    parts = ["the same program but for comments"] if one.same else []
    if one.moves is not None:
        parts.append(f"{100 * one.moves:.0f} % of {one.positions:,} choices alike")
    if one.tree is not None:
        parts.append(f"{100 * one.tree:.0f} % of the smaller syntax tree")
    return ", ".join(parts) or "too few choices to compare"
