"""Resume a game with a bot in a new process, which first repeats its actions so far."""

from __future__ import annotations

from arena.errors import ArenaError
from arena.games.match import Asking, Player
from arena.lanes.faults import Forfeit
from engine import Action, State, View
from engine.cards import CHARS
from engine.state import Seat
from engine.view import view


class Changed(ArenaError):
    """The bot differs from the one with which a game began, or plays differently."""


class Again:
    """A bot in a new process, at a seat of a game that is already under way.

    `beginning` is the game before its first action; `history` has the actions of both seats. At
    the start the bot gets its past views again; raises Changed if it chooses another action.
    """

    def __init__(
        self, player: Player, seat: Seat, label: str, beginning: State, history: bytes
    ) -> None:
        self.player = player
        self.seat = seat
        self.label = label
        self.beginning = beginning
        self.history = history

    def begin(self) -> Asking[None]:
        """Begin, and replay the game up to its present position."""
        state = self.beginning.copy()
        try:
            yield from self.player.begin()
            for action in self.history:
                if state.to_act == self.seat:
                    yield from self._ask(view(state, self.seat), action)
                state.apply(action)
        except Forfeit as forfeit:
            raise self._changed(len(state.history), str(forfeit.fault.message)) from None

    def _ask(self, seen: View, former: Action) -> Asking[None]:
        now = yield from self.player.choose(seen)
        if now != former:
            then = f"it was {CHARS[former]} and is {CHARS[now]} now"
            raise self._changed(len(seen.history), then)

    def _changed(self, ply: int, how: str) -> Changed:
        return Changed(f"{self.label} does not play as before, ply {ply}: {how}")

    def choose(self, view: View, /) -> Asking[Action]:
        """Return the bot's action."""
        return self.player.choose(view)

    def end(self) -> Asking[None]:
        """End the game for the bot."""
        return self.player.end()
