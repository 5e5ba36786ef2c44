"""Play a session of games against a bot at a terminal, and record each of them."""

from __future__ import annotations

from arena.addons.table.player import InputEnded, PersonPlayer, Quit, Terminal
from arena.addons.table.session import RecordedGame, Records, Session
from arena.errors import quote
from arena.lanes.cleanup import adopt_orphans, exit_on_termination
from arena.lanes.process import BotProcess, bot_process
from arena.lanes.scratch import BOT, scratch_folder
from arena.store import judge
from arena.store.board import shorten
from arena.tournament.match import Finished


def play_session(
    session: Session, records: Records, terminal: Terminal, interrupted: RecordedGame | None = None
) -> bool:
    """Play the games of a session, each recorded; return False if the input ended too early.

    A game that is left early, even by an exception, is recorded as it stands. The session begins
    with the `interrupted` game. Raises Changed if its bot plays differently now.
    """
    ended_well = True
    first = interrupted or RecordedGame(session, 0)
    adopt_orphans()
    with (
        exit_on_termination(),
        scratch_folder() as folder,
        bot_process(session.entry, session.rules, session.limits, folder / BOT) as process,
    ):
        try:
            _play(first, process, records, terminal)
            for number in range(first.fixture.pair + 1, session.games):
                _play(RecordedGame(session, number), process, records, terminal)
        except (Quit, InputEnded) as reason:
            ended_well = isinstance(reason, Quit)
    terminal.say([f"The same again: {session.command}"])
    return ended_well


def _play(game: RecordedGame, process: BotProcess, records: Records, terminal: Terminal) -> None:
    """Play one game at the terminal, and show its end, even if an exception ends it."""
    label, naming = game.session.entry.label, game.session.naming
    opponent = shorten(label)
    begins = "you begin" if game.seat == 0 else f"{opponent} begins"
    terminal.say(["", f"You against {opponent}; {begins}."])
    if plies := len(game.former):
        terminal.say([f"The game goes on where it was interrupted, at ply {plies}."])
    person = PersonPlayer(terminal, label, naming)
    finished = None
    try:
        finished = game.play(person, process, records)
    finally:
        if game.line is not None:
            if game.thoughtless:
                terminal.say([f"No thoughts: {game.thoughtless}"])
            if finished is not None:
                since = person.seen_plies
                lines = judge.format_ending(finished, game.seat, naming, label, since)
                terminal.say(["", *lines])
            _say_where(game, finished, records, terminal)


def _say_where(
    game: RecordedGame, finished: Finished | None, records: Records, terminal: Terminal
) -> None:
    """Show in which line of the file the game was recorded."""
    naming, line = game.session.naming, game.line
    what = "Recorded" if finished else "The game is kept unfinished"
    names = "" if naming == "english" else f" --names {naming}"
    path = quote(str(records.path))
    terminal.say(
        ["", f"{what}: line {line} of {path}", f"  arena show {path} --line {line}{names}"]
    )
