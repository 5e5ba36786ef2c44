"""Loop: a bot in one process with the whole game, as in the lane `inproc`, but not in ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from arena.check import trial
from arena.check.sparring import Sparring
from arena.lanes.faults import Forfeit, one_line
from arena.lanes.limits import Allowed
from arena.lanes.messages import Message
from arena.lanes.process import BotProcess, bot_process
from arena.tournament.schedule import Fixture
from engine import EngineError, Record
from engine.cards import to_text

_PATIENCE = 5.0  # seconds
_SLOWER = 5  # times that a decision may take of what it took in a process of its own


class Play(Message, kw_only=True):
    """A whole game for `trial`; the opponent follows `actions` where there are some, to `last`."""

    type: str = "play"
    seat: int
    seeds: list[str]
    deal: str
    opponent: str
    actions: str
    last: int
    seconds_per_decision: float
    seconds_per_game: float | None


class Loop:
    """Has games played again by `trial`; what that process says is not believed.

    `touched` is what the bot has touched that all code shares, and where it did so first.
    """

    def __init__(self, sparring: Sparring, process: BotProcess) -> None:
        self.sparring = sparring
        self.process = process
        self.patience = sparring.candidate.limits.decision + _PATIENCE
        self.patience += _SLOWER * sparring.timing.wall.mean * sparring.rules.game_plies
        self.touched: dict[str, str] = {}

    def play(
        self, fixture: Fixture, *, deal: bytes | None = None, actions: str = "", last: int = 0
    ) -> str:
        """Return the actions of a game; raise Forfeit for a fault.

        It is on the fixture's own deal unless another one is passed. With `actions`, the
        opponent plays those of a record, up to the ply `last`.
        """
        self.sparring.candidate.beat()
        self.process.start()
        allowed = Allowed(self.patience, self.sparring.candidate.limits.backstop_of(self.patience))
        (answer,), _ = self.process.ask([self._message(fixture, deal, actions, last)], allowed)
        if isinstance(answer, Forfeit):
            raise answer
        for line in answer.output.splitlines():
            what, _, where = line.partition(": ")
            self.touched.setdefault(what, one_line(where))
        return answer.action or ""

    def _message(self, fixture: Fixture, deal: bytes | None, actions: str, last: int) -> Play:
        limits = self.sparring.candidate.limits
        draw = fixture.draw(self.sparring.candidate.seed, self.sparring.rules)
        return Play(
            seat=fixture.seat,
            seeds=[f"{luck:032x}" for luck in draw.lucks],
            deal=to_text(deal or draw.deal),
            opponent=fixture.pairing.opponent,
            actions=actions,
            last=last,
            seconds_per_decision=limits.decision,
            seconds_per_game=limits.game,
        )

    def play_whole(self, fixture: Fixture) -> str:
        """Return the actions of a game, once they are a whole one; else raise Forfeit."""
        actions = self.play(fixture)
        rules = self.sparring.rules
        deal = to_text(fixture.draw(self.sparring.candidate.seed, rules).deal)
        try:
            over = Record(deal, actions, rules).replay().over
        except EngineError as error:
            raise Forfeit("protocol", f"its process reported an invalid game: {error}") from None
        if not over:
            raise Forfeit("protocol", "its process reported an unfinished game")
        return actions


@contextmanager
def open_loop(sparring: Sparring) -> Iterator[Loop]:
    """Yield a loop for the games of a sparring; kill its process at the end."""
    candidate = sparring.candidate
    with bot_process(
        candidate.entry,
        sparring.rules,
        candidate.limits,
        candidate.make_folder(),
        candidate.beat,
        program=trial.__file__,
    ) as process:
        yield Loop(sparring, process)
