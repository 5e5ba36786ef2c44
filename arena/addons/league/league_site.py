"""Write the pages of a league, as a site that works offline, and a feed of its news.

No page contains the source or the output of a bot: a fault is shown by its kind and the command
that replays the game.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from arena.addons.league.bot_page import bot_report
from arena.addons.league.league import League
from arena.addons.league.league_tables import Event
from arena.addons.league.shown import Standing, describe_spread, standings, to_document
from arena.errors import counted
from arena.reports.blocks import Block, Cell, Chart, Report, Section, Table, Text
from arena.reports.charts import (
    ELO_AXIS,
    STEP,
    chart,
    find_window,
    interval_layers,
    quantity,
    row_of_bots,
    tips,
)
from arena.reports.html import find_lack, to_html
from arena.statistics.wording import give_ranks
from arena.store.csv_files import replace_rows
from arena.store.folder import write_text
from arena.tables.table_columns import LEAGUE, Column

SITE: Final = "site"
"""The folder of the pages, in the league's folder."""

_DAY: Final = timedelta(days=1)
_MOST_NEWS = 20
_MOST_CHARTED = 100
_MOST_FED = 100
_MOST_LIVE = 10

_EVENTS: Final = (Column("at", "When (UTC)", "code"), Column("text", "What"))
_MOVES: Final = (
    Column("bot", "Bot"),
    Column("before", "Rank before", "count", "Among the bots that are here now."),
    Column("rank", "Rank", "count"),
)


def write_site(league: League, names: Iterable[str] | None = None) -> Path:
    """Write the index, the feeds, and the pages of some names or of all; return the index's path.

    Raises InputError if a file cannot be written.
    """
    folder = league.folder / SITE
    found = standings(league)
    everybody = dict.fromkeys(version.name for version in league.ledger.versions())
    wanted = everybody if names is None else names
    for name in wanted:
        page = folder / "bots" / f"{name}.html"
        write_text(page, to_html(bot_report(league, name, found)))
    for name in everybody:  # a killed process may not have written this page
        if not (page := folder / "bots" / f"{name}.html").is_file():
            write_text(page, to_html(bot_report(league, name, found)))
    write_text(folder / "feed.json", _feed(league))
    write_text(folder / "league.json", _live(league))
    rows = ([getattr(one, name) for name in LEAGUE.names] for one in found)
    replace_rows(folder / LEAGUE.file, LEAGUE.names, rows)
    index = folder / "index.html"
    write_text(index, to_html(_index(league, found)))
    return index


def _index(league: League, found: Sequence[Standing]) -> Report:
    """Return the index page: the news and the standings."""
    sections = [
        Section("news", "Since yesterday", [*_news(league, found)]),
        Section("standings", "Standings", [*_standings(league, found)]),
        Section("how", "How to read this", [Text(_HOW)]),
    ]
    return Report(f"League {league.folder.resolve().name}", [_summary(league, found)], sections)


_HOW: Final = (
    "Bots of the panel are the arena's own; their mean Elo is fixed, so numbers of different "
    "months compare. A new version of a bot meets the deals of the old one.",
    "A version with too many faults is suspended: it plays no more until its owner submits "
    "another one. The page of a bot says what to do next.",
)


def _summary(league: League, found: Sequence[Standing]) -> str:
    active = sum(one.state == "active" for one in found)
    return f"{counted(active, 'bot')} after round {league.number:,}."


def _news(league: League, found: Sequence[Standing]) -> Iterator[Block]:
    """Yield the events of the last day, and the bots that rose and fell most."""
    now = league.now()
    events = league.ledger.events((now - _DAY).isoformat(timespec="seconds"), _MOST_NEWS)
    if not events:
        yield Text(["Nothing was submitted, and nobody has left."])
    else:
        rows: list[Sequence[Cell]] = [
            (event.at[:16].replace("T", " "), event.text) for event in events
        ]
        yield Table("news", "What happened", _EVENTS, rows)
    moves = [*_moves(league, found, now - _DAY)]
    if moves:
        links = [f"./bots/{row[0]}.html" for row in moves]
        yield Table("moves", "Who has moved most", _MOVES, moves, links)


def _moves(
    league: League, found: Sequence[Standing], since: datetime
) -> list[tuple[str, int, int]]:
    """Return name, old rank and new rank of the bots whose rank changed most."""
    times = league.ledger.round_times()
    before = [number for number, at in times.items() if at <= since.isoformat()]
    if not before:
        return []
    elos = league.ledger.elos_at(max(before))
    ids = {version.name: version.id for version in league.ledger.versions("state = 'active'")}
    now = {one.bot: one.elo or 0.0 for one in found if one.rank and ids[one.bot] in elos}
    ordered = sorted((round(elos[ids[bot]], 1) for bot in now), reverse=True)
    ranks = give_ranks([*now.values()])
    moves = [
        (bot, 1 + ordered.index(round(elos[ids[bot]], 1)), rank)
        for bot, rank in zip(now, ranks, strict=True)
    ]
    moved = [move for move in moves if move[1] != move[2]]
    return sorted(moved, key=lambda move: (-abs(move[1] - move[2]), move[0]))[:10]


def _standings(league: League, found: Sequence[Standing]) -> Iterator[Block]:
    rated = [one for one in found if one.rank]
    if rated and not find_lack():
        yield _chart(rated[:_MOST_CHARTED])
    rows = [tuple(getattr(one, column.name) for column in LEAGUE.shown) for one in found]
    links = [f"./bots/{one.bot}.html" for one in found]
    yield Table("standings", "Standings", LEAGUE.shown, rows, links)
    yield Text([*describe_spread(league)])


def _chart(rated: Sequence[Standing]) -> Chart:
    """Return a chart of the ratings with their intervals."""
    values = [
        {"bot": one.bot, "value": one.elo, "low": one.elo_low, "high": one.elo_high}
        for one in rated
    ]
    window = find_window(values)
    x = quantity("value", "Elo", scale=window.scale, axis=ELO_AXIS)
    layers = [*interval_layers(x), *window.layers(x)]
    numbers = tips(("value", "Elo"), ("low", "low"), ("high", "high"), form=".0f")
    shown = tips(("bot", "bot")) + numbers
    encoding = {"y": row_of_bots([one.bot for one in rated]), "tooltip": shown}
    spec = chart(values, height=STEP * len(values), encoding=encoding, layer=layers)
    what = f"Elo with its 95 % interval; the strongest is at the top.{window.describe('bot')}"
    return Chart("ratings", "Ratings.", what, spec, "standings")


def _live(league: League) -> str:
    """Return the standings as JSON for the web page of `arena table`."""
    data = to_document(league)
    del data["folder"]  # a private path of this machine
    news = [{"at": event.at, "text": event.text} for event in league.ledger.events(most=_MOST_LIVE)]
    data |= {"news": news, "notes": [*describe_spread(league)]}
    return json.dumps(data, ensure_ascii=False) + "\n"


def _feed(league: League) -> str:
    """Return the feed in the format of https://www.jsonfeed.org/version/1.1/."""
    name = league.folder.resolve().name
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
