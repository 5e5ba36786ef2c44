"""Play a game whose two bots never run at the same time, so that neither can reach the other.

Before a bot is asked, the other one's process is ended. Its new process is asked all that it was
asked before in this game, and then what is new. That takes much longer than a game, and is for
those that are in doubt, on machines where bots can reach each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from arena.games.match import Asking, Finished, Player, play_together
from arena.lanes.faults import Forfeit
from engine.cards import Action
from engine.state import Seat, State
from engine.view import View, view

Alone: TypeAlias = Callable[[Seat], Player]
"""Ends the processes of both bots, and returns a new player for this seat."""


MOST_SUSPECT: Final = 4
"""So often a bot has a fault while it lives alone, and its folder is changed; then it did that."""


def clear(
    end: Finished,
    begin: Callable[[], State],
    alone: Alone,
    marked: Callable[[Finished], Finished],
) -> Finished:
    """Return the end of a game without a fault that may be the work of another bot.

    `begin` returns the game at its beginning; `marked` marks an end that was just seen where the
    guilty bot's folder has changed. That may be its own doing, which shows after some trials.
    """
    for _ in range(MOST_SUSPECT):
        if end.guilty is None or end.ended is None or end.ended.how != "touched":
            break
        if _fails_alone(begin(), end.state.history, end.guilty, alone):
            end = marked(end._replace(ended=None))
        else:
            end = marked(play_lonely(begin(), alone))
    return end._replace(ended=None)


def play_lonely(state: State, alone: Alone) -> Finished:
    """Play a game in place to its end."""
    seen: tuple[list[View], list[View]] = ([], [])
    for seat in (0, 1):
        if forfeit := _ask(alone(seat), [])[1]:
            return Finished(state, forfeit.fault, seat)
    while not state.over:
        seat = state.to_act
        seen[seat].append(view(state, seat))
        action, forfeit = _ask(alone(seat), seen[seat])
        if forfeit or action is None:
            assert forfeit is not None
            return Finished(state, forfeit.fault, seat)
        state.apply(action)
    return Finished(state)


def _fails_alone(state: State, history: Sequence[Action], seat: Seat, alone: Alone) -> bool:
    """Return whether a bot has a fault after these actions, also while the other one is dead.

    The state, at the beginning of the game, is played as far.
    """
    seen = []
    for action in history:
        if state.to_act == seat:
            seen.append(view(state, seat))
        state.apply(action)
    if not state.over and state.to_act == seat:
        seen.append(view(state, seat))
    return _ask(alone(seat), seen, ends=state.over)[1] is not None


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
