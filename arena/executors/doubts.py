"""Decide whose fault it was where a game's end is in doubt, by playing the game again.

A bot's process may have been ended from outside, another bot may have changed its folder, and
where many games went on together an answer may have been late, or printed text another game's.
From left to right, what becomes of a game until its end is sure:

    played with others -+- no end is known, or a process ended --> ENDED
                        +- its output may be other games' -------> MIXED
                        +- the guilty bot's folder was touched --> TOUCHED
                        +- else ---------------------------------> SURE

    MIXED ----- again by itself: that fault; or without one, the first without its output --> SURE
    ENDED ----- again by itself, until the process ends at the same decision for the second time,
       |        the fourth if it was killed as from outside, or in six trials; the bot to blame is
       |        the one whose turn it was --> SURE
       +------- another end, with a touched folder --> TOUCHED
    TOUCHED --- again while all other workers stand still, one bot alive at a time; its own fault
                where that fails, too, or where it was touched four times --> SURE

Where one bot is alive at a time, neither can reach the other: before a bot is asked, the other
one's process is ended. Its new process is asked all that it was asked before in this game, and then
what is new. That takes much longer than a game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from arena.executors.log import logger
from arena.games.match import Asking, Finished, Player, play_together
from arena.lanes.faults import Ended, Forfeit
from arena.tournament.schedule import Fixture
from engine.cards import Action
from engine.state import Seat, State
from engine.view import View, view

_SURE = 2  # ends at one decision, the first of them perhaps with other games in play
_SURE_IF_KILLED = 4  # as many kills from outside hardly hit one decision, or one start
_TRIALS = 6  # times that a game is played whose process ends at another decision each time
_MOST_ENDED = 20  # times that the end of a bot's process may come from outside, in one worker
_MOST_SUSPECT = 4  # faults of a bot that lives alone, its folder changed; then it did that


class Game(Protocol):
    """A game that can be played again."""

    fixture: Fixture

    def begin(self) -> State:
        """Return the game at its beginning."""

    def again(self) -> Finished:
        """Return its end, played by itself in new processes: no bot remembers the first try."""

    def alone(self, seat: Seat) -> Player:
        """Return a player in a new process, while no other bot has one."""

    def is_mixed(self, end: Finished) -> bool:
        """Return whether the output of a fault may be that of other games, too."""

    def is_touched(self, end: Finished) -> bool:
        """Return whether the folder of an end's guilty bot has changed."""

    def ask_for_quiet(self) -> None:
        """Have all other workers stand still; raises where the game is then played later."""


