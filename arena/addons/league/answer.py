"""Answer what an owner asks: whom a bot surely beats, why it lost, and what it is like.

Everything here is for the owner of the bot and for the organiser; nothing is published.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

from arena.addons.league.league import League
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_tables import Version
from arena.addons.league.round import ROUNDS, round_folder
from arena.addons.league.shown import Change, find_change, to_data
from arena.entries.file import read_file
from arena.errors import ArenaError, InputError, arena_command, counted, wrapped
from arena.executors.local import open_executor
from arena.reports.games import Place
from arena.runs.judge_games import Ask, Judge, find_judge, judge_again, judge_games
from arena.store.finished import Game
from arena.store.folder import JUDGED, write_text
from arena.store.judge import JudgedGames, describe_decision
from arena.store.reader import read_run
from arena.store.store import Store
from arena.tournament import keys
from arena.tournament.judged import PARTS, Judged, Recorded, is_sure
from arena.tournament.keys import Venue
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.cards import CHARS

_MOST_ROUNDS: Final = 20  # the newest ones in which a version played
_MOST_LOST: Final = 4  # games against one opponent
_MOST_COSTLY: Final = 3  # decisions against one opponent
_MOST_LATE: Final = 10
_MOST_BYTES: Final = 1 << 24
_CANDIDATES: Final = 6
_LATE: Final = "timeout"


KEPT: Final = "why"
"""The folder of the last answers, in the league's folder, which only the league's owner reads."""


class Lost(NamedTuple):
    """A lost game: its round, its place there, who won, its name, and the ply of its end.

    `fault` is the kind of the fault by which it was lost, empty for other games. `recorded` is the
    game in the form for a judge, and `seat` that of the bot.
    """

    round: int
    place: Place
    opponent: str
    game: str
    ply: int
    fault: str
    recorded: Recorded
    seat: int

    @property
    def show(self) -> str:
        """The command that shows the game, in the league's folder."""
        return arena_command("show", [f"{ROUNDS}/{self.round:06}", self.game])


_Decided: TypeAlias = tuple[Lost, Sequence[Judged]]
"""A lost game with its judged decisions."""


class Costly(NamedTuple):
    """A decision: what was played, what is best, and the chance to win that it gave away.

    `mistake` says in words what was wrong.
    """

    lost: Lost
    ply: int
    action: str
    best: str
    loss: float
    mistake: str


class Why(NamedTuple):
    """Why the newest version of a bot lost.

    `costly` has its most expensive decisions against each opponent, `late` the games in which it
    was out of time, and `changes` each version beside the one before. `judged` counts the lost
    games whose decisions are known, `waiting` those that were not judged.
    """

    version: Version
    costly: dict[str, list[Costly]]
    late: list[Lost]
    changes: list[tuple[int, Change]]
    judged: int
    waiting: int


def why(league: League, name: str, venue: Venue | None = None, *, progress: bool = False) -> Why:
    """Return why the newest version of a name lost.

    With a `venue`, lost games that were not judged yet are judged there, at most four against each
    opponent, and kept. Raises InputError for an unknown name, and Interrupted at Ctrl-C.
    """
    versions = league.find(name)
    lost = [*_find_lost(league, versions[-1])]
    played = [one for one in lost if not one.fault]
    judging = _Judging(league, venue, progress)
    judge = find_judge(keys.JUDGE, keys.WORLDS, 0)
    decisions = judging.ask(judge, [one.recorded for one in played])
    judged = [(one, rows) for one, rows in zip(played, decisions, strict=True) if rows]
    costly = _find_costly(judged, judging.ask)
    late = [one for one in lost if one.fault][:_MOST_LATE]
    changes = [
        (new.number, change)
        for old, new in pairwise(versions)
        if (change := find_change(league.ledger, new, old))
    ]
    waiting = len(played) - len(judged)
    found = Why(versions[-1], costly, late, changes, len(judged), waiting)
    if venue:
        text = json.dumps(why_to_data(found), ensure_ascii=False)
        write_text(make_folder(league.folder / KEPT) / f"{name}.json", text + "\n")
    return found


def kept_why(league: League, name: str) -> dict[str, Any] | None:
    """Return what `why` last found on a name's newest version, as plain data; None if nothing."""
    path = league.folder / KEPT / f"{name}.json"
    try:
        data: dict[str, Any] = json.loads(read_file(path, _MOST_BYTES))
    except (OSError, InputError, ValueError):
        return None
    return data if data["version"] == league.find(name)[-1].number else None


def _find_lost(league: League, version: Version) -> Iterator[Lost]:
    """Yield the newest lost games against each opponent, and those in which it was out of time."""
    numbers = sorted({one.round for one in league.ledger.results_of(version.id)}, reverse=True)
    met: Counter[str] = Counter()
    for number in numbers[:_MOST_ROUNDS]:
        try:
            tournament, store = read_run(round_folder(league.folder, number))
        except ArenaError:  # the organiser may have deleted old rounds
            continue
        with closing(store):
            for one in _lost_in(tournament, store, number, version.name):
                met[one.opponent] += not one.fault
                if one.fault or met[one.opponent] <= _MOST_LOST:
                    yield one


