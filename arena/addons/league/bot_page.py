"""Write the page of one name in a league: what to work on, its rating's course, its games."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from arena.addons.league.league import League
from arena.addons.league.league_standing import Standing
from arena.addons.league.league_tables import SUSPENDED, RatingRow, Version, write_time
from arena.errors import counted
from arena.lanes.faults import KINDS
from arena.lanes.process import TOO_MANY
from arena.reports.blocks import Replays, Report, Section, Text
from arena.reports.charts import Lines, Series
from arena.reports.first_screen import ENDINGS
from arena.reports.games_section import Pick, Place, make_replays
from arena.statistics.number_texts import write_ends
from arena.statistics.sequential_test import share_of
from arena.store.store import Store
from arena.tournament.tournament import Tournament

_MOST_ROUNDS = 200  # of the course
_MOST_GAMES = 4
_FEW = 10  # pairs; an opponent with fewer is not named
_SURE = 3.0  # standard errors for the worst of some tens of opponents

_REMEDY: Final = (
    "`arena check {file}` plays such games at home, and says how long its decisions take; "
    "mend it, and hand it in again."
)


def bot_report(league: League, name: str, found: Sequence[Standing]) -> Report:
    """Return the page of a name; `found` are the league's standings."""
    versions, rows = league.find(name), league.ratings()
    last = versions[-1]
    worst, sentence = _find_worst(league, last, rows)
    advice = [*_advise(league, last, rows.get(last.id)), *filter(None, [sentence])]
    sections = [Section("next", "What to work on", [Text(advice)])]
    if points := [*_course(league, versions)]:
        sections.append(Section("course", "Its rating, round by round", points))
    if faults := [*_describe_faults(league, versions)]:
        file = f"./{name}.py" if last.spec.endswith(".py") else "FILE"
        sections.append(Section("faults", "Faults", [Text([*faults, _REMEDY.format(file=file)])]))
    if games := _find_games(league, last, worst):
        sections.append(games)
    standing = next((one for one in found if one.bot == name), None)
    return Report(name, [_summarise(last, standing)], sections, home="../index.html")


def _summarise(last: Version, standing: Standing | None) -> str:
    place = f"rank {standing.rank}" if standing and standing.rank else last.state
    owned = f"version {last.number} of {last.owner}"
    who = "of the arena itself, the scale" if last.panel else owned
    elo = ""
    if standing and standing.elo is not None:
        elo = f", Elo {standing.elo:.0f} ({write_ends(standing.elo_low, standing.elo_high)})"
    return f"{last.name}, {who}: {place}{elo}."


def _advise(league: League, last: Version, row: RatingRow | None) -> Iterator[str]:
    """Yield what the owner has to know first, the most urgent first."""
    if last.state == SUSPENDED:
        yield f"Version {last.number} is suspended for its faults: mend it, and hand it in again."
    elif not last.is_active:
        yield f"Version {last.number} is {last.state}; a new version brings the bot back."
    if refusals := league.ledger.refusals("name = ? AND at > ?", last.name, last.at):
        refusal = refusals[-1]
        yield (
            f"What was handed in last was refused ({write_time(refusal.at)}): {refusal.public}. "
            "Its owner reads the whole reason where it was handed in."
        )
    if row is None:
        yield "It has no rating yet: the next rounds bring games against bots of known Elo."
    elif last.is_active and not last.panel and row.half > league.settings.target:
        yield (
            "Its rating is not sure yet: wait for more rounds before you conclude from it. A "
            "change that matters is found sooner by `arena compare` at home."
        )


def _find_worst(league: League, last: Version, rows: dict[int, RatingRow]) -> tuple[str, str]:
    """Return the opponent against which a version scores least for its Elo, and how much, in words.

    Both are empty if there is none. It is by the score minus the expected score, in approximate
    standard errors of the pairs' luck.
    """
    versions, found = {version.label: version for version in league.ledger.versions()}, []
    for one in league.games.results.get(last.label, ()):
        opponent, pairs, score = versions[one["opponent"]], one["games"] // 2, one["score"]
        if pairs >= _FEW and opponent.id in rows and last.id in rows:
            expected = share_of(rows[last.id].elo - rows[opponent.id].elo)
            errors = (score - expected) * math.sqrt(8 * pairs)
            found.append((errors, opponent, pairs, score, expected))
    errors, opponent, pairs, score, expected = min(found, default=(0.0, last, 0, 0.0, 0.0))
    if errors >= 0:
        return "", ""
    luck = "" if errors < -_SURE else ", which may be luck"
    return opponent.label, (
        f"It does worst against {opponent.title}, for its Elo: {100 * score:.0f} % in "
        f"{counted(pairs, 'pair')}, and {100 * expected:.0f} % was to be expected{luck}."
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


def _describe_faults(league: League, versions: Sequence[Version]) -> Iterator[str]:
    """Yield the first fault of each version, without the bot's output, and what helps."""
    for version in reversed(versions):
        strikes, first = league.games.faults.get(version.label, (0, None))
        if first:
            kind = KINDS[first.kind].text if first.kind in KINDS else first.kind
            said = f"it {TOO_MANY}" if TOO_MANY in first.message else f"{kind} ({first.kind})"
            yield (
                f"Version {version.number} had {counted(strikes, 'fault')}; the first: {said} "
                f"at ply {first.ply} of {first.game}."
            )


def _find_games(league: League, last: Version, worst: str) -> Section | None:
    """Return games of a version to look at, with lines from its own side."""
    games = league.games
    if games.tournament is None:
        return None
    picks = islice(_pick(games.tournament, games.store, last.label, worst), _MOST_GAMES)
    replays = [*make_replays(games.tournament, games.store, picks, last.label)]
    said = Text(["Each opens its replay. The line is by how many points this bot leads."])
    return Section("games", "Games to look at", [said, Replays(replays)]) if replays else None


def _pick(tournament: Tournament, store: Store, label: str, worst: str) -> Iterator[Pick]:
    """Yield a loss against the worst opponent, and a game of each kind: lost, won, by what."""
    seen = set()
    numbers = [n for n, pairing in enumerate(tournament.pairings) if label in pairing]
    if worst:
        numbers.sort(key=lambda n: worst not in tournament.pairings[n])
    for number in numbers:
        pairing = tournament.pairings[number]
        for game in store.games_of(number):
            won = (pairing.bot == label) == (game.winner == 0)
            kind = won, game.win_type
            if game.winner is None or game.fault or kind in seen:
                continue
            seen.add(kind)
            how = f"by {ENDINGS.get(game.win_type, (game.win_type,))[0]}"
            if not won and worst in pairing:
                how += ", against its worst opponent"
            yield Pick(Place(number, game.pair, game.seat), f"A {'win' if won else 'loss'} {how}.")
