"""Write the page of one name in a league: versions, ratings, profile, faults and games."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from arena.addons.league.answer import kept_why
from arena.addons.league.league import League
from arena.addons.league.league_games import Result
from arena.addons.league.league_tables import SUSPENDED, RatingRow, Version
from arena.addons.league.shown import Standing, find_change
from arena.errors import counted
from arena.reports.blocks import Block, Cell, Code, Report, Section, Table, Text
from arena.reports.games import Pick, Place, games_section, replay_id
from arena.statistics.counts import RESULTS, WIN_TYPES
from arena.statistics.sprt import share_of
from arena.store.store import Store
from arena.tables.losses import DECISIONS, find_worst, read_judged
from arena.tables.summary import plain_rows
from arena.tables.table_columns import Column
from arena.tournament.schedule import Pairing
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROUNDS = 200  # rows in the table of ratings by round
_MOST_GAMES = 4
_MOST_COSTLY = 3  # decisions
_FEW = 10  # pairs; an opponent with fewer is not named
_SURE = 3.0  # standard errors for the worst of some tens of opponents

_VERSIONS: Final = (
    Column("version", "Version", "count"),
    Column("at", "Submitted (UTC)", "code"),
    Column("state", "State"),
    Column("elo", "Elo", "elo"),
    Column("elo_low", "Elo, low", "elo", "The 95 % interval."),
    Column("elo_high", "Elo, high", "elo"),
    Column("pairs", "Pairs", "count"),
    Column("faults", "Faults", "count"),
    Column("sha256", "sha256", "code", "The beginning of the hash of what was submitted."),
)
_TIMES: Final = (
    Column("round", "Round", "count"),
    Column("version", "Version", "count"),
    Column("elo", "Elo", "elo"),
    Column("elo_low", "Elo, low", "elo", "The 95 % interval."),
    Column("elo_high", "Elo, high", "elo"),
    Column("pairs", "Pairs", "count", "That this version had played."),
)
_PROFILE: Final = (
    Column("win_type", "Win type"),
    Column("won", "Won", "count", "Games that it has won so."),
    Column("lost", "Lost", "count", "Games that it has lost so."),
    Column("won_share", "Won, share", "share", "Of all its games."),
    Column("lost_share", "Lost, share", "share", "Of all its games."),
)
_OPPONENTS: Final = (
    Column("opponent", "Opponent"),
    Column("version", "Version", "count"),
    Column("pairs", "Pairs", "count"),
    Column("score", "Score", "share"),
    Column("expected", "Expected", "share", "What both Elo ratings say."),
    Column("beyond", "More than expected", "change", "Points of 100 that it scored beyond that."),
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
    versions = league.find(name)
    rows = league.ratings()
    last = versions[-1]
    standing = next((one for one in found if one.bot == name), None)
    results = league.games.results.get(last.label, [])
    met = _against(league, last, results, rows)
    worst = min(_known(met), key=lambda one: one.beyond, default=None)
    seen = _look(league, last, worst)
    advice = [*_advise(league, last, rows, worst)]
    sections = [
        Section("next", "What to do next", [Text(advice), *_costliest(seen.costly, seen.links)]),
        Section("versions", _title_versions(versions), [*_versions(league, versions, rows)]),
        Section("profile", f"How version {last.number} plays", [*_profile(results, met)]),
        Section("faults", _title_faults(league, versions), [*_faults(league, versions)]),
    ]
    if told := kept_why(league, name):
        sections.insert(1, Section("why", "Why it lost", [*_why(told)]))
    if seen.games:
        sections.append(seen.games)
    return Report(name, [_summary(last, standing)], sections, home="../index.html")


_WHY: Final = (
    Column("opponent", "Opponent"),
    Column("ply", "Ply", "count", "How many actions the game had before the decision."),
    Column("action", "Played", "code"),
    Column("best", "Best", "code"),
    Column("loss", "Loss", "share", "The chance to win that it gave away."),
    Column("mistake", "Mistake", "text", "What was wrong, in words."),
)


def _why(told: dict[str, Any]) -> Iterator[Block]:
    """Yield what `arena league show --why` has found: costly decisions, and games lost late."""
    rows = [tuple(row.get(column.name) for column in _WHY) for row in told["costly"]]
    if rows:
        yield Table("costly", "The decisions that cost most, by opponent", _WHY, rows)
    yield Text([f"{counted(told['judged'], 'game')} judged."])


def _known(met: Sequence[Against]) -> Iterator[Against]:
    """Yield the results of enough pairs that are below what the Elo says."""
    return (one for one in met if one.pairs >= _FEW and one.beyond < 0)


def _title_versions(versions: Sequence[Version]) -> str:
    return "One version" if len(versions) == 1 else f"{len(versions):,} versions"


def _title_faults(league: League, versions: Sequence[Version]) -> str:
    known = league.games.faults
    faults = sum(known[version.label][0] for version in versions if version.label in known)
    return counted(faults, "fault") if faults else "No fault"


def _summary(last: Version, standing: Standing | None) -> str:
    place = f"rank {standing.rank}" if standing and standing.rank else last.state
    elo = f", Elo {standing.elo:.0f}" if standing and standing.elo is not None else ""
    return f"{last.name}, version {last.number} of {last.owner}: {place}{elo}."


def _advise(
    league: League, last: Version, rows: dict[int, RatingRow], worst: Against | None
) -> Iterator[str]:
    """Yield advice for the owner, the most urgent first."""
    if last.is_paused:
        yield f"Version {last.number} is {last.why}. It plays again once its server answers."
    elif last.state == SUSPENDED:
        yield (
            f"Version {last.number} is suspended: {last.why}. Run that command in the league's "
            "folder to see the fault, mend it, and submit a new version."
        )
    elif not last.is_active:
        yield f"Version {last.number} is {last.state}; a new version brings the bot back."
    if refusals := league.ledger.refusals("name = ? AND at > ?", last.name, last.at):
        refusal = refusals[-1]
        why = f": {refusal.public}" if refusal.public else ""
        yield (
            f"The last submission was refused ({refusal.at[:16].replace('T', ' ')} UTC){why}. "
            f"`arena league show FOLDER {last.name}` has all of the reason."
        )
    row = rows.get(last.id)
    if row is None:
        yield "It has no rating yet: the next rounds bring games against bots of known Elo."
        return
    half = math.inf if row.low is None or row.high is None else (row.high - row.low) / 2
    if half > league.settings.target and last.is_active:
        yield (
            "Its rating is not sure yet: wait for more rounds before you conclude from it. A "
            "change that matters is found sooner by a comparison of both versions on your machine."
        )
    if worst:
        luck = "" if worst.beyond < -_SURE else ", which may be luck"
        score, expected = f"{100 * worst.score:.0f} %", f"{100 * worst.expected:.0f} %"
        yield (
            f"It does worst against {worst.opponent.title}, for its Elo: {score} in "
            f"{counted(worst.pairs, 'pair')}, and {expected} was to be expected{luck}."
        )


def _versions(
    league: League, versions: Sequence[Version], rows: dict[int, RatingRow]
) -> Iterator[Block]:
    cells: list[Sequence[Cell]] = []
    times: list[Sequence[Cell]] = []
    for version in reversed(versions):
        row = rows.get(version.id)
        elo = (*row.rounded()[2:5], row.pairs) if row else (None, None, None, 0)
        strikes, _ = league.games.faults.get(version.label, (0, None))
        at = version.at[:16].replace("T", " ")
        cells.append((version.number, at, version.state, *elo, strikes, version.sha256[:12]))
        times += [
            (number, version.number, *one.rounded()[2:5], one.pairs)
            for number, one in reversed(league.ledger.rating_history(version.id))
        ]
    yield Table("versions", "Versions, the newest first", _VERSIONS, cells)
    new, old = versions[-1], versions[-2] if len(versions) > 1 else None
    if old and (change := find_change(league.games, new, old)):
        yield Text([f"Version {new.number}: {change.describe()}"])
    note = f"The last {_MOST_ROUNDS} rounds." if len(times) > _MOST_ROUNDS else ""
    shown = times[:_MOST_ROUNDS]
    yield Table("ratings", "Ratings after each round", _TIMES, shown, note=note, folded=True)


def _profile(results: Sequence[Result], met: Sequence[Against]) -> Iterator[Block]:
    totals = [sum(column) for column in zip(*(one.endings for one in results), strict=True)]
    games = sum(totals)
    if not games:
        yield Text(["It has not played yet."])
        return
    rows = []
    for place, win_type in enumerate(WIN_TYPES):
        won, lost, drawn = totals[place * RESULTS : (place + 1) * RESULTS]
        both = won + drawn, lost + drawn  # the win type `draw` is that of all drawn games
        if any(both):
            rows.append((win_type, *both, *(number / games for number in both)))
    yield Table("profile", "How its games ended", _PROFILE, rows)
    cells = [
        (one.opponent.name, one.opponent.number, *one[1:], 100 * (one.score - one.expected))
        for one in met
    ]
    links = [f"./{one.opponent.name}.html" for one in met]
    yield Table("opponents", "Against whom", _OPPONENTS, cells, links)


def _against(
    league: League, last: Version, results: Sequence[Result], rows: dict[int, RatingRow]
) -> list[Against]:
    """Return the results of a version against each other one, the strongest first."""
    versions = {version.label: version for version in league.ledger.versions()}
    found = []
    for one in results:
        opponent = versions[one.opponent]
        if opponent.id in rows and last.id in rows:
            pairs = sum(one.by_score)
            score = sum(half * number for half, number in enumerate(one.by_score)) / (4 * pairs)
            expected = share_of(rows[last.id].elo - rows[opponent.id].elo)
            found.append(Against(opponent, pairs, score, expected))
    return sorted(found, key=lambda one: -rows[one.opponent.id].elo)


def _faults(league: League, versions: Sequence[Version]) -> Iterator[Block]:
    """Yield the first fault of each version: its kind and the command, without the bot's output."""
    for version in reversed(versions):
        strikes, first = league.games.faults.get(version.label, (0, None))
        if first:
            title = (
                f"Version {version.number}: {counted(strikes, 'fault')}; the first: "
                f"{first.kind} at ply {first.ply}. In the league's folder:"
            )
            yield Code(title, first.show, folded=False)


