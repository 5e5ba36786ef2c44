"""Read the file of a person's games: list them, find one, and rate the person by them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from arena.entries.catalogue import STRENGTHS, Strength
from arena.errors import InputError, counted
from arena.statistics.distributions import Floats, binomial, find_root
from arena.statistics.intervals import LEVEL, Estimate
from arena.statistics.ratings import ELO, MEAN
from arena.statistics.wording import write_estimate
from arena.store.judge import parse_players, parse_record, read_lines
from engine import STANDARD, EngineError, outcome

_MOST = 30 * ELO  # the largest rating, in points from the mean
_NEAR = 1e-6


class Met(NamedTuple):
    """An opponent's Elo, and the player's wins, draws and losses against it."""

    elo: float
    won: int
    drawn: int
    lost: int

    @property
    def games(self) -> int:
        """The number of games."""
        return self.won + self.drawn + self.lost


def rate_exactly(met: Sequence[Met]) -> Estimate:
    """Return the maximum-likelihood Elo of a player, with its 95 % interval.

    The Elo is nan without games, and if all games were won or all lost.

    >>> [round(one) for one in rate_exactly([Met(1400, 6, 0, 4)])[:3]]
    [1470, 1220, 1744]
    >>> rate_exactly([Met(1400, 3, 0, 0), Met(1500, 1, 0, 0)])[2]
    inf
    """
    games = sum(one.games for one in met)
    points = sum(one.won + one.drawn / 2 for one in met)
    fewest, most = math.floor(points), math.ceil(points)
    value, low, high = math.nan, -math.inf, math.inf
    if 0 < points < games:
        value = _find(lambda elo: float(_wins(met, elo) @ np.arange(games + 1)) - points)
    if fewest > 0:
        low = _find(lambda elo: float(_wins(met, elo)[fewest:].sum()) - LEVEL / 2)
    if most < games:
        high = _find(lambda elo: float(_wins(met, elo)[: most + 1].sum()) - LEVEL / 2)
    return Estimate(value, low, high)


def _find(function: Callable[[float], float]) -> float:
    return find_root(function, MEAN - _MOST, MEAN + _MOST, _NEAR)


def _wins(met: Sequence[Met], elo: float) -> Floats:
    """Return the probability of each number of wins, from 0, for a player of this Elo."""
    likely = np.ones(1)
    for one in met:
        likely = np.convolve(likely, binomial(one.games, (elo - one.elo) / ELO))
    return likely


PERSON: Final = "human"
"""The label of a person at the table."""

_MOST_LISTED = 200


class OwnGame(NamedTuple):
    """A game in a line of the file: the players by seat, and the winner, None for a draw.

    `opponent` is the record's description of the bot, `taken_back` the number of times the person
    took actions back. A game that is not `over` was left, and has no winner. `published` is whether
    it was played under the published rules.
    """

    line: int
    deal: str
    players: Sequence[str]
    winner: str | None
    win_type: str
    points: tuple[int, int]
    plies: int
    opponent: dict[str, Any]
    taken_back: int
    published: bool

    @property
    def over(self) -> bool:
        """Whether the game was played to its end, or forfeited."""
        return self.win_type != "unfinished"

    @property
    def row(self) -> dict[str, Any]:
        """The game as a row of a list of games."""
        return {
            "line": self.line,
            "players": [*self.players],
            "winner": self.winner,
            "win_type": self.win_type,
            "points": [*self.points],
            "plies": self.plies,
            "taken_back": self.taken_back,
        }


def read_games(file: Path) -> list[OwnGame]:
    """Return the games of a file of records, in its order; invalid lines are skipped."""
    games = (_read(number, line) for number, line in _numbered(file))
    return [game for game in games if game is not None]


def find_line(file: Path, number: int) -> bytes:
    """Return a line of a file of records; raises LookupError if it does not exist."""
    for at, line in _numbered(file):
        if at == number:
            return line
    raise LookupError(number)


def _numbered(file: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with file.open("rb") as source:
            yield from enumerate(read_lines(source), 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from None


def _read(number: int, line: bytes) -> OwnGame | None:
    try:
        record = parse_record(line)
        state = record.replay()
        players = parse_players(line)
    except EngineError:
        return None
    winner, win_type, points = outcome(state.piles, state.rules)
    data = json.loads(line)
    opponent, taken_back = data.get("opponent"), data.get("taken_back")
    forfeit = not state.over and data.get("win_type") == "forfeit"
    label = players[winner] if state.over and winner is not None else None
    if forfeit:
        label = next((player for player in players if player == data.get("winner")), None)
    return OwnGame(
        number,
        record.deal,
        players,
        label,
        win_type if state.over else "forfeit" if label else "unfinished",
        points,
        len(state.history),
        opponent if isinstance(opponent, dict) else {},
        len(taken_back) if isinstance(taken_back, list) else 0,
        record.rules == STANDARD,
    )


def list_own(games: Sequence[OwnGame]) -> list[dict[str, Any]]:
    """Return the last games as data, the newest first."""
    return [game.row for game in reversed(games[-_MOST_LISTED:])]


class Tally(NamedTuple):
    """A person's results against one strength, and the number of games that do not count."""

    strength: Strength
    won: int
    drawn: int
    lost: int
    uncounted: int

    @property
    def met(self) -> Met:
        """The games that count, as data for a rating."""
        return Met(self.strength.elo, self.won, self.drawn, self.lost)


