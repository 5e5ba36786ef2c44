"""A lesson: the costliest kind of mistake, its examples, and the same deals without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from statistics import fmean
from typing import Any

import pytest

from arena.entries.entry import Entry
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import Executor
from arena.replays.finished_game import Game
from arena.runs import costliest_mistake
from arena.runs.costliest_mistake import Seen, _wrap, teach
from arena.runs.run import Interrupted
from arena.tournament.asking import Judged, Recorded
from arena.tournament.tournament import Tournament
from engine import STANDARD
from engine.cards import CHARS
from engine.notation import parse_actions
from tests.kit import HERE, Stops, play_plan
from tests.rogues import rogue

CUP = Tournament("cup", 3, 2, [resolve("uniform"), resolve("greedy")], STANDARD)
LATE, CITY = "took too late", "gave a city"


def decision(actions: str, ply: int, loss: int) -> Judged:
    """Return a decision in which another action would have been better by a loss."""
    action = parse_actions(actions)[ply]
    chances = [0] * 12
    chances[(action + 1) % 12] = loss
    return Judged(ply, action, chances, loss, 0)


@cache
def played() -> list[Seen]:
    """Return games in which uniform gives away 0.2 at its first ply, and greedy 0.1 at its own."""
    seen = []
    for place, result in sorted(play_plan(CUP).items()):
        fixture = CUP.fixture(*place)
        game = Game.of(CUP, fixture, result)
        own = next(ply for ply in (0, 1) if STANDARD.seat_at(ply) == result.seat)
        losses = sorted([(own, 200_000), (1 - own, 100_000)])
        seen.append(Seen(fixture, game, [decision(result.actions, *one) for one in losses]))
    return seen


def ask(_judge: object, games: Sequence[Recorded]) -> list[list[Judged]]:
    """Judge as the first judge did, but for the first game, in which nothing was lost."""
    return [
        [
            decision(game.actions, ply, 150_000 * (game.name != played()[0].fixture.name))
            for ply in plies
        ]
        for game in games
        if (plies := game.plies) is not None
    ]


@pytest.fixture(autouse=True)
def _kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each kind of mistake be one bot's."""

    def name(_deal: str, actions: str, one: Judged) -> str:
        (seen,) = (one for one in played() if one.game.record.actions == actions)
        return LATE if seen.game.seats[STANDARD.seat_at(one.ply)] == "uniform" else CITY

    monkeypatch.setattr(costliest_mistake, "name_choice", name)
    monkeypatch.setattr(
        costliest_mistake, "describe_decision", lambda *at: name(*at) if at[2].loss else ""
    )


def taught(bot: str, cured: Entry | None = None, executor: Executor = HERE) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        if cured:
            patch.setattr(
                costliest_mistake, "_wrap", lambda own, _: replace(cured, label=own.label)
            )
        return teach(bot, CUP, played(), ask, executor, progress=False)


def test_a_lesson_has_the_mistake_its_examples_and_what_its_cure_gains() -> None:
    """The cured bot plays the same deals; what the second judge does not see is no example."""
    found = taught("uniform", resolve("greedy"))
    assert found[:2] == ("uniform", LATE)
    assert (found.loss, found.theirs) == pytest.approx((0.2, 0))
    named = [(one, next(j for j in one.decisions if j.loss == 200_000)) for one in played()[1:]]
    assert len(found.examples) == 3
    for line, (one, judged) in zip(found.examples, named, strict=True):
        better = f"{CHARS[(judged.action + 1) % 12]} is 15.0 better: uniform "
        assert line.startswith(f"  {one.fixture.name} ply {judged.ply}, {better}")
    greedy = replace(resolve("greedy"), label="uniform")
    again = play_plan(replace(CUP, entries=[greedy, CUP.entries[1]])).values()
    assert (found.games, found.why) == (4, "")
    assert found.cured == pytest.approx(fmean(game.score for game in again), abs=1e-4)
    before = [0.5 if one.game.winner is None else one.game.winner == "uniform" for one in played()]
    assert found.score == pytest.approx(fmean(before), abs=1e-4)
    assert found.elo.low <= found.elo.value <= found.elo.high


def test_a_cure_that_fails_or_cannot_be_says_why() -> None:
    found = taught("uniform", rogue("raises_boom", "inproc"))
    assert (found.games, found.elo, found.why) == (0, None, "wrapped, it fails: ValueError: boom")
    with pytest.raises(InputError, match="it is a program, and only a Python bot can be wrapped"):
        _wrap(resolve("cmd:true"), LATE)
    with pytest.raises(Interrupted, match="0 of 4 games are played with the cure, and not kept"):
        taught("uniform", resolve("greedy"), Stops(0))
    cured = _wrap(resolve("g=greedy"), LATE)
    assert (cured.label, cured.lane) == ("g", "inproc")
    assert repr(LATE).encode() in (cured.source or b"")


def test_a_kind_that_costs_the_opponents_as_much_is_no_lesson(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the games in which it happened, and by the losses alone."""
    monkeypatch.setattr(costliest_mistake, "name_choice", lambda *_: LATE)
    assert taught("greedy", resolve("uniform")) is None
    assert taught("uniform", resolve("greedy")).theirs == pytest.approx(0.1)
