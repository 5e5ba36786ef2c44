"""Small games solved exactly, a probe of them, and one object for each module."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from arena.addons.rl.exact import Exact, estimate
from arena.errors import InputError
from bots.greedy import bot as greedy
from bots.responder import bot as responder
from engine import TAKE, Rules, View
from tests import ROOT
from tests.addons.rl.ground_truth import PATH, VARIANTS, cfr, spiel_exploitability, uniform

TRUTH: dict[str, Any] = json.loads(PATH.read_text())

THREE = Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1)
"""Cards 5, 5 and 6: one in the row, one in each hand, a take is one card, one round."""


def first_legal(seen: View) -> dict[int, float]:
    """Play the lowest card, and take when there is none."""
    return {seen.legal[0]: 1.0}


def take_first(seen: View) -> dict[int, float]:
    """Take at once."""
    return {seen.legal[-1]: 1.0}


def test_a_game_of_three_cards_by_hand() -> None:
    """Row a, hands b and c. Seat 1 gets b in any case, and seat 0 a or c.

    If seat 0 takes a, seat 1 must play c, seat 0 must play b on it, and seat 1 takes b. If seat
    0 plays b, seat 1 may take it, which leaves a; or play c, which seat 0 must take. So to take
    at once is optimal and wins as often as it loses. Who plays b is left the lower of a and c:
    of three equally likely deals b = 6 is lost, and the others are drawn. A seat 1 that plays c
    leaves the choice to seat 0, who sees a and b, and of only three cards knows c: b = 6 is lost,
    the other two are won.
    """
    game = Exact(THREE)
    assert game.value == 0
    assert game.result(take_first, take_first) == pytest.approx(0)
    assert game.worst(0, take_first) == pytest.approx(0)
    assert game.worst(0, first_legal) == pytest.approx(-1 / 3)
    assert game.worst(1, first_legal) == pytest.approx(-1 / 3)
    assert game.exploitability(first_legal) == pytest.approx(1 / 3)
    assert game.exploitability(game.optimal()) == 0


@pytest.mark.parametrize("name", VARIANTS)
def test_the_values_are_those_in_the_file(name: str) -> None:
    """And optimal policies lose nothing."""
    game, kept = Exact(VARIANTS[name]), TRUTH[name]
    assert Rules.from_changes(kept["rules"]) == VARIANTS[name]
    assert (game.value, len(game.views())) == (kept["value"], kept["views"])
    assert game.exploitability(game.optimal()) == pytest.approx(0, abs=1e-8)
    for label, policy in {"uniform": uniform, "greedy": estimate(greedy, game.rules, 1)}.items():
        row = kept["policies"][label]
        assert game.exploitability(policy) == row["exploitability"]
        assert [round(game.worst(seat, policy), 9) for seat in (0, 1)] == [
            row["first"],
            row["second"],
        ]


@pytest.mark.slow
def test_openspiel_says_the_same_of_a_policy() -> None:
    """Of the optimal one that it loses nothing, which makes the value the game's."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    for name in ("open", "points"):
        rules = VARIANTS[name]
        game = Exact(rules)
        for policy in (uniform, estimate(greedy, rules, 1), game.optimal()):
            theirs = spiel_exploitability(rules, policy, game.views())
            assert theirs == pytest.approx(game.exploitability(policy), abs=1e-8)


