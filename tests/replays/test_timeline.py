"""Timelines agree with the engine at every ply, and a seat's has only what it saw."""

from __future__ import annotations

import json
from random import Random

import pytest

from arena.replays.timeline import make_frames, make_timeline
from arena.tournament.asking import ILLEGAL, Judged
from engine import STANDARD, Record, Rules, Seat, State, outcome, pack_text, points, size, to_text
from engine.notation import parse_actions, parse_deal
from engine.thoughts import Thought
from engine.view import view
from tests.replays.games import random_record, twins
from tests.tables.games import random_rules

PLAYERS = ("ann", "bob")
GAMES = [random_record(Random(number)) for number in range(3)]
VARIANTS = [random_record(Random(number), random_rules(Random(number))) for number in range(12)]


def states_of(record: Record) -> list[State]:
    state = State(parse_deal(record.deal, record.rules), record.rules)
    states = [state.copy()]
    for action in parse_actions(record.actions):
        state.apply(action)
        states.append(state.copy())
    return states


@pytest.mark.parametrize("record", [*GAMES, *VARIANTS])
def test_the_referee_sees_every_position(record: Record) -> None:
    timeline, states = make_timeline(record, players=PLAYERS), states_of(record)
    for ply, (frame, state) in enumerate(zip(timeline["frames"], states, strict=True)):
        wanted = {
            **{"ply": ply, "round": state.round, "taken": [*state.taken]},
            **{"turn": None if state.over else state.to_act, "row": to_text(state.row)},
            **{name: [*map(pack_text, getattr(state, name))] for name in ("hands", "piles")},
            **{"counts": [*map(size, state.hands)], "legal": to_text(bytes(state.legal()))},
        }
        assert {name: frame[name] for name in wanted} == wanted
        score = points(state.piles, state.rules)
        assert [part["total"] for part in frame["points"]] == [*score]
    assert timeline["removed"] == to_text(bytes(sorted(states[-1].removed)))
    assert timeline["winner"] == outcome(states[-1].piles, record.rules).winner


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("record", [*GAMES, *VARIANTS])
def test_a_seat_has_its_own_hand_and_no_other(record: Record, seat: Seat) -> None:
    timeline = make_timeline(record, players=PLAYERS, seat=seat)
    assert timeline["removed"] is None
    looks = [(view(one, seat),) for one in states_of(record)]
    assert timeline["frames"] == make_frames(looks)
    for frame, state in zip(timeline["frames"], states_of(record), strict=True):
        assert frame["hands"][1 - seat] is None
        assert frame["copies"]["hands"][1 - seat] is None
        assert frame["hands"][seat] == pack_text(state.hands[seat])
        assert frame["counts"] == [size(hand) for hand in state.hands]
        assert frame["legal"] == ("" if state.over or state.to_act != seat else frame["legal"])


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_games_that_a_seat_cannot_tell_apart_have_the_same_timeline(seat: Seat) -> None:
    """Whatever the other seat holds; the referee and the other seat see the difference."""
    for record, other in twins(seat):
        assert record.deal != other.deal
        both = [make_timeline(one, players=PLAYERS, seat=seat) for one in (record, other)]
        assert json.dumps(both[0]) == json.dumps(both[1])
        for looker in (None, 1 - seat):
            seen, twin = (
                make_timeline(one, players=PLAYERS, seat=looker) for one in (record, other)
            )
            assert seen != twin


def test_thoughts_stand_where_the_seat_acts() -> None:
    record = Record(GAMES[0].deal, GAMES[0].actions[:3])
    thoughts = {
        ply: (Thought("5678234xyzCT".index(char), 0.5, 7), Thought(11, 0.25))
        for ply, char in enumerate(record.actions)
    }
    beliefs = [[0.5, 0.25, None, 1.0], [0.125, None, 0.123456, 0.0]]
    chances = [0.5, None, 0.123456, 0.0]
    more = {"thoughts": thoughts, "beliefs": beliefs, "chances": chances}
    frames = make_timeline(record, players=PLAYERS, **more)["frames"]
    assert [frame["chance"] for frame in frames] == [0.5, None, 0.1235, 0.0]
    assert frames[2]["beliefs"] == [None, 0.1235]
    assert frames[0]["thoughts"] == [
        {"action": record.actions[0], "value": 0.5, "visits": 7, "chosen": True},
        {"action": "T", "value": 0.25, "chosen": record.actions[0] == "T"},
    ]
    assert frames[3]["thoughts"] is None
    own = make_timeline(record, players=PLAYERS, seat=1, **more)["frames"]
    assert [bool(frame["thoughts"]) for frame in own] == [False, True, False, False]
    assert not any("beliefs" in frame for frame in own)


