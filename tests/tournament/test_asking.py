"""Games whose players are asked in other processes, here scripted, and what a player sends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from math import inf
from typing import Any

import pytest

from arena.lanes.faults import Fault, Forfeit
from arena.lanes.limits import Allowed, Limits
from arena.lanes.messages import Answer, Choose, End, New
from arena.tournament.match import (
    Asking,
    Doubt,
    Finished,
    Question,
    Reply,
    play_asking,
    play_together,
    result_of,
)
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from engine import View, to_text
from engine.cards import CHARS
from engine.strategy import Clock, Spent
from engine.view import view
from tests.positions import at, dealt, quiet_game

DEAL = dealt("55667", "78822", "88", "55667", "78833", "56677", "78xxx", "8224y", removed="CCC")


class Process:
    """Answers each message with the same text in capitals, and keeps what it was sent."""

    def __init__(self, fails: Sequence[str] = (), dies: Sequence[str] = ()) -> None:
        self.fails, self.dies = fails, dies
        self.pid: int | None = 1
        self.sent: list[list[str]] = []
        self.waited: list[float] = []

    def ask(self, messages: list[str], allowed: Allowed) -> tuple[list[object], Spent]:
        self.sent.append(messages)
        self.waited.append(allowed.charged)
        answers: list[object] = []
        for message in messages:
            fails = message in (*self.fails, *self.dies)
            answers.append(Forfeit("exception", message) if fails else message.upper())
            if message in self.dies:
                self.pid = None
                break
        return answers, Spent(0.5, 0.25)


def game(process: Process, name: str, questions: int) -> Asking[Any]:
    """Ask this many questions; return the answers, or a fault's message where one failed."""
    heard: list[object] = []
    for number in range(questions):
        allowed = Allowed(number + 0.5)
        try:
            reply = yield Question(process, f"{name}{number}", allowed)
            heard.append(reply.answer)
            if reply.answer == "DOUBT0":
                raise Doubt
        except Forfeit as forfeit:
            heard.append(forfeit.fault.message)
    return heard


def together(*games: Asking[Any]) -> list[Any]:
    return list(play_together(games))


def test_the_process_with_the_most_questions_is_asked_for_all_its_games_at_once() -> None:
    one, other = Process(), Process()
    games = [game(one, "a", 2), game(other, "b", 1), game(one, "c", 3), game(one, "d", 0)]
    assert together(*games) == [["A0", "A1"], ["B0"], ["C0", "C1", "C2"], []]
    assert one.sent == [["a0", "c0"], ["a1", "c1"], ["c2"]]
    assert other.sent == [["b0"]]
    assert one.waited == [0.5, 1.5, 2.5]
    assert together() == []


def test_all_answers_together_have_the_smallest_limit_and_share_the_time() -> None:
    process, heard = Process(), []

    def late() -> Asking[Any]:
        heard.append((yield Question(process, "late", Allowed(9.5))))

    together(late(), game(process, "a", 1))
    assert process.waited == [0.5]
    assert heard == [Reply("LATE", Spent(0.5, 0.25), Spent(0.25, 0.125))]


def test_a_game_in_doubt_is_undecided_and_the_others_go_on() -> None:
    process = Process()
    results = together(game(process, "doubt", 3), game(process, "a", 2))
    assert results == [None, ["A0", "A1"]]
    assert process.sent == [["doubt0", "a0"], ["a1"]]


def test_a_fault_is_raised_in_the_game_whose_bot_made_it_also_if_its_process_dies() -> None:
    process = Process(fails=["a0", "b1"])
    results = together(game(process, "a", 2), game(process, "b", 3))
    assert results == [["a0", "A1"], ["B0", "b1", "B2"]]
    process = Process(dies=["b1"])
    assert together(game(process, "a", 1), game(process, "b", 2)) == [["A0"], ["B0", "b1"]]


def test_a_process_that_dies_with_several_games_open_leaves_all_of_them_undecided() -> None:
    process, heard = Process(dies=["b1"]), []

    def listening() -> Asking[Any]:
        try:
            yield from game(process, "c", 3)
        except GeneratorExit:
            heard.append("closed")
            raise

    results = together(game(process, "a", 1), game(process, "b", 3), listening())
    assert results == [["A0"], None, None]
    assert heard == ["closed"]
    assert process.sent == [["a0", "b0", "c0"], ["b1", "c1"]]


def test_a_dead_process_is_not_asked_for_its_other_answers() -> None:
    """It sends no more, and another process is not asked: its game is undecided, too."""
    dead, alive = Process(dies=["a0"]), Process()
    results = together(game(dead, "a", 2), game(dead, "b", 2), game(alive, "c", 2))
    assert results == [None, None, None]
    assert (dead.waited, alive.waited) == ([0.5], [])


