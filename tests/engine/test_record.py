"""Game records: JSON lines in and out, and their replay."""

from __future__ import annotations

import json

import pytest

from engine import STANDARD, Record, Rules
from engine.errors import (
    AfterEnd,
    DealError,
    IllegalAction,
    NotationError,
    RecordError,
    RulesError,
)
from engine.notation import parse_deal
from tests.positions import at, dealt, quiet_game

DEAL = dealt("55667", "78822", "88", removed="CCC")


def test_a_record_is_one_json_object_on_one_line() -> None:
    """Deal and actions, and nothing else under the published rules."""
    text = Record(DEAL, "57T").to_json()
    assert json.loads(text) == {"deal": DEAL, "actions": "57T"}
    assert "\n" not in text


def test_a_record_carries_the_rules_that_differ() -> None:
    """Only the changed numbers are written, and they come back."""
    record = Record(DEAL, "", Rules(set_bonus=3, tiebreak="supports"))
    text = record.to_json()
    assert json.loads(text)["rules"] == {"set_bonus": 3, "tiebreak": "supports"}
    assert Record.from_json(text) == record


def test_a_number_of_zero_is_carried_too() -> None:
    """A set bonus of 0 is a change, and so is an opening row of 0."""
    rules = Rules(set_bonus=0, opening_row=0, removed=5)
    again = Record.from_json(Record(DEAL, "", rules).to_json())
    assert again.rules.set_bonus == 0
    assert again.rules.opening_row == 0


def test_further_keys_are_written_last_and_ignored_when_read() -> None:
    """The arena adds ids, bots and a result."""
    text = Record(DEAL, "5").to_json(id=0, bots=["a", "b"])
    assert list(json.loads(text)) == ["deal", "actions", "id", "bots"]
    assert Record.from_json(text) == Record(DEAL, "5")


def test_a_record_is_read_from_bytes_as_from_text() -> None:
    """A line of a file opened in binary needs no decoding."""
    record = Record(DEAL, "57T")
    assert Record.from_json(record.to_json().encode()) == record


def test_a_record_of_a_game_keeps_the_deal_as_it_was_dealt() -> None:
    """Also the order in a hand, which the position does not keep."""
    deal = "76655" + DEAL[5:]
    state = at(deal, "57T")
    record = Record.of(parse_deal(deal), state)
    assert record == Record(deal, "57T", STANDARD)
    assert record.replay() == state


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        pytest.param("[" * 100_000, "not JSON", id="100,000 brackets"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
        ('"deal"', "JSON object"),
        ("{}", "'deal'"),
        ('{"deal": "5"}', "'actions'"),
        ('{"deal": 5, "actions": ""}', "'deal'"),
        ('{"deal": "5", "actions": null}', "'actions'"),
        ('{"deal": "5", "actions": ["5"]}', "'actions'"),
    ],
)
def test_a_text_that_is_no_record_is_refused_with_the_reason(text: str | bytes, words: str) -> None:
    """The message names the wrong key, or says that the text is not a JSON object."""
    with pytest.raises(RecordError, match=words):
        Record.from_json(text)


@pytest.mark.parametrize("rules", ['{"set_bonsu": 3}', "[]", "null", "0", '{"removed": 4}'])
def test_a_record_with_impossible_rules_is_refused(rules: str) -> None:
    """Unknown names, values that are not a mapping, and numbers that do not add up."""
    with pytest.raises(RulesError):
        Record.from_json(f'{{"deal": "", "actions": "", "rules": {rules}}}')


def test_a_replay_distinguishes_the_kinds_of_errors() -> None:
    """A bad character, wrong cards, an illegal action, and one after the end."""
    with pytest.raises(NotationError):
        Record(DEAL, "?").replay()
    with pytest.raises(NotationError):
        Record("?" + DEAL[1:], "").replay()
    with pytest.raises(DealError):
        Record(DEAL[1:], "").replay()
    with pytest.raises(IllegalAction) as caught:
        Record(DEAL, "57z").replay()
    assert caught.value.ply == 2
    with pytest.raises(AfterEnd) as after:
        Record(DEAL, quiet_game(DEAL) + "5").replay()
    assert after.value.ply == 48


def test_a_records_repr_evaluates_to_the_record() -> None:
    """With the published rules and with others."""
    for rules in (STANDARD, Rules(take_size=4, tiebreak="supports")):
        record = Record("56", "5T", rules)
        assert eval(repr(record)) == record
