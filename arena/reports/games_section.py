"""Make the sections of a report on single games: those worth a look, with their replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arena.differences.common_deals import say_decided
from arena.differences.lead_parts import ENDING, ROUND, LeadParts
from arena.errors import counted
from arena.lanes.faults import Fault
from arena.replays.finished_game import Game
from arena.replays.timeline import make_timeline
from arena.reports.blocks import (
    Block,
    Cell,
    Code,
    Replay,
    Replays,
    Section,
    Table,
    Text,
    frame_table,
)
from arena.reports.charts import SIDES, Lines, Series
from arena.reports.win_section import SOURCE_NAMES, Margin
from arena.statistics.counts import Faults
from arena.store.column_titles import FAULT_KINDS, FAULTS, TIMINGS
from arena.store.columns import Columns
from arena.store.store import Store
from arena.tables.points_and_takes import chances_by_game
from arena.tournament.schedule import Fixture, Pairing, count_ended
from arena.tournament.tournament import Command, Tournament
from engine import EngineError
from engine.state import Seat

if TYPE_CHECKING:
    import pandas as pd

MOST = 3
"""Games that are picked for each reason; one in runs of fewer than MANY games."""

MANY = 100

MOST_DECIDED = 1
"""How many deals are shown in which the change of a bot decided a game; each has two games."""

_MOST_SHOWN = 24
_MOST_OF_A_KIND = 2
_MOST_TEXT = 4_000  # characters of a traceback or of what a bot printed


class Place(NamedTuple):
    """The place of a game in a run: the numbers of its pairing and pair, and a seat."""

    pairing: int
    pair: int
    seat: Seat


class Pick(NamedTuple):
    """A game to look at, and the reason."""

    place: Place
    reason: str


def replay_id(place: Place) -> str:
    """Return the id of a game's replay in the page."""
    return f"game-{place.pairing}-{place.pair}-{place.seat}"


def pick_games(store: Store, margins: Iterable[Margin], games: int) -> Iterator[Pick]:
    """Yield the closest games and the shortest City wins of a run, from different pairings."""
    most = MOST if games >= MANY else 1
    for lead in islice(_least_leads(margins), most):
        for place in store.first_with_lead(*lead):
            yield Pick(Place(*place), "One of the closest games by points.")
    for place in islice(store.shortest_city_wins(), most):
        yield Pick(Place(*place), "One of the shortest wins by City.")


def _least_leads(margins: Iterable[Margin]) -> Iterator[tuple[int, int]]:
    """Yield each pairing with games won by points and its least lead, in ascending order."""
    least: dict[int, int] = {}
    for pairing, margin, _ in margins:
        least[pairing] = min(abs(margin), least.get(pairing, abs(margin)))
    yield from sorted(least.items(), key=lambda of_pairing: of_pairing[::-1])


def pick_decided(tournament: Tournament, decided: pd.DataFrame) -> Iterator[Pick]:
    """Yield games of a comparison that the change decided, each followed by the old version's."""
    new, old = tournament.labels[:2]
    columns = ["opponent", "pair", "seat", "ply", "new_score", "old_score"]
    rows = decided[columns].head(MOST_DECIDED).itertuples(index=False)
    for opponent, pair, seat, *rest in rows:
        said = say_decided(new, old, *rest)
        for bot in (new, old):
            place = find_place(tournament, bot, opponent, pair, seat)
            yield Pick(place, f"The change decided this game, which {said}.")


def find_place(tournament: Tournament, bot: str, opponent: str, pair: int, seat: Seat) -> Place:
    """Return the place of a game of a pairing."""
    pairings = enumerate(tournament.pairings)
    number = next(n for n, one in pairings if (one.bot, one.opponent) == (bot, opponent))
    return Place(number, pair, seat)


def pick_shown(tournament: Tournament, parts: LeadParts) -> Iterator[Pick]:
    """Yield the games that show the parts of a lead, with the reason."""
    new, old = tournament.labels[:2]
    more = f" more than {old} on the same deal" if tournament.paired else ""
    for split, place, part, brought in parts.games:
        if split == ENDING:
            how = f"{part[:1].upper()}{part[1:]} for {new}"
            yield Pick(Place(*place), f"{how}: margins by round nearest to the mean of its kind.")
        else:
            name = f"Round {part}" if split == ROUND else SOURCE_NAMES[part].capitalize()
            yield Pick(
                Place(*place), f"{name}: {brought:+} points for {new}{more}, among the most."
            )


def games_section(
    tournament: Tournament, store: Store, picks: Iterable[Pick]
) -> tuple[Section, frozenset[str]]:
    """Return the section with the picked games, and the ids of their replays."""
    replays = [*make_replays(tournament, store, picks)]
    blocks: list[Block] = [Text(["There are no games yet."])]
    if replays:
        said = "Each opens its replay, ply by ply. arena view RUN GAME shows any other game."
        blocks = [Text([said]), Replays(replays)]
    return Section("games", "Games to look at", blocks), frozenset(r.id for r in replays)


