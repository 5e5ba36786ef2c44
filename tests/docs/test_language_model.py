"""The bot that asks a language model plays against a stub on loopback, with one retry."""

from __future__ import annotations

import importlib.util
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from bots.greedy import bot as greedy
from engine import (
    RULES_TEXT,
    STANDARD,
    Action,
    Record,
    Rules,
    Setup,
    Strategy,
    Thought,
    View,
    play_game,
)
from engine.thoughts import checked_thoughts
from tests import ROOT, markdown
from tests.conftest import Arena

EXAMPLE = ROOT / "docs" / "examples" / "language_model.py"
KEY = "a-secret-key-1234"
TOKENS = 7  # of each answer

Answer = Callable[["Stub", str], str]


def example() -> ModuleType:
    """Return the example as a module."""
    spec = importlib.util.spec_from_file_location("language_model", EXAMPLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODEL = example()


class Stub(ThreadingHTTPServer):
    """An endpoint whose model answers as a function says; it keeps what it was asked."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: set[str | None] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Stub

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(size))
        self.server.asked.append(asked)
        self.server.paths.append(self.path)
        self.server.keys.add(self.headers["Authorization"])
        text = self.server.answer(self.server, asked["messages"][1]["content"])
        if text.startswith("http"):
            self.send_response(302)
            self.send_header("Location", text)
            self.end_headers()
            return
        message = {"message": {"role": "assistant", "content": text}}
        body = json.dumps({"choices": [message], "usage": {"total_tokens": TOKENS}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def stub(answer: Answer) -> Iterator[Stub]:
    """Yield an endpoint on loopback, which ends with the block."""
    server = Stub(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def first_legal(position: str) -> str:
    """Return the right answer with the first legal action that a position names."""
    (names,) = re.findall(r"Legal actions: (.*)\.", position)
    return json.dumps({"action": names.split(", ")[0], "chance": 0.25})


def sometimes_wrong(server: Stub, position: str) -> str:
    """Chat in the first answer to every second position, and answer the complaint."""
    is_first = len(server.asked[-1]["messages"]) == 2
    chats = is_first and len(position) % 2
    return f"I would say {first_legal(position)}" if chats else first_legal(position)


def test_it_plays_a_whole_game_with_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays what the model says; what it was asked has the rules and the position."""
    monkeypatch.setenv("MODEL_KEY", KEY)
    noted: list[tuple[View, Action, Thought]] = []

    class Noting:
        """Plays as the model does, and keeps what it thought."""

        def __init__(self, setup: Setup) -> None:
            self.own = MODEL.bot(setup, server.url, "tiny")

        def choose(self, view: View, /) -> Action:
            action: Action = self.own.choose(view)
            (thought,) = checked_thoughts(self.own.thoughts(), view)
            noted.append((view, action, thought))
            return action

    with stub(sometimes_wrong) as server:
        game = play_game(Noting, greedy, seed=3)
    retried = [asked for asked in server.asked if len(asked["messages"]) == 4]
    assert len(noted) == (len(game.record.actions) + 1) // 2 >= 20
    assert len(server.asked) == len(noted) + len(retried)
    assert 0 < len(retried) < len(noted)
    for view, action, thought in noted:
        assert action == view.legal[0]
        assert (thought.action, thought.value) == (action, 0.25)
        spent = TOKENS * (1 + len(view.describe()) % 2)
        assert re.fullmatch(rf"{spent} tokens, \d+\.\d s", thought.note)
    described = [view.describe() for view, *_ in noted]
    fresh = [asked for asked in server.asked if asked not in retried]
    assert [asked["messages"][1]["content"] for asked in fresh] == described
    for asked in server.asked:
        assert asked["model"] == "tiny"
        assert asked["messages"][0]["content"].startswith(RULES_TEXT)
    assert "That was wrong: " in retried[0]["messages"][3]["content"]
    assert (server.keys, {*server.paths}) == ({f"Bearer {KEY}"}, {"/v1/chat/completions"})


SEEN = View.from_text("0 5678C xy")
WRONG = [
    "",
    "5",
    "null",
    '{"action": "5"}',
    '{"action": 0, "chance": 0.5}',
    '{"action": "T", "chance": 0.5}',
    '{"action": "+2", "chance": 0.5}',
    '{"action": ["5"], "chance": 0.5}',
    '{"action": "5", "chance": "high"}',
    '{"action": "5", "chance": true}',
    '{"action": "5", "chance": NaN}',
    '{"action": "5", "chance": 50}',
    '{"action": "5", "chance": 0.5, "why": "it is free"}',
    '```json\n{"action": "5", "chance": 0.5}\n```',
    '{"action": "5", "chance": 0.5} and good luck',
]


@pytest.mark.parametrize("text", WRONG)
def test_only_the_asked_form_is_an_answer(text: str) -> None:
    """Neither is an action guessed from other text, nor a number from a word."""
    with pytest.raises(ValueError, match=r"an answer is|legal actions|from 0 to 1|Expecting|Extra"):
        MODEL.parse(text, SEEN.legal)
    assert MODEL.parse('{"action": "take", "chance": 1}', SEEN.legal) == (11, 1)


def strategy(url: str) -> Strategy:
    """Return a strategy that asks this endpoint."""
    made: Strategy = MODEL.bot(Setup(Random(1), 0, STANDARD), url, "tiny", seconds=5.0)
    return made


def test_two_wrong_answers_are_an_exception() -> None:
    """And no third question: no action is played in the place of the model's."""
    with stub(lambda *_: '{"action": "fold", "chance": 1}') as server:
        with pytest.raises(ValueError, match="the legal actions are 5, 6, 7, 8, City, take"):
            strategy(server.url).choose(SEEN)
        assert len(server.asked) == 2
    with pytest.raises(OSError, match="refused"):
        strategy(server.url).choose(SEEN)  # nobody listens there any more


def test_no_redirect_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would lead the key to another host."""
    monkeypatch.setenv("MODEL_KEY", KEY)
    with (
        stub(lambda _, position: first_legal(position)) as other,
        stub(lambda *_: f"{other.url}/chat/completions") as server,
    ):
        with pytest.raises(OSError, match="302"):
            strategy(server.url).choose(SEEN)
        assert (len(server.asked), other.asked) == (2, [])


@pytest.mark.slow
def test_a_kept_answer_is_not_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same game twice has the questions of one; a line that a kill has cut is asked again."""
    path = tmp_path / "answers.jsonl"
    monkeypatch.setenv("MODEL_KEPT", str(path))
    monkeypatch.setenv("MODEL_KEY", KEY)
    with stub(sometimes_wrong) as server:
        play = lambda: play_game(lambda one: MODEL.bot(one, server.url, "tiny"), greedy, seed=3)  # noqa: E731
        first, asked = play(), len(server.asked)
        assert play().record == first.record
        assert len(server.asked) == asked == len(path.read_text().splitlines()) > 20
        path.write_text(path.read_text()[:-9])
        assert play().record == first.record
        assert len(server.asked) == asked + 1
        play_game(lambda one: MODEL.bot(one, server.url, "other"), greedy, seed=3)
        assert len(server.asked) > asked + 20  # another model is another bot
    assert KEY not in path.read_text()


@pytest.mark.slow
def test_a_run_in_the_arena(arena: Arena, tmp_path: Path) -> None:
    """In the lane inproc; the thoughts are in the record, and the key is in no file."""
    with stub(sometimes_wrong) as server:
        names = {"MODEL_URL": server.url, "MODEL_NAME": "tiny", "MODEL_KEY": KEY}
        words = (str(EXAMPLE), "greedy", "--lane", "inproc")
        done = arena("play", *words, "--pairs", "1", "--workers", "1", "--out", "run", **names)
        assert (done.returncode, "forfeit:" in done.stdout) == (0, False), done.stderr
        assert server.keys == {f"Bearer {KEY}"}
        names["MODEL_KEPT"] = str(tmp_path / "answers.jsonl")
        asked = len(server.asked)
        done = arena("game", *words, "--thoughts", **names)
        answers = (tmp_path / "answers.jsonl").read_text().splitlines()
        assert len(server.asked) == asked + len(answers)
    record = json.loads(done.stdout)
    assert "fault" not in record, done.stderr
    thoughts = record["thoughts"]
    own = [str(ply) for ply in range(len(record["actions"])) if Rules().seat_at(ply) == 0]
    assert [*thoughts] == own
    for (one,) in thoughts.values():
        assert re.fullmatch(rf"({TOKENS}|{2 * TOKENS}) tokens, \d+\.\d s", one["note"])
    assert Record.from_json(done.stdout).replay().over
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not [content for content in written if KEY.encode() in content]
    with stub(lambda *_: "I pass.") as server:
        names["MODEL_URL"] = server.url
        done = arena("game", *words, **names)
    assert json.loads(done.stdout)["fault"]["kind"] == "exception"
    assert KEY not in done.stdout + done.stderr


PAGE = (ROOT / "docs" / "bot.md").read_text()
HERE = "http://127.0.0.1:8080/v1"


def command_of(page: str, beginning: str) -> str:
    """Return the command of a block that begins so, on one line."""
    texts = [re.sub(r"\\\n *", "", text) for text in markdown.blocks(page, "console")]
    (found,) = [text.strip() for text in texts if text.startswith(beginning)]
    return found


@pytest.mark.slow
def test_the_command_of_the_page_and_of_the_example_plays(tmp_path: Path) -> None:
    """With a stub in the place of the model."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    command = command_of(PAGE, "MODEL_URL")
    said = " ".join((MODEL.__doc__ or "").replace("\\\n", " ").split())
    assert command in said
    with stub(lambda _, position: first_legal(position)) as server:
        command = command.replace(HERE, server.url).replace("=...", f"={KEY}")
        done = markdown.run(command.replace("--pairs 5", "--pairs 1"), tmp_path)
        assert (done.returncode, "forfeit:" in done.stdout) == (0, False), done.stderr
        assert server.keys == {f"Bearer {KEY}"}


def test_without_whom_to_ask_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process, which has no such variables."""
    monkeypatch.delenv("MODEL_URL", raising=False)
    with pytest.raises(ValueError, match="nobody to ask: MODEL_URL and MODEL_NAME, or the param"):
        MODEL.bot(Setup(Random(1), 0, STANDARD), model="tiny")
