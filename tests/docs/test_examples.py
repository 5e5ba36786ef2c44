"""The bots in docs/examples/ play; one asks a language model, here a stub; others are trained."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arena.batch.learner import Network
from arena.batch.rollouts import by_seat, pick
from arena.entries.resolve import resolve
from bots import timing
from bots.greedy import bot as greedy
from docs.examples import language_model
from docs.examples.selfplay import ppo
from engine import RULES_TEXT, STANDARD, Action, Rules, Setup, Strategy, Thought, View, play_game
from engine.encoding import ACTIONS, VERSION
from engine.thoughts import checked_thoughts
from tests import ROOT, markdown
from tests.addons.remote.servers import Handler
from tests.conftest import Arena
from tests.kit import csv_rows, run_program

EXAMPLES = ROOT / "docs" / "examples"
NODE = shutil.which("node")
COMPILER = shutil.which("cc") or shutil.which("gcc")
SELFPLAY = EXAMPLES / "selfplay"
NO_NODE = pytest.mark.skipif(NODE is None, reason="greedy.js needs node")
NO_COMPILER = pytest.mark.skipif(COMPILER is None, reason="careful.c needs cc or gcc")
PROGRAMS = [pytest.param("greedy.js", marks=NO_NODE), pytest.param("careful.c", marks=NO_COMPILER)]
PROGRAMS += [pytest.param("plain.py")]


def spec(name: str, folder: Path) -> str:
    """Return the spec of an example; a program in C is built in the folder first."""
    source = str(EXAMPLES / ("careful/careful.c" if name == "careful.c" else name))
    if name == "greedy.js":
        return f"cmd:{shlex.join([str(NODE), source])}"
    if name == "plain.py":
        return f"cmd:{shlex.join([sys.executable, source])}"
    program = str(folder / "careful")
    strict = ("-O2", "-std=c99", "-Wall", "-Wextra", "-Werror")
    done = run_program(COMPILER, *strict, "-o", program, source)
    assert done.returncode == 0, done.stderr
    return f"cmd:{shlex.quote(program)}"


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


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_plays_every_game_and_beats_uniform(arena: Arena, tmp_path: Path, name: str) -> None:
    example = spec(name, tmp_path)
    done = arena("play", example, "uniform", "--pairs", "10", "--out", "out")
    assert done.returncode == 0, done.stderr
    by_bot = {row["bot"]: row for row in csv_rows(tmp_path / "out" / "standings.csv")}
    uniform = by_bot.pop("uniform")
    (own,) = by_bot.values()
    assert own["games"] == uniform["games"] == "20"
    assert own["forfeits"] == uniform["forfeits"] == "0"
    assert int(own["wins"]) > int(own["losses"])


def test_learned_bots_are_those_of_their_page() -> None:
    """Their programs are those that the page prints; no other file is there."""
    page = (ROOT / "docs" / "training.md").read_text()
    linear = dict(markdown.named(page.split("## Self-play")[0], "python"))
    found = {
        folder: {path.name for path in folder.iterdir()} - {"__pycache__"}
        for folder in (EXAMPLES / "linear", SELFPLAY)
    }
    assert found[EXAMPLES / "linear"] == {"bot.py", "learn.py", "weights.npz"}
    for name in ("bot.py", "learn.py"):
        assert (EXAMPLES / "linear" / name).read_text() == linear[name]
    assert dict(markdown.named(page, "python"))["bot.py"] == (SELFPLAY / "bot.py").read_text()
    logs = {"train.log", "league.log", "rounds.log"}
    assert found[SELFPLAY] == logs | {"bot.py", "ppo.py", "train.py", "train_rounds.py"}


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


EXAMPLE = EXAMPLES / "language_model.py"
KEY = "a-secret-key-1234"
TOKENS = 7  # of each answer

Answer = Callable[["Stub", str], str]


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


class _Handler(Handler):
    server: Stub  # type: ignore[assignment]

    def do_POST(self) -> None:  # noqa: N802
        size = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(size))
        self.server.asked.append(asked)
        self.server.paths.append(self.path)
        self.server.keys.add(self.headers["Authorization"])
        text = self.server.answer(self.server, asked["messages"][1]["content"])
        if text.startswith("http"):
            return self.send(b"", 302, Location=text)
        message = {"message": {"role": "assistant", "content": text}}
        answer = {"choices": [message], "usage": {"total_tokens": TOKENS}}
        return self.send(json.dumps(answer).encode())


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
            self.own = language_model.bot(setup, server.url, "tiny")

        def choose(self, view: View, /) -> Action:
            action = self.own.choose(view)
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
    *("", "5", "null", '{"action": "5"}', '{"action": 0, "chance": 0.5}'),
    *('{"action": "T", "chance": 0.5}', '{"action": ["5"], "chance": 0.5}'),
    *('{"action": "5", "chance": "high"}', '{"action": "5", "chance": true}'),
    *('{"action": "5", "chance": NaN}', '{"action": "5", "chance": 50}'),
    '{"action": "5", "chance": 0.5, "why": "it is free"}',
    '```json\n{"action": "5", "chance": 0.5}\n```',
    '{"action": "5", "chance": 0.5} and good luck',
]


def test_only_the_asked_form_is_an_answer() -> None:
    """Neither is an action guessed from other text, nor a number from a word."""
    for text in WRONG:
        why = r"an answer is|legal actions|from 0 to 1|Expecting|Extra"
        with pytest.raises(ValueError, match=why):
            language_model.parse(text, SEEN.legal)
    assert language_model.parse('{"action": "take", "chance": 1}', SEEN.legal) == (11, 1)


def strategy(url: str) -> Strategy:
    """Return a strategy that asks this endpoint."""
    return language_model.bot(Setup(Random(1), 0, STANDARD), url, "tiny", seconds=5.0)


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
        language_model.bot(Setup(Random(1), 0, STANDARD), model="tiny")


@pytest.mark.slow
def test_a_run_in_the_arena(arena: Arena, tmp_path: Path) -> None:
    """Nobody forfeits but for a wrong answer; the key is in no file, and answers are kept."""
    words = (str(EXAMPLE), "greedy", "--lane", "inproc")
    kept = tmp_path / "kept.jsonl"
    names = {"MODEL_NAME": "tiny", "MODEL_KEY": KEY, "MODEL_KEPT": str(kept)}
    played = []
    with stub(sometimes_wrong) as server:
        names["MODEL_URL"] = server.url
        for out in ("one", "two"):  # the second asks again what a kill has cut
            done = arena("play", *words, "--pairs", "1", "--workers", "1", "--out", out, **names)
            assert (done.returncode, "forfeit:" in done.stdout) == (0, False), done.stderr
            played.append((tmp_path / out / "games.csv").read_bytes())
            asked = len(kept.read_text().splitlines())
            assert len(server.asked) == asked + len(played) - 1 > 20
            kept.write_text(kept.read_text()[:-9])
        assert server.keys == {f"Bearer {KEY}"}
    assert played[0] == played[1]
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 5
    assert not [content for content in written if KEY.encode() in content]
    with stub(lambda *_: "I pass.") as server:
        names["MODEL_URL"] = server.url
        done = arena("game", *words, **names)
    assert json.loads(done.stdout)["fault"]["kind"] == "exception"
    assert KEY not in done.stdout + done.stderr


def train(out: Path, *words: str) -> str:
    """Train a small network for a few games; return what was printed."""
    small = ["--together", "32", "--hidden", "16", "8", "--batch", "256", "--pairs", "2"]
    done = run_program(sys.executable, SELFPLAY / "train.py", "--out", out, *small, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_seed_makes_the_same_weights(tmp_path: Path) -> None:
    """And another seed other ones; both fit the encoding."""
    content = []
    for number, seed in enumerate(("1", "1", "2")):
        log = train(tmp_path / f"{number}.npz", "--games", "64", "--seed", seed)
        assert log.splitlines()[-1].split()[:2] == ["64", "games"]
        content.append((tmp_path / f"{number}.npz").read_bytes())
    assert content[0] == content[1] != content[2]
    arrays = np.load(io.BytesIO(content[0]))
    assert int(arrays["version"]) == VERSION
    shapes = [arrays[f"layer{place}"].shape for place in (0, 2, 4)]
    assert shapes == [(379, 16), (16, 8), (8, ACTIONS)]


@pytest.mark.slow
def test_the_bot_plays_alike_in_every_lane(arena: Arena, tmp_path: Path) -> None:
    """The whole way in small: train, play."""
    (tmp_path / "learner").mkdir()
    train(tmp_path / "learner" / "weights.npz", "--games", "32")
    (tmp_path / "learner" / "bot.py").write_text((SELFPLAY / "bot.py").read_text())
    games = set()
    for lane in ("inproc", "process", "jail"):
        options = ["--pairs", "2", "--lane", lane, "--fresh", "--out", "out"]
        done = arena("play", "./learner/", "greedy", *options)
        assert done.returncode == 0, done.stderr
        games.add((tmp_path / "out" / "games.csv").read_bytes())
        assert csv_rows(tmp_path / "out" / "faults.csv") == []
    assert len(games) == 1


FIRST = SimpleNamespace(
    begin=lambda *_: None,
    follow=lambda *_: None,
    choose=lambda games: pick(games, lambda some: np.tile(-np.arange(12.0), (some.count, 1))),
)
"""A rival that plays its first legal action."""


def networks(seed: int) -> tuple[Network, Network, np.random.Generator]:
    """Return small ones that have learned nothing."""
    rng = np.random.default_rng(seed)
    actor = Network.random([ppo.FEATURES, 8, ACTIONS], rng, last=0.01)
    return actor, Network.random([ppo.SEEN, 8, 1], rng), rng


def test_an_action_is_as_good_as_what_follows_it_says() -> None:
    """Worked out by hand, for two games of which one is shorter."""
    played = by_seat(
        [[0, 0], [1, 1], [0, -1]],
        [[0, 0], [0, 1], [-1, 0]],
        [[False, False], [False, True], [True, False]],
    )
    values = np.array([[0.5, 0.5], [0.25, 0.25], [-0.5, 9.0]], np.float32)
    found = ppo.advantages(values, played)
    last = -1 - -0.5
    middle = 0.5 - 0.25 - 0.95 * last
    first = -0.25 - 0.5 - 0.95 * middle
    assert found[:, 0] == pytest.approx([first, middle, last])
    assert found[:2, 1] == pytest.approx([-0.25 - 0.5 - 0.95 * 0.75, 0.75])


def test_decisions_are_those_of_whole_games_and_of_the_network_only() -> None:
    """Legal, of both seats, with their chances; against a rival in each seat in turn."""
    actor, _, rng = networks(1)
    decisions = ppo.play(actor, 16, rng)
    live = decisions.played.seats >= 0
    assert live[:12].sum() == 12 * 16
    assert len(live) <= STANDARD.game_plies
    steps, games = np.nonzero(live)
    assert decisions.masks[steps, games, decisions.actions[live]].all()
    assert {*decisions.played.seats[live].tolist()} == {0, 1}
    assert ((decisions.chances > 0) & (decisions.chances <= 1)).all()
    for game in range(16):
        last = np.flatnonzero(decisions.played.last[:, game])[-1]
        assert not live[last + 1 :, game].any()
    actor, _, rng = networks(1)
    decisions = ppo.play(actor, 16, rng, FIRST)
    played = decisions.played
    assert played.seats.shape == (STANDARD.game_plies // 2, 16)
    assert (played.seats[0] == [0] * 8 + [1] * 8).all()
    same = played.seats == np.tile(played.seats[0], (24, 1))
    assert same[played.seats >= 0].all()
    assert {*played.returns[0].tolist()} <= {-1.0, 0.0, 1.0}
    assert (played.last.sum(axis=0) == 1).all()


@pytest.mark.slow
def test_a_network_learns_to_beat_a_rival() -> None:
    """That plays its first legal action: it wins more than it did."""
    actor, critic, rng = networks(3)
    shares = []
    options = ppo.Options(rate=1e-2, batch=512)
    for lesson in range(12):
        decisions = ppo.play(actor, 128, rng, FIRST)
        shares.append(decisions.played.returns[0].mean() / 2 + 0.5)
        ppo.learn(actor, critic, decisions, rng, options, lesson / 12)
    assert np.mean(shares[-3:]) > np.mean(shares[:3]) + 0.15
