"""Ask a bot that lives elsewhere in place of a process: the lane `remote`.

A decision takes the time from the request to the answer, less that of an empty request, but at
most the `latency` of the limits, also if the server delays empty requests. Whatever the network
does, no decision is made twice: each request has a key, and a repeated one gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from arena.addons.remote.client import MOST_VERSION, Session, Unreached
from arena.entries.entry import Entry
from arena.errors import InputError, Unreachable
from arena.lanes.faults import KINDS, Forfeit
from arena.lanes.limits import Allowed, Budget, Limits
from arena.lanes.messages import Answer, Choose, Message
from arena.lanes.meter import Held, Room
from arena.lanes.pipes import Pipes
from arena.lanes.process import MOST_GAMES, BotProcess, Turn, read_answer
from arena.tokens import hide_secrets
from engine.strategy import Spent

_PAUSES: Final = (0.0, 0.2, 0.8, 1.0, 1.0, 1.0)  # seconds; a silent worker is given up after one
_PINGS: Final = 3  # when a session begins
_SLOW: Final = 0.1  # seconds of a decision, after which the network is measured again
_GOES_ON = ("illegal", "exception")  # faults after which the session can play other games


class RemoteBot(BotProcess):
    """A session of a bot's server, which begins when it is needed, in place of a process.

    A session is what a process is elsewhere: it plays one game of a pair at most, and ends after a
    fault. Raises Unreachable where the server cannot be asked, or has another version than before.
    """

    def __init__(
        self, entry: Entry, hello: Message, limits: Limits, waiting: Callable[[], None]
    ) -> None:
        self.entry = entry
        self.hello = hello
        self.limits = limits
        self.waiting = waiting
        self.budget = Budget()  # it may wait as long as its clock allows
        self.games = 1
        self.is_warm = False
        self.latency = 0.0
        self.room = Room(Held())  # nothing is known of what it uses
        self.room.games = MOST_GAMES
        self._process = None  # it has no process, and no output
        self._pipes = Pipes(None)
        self._session: Session | None = None

    @property
    def pid(self) -> int | None:
        """0 while there is a session, else None."""
        return None if self._session is None else 0

    def prepare(self) -> None:
        """Nothing can be started ahead."""

    def count_games(self, games: int) -> None:
        """Nothing is known of what its games leave behind."""

    def start(self) -> None:
        """Begin a session if there is none."""
        if self._session is not None:
            return
        self.is_warm = False
        try:
            self._session = Session(self.entry.target, _PAUSES, self.waiting)
        except InputError as error:
            raise self._outage(error) from None
        try:
            (answer,), _ = self.ask([self.hello], self.limits.of_start)
            if isinstance(answer, Forfeit):
                raise answer
            if not answer.ready:
                raise Forfeit("protocol", "the answer to hello is not ready")
        except Forfeit as forfeit:
            raise self._kill_for(self._failed_start(forfeit)) from None
        if (version := hide_secrets(answer.version)) != self.entry.program:
            self.kill()
            now = f"{version[:MOST_VERSION]!r} now, and was {self.entry.program!r}"
            raise self._outage(f"its version is {now}: it is another bot")
        self.games = max(1, min(MOST_GAMES, answer.games))
        self.latency = min(self._ping() for _ in range(_PINGS)) if self.limits.latency else 0.0

    def _ping(self) -> float:
        """Return what the network takes, as far as that is taken off; raises Unreachable."""
        assert self._session is not None
        try:
            return min(float(self.limits.latency), self._session.ping())
        except Unreached as error:
            raise self._outage(f"an empty request: {error}") from None

    def _failed_start(self, forfeit: Forfeit) -> Forfeit:
        kind, message, traceback, output = forfeit.fault
        if kind == "timeout":
            message = f"no answer to `hello` within {self.limits.start:g} s"
        return Forfeit(kind if kind == "params" else "import", message, traceback, output)

    def _outage(self, why: object) -> Unreachable:
        """Forget the session, and return the exception that leaves its games unplayed."""
        if self._session is not None:
            self._session.close()
        self._session = None
        return Unreachable(f"{self.entry.label}: {self.entry.target}: {why}")

    def ask(self, messages: Sequence[Message], allowed: Allowed) -> Turn:
        """Send messages in one request, and return the answers with the time they took.

        The processor time is that without the network.
        """
        assert self._session is not None
        first, seconds = self._session.asked, min(allowed.wall, allowed.charged + self.latency)
        try:
            lines, wall = self._session.ask(messages, seconds)
            if self.limits.latency and wall - self.latency > _SLOW:
                self.latency = self._ping()  # perhaps the network is slower now
        except Forfeit as forfeit:
            spent = forfeit.spent or Spent(0.0, 0.0)
            spent = Spent(spent.wall, max(0.0, spent.wall - self.latency))
            return Turn([self._kill_for(forfeit)], spent)
        except Unreached as error:
            raise self._outage(error) from None
        self.is_warm = self.is_warm or isinstance(messages[0], Choose)
        spent = Spent(wall, max(0.0, wall - self.latency))
        return Turn(self._read(lines, first, len(messages)), spent)

    def _read(self, lines: list[bytes], first: int, count: int) -> list[Answer | Forfeit]:
        """Return the answers in some lines; if the session has ended, the last is the Forfeit."""
        answers: list[Answer | Forfeit] = []
        for number, line in enumerate(lines[:count], first):
            try:
                answer = read_answer(line, number)
                answers.append(answer if answer.error is None else self._refusal(answer))
            except Forfeit as forfeit:
                answers.append(self._kill_for(forfeit))
            if self._session is None:
                return answers
        if len(lines) != count:
            text = f"{len(lines)} lines in answer to {count} messages"
            answers[count - 1 :] = [self._kill_for(Forfeit("protocol", text))]
        return answers

    def _refusal(self, answer: Answer) -> Forfeit:
        known = KINDS.get(answer.kind)
        kind = "exception" if known is None or known.is_final else answer.kind
        forfeit = Forfeit(kind, answer.error or "", answer.traceback, answer.output)
        return forfeit if kind in _GOES_ON else self._kill_for(forfeit)

    def kill(self) -> None:
        """End the session; the server is told."""
        if self._session is not None:
            self._session.end()
        self._session = None
