"""Say how much a bot loses in small games that are solved: exactly, or within an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from arena.addons import hook
from arena.addons.learn.opponents import FALLS_BACK, NO_SCORES, ending_of, question
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.faults import Forfeit
from arena.lanes.scratch import scratch_folder
from arena.runs.progress_bar import Progress, show_progress
from arena.statistics.wording import write_ends
from arena.tournament.thinking import Asked, asking
from engine import Action, Rules, Seat, View
from engine.cards import CHARS
from engine.seeds import stream

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
    with scratch_folder() as folder:
        for scored in (False, True):
            content = question(victim, scored=scored)
            file = folder / f"question{scored}{ending_of(content)}"
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
