"""Report the standing of a league, a bot's history, and why it lost, in rows and lines.

Why a bot lost is for its owner and the organiser; nothing of it is published.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from arena.addons import hook
from arena.addons.league.league import League
from arena.addons.league.ledger import ACTIVE, SUSPENDED, Version
from arena.errors import InputError, arena_command, counted, escape, naming
from arena.statistics.letters import give_ranks, split_letters
from arena.statistics.number_texts import write_ends
from arena.store.column_titles import LEAGUE
from arena.store.reader import Choice
from arena.tables.losses import Asked
from arena.tables.standings_text import plain_rows
from arena.tournament.config_keys import Venue
from arena.tournament.tournament import VERSION

_MOST_ROUNDS = 4  # of a course
_MOST_COSTLY: Final = 10  # decisions
_COSTLY: Final = ("opponent", "game", "ply", "action", "best", "loss", "mistake")


class Standing(NamedTuple):
    """The standing of a bot in a league, by its newest version.

    Bots of the panel have no rank: they are the scale. `elo`, with its 95 % interval, is None
    before the first games; an end of the interval is None if it is unbounded. Bots that share a
    letter in `group` could not be separated. `new` says what the last round has rated for the first
    time, and `course` has the last ratings of all its versions. `note` is information for its
    owner. `faults` counts those of all its versions, and `beats` has the bots of the panel that it
    surely beats.
    """

    rank: int | None
    bot: str
    version: int
    owner: str
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    pairs: int
    group: str
    state: str
    note: str
    new: str = ""
    course: str = ""
    faults: int = 0
    beats: tuple[str, ...] = ()


def standings(league: League) -> list[Standing]:
    """Return the standings of all active bots, the strongest first, then of suspended ones."""
    versions = league.ledger.versions("state IN (?, ?)", ACTIVE, SUSPENDED)
    faults = Counter[str]()
    for label, (strikes, _) in league.games.faults.items():
        faults[label.partition(VERSION)[0]] += strikes
    found = [_standing(league, one)._replace(faults=faults[one.name]) for one in versions]
    found.sort(key=lambda one: (one.state != ACTIVE, -(one.elo or -math.inf), one.bot))
    scale = {version.name for version in versions if version.panel}
    rated = [one for one in found if one.state == ACTIVE and one.elo is not None]
    ranked = [one for one in rated if one.bot not in scale]
    ranks = give_ranks([one.elo or 0.0 for one in ranked])
    rank_of = {one.bot: rank for one, rank in zip(ranked, ranks, strict=True)}
    panel = sorted((one for one in rated if one.bot in scale), key=lambda one: one.bot)
    beats = [tuple(two.bot for two in panel if surely_beats(one, two)) for one in found]
    both = zip(found, beats, strict=True)
    return [one._replace(rank=rank_of.get(one.bot), beats=beaten) for one, beaten in both]


def _standing(league: League, version: Version) -> Standing:
    """Return the standing of a version, without what the others decide."""
    own = league.ledger.rating_history(version.id)
    row = dict(own).get(league.number)
    elo, low, high = row.rounded()[2:5] if row else (None, None, None)
    group = row.letters if row and version.is_active else ""
    why = f"suspended: {version.why.partition(';')[0]}"
    note = why if not version.is_active else "" if row else "plays in the next round"
    who = None, version.name, version.number, version.owner
    is_new = not version.panel and [number for number, _ in own] == [league.number]
    new = "new" if version.number == 1 else f"version {version.number}"
    course = [
        f"{rated.rounded().elo:.0f}"
        for one in league.find(version.name)
        for _, rated in league.ledger.rating_history(one.id)
    ]
    known = *who, elo, low, high, row.pairs if row else 0, group, version.state, note
    return Standing(*known, new if is_new else "", " > ".join(course[-_MOST_ROUNDS:]))


def table(league: League, found: Sequence[Standing]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of league.csv.

    For each bot of the panel it says whether a bot surely beats it: yes, no, or nothing for itself
    and before its games.
    """
    panel = [version.name for version in league.ledger.versions("panel")]
    rows = []
    for one in found:
        beats = [
            "" if not one.pairs or name == one.bot else "yes" if name in one.beats else "no"
            for name in panel
        ]
        rows.append([*(getattr(one, name) for name in LEAGUE.names), *beats])
    return [*LEAGUE.names, *(f"beats_{name}" for name in panel)], rows


def are_apart(upper: Sequence[Standing], lower: Sequence[Standing]) -> bool:
    """Return whether each bot is told apart from each of the others: they share no letter."""
    letters = [{*chain(*(split_letters(one.group) for one in some))} for some in (upper, lower)]
    return letters[0].isdisjoint(letters[1])


