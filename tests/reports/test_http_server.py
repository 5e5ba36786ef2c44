"""What listens holds nobody, and an error is one line; in Markdown every text is text."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.addons.league import web
from arena.addons.remote import bot_server
from arena.addons.table.table_server import make_server as make_table
from arena.entries.resolve import resolve
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
from arena.reports.charts import Mark, Row, Rows
from arena.reports.http_server import MOST_WAITING, Connection, Front, FrontServer, listen
from arena.store.column_titles import Column
from tests import ROOT
from tests.addons.league.small import a_league
from tests.kit import serving
from tests.waiting import PATIENCE, until

HELLO = b'{"id":0,"type":"hello","rules":{},"params":{}}\n'
OTHER = "127.0.0.2"


class Listener(NamedTuple):
    """A server of the arena, what an honest client asks it, and how the answer begins.

    `upload` is a request of which the server waits for the last byte.
    """

    port: int
    server: FrontServer
    request: bytes
    answer: bytes
    upload: bytes

    def connect(self, sent: bytes = b"", source: str = "127.0.0.1") -> socket.socket:
        """Return a connection from an address, on which these bytes were sent."""
        where = "127.0.0.1", self.port
        one = socket.create_connection(where, PATIENCE, source_address=(source, 0))
        with suppress(ConnectionError):  # of one that was closed already
            one.sendall(sent)
        return one

    def ask(self) -> None:
        """Get the answer to an honest request, as often as others are in the way."""
        with self.connect(self.request) as one:
            assert one.recv(1 << 16).startswith(self.answer)

    def heard(self, client: socket.socket) -> float:
        """Return when the server has heard from a client, 0 before."""
        there = [*self.server.server_state.connections]
        times = {one.client: one.heard for one in there if isinstance(one, Connection)}
        return times.get(client.getsockname(), 0.0)

    @property
    def front(self) -> Front:
        front = self.server.config.app
        assert isinstance(front, Front)
        return front


def post(port: int, path: str, *more: str) -> bytes:
    """Return a request with a body of one byte, in which browsers and programs send theirs."""
    host = f"127.0.0.1:{port}"
    head = f"POST {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", *more
    return "\r\n".join([*head, "Content-Length: 1", "", "x"]).encode()


@contextmanager
def serve_bot(_: Path) -> Iterator[Listener]:
    """A bot's server; no bot is asked."""
    entry = replace(resolve("greedy"), lane="process")
    with listen(0) as bound, closing(bot_server.Hall(entry)) as hall:
        server = FrontServer(bot_server.make_front(hall, ""))
        port = bound.getsockname()[1]
        empty = b"POST / HTTP/1.1\r\nHost: a\r\nArena-Session: a\r\nContent-Length: 0\r\n\r\n"
        upload = post(port, "/", "Arena-Session: a")
        with serving(server, bound):
            yield Listener(port, server, empty, b"HTTP/1.1 204", upload)


@contextmanager
def serve_table(folder: Path) -> Iterator[Listener]:
    with listen(0) as bound:
        port = bound.getsockname()[1]
        server, guard, table = make_table(folder / "results", folder, port)
        upload = post(port, f"{guard.root}api/games", "Content-Type: application/json")
        page = f"GET {guard.root} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        with serving(server, bound), closing(table.hall):
            yield Listener(port, server, page, b"HTTP/1.1 200", upload)


@contextmanager
def serve_league(folder: Path) -> Iterator[Listener]:
    with a_league(folder / "club"), web.serving(folder / "club", 0, "127.0.0.1") as (url, server):
        port = int(url.rstrip("/").rpartition(":")[2])
        page = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        upload = post(port, "/enter", "Content-Type: application/x-www-form-urlencoded")
        yield Listener(port, server, page, b"HTTP/1.1 200", upload)


LISTENERS: dict[str, Callable[[Path], AbstractContextManager[Listener]]] = {
    "addons/league/web.py": serve_league,
    "addons/remote/bot_server.py": serve_bot,
    "addons/table/table_server.py": serve_table,
}
"""Every module of the arena that listens."""


@pytest.fixture(params=LISTENERS)
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    """Each server in turn."""
    with LISTENERS[request.param](tmp_path) as made:
        yield made


def test_everything_that_listens_has_the_front() -> None:
    """Nothing else opens a port."""
    arena = ROOT / "arena"
    texts = {str(path.relative_to(arena)): path.read_text() for path in arena.rglob("*.py")}
    opens = re.compile(r"import uvicorn|socketserver|http\.server|\.listen\(|_server\(sock|AF_INET")
    own = {"reports/http_server.py"}
    assert {name for name, text in texts.items() if opens.search(text)} == own
    assert {name for name, text in texts.items() if "FrontServer(" in text} == own | {*LISTENERS}


