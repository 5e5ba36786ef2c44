"""Write the page of one name in a league: what to work on, its rating's course, its games."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from arena.addons.league.answer import kept_why
from arena.addons.league.league import League
from arena.addons.league.league_games import Result
from arena.addons.league.league_tables import SUSPENDED, RatingRow, Version
from arena.addons.league.shown import Standing, find_change
from arena.errors import counted
from arena.lanes.faults import KINDS
from arena.reports.blocks import Replays, Report, Section, Text
from arena.reports.drawing import Lines, Series
from arena.reports.games import Pick, Place, make_replays
from arena.reports.ladder import ENDINGS
from arena.statistics.counts import RESULTS, WIN_TYPES
from arena.statistics.number_texts import write_ends
from arena.statistics.sequential_test import share_of
from arena.store.store import Store
from arena.tournament.tournament import Tournament

_MOST_ROUNDS = 200  # of the course
_MOST_GAMES = 4
_MOST_COSTLY = 5  # decisions
_FEW = 10  # pairs; an opponent with fewer is not named
_SURE = 3.0  # standard errors for the worst of some tens of opponents

_REMEDIES: Final = {
    "timeout": "Make it answer sooner: `arena check` prints how long its decisions take.",
    "idle": "It must not sleep.",
    "memory": "Make it keep less.",
}
_REMEDY: Final = (
    "`arena check ./{name}.py` plays such games at home; mend it, and hand it in again."
)


class Against(NamedTuple):
    """A version's result against another one: pairs, score, and the score expected from the Elo."""

    opponent: Version
    pairs: int
    score: float
    expected: float

    @property
    def beyond(self) -> float:
        """The score minus the expected score, in approximate standard errors of the pairs' luck."""
        return (self.score - self.expected) * math.sqrt(8 * self.pairs)


def bot_report(league: League, name: str, found: Sequence[Standing]) -> Report:
    """Return the page of a name; `found` are the league's standings."""
    versions, rows = league.find(name), league.ratings()
    last = versions[-1]
    results = league.games.results.get(last.label, [])
    worst = min(_find_weak(league, last, results, rows), key=lambda one: one.beyond, default=None)
    advice = [*_advise(league, last, rows.get(last.id)), *_describe_play(results, worst)]
    sections = [
        Section("next", "What to work on", [Text([*advice, *_describe_costly(league, name)])])
    ]
    if points := [*_course(league, versions)]:
        changes = [*_describe_changes(league, versions)]
        sections.append(Section("course", "Its rating, round by round", [*points, Text(changes)]))
    if faults := [*_describe_faults(league, versions)]:
        sections.append(Section("faults", "Faults", [Text([*faults, _REMEDY])]))
    if games := _find_games(league, last, worst):
        sections.append(games)
    standing = next((one for one in found if one.bot == name), None)
    return Report(name, [_summarise(last, standing)], sections, home="../index.html")


def _summarise(last: Version, standing: Standing | None) -> str:
    place = f"rank {standing.rank}" if standing and standing.rank else last.state
    who = (
        "of the arena itself, the scale" if last.panel else f"version {last.number} of {last.owner}"
    )
    elo = ""
    if standing and standing.elo is not None:
        elo = f", Elo {standing.elo:.0f} ({write_ends(standing.elo_low, standing.elo_high)})"
    return f"{last.name}, {who}: {place}{elo}."


def _advise(league: League, last: Version, row: RatingRow | None) -> Iterator[str]:
    """Yield what the owner has to know first, the most urgent first."""
    if last.is_paused:
        yield f"Version {last.number} is {last.why}. It plays again once its server answers."
    elif last.state == SUSPENDED:
        yield f"Version {last.number} is suspended for its faults: mend it, and hand it in again."
    elif not last.is_active:
        yield f"Version {last.number} is {last.state}; a new version brings the bot back."
    if refusals := league.ledger.refusals("name = ? AND at > ?", last.name, last.at):
        refusal = refusals[-1]
        why = f": {refusal.public}" if refusal.public else ""
        yield (
            f"What was handed in last was refused ({refusal.at[:16].replace('T', ' ')} UTC){why}. "
            "Its owner reads the whole reason where it was handed in."
        )
    if row is None:
        yield "It has no rating yet: the next rounds bring games against bots of known Elo."
    elif last.is_active and not last.panel:
        half = math.inf if row.low is None or row.high is None else (row.high - row.low) / 2
        if half > league.settings.target:
            yield (
                "Its rating is not sure yet: wait for more rounds before you conclude from it. A "
                "change that matters is found sooner by `arena compare` at home."
            )