def make_replays(
    tournament: Tournament, store: Store, picks: Iterable[Pick], side: str = ""
) -> Iterator[Replay]:
    """Yield the picked games, each once; lines are from the `side` of a bot, or of the first."""
    reasons: dict[Place, list[str]] = {}
    for place, reason in picks:
        of_place = reasons.setdefault(place, [])
        if reason not in of_place:
            of_place.append(reason)
    games = {}
    for place in reasons:
        if (result := store.game(*place)) is not None:
            fixture = tournament.fixture(*place)
            games[place] = fixture, Game.of(tournament, fixture, result)
    known = chances_by_game(tournament, {place: game for place, (_, game) in games.items()})
    for place, (fixture, game) in games.items():
        seat = 1 - place.seat if side == fixture.pairing.opponent else place.seat
        with suppress(EngineError):  # a damaged record cannot be shown
            yield _make(place, fixture, game, " ".join(reasons[place]), known.get(place), seat)


def _make(
    place: Place,
    fixture: Fixture,
    game: Game,
    reason: str,
    of_seat_0: Sequence[float] | None,
    seat: Seat,
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
    name = replay_id(place)
    line = _draw_margin(f"{name}-line", data["frames"], seat)
    return Replay(name, title, reason, data, line)


def _draw_margin(name: str, frames: Sequence[Mapping[str, Any]], seat: int) -> Lines:
    """Return the line of a seat's margin over a game, given the frames of its timeline."""
    margins = [
        frame["points"][seat]["total"] - frame["points"][1 - seat]["total"] for frame in frames
    ]
    series = [Series("ink", [*enumerate(margins)])]
    for kind in SIDES:
        takes = [
            (n, margins[n])
            for n, frame in enumerate(frames)
            if (action := frame["action"])
            and action["char"] == "T"
            and (action["seat"] == seat) == (kind == SIDES[0])
        ]
        series.append(Series(kind, takes, [f"{margin:+}" for _, margin in takes], is_line=False))
    ends = f"from {min(margins):+} to {max(margins):+}, at the end {margins[-1]:+}"
    return Lines(
        name=name,
        title="Margin after each action",
        meaning=ends,
        series=series,
        is_signed=True,
        tall=96,
    )


class ShownFault(NamedTuple):
    """A fault that is shown with its evidence: the game, its length, the guilty bot."""

    place: Place
    fixture: Fixture
    plies: int
    guilty: str
    fault: Fault


def choose_faults(faults: Iterable[ShownFault]) -> list[ShownFault]:
    """Return the faults to show: the first ones of each bot and kind."""
    seen: Counter[tuple[str, str]] = Counter()
    chosen = []
    for shown in faults:
        key = shown.guilty, shown.fault.kind
        seen[key] += 1
        if seen[key] <= _MOST_OF_A_KIND:
            chosen.append(shown)
    return chosen[:_MOST_SHOWN]


def faults_section(
    counts: Sequence[Faults],
    pairings: Sequence[Pairing],
    chosen: Sequence[ShownFault],
    command: Command,
    timings: Columns | None,
    replays: Collection[str],
) -> Section:
    """Return the faults by kind, some with their evidence, and the slowest decisions.

    `replays` are the ids of the games whose replay is in the report.
    """
    by_kind: Counter[tuple[str, str]] = Counter()
    for pairing, loser, kind, games in counts:
        by_kind[pairings[pairing][loser], kind] += games
    blocks = list[Block]()
    if by_kind:
        rows = [(bot, kind, games) for (bot, kind), games in sorted(by_kind.items())]
        caption = "Forfeits by bot and kind of fault"
        blocks.append(Table("fault_kinds", caption, FAULT_KINDS.shown, rows))
    if chosen:
        blocks += _show_faults(chosen, count_ended(counts), command, replays)
    title = "Faults" if timings is None else "Faults and time"
    return Section("faults", title, [*blocks, *_slowest(timings)])


def _show_faults(
    chosen: Sequence[ShownFault], total: int, command: Command, replays: Collection[str]
) -> Iterator[Block]:
    """Yield the faults as a table, and each with its evidence."""
    note = ""
    if len(chosen) < total:
        note = (
            f"{len(chosen)} of {counted(total, 'fault')}, the first {_MOST_OF_A_KIND} of each bot "
            "and kind; faults.csv has all of them."
        )
    rows, links = list[Sequence[Cell]](), list[str | None]()
    for place, fixture, plies, guilty, fault in chosen:
        again = command(fixture)
        rows.append((fixture.name, guilty, fault.kind, plies, fault.message, again))
        name = replay_id(place)
        links.append(name if name in replays else None)
    yield Table("faults", "Faults with their evidence", FAULTS.shown, rows, links, note)
    for shown in chosen:
        yield _evidence(shown, command(shown.fixture))


def _evidence(shown: ShownFault, command: str) -> Code:
    kind, *said = shown.fault
    names = "play it again", "message", "traceback", "printed"
    parts = zip(names, (command, *said), strict=True)
    text = "\n\n".join(
        f"{name}:\n{_cut(content.strip())}" for name, content in parts if content.strip()
    )
    return Code(f"{shown.guilty}: {kind} in {shown.fixture.name}", text)


def _cut(text: str) -> str:
    """Return a text, or its end if it is very long."""
    return text if len(text) <= _MOST_TEXT else f"... {text[-_MOST_TEXT:]}"


def _slowest(timings: Columns | None) -> Iterator[Block]:
    if timings is None or not len(timings):
        return
    table = timings.where(np.lexsort([timings["bot"].astype(str), -timings["cpu_max"]]))
    yield frame_table(TIMINGS, "The slowest decisions", table, folded=True)