def find_strength(opponent: Mapping[str, Any]) -> Strength | None:
    """Return the strength whose bot has this description in a record; None for any other bot.

    >>> find_strength({"bot": "greedy", "params": {}}).words
    'Novice'
    """
    bot, changed = opponent.get("bot"), opponent.get("params")
    return next((one for one in STRENGTHS if one.bot == bot and not changed), None)


def describe_strength(strength: Strength | None) -> dict[str, Any] | None:
    """Return a strength as data, with its Elo."""
    return strength and {**strength._asdict(), "elo": strength.elo}


def count_games(games: Iterable[OwnGame]) -> list[Tally]:
    """Count the results of the table's person against each strength, the weakest first.

    A game counts if it ended, no action was taken back, its deal was new, and its rules were the
    published ones.
    """
    results: dict[str, list[str]] = {strength.bot: [] for strength in STRENGTHS}
    known: set[str] = set()
    for game in games:
        strength = find_strength(game.opponent)
        is_new = game.deal not in known
        known.add(game.deal)
        if PERSON in game.players and strength is not None:
            counts = game.over and is_new and not game.taken_back and game.published
            results[strength.bot].append(_result(game) if counts else "uncounted")
    fields = ("won", "drawn", "lost", "uncounted")
    return [Tally(one, *map(results[one.bot].count, fields)) for one in STRENGTHS]


def _result(game: OwnGame) -> str:
    if game.winner is None:
        return "drawn"
    return "won" if game.winner == PERSON else "lost"


def suggest(tallies: Sequence[Tally]) -> Strength:
    """Return the weakest strength that was not beaten yet, or the strongest if all were."""
    return next((one.strength for one in tallies if not one.won), tallies[-1].strength)


def describe_rating(tallies: Sequence[Tally]) -> str:
    """Describe the person's Elo, estimated from the games that count, in a sentence or two.

    >>> describe_rating([Tally(STRENGTHS[1], 3, 0, 0, 0)])
    'By 3 games your Elo is at least 1238 (95 %). It has no upper end until you lose \
one or draw two.'
    """
    met = [one.met for one in tallies]
    games = sum(one.games for one in met)
    if not games:
        return "No game counts yet: your Elo is estimated from games against these strengths."
    elo = rate_exactly(met)
    said = f"By {counted(games, 'game')} your Elo is"
    if elo.cells[1:] == (None, None):
        return f"{said} not known yet."
    said = f"{said} {write_estimate(elo, level=True)}."
    if math.isinf(elo.high):
        return f"{said} It has no upper end until you lose one or draw two."
    if math.isinf(elo.low):
        return f"{said} It has no lower end until you win one or draw two."
    return said
