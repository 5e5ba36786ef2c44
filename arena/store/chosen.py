"""Choose games of a run by bot, opponent, pair and seat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from arena.errors import InputError, counted
from arena.store.finished import Game
from arena.store.store import Store
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine.errors import show
from engine.state import Seat


class Choice(NamedTuple):
    """Which games: those of these bots, one or two labels, of this pair, in this seat.

    The seat is that of the first of the bots, or of a pairing's first bot. Without bots, a
    pair or a seat: of all.
    """

    bots: tuple[str, ...] = ()
    pair: int | None = None
    seat: Seat | None = None


def choose(
    tournament: Tournament, words: Sequence[str], pair: int | None = None, seat: Seat | None = None
) -> Choice:
    """Return the choice of some words: none, one or two labels, or a game as in bot/bot/3/1.

    Raises InputError for a bot, a pair or a game that the run does not have.
    """
    labels = tournament.by_label
    if len(words) == 1 and words[0] not in labels and "/" in words[0]:
        if pair is not None or seat is not None:
            raise InputError(f"game {show(words[0])}: it has its pair and its seat already")
        return _parse(tournament, words[0])
    if len(words) > 2:
        raise InputError(f"a game has two bots, and {len(words)} are named")
    for word in words:
        if word not in labels:
            raise InputError(f"no bot {show(word)} in this run; there are {', '.join(labels)}")
    if pair is not None and pair >= tournament.most_pairs:
        most = counted(tournament.most_pairs, "pair")
        raise InputError(f"pair {pair}: the run has {most}, from 0 on")
    choice = Choice(tuple(words), pair, seat)
    if not _numbers(tournament, choice):
        raise InputError(f"{' and '.join(words)} do not play each other in this run")
    return choice


def _parse(tournament: Tournament, name: str) -> Choice:
    """Return the choice of one game by its name; a label may have a slash in it."""
    both, *place = name.rsplit("/", 2)
    if len(place) == 2 and all(part.isascii() and part.isdigit() for part in place):
        pair, seat = int(place[0][:10]), int(place[1][:2])
        orders = (bots for two in tournament.pairings for bots in (two, two[::-1]))
        named = [bots for bots in orders if "/".join(bots) == both and seat in (0, 1)]
        if len(named) > 1:
            raise InputError(
                f"game {show(name)}: names several games; name both bots, with --pair and --seat"
            )
        if named:
            return choose(tournament, named[0], pair, seat)
    raise InputError(
        f"game {show(name)}: no bot and no game of this run; a game is bot/opponent/pair/seat"
    )


def chosen_games(
    tournament: Tournament, store: Store, choice: Choice
) -> Iterator[tuple[Fixture, Game]]:
    """Yield the games that are chosen and finished, with their places, in order."""
    for number in _numbers(tournament, choice):
        pairing = tournament.pairings[number]
        seat = choice.seat
        if seat is not None and choice.bots and choice.bots[0] != pairing.bot:
            seat = 1 - seat
        for result in store.games_of(number, choice.pair, seat):
            fixture = Fixture(pairing, result.pair, result.seat)
            yield fixture, Game.of(tournament, fixture, result)


def _numbers(tournament: Tournament, choice: Choice) -> list[int]:
    """Return the numbers of the pairings that are chosen."""
    bots = {*choice.bots}
    if len(bots) < len(choice.bots):
        return []
    return [number for number, pairing in enumerate(tournament.pairings) if bots <= {*pairing}]


def to_line(fixture: Fixture, game: Game) -> str:
    """Return a game as one JSON line: its record, name, seats and result, and a forfeit's fault."""
    more: dict[str, Any] = {
        "game": fixture.name,
        "bots": game.seats,
        "winner": game.winner,
        "win_type": game.win_type,
        "points": game.points,
    }
    if game.fault:
        more["fault"] = {
            "bot": game.guilty,
            "kind": game.fault.kind,
            "ply": game.plies,
            "message": game.fault.message,
        }
    return game.record.to_json(**more)
