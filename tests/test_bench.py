"""Benchmarks measure the same game as the engine; mutants are tried by the nearest tests."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from math import comb
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import gymnasium
import pytest

from arena.addons.rl.vector import DistrictNoirVectorEnv
from bench import bare, peers
from bench.__main__ import _apart
from bench.gym import VECTORS, stepping
from bench.last_round import Ending, endings
from bench.mutants.__main__ import Traced, choose, copy_repository, report
from bench.mutants.changes import Mutant, draw, find_mutants
from bench.saving import make, sections
from engine import STANDARD, State, pack_of, play_game, size
from engine.cards import cards_of
from engine.play import playout
from engine.scoring import outcome
from engine.state import random_deal
from engine.view import view
from engine.worlds import choices
from tests import ROOT


@pytest.mark.slow
def test_the_bare_loop_scores_and_ends_its_games_as_the_engine_does() -> None:
    """Points of 3,000 pairs of piles are equal; win types and winners are as frequent."""
    rng = Random(2)
    for _ in range(3000):
        state = State(random_deal(rng))
        playout(state, rng)
        expected = outcome(state.piles)
        if expected.win_type != "city":
            piles = [list(cards_of(pile)) for pile in state.piles]
            assert bare.score(*piles) == expected
    games, rng = 6000, Random(3)
    ours, theirs = Counter[object](), Counter[object]()
    for _ in range(games):
        state = State(random_deal(rng))
        playout(state, rng)
        for tally, result in ((ours, outcome(state.piles)), (theirs, bare.play(rng))):
            tally[result.win_type] += 1
            tally[result.winner] += 1
    for what in ("city", "points", 0, 1):
        error = (2 * ours[what] * (games - ours[what]) / games) ** 0.5
        assert theirs[what] == pytest.approx(ours[what], abs=4 * error)


@pytest.mark.parametrize("options", [options for _, options, _ in VECTORS], ids=str)
def test_the_vectors_of_the_benchmark_are_what_make_vec_returns(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are made by Gymnasium, and some of their games end at any time."""
    made: list[Any] = []
    make_vec = gymnasium.make_vec

    def kept(*args: Any, **named: Any) -> Any:
        made.append(make_vec(*args, **named))
        return made[-1]

    monkeypatch.setattr(gymnasium, "make_vec", kept)
    step = stepping(480, options)
    assert [(type(games), games.num_envs) for games in made] == [(DistrictNoirVectorEnv, 480)]
    ends = [int(step().sum()) for _ in range(48)]
    assert min(ends) > 0
    assert max(ends) < 60
    assert sum(ends) > 400


def test_a_table_that_fails_leaves_the_others_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line says which; a table whose process fails is named once."""

    def lines(title: str, *more: str) -> Callable[[], Iterator[str]]:
        return lambda: (line for line in (f"\n## {title}\n", *more))

    def broken() -> Iterator[str]:
        yield "\n## B\n"
        raise ZeroDivisionError

    path = tmp_path / "RESULTS.md"
    monkeypatch.setattr("sys.argv", ["bench", "--save"])
    parts = {name: (name.upper(), lines(name.upper(), "old")) for name in "abcd"}
    make(path, "# Head", parts, parts)
    parts |= {"a": ("A", lines("A", "new")), "b": ("B", broken), "c": ("C", lines("C", "new"))}
    with pytest.raises(SystemExit, match=r"error: failed: b$"):
        make(path, "# Head", parts, ["a", "b", "c"])
    assert "ZeroDivisionError" in capsys.readouterr().err
    found = sections(path.read_text(encoding="utf-8"))
    assert {title: text.split()[-1] for title, text in found.items()} == {
        "A": "new",
        "B": "old",
        "C": "new",
        "D": "old",
    }
    monkeypatch.setattr("sys.argv", ["bench", "engine", "gym"])
    monkeypatch.setattr("sys.executable", "false")
    parts = {"gym": ("Gym", lambda: _apart("gym"))}
    with pytest.raises(SystemExit, match=r"error: failed: gym$"):
        make(tmp_path / "apart.md", "# Head", parts, parts)
    assert capsys.readouterr() == ("\n", "")
    assert not (tmp_path / "apart.md").exists()


@pytest.mark.parametrize("protocol", [peers._ours, peers._open_spiel])
def test_the_bots_of_a_framework_are_asked_for_every_decision(
    protocol: Callable[[peers.Wrap], Callable[[], object]],
) -> None:
    """A game that is watched has all choices that are not made by chance, each within its time."""
    assert_asked(protocol)


def assert_asked(protocol: Callable[[peers.Wrap], Callable[[], object]]) -> None:
    """Check that two games are watched, and their bots' time counted."""
    watch = peers.Watch()
    play = protocol(watch.timed)
    play()
    first = watch.choices
    play()
    assert 5 < first < watch.choices
    assert watch.seconds > 0


