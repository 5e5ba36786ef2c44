"""What a player asks its bot, and what it does with the answers; no process is started."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from arena.lanes.faults import Fault, Forfeit
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer, Choose, End, New
from arena.tournament.match import Doubt, Question, Reply
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from engine.strategy import Clock, Spent
from engine.view import view
from tests.positions import at, dealt

DEAL = dealt("55667", "78822", "88", removed="CCC")
SEEN = view(at(DEAL, "57T8"), 0)


class Process:
    """A stub of a bot's process that runs and has printed something."""

    pid: int | None = 1
    is_warm = True
    limits = Limits(start=5.0)

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def forget_output(self) -> None:
        self.calls.append("forget_output")

    def printed(self) -> str:
        return "hello"


def reply(spent: Spent, shared: int = 1, **answer: Any) -> Reply:
    """Return an answer to one of so many questions, which took this time together."""
    share = spent if shared == 1 else Spent(*(part / shared for part in spent))
    return Reply(Answer(1, **answer), spent, share)


class Seat:
    """A player of game 3 at seat 0, with what a test reads."""

    def __init__(self, clock: Clock) -> None:
        self.process: Any = Process()
        self.clock, self.timing = clock, Timing()
        self.asked: list[bytes | None] = []
        self.player = RemotePlayer(
            self.process, 3, 0, 0xABC, self.clock, self.timing, self.asked.append
        )

    def choose(self, seconds: float, **answer: Any) -> tuple[Question, int]:
        """Return the question to the bot, and the action that the player takes from its answer."""
        asking = self.player.choose(SEEN)
        question = next(asking)
        with pytest.raises(StopIteration) as stop:
            asking.send(reply(Spent(seconds, seconds), **answer))
        action: int = stop.value.value
        return question, action

    def fault(self, seconds: float, **answer: Any) -> Fault:
        """Return the fault that this answer raises."""
        asking = self.player.choose(SEEN)
        next(asking)
        with pytest.raises(Forfeit) as caught:
            asking.send(reply(Spent(seconds, seconds), **answer))
        return caught.value.fault


def test_a_bot_is_asked_with_all_that_its_seat_sees() -> None:
    """The row, the piles and the history as text, and the seconds left."""
    seat = Seat(Clock(decision=2.0, game=9.0))
    question, action = seat.choose(action="5", seconds=0.5)
    assert (question.process, question.allowed) == (seat.process, (2.0, inf, inf))
    assert question.message == Choose(
        game=3,
        seat=0,
        legal="567",
        hand="5667",
        row="8",
        piles=("5788", ""),
        taken=(True, False),
        history="57T8",
        opening="88",
        round=1,
        opponent_cards=3,
        seconds_left=2.0,
    )
    assert action == 0
    assert seat.asked == [b"\x00\x02\x0b\x03"]


def test_a_game_begins_in_a_process_that_runs_and_has_printed_nothing() -> None:
    """The message has the seed in 32 digits and both limits; the answer is ready, not an action."""
    seat = Seat(Clock(decision=2.0, game=9.0))
    asking = seat.player.begin()
    question = next(asking)
    assert seat.process.calls == ["start", "forget_output"]
    assert seat.asked == [None]
    assert question.message == New(
        game=3,
        seat=0,
        seed="0" * 29 + "abc",
        seconds_per_decision=2.0,
        seconds_per_game=9.0,
    )
    with pytest.raises(StopIteration):
        asking.send(reply(Spent(wall=0.75, cpu=0.5), ready=True))
    assert (seat.clock.used, seat.clock.waited) == (0.5, 0.75)
    assert (seat.timing.decisions, seat.timing.cpu.total) == (1, 0.5)


def test_a_bot_without_a_limit_is_waited_for_indefinitely() -> None:
    """Its time is still counted."""
    seat = Seat(Clock())
    question, _ = seat.choose(action="5", seconds=1e6)
    assert question.allowed == (inf, inf, inf)
    assert (seat.clock.used, seat.timing.wall.longest) == (1e6, 1e6)


