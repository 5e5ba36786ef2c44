"""Report the standing of a league, and compare two versions of a bot, in rows and lines."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from arena.addons.league.league import League
from arena.addons.league.league_games import Games
from arena.addons.league.league_tables import ACTIVE, SUSPENDED, RatingRow, Version
from arena.addons.league.ledger import Ledger
from arena.errors import arena_command, counted, escape
from arena.statistics import letters
from arena.statistics.difference import Values, compare_means
from arena.statistics.intervals import Estimate
from arena.statistics.letters import split_letters
from arena.statistics.number_texts import write_ends, write_estimate
from arena.store.table_columns import LEAGUE
from arena.tables.summary import short_names
from arena.tournament.tournament import VERSION

_HALVES = 4  # half points of a pair
_FEWEST = 10  # pairs


class Change(NamedTuple):
    """By how much a version scores more than an older one, 0 to 1, on this many common deals."""

    old: Version
    estimate: Estimate
    pairs: int
    opponents: int

    def describe(self) -> str:
        """Return it as a sentence; points are of 100."""
        points = write_estimate(self.estimate.scaled(100), "+.1f", " points of 100")
        against = counted(self.opponents, "opponent")
        return (
            f"It scores {points} beside version {self.old.number}, "
            f"on {counted(self.pairs, 'common deal')} against {against}."
        )


def find_change(games: Games, new: Version, old: Version) -> Change | None:
    """Return the difference of two versions; None where they have few deals in common.

    Each opponent weighs the same. The pair is the unit; pairs on one deal go together.
    """
    ours, theirs = (games.halves(version.label) for version in (new, old))
    strata = []
    for opponent in sorted(ours.keys() & theirs.keys()):
        common = sorted(ours[opponent].keys() & theirs[opponent].keys())
        if common:
            base, other = (
                np.array([of[opponent][pair] for pair in common], dtype=float) / _HALVES
                for of in (theirs, ours)
            )
            strata.append(Values(base, other, len(common)))
    pairs = sum(values.shared for values in strata)
    if pairs < _FEWEST:
        return None
    return Change(old, compare_means(strata).estimate, pairs, len(strata))


_HEAD = f"{'rank':>4}  {'bot':<24} {'elo':>6} {'95 %':>13} {'pairs':>7}  group"
_MOST_NAME = 24
_MOST_LETTERS = 8
_WIDTH = 80


class Standing(NamedTuple):
    """The standing of a bot in a league, by its newest version.

    Bots of the panel have no rank: they are the scale. `elo`, with its 95 % interval, is None
    before the first games; an end of the interval is None if it is unbounded. `shrunk` is the Elo
    shrunk towards the mean, the more the less is known. Bots that share a letter in `group` could
    not be separated. `note` is information for its owner. `best_version` has the highest Elo of the
    name, None before the first games; `days` is on how many days it was submitted, `faults` counts
    those of all its versions, and `beats` has the bots of the panel that it surely beats.
    """

    rank: int | None
    bot: str
    version: int
    owner: str
    elo: float | None
    elo_low: float | None
    elo_high: float | None
    shrunk: float | None
    pairs: int
    group: str
    state: str
    note: str
    best_version: int | None = None
    days: int = 0
    faults: int = 0
    beats: tuple[str, ...] = ()


def standings(league: League) -> list[Standing]:
    """Return the standings of all active bots, the strongest first, then of suspended ones."""
    rows, best = league.ratings(), league.ledger.best_versions(league.number)
    days, faults = league.ledger.days(), Counter[str]()
    for label, (strikes, _) in league.games.faults.items():
        faults[label.partition(VERSION)[0]] += strikes
    found = [
        _standing(league, version, rows.get(version.id))._replace(
            best_version=best.get(version.name),
            days=days[version.name],
            faults=faults[version.name],
        )
        for version in league.ledger.versions("state IN (?, ?)", ACTIVE, SUSPENDED)
    ]
    found.sort(key=lambda one: (one.state != ACTIVE, -(one.elo or -math.inf), one.bot))
    scale = {*panel_names(league.ledger).values()}
    rated = [one for one in found if one.state == ACTIVE and one.elo is not None]
    ranked = [one for one in rated if one.bot not in scale]
    ranks = letters.give_ranks([one.elo or 0.0 for one in ranked])
    rank_of = {one.bot: rank for one, rank in zip(ranked, ranks, strict=True)}
    panel = [one for one in rated if one.bot in scale]
    return [
        one._replace(
            rank=rank_of.get(one.bot),
            beats=tuple(sorted(other.bot for other in panel if surely_beats(one, other))),
        )
        for one in found
    ]


def panel_names(ledger: Ledger) -> dict[int, str]:
    """Return the names of the panel's bots, by id."""
    return {version.id: version.name for version in ledger.versions("panel")}


def _standing(league: League, version: Version, row: RatingRow | None) -> Standing:
    """Return the standing of a version, without what the others decide."""
    who = None, version.name, version.number, version.owner
    note = _note(league, version, row)
    if row is None:
        return Standing(*who, None, None, None, None, 0, "", version.state, note)
    group = row.letters if version.is_active else ""
    return Standing(*who, *row.rounded()[2:6], row.pairs, group, version.state, note)


def _note(league: League, version: Version, row: RatingRow | None) -> str:
    if not version.is_active:
        return f"suspended: {version.why.partition(';')[0]}"
    settings = league.settings
    if version.cost * settings.round_pairs > settings.bot_seconds:
        pairs = max(10, int(settings.bot_seconds / version.cost))
        return f"slow: {counted(pairs, 'pair')} in a round, so its rating waits"
    return "" if row else "plays in the next round"


