"""Games: those of a run that are worth a look, with their replays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from arena.insight.chances import chances_of
from arena.insight.run_games import Row, read_batches
from arena.records.timeline import make_timeline
from arena.reports.document import Block, Replay, Replays, Section, Text
from arena.reports.margins import Margin
from arena.store.finished import Game
from arena.store.store import Store
from arena.tournament.schedule import Fixture
from arena.tournament.tournament import Tournament
from engine import STANDARD, EngineError
from engine.state import Seat

if TYPE_CHECKING:
    import pandas as pd

MOST = 3
"""Games for each reason; a run of less than MANY games has one."""

MANY = 100

MOST_DECIDED = 4
"""Deals of a comparison in which the change decided; each has two games."""


class Place(NamedTuple):
    """The place of a game in a run: the number of its pairing, its pair, and a seat."""

    pairing: int
    pair: int
    seat: Seat


class Pick(NamedTuple):
    """A game to look at, and why."""

    place: Place
    reason: str


def replay_id(place: Place) -> str:
    """Return the name of a game's replay in the page."""
    return f"game-{place.pairing}-{place.pair}-{place.seat}"


def pick_games(
    store: Store, turns: pd.DataFrame, margins: Iterable[Margin], games: int
) -> Iterator[Pick]:
    """Yield the closest games, the shortest City wins and the greatest turns of a run.

    The first two are from different pairings, as far as there are some.
    """
    most = MOST if games >= MANY else 1
    for lead in islice(_least_leads(margins), most):
        for place in store.first_with_lead(*lead):
            yield Pick(Place(*place), "One of the closest games by points.")
    for place in islice(store.shortest_city_wins(), most):
        yield Pick(Place(*place), "One of the shortest wins by City.")
    for swing, pairing, pair, seat, ply in turns.head(most).itertuples(index=False):
        yield Pick(
            Place(pairing, pair, seat),
            f"One of the greatest turns: at ply {ply} the chance to win changed by "
            f"{100 * swing:.0f} points of 100.",
        )


def _least_leads(margins: Iterable[Margin]) -> Iterator[tuple[int, int]]:
    """Yield each pairing that has games by points with the least lead in them, the least first."""
    least: dict[int, int] = {}
    for pairing, margin, _ in margins:
        least[pairing] = min(abs(margin), least.get(pairing, abs(margin)))
    yield from sorted(least.items(), key=lambda of_pairing: of_pairing[::-1])


def pick_decided(tournament: Tournament, decided: pd.DataFrame) -> Iterator[Pick]:
    """Yield games of a comparison in which the change decided, each beside the old version's."""
    new, old = tournament.labels[:2]
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    columns = ["opponent", "pair", "seat", "ply", "new_score", "old_score"]
    rows = decided[columns].head(MOST_DECIDED).itertuples(index=False)
    for opponent, pair, seat, ply, new_score, old_score in rows:
        for bot in (new, old):
            pairing = next(p for p in numbers if (p.bot, p.opponent) == (bot, opponent))
            yield Pick(
                Place(numbers[pairing], pair, seat),
                f"The change decided: from ply {ply} on {new} plays otherwise than {old}, and "
                f"scores {new_score:g} in place of {old_score:g}.",
            )


def games_section(
    tournament: Tournament, store: Store, picks: Iterable[Pick]
) -> tuple[Section, frozenset[str]]:
    """Return the section with the games that were picked, and the ids of their replays."""
    reasons: dict[Place, list[str]] = {}
    for place, reason in picks:
        of_place = reasons.setdefault(place, [])
        if reason not in of_place:
            of_place.append(reason)
    replays = [*_replays(tournament, store, reasons)]
    blocks: list[Block] = [Replays(replays)] if replays else [Text(["There are no games yet."])]
    if replays:
        blocks.insert(
            0,
            Text(["Each opens its replay, ply by ply. arena view RUN GAME shows any other game."]),
        )
    return Section("games", "Games to look at", blocks), frozenset(r.id for r in replays)


def _replays(
    tournament: Tournament, store: Store, reasons: Mapping[Place, Sequence[str]]
) -> Iterator[Replay]:
    games = {}
    for place in reasons:
        if (result := store.game(*place)) is not None:
            fixture = tournament.fixture(*place)
            games[place] = fixture, Game.of(tournament, fixture, result)
    known = _chances(tournament, {place: game for place, (_, game) in games.items()})
    for place, why in reasons.items():
        if place in games:
            try:
                yield _make(place, *games[place], " ".join(why), known.get(place))
            except EngineError:  # a damaged record cannot be shown
                continue


def _make(
    place: Place, fixture: Fixture, game: Game, reason: str, of_seat_0: Sequence[float] | None
) -> Replay:
    title = f"{fixture.name}: {game.ending}"
    data = make_timeline(
        game.record,
        players=game.seats,
        chances=of_seat_0,
        winner=None if game.winner is None else game.seats.index(game.winner),
        ending=game.ending,
        evidence="\n".join(game.evidence()),
        title=fixture.name,
    )
    return Replay(replay_id(place), title, reason, data)


def _chances(tournament: Tournament, games: Mapping[Place, Game]) -> dict[Place, list[float]]:
    """Return the chance of seat 0 before each ply and at the end of each finished game.

    They are `champion`'s, and known under the published rules.
    """
    if tournament.rules != STANDARD:
        return {}
    finished = sorted(place for place, game in games.items() if not game.fault)
    rows = [_row(tournament, place, games[place]) for place in finished]
    found: dict[Place, list[float]] = {}
    start = 0
    for batch in read_batches(tournament, rows):
        for place, of_game in zip(finished[start:], chances_of(batch), strict=False):
            found[place] = of_game[: games[place].plies + 1].tolist()
        start += batch.games
    return found


def _row(tournament: Tournament, place: Place, game: Game) -> Row:
    pairing = tournament.pairings[place.pairing]
    winner = None if game.winner is None else [*pairing].index(game.winner)
    return Row(*place, winner, game.win_type, 0, game.record.actions)
