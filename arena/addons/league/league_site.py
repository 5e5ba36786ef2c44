"""Write the pages of a league, as a site that works offline, and a feed of its news.

No page contains the source or the output of a bot: a fault is shown by its kind and the command
that replays the game.
"""

from __future__ import annotations

import json
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
from arena.addons.league.league_tables import ACTIVE, SUSPENDED, Event
from arena.addons.league.shown import (
    Standing,
    are_apart,
    describe_spread,
    standings,
    table,
    to_document,
)
from arena.errors import counted, name_some, shell_line
from arena.reports.blocks import Block, Cell, Report, Section, Table, Text
from arena.reports.html import to_html
from arena.reports.ladder import ENDINGS, MOST_RUNGS, Forfeiting, Lately, Opening, lay_out
from arena.statistics.counts import MISSING, RESULTS, WIN_TYPES
from arena.statistics.wording import give_ranks
from arena.store.csv_files import replace_rows
from arena.store.folder import write_text
from arena.tables.headline import say_order
from arena.tables.table_columns import LEAGUE, Column

SITE: Final = "site"
"""The folder of the pages, in the league's folder."""

_DAY: Final = timedelta(days=1)
_MOST_NEWS = 20
_MOST_ROUNDS = 50  # of a course
_LEAST_SPAN = 100.0  # Elo points from the bottom of a course to its top, where none moved more
_EDGE = 10.0  # percent of a course's width and height that stay free
_LEAST = 2  # bots in an order
_MOST_FED = 100
_MOST_LIVE = 10

_EVENTS: Final = (Column("at", "When (UTC)", "code"), Column("text", "What"))


def write_pages(folder: Path) -> Path:
    """Write all pages of the league in a folder; return the index's path."""
    with closing(League(folder)) as league:
        return write_site(league)


def write_site(league: League, names: Iterable[str] | None = None) -> Path:
    """Write the index, the feeds, and the pages of some names or of all; return the index's path.

    Raises InputError if a file cannot be written.
    """
    folder = league.folder / SITE
    found = standings(league)
    everybody = dict.fromkeys(version.name for version in league.ledger.versions())
    wanted = everybody if names is None else names
    pages = {name: folder / "bots" / f"{name}.html" for name in everybody}
    # a killed process may not have written a page
    for name in sorted({*wanted, *(one for one, page in pages.items() if not page.is_file())}):
        write_text(pages[name], to_html(bot_report(league, name, found)))
    write_text(folder / "feed.json", _feed(league))
    write_text(folder / "league.json", _live(league, found))
    replace_rows(folder / LEAGUE.file, *table(league, found))
    index = folder / "index.html"
    write_text(index, to_html(_index(league, found)))
    return index


def _index(league: League, found: Sequence[Standing]) -> Report:
    """Return the index page: the standings, what has happened, and how to read it."""
    opening = _open(league, found)
    events = league.ledger.events((league.now() - _DAY).isoformat(timespec="seconds"), _MOST_NEWS)
    happened = f"{counted(len(events), 'thing')} happened" if events else "Nothing happened"
    sections = [
        Section("standings", f"All figures of {counted(len(found), 'bot')}", [_standings(found)]),
        Section("news", f"{happened} since yesterday", [*_news(events)]),
        Section("how", "How to read this", [Text(_HOW)]),
    ]
    labels = [one.bot for one in found]
    title = f"League {_name(league)}"
    return Report(title, [opening.sentence], sections, opening=opening, labels=labels)


_HOW: Final = (
    "Bots of the panel are the arena's own; their mean Elo is fixed, so numbers of different "
    "months compare. A new version of a bot meets the deals of the old one.",
    "A version with too many faults is suspended: it plays no more until its owner submits "
    "another one. The page of a bot says what to do next.",
)


def _name(league: League) -> str:
    return league.folder.resolve().name


def say_standings(found: Sequence[Standing]) -> str:
    """Return what is sure of the order of a league's bots, as one sentence.

    >>> from arena.addons.league.shown import Standing
    >>> rows = [(1, "ann", "a"), (2, "bob", "ab"), (3, "cid", "b")]
    >>> said = [Standing(n, bot, 1, "x", 1, 0, 2, 1, 9, of, "active", "") for n, bot, of in rows]
    >>> say_standings(said)
    'ann is first, but not told apart from bob.'
    """
    rated = [one for one in found if one.rank]
    if len(rated) < _LEAST:
        return f"{counted(len(found), 'bot')}, and no two of them are rated yet."
    ends = range(1, len(rated))
    ahead = next((n for n in ends if are_apart(rated[:n], rated[n:])), 0)
    word = "apart" if are_apart(rated[:1], rated[1:2]) else "open"
    return say_order([one.bot for one in rated], word, ahead)


