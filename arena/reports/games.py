"""Make the sections of a report on single games: those worth a look, with their replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arena.differences.lead_parts import ENDING, ROUND, LeadParts
from arena.differences.paired import say_decided
from arena.errors import counted
from arena.replays.finished_game import Game
from arena.replays.timeline import make_timeline
from arena.reports.blocks import Block, Code, Replay, Replays, Section, Table, Text, frame_table
from arena.reports.lead_section import draw_margin
from arena.reports.win_section import SOURCE_NAMES, Margin
from arena.statistics.counts import Faults
from arena.store.columns import Columns
from arena.store.store import Store
from arena.store.table_columns import FAULT_KINDS, FAULTS, TIMINGS
from arena.tables.replayed_games import chances_by_game
from arena.tournament.replay_command import Command
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.strikes import count_ended
from arena.tournament.tournament import Tournament
from engine import EngineError
from engine.state import Seat

if TYPE_CHECKING:
    import pandas as pd

MOST = 3
"""Games that are picked for each reason; one in runs of fewer than MANY games."""

MANY = 100

MOST_DECIDED = 2
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
    numbers = {pairing: number for number, pairing in enumerate(tournament.pairings)}
    columns = ["opponent", "pair", "seat", "ply", "new_score", "old_score"]
    rows = decided[columns].head(MOST_DECIDED).itertuples(index=False)
    for opponent, pair, seat, *rest in rows:
        said = say_decided(new, old, *rest)
        for bot in (new, old):
            pairing = next(p for p in numbers if (p.bot, p.opponent) == (bot, opponent))
            yield Pick(
                Place(numbers[pairing], pair, seat),
                f"The change decided this game, which {said}.",
            )


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
    blocks: list[Block] = [Replays(replays)] if replays else [Text(["There are no games yet."])]
    if replays:
        blocks.insert(
            0,
            Text(["Each opens its replay, ply by ply. arena view RUN GAME shows any other game."]),
        )
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
    for place, why in reasons.items():
        if place in games:
            try:
                fixture, game = games[place]
                seat = 1 - place.seat if side == fixture.pairing.opponent else place.seat
                yield _make(place, fixture, game, " ".join(why), known.get(place), seat)
            except EngineError:  # a damaged record cannot be shown
                continue


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
    line = draw_margin(f"{name}-line", data["frames"], seat)
    return Replay(name, title, reason, data, line)


class ShownFault(NamedTuple):
    """A fault that is shown with its evidence: the game, its length, the guilty bot."""

    fixture: Fixture
    plies: int
    guilty: str
    kind: str
    message: str
    traceback: str
    output: str


def choose_faults(faults: Iterable[ShownFault]) -> list[ShownFault]:
    """Return the faults to show: the first ones of each bot and kind."""
    seen: Counter[tuple[str, str]] = Counter()
    chosen = []
    for shown in faults:
        key = shown.guilty, shown.kind
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
    links: Sequence[str | None],
) -> Section:
    """Return the faults by kind, some with their evidence, and the slowest decisions.

    `links` has the targets of the chosen faults: their replays.
    """
    blocks = [*_faults(counts, pairings, chosen, command, links), *_slowest(timings)]
    title = "Faults" if timings is None else "Faults and time"
    return Section("faults", title, blocks)


def _faults(
    counts: Sequence[Faults],
    pairings: Sequence[Pairing],
    chosen: Sequence[ShownFault],
    command: Command,
    links: Sequence[str | None],
) -> Iterator[Block]:
    by_kind: Counter[tuple[str, str]] = Counter()
    for pairing, loser, kind, games in counts:
        by_kind[pairings[pairing][loser], kind] += games
    if not by_kind:
        return
    rows = [(bot, kind, games) for (bot, kind), games in sorted(by_kind.items())]
    yield Table("fault_kinds", "Forfeits by bot and kind of fault", FAULT_KINDS.shown, rows)
    if not chosen:
        return
    total = count_ended(counts)
    note = ""
    if len(chosen) < total:
        note = (
            f"{len(chosen)} of {counted(total, 'fault')}, the first {_MOST_OF_A_KIND} of each bot "
            "and kind; faults.csv has all of them."
        )
    cells = [
        (
            shown.fixture.name,
            shown.guilty,
            shown.kind,
            shown.plies,
            shown.message,
            command(shown.fixture),
        )
        for shown in chosen
    ]
    yield Table("faults", "Faults with their evidence", FAULTS.shown, cells, links, note)
    for shown in chosen:
        yield _evidence(shown, command(shown.fixture))


def _evidence(shown: ShownFault, command: str) -> Code:
    parts = [("play it again", command), ("message", shown.message)]
    parts += [("traceback", shown.traceback), ("printed", shown.output)]
    text = "\n\n".join(
        f"{name}:\n{_cut(content.strip())}" for name, content in parts if content.strip()
    )
    return Code(f"{shown.guilty}: {shown.kind} in {shown.fixture.name}", text)


def _cut(text: str) -> str:
    """Return a text, or its end if it is very long."""
    return text if len(text) <= _MOST_TEXT else f"... {text[-_MOST_TEXT:]}"


def _slowest(timings: Columns | None) -> Iterator[Block]:
    if timings is None or not len(timings):
        return
    table = timings.where(np.lexsort([timings["bot"].astype(str), -timings["cpu_max"]]))
    yield frame_table(TIMINGS, "The slowest decisions", table, folded=True)
