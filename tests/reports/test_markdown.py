"""Reports as Markdown: read with a parser of GitHub's tables, and every text is text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from arena.errors import escape
from arena.reports.blocks import (
    MOST_WRITTEN,
    Cell,
    Code,
    Replay,
    Replays,
    Report,
    Section,
    Table,
    Text,
    to_markdown,
)
from arena.reports.drawing import Mark, Row, Rows
from arena.store.table_columns import Column

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = [
    *(
        "<script>alert(1)</script>",
        "a|b",
        "a\\|b",
        "\\",
        "`code`",
        "``",
        "*bold*",
        "_it_",
        "__init__",
    ),
    *("city_hunter", "[link](https://example.org)", "![image](x)", "~~gone~~", "&lt;", "&#64;"),
    *("https://example.org", "www.example.org", "@maintainers", "#1", ":smile:", "$x$", "1. one"),
    *("# heading", "- item", "> quote", "+ more", "==", "---", "<!-- hidden", "<b", "a\nb", "שלום"),
    *("\u202eabc", "'\"", "W" * 60, "![", "a  b", "|", "\\`", "<https://example.org>"),
]


def shown(text: str) -> str:
    """Return a text as a report shows it: on one line, and with nothing that cannot be printed."""
    return escape(" ".join(text.split()))


def inline_text(token: Token) -> str:
    """Return what a reader sees of a line; a tag that is not our own empty comment is a fault."""
    parts = []
    for child in token.children or []:
        if child.type == "html_inline":
            assert child.content == "<!-- -->"
        elif child.type not in ("text", "code_inline", "text_special"):
            assert child.type in ("strong_open", "strong_close"), child.type
        else:
            parts.append(child.content)
    return "".join(parts)


def cells(markdown: str) -> list[list[str]]:
    """Return the cells of the tables, their heads too."""
    rows: list[list[str]] = []
    tokens = PARSER.parse(markdown)
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(inline_text(tokens[number + 1]))
    return rows


def make_report(*blocks: object, title: str = "friday", summary: Sequence[str] = ()) -> Report:
    return Report(title, summary, [Section("one", "Section", blocks)])  # type: ignore[arg-type]


def table_of(rows: Sequence[Sequence[Cell]], *columns: Column, note: str = "") -> Report:
    return make_report(Table("bots", "Bots", columns, rows, note=note))


BOT, GAMES = Column("bot", "Bot"), Column("games", "Games", "count")


def test_every_hostile_label_is_text_in_its_cell() -> None:
    """And no person, issue or address, which GitHub would link whether it is escaped or not."""
    rows = cells(to_markdown(table_of([(label, 7) for label in HOSTILE], BOT, GAMES)))
    assert rows == [["Bot", "Games"], *([shown(label), "7"] for label in HOSTILE)]
    written = to_markdown(make_report(Text(["@team #1 https://example.org www.example.org :+1:"])))
    for taken in ("@team", "#1", "https://", "www.", ":+1:"):
        assert taken not in written


@pytest.mark.slow
@settings(max_examples=40)
@given(st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_any_text_is_text_in_its_cell(text: str) -> None:
    """Also those that nobody has thought of."""
    assert cells(to_markdown(table_of([(text, 7)], BOT, GAMES)))[1:] == [[shown(text), "7"]]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_a_paragraph_a_title_and_a_summary(text: str) -> None:
    """And nothing else: no list, no quotation, no heading of its own."""
    report = make_report(Text([text]), title=text, summary=[text])
    tokens = PARSER.parse(to_markdown(report))
    kinds = [token.type for token in tokens if token.type.endswith("_open")]
    heading, paragraph = "heading_open", "paragraph_open"
    assert kinds == [heading, paragraph, heading, paragraph]
    texts = [inline_text(token) for token in tokens if token.type == "inline"]
    assert texts == [shown(text), shown(text), "Section", shown(text)]


def test_numbers_are_written_for_people_with_their_intervals() -> None:
    """Elo and its ends are one column; what has no value anywhere is left out."""
    columns = [
        BOT,
        *(Column(name, name, "elo") for name in ("elo", "elo_low", "elo_high")),
        Column("score", "Score", "share"),
        Column("empty", "Empty", "count"),
        Column("only_low", "Only low", "count"),
    ]
    rows = [("a", 1612.4, 1590.0, 1634.0, 0.5134, None, 3), ("b", None, None, None, 0.0, None, 4)]
    rows.append(("c", 2380.0, 2040.4, None, 1.0, None, 5))
    assert cells(to_markdown(table_of(rows, *columns))) == [
        ["Bot", "elo", "Score", "Only low"],
        ["a", "1612 (1590..1634)", "51.3 %", "3"],
        ["b", "", "0.0 %", "4"],
        ["c", "2380 (at least 2040)", "100.0 %", "5"],
    ]


def test_long_tables_are_cut_and_say_so_but_for_the_glossary() -> None:
    """The note of the table comes after it; a table without rows is left out."""
    rows = [(f"b{number}", number) for number in range(1234)]
    written = to_markdown(table_of(rows, BOT, GAMES, note="games.csv has all."))
    assert len(cells(written)) == MOST_WRITTEN + 1
    assert f"The first {MOST_WRITTEN} of 1,234 rows.\n\ngames.csv has all.\n" in written
    assert "Bots" not in to_markdown(table_of([], BOT, GAMES))
    rows = [(f"figure {number}", number) for number in range(MOST_WRITTEN + 9)]
    written = to_markdown(make_report(Table("glossary", "Figures", (BOT, GAMES), rows)))
    assert len(cells(written)) == 1 + len(rows)
    assert "The first" not in written


def test_the_first_cell_of_a_row_leads_to_a_page_beside_the_report() -> None:
    """Replays and places of the report itself are not in a text, and have no link."""
    links = ("./a.html", None, "replay-1", "#bots")
    table = Table("bots", "Bots", (BOT, GAMES), [(bot, 3) for bot in "abcde"], links)
    rows = [line for line in to_markdown(make_report(table)).splitlines() if "| 3 |" in line]
    assert rows == ["| [a](./a.html) | 3 |", *(f"| {bot} | 3 |" for bot in "bcde")]


def test_code_stays_code() -> None:
    """With fences of its own in it, and a title with tags."""
    text = "a\n```\n</details> <script>\n````\nb"
    written = to_markdown(make_report(Code("<b>", text), Code("plain", "c", folded=False)))
    fences = [token.content for token in PARSER.parse(written) if token.type == "fence"]
    assert fences == [text + "\n", "c\n"]
    assert "<summary>&lt;b&gt;</summary>" in written
    cell = table_of([("arena show a",), ("a|b",), ("`",)], Column("command", "Command", "code"))
    assert cells(to_markdown(cell))[1:] == [["arena show a"], ["a|b"], ["`"]]
    assert "| `arena show a` |" in to_markdown(cell)


def test_charts_are_left_out_and_games_are_named() -> None:
    """A section of charts alone has no heading; numbers that no table has are a list."""
    games = Replays([Replay("g", "a/b/3/1", "the closest", {})])
    assert "- a/b/3/1: the closest\n" in to_markdown(make_report(games))
    row = Row("<b>", [Mark(1.0)], "+1 point", note="one game")
    chart = Rows(name="c", title="C", meaning="a chart", table="t", rows=[row])
    assert to_markdown(make_report(chart)).endswith("\n# friday\n")
    alone = to_markdown(make_report(replace(chart, table="")))
    assert "- \\<b>: +1 point (one game)\n" in alone
