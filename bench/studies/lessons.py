"""Whether a bot with one planted weakness is told that weakness first by `arena analyse`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

import arena
from arena.batch.lockstep import Lockstep
from arena.runs.costliest_mistake import Seen, find_costliest, find_mistakes
from arena.runs.judge_games import find_judge
from arena.tournament.config_keys import JUDGE, WORLDS
from arena.tournament.schedule import Fixture, Pairing
from bots.apprentice import bot as apprentice
from engine import CITY, TAKE, Action, Setup, Strategy, View, sample_hand

RUNS = 20
OPPONENT: Final = "apprentice"
WEAK: Final[Mapping[str, tuple[str, int, Callable[[View, Action], bool]]]] = {
    "keeps a city while it has another card": (
        "kept a city too long",
        50,
        lambda view, action: action == CITY and bool({*view.legal} - {CITY, TAKE}),
    ),
    "takes five cards only if it must": (
        "took too late",
        6,
        lambda view, action: action == TAKE and len(view.row) >= view.rules.take_size,
    ),
}
"""What a bot does wrong, what it is to be told, after how many pairs, and what it leaves out."""


class Weak:
    """Plays as `apprentice` but for the actions that its weakness leaves out."""

    def __init__(self, setup: Setup, weakness: str) -> None:
        self.own: Any = apprentice(setup)
        self.leaves_out = WEAK[weakness][-1]

    def choose(self, view: View, /) -> Action:
        """Return the allowed action with the highest score."""
        allowed = [one for one in view.legal if not self.leaves_out(view, one)] or [*view.legal]
        action: Action = self.own.choose(view)
        if action in allowed:
            return action
        games = Lockstep.from_view(view, [sample_hand(view, Random(0))])
        scores = self.own.scores(games)[0]
        return max(allowed, key=scores.__getitem__)


def bot(setup: Setup, weakness: str) -> Strategy:
    """Return the strategy for one game."""
    return Weak(setup, weakness)


def told(weakness: str, seed: int) -> str:
    """Return the kind of mistake that a bot with a weakness is told first."""
    pairs = WEAK[weakness][1]
    spec = f"{__name__}(weakness={weakness!r})"
    bots: list[Any] = [("weak", spec), OPPONENT]
    results = arena.run(bots, pairs=pairs, seed=seed, lane="inproc", workers=1, progress=False)
    games = [
        (Fixture(Pairing("weak", OPPONENT), pair, seat), results.game("weak", OPPONENT, pair, seat))
        for pair in range(pairs)
        for seat in (0, 1)
    ]
    judge = find_judge(JUDGE, WORLDS, 0)
    recorded = [Seen(*one, ()).recorded for one in games]
    judged = judge.judge(recorded)
    seen = [Seen(*one, rows) for one, rows in zip(games, judged, strict=True)]
    return find_costliest(find_mistakes("weak", seen), len(seen))


def lines() -> Iterator[str]:
    """Yield the section."""
    yield f"`apprentice` with a weakness meets `apprentice`, {RUNS} times in so many pairs."
    yield ""
    yield "| the weakness | pairs | to be told | told first | and else |"
    yield "|---|---|---|---|---|"
    for weakness, (mistake, pairs, _) in WEAK.items():
        met = Counter(told(weakness, seed) for seed in range(RUNS))
        others = ", ".join(f"{one or 'nothing'} ({n})" for one, n in met.items() if one != mistake)
        yield f"| {weakness} | {pairs} | {mistake} | {met[mistake]} of {RUNS} | {others} |"