@pytest.mark.slow
def test_openspiels_cfr_comes_to_the_same_value() -> None:
    """As near as the exploitability of its average policy allows."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra openspiel)")
    for name in ("open", "points"):
        solved = cfr(VARIANTS[name], 60)
        assert solved["exploitability"] < 0.002
        assert abs(solved["value"] - TRUTH[name]["value"]) <= 2 * solved["exploitability"] + 1e-9


@pytest.mark.parametrize("name", VARIANTS)
def test_both_agree_on_all_that_is_in_the_file(name: str) -> None:
    """Two solvers that share no code, on policies that only one of them made."""
    kept = TRUTH[name]
    for row in kept["policies"].values():
        assert row["openspiel"] == pytest.approx(row["exploitability"], abs=1e-8)
        assert row["exploitability"] == pytest.approx(-(row["first"] + row["second"]) / 2, abs=1e-8)
        assert row["first"] <= kept["value"] + 1e-8
        assert row["second"] <= -kept["value"] + 1e-8
    far = kept["cfr"]["exploitability"]
    assert far < 0.001
    assert abs(kept["cfr"]["value"] - kept["value"]) <= 2 * far + 1e-9


def test_a_game_that_is_too_large_is_refused() -> None:
    """While it is counted, and not when the memory is full."""
    with pytest.raises(InputError, match="rules: the game has more than 100 sequences"):
        Exact(VARIANTS["open"], most=100)


def test_a_city_wins_in_the_middle_of_a_round() -> None:
    """Who has the only City wins: a row of one is taken at once, and nobody else can win so."""
    rules = Rules((2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), 0, 1, 1, 1, 1, cities_needed=1)
    game = Exact(rules)
    # row C, a third: taken at once. Hand C of seat 0: it is taken by seat 1 when it is played,
    # and seat 0 must play it. Hand C of seat 1: seat 0 takes the row, seat 1 plays C, seat 0
    # plays a 5 on it, which seat 1 must take, one 5 each.
    assert game.value == pytest.approx((1 - 1 + 0) / 3)
    opening = game.optimal()
    assert opening(View.from_text("0 5 C", rules)) == {0: 0.0, TAKE: 1.0}


VICTIMS = ("apprentice", "city_hunter", "denier", "greedy", "majority", "timing")
QUICK = (("rounds", "greedy"), ("rounds", "majority"))
CASES = [
    pytest.param(name, victim, marks=[] if (name, victim) in QUICK else [pytest.mark.study])
    for name in VARIANTS
    for victim in VICTIMS
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "victim"), CASES)
def test_a_probe_takes_nine_tenths_of_what_can_be_taken(name: str, victim: Any) -> None:
    """Of what the best response wins, which is known exactly; and never more than that."""
    rules = VARIANTS[name]
    game = Exact(rules)
    policy = estimate(import_module(f"bots.{victim}").bot, rules, 1)
    response = estimate(partial(responder, victim=victim), rules, 1)
    won = (game.result(response, policy) - game.result(policy, response)) / 2
    most = game.exploitability(policy)
    assert 0.9 * most - 1e-9 <= won <= most + 1e-9


CODE = """
import gymnasium, pkgutil, sys, warnings
from contextlib import suppress
warnings.filterwarnings("error", module="gymnasium")
for name in {names}:
    with suppress(ImportError, AttributeError):  # a file such as `arena.log`
        pkgutil.resolve_name(name)
for name in {ids}:
    gymnasium.make(name)
    gymnasium.make_vec(name, num_envs=2)
objects = {{}}
for name, module in [*sys.modules.items()]:
    if name.partition(".")[0] in ("arena", "bots", "engine"):
        objects.setdefault(module.__file__, {{}})[id(module)] = name
assert len(objects) > 10
print(*[[*names.values()] for names in objects.values() if len(names) > 1], sep="\\n", end="")
"""


def find_twins(names: set[str], ids: set[str]) -> str:
    """Return the names of modules of one file, after a process has used all these names.

    A warning of Gymnasium is an error there, such as that an environment is registered again.
    """
    both = {re.sub(r"^arena(\.addons)?\.rl\b", short, name) for name in names | ids for short in
            ("arena.rl", "arena.addons.rl")}  # fmt: skip
    made = sorted(name for name in both if ":" in name)
    code = CODE.format(names=sorted(both - {*made}), ids=made)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_environment_is_registered_once_by_either_name() -> None:
    """Nor are there two sets of classes, whose pickles and `isinstance` disagree."""
    assert not find_twins({"arena.rl.vector", "arena.rl.env"}, {"arena.rl.env:DistrictNoir-v0"})


@pytest.mark.slow
def test_no_module_is_there_twice_after_all_that_the_pages_name() -> None:
    """Modules, functions and environments of every add-on and of the core, by both names."""
    text = "\n".join(path.read_text() for path in sorted((ROOT / "docs").rglob("*.md")))
    ids = {*re.findall(r"\barena[\w.]+:DistrictNoir-v0", text)}
    names = {*re.findall(r"\barena(?:\.[A-Za-z_]+)+", text)}
    assert ids
    assert {"arena.addons.rl.aec.env", "arena.rl.dataset", "arena.addons.rl.spiel"} <= names
    assert not find_twins(names, ids)