class Doubts:
    """Decides the ends of games; counts how often the processes of each bot have ended.

    `unsteady` are the bots whose games are played one by one from now on.
    """

    def __init__(self) -> None:
        self.unsteady: set[str] = set()
        self._ended = Counter[str]()

    def decide(self, game: Game, end: Finished | None, *, together: bool) -> Finished:
        """Return the sure end of a game which ended so at first, perhaps with others in play.

        None is not known. What was played just before has been marked.
        """
        if together and end is not None and game.is_mixed(end):
            end = self._tell_apart(game, end)
        if end is None or _has_ended(end):
            end = self.mark(game, self.settle(game, end)._replace(ended=None))
            if end.fault:
                self.unsteady.add(game.fixture.labels[end.guilty or 0])
        if end.ended:
            game.ask_for_quiet()
        return self._clear(game, end)

    def mark(self, game: Game, end: Finished) -> Finished:
        """Return an end just seen, marked where the fault may be the work of another bot."""
        if end.fault is None or end.ended or not game.is_touched(end):
            return end
        label = game.fixture.labels[end.guilty or 0]
        logger.info(
            "%s: the folder of %s has changed, it is played again", game.fixture.name, label
        )
        return end._replace(ended=Ended("touched"))

    def _tell_apart(self, game: Game, end: Finished) -> Finished:
        """Return the end of a game with a fault, with the output of this game only."""
        assert end.fault is not None
        again = self.decide(game, None, together=False)
        return again if again.fault else end._replace(fault=end.fault._replace(output=""))

    def settle(self, game: Game, before: Finished | None) -> Finished:
        """Return the end of a game that is played until it is clear whose fault it was.

        It is the bot's fault if its process ends again at the same decision. `before` is how the
        game ended at first, None where that is not known.
        """
        ends = Counter[bytes]()
        for _ in range(_TRIALS):
            if before is not None:
                ends[bytes(before.state.history)] += 1
                if not self._is_forgiven(game.fixture, before):
                    return before
            finished = game.again()
            wanted = _SURE_IF_KILLED if finished.ended and finished.ended.killed else _SURE
            if not finished.ended or ends[bytes(finished.state.history)] + 1 >= wanted:
                return _blame(finished)
            before = finished
        assert before is not None
        return _blame(before)

    def _clear(self, game: Game, end: Finished) -> Finished:
        """Return the end of a game without a fault that may be the work of another bot.

        The folder of a guilty bot that has changed may be its own doing, which shows after some
        trials.
        """
        for _ in range(_MOST_SUSPECT):
            if end.guilty is None or end.ended is None or end.ended.how != "touched":
                break
            if _fails_alone(game, end.state.history, end.guilty):
                end = self.mark(game, end._replace(ended=None))
            else:
                end = self.mark(game, _play_lonely(game))
        return end._replace(ended=None)

    def _is_forgiven(self, fixture: Fixture, end: Finished) -> bool:
        """Return whether a process may have been ended from outside once more."""
        label = fixture.labels[end.guilty or 0]
        self._ended[label] += 1
        if self._ended[label] == 1:
            logger.warning("the process of %s has ended; its game is played again", label)
        return self._ended[label] <= _MOST_ENDED


def _has_ended(end: Finished) -> bool:
    return end.ended is not None and end.ended.how != "touched"


def _blame(finished: Finished) -> Finished:
    """Return the end of a game with the guilty bot: who was asked while the other one ended."""
    state, fault, guilty, ended = finished
    if fault is None or guilty is None or ended is None or ended.how != "waiting":
        return finished
    message = f"while it was asked, the process of its opponent {fault.message}"
    return Finished(state, fault._replace(message=message, output=""), 1 - guilty)


def _play_lonely(game: Game) -> Finished:
    """Play a game to its end, with one bot alive at a time."""
    state = game.begin()
    seen: tuple[list[View], list[View]] = ([], [])
    for seat in (0, 1):
        if forfeit := _ask(game.alone(seat), [])[1]:
            return Finished(state, forfeit.fault, seat)
    while not state.over:
        seat = state.to_act
        seen[seat].append(view(state, seat))
        action, forfeit = _ask(game.alone(seat), seen[seat])
        if forfeit or action is None:
            assert forfeit is not None
            return Finished(state, forfeit.fault, seat)
        state.apply(action)
    return Finished(state)


def _fails_alone(game: Game, history: Sequence[Action], seat: Seat) -> bool:
    """Return whether a bot has a fault after these actions, also while the other one is dead."""
    state, seen = game.begin(), []
    for action in history:
        if state.to_act == seat:
            seen.append(view(state, seat))
        state.apply(action)
    if not state.over and state.to_act == seat:
        seen.append(view(state, seat))
    return _ask(game.alone(seat), seen, ends=state.over)[1] is not None


def _ask(
    player: Player, seen: Sequence[View], *, ends: bool = False
) -> tuple[Action | None, Forfeit | None]:
    """Return the last action of a player who sees all of this, or its forfeit."""
    (answer,) = play_together([_answers(player, seen, ends=ends)])
    assert answer is not None
    return answer


def _answers(
    player: Player, seen: Sequence[View], *, ends: bool
) -> Asking[tuple[Action | None, Forfeit | None]]:
    action = None
    try:
        yield from player.begin()
        for one in seen:
            action = yield from player.choose(one)
        if ends:
            yield from player.end()
    except Forfeit as forfeit:
        return None, forfeit
    return action, None