def test_only_a_running_process_gets_a_message_at_the_end() -> None:
    """A dead one is not started for it."""
    seat = Seat(Clock())
    assert next(seat.player.end()).message == End(game=3)
    seat.process.pid = None
    assert list(seat.player.end()) == []


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("8", "illegal action 3 (8); legal: 5 6 7"),
        ("T", "illegal action 11 (T); legal: 5 6 7"),
        ("?", "illegal action '?'; legal: 5 6 7"),
        ("", "illegal action ''; legal: 5 6 7"),
        ("56", "illegal action '56'; legal: 5 6 7"),
    ],
)
def test_an_illegal_answer_is_named_with_the_legal_actions(action: str, message: str) -> None:
    """Also one that begins with a legal action, and one that is no action."""
    fault = Seat(Clock()).fault(action=action, seconds=0.1)
    assert fault == Fault("illegal", message, "", "hello")


def test_an_answer_without_an_action_is_a_fault_of_the_protocol() -> None:
    """The bot has answered, but not the question."""
    fault = Seat(Clock()).fault(ready=True, seconds=0.1)
    assert fault == Fault("protocol", "the answer has no action", "", "hello")


def test_a_late_answer_is_counted_and_lost() -> None:
    """The message names the limit that was exceeded: the decision's or the game's."""
    seat = Seat(Clock(decision=2.0))
    assert seat.choose(action="5", seconds=2.0)[1] == 0
    assert seat.fault(action="5", seconds=2.5) == Fault(
        "timeout", "no answer within 2 s", "", "hello"
    )
    assert seat.timing.wall.longest == 2.5
    fault = Seat(Clock(decision=5.0, game=2.0)).fault(action="5", seconds=2.5)
    assert fault.message == "the 2 s of the game are used up"


def test_a_share_of_a_message_is_charged_unless_it_may_have_been_too_much() -> None:
    """Four answers took 1.5 s: no one of them was late. After twice as much, one may have been.

    The same holds for what may have been used of the game.
    """
    seat = Seat(Clock(decision=2.0, game=4.0))

    def answer(spent: Spent) -> None:
        asking = seat.player.choose(SEEN)
        next(asking)
        with pytest.raises(StopIteration):
            asking.send(reply(spent, 4, action="5"))

    answer(Spent(wall=1.5, cpu=1.5))
    answer(Spent(wall=9.0, cpu=0.5, before=1.5))
    assert seat.clock.used == 0.875
    assert seat.timing.wall.longest == 2.25
    for seconds in (3.0, 1.0):
        with pytest.raises(Doubt):
            answer(Spent(seconds, seconds))


def thrown(kind: str, spent: Spent | None = None) -> Fault:
    """Return the game's fault after the process has failed with a fault of this kind."""
    seat = Seat(Clock(decision=2.0, backstop=30.0))
    asking = seat.player.choose(SEEN)
    next(asking)
    with pytest.raises(Forfeit) as caught:
        asking.throw(Forfeit(kind, "(half a line)", "trace", "printed", spent=spent))
    return caught.value.fault


def test_a_process_killed_for_its_silence_was_late() -> None:
    """The message names the limit first, then what is known of the answer."""
    assert thrown("timeout", Spent(2.5, 2.5)) == Fault(
        "timeout", "no answer within 2 s (half a line)", "", "printed"
    )
    assert thrown("timeout", Spent(30.5, 0.5)) == Fault(
        "timeout", "no answer within 30 s by the wall clock (half a line)", "", "printed"
    )


def test_every_other_failure_of_the_process_is_kept() -> None:
    """A timeout that a running process reports itself, and faults of other kinds."""
    for kind in ("timeout", "crash"):
        assert thrown(kind) == Fault(kind, "(half a line)", "trace", "printed")


def test_the_first_decision_of_a_process_has_the_limit_of_a_start() -> None:
    """A program that warms up is not late in each new process, and no game's time is used."""
    seat = Seat(Clock(decision=1.0))
    seat.process.is_warm = False
    question, _ = seat.choose(4.0, action="5")
    assert question.allowed.charged == 5.0
    assert seat.clock.used == 0.0
    seat.process.is_warm = True
    question, _ = seat.choose(0.5, action="5")
    assert question.allowed.charged == seat.clock.decision
    assert seat.clock.used == 0.5