def surely_beats(one: Standing, other: Standing) -> bool:
    """Return whether a bot is surely stronger than another one: ahead of it, and told apart."""
    if one.elo is None or other.elo is None or not (one.group and other.group):
        return False
    return one.elo > other.elo and are_apart([one], [other])


def to_document(league: League) -> dict[str, Any]:
    """Return the standings of a league as plain data."""
    return {
        "folder": str(league.folder),
        "round": league.number,
        "precise": league.is_precise(),
        "target": league.settings.target,
        "standings": [one._asdict() for one in standings(league)],
    }


def history(league: League, name: str) -> dict[str, Any]:
    """Return the history of a name as plain data: versions, ratings, faults, refusals.

    Raises InputError for a name that is not known to the league.
    """
    refusals = league.ledger.refusals("name = ?", name)
    versions = league.ledger.versions("name = ?", name)
    if not refusals:
        league.find(name)
    told = []
    for version in versions:
        strikes, first = league.games.faults.get(version.label, (0, None))
        ratings = [
            {"round": number, "elo": row.elo, "low": row.low, "high": row.high, "pairs": row.pairs}
            for number, one in league.ledger.rating_history(version.id)
            for row in [one.rounded()]
        ]
        show = first and arena_command("show", [league.folder, first.game])
        fault = {**first._asdict(), "show": show} if first else None
        keys = ("number", "owner", "spec", "sha256", "state", "why", "at")
        shown = {key: getattr(version, key) for key in keys}
        told.append({**shown, "faults": strikes, "first_fault": fault, "ratings": ratings})
    kept = [
        {key: getattr(one, key) for key in ("sha256", "owner", "why", "at")} for one in refusals
    ]
    return {"bot": name, "versions": told, "refusals": kept}


def format_history(data: dict[str, Any]) -> Iterator[str]:
    """Yield the history of a name for a terminal."""
    for version in data["versions"]:
        why = version["why"].partition(";")[0]  # a line below has the fault
        state = version["state"] + (f": {why}" if why else "")
        sha256 = version["sha256"][:12]
        yield f"{data['bot']} {version['number']}  {version['at']}  {sha256}  {state}"
        if fault := version["first_fault"]:
            first = f"the first: {fault['kind']} at ply {fault['ply']}: {fault['message']}"
            yield f"  {counted(version['faults'], 'fault')}; {escape(first)}"
            yield f"  `{fault['show']}` shows it"
        for row in version["ratings"][-1:]:
            elo = f"Elo {row['elo']:.0f} ({write_ends(row['low'], row['high'])})"
            yield f"  {elo} after round {row['round']:,}, {counted(row['pairs'], 'pair')}"
    for refusal in data["refusals"]:
        yield f"refused  {refusal['at']}  {refusal['why']}"


def why(league: League, name: str, venue: Venue, *, progress: bool = False) -> dict[str, Any]:
    """Return why the newest version of a name lost, as plain data.

    Games that were judged are kept. Raises InputError for an unknown name and without a game
    that can be judged, and Interrupted at Ctrl-C.
    """
    versions, games = league.find(name), league.games
    label = versions[-1].label
    if label not in games.totals:
        raise InputError(f"{name}: its newest version has not played yet")
    run, asked = (games.tournament, games.store, league.folder, venue), Asked(worst=_MOST_COSTLY)
    with naming(name):
        choice = Choice((label,))
        analysis = hook("analyse_run")(*run, asked, choice=choice, teaches=False, progress=progress)
    worst = plain_rows(analysis.worst[analysis.worst["bot"] == label])
    shown = [(row, arena_command("show", [league.folder, row["game"]])) for row in worst]
    return {
        "bot": name,
        "version": versions[-1].number,
        "judged": int(analysis.decisions["game"].nunique()),
        "costly": [{key: row[key] for key in _COSTLY} | {"show": show} for row, show in shown],
    }


def format_why(found: dict[str, Any]) -> Iterator[str]:
    """Yield the reasons of a bot's losses for a terminal of 80 columns."""
    yield f"{found['bot']} {found['version']}: {counted(found['judged'], 'game')} judged"
    if found["costly"]:
        yield "the decisions that cost most of the chance to win:"
    for one in found["costly"]:
        played = f"played {one['action']}, best {one['best']}, {one['mistake']}"
        yield f"  {100 * one['loss']:>3.0f} %  ply {one['ply']:>2}, {played}:"
        yield f"    `{one['show']}`"
