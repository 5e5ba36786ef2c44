"""Interrupting: what a killed process leaves of a person's game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arena.addons.table.session import RecordedGame, Records, Session
from arena.entries.resolve import resolve
from engine import STANDARD
from engine.cards import CHARS, to_text
from engine.state import State
from tests.addons.table.test_session import expected


def make_session(bot: str, seed: int, **more: Any) -> Session:
    """Return a session of one game in english, unless more says otherwise."""
    entry = resolve(bot, lane="process")
    facts = {"person": "human", "games": 1, "naming": "english", "rules": STANDARD} | more
    return Session(entry=entry, spec=bot, seed=seed, **facts)


def play_out(session: Session, of_bot: int = 0) -> str:
    """Return a whole game: the person plays the first legal action, the bot that of a number."""
    fixture = session.fixture(0)
    state = State(fixture.draw(session.seed, session.rules).deal, session.rules)
    while not state.over:
        state.apply(state.legal()[0 if state.to_act == fixture.seat else of_bot])
    return to_text(state.history)


def leave_journal(
    folder: Path, bot: str, seed: int, plies: int, actions: str | None = None, **more: Any
) -> Path:
    """Leave the journal of a game, and return its file.

    The person is First, the bot plays what it would play, unless the actions are passed.
    """
    records, session = Records(folder), make_session(bot, seed, **more)
    if actions is None:
        actions = expected(seed, bot=bot, person=session.person)[1]
    journal = RecordedGame(session, 0)._begin_journal(records)
    for ply, char in enumerate(actions[:plies]):
        journal.add(ply, CHARS.index(char))
    journal.close()
    return journal.path