def test_judged_decisions_stand_where_the_seat_acts() -> None:
    record = Record(GAMES[0].deal, GAMES[0].actions[:3])
    chances = [ILLEGAL] * 10 + [410_000, 523_456]
    judged = [
        Judged(0, 10, chances, 113_456, 50_000, first=200_000),
        Judged(1, 11, chances, -40_000, 30_000, first=120_000),
    ]
    more = {"judged": judged, "judge": "apprentice, 8 worlds"}
    timeline = make_timeline(record, players=PLAYERS, **more)
    frames = timeline["frames"]
    assert timeline["judge"] == "apprentice, 8 worlds"
    assert frames[0]["judged"] == {
        "action": "C",
        "best": "T",
        "loss": 0.1135,
        "error": 0.05,
        "blunder": True,
        "mistake": "left two cities in reach",
        "chances": {"C": 0.41, "T": 0.5235},
    }
    assert (frames[1]["judged"]["loss"], frames[1]["judged"]["blunder"]) == (-0.04, False)
    assert frames[1]["judged"]["mistake"] == "the judges disagree"
    alone = [judged[0]._replace(first=None)]  # one judge only
    (frame, *_) = make_timeline(record, players=PLAYERS, judged=alone)["frames"]
    assert (frame["judged"]["blunder"], frame["judged"]["mistake"]) == (False, "")
    assert [bool(frame["judged"]) for frame in frames] == [True, True, False, False]
    assert Record.from_json(timeline["record"]) == record
    own = make_timeline(record, players=PLAYERS, seat=1, **more)
    assert [bool(frame["judged"]) for frame in own["frames"]] == [False, True, False, False]
    assert own["record"] is None
    assert make_timeline(record, players=PLAYERS)["judge"] == ""


def test_a_chance_has_a_range_where_its_error_is_known() -> None:
    record = Record(GAMES[0].deal, GAMES[0].actions[:2])
    more = {
        "chances": [0.5, None, 0.05],
        "beliefs": [[0.5, None, 0.0], [0.5, 0.75, 0.1]],
        "off": lambda ply, _: 0.1 * (ply + 1),
    }
    frames = make_timeline(record, players=PLAYERS, **more)["frames"]
    assert [frame["range"] for frame in frames] == [[0.4, 0.6], None, [0.0, 0.35]]
    assert frames[1]["belief_ranges"] == [None, [0.55, 0.95]]
    own = make_timeline(record, players=PLAYERS, seat=0, **more)["frames"]
    assert [frame["range"] for frame in own] == [[0.4, 0.6], None, [0.0, 0.35]]
    assert not any("belief_ranges" in frame for frame in own)


@pytest.mark.parametrize(("seat", "shown"), [(None, "a hand of 5 5 5"), (0, "")])
def test_evidence_is_for_the_referee(seat: Seat | None, shown: str) -> None:
    """A bot's traceback may say what it held."""
    made = make_timeline(GAMES[0], players=PLAYERS, seat=seat, evidence="a hand of 5 5 5")
    assert made["evidence"] == shown


def test_the_page_gets_the_numbers_of_the_rules() -> None:
    rules = Rules(take_size=4, cities_needed=2)
    record = random_record(Random(1), rules)
    shown = make_timeline(record, players=PLAYERS)["rules"]
    assert shown["changes"] == {"take_size": 4, "cities_needed": 2}
    assert (shown["take_size"], shown["round_plies"]) == (4, 12)
    assert make_timeline(GAMES[0], players=PLAYERS)["rules"]["copies"] == STANDARD.copies