def _open(league: League, found: Sequence[Standing]) -> Opening:
    """Return the first screen: a sentence, and a row for each bot that is rated."""
    rated = [one for one in found if one.rank]
    shown = rated[:MOST_RUNGS]
    waiting = [one.bot for one in found if one.state == ACTIVE and not one.rank]
    extent = f"{_name(league)} \u00b7 {counted(len(rated), 'bot')} \u00b7 round {league.number:,}"
    more = [f"In the next rounds plays {name_some(waiting)}."] if waiting else []
    verdicts = {
        (one.bot, two.bot): "apart" if are_apart([one], [two]) else "open"
        for one, two in pairwise(shown)
    }
    number, moved = _moves(league, rated)
    return Opening(
        extent,
        say_standings(found),
        [*more, *describe_spread(league)],
        lay_out(
            _rows(league, shown, moved),
            verdicts,
            [f"./bots/{one.bot}.html" for one in shown],
            len(rated) - len(shown),
            f"round {number}",
        ),
        [
            Forfeiting(one.bot, f"is {one.note}", f"./bots/{one.bot}.html", "What to do")
            for one in found
            if one.state == SUSPENDED
        ],
        "Enter a bot",
        shell_line(["arena", "league", "submit", _name(league), "./my_bot.py", "--name", "my_bot"]),
    )


def _rows(
    league: League, shown: Sequence[Standing], moved: Mapping[str, int]
) -> list[dict[str, Any]]:
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
        at = "panel" if version.panel else f"{when.day} {when:%b}"
        city = row["city_wins"] / total
        row["score"] = (won + drawn / 2) / total
        row["lately"] = Lately(moved.get(one.bot), city, at, *courses.get(one.bot, ()))
        rows.append(row)
    return rows


def _courses(league: League) -> dict[str, tuple[list[str], tuple[float, float]]]:
    """Return the lines of each name's ratings, and where the last one ends.

    All have one scale of Elo, and the middle of each is in the middle of its height.
    """
    first = max(1, league.number - _MOST_ROUNDS)
    width = max(1, league.number - first)
    newest = {(row[0], row[2]): row for row in league.ledger.courses(first)}  # of each round
    courses = {name: [*rows] for name, rows in groupby(newest.values(), key=itemgetter(0))}
    elos = {name: [row[3] for row in rows] for name, rows in courses.items()}
    ends = {name: (min(of_one), max(of_one)) for name, of_one in elos.items()}
    span = max([_LEAST_SPAN, *(high - low for low, high in ends.values())])
    found = {}
    for name, rows in courses.items():
        middle = sum(ends[name]) / 2
        lines: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
        for _, number, played, elo in rows:
            x = _EDGE + (100 - 2 * _EDGE) * (played - first) / width
            y = 50 - (100 - 2 * _EDGE) * (elo - middle) / span
            lines[number].append((round(x, 1), round(y, 1)))
        texts = [" ".join(f"{x},{y}" for x, y in points) for points in lines.values()]
        found[name] = texts, lines[rows[-1][1]][-1]
    return found


def _news(events: Sequence[Event]) -> Iterator[Block]:
    """Yield the events of the last day."""
    rows: list[Sequence[Cell]] = [(event.at[:16].replace("T", " "), event.text) for event in events]
    if rows:
        yield Table("news", "What happened", _EVENTS, rows)


def _moves(league: League, rated: Sequence[Standing]) -> tuple[int, dict[str, int]]:
    """Return by how many ranks each name has risen, and since which round.

    That is the last round of the day before, or else the first one. Names that had no rating then
    are left out, and do not count in the ranks.
    """
    times = league.ledger.round_times()
    yesterday = (league.now() - _DAY).isoformat(timespec="seconds")
    number = max((n for n, at in times.items() if at <= yesterday), default=min(times, default=0))
    elos = league.ledger.elos_at(number)
    before = {v.name: elos[v.id] for v in league.ledger.versions() if v.id in elos}
    names = [one.bot for one in rated if one.bot in before]
    ordered = sorted((round(before[name], 1) for name in names), reverse=True)
    ranks = give_ranks([one.elo or 0.0 for one in rated if one.bot in before])
    return number, {
        name: 1 + ordered.index(round(before[name], 1)) - rank
        for name, rank in zip(names, ranks, strict=True)
    }


def _standings(found: Sequence[Standing]) -> Table:
    rows = [tuple(getattr(one, column.name) for column in LEAGUE.shown) for one in found]
    links = [f"./bots/{one.bot}.html" for one in found]
    return Table("standings", "Standings", LEAGUE.shown, rows, links)


def _live(league: League, found: Sequence[Standing]) -> str:
    """Return the standings as JSON for the web page of `arena table`."""
    data = to_document(league)
    del data["folder"]  # a private path of this machine
    news = [{"at": event.at, "text": event.text} for event in league.ledger.events(most=_MOST_LIVE)]
    data |= {"news": news, "notes": [*describe_spread(league)], "sentence": say_standings(found)}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _feed(league: League) -> str:
    """Return the feed in the format of https://www.jsonfeed.org/version/1.1/."""
    name = _name(league)
    pages = {version.name for version in league.ledger.versions("number = 1")}
    items = [
        _item(name, event, f"bots/{event.name}.html" if event.name in pages else "index.html")
        for event in league.ledger.events(most=_MOST_FED)
    ]
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"League {name}",
        "description": "What happens in a league of District Noir bots.",
        "items": items,
    }
    return json.dumps(feed, indent=2, ensure_ascii=False) + "\n"


def _item(league: str, event: Event, page: str) -> dict[str, str]:
    return {
        "id": f"{league}/{event.id}",
        "title": event.text,
        "content_text": event.text,
        "url": page,
        "date_published": event.at,
    }
