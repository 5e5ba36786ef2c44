"""Games whose players are asked in other processes; here the processes are scripted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from arena.lanes.faults import Fault, Forfeit
from arena.lanes.limits import Allowed
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
from engine import View
from engine.cards import CHARS
from engine.strategy import Spent
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
