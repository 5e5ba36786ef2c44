"""A token stands in nothing that is stored or shown, whatever a server makes of it."""

from __future__ import annotations

import base64
import html
import json
import re
import sqlite3
import urllib.parse
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

from arena.addons.remote import bot_server
from arena.addons.remote.remote_bot import find_token, parse_address
from arena.cli.options import print_json, say
from arena.entries.resolve import resolve
from arena.errors import ArenaError, InputError, Unreachable
from arena.executors.log import logger, run_log
from arena.lanes.faults import Forfeit
from arena.tokens import SERVE_TOKEN, TOKENS, hide_secrets
from arena.tournament import asking
from tests import ROOT
from tests.addons.remote.servers import Handler, Message, Server
from tests.addons.remote.test_remote_bot import played
from tests.conftest import run_command
from tests.rogues import write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few

SECRET = "Hush-4711/Ab+c=%41\\x&9"
PLAIN = "3f9c77aa0b"


def each(code: Callable[[int], str]) -> Callable[[str], str]:
    return lambda token: "".join(map(code, token.encode()))


def coded(before: str, after: str = "", *, safe: bool = False) -> Callable[[str], str]:
    """Return what writes a token in base64 with a text before it; only of the bits of the token."""

    def write_it(token: str) -> str:
        code = base64.urlsafe_b64encode if safe else base64.b64encode
        return code(f"{before}{token}{after}".encode()).decode()

    return write_it


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "JSON": lambda token: json.dumps(token)[1:-1],
    "JSON with slashes escaped": lambda token: json.dumps(token)[1:-1].replace("/", "\\/"),
    "JSON in JSON": lambda token: json.dumps(json.dumps(token))[3:-3],
    "JSON, all of it": each("\\u{:04x}".format),
    "JSON, in capitals": each("\\u{:04X}".format),
    "JSON, some of it": each(lambda c: f"\\u{c:04x}" if c % 2 else json.dumps(chr(c))[1:-1]),
    "an address": lambda token: urllib.parse.quote(token, safe=""),
    "an address, all of it": each("%{:02x}".format),
    "an address in an address": lambda token: urllib.parse.quote(urllib.parse.quote(token)),
    "an address in JSON": each("\\u0025{:02X}".format),
    "repr": lambda token: repr(token.encode())[2:-1],
    "repr, all of it": each("\\x{:02x}".format),
    "repr of a repr": lambda token: repr(repr(token.encode()))[3:-2],
    "HTML": html.escape,
    "HTML, all of it": each("&#{};".format),
    "HTML, in hexadecimal": each("&#x{:X};".format),
    "two lines": lambda token: f"{token[:5]}\r\n {token[5:]}",
    "two lines in a repr": lambda token: f"{token[:5]}\\r\\n{token[5:]}",
    "hexadecimal": each("{:02x}".format),
    "hexadecimal, in capitals": each("{:02X}".format),
    "base64": coded(""),
    "base64 of a name and it": coded("me:"),
    "base64 of another name and it": coded("you:"),
    "base64 of a third name and it": coded("arena:", ", and more"),
    "base64 in an address": coded("you:", safe=True),
}
"""Ways to write a token."""


