"""Ask a bot that lives elsewhere in place of a process: the lane `remote`.

The time of a decision is that from the request to the answer, less the time of an empty request,
which is measured here. What the server says it thought can only add to it. Whatever the network
does, no decision is played twice: each request has a key, and a repeated one gets the same answer.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter, sleep
from typing import Final

from arena.addons.remote.address import (
    KEY,
    SESSION,
    BadAnswer,
    Late,
    Line,
    Unreached,
    check_version,
    parse_address,
)
from arena.entries.entry import Entry
from arena.errors import InputError, Unreachable
from arena.lanes.faults import KINDS, Forfeit
from arena.lanes.limits import MOST_WAITING, Allowed, Budget, Limits
from arena.lanes.messages import Answer, Choose, Message, encode
from arena.lanes.meter import Held, Room
from arena.lanes.process import MOST_GAMES, MOST_LINE, BotProcess, Turn, read_answer
from arena.tokens import hide_secrets
from engine.strategy import Spent

MOST_PING: Final = 1.0
"""The most seconds of an empty request that are taken from the time of a decision."""

_PAUSES = (0.0, 0.2, 1.0, 2.0)  # seconds before each further try
_TICK = 0.1  # seconds between two signs of life
_PINGS = 3  # empty requests as a session begins
_KNOWN = 5  # the last ones, of which the longest counts
_PING = 5.0  # seconds in which an empty request is answered
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
        self.room = Room(Held())
        self.room.games = MOST_GAMES
        self.pings: deque[float] = deque(maxlen=_KNOWN)
        self._wire: Line | None = None
        self._session = ""
        self._reset()

    def _reset(self) -> None:
        self.is_warm = False
        self._asked = 0

    @property
    def pid(self) -> int | None:
        """0 while there is a session, else None."""
        return None if self._wire is None else 0

    @property
    def output_bytes(self) -> int:
        """Nothing is known of its output."""
        return 0

    @property
    def ping(self) -> float:
        """The seconds of an empty request, as far as they are taken from a decision."""
        return min(MOST_PING, max(self.pings, default=0.0))

    def prepare(self) -> None:
        """Nothing can be started ahead."""

    def start(self) -> None:
        """Begin a session if there is none."""
        if self._wire is not None:
            return
        self._reset()
        self._session = secrets.token_hex(16)
        try:
            address = parse_address(self.entry.target)
            self._wire = Line(address, public=self.entry.public, beat=self.waiting)
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
        self._check_version(hide_secrets(answer.version))
        self.games = max(1, min(MOST_GAMES, answer.games))
        for _ in range(_PINGS):
            self._measure()

    def _check_version(self, version: str) -> None:
        """Raise Unreachable if the server has another version than when its entry was made."""
        if version == self.entry.program:
            return
        self.kill()
        with suppress(InputError):
            check_version(version)
            now = f"{version!r} now, and was {self.entry.program!r}"
            raise self._outage(f"its version is {now}: it is another bot")
        raise self._outage("its version is another one now: it is another bot")

    def _outage(self, why: object) -> Unreachable:
        return Unreachable(f"{self.entry.label}: {self.entry.target}: {why}")

    def _measure(self) -> float:
        """Measure and return the time of an empty request; raises Unreachable."""
        assert self._wire is not None
        began = perf_counter()
        try:
            self._wire.ask(b"", {SESSION: self._session}, _PING, MOST_LINE)
        except (Unreached, BadAnswer) as error:
            self._drop()
            raise self._outage(f"an empty request: {error}") from None
        self.pings.append(perf_counter() - began)
        return self.pings[-1]

    def ask(self, messages: Sequence[Message], allowed: Allowed) -> Turn:
        """Send messages in one request, and return the answers with the time they took.

        The processor time is that of thinking, and the wall-clock time that of the whole.
        """
        first = self._asked
        for message in messages:
            message.id = self._asked
            self._asked += 1
        body = b"".join(map(encode, messages))
        try:
            data, wall = self._exchange(body, first, allowed, len(messages) * (MOST_LINE + 1))
        except BadAnswer as error:
            return Turn([self._kill_for(Forfeit("protocol", str(error)))], Spent(0.0, 0.0))
        except Forfeit as late:
            return Turn([self._kill_for(late)], late.spent or Spent(0.0, 0.0))
        answers, said = self._read(data, first, len(messages))
        if self._wire is not None and wall - self.ping - said > MOST_WAITING:
            self._measure()  # perhaps the network is slower now
        self.is_warm = self.is_warm or isinstance(messages[0], Choose)
        return Turn(answers, Spent(wall, min(wall, max(said, wall - self.ping))))

    def _exchange(
        self, body: bytes, number: int, allowed: Allowed, most: int
    ) -> tuple[bytes, float]:
        """Return the answer to a request, and the seconds since it was first sent.

        It is sent again with the same key after a failure of the network. Raises Unreachable when
        it has failed too often, and a Forfeit for no answer in time from a server that is there.
        """
        headers = {SESSION: self._session, KEY: f"{self._session}-{number}"}
        within = min(allowed.wall, allowed.charged + self.ping + MOST_PING)
        began, pauses = None, iter(_PAUSES)
        while True:
            assert self._wire is not None
            now = perf_counter()
            left = within - (now - began if began is not None else 0.0)
            try:
                data = self._wire.ask(body, headers, left, most)
                return data, perf_counter() - (now if began is None else began)
            except Late:
                wall = perf_counter() - (now if began is None else began)
                thought = max(0.0, wall - min(MOST_PING, self._measure()))
                raise Forfeit("timeout", "", spent=Spent(wall, thought)) from None
            except Unreached as error:
                pause = None if error.is_final else next(pauses, None)
                if self._wire.was_sent and began is None:
                    began = now
                if pause is None:
                    self._drop()
                    raise self._outage(error) from None
                self._wait(pause)

    def _wait(self, seconds: float) -> None:
        """Wait, and give signs of life."""
        end = perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            self.waiting()
            sleep(min(left, _TICK))

    def _read(self, data: bytes, first: int, count: int) -> tuple[list[Answer | Forfeit], float]:
        """Return the answers in a body, and the seconds that they say were thought.

        If the session has ended, the last one is the Forfeit for that.
        """
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        answers: list[Answer | Forfeit] = []
        said = 0.0
        for number, line in enumerate(lines[:count], first):
            try:
                answer = read_answer(line, number)
                said += max(0.0, answer.seconds)
                answers.append(answer if answer.error is None else self._refusal(answer))
            except Forfeit as forfeit:
                answers.append(self._kill_for(forfeit))
            if self._wire is None:
                return answers, said
        if len(lines) != count:
            text = f"{len(lines)} lines in answer to {count} messages"
            answers[count - 1 :] = [self._kill_for(Forfeit("protocol", text))]
        return answers, said

    def _refusal(self, answer: Answer) -> Forfeit:
        known = KINDS.get(answer.kind)
        kind = "exception" if known is None or known.is_final else answer.kind
        forfeit = Forfeit(kind, answer.error or "", answer.traceback, answer.output)
        return forfeit if kind in _GOES_ON else self._kill_for(forfeit)

    def _failed_start(self, forfeit: Forfeit) -> Forfeit:
        kind, message, traceback, output = forfeit.fault
        if kind == "timeout":
            message = f"no answer to `hello` within {self.limits.of_start.describe(forfeit.spent)}"
        return Forfeit(kind if kind == "params" else "import", message, traceback, output)

    def held(self) -> Held:
        """Nothing is known of what it uses."""
        return Held()

    def count_games(self, games: int) -> None:
        """Nothing is known of what its games leave behind."""

    def forget_output(self) -> None:
        """There is no output."""

    def printed(self) -> str:
        """Return nothing: there is no output."""
        return ""

    def dismiss(self, seconds: float) -> None:  # noqa: ARG002
        """End the session."""
        self.kill()

    def kill(self) -> None:
        """End the session; the server is told."""
        if self._wire is not None and self._asked:
            self._wire.end({SESSION: self._session})
        self._drop()

    def _drop(self) -> None:
        """Forget the session of a server that does not answer."""
        if self._wire is not None:
            self._wire.close()
        self._wire = None