class Scripted:
    """A player in this process that plays these actions, and fails in a call of this name."""

    def __init__(self, actions: str, fails: str) -> None:
        self.actions, self.fails = iter(actions), fails
        self.calls: list[str] = []

    def begin(self) -> None:
        self.call("begin")

    def choose(self, _view: View, /) -> int:
        self.call("choose")
        return CHARS.index(next(self.actions))

    def end(self) -> None:
        self.call("end")

    def call(self, name: str) -> None:
        self.calls.append(name)
        if name == self.fails:
            raise Forfeit("exception", f"{name} failed")


def played(*fails: str) -> tuple[Finished, list[Scripted]]:
    """Return the end of a quiet game, and its players, which fail in these calls."""
    state, actions = at(DEAL), ["", ""]
    for char in quiet_game(DEAL):
        actions[state.to_act] += char
        state.apply(CHARS.index(char))
    players = [*map(Scripted, actions, fails)]
    with pytest.raises(StopIteration) as stop:
        next(play_asking(at(DEAL), players))
    return stop.value.value, players


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("call", "plies"), [("begin", [0, 0]), ("choose", [0, 1]), ("end", [48] * 2)]
)
def test_the_seat_whose_player_fails_is_guilty(seat: int, call: str, plies: list[int]) -> None:
    end, _ = played(*(call if one == seat else "" for one in (0, 1)))
    state = at(DEAL, quiet_game(DEAL)[: plies[seat]])
    assert end == Finished(state, Fault("exception", f"{call} failed"), seat)


def test_the_first_fault_of_a_game_counts() -> None:
    """Without one it is played to its end."""
    assert played("", "")[0] == Finished(at(DEAL, quiet_game(DEAL)))
    for fails, guilty in ((("end", "choose"), 1), (("end", "end"), 0)):
        end, _ = played(*fails)
        assert end.fault is not None
        assert (end.guilty, end.fault.message) == (guilty, f"{fails[guilty]} failed")


def test_all_players_that_have_begun_are_asked_to_end_and_no_others() -> None:
    whole = ["begin", "choose", "end"]
    for fails, calls in ((("begin", ""), [["begin", "end"], []]), (("", "choose"), [whole, whole])):
        assert [player.calls for player in played(*fails)[1]] == calls


def test_a_result_is_seen_from_the_pairings_first_bot() -> None:
    """Seat 1 wins the quiet game; two empty piles are a draw; points save no guilty seat."""
    whole, fault = quiet_game(DEAL), Fault("exception", "boom")
    ends: list[tuple[Finished, str, int | None, tuple[int, int]]] = [
        (Finished(at(DEAL, whole)), "points", 1, (17, 25)),
        (Finished(at(DEAL)), "draw", None, (0, 0)),
        (Finished(at(DEAL, "T7"), fault, 0), "forfeit", 1, (8, 0)),  # with the two 8s of the row
        (Finished(at(DEAL, "T7"), fault, 1), "forfeit", 0, (8, 0)),
    ]
    for (end, how, winner, points), seat in product(ends, (0, 1)):
        won = winner if winner is None or seat == 0 else 1 - winner
        seen, text = points if seat == 0 else points[::-1], to_text(end.state.history)
        result = result_of(end, 3, seat)
        assert result == (3, seat, won, how, *seen, len(text), end.fault, text)


SEEN = view(at(DEAL, "57T8"), 0)


class Stub:
    """A bot's process that runs and has printed something."""

    pid: int | None = 1
    is_warm = True
    limits = Limits(start=5.0)

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.start = partial(self.calls.append, "start")
        self.forget_output = partial(self.calls.append, "forget_output")

    def printed(self) -> str:
        return "hello"


def reply(spent: Spent, shared: int = 1, **answer: Any) -> Reply:
    """Return an answer to one of so many questions, which took this time together."""
    share = spent if shared == 1 else Spent(*(part / shared for part in spent))
    return Reply(Answer(1, **answer), spent, share)


class Seat:
    """A player of game 3 at seat 0, with what a test reads."""

    def __init__(self, **limits: float) -> None:
        self.process: Any = Stub()
        self.clock, self.timing = Clock(**limits), Timing()
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
        return question, stop.value.value

    def fault(self, seconds: float, **answer: Any) -> tuple[object, ...]:
        """Return the kind and the message of the fault that this answer raises."""
        with pytest.raises(Forfeit) as caught:
            self.choose(seconds, **answer)
        kind, message, *more = caught.value.fault
        assert more == ["", "hello"]
        return kind, message


