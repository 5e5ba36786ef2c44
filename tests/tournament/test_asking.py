"""Games whose players are asked in other processes, here scripted, and what a player sends."""

from __future__ import annotations

from collections.abc import Sequence
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
from engine import View
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
        question: Any = Question(process, f"{name}{number}", allowed)  # type: ignore[arg-type]
        try:
            reply = yield question
            heard.append(reply.answer)
            if reply.answer == "DOUBT0":
                raise Doubt
        except Forfeit as forfeit:
            heard.append(forfeit.fault.message)
    return heard


def together(*games: Asking[Any]) -> list[Any]:
    return list(play_together(games))


def test_every_game_gets_the_answers_to_its_own_questions() -> None:
    """The process with the most questions is asked, for all its games at once, until the end."""
    one, other = Process(), Process()
    games = [game(one, "a", 2), game(other, "b", 1), game(one, "c", 3), game(one, "d", 0)]
    assert together(*games) == [["A0", "A1"], ["B0"], ["C0", "C1", "C2"], []]
    assert one.sent == [["a0", "c0"], ["a1", "c1"], ["c2"]]
    assert other.sent == [["b0"]]
    assert one.waited == [0.5, 1.5, 2.5]


def test_all_answers_together_may_take_what_one_of_them_may() -> None:
    """The game that has asked less has the smaller limit here; both hear of one time."""
    process = Process()
    heard = []

    def late() -> Asking[Any]:
        question: Any = Question(process, "late", Allowed(9.5))  # type: ignore[arg-type]
        heard.append((yield question))

    together(late(), game(process, "a", 1))
    assert process.waited == [0.5]
    assert heard == [Reply("LATE", Spent(0.5, 0.25), Spent(0.25, 0.125))]  # type: ignore[arg-type]


def test_a_game_in_doubt_is_undecided_and_the_others_go_on() -> None:
    """Its process is not asked about it again."""
    process = Process()
    results = together(game(process, "doubt", 3), game(process, "a", 2))
    assert results == [None, ["A0", "A1"]]
    assert process.sent == [["doubt0", "a0"], ["a1"]]


def test_no_games_are_over_at_once() -> None:
    """There is nothing to ask."""
    assert together() == []


def test_a_fault_is_raised_in_the_game_whose_bot_made_it() -> None:
    """The process still runs, so the other game goes on."""
    process = Process(fails=["a0", "b1"])
    results = together(game(process, "a", 2), game(process, "b", 3))
    assert results == [["a0", "A1"], ["B0", "b1", "B2"]]


def test_a_process_that_dies_with_one_game_open_has_failed_in_that_game() -> None:
    """The fault is raised in it; a game that was over before does not change."""
    process = Process(dies=["b1"])
    results = together(game(process, "a", 1), game(process, "b", 2))
    assert results == [["A0"], ["B0", "b1"]]


def test_a_process_that_dies_with_several_games_open_leaves_all_of_them_undecided() -> None:
    """The guilty game is not known, so no game gets the fault; the game that was over stays."""
    process = Process(dies=["b1"])
    heard = []

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

    def __init__(self, actions: str, fails: str = "") -> None:
        self.actions = iter(actions)
        self.fails = fails
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


def players(fails_0: str = "", fails_1: str = "") -> list[Scripted]:
    """Return the players of a quiet game."""
    state, actions = at(DEAL), ["", ""]
    for char in quiet_game(DEAL):
        actions[state.to_act] += char
        state.apply(CHARS.index(char))
    return [Scripted(actions[0], fails_0), Scripted(actions[1], fails_1)]


def asked(scripted: Sequence[Scripted]) -> Finished:
    """Return how a game ends; these players ask nothing."""
    with pytest.raises(StopIteration) as stop:
        next(play_asking(at(DEAL), scripted))
    end: Finished = stop.value.value
    return end


def test_a_game_without_faults_is_played_to_its_end() -> None:
    """48 actions in the order of the turns."""
    assert asked(players()) == Finished(at(DEAL, quiet_game(DEAL)))


@pytest.mark.parametrize("seat", [0, 1])
def test_the_seat_whose_player_fails_is_guilty(seat: int) -> None:
    """Before the game, and at the seat's first action."""
    fails = ["", ""]
    for call, plies in (("begin", 0), ("choose", seat)):
        fails[seat] = call
        end = asked(players(*fails))
        assert (end.guilty, len(end.state.history)) == (seat, plies)
        assert end.fault == Fault("exception", f"{call} failed")


@pytest.mark.parametrize("seat", [0, 1])
def test_a_fault_after_the_last_action_counts_too(seat: int) -> None:
    """The game has all its actions, and the seat that failed at the end loses it."""
    fails = ["", ""]
    fails[seat] = "end"
    end = asked(players(*fails))
    assert end == Finished(at(DEAL, quiet_game(DEAL)), Fault("exception", "end failed"), seat)


def test_the_first_fault_of_a_game_counts() -> None:
    """Also if a player fails again at the end."""
    end = asked(players("end", "choose"))
    assert (end.guilty, end.fault) == (1, Fault("exception", "choose failed"))
    end = asked(players("end", "end"))
    assert end.guilty == 0


def test_all_players_that_have_begun_are_asked_to_end() -> None:
    """And no others: after a fault of the first, the second gets no call."""
    first, second = players("begin")
    asked([first, second])
    assert (first.calls, second.calls) == (["begin", "end"], [])
    first, second = players("", "choose")
    asked([first, second])
    assert (first.calls, second.calls) == (
        ["begin", "choose", "end"],
        ["begin", "choose", "end"],
    )


def test_a_result_is_seen_from_the_pairings_first_bot() -> None:
    """Seat 1 wins the quiet game by 25 to 17 (counted in the rulebook's tests)."""
    state = at(DEAL, quiet_game(DEAL))
    actions = quiet_game(DEAL)
    assert result_of(Finished(state), 3, 0) == (3, 0, 1, "points", 17, 25, 48, None, actions)
    assert result_of(Finished(state), 4, 1) == (4, 1, 0, "points", 25, 17, 48, None, actions)


def test_a_draw_has_no_winner_from_either_seat() -> None:
    """Two empty piles are a draw."""
    for seat in (0, 1):
        result = result_of(Finished(at(DEAL)), 0, seat)
        assert result == (0, seat, None, "draw", 0, 0, 0, None, "")


@pytest.mark.parametrize(("guilty", "seat", "winner"), [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)])
def test_a_forfeit_is_lost_by_the_guilty_seat_whatever_the_points(
    guilty: int, seat: int, winner: int
) -> None:
    """Seat 0 has taken the two 8s of the row."""
    fault = Fault("exception", "boom")
    result = result_of(Finished(at(DEAL, "T7"), fault, guilty), 2, seat)
    points = (8, 0) if seat == 0 else (0, 8)
    assert result == (2, seat, winner, "forfeit", *points, 2, fault, "T7")


HELD = dealt("55667", "78822", "88", removed="CCC")
SEEN = view(at(HELD, "57T8"), 0)


class Stub:
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
        self.process: Any = Stub()
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
