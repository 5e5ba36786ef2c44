"""Comparison: what the games of a comparison came to, and the files that say it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd

from arena.entries.entry import Entry
from arena.entries.resolve import default_lane
from arena.entries.spec import default_label
from arena.games.match import GameResult
from arena.insight.paired import Twin, make_differences, separate_games
from arena.insight.summary import plain_rows
from arena.insight.unrated import find_out
from arena.insight.verdict import make_sentence
from arena.lanes.faults import BY_RULE
from arena.lanes.limits import Limits
from arena.statistics.counts import Counts
from arena.statistics.intervals import Estimate
from arena.statistics.stopped import estimate_mean
from arena.store.cells import csv_writer
from arena.store.folder import COMPARISON, DECIDED, DIFFERENCES, Writer
from arena.store.store import Store
from arena.tournament.bounds import MAX_FAULTS
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.sprt_evidence import Evidence, Verdict, decide, weigh
from arena.tournament.stop import Sprt
from arena.tournament.tournament import Tournament

DECIDED_COLUMNS = ["game", "old_game", "ply", *Twin._fields[:-2]]


@dataclass(frozen=True)
class Twins:
    """What two versions did on the same deals.

    `differences` is the lead of the new one in total and by part, and `decided` has the games
    in which a different move came before a different result. Of the `games` that were played
    for this, of both versions together, `same_games` of each came out the same move by move.
    Two versions on separate deals would have needed `separate_games`. Opponents that are out
    count nowhere.
    """

    differences: pd.DataFrame
    decided: pd.DataFrame
    games: int
    same_games: int
    separate_games: int


@dataclass(frozen=True)
class Comparison:
    """The verdict of a sequential test, and the estimate after it.

    `counts` are the pairs by each of `values`, `ratio` their log-likelihood ratio, and `elo`
    the lead with its 95 % interval; `games` is the number of all games that were played, not
    forfeited by rule, and `out` are the bots that had too many faults. `command` plays it
    again. `twins` is there for two versions that met the bots `against`.
    """

    new: str
    old: str
    against: tuple[str, ...]
    stop: Sprt
    evidence: Evidence
    verdict: Verdict
    elo: Estimate
    games: int
    out: tuple[str, ...]
    command: str
    twins: Twins | None

    @property
    def sentence(self) -> str:
        """Which of the two is stronger, as far as the interval and the test say it together."""
        found = self.verdict, self.elo, self.stop, self.evidence.pairs
        return make_sentence((self.new, self.old), self.against, self.out, found)

    def document(self) -> dict[str, Any]:
        """Return it as plain data, rounded where it is estimated."""
        evidence, stop = self.evidence, self.stop
        document: dict[str, Any] = {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "new": self.new,
            "old": self.old,
            "against": [*self.against],
            "pairs": evidence.pairs,
            "counts": [*evidence.counts],
            "values": [*evidence.values],
            "llr": round(evidence.ratio, 4) + 0.0,
            "llr_low": round(evidence.ends.low, 4),
            "llr_high": round(evidence.ends.high, 4),
            "elo": round(self.elo.value, 1) + 0.0,
            "elo_low": round(self.elo.low, 1) + 0.0,
            "elo_high": round(self.elo.high, 1) + 0.0,
            "elo0": stop.elo0,
            "elo1": stop.elo1,
            "alpha": stop.alpha,
            "beta": stop.beta,
            "max_pairs": stop.max_pairs,
            "games": self.games,
            "out": [*self.out],
            "command": self.command,
        }
        if self.twins:
            document["same_games"] = self.twins.same_games
            document["separate_games"] = self.twins.separate_games
            document["decided"] = len(self.twins.decided)
            document["differences"] = plain_rows(self.twins.differences)
        return document


def make_comparison(
    tournament: Tournament, stop: Sprt, store: Store, counted: Counts
) -> Comparison:
    """Return what the games of a comparison came to, all of which are in the store.

    `counted` is what they are counted into.
    """
    new, old, *against = tournament.labels
    found = find_out(tournament.pairings, counted.faults, tournament.max_faults)
    out = tuple(label for label in tournament.labels if label in found)
    evidence = weigh(tournament, stop, _count(tournament, store), out)
    mean = _estimate(evidence)
    twins = _make_twins(tournament, store, mean, out) if tournament.paired else None
    return Comparison(
        new,
        old,
        tuple(against),
        stop,
        evidence,
        decide(evidence, new, old, out),
        Estimate(*map(evidence.elo, mean[:3])),
        counted.games - _count_by_rule(counted),
        out,
        comparison_command(tournament, stop),
        twins,
    )


def _count_by_rule(counted: Counts) -> int:
    """Return the number of games that were forfeited by rule, and not played."""
    return sum(fault.games for fault in counted.faults if fault.kind == BY_RULE)


def _count(tournament: Tournament, store: Store) -> dict[int, tuple[int, ...]]:
    counts: dict[int, tuple[int, ...]] = {}
    most = tournament.most_pairs
    for number in range(len(tournament.pairings)):
        counts[number] = store.count_pairs(number, 0, most)
        if number in tournament.twins:
            old = tournament.old_pairing(number)
            counts[number] = store.count_differences(number, old, 0, most)
    return counts


def _estimate(evidence: Evidence) -> Estimate:
    """Return the mean of an observation, with its interval, which may end beyond all values."""
    if not evidence.pairs:  # all opponents are out
        least, most = evidence.values[0], evidence.values[-1]
        return Estimate((least + most) / 2, least, most)
    return estimate_mean(
        evidence.counts,
        evidence.values,
        evidence.mean0,
        evidence.mean1,
        evidence.looks,
        evidence.ends,
    )


def _make_twins(
    tournament: Tournament, store: Store, mean: Estimate, out: Collection[str]
) -> Twins:
    rows = pd.DataFrame(_twins(tournament, store, out), columns=Twin._fields)
    total = mean.scaled(0.5)
    played = rows[rows["played"].astype(bool)]
    games = 2 * len(played)
    return Twins(
        make_differences(rows, total),
        _decided(tournament, played),
        games,
        int(played["ply"].isna().sum()),
        round(games * separate_games(rows)),
    )


def _decided(tournament: Tournament, played: pd.DataFrame) -> pd.DataFrame:
    """Return the games in which the change decided, with the names of both versions' games."""
    differs = played["ply"].notna() & (played["new_score"] != played["old_score"])
    decided = played[differs].astype({"ply": int})
    for column, label in (("game", 0), ("old_game", 1)):
        bot = tournament.labels[label]
        names = [
            Fixture(Pairing(bot, row.opponent), row.pair, row.seat).name
            for row in map(Twin._make, decided[[*Twin._fields]].itertuples(index=False))
        ]
        decided[column] = names
    return decided[DECIDED_COLUMNS].reset_index(drop=True)