def test_the_decisions_of_our_games_are_those_of_their_records() -> None:
    """Two bots are watched together."""
    from bots.uniform import bot

    watch = peers.Watch()
    play = peers._ours(watch.timed)
    for _ in range(20):
        play()
    games = [play_game(bot, bot, seed=seed) for seed in range(20)]
    assert watch.choices / 20 == fmean(len(game.record.actions) for game in games)


def test_endings_are_worth_the_same_to_every_hand_together_as_the_game() -> None:
    """The best first actions of all hands, weighed by their deals, make the value of the ending."""
    for state in islice(endings(1, 4), 2):
        ending, seat = Ending(state), state.to_act
        hidden = STANDARD.pack - sum(state.piles) - pack_of(state.row)
        total = 0.0
        for hand, ways in choices(hidden, size(state.hands[seat])):
            state.hands[seat] = hand
            total += ways * (2 * max(ending.worths(view(state, seat)).values()) - 1)
        whole = comb(size(hidden), size(state.hands[seat]))
        others = comb(size(hidden) - size(state.hands[seat]), size(state.hands[1 - seat]))
        value = ending.value / others
        assert total / whole == pytest.approx((value if seat == 0 else -value) / whole, abs=1e-6)


@pytest.mark.slow
def test_the_copy_holds_every_source_and_every_test(tmp_path: Path) -> None:
    """Also those in folders that are named like one at the top."""
    copy = copy_repository(tmp_path)
    for room in ("engine", "bots", "arena", "tests"):
        for path in (ROOT / room).rglob("*.py"):
            assert (copy / path.relative_to(ROOT)).exists(), path
    assert not (copy / "results").exists()


SOURCE = b"""A = 1
class B:
    def f(self, x: int = 2) -> int | None:
        if x <= 3 and not self.g(f"{x + 1}"):
            raise ValueError(4)
        return [y for y in (x,) if y is not None][0]
"""


def test_a_module_has_the_changes_of_its_source() -> None:
    """Neither types nor messages; each names its function, and leaves a module."""
    found = find_mutants("arena/x.py", SOURCE)
    assert [one.describe(SOURCE).partition(": ")[2] for one in found] == [
        "1 -> 2",
        "2 -> 3",
        'x <= 3 and not self.g(f"{x + 1}") -> not (x <= 3 and not self.g(f"{x + 1}"))',
        "and -> or",
        "<= -> <",
        "3 -> 4",
        "return [y for y in (x,) if y is not None][0] -> return None",
        "is not -> is",
        "0 -> 1",
    ]
    assert [one.function for one in found] == ["", *["B.f"] * 8]
    for one in found:
        ast.parse(one.change(SOURCE))


def test_a_sample_has_as_many_of_each_room_and_goes_on(tmp_path: Path) -> None:
    """Each of another line; those of a smaller sample come first, and a seed draws its own."""
    for module in ("engine/a.py", "arena/b.py", "arena/rl/c.py", "arena/addons/rl/d.py"):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_bytes(SOURCE)
    drawn = draw(tmp_path, 8, 1)
    rooms = ["engine", "arena", "arena/rl", "arena/addons/rl"]
    assert {*rooms} == {one.room for one in drawn[:4]} == {one.room for one in drawn[4:]}
    assert len({(one.module, one.line) for one in drawn}) == 8
    assert draw(tmp_path, 5, 1) == drawn[:5] != draw(tmp_path, 5, 2)
    assert {one.room for one in draw(tmp_path, 8, 1, "arena/rl")} == {"arena/rl"}


def test_a_mutant_is_tried_by_the_nearest_and_quickest_tests() -> None:
    """Those that call its function, then of its module and its room, as long as there is time."""
    mutant = Mutant("arena/store/x.py", "B.f", 4, 0, 0, "")
    calling, other = frozenset({"arena/store/x.py:B.f"}), frozenset({"arena/store/x.py:B.g"})
    tests = [
        Traced("tests/cli/test_a.py::test_elsewhere", 0.1, frozenset()),
        Traced("tests/store/test_a.py::test_of_the_room", 0.1, frozenset()),
        Traced("tests/cli/test_a.py::test_of_the_module", 0.1, other),
        Traced("tests/cli/test_a.py::test_far", 0.1, calling),
        Traced("tests/store/test_a.py::test_slower", 2.0, calling),
        Traced("tests/store/test_a.py::test_near", 1.0, calling),
    ]
    names = [test.name for test in tests]
    assert [*choose(tests, mutant, 9)] == names[:0:-1]
    assert [*choose(tests, mutant, 3.15)] == names[:2:-1]


def test_the_score_is_by_room() -> None:
    """Below the survivors, each with its place and its change."""
    rules = Mutant("engine/rules.py", "", 1, 0, 3, "pass")
    mutants = [rules, rules, rules, Mutant("arena/store/store.py", "", 1, 0, 3, "pass")]
    lines = [*report(mutants, [True, True, False, True])]
    assert lines[1] == 'engine/rules.py:1: """ -> pass'
    assert lines[-3:] == ["| arena/store | 1 | 1 |", "| engine | 2 | 3 |", "| all | 3 | 4 |"]