def test_a_bot_is_asked_with_all_that_its_seat_sees() -> None:
    seat = Seat(decision=2.0, game=9.0)
    question, action = seat.choose(action="5", seconds=0.5)
    assert (question.process, question.allowed) == (seat.process, (2.0, inf, inf))
    assert question.message == Choose(
        **{"game": 3, "seat": 0, "legal": "567", "hand": "5667", "row": "8"},
        **{"piles": ("5788", ""), "taken": (True, False), "history": "57T8", "opening": "88"},
        **{"round": 1, "opponent_cards": 3, "seconds_left": 2.0},
    )
    assert action == 0
    assert seat.asked == [b"\x00\x02\x0b\x03"]
    seat = Seat()  # without a limit
    question, _ = seat.choose(action="5", seconds=1e6)
    assert question.allowed == (inf, inf, inf)
    assert (seat.clock.used, seat.timing.wall.longest) == (1e6, 1e6)


def test_a_game_begins_in_a_process_that_runs_and_has_printed_nothing() -> None:
    seat = Seat(decision=2.0, game=9.0)
    asking = seat.player.begin()
    question = next(asking)
    assert seat.process.calls == ["start", "forget_output"]
    assert seat.asked == [None]
    limits = {"seconds_per_decision": 2.0, "seconds_per_game": 9.0}
    assert question.message == New(game=3, seat=0, seed="0" * 29 + "abc", **limits)
    with pytest.raises(StopIteration):
        asking.send(reply(Spent(wall=0.75, cpu=0.5), ready=True))
    assert (seat.clock.used, seat.clock.waited) == (0.5, 0.75)
    assert (seat.timing.decisions, seat.timing.cpu.total) == (1, 0.5)


def test_only_a_running_process_gets_a_message_at_the_end() -> None:
    seat = Seat()
    assert next(seat.player.end()).message == End(game=3)
    seat.process.pid = None
    assert list(seat.player.end()) == []


@pytest.mark.parametrize(
    ("action", "named"), [("8", "3 (8)"), ("T", "11 (T)"), ("?", "'?'"), ("", "''"), ("56", "'56'")]
)
def test_an_illegal_answer_is_named_with_the_legal_actions(action: str, named: str) -> None:
    fault = Seat().fault(action=action, seconds=0.1)
    assert fault == ("illegal", f"illegal action {named}; legal: 5 6 7")
    assert Seat().fault(ready=True, seconds=0.1) == ("protocol", "the answer has no action")


def test_a_late_answer_is_counted_and_lost_by_the_limit_that_is_named() -> None:
    seat = Seat(decision=2.0)
    assert seat.choose(action="5", seconds=2.0)[1] == 0
    assert seat.fault(action="5", seconds=2.5) == ("timeout", "no answer within 2 s")
    assert seat.timing.wall.longest == 2.5
    late = Seat(decision=5.0, game=2.0).fault(action="5", seconds=2.5)
    assert late == ("timeout", "the 2 s of the game are used up")


def test_a_share_of_a_message_is_charged_unless_it_may_have_been_too_much() -> None:
    """Four answers took 1.5 s: none was late. After twice as much, one may have been."""
    seat = Seat(decision=2.0, game=4.0)

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


@pytest.mark.parametrize(
    ("kind", "spent", "message", "traceback"),
    [
        ("timeout", (2.5, 2.5), "no answer within 2 s (half a line)", ""),
        ("timeout", (30.5, 0.5), "no answer within 30 s by the wall clock (half a line)", ""),
        ("timeout", (), "(half a line)", "trace"),  # a running process reports it
        ("crash", (), "(half a line)", "trace"),
    ],
)
def test_a_process_killed_for_its_silence_was_late_by_the_limit_that_is_named_first(
    kind: str, spent: tuple[float, ...], message: str, traceback: str
) -> None:
    asking = Seat(decision=2.0, backstop=30.0).player.choose(SEEN)
    next(asking)
    known = Spent(*spent) if spent else None
    with pytest.raises(Forfeit) as caught:
        asking.throw(Forfeit(kind, "(half a line)", "trace", "printed", spent=known))
    assert caught.value.fault == Fault(kind, message, traceback, "printed")


def test_the_first_decision_of_a_process_has_the_limit_of_a_start() -> None:
    """A program that warms up is not late in each new process, and no game's time is used."""
    seat = Seat(decision=1.0)
    seat.process.is_warm = False
    question, _ = seat.choose(4.0, action="5")
    assert question.allowed.charged == 5.0
    assert seat.clock.used == 0.0
    seat.process.is_warm = True
    question, _ = seat.choose(0.5, action="5")
    assert question.allowed.charged == seat.clock.decision
    assert seat.clock.used == 0.5
