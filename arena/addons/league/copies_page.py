"""Show the organiser which bots are alike: rows, lines for a terminal, and a page of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from arena.addons.league.copies import USUAL_MOVES, USUAL_TREE
from arena.addons.league.league_settings import make_folder
from arena.addons.league.league_tables import Version
from arena.addons.league.ledger import Ledger
from arena.errors import counted, naming, wrapped
from arena.reports.blocks import Block, Report, Section, Table, Text
from arena.reports.html import to_html
from arena.store.csv_files import replace_rows
from arena.store.folder import write_text
from arena.tables.table_columns import Column

USUAL: Final = (
    f"Of independent bots, 95 pairs in 100 choose alike at no more than {100 * USUAL_MOVES:.0f} % "
    f"of the positions, and share no more than {100 * USUAL_TREE:.0f} % of the smaller syntax "
    "tree. Bots of one author, or built on one another, reach more. It is a number and no verdict."
)


class Pair(NamedTuple):
    """A row of copies.csv: two versions, when the first one came, and how much they are alike."""

    bot: str
    version: int
    owner: str
    other: str
    other_version: int
    other_owner: str
    at: str
    same_program: str
    moves: float | None
    positions: int
    tree: float | None


def pairs(ledger: Ledger, most: int) -> list[Pair]:
    """Return the two versions of different owners that are most alike, the nearest ones first."""
    found = []
    for one in ledger.nearest_copies(most):
        first, second = (ledger.versions("id = ?", id)[0] for id in one[:2])
        moves, tree = (None if x is None else round(x, 4) for x in (one.moves, one.tree))
        both = (*_who(first), *_who(second), first.at)
        found.append(Pair(*both, "yes" if one.same else "no", moves, one.positions, tree))
    return found


def _who(version: Version) -> tuple[str, int, str]:
    return version.name, version.number, version.owner


_COLUMNS: Final = (
    Column("bot", "Bot"),
    Column("version", "Version", "count"),
    Column("owner", "Owner"),
    Column("other", "Other bot"),
    Column("other_version", "Version", "count"),
    Column("other_owner", "Owner"),
    Column("at", "Submitted (UTC)", "code", "When the bot of the row came."),
    Column("same_program", "Same program", "text", "The same but for comments and layout."),
    Column("moves", "Moves alike", "share", "Of the positions at which both were asked."),
    Column("positions", "Positions", "count", "At which both have answered."),
    Column("tree", "Syntax tree", "share", "The part of the smaller one that the other one has."),
)
FOLDER: Final = "copies"
CSV: Final = "copies.csv"
PAGE: Final = "index.html"
"""The organiser's files, in a folder of the league that only its owner reads."""


def write_copies(league: Path, ledger: Ledger, most: int = 1000) -> Path:
    """Write what is known of copies, only for the organiser; return the page.

    Raises InputError if a file cannot be written.
    """
    folder = make_folder(league / FOLDER)
    with naming(f"{folder}: cannot be written", OSError):
        rows = pairs(ledger, most)
        replace_rows(folder / CSV, Pair._fields, rows)
    blocks: list[Block] = [Text([USUAL]), Table("copies", "Who is like whom", _COLUMNS, rows)]
    sections = [Section("copies", counted(len(rows), "pair"), blocks)]
    page = folder / PAGE
    write_text(page, to_html(Report("Copies", ["Only for the organiser."], sections)))
    return page


def format_copies(rows: Sequence[Pair]) -> Iterator[str]:
    """Yield the pairs for a terminal, and what is usual."""
    yield f"{'bot':<24} {'other':<24} {'moves':>6} {'tree':>6}  program"
    for one in rows:
        names = f"{one.bot} {one.version}", f"{one.other} {one.other_version}"
        shares = ("" if x is None else f"{100 * x:.0f} %" for x in (one.moves, one.tree))
        same = "the same" if one.same_program == "yes" else ""
        yield "{:<24} {:<24} {:>6} {:>6}  {}".format(*names, *shares, same).rstrip()
    yield from wrapped(USUAL)
