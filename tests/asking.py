"""Messages of the arena, for tests that talk to a bot's process themselves."""

from __future__ import annotations

from arena.lanes.messages import Message
from arena.tournament.players import RemotePlayer
from arena.tournament.timing import Timing
from engine.strategy import UNLIMITED
from engine.view import view
from tests.positions import at, dealt

_SEEN = view(at(dealt("55667", "78822", "88", removed="CCC")), 0)


def new() -> Message:
    """Return the message that game 0 begins."""
    return _player().begin_message()


def choose() -> Message:
    """Return the message that asks for the first action of game 0."""
    return _player().choose_message(_SEEN)


def _player() -> RemotePlayer:
    return RemotePlayer(None, 0, 0, 0, UNLIMITED, Timing())  # type: ignore[arg-type]