def table(league: League, found: Sequence[Standing]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows of league.csv.

    For each bot of the panel it says whether a bot surely beats it: yes, no, or nothing for itself
    and before its games.
    """
    panel = [*panel_names(league.ledger).values()]
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


def format_standings(found: Sequence[Standing], place: str) -> Iterator[str]:
    """Yield the standings for a terminal of 80 columns; `place` is the league's folder."""
    names = short_names((f"{one.bot} {one.version}" for one in found), _MOST_NAME)
    _, write_title = names.column(_MOST_NAME)
    yield _HEAD
    for one in found:
        interval = write_ends(one.elo_low, one.elo_high)
        line = f"{one.rank or '-':>4}  {write_title(f'{one.bot} {one.version}')} "
        if one.elo is not None:
            group = letters.shorten(one.group, _MOST_LETTERS) if one.group else ""
            line += f"{one.elo:>6.0f} {interval:>13} {one.pairs:>7,}  {group}"
        yield line.rstrip()
        if one.note:
            yield f"      {one.note}"
        if one.state == SUSPENDED:
            yield f"      see `{arena_command('league', ['show', place, one.bot])}`"


def format_summary(league: League) -> Iterator[str]:
    """Yield the standings, and the notes below them, for a terminal of 80 columns."""
    yield from format_standings(standings(league), str(league.folder))
    yield "without a rank: the arena's own bots, the scale, and those not rated yet"
    for text in describe_spread(league):
        yield from textwrap.wrap(text, _WIDTH)


def describe_spread(league: League) -> Iterator[str]:
    """Yield the notes below the standings: the spread, and the league's progress."""
    spread = league.ledger.spread(league.number)
    if spread is None:
        yield "No round has been played."
        return
    how = "which intervals include" if spread[3] else "mostly assumed: few pairs yet"
    about = write_estimate(Estimate(*spread[:3]), unit=" points")
    yield f"Results differ from Elo by about ±{about}, {how}."
    precise = "are" if league.is_precise() else "are not yet all"
    target = f"{league.settings.target:g} Elo"
    yield f"This is after round {league.number:,}; ratings {precise} within {target}."


def to_document(league: League) -> dict[str, Any]:
    """Return the standings of a league as plain data."""
    spread = league.ledger.spread(league.number)
    names = ("elo", "low", "high", "measured")
    return {
        "folder": str(league.folder),
        "round": league.number,
        "precise": league.is_precise(),
        "target": league.settings.target,
        "spread": dict(zip(names, spread, strict=True)) if spread else None,
        "standings": [one._asdict() for one in standings(league)],
    }


def history(league: League, name: str) -> dict[str, Any]:
    """Return the history of a name as plain data: versions, ratings, faults, refusals.

    Raises InputError for a name that is not known to the league.
    """
    refusals = league.ledger.refusals("name = ?", name)
    versions = league.ledger.versions("name = ?", name)
    if not refusals and not versions:
        league.find(name)
    told = []
    for version in versions:
        strikes, first = league.games.faults.get(version.label, (0, None))
        ratings = [
            {"round": number, **row.rounded()._asdict()}
            for number, row in league.ledger.rating_history(version.id)
        ]
        shown = {
            key: value
            for key, value in version._asdict().items()
            if key not in ("id", "cost", "panel", "name")
        }
        before = next((one for one in versions if one.number == version.number - 1), None)
        change = find_change(league.games, version, before) if before else None
        fault = first and first._asdict()
        if first and fault:
            fault["show"] = arena_command("show", [league.folder, first.game])
        more = {"faults": strikes, "first_fault": fault, "change": change and to_data(change)}
        told.append({**shown, **more, "ratings": ratings})
    kept = [
        {"sha256": one.sha256, "owner": one.owner, "why": one.why, "at": one.at} for one in refusals
    ]
    return {"bot": name, "versions": told, "refusals": kept}


def to_data(change: Change) -> dict[str, Any]:
    """Return the difference from the previous version as plain data."""
    cells = change.estimate.scaled(100).cells
    data = dict(zip(("points", "low", "high"), cells, strict=True))
    told = {"pairs": change.pairs, "opponents": change.opponents, "sentence": change.describe()}
    return {"version": change.old.number, **data, **told}


def format_history(data: dict[str, Any]) -> Iterator[str]:
    """Yield the history of a name for a terminal."""
    for version in data["versions"]:
        why = version["why"].partition(";")[0]  # a line below has the fault
        state = version["state"] + (f": {why}" if why else "")
        sha256 = version["sha256"][:12]
        yield f"{data['bot']} {version['number']}  {version['at']}  {sha256}  {state}"
        if version["change"]:
            yield from textwrap.wrap(
                version["change"]["sentence"], 78, initial_indent="  ", subsequent_indent="  "
            )
        if fault := version["first_fault"]:
            first = f"the first: {fault['kind']} at ply {fault['ply']}: {fault['message']}"
            yield f"  {counted(version['faults'], 'fault')}; {escape(first)}"
            yield f"  `{fault['show']}` shows it"
        if version["ratings"]:
            yield f"{'elo':>22}  {'95 %':>13}"
        for row in version["ratings"]:
            shown = f"{row['elo']:>6.0f}  {write_ends(row['low'], row['high']):>13}"
            yield f"  round {row['round']:>6,}  {shown}  {counted(row['pairs'], 'pair')}"
    for refusal in data["refusals"]:
        yield f"refused  {refusal['at']}  {refusal['why']}"
