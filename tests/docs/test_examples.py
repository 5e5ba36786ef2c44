"""The bots in docs/examples/ stay short, and play; one asks a language model, here a stub."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from arena.entries.resolve import resolve
from bots import timing
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
from tests.kit import csv_rows
from tests.waiting import PATIENCE

EXAMPLES = ROOT / "docs" / "examples"
NODE = shutil.which("node")
COMPILER = shutil.which("cc") or shutil.which("gcc")
PROGRAMS = ("bot.py", "learn.py")
NAMES = ("greedy.js", "language_model.py", "plain.py", "rollouts.py")
BUILT = ("careful/careful.c", "steady/Steady.java", "thrifty/thrifty.rs")
MASKABLE = ("maskable_ppo.py", "maskable_bot.py")
NO_NODE = pytest.mark.skipif(NODE is None, reason="greedy.js needs node")
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="careful.c needs cc or gcc")


def runnable(*slow: str) -> pytest.MarkDecorator:
    """Return the mark of a test of each example, of which some are slow."""
    needs = {"greedy.js": [NO_NODE], "careful.c": [NO_COMPILER], "plain.py": []}
    params = [
        pytest.param(name, marks=[*marks, *[pytest.mark.slow] * (name in slow)])
        for name, marks in needs.items()
    ]
    return pytest.mark.parametrize("name", params)


def spec(name: str, folder: Path) -> str:
    """Return the spec of an example; a program in C is built in the folder first."""
    source = str(EXAMPLES / ("careful/careful.c" if name == "careful.c" else name))
    if name == "greedy.js":
        return f"cmd:{shlex.join([str(NODE), source])}"
    if name == "plain.py":
        return f"cmd:{shlex.join([sys.executable, source])}"
    program = str(folder / "careful")
    done = subprocess.run(
        [str(COMPILER), "-O2", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", program, source],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return f"cmd:{shlex.quote(program)}"


def test_each_is_one_short_file() -> None:
    """The author of a bot can read one in a few minutes; a language model takes a few more."""
    files = [path for path in EXAMPLES.iterdir() if path.is_file()]
    sources = {path.name: path.read_text().splitlines() for path in files}
    assert set(sources) == {*NAMES, *MASKABLE}
    sources |= {name: (EXAMPLES / name).read_text().splitlines() for name in BUILT}
    for name, lines in sources.items():
        assert len(lines) < (120 if name == "language_model.py" else 100), name
        assert max(map(len, lines)) <= 100, name


@pytest.mark.slow
def test_a_network_of_maskable_ppo_comes_back_as_a_bot(arena: Arena, tmp_path: Path) -> None:
    """With weights as sb3-contrib gives them; other rules it plays as timing."""
    rng = np.random.default_rng(1)
    shapes = {
        "mlp_extractor.policy_net.0": (128, 354),
        "mlp_extractor.policy_net.2": (128, 128),
        "action_net": (12, 128),
    }
    weights = {f"{name}.weight": rng.normal(size=shape) for name, shape in shapes.items()}
    weights |= {f"{name}.bias": rng.normal(size=shape[0]) for name, shape in shapes.items()}
    (tmp_path / "learner").mkdir()
    np.savez(tmp_path / "learner" / "maskable_ppo.npz", **weights)
    shutil.copy(EXAMPLES / "maskable_bot.py", tmp_path / "learner" / "bot.py")
    done = arena("play", "./learner/", "uniform", "--pairs", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    games = csv_rows(tmp_path / "out" / "games.csv")
    assert len(games) == 4
    assert "forfeit" not in {game["win_type"] for game in games}
    learner, rules = resolve(str(tmp_path / "learner")).create, Rules(take_size=4)
    game = play_game(learner, learner, seed=1, rules=rules)
    assert game == play_game(timing.bot, timing.bot, seed=1, rules=rules)


@runnable("greedy.js", "careful.c", "plain.py")
def test_it_plays_every_game_and_beats_uniform(arena: Arena, tmp_path: Path, name: str) -> None:
    """Of twenty games it forfeits none, and wins more than it loses."""
    example = spec(name, tmp_path)
    done = arena("play", example, "uniform", "--pairs", "10", "--out", "out")
    assert done.returncode == 0, done.stderr
    by_bot = {row["bot"]: row for row in csv_rows(tmp_path / "out" / "standings.csv")}
    uniform = by_bot.pop("uniform")
    (own,) = by_bot.values()
    assert own["games"] == uniform["games"] == "20"
    assert own["forfeits"] == uniform["forfeits"] == "0"
    assert int(own["wins"]) > int(own["losses"])
    games = csv_rows(tmp_path / "out" / "games.csv")
    assert len(games) == 20
    assert "forfeit" not in {game["win_type"] for game in games}


LINEAR = EXAMPLES / "linear"


def test_the_learned_bot_is_that_of_its_page() -> None:
    """Its two programs are those that the page prints, and its weights are those they make."""
    page = (ROOT / "docs" / "training.md").read_text().split("## Self-play")[0]
    printed = dict(markdown.named(page, "python"))
    assert {path.name for path in LINEAR.iterdir()} - {"__pycache__"} == {*PROGRAMS, "weights.npz"}
    for name in PROGRAMS:
        assert (LINEAR / name).read_text() == printed[name]


@pytest.mark.slow
def test_the_bot_of_rollouts_is_on_its_page_and_beats_a_rule() -> None:
    """It chooses without knowing the hand that the opponent holds."""
    text = (EXAMPLES / "rollouts.py").read_text()
    blocks = dict(markdown.named((ROOT / "docs" / "rollouts.md").read_text(), "python"))
    assert blocks["rollouts.py"] == text
    assert len(text.splitlines()) <= 40
    made = resolve(str(EXAMPLES / "rollouts.py"), params={"worlds": 8}).create
    won = [
        play_game(*seats, seed=seed).winner == seats.index(made)
        for seed in range(4)
        for seats in ((made, timing.bot), (timing.bot, made))
    ]
    assert sum(won) > 4


@pytest.mark.study
def test_the_score_of_rollouts_is_that_of_its_page(arena: Arena, tmp_path: Path) -> None:
    """With its interval, from the pairs that the page plays."""
    page = (ROOT / "docs" / "rollouts.md").read_text()
    words = "--pairs", "25", "--seed", "1", "--out", "out"
    assert f"arena play ./rollouts.py apprentice {' '.join(words[:4])}\n" in page
    assert arena("play", str(EXAMPLES / "rollouts.py"), "apprentice", *words).returncode == 0
    (row,) = (r for r in csv_rows(tmp_path / "out" / "head_to_head.csv") if r["bot"] == "rollouts")
    score, low, high = (100 * float(row[name]) for name in ("score", "score_low", "score_high"))
    assert f"{score:.0f} % ({low:.0f}..{high:.0f}) against `apprentice`" in page


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


def test_what_is_no_answer_is_an_exception_and_no_redirect_is_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No action is played in the place of the model's, and the key leads to no other host."""
    with stub(lambda *_: '{"action": "fold", "chance": 1}') as server:
        with pytest.raises(ValueError, match="the legal actions are 5, 6, 7, 8, City, take"):
            strategy(server.url).choose(SEEN)
        assert len(server.asked) == 2
    with pytest.raises(OSError, match="refused"):
        strategy(server.url).choose(SEEN)  # nobody listens there any more
    monkeypatch.setenv("MODEL_KEY", KEY)
    with (
        stub(lambda _, position: first_legal(position)) as other,
        stub(lambda *_: f"{other.url}/chat/completions") as server,
    ):
        with pytest.raises(OSError, match="302"):
            strategy(server.url).choose(SEEN)
        assert (len(server.asked), other.asked) == (2, [])
    monkeypatch.delenv("MODEL_URL", raising=False)
    with pytest.raises(ValueError, match="nobody to ask: MODEL_URL and MODEL_NAME, or the param"):
        MODEL.bot(Setup(Random(1), 0, STANDARD), model="tiny")


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