@pytest.fixture
def server(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return a good server, which has a token."""
    monkeypatch.setenv(TOKENS, f"127.0.0.1:{server.server_address[1]}={SECRET} a.org={PLAIN}")
    return server


def cores(form: str, token: str) -> list[str]:
    """Return what must not be left of a token in a form, in small letters."""
    if not form.startswith("base64"):
        return [FORMS[form](token).lower()]
    data = token.encode()
    texts = [base64.b64encode(bytes(n) + data).decode()[2 * n : -4] for n in range(3)]
    return [text.lower() for one in texts for text in (one, one.translate({43: 45, 47: 95}))]


@pytest.mark.parametrize("token", [SECRET, PLAIN])
@pytest.mark.parametrize("form", FORMS)
def test_a_token_is_hidden(form: str, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing but the token: in the middle of a text, alone, and behind what ends a code."""
    monkeypatch.setenv(TOKENS, f"b.org=another-one a.org={token}")
    said = FORMS[form](token)
    hidden = hide_secrets(f'{{"error": "no {said} here\\n"}}')
    assert hidden.startswith('{"error": "no ')
    assert hidden.endswith(' here\\n"}')
    assert hidden.count("***") == 1
    assert len(hidden) == len('{"error": "no *** here\\n"}') or "base64" in form
    texts = said, f"key={said}", f"\\n{said}\nFile", f"\\{said}", said + said, f"%25{token}"
    for text in texts:
        left = hide_secrets(text).lower()
        assert not any(core in left for core in cores(form, token)), left
        assert "***" in left
    monkeypatch.delenv(TOKENS)
    assert hide_secrets(said) == said


def test_other_texts_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is nearly a token, and what has codes of other characters."""
    monkeypatch.setenv(TOKENS, f"a.org={SECRET}")
    monkeypatch.setenv(SERVE_TOKEN, PLAIN)
    for text in (
        "",
        "\n\n",
        SECRET[:-1],
        PLAIN[1:],
        "***",
        "100%41 \\u0041\\\\u0042 &amp;#65; =3D\r\n\ttext\\n",
        '{"id": 7, "action": "5"}\n{"id": 8}\n',
        "\u0130\u00e9 \U0001f600 K\u212a",
    ):
        assert hide_secrets(text) == text
    assert hide_secrets(f"\u0130 {PLAIN}\n\n{SECRET}\nend") == "\u0130 ***\n\n***\nend"


@pytest.mark.parametrize("token", ["1", "action", "seven77", "%41" * 7])
def test_a_token_too_short_is_refused(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its place other words would be hidden; the message does not show it."""
    monkeypatch.setenv(TOKENS, f"a.org={token}")
    with pytest.raises(InputError, match=f"^{TOKENS}: item 1: a token has at least 8 characters"):
        find_token(parse_address("https://a.org"))
    monkeypatch.setenv(SERVE_TOKEN, token)
    with pytest.raises(InputError, match=f"^{SERVE_TOKEN}: a token has at least 8 characters"):
        bot_server.serve(resolve("greedy"), "127.0.0.1", 0, print)
    assert hide_secrets(f"the action of {token}") == f"the action of {token}"


@pytest.mark.parametrize("spec", ["{url}/{token}", "{url}(key='{token}')", "{url}(a=['{token}'])"])
def test_a_token_in_a_spec_is_refused(server: Server, spec: str) -> None:
    """It would stand in the manifest."""
    with pytest.raises(InputError, match=f"a token stands in {TOKENS} only") as told:
        resolve(spec.format(url=server.url, token=PLAIN))
    assert PLAIN not in str(told.value)
    assert not server.requests


def lines(*heads: str, body: str = "") -> Callable[[str], str]:
    """Return what makes an answer of HTTP with a token in it."""
    return lambda said: "\r\n".join(["HTTP/1.1 200 OK", *heads, "", body]).replace("TOKEN", said)


def body(text: str) -> Callable[[str], str]:
    """Return what makes an answer whose body has a token in it."""

    def answer(said: str) -> str:
        length = len(text.replace("TOKEN", said))
        return lines(f"Content-Length: {length}", body=text)(said)

    return answer


ECHOES: dict[str, Callable[[str], str]] = {
    "status line": "HTTP/1.1 {} no\r\n\r\n".format,
    "no HTTP": "{}\r\n\r\n".format,
    "header name": lines("TOKEN bad: x"),
    "header value": lines("X-Token: TOKEN\0"),
    "header without a colon": lines("TOKEN"),
    "length": lines("Content-Length: TOKEN", body="x"),
    "coding": lines("Transfer-Encoding: TOKEN", body="x"),
    "chunk": lines("Transfer-Encoding: chunked", body="TOKEN\r\n"),
    "no JSON": body("TOKEN"),
    "half a token at the cut": body("x" * 390 + "TOKEN"),
    "half a token behind spaces": body("x" + " " * 388 + "TOKEN"),
    "another type": body('{"id": "TOKEN"}'),
    "error": body('{"id": NUMBER, "error": "TOKEN"}'),
    "traceback": body('{"id": NUMBER, "error": "x", "traceback": "a\\nTOKEN"}'),
    "output": body('{"id": NUMBER, "error": "x", "output": "TOKEN TOKEN"}'),
    "kind": body('{"id": NUMBER, "error": "x", "kind": "TOKEN"}'),
    "action": body('{"id": NUMBER, "action": "TOKEN"}'),
    "version": body('{"id": NUMBER, "ready": true, "version": "TOKEN"}'),
}
"""Where a server may send a token back."""


def echo(place: str, form: str, kind: str, handler: Handler, messages: list[Message]) -> bool:
    """Answer a message of this type with the token in this place and form."""
    if messages[0]["type"] != kind:
        return False
    assert handler.headers["Authorization"] == f"Bearer {SECRET}"
    raw = ECHOES[place](FORMS[form](SECRET)).replace("NUMBER", f"{messages[0]['id']:<6}")
    handler.wfile.write(raw.encode())
    handler.close_connection = True
    return True


def assert_hidden(text: str, form: str) -> None:
    """Find neither the token nor its form, also where half of it was cut off, or codes are left."""
    small = " ".join(text.lower().split())
    for core in {*cores(form, SECRET), *cores("as it is", SECRET), *cores("repr", SECRET)}:
        assert core not in small
        assert core[:8] not in small


@pytest.mark.parametrize(
    ("place", "form"),
    [
        *few(((place, "as it is") for place in ECHOES), 3, unpack=True),
        *few((("error", form) for form in FORMS), unpack=True),
        *few((("no JSON", form) for form in FORMS), unpack=True),
    ],
)
def test_an_echo_stands_in_no_text(server: Server, place: str, form: str, tmp_path: Path) -> None:
    """Of a game, and of a bot that does not answer `hello`."""
    server.before = partial(echo, place, form, "choose")
    try:
        told = [str(result.fault) for result in played(server.url, tmp_path).results]
    except ArenaError as error:
        told = [str(error)]
    server.before = partial(echo, place, form, "hello")
    try:
        entry = resolve(server.url)
        told += [entry.program, repr(entry)]
    except InputError as error:
        told.append(str(error))
    for text in told:
        assert_hidden(text, form)


@pytest.mark.slow
def test_no_byte_of_a_run_and_of_what_it_prints_has_a_token(server: Server, tmp_path: Path) -> None:
    """Each game meets another echo; then pages and commands read the folder without the token."""
    places = [*ECHOES][[*ECHOES].index("no JSON") :]  # those before are outages, which end a run
    ways = [(place, "as it is") for place in places] + [("error", form) for form in [*FORMS][::3]]
    met: set[str] = set()

    def answer(handler: Handler, messages: list[Message]) -> bool:
        session = handler.headers["Arena-Session"]
        if messages[0]["type"] != "choose" or session in met:
            return False
        met.add(session)
        return echo(*ways[len(met) % len(ways)], "choose", handler, messages)

    server.before = answer
    out = tmp_path / "run"
    cup = {"bots": [server.url, "uniform"], "pairs": len(ways) // 2 + 1, "max_faults": 9999}
    (tmp_path / "cup.yaml").write_text(json.dumps(cup))
    words = ["run", str(tmp_path / "cup.yaml"), "--workers", "1", "--verbose", "--no-repeat"]
    told = {"terminal": printed(*words, "--out", str(out))}
    assert len(met) >= len(ways)
    told["report"] = printed("report", str(out))
    told |= {path.name: texts(path) for path in out.rglob("*") if path.is_file()}
    assert "***" in told["faults.csv"]
    assert {"run.log", "run.sqlite", "report.html", "manifest.json"} <= told.keys()
    for name, text in told.items():
        for form in FORMS:
            for core in cores(form, SECRET):
                assert core not in text.lower(), (name, form)


def printed(*words: str) -> str:
    """Return all that a command of the arena prints."""
    done = run_command(ROOT, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def texts(path: Path) -> str:
    """Return all that is in a file: its bytes, the cells of a database, and packed data."""
    data = path.read_bytes()
    parts = [data]
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as opened:
            parts += [line.encode() for line in opened.iterdump()]
    for packed in re.findall(rb"[A-Za-z0-9+/=]{64,}", data):
        with suppress(ValueError, zlib.error):
            parts.append(base64.b64decode(packed))
            parts.append(zlib.decompress(parts[-1], 47))
    return b"\n".join(parts).decode("latin-1")


SHOWS = """
import os
raise ValueError([os.environ.get(name) for name in ("ARENA_TOKENS", "ARENA_SERVE_TOKEN")])
"""


@pytest.mark.parametrize(
    "lane", ["inproc", "process", pytest.param("jail", marks=[needs_jail, pytest.mark.slow])]
)
def test_a_bot_here_has_no_token(
    lane: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A game of the lane inproc that ends by a fault is played again in a process."""
    monkeypatch.setenv(TOKENS, f"b.org={SECRET} a.org={PLAIN}")
    monkeypatch.setenv(SERVE_TOKEN, SECRET[::-1])
    for result in played(write(tmp_path, "shows", SHOWS), tmp_path, lane=lane).results:
        assert result.fault.message == "ValueError: [None, None]"
    assert not {TOKENS, SERVE_TOKEN} & asking._own_variables().keys()


def test_evidence_and_log_hide_a_token_whoever_has_found_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bot in the lane inproc reads our environment; no part of a token is left by a cut."""
    monkeypatch.setenv(TOKENS, f"a.org={PLAIN}")
    text = f"{'x' * 19_995}{PLAIN}{'y' * 19_995}"
    for said in (text, f"x{' ' * 19_994}{PLAIN}"):
        assert not re.search(PLAIN[:5], str(Forfeit("exception", said, said, said).fault))
    for error in (InputError(f"{'x' * 395}{PLAIN}{'y' * 900}"), Unreachable(PLAIN)):
        assert PLAIN[:5] not in str(error)
    with run_log(None):
        logger.warning("no %s here", PLAIN)
    say(f"no {PLAIN}")
    print_json({"why": PLAIN})
    told = capsys.readouterr()
    assert (told.out + told.err).count("***") == 3
    assert PLAIN not in told.out + told.err