def is_closed(one: socket.socket) -> bool:
    """Wait until the other end of a connection is closed."""
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def test_silent_connections_hold_nobody(listener: Listener) -> None:
    """Of very many, only so many stay."""
    held = [listener.connect(listener.upload[: number % 30]) for number in range(205)]
    listener.ask()
    assert is_closed(held[0])
    until(lambda: len(listener.server.server_state.connections) <= MOST_WAITING + 1)
    for one in held:
        one.close()


def test_who_is_too_slow_is_closed(listener: Listener) -> None:
    """In the middle of a line, of the headers or of the body."""
    listener.front.whole = 0.1
    for part in (b"", listener.upload[:9], listener.upload[:40], listener.upload[:-1]):
        with listener.connect(part) as one:
            assert is_closed(one)
    listener.front.whole = PATIENCE
    listener.ask()


@pytest.mark.parametrize("source", [OTHER, "127.0.0.1"])
def test_a_slow_upload_is_not_cut_for_those_who_only_connect(
    listener: Listener, source: str
) -> None:
    """Another address has its own share; of those at one address, who is silent loses."""
    strangers: list[socket.socket] = []
    listener.front.whole = PATIENCE
    with listener.connect(listener.upload[:20]) as honest:
        for at in range(20, 23):
            try:
                strangers += [listener.connect(source=source) for _ in range(60)]
            except OSError:
                pytest.skip("this system has one address of its own")
            until(lambda: listener.heard(strangers[-1]))  # all were accepted  # noqa: B023 (at once)
            if source != OTHER:
                before = listener.heard(honest)
                honest.sendall(listener.upload[at : at + 1])
                until(lambda: listener.heard(honest) > before)  # noqa: B023 (at once)
        assert is_closed(strangers[0])
        honest.sendall(listener.upload[20 if source == OTHER else 23 :])
        assert honest.recv(1 << 16).startswith(b"HTTP/1.1 4")
    for one in strangers:
        one.close()


@pytest.mark.parametrize("name", LISTENERS)
def test_clients_that_break_off_leave_no_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In whatever they send, or as they are answered; others are answered."""
    reset = struct.pack("ii", 1, 0)
    with LISTENERS[name](tmp_path) as listener:
        chunked = listener.upload.replace(b"Content-Length: 1", b"Transfer-Encoding: chunked")
        noise = b"\x00\xff" * 100 + b"\r\n\r\n", b"G" * 70_000, chunked
        for part in (listener.upload[:30], listener.upload[:-1], listener.request, *noise):
            for option in (None, reset):
                with listener.connect(part) as one:
                    if option:
                        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
        listener.ask()
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


@contextmanager
def answering(app: ASGIApp) -> Iterator[Listener]:
    """A server of one application."""
    with listen(0) as bound:
        server = FrontServer(Front(app, lambda _: None))
        with serving(server, bound):
            request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
            yield Listener(bound.getsockname()[1], server, request, b"HTTP/1.1 200", b"")


def test_who_does_not_read_the_answer_is_closed() -> None:
    """It is never wholly sent."""
    begun: list[Scope] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        listener.front.whole = 0.1  # from now on: the request is there
        begun.append(scope)
        await PlainTextResponse(b"x" * (1 << 25))(scope, receive, send)

    with answering(answer) as listener, listener.connect(listener.request):
        until(lambda: begun and not listener.server.server_state.connections)


def test_noise_after_an_answer_has_no_line_and_a_fault_has_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The rest of a body that nobody reads is no HTTP: that connection ends; so does who asks."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with answering(PlainTextResponse("ok")) as listener, listener.connect(head) as one:
        assert one.recv(1 << 16).startswith(listener.answer)
        one.sendall(b"no chunk\r\n")
        until(lambda: not listener.server.server_state.connections)
    assert capsys.readouterr().err == ""

    async def fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise RuntimeError("two\nlines")

    with answering(fails) as listener:
        assert listener.connect(listener.request).recv(99).startswith(b"HTTP/1.1 500")
    assert capsys.readouterr().err == "error: a request failed: RuntimeError: two\\nlines\n"


@pytest.fixture
def hall() -> Iterator[bot_server.Hall]:
    with closing(bot_server.Hall(replace(resolve("greedy"), lane="process"))) as hall:
        yield hall


def test_as_many_sessions_are_answered_at_once_as_there_are(
    hall: bot_server.Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A further one takes the place of one that has been idle for a minute, and of no other."""
    barrier = Barrier(bot_server.MOST_SESSIONS)

    def answer(_self: bot_server.Session, _messages: object) -> bytes:
        barrier.wait(PATIENCE)  # until all are answered
        return b""

    async def ask_all() -> None:
        names = map(str, range(bot_server.MOST_SESSIONS))
        await asyncio.gather(*(run_in_threadpool(hall.answer, name, HELLO) for name in names))
        monkeypatch.setattr(bot_server.Session, "answer", lambda *_: b"")
        for session in hall.sessions.values():
            session.used += 1e9
        with pytest.raises(HTTPException, match="503"):
            hall.answer("more", HELLO)
        hall.sessions["7"].used -= 2e9
        hall.answer("more", HELLO)

    monkeypatch.setattr(bot_server.Session, "answer", answer)
    with ThreadPoolExecutor(1) as apart:  # a browser's tests may have a loop in this thread
        apart.submit(lambda: asyncio.run(ask_all())).result()
    assert "7" not in hall.sessions
    assert len(hall.sessions) == bot_server.MOST_SESSIONS


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