class Seen(NamedTuple):
    """Of a bot: its games to look at, and its decisions if they were judged."""

    games: Section | None = None
    costly: pd.DataFrame | None = None
    links: Sequence[str] = ()


def _look(league: League, last: Version, worst: Against | None) -> Seen:
    """Return the games of a version to look at, and its costliest decisions."""
    tournament, store = league.games.tournament, league.games.store
    if tournament is None:
        return Seen()
    decisions, costly = read_judged(league.folder).decisions, None
    if decisions is not None:
        costly = find_worst(decisions[decisions["bot"] == last.label], _MOST_COSTLY)
    picks = [*_pick_costly(tournament, costly)]
    links = [replay_id(pick.place) for pick in picks]
    picks += [*_picks(tournament, store, last.label, worst)][:_MOST_GAMES]
    games = games_section(tournament, store, picks)[0] if picks else None
    return Seen(games, costly, links)


_COSTLY: Final = (
    *(one for one in DECISIONS.columns if one.name == "game"),
    Column("ply", "Ply", "count", "How many actions the game had before the decision."),
    *(one for one in DECISIONS.columns if one.name in ("action", "loss", "mistake")),
)


def _costliest(costly: pd.DataFrame | None, links: Sequence[str]) -> Iterator[Block]:
    """Yield the table of the decisions that cost a bot most, each with its replay."""
    if costly is None or costly.empty:
        return
    rows = plain_rows(costly)
    cells = [tuple(row[column.name] for column in _COSTLY) for row in rows]
    caption = "Its costliest decisions, by two judges of arena analyse"
    yield Text(["These decisions cost it most of the chance to win, by two judges:"])
    yield Table("costliest", caption, _COSTLY, cells, links)


def _pick_costly(tournament: Tournament, costly: pd.DataFrame | None) -> Iterator[Pick]:
    """Yield the games with the decisions that cost most."""
    for row in plain_rows(costly) if costly is not None else []:
        two = Pairing(row["bot"], row["opponent"])
        is_first = two in tournament.pairings
        met = two if is_first else Pairing(*two[::-1])
        number = tournament.pairings.index(met)
        place = Place(number, row["pair"], row["seat"] if is_first else 1 - row["seat"])
        yield Pick(
            place, f"Ply {row['ply']} gave away {100 * row['loss']:.0f} % of the chance to win."
        )


def _picks(
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
            if game.fault or game.winner is None:
                continue
            won = (pairing.bot == label) == (game.winner == 0)
            kind = won, game.win_type
            if kind not in seen:
                seen.add(kind)
                how = "by City" if game.win_type == "city" else f"by {game.win_type}"
                what = "A win" if won else "A loss"
                if not won and worst and worst.opponent.label in pairing:
                    how += ", against its worst opponent"
                yield Pick(Place(number, game.pair, game.seat), f"{what} {how}.")
