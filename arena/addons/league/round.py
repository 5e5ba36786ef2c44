"""Play one round of a league as a tournament of meetings, and read its results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from arena.addons.league.league_settings import Settings
from arena.addons.league.league_tables import Pairs, Plan, Version
from arena.addons.league.sources import SOURCES, as_file, identity_of
from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.entries.spec import is_address
from arena.errors import InputError, Unreachable
from arena.executors.local import Executor
from arena.lanes.faults import count_strikes
from arena.runs.progress_bar import find_first_faults
from arena.runs.run import play_games
from arena.statistics.counts import BY_RULE, MISSING, RESULTS
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.schedule import Meeting
from arena.tournament.tournament import Tournament

ROUNDS: Final = "rounds"
"""The folder of the rounds' games, in the league's folder."""


class Met(NamedTuple):
    """The result of a meeting: the pairs of two versions, from the number `first` on, and endings.

    Games are counted by win type and result, in the order of `arena.statistics.difference`. A pair
    with a game that was not played, because a bot had too many faults, does not count. `scores` has
    a character for each pair: the first bot's half points, or - if the pair does not count.
    """

    pairs: Pairs
    first: int
    endings: tuple[int, ...]
    scores: str


class Faulty(NamedTuple):
    """The number of a version's faults in a round; `first` describes the first one as JSON."""

    version: int
    strikes: int
    first: str


class Played(NamedTuple):
    """The results of a round."""

    met: list[Met]
    faulty: list[Faulty]


def round_folder(folder: Path, number: int) -> Path:
    """Return the folder of a round in the league's folder."""
    return folder / ROUNDS / f"{number:06}"


def find_entry(folder: Path, version: Version, settings: Settings) -> Entry:
    """Return the entry of a version; raises InputError if its source has changed.

    Its spec is relative to the league's folder, so that a league can be moved. Raises Unreachable
    for a bot that lives elsewhere and cannot be asked, or is another one now.
    """
    if is_address(version.spec):
        return _ask_server(version)
    is_file = version.spec.startswith(f"{SOURCES}/")
    if is_file:
        entry = resolve(f"{version.name}={as_file(folder / version.spec)}", lane=settings.lane)
        filename = entry.filename and f"{version.name}.py"
        entry = replace(entry, target=f"./{version.spec}", filename=filename)
    else:
        entry = resolve(version.spec, version.name)
    if identity_of(entry) != version.sha256:
        where = folder / version.spec if is_file else f"bots/{entry.target}.py"
        raise InputError(
            f"{version.title}: {where} is not what was submitted; its games would be another bot's"
        )
    return entry


def _ask_server(version: Version) -> Entry:
    try:
        entry = resolve(version.spec, version.name)
    except InputError as error:
        raise Unreachable(f"{version.name}: {error}") from None
    if identity_of(entry) == version.sha256:
        return entry
    raise Unreachable(f"{version.name}: its server has another version: it is to be handed in")


def make_round(
    folder: Path, number: int, plan: Plan, versions: Mapping[int, Version], settings: Settings
) -> Tournament:
    """Return the tournament of a round."""
    met = {name for meeting in plan.meetings for name in meeting[:2]}
    entries = [
        find_entry(folder, versions[version], settings)
        for name, version in plan.versions.items()
        if name in met
    ]
    return Tournament(
        name=f"round-{number:06}",
        seed=settings.seed,
        pairs=1,
        entries=entries,
        rules=settings.game_rules(),
        limits=settings.limits,
        max_faults=settings.max_faults,
        meetings=plan.meetings,
    )


def play(
    folder: Path,
    number: int,
    plan: Plan,
    versions: Mapping[int, Version],
    settings: Settings,
    executor: Executor,
    shown: int,
) -> Played:
    """Play the missing games of a round, and return the results of the whole round.

    Raises what `arena.runs.run.play_games` raises.
    """
    tournament = make_round(folder, number, plan, versions, settings)
    path = round_folder(folder, number)
    play_games(tournament, executor, RunFolder(path), shown)
    with closing(Store(RunFolder(path).store)) as store:
        return _read(store, tournament, plan)


def _read(store: Store, tournament: Tournament, plan: Plan) -> Played:
    """Read the results of a round from its store."""
    counts = store.count().whole.played
    endings = [[0] * MISSING for _ in plan.meetings]
    tallies = counts.tallies
    columns = (tallies.pairing, tallies.win_type, tallies.result, tallies.games)
    for pairing, win_type, result, games in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        endings[pairing][win_type * RESULTS + result] += games
    met = [
        Met(
            Pairs(*_ids(plan, plan.meetings[pairing]), by_score),
            plan.meetings[pairing].first,
            tuple(endings[pairing]),
            _score_pairs(store, pairing, plan.meetings[pairing].pairs),
        )
        for pairing, *_, by_score in counts.pair_totals
    ]
    return Played(met, _find_faults(store, tournament, plan))


def _score_pairs(store: Store, pairing: int, pairs: int) -> str:
    """Return for each pair the half points of the first bot, or - if the pair does not count."""
    halves = [0] * pairs
    counts = [0] * pairs
    for game in store.games_of(pairing):
        if not game.fault or game.fault.kind != BY_RULE:
            halves[game.pair] += round(2 * game.score)
            counts[game.pair] += 1
    return "".join(str(half) if n == 2 else "-" for half, n in zip(halves, counts, strict=True))


def _ids(plan: Plan, meeting: Meeting) -> tuple[int, int]:
    return plan.versions[meeting.bot], plan.versions[meeting.opponent]


def _find_faults(store: Store, tournament: Tournament, plan: Plan) -> list[Faulty]:
    """Return the faults of each version that committed any, in the order of their ids."""
    strikes: dict[int, int] = {}
    for pairing, loser, kind, games in store.count().faults:
        if kind != BY_RULE:
            version = _ids(plan, plan.meetings[pairing])[loser]
            worth = games * count_strikes(kind, tournament.max_faults)
            strikes[version] = strikes.get(version, 0) + worth
    place = f"{ROUNDS}/{tournament.name.removeprefix('round-')}"
    firsts = {
        plan.versions[label]: json.dumps(first._asdict())
        for label, first in find_first_faults(store, tournament, place).items()
    }
    return [Faulty(id, strikes[id], firsts.get(id, "")) for id in sorted(strikes)]


def find_first(
    played: Sequence[Pairs], plan: Mapping[tuple[int, int], int]
) -> dict[tuple[int, int], int]:
    """Return the number of the next pair for each two versions, by their ids."""
    before = {frozenset(pairs[:2]): sum(pairs.by_score) for pairs in played}
    return {two: before.get(frozenset(two), 0) for two in plan}