def test_a_hostile_label_is_text_wherever_it_stands() -> None:
    """In its cell, a paragraph, a title and a summary; no person, issue or address is linked."""
    rows = cells(to_markdown(table_of([(label, 7) for label in HOSTILE], BOT, GAMES)))
    assert rows == [["Bot", "Games"], *([shown(label), "7"] for label in HOSTILE)]
    written = to_markdown(make_report(Text(["@team #1 https://example.org www.example.org :+1:"])))
    for taken in ("@team", "#1", "https://", "www.", ":+1:"):
        assert taken not in written
    for text in HOSTILE:
        report = make_report(Text([text]), title=text, summary=[text])
        tokens = PARSER.parse(to_markdown(report))
        kinds = [token.type for token in tokens if token.type.endswith("_open")]
        assert kinds == ["heading_open", "paragraph_open"] * 2
        texts = [inline_text(token) for token in tokens if token.type == "inline"]
        assert texts == [shown(text), shown(text), "Section", shown(text)]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.text(min_size=1).filter(lambda text: bool(text.strip())))
def test_any_text_is_text_in_its_cell(text: str) -> None:
    """Also those that nobody has thought of."""
    assert cells(to_markdown(table_of([(text, 7)], BOT, GAMES)))[1:] == [[shown(text), "7"]]


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


def test_long_tables_are_cut_charts_are_left_out_and_games_are_named() -> None:
    """The note comes after a table; without one, numbers are a list; no rows, no table."""
    rows = [(f"b{number}", number) for number in range(1234)]
    written = to_markdown(table_of(rows, BOT, GAMES, note="games.csv has all."))
    assert len(cells(written)) == MOST_WRITTEN + 1
    assert f"The first {MOST_WRITTEN} of 1,234 rows.\n\ngames.csv has all.\n" in written
    assert "Bots" not in to_markdown(table_of([], BOT, GAMES))
    rows = [(f"figure {number}", number) for number in range(MOST_WRITTEN + 9)]
    written = to_markdown(make_report(Table("glossary", "Figures", (BOT, GAMES), rows)))
    assert len(cells(written)) == 1 + len(rows)
    assert "The first" not in written
    games = Replays([Replay("g", "a/b/3/1", "the closest", {})])
    assert "- a/b/3/1: the closest\n" in to_markdown(make_report(games))
    row = Row("<b>", [Mark(1.0)], "+1 point", note="one game")
    chart = Rows(name="c", title="C", meaning="a chart", table="t", rows=[row])
    assert to_markdown(make_report(chart)).endswith("\n# friday\n")
    alone = to_markdown(make_report(replace(chart, table="")))
    assert "- \\<b>: +1 point (one game)\n" in alone


def test_a_row_leads_to_a_page_and_code_stays_code() -> None:
    """A place of the report itself is no link; code has its own fences, and a title with tags."""
    links = ("./a.html", None, "replay-1", "#bots")
    table = Table("bots", "Bots", (BOT, GAMES), [(bot, 3) for bot in "abcde"], links)
    rows = [line for line in to_markdown(make_report(table)).splitlines() if "| 3 |" in line]
    assert rows == ["| [a](./a.html) | 3 |", *(f"| {bot} | 3 |" for bot in "bcde")]
    text = "a\n```\n</details> <script>\n````\nb"
    written = to_markdown(make_report(Code("<b>", text), Code("plain", "c", folded=False)))
    fences = [token.content for token in PARSER.parse(written) if token.type == "fence"]
    assert fences == [text + "\n", "c\n"]
    assert "<summary>&lt;b&gt;</summary>" in written
    cell = table_of([("arena show a",), ("a|b",), ("`",)], Column("command", "Command", "code"))
    assert cells(to_markdown(cell))[1:] == [["arena show a"], ["a|b"], ["`"]]
    assert "| `arena show a` |" in to_markdown(cell)