def _twins(tournament: Tournament, store: Store, out: Collection[str]) -> Iterator[Twin]:
    """Yield every game of the new version beside that of the old one; opponents out have none."""
    for number in sorted(tournament.twins):
        opponent = tournament.pairings[number].opponent
        if opponent in out:
            continue
        for new, old in _of_both(store, number, tournament.old_pairing(number)):
            yield Twin(
                opponent,
                new.pair,
                new.seat,
                new.score,
                old.score,
                new.win_type,
                old.win_type,
                _first_difference(new, old),
                _was_played(new) and _was_played(old),
            )


def _of_both(store: Store, new: int, old: int) -> Iterator[tuple[GameResult, GameResult]]:
    """Yield the games of two pairings that both have, which a run under way has not of all."""
    olds = store.games_of(old)
    other = next(olds, None)
    for game in store.games_of(new):
        while other and (other.pair, other.seat) < (game.pair, game.seat):
            other = next(olds, None)
        if other and (other.pair, other.seat) == (game.pair, game.seat):
            yield game, other


def _was_played(result: GameResult) -> bool:
    return result.fault is None or result.fault.kind != BY_RULE


def _first_difference(new: GameResult, old: GameResult) -> int | None:
    """Return the first ply at which two games differ, None if they are the same."""
    for ply, (one, other) in enumerate(zip(new.actions, old.actions, strict=False)):
        if one != other:
            return ply
    if (len(new.actions), new.winner, new.win_type) == (
        len(old.actions),
        old.winner,
        old.win_type,
    ):
        return None
    return min(len(new.actions), len(old.actions))


def comparison_command(tournament: Tournament, stop: Sprt) -> str:
    """Return the command that plays a comparison again, nothing if only a program can."""
    new, old, *against = tournament.entries
    if (lane := _lane_option(tournament.entries)) is None or not _has_defaults(tournament):
        return ""
    specs = [
        entry.spec
        if entry.label == default_label(entry.target, entry.params)
        else f"{entry.label}={entry.spec}"
        for entry in (new, old, *against)
    ]
    words = ["arena", "compare", *specs[:2]]
    words += [word for spec in specs[2:] for word in ("--against", spec)]
    for option in ("elo0", "elo1", "alpha", "beta"):
        words += [f"--{option}", f"{getattr(stop, option):.12g}"]
    words += ["--max-pairs", str(stop.max_pairs), "--seed", str(tournament.seed)]
    if changes := tournament.rules.changes():
        words += ["--rules", json.dumps(changes)]
    if tournament.limits != Limits():
        words += ["--limits", json.dumps(msgspec.structs.asdict(tournament.limits))]
    return shlex.join(words + lane)


def _has_defaults(tournament: Tournament) -> bool:
    """Return whether nothing was asked for that the command has no option for."""
    if any(entry.is_code or entry.needs for entry in tournament.entries):
        return False
    return tournament.max_faults == MAX_FAULTS


def _lane_option(entries: Sequence[Entry]) -> list[str] | None:
    """Return the words that give all bots their lanes, None where no words do."""
    lanes = [entry.lane for entry in entries]
    if lanes == [default_lane(entry.target) for entry in entries]:
        return []
    return ["--lane", lanes[0]] if len({*lanes}) == 1 else None


def comparison_writers(comparison: Comparison) -> Mapping[str, Writer]:
    """Return the writers of a comparison's files."""
    text = json.dumps(comparison.document(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    writers: dict[str, Writer] = {COMPARISON: lambda file: file.write(text)}
    if twins := comparison.twins:
        writers[DIFFERENCES] = csv_writer(twins.differences)
        writers[DECIDED] = csv_writer(twins.decided)
    return writers
