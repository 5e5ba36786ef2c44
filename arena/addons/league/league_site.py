"""Write the pages of a league, as a site that works offline.

No page contains the source or the output of a bot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, Final

from arena.addons.league.inbox import TOKENS
from arena.addons.league.league import League
from arena.addons.league.league_standing import Standing, are_apart, standings, table
from arena.addons.league.ledger import ACTIVE, SUSPENDED, RatingRow, Version, write_time
from arena.errors import counted, name_some, wrapped
from arena.lanes.faults import KINDS
from arena.lanes.process import TOO_MANY
from arena.reports.blocks import Replays, Report, Section, Table, Text
from arena.reports.charts import Lines, Series
from arena.reports.first_screen import ENDINGS, MOST_RUNGS, Forfeiting, Opening, lay_out
from arena.reports.games_section import Pick, Place, make_replays
from arena.reports.html import to_html
from arena.statistics.number_texts import write_ends
from arena.statistics.sequential_test import share_of
from arena.store.column_titles import LEAGUE, Column
from arena.store.columns import Columns
from arena.store.csv_files import replace_table
from arena.store.folder import write_text
from arena.store.store import Store
from arena.tables.headline import say_order
from arena.tournament.tournament import Tournament

SITE: Final = "site"
"""The folder of the pages, in the league's folder."""

_DAY: Final = timedelta(days=1)
_MOST_REFUSED = 20
_LEAST = 2  # bots in an order

_REFUSED: Final = (Column("at", "When (UTC)", "code"), Column("bot", "Bot"), Column("why", "Why"))


def write_pages(folder: Path) -> Path:
    """Write all pages of the league in a folder; return the index's path."""
    with closing(League(folder)) as league:
        return write_site(league)


def write_site(league: League) -> Path:
    """Write the index, its table, and the pages of all names; return the index's path.

    A round changes the rank and the rating of bots that did not play in it. Raises InputError if a
    file cannot be written.
    """
    folder, found = league.folder / SITE, standings(league)
    for name in sorted({one.name for one in league.ledger.versions()}):
        page = folder / "bots" / f"{name}.html"
        write_text(page, to_html(bot_report(league, name, found)))
    replace_table(folder / LEAGUE.file, Columns.of_rows(*table(league, found)))
    index = folder / "index.html"
    write_text(index, to_html(_index(league, found)))
    return index


def _index(league: League, found: Sequence[Standing]) -> Report:
    """Return the index page: the standings, what has happened, and how to read it."""
    opening = make_opening(league, found)
    rows = [tuple(getattr(one, column.name) for column in LEAGUE.shown) for one in found]
    figures = Table("standings", "Standings", LEAGUE.shown, rows, [*map(_link, found)])
    sections = [
        Section("standings", "All figures", [figures]),
        *_list_refused(league),
        Section("how", "How to read this", [Text(_HOW)]),
    ]
    labels = [one.bot for one in found]
    title = f"League {_name(league)}"
    return Report(title, [opening.sentence], sections, opening=opening, labels=labels)


_HOW: Final = (
    "Bots without a rank are the arena's own. They are the scale: their mean Elo is fixed, so "
    "numbers of different months compare. A new version of a bot meets the deals of the old one.",
    "A version with too many faults is suspended: it plays no more until its owner hands in "
    "another one. The page of a bot says what to work on.",
)


def _name(league: League) -> str:
    return league.folder.resolve().name


def _link(one: Standing) -> str:
    return f"./bots/{one.bot}.html"


def say_standings(found: Sequence[Standing]) -> str:
    """Return what is sure of the order of the bots that have a rank, as one sentence.

    >>> from arena.addons.league.league_standing import Standing
    >>> rows = [(1, "ann", "a"), (2, "bob", "ab"), (3, "cid", "b")]
    >>> said = [Standing(n, bot, 1, "x", 1, 0, 2, 9, of, "active", "") for n, bot, of in rows]
    >>> say_standings(said)
    'ann is first, but not told apart from bob.'
    """
    rated = [one for one in found if one.rank]
    if len(rated) < _LEAST:
        first = f"{rated[0].bot} is" if rated else "No bot is"
        return f"{first} rated so far, beside the arena's own."
    ends = range(1, len(rated))
    ahead = next((n for n in ends if are_apart(rated[:n], rated[n:])), 0)
    word = "apart" if are_apart(rated[:1], rated[1:2]) else "open"
    return say_order([one.bot for one in rated], word, ahead)


def make_opening(league: League, found: Sequence[Standing]) -> Opening:
    """Return the first screen: a sentence, a row for each bot with a rank, and the scale."""
    rated = [one for one in found if one.rank]
    placed = [one for one in found if one.elo is not None and one.state == ACTIVE]
    shown = placed[:MOST_RUNGS]
    waiting = [one.bot for one in found if one.state == ACTIVE and one.elo is None]
    extent = f"{_name(league)} \u00b7 {counted(len(rated), 'bot')} \u00b7 round {league.number:,}"
    more = [f"Not rated yet: {name_some(waiting)}."] if waiting else []
    fresh = [one for one in found if one.new]
    if new := [one.bot if one.version == 1 else f"{one.bot} {one.version}" for one in fresh]:
        more.append(f"New in this round: {name_some(new)}.")
    precise = "are" if league.is_precise() else "are not yet all"
    target = f"{league.settings.target:g} Elo"
    more.append(f"This is after round {league.number:,}; ratings {precise} within {target}.")
    rows, links = [*_rows(league, shown)], [*map(_link, shown)]
    left = len(placed) - len(shown)
    ladder = lay_out(rows, find_verdicts(shown), links, left, of_league=True)
    suspended = [
        Forfeiting(one.bot, f"is {one.note}", _link(one), "What to do")
        for one in found
        if one.state == SUSPENDED
    ]
    task, link = ("Hand in a bot", "../") if (league.folder / TOKENS).is_dir() else ("", "")
    return Opening(extent, say_standings(found), more, ladder, suspended, task, link=link)


def format_opening(league: League) -> Iterator[str]:
    """Yield the first screen and what is said with it for a terminal of 80 columns."""
    opening = make_opening(league, standings(league))
    yield from (f"{line.text}{line.bar}".rstrip() for line in opening.lines())
    yield from chain.from_iterable(map(wrapped, opening.more))


def find_verdicts(shown: Sequence[Standing]) -> dict[tuple[str, str], str]:
    """Return the verdict on each two neighbours: `apart`, or `open` if they share a letter."""
    return {
        (one.bot, two.bot): "apart" if are_apart([one], [two]) else "open"
        for one, two in pairwise(shown)
    }


def _rows(league: League, shown: Sequence[Standing]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the ladder: a bot's rating, and how its games ended."""
    labels = {version.name: version.label for version in league.ledger.versions()}
    for one in shown:
        yield {**league.games.totals[labels[one.bot]], **one._asdict()}


def _list_refused(league: League) -> Iterator[Section]:
    """Yield a section with what was refused in the last day, in words of the arena, if anything."""
    since = (league.desk.now() - _DAY).isoformat(timespec="seconds")
    refused = league.ledger.refusals("owner <> '' AND at >= ?", since)[-_MOST_REFUSED:]
    rows = [(one.at[:16].replace("T", " "), one.name, one.public) for one in reversed(refused)]
    if rows:
        title = "Refused since yesterday"
        yield Section("refused", title, [Table("refused", title, _REFUSED, rows)])


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