def _lost_in(tournament: Tournament, store: Store, number: int, name: str) -> Iterator[Lost]:
    """Yield the games of a round that a bot has lost, in play or by the clock."""
    for place, pairing in enumerate(tournament.pairings):
        if name not in pairing:
            continue
        for result in store.games_of(place):
            game_place = Place(place, result.pair, result.seat)
            lost = result.winner is not None and pairing[result.winner] != name
            if not lost or (result.fault and result.fault.kind != _LATE):
                continue
            fixture = tournament.fixture(*game_place)
            game = Game.of(tournament, fixture, result)
            yield Lost(
                number,
                game_place,
                pairing[pairing[0] == name],
                fixture.name,
                game.plies,
                result.fault.kind if result.fault else "",
                Recorded(fixture.name, game.record.deal, game.record.actions),
                game.seats.index(name),
            )


class _Judging(NamedTuple):
    """Judges lost games of a league; without a venue it knows only those that are kept.

    The games of a league with other rules than the published ones cannot be judged.
    """

    league: League
    venue: Venue | None
    progress: bool

    def ask(self, judge: Judge, games: Sequence[Recorded]) -> Sequence[Sequence[Judged]]:
        """Return the judged decisions of each game, none of a game that is not judged."""
        path = self.league.folder / JUDGED
        if self.league.settings.game_rules() != STANDARD or not (self.venue or path.is_file()):
            return [[] for _ in games]
        with closing(JudgedGames(path)) as kept:
            if self.venue is None:
                places = judge.keys(games)
                found = kept.find(places)
                return [found.get(place, []) for place in places]
            with open_executor(self.venue) as executor:
                return judge_games(judge, games, kept, executor, progress=self.progress)


def _find_costly(judged: Sequence[_Decided], ask: Ask) -> dict[str, list[Costly]]:
    """Return the decisions that cost a bot most against each opponent, by two judges."""

    def opponent_of(place: int, one: Judged) -> str | None:
        lost, _ = judged[place]
        return lost.opponent if STANDARD.seat_at(one.ply) == lost.seat else None

    games, decisions = [lost.recorded for lost, _ in judged], [rows for _, rows in judged]
    second = judge_again(games, decisions, _CANDIDATES, opponent_of, ask, 0)
    found: dict[str, list[Costly]] = {}
    for (lost, _), rows in zip(judged, second, strict=True):
        found.setdefault(lost.opponent, []).extend(
            Costly(
                lost,
                one.ply,
                CHARS[one.action],
                CHARS[one.best],
                one.loss / PARTS,
                describe_decision(lost.recorded.deal, lost.recorded.actions, one),
            )
            for one in rows
            if is_sure(one.loss, one.error)
        )
    return {
        opponent: sorted(rows, key=lambda row: (-row.loss, row.lost.game, row.ply))[:_MOST_COSTLY]
        for opponent, rows in found.items()
    }


def why_to_data(found: Why) -> dict[str, Any]:
    """Return the reasons of a bot's losses as plain data."""
    return {
        "bot": found.version.name,
        "version": found.version.number,
        "judged": found.judged,
        "waiting": found.waiting,
        "costly": [
            {
                **{"opponent": opponent, "game": one.lost.game, "ply": one.ply},
                **{"action": one.action, "best": one.best, "loss": round(one.loss, 4)},
                **{"show": one.lost.show, "mistake": one.mistake},
            }
            for opponent, rows in found.costly.items()
            for one in rows
        ],
        "late": [
            {"opponent": one.opponent, "game": one.game, "ply": one.ply, "show": one.show}
            for one in found.late
        ],
        "changes": [{"of": number, **to_data(change)} for number, change in found.changes],
    }


def format_why(found: Why) -> Iterator[str]:
    """Yield the reasons of a bot's losses for a terminal of 80 columns."""
    yield f"{found.version.title}: {counted(found.judged, 'lost game')} judged"
    if found.waiting:
        yield f"not judged: {counted(found.waiting, 'lost game')}"
    for opponent, rows in found.costly.items():
        yield f"against {opponent}, the decisions that cost most of the chance to win:"
        for one in rows:
            played = f"played {one.action}, best {one.best}, {one.mistake}"
            yield f"  {100 * one.loss:>3.0f} %  ply {one.ply:>2}, {played}:"
            yield f"    `{one.lost.show}`"
    yield f"out of time: {counted(len(found.late), 'game')}"
    for late in found.late:
        yield f"  against {late.opponent}, ply {late.ply}: `{late.show}`"
    for number, change in found.changes:
        yield from wrapped(f"Version {number}: {change.describe()}")