def _describe_play(results: Sequence[Result], worst: Against | None) -> Iterator[str]:
    """Yield how a version loses: to whom it should not, and by what."""
    if worst:
        luck = "" if worst.beyond < -_SURE else ", which may be luck"
        yield (
            f"It does worst against {worst.opponent.title}, for its Elo: {_percent(worst.score)} "
            f"in {counted(worst.pairs, 'pair')}, and {_percent(worst.expected)} was to be "
            f"expected{luck}."
        )
    totals = [sum(column) for column in zip(*(one.endings for one in results), strict=True)]
    shares = [_percent(games / sum(totals)) for games in totals]
    places = {name: RESULTS * WIN_TYPES.index(kind) for kind, (name, *_) in ENDINGS.items()}
    said = [
        f"by {name} it has won {shares[place]} of its games, and lost {shares[place + 1]}"
        for name, place in places.items()
        if any(totals[place : place + 2])
    ]
    if said:
        yield f"B{'; '.join(said)[1:]}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _describe_costly(league: League, name: str) -> Iterator[str]:
    """Yield the decisions that `arena league show --why` has found to cost most."""
    told = kept_why(league, name)
    for row in sorted(told["costly"], key=lambda row: -row["loss"])[:_MOST_COSTLY] if told else ():
        yield (
            f"Ply {row['ply']} of {row['game']} gave away {_percent(row['loss'])} of the chance to "
            f"win: played {row['action']}, best {row['best']}; {row['mistake']}."
        )


def _course(league: League, versions: Sequence[Version]) -> Iterator[Lines]:
    """Yield the chart of the ratings, a line for each version."""
    series = []
    for version in versions:
        rows = league.ledger.rating_history(version.id)[-_MOST_ROUNDS:]
        points = [(number, round(row.elo, 1)) for number, row in rows]
        said = [
            f"version {version.number} after round {number}: {row.elo:.0f} "
            f"({write_ends(row.low, row.high)})"
            for number, row in rows
        ]
        series.append(Series("ink", points, said))
    if any(one.points for one in series):
        yield Lines(
            name="course",
            title="Elo after each round",
            meaning="A line for each version; its dots say the rating with its 95 % interval.",
            series=series,
            across="round",
            span=100.0,
        )


def _describe_changes(league: League, versions: Sequence[Version]) -> Iterator[str]:
    """Yield by how much each version scores more than the one before."""
    for old, new in reversed([*pairwise(versions)]):
        if change := find_change(league.games, new, old):
            yield f"Version {new.number}: {change.describe()}"


def _describe_faults(league: League, versions: Sequence[Version]) -> Iterator[str]:
    """Yield the first fault of each version, without the bot's output, and what helps."""
    for version in reversed(versions):
        strikes, first = league.games.faults.get(version.label, (0, None))
        if first:
            kind = KINDS[first.kind].text if first.kind in KINDS else first.kind
            yield (
                f"Version {version.number} had {counted(strikes, 'fault')}; the first: {kind} "
                f"({first.kind}) at ply {first.ply} of {first.game}. "
                f"{_REMEDIES.get(first.kind, '')}"
            )


def _find_weak(
    league: League, last: Version, results: Sequence[Result], rows: dict[int, RatingRow]
) -> Iterator[Against]:
    """Yield the opponents that a version has met often, and scored less than the Elo says."""
    versions = {version.label: version for version in league.ledger.versions()}
    for one in results:
        opponent, pairs = versions[one.opponent], sum(one.by_score)
        if pairs >= _FEW and opponent.id in rows and last.id in rows:
            score = sum(half * number for half, number in enumerate(one.by_score)) / (4 * pairs)
            expected = share_of(rows[last.id].elo - rows[opponent.id].elo)
            if score < expected:
                yield Against(opponent, pairs, score, expected)


def _find_games(league: League, last: Version, worst: Against | None) -> Section | None:
    """Return games of a version to look at, with lines from its own side."""
    games = league.games
    if games.tournament is None:
        return None
    picks = islice(_pick(games.tournament, games.store, last.label, worst), _MOST_GAMES)
    replays = [*make_replays(games.tournament, games.store, picks, last.label)]
    said = Text(["Each opens its replay. The line is by how many points this bot leads."])
    return Section("games", "Games to look at", [said, Replays(replays)]) if replays else None


def _pick(
    tournament: Tournament, store: Store, label: str, worst: Against | None
) -> Iterator[Pick]:
    """Yield a loss against the worst opponent, and a game of each kind: lost, won, by what."""
    seen = set()
    numbers = [n for n, pairing in enumerate(tournament.pairings) if label in pairing]
    if worst:
        numbers.sort(key=lambda n: worst.opponent.label not in tournament.pairings[n])
    for number in numbers:
        pairing = tournament.pairings[number]
        for game in store.games_of(number):
            won = (pairing.bot == label) == (game.winner == 0)
            kind = won, game.win_type
            if game.winner is None or game.fault or kind in seen:
                continue
            seen.add(kind)
            how = f"by {ENDINGS.get(game.win_type, (game.win_type,))[0]}"
            if not won and worst and worst.opponent.label in pairing:
                how += ", against its worst opponent"
            yield Pick(Place(number, game.pair, game.seat), f"A {'win' if won else 'loss'} {how}.")
