"""Write the pages of a league, as a site that works offline.

No page contains the source or the output of a bot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from arena.addons.league.bot_page import bot_report
from arena.addons.league.league import League
from arena.addons.league.league_tables import ACTIVE, SUSPENDED
from arena.addons.league.post import TOKENS
from arena.addons.league.shown import (
    Standing,
    are_apart,
    describe_spread,
    panel_names,
    standings,
    table,
)
from arena.errors import counted, name_some
from arena.reports.blocks import Block, Report, Section, Table, Text
from arena.reports.html import to_html
from arena.reports.ladder import ENDINGS, MOST_RUNGS, Forfeiting, Lately, Opening, lay_out
from arena.statistics.counts import MISSING, RESULTS, WIN_TYPES
from arena.store.csv_files import replace_rows
from arena.store.folder import write_text
from arena.store.table_columns import LEAGUE, Column
from arena.tables.headline import say_order

SITE: Final = "site"
"""The folder of the pages, in the league's folder."""

_DAY: Final = timedelta(days=1)
_MOST_NEWS = 20
_MOST_ROUNDS = 50  # of a course
_LEAST_SPAN = 100.0  # Elo points from the bottom of a course to its top, where none moved more
_EDGE = 10.0  # percent of a course's width and height that stay free
_LEAST = 2  # bots in an order

_EVENTS: Final = (Column("at", "When (UTC)", "code"), Column("text", "What"))


def write_pages(folder: Path) -> Path:
    """Write all pages of the league in a folder; return the index's path."""
    with closing(League(folder)) as league:
        return write_site(league)


def write_site(league: League, names: Iterable[str] | None = None) -> Path:
    """Write the index, its table, and the pages of some names or of all; return the index's path.

    Raises InputError if a file cannot be written.
    """
    folder = league.folder / SITE
    found = standings(league)
    everybody = dict.fromkeys(version.name for version in league.ledger.versions())
    pages = {name: folder / "bots" / f"{name}.html" for name in everybody}
    missing = [name for name, page in pages.items() if not page.is_file()]  # after a kill
    for name in sorted({*(everybody if names is None else names), *missing}):
        write_text(pages[name], to_html(bot_report(league, name, found)))
    replace_rows(folder / LEAGUE.file, *table(league, found))
    index = folder / "index.html"
    write_text(index, to_html(_index(league, found)))
    return index


def _index(league: League, found: Sequence[Standing]) -> Report:
    """Return the index page: the standings, what has happened, and how to read it."""
    opening = _open(league, found)
    rows = [tuple(getattr(one, column.name) for column in LEAGUE.shown) for one in found]
    links = [_link(one) for one in found]
    figures = Table("standings", "Standings", LEAGUE.shown, rows, links)
    sections = [
        Section("standings", "All figures", [figures]),
        Section("news", "Since yesterday", [*_news(league)]),
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

    >>> from arena.addons.league.shown import Standing
    >>> rows = [(1, "ann", "a"), (2, "bob", "ab"), (3, "cid", "b")]
    >>> said = [Standing(n, bot, 1, "x", 1, 0, 2, 1, 9, of, "active", "") for n, bot, of in rows]
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


def _open(league: League, found: Sequence[Standing]) -> Opening:
    """Return the first screen: a sentence, a row for each bot with a rank, and the scale."""
    rated = [one for one in found if one.rank]
    last = rated[:MOST_RUNGS][-1:]
    shown = [one for one in found if one.elo is not None and one.state == ACTIVE]
    shown = [one for one in shown if not (one.rank and last and one.rank > (last[0].rank or 0))]
    waiting = [one.bot for one in found if one.state == ACTIVE and one.elo is None]
    extent = f"{_name(league)} \u00b7 {counted(len(rated), 'bot')} \u00b7 round {league.number:,}"
    more = [f"In the next rounds plays {name_some(waiting)}."] if waiting else []
    is_web = (league.folder / TOKENS).is_dir()
    return Opening(
        extent,
        say_standings(found),
        [*more, *describe_spread(league)],
        lay_out(
            _rows(league, shown),
            dict(_find_verdicts(shown)),
            [_link(one) for one in shown],
            len(rated) - sum(bool(one.rank) for one in shown),
            of_league=True,
        ),
        [
            Forfeiting(one.bot, f"is {one.note}", _link(one), "What to do")
            for one in found
            if one.state == SUSPENDED
        ],
        task="Hand in a bot" if is_web else "",
        link="../" if is_web else "",
    )


def _find_verdicts(shown: Sequence[Standing]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the verdict on the ranked bots around the border of each two rows.

    Where bots of the panel lie between two that are told apart, it stands at the first one alone.
    """
    above: Standing | None = None
    for place, (one, two) in enumerate(pairwise(shown), 1):
        above = one if one.rank else above
        below = next((other for other in shown[place:] if other.rank), None)
        if above and below:
            is_apart = are_apart([above], [below])
            word = "apart" if is_apart and one is above else "" if is_apart else "open"
            yield (one.bot, two.bot), word


def _rows(league: League, shown: Sequence[Standing]) -> list[dict[str, Any]]:
    """Return the rows of the ladder: a bot's rating, how its games ended, and its course."""
    versions = {version.name: version for version in league.ledger.versions()}
    results, courses = league.games.results, _courses(league)
    rows = []
    for one in shown:
        version = versions[one.bot]
        own = [one.endings for one in results.get(version.label, ())] or [[0] * MISSING]
        games = [sum(column) for column in zip(*own, strict=True)]
        won, drawn, total = sum(games[::RESULTS]), sum(games[2::RESULTS]), max(1, sum(games))
        row: dict[str, Any] = {**one._asdict(), "games": total, "draws": drawn}
        for kind, (_, wins, losses) in ENDINGS.items():
            place = RESULTS * WIN_TYPES.index(kind)
            row |= {wins: games[place], losses: games[place + 1]}
        when = datetime.fromisoformat(version.at)
        at = "new" if league.now() - when < _DAY else f"{when.day} {when:%b}"
        row["score"] = (won + drawn / 2) / total
        row["lately"] = Lately(row["city_wins"] / total, at, *courses.get(one.bot, ()))
        rows.append(row)
    return rows


def _courses(league: League) -> Mapping[str, tuple[list[str], tuple[float, float]]]:
    """Return the lines of each name's ratings, and where the last one ends.

    All have one scale of Elo, and the middle of each is in the middle of its height.
    """
    first = max(1, league.number - _MOST_ROUNDS)
    width = max(1, league.number - first)
    newest = {(row[0], row[2]): row for row in league.ledger.courses(first)}  # of each round
    courses = {name: [*rows] for name, rows in groupby(newest.values(), key=itemgetter(0))}
    elos = {name: [row[3] for row in rows] for name, rows in courses.items()}
    span = max([_LEAST_SPAN, *(max(of_one) - min(of_one) for of_one in elos.values())])
    found = {}
    for name, rows in courses.items():
        middle = (min(elos[name]) + max(elos[name])) / 2
        lines: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for _, number, played, elo in rows:
            x = _EDGE + (100 - 2 * _EDGE) * (played - first) / width
            y = 50 - (100 - 2 * _EDGE) * (elo - middle) / span
            lines[number].append((round(x, 1), round(y, 1)))
        texts = [" ".join(f"{x},{y}" for x, y in points) for points in lines.values()]
        found[name] = texts, lines[rows[-1][1]][-1]
    return found


def _news(league: League) -> Iterator[Block]:
    """Yield what has happened in the last day."""
    since = (league.now() - _DAY).isoformat(timespec="seconds")
    panel = {*panel_names(league.ledger).values()}
    events = [one for one in league.ledger.events(since, _MOST_NEWS) if one.name not in panel]
    rows = [(event.at[:16].replace("T", " "), event.text) for event in events]
    yield Table("news", "What happened", _EVENTS, rows) if rows else Text(["Nothing happened."])
