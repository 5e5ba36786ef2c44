"""Kinds, packs, records and positions as text and as numbers, and what is wrong with one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any, TypeVar

import pytest

import engine
from engine import (
    CITY,
    EIGHT,
    FIVE,
    KINDS,
    SEVEN,
    SIX,
    STANDARD,
    SUPPORTS,
    TAKE,
    Pack,
    Record,
    Rules,
    Seat,
    State,
    View,
    count,
    counts,
    points,
    sample,
)
from engine.cards import BITS, CHARS, MOST_COPIES, UNIT, cards_of, pack_of, pack_text, size, to_text
from engine.encoding import ACTIONS, CITIES, NEWEST, WORTHS, Encoder, encoder_of, mask, worths
from engine.errors import (
    AfterEnd,
    DealError,
    EngineError,
    IllegalAction,
    NotationError,
    RecordError,
    RulesError,
)
from engine.notation import check_deal, parse_actions, parse_cards, parse_deal
from engine.rules import first_seat
from engine.state import random_deal
from engine.view import view
from engine.words import MOST, NAMES, describe, rules_text
from tests.positions import DECK, RULE_SETS, at, dealt, quiet_game, random_game, walk
from tests.tiers import few


def test_kinds_and_actions_are_the_integers_in_the_order_of_the_notation() -> None:
    """`5 6 7 8 2 3 4 x y z C` are 0 to 10, and `T` is 11; each has one character."""
    assert list(KINDS) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (FIVE, SIX, SEVEN, EIGHT, CITY, TAKE) == (0, 1, 2, 3, 10, 11)
    assert SUPPORTS == (0, 1, 2, 3)
    assert CHARS == "5678234xyzCT"
    assert to_text(bytes(range(12))) == CHARS
    assert len(set(CHARS)) == 12
    assert to_text(b"") == ""


def test_a_pack_holds_its_cards_in_kind_order() -> None:
    """Also no cards, or one of kind 0; a row keeps the order of its own."""
    assert pack_of([FIVE]) != pack_of([])
    assert size(pack_of([FIVE])) == 1
    assert count(pack_of([FIVE]), FIVE) == 1
    assert count(pack_of([FIVE]), SIX) == 0
    assert pack_text(pack_of([FIVE])) == "5"
    assert cards_of(pack_of([FIVE])) == b"\x00"
    assert pack_of([]) == 0
    assert size(0) == 0
    assert counts(0) == (0,) * 11
    assert cards_of(0) == b""
    assert pack_text(0) == ""
    cards = [CITY, EIGHT, FIVE, EIGHT]
    assert pack_text(pack_of(cards)) == "588C"
    assert to_text(bytes(cards)) == "C858"


@pytest.mark.parametrize("kind", KINDS)
def test_the_most_copies_of_a_kind_do_not_spill_into_the_next(kind: int) -> None:
    """A full digit of a pack leaves all the others at zero."""
    full = pack_of([kind] * MOST_COPIES)
    assert MOST_COPIES == 2**BITS - 1
    assert count(full, kind) == MOST_COPIES
    assert size(full) == MOST_COPIES
    assert full == MOST_COPIES * UNIT[kind]


DEAL = dealt("55667", "78822", "88", removed="CCC")


def test_the_take_is_an_action_and_no_card_and_ply_0_is_a_ply() -> None:
    """`T` is action 11; a wrong first action is at ply 0, and a wrong card at none."""
    assert list(parse_actions("5T")) == [0, 11]
    with pytest.raises(NotationError, match="'T' at index 1 is not a card"):
        parse_cards("5T")
    with pytest.raises(NotationError) as caught:
        parse_actions("?")
    assert caught.value.ply == 0
    with pytest.raises(NotationError) as caught:
        parse_cards("?")
    assert caught.value.ply is None


@pytest.mark.parametrize(
    "char", ["9", "c", "t", "X", " ", "\n", "é", pytest.param("\ud800", id="surrogate"), "五"]
)
def test_an_unknown_character_is_named_with_its_place(char: str) -> None:
    """The message holds the character, printable, and its index; the error holds the ply."""
    with pytest.raises(NotationError) as caught:
        parse_actions(f"56{char}7{char}")
    assert f"{char!a} at index 2" in str(caught.value)
    assert str(caught.value).isascii()
    assert caught.value.ply == 2


def test_a_deal_is_all_the_cards_of_its_rules_in_the_order_dealt() -> None:
    """The bytes are the kinds of the text; too few, too many and wrong cards are named."""
    deal = parse_deal(DEAL)
    assert len(deal) == 45
    assert list(deal[:5]) == [0, 0, 1, 1, 2]
    assert list(deal[-3:]) == [10, 10, 10]
    with pytest.raises(DealError, match="44 cards, not 45"):
        parse_deal(DEAL[:-1])
    with pytest.raises(DealError, match="46 cards, not 45"):
        parse_deal(DEAL + "5")
    with pytest.raises(DealError, match="0 cards, not 45"):
        parse_deal("")
    with pytest.raises(DealError, match="6 of card 5, not 5"):
        parse_deal(DEAL[:-1] + "5")
    with pytest.raises(DealError, match="1 of card z, not 2"):
        parse_deal(DECK.replace("z", "C", 1))
    rules = Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 2))
    check_deal(parse_cards(DEAL[:-1] + "5"), rules)
    with pytest.raises(DealError, match="5 of card 5, not 6"):
        parse_deal(DEAL, rules)


def test_a_position_is_its_deal_in_whatever_order_a_hand_is() -> None:
    """No space is left at the end of the line; the row has an order."""
    assert at(DEAL).to_text() == DEAL
    assert at(DEAL) == at("76655" + DEAL[5:])
    one, other = dealt("55667", "78822", "78"), dealt("55667", "78822", "87")
    assert at(one) != at(other)


def test_an_illegal_action_says_what_was_legal_or_that_the_game_was_over() -> None:
    """With the ply: the 49th action, and the 7th after a city win with the 6th."""
    with pytest.raises(IllegalAction, match=r"illegal action 9 \(z\); legal: 5 6 7 T") as caught:
        at(DEAL, "z")
    assert caught.value.ply == 0
    with pytest.raises(IllegalAction, match=r"illegal action 11 \(T\); legal: 7 8 2") as caught:
        at(DEAL, "TT")
    assert caught.value.ply == 1
    with pytest.raises(AfterEnd, match="over after 48 actions") as caught:
        at(DEAL, quiet_game(DEAL) + "T")
    assert caught.value.ply == 48
    with pytest.raises(AfterEnd, match="over after 6 actions") as caught:
        at(dealt("CCC56", "66777", "88"), "C6C6CT" + "5")
    assert caught.value.ply == 6


@pytest.mark.parametrize(
    "action", [None, "T", 11.0, -1, 12, 2**70, [0], pytest.param("x" * 1000, id="long")]
)
def test_a_value_that_is_not_an_action_is_refused_by_name(action: Any) -> None:
    """Also 11.0, which equals a legal action; the message stays short."""
    with pytest.raises(IllegalAction, match="illegal action") as caught:
        at(DEAL).checked(action)
    assert len(str(caught.value)) < 150
    assert repr(action)[:20] in str(caught.value)


def test_the_text_of_a_view_is_seat_hand_row_and_actions() -> None:
    """Nothing hidden is in it; a dash stands for an empty hand."""
    state = at(DEAL, "57")
    assert view(state, 0).to_text() == "0 5667 88 57"
    assert view(state, 1).to_text() == "1 8822 88 57"
    assert view(at(DEAL), 0).to_text() == "0 55667 88"
    assert view(at(DEAL, quiet_game(DEAL, 1)[:10]), 0).to_text().startswith("0 - 88 ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "0 55667",
        "2 55667 88",
        "0 55667 88 5 7",
        "0 5566 88",
        "0 556677 88",
        "0 55667 8",
        "0 55667 888",
        "0 55667 T8",
        "0 55667 88 5?",
        "0 CCC67 CC",
        pytest.param("0 55667 88 " + "5" * 60, id="sixty fives"),
    ],
)
def test_a_text_that_no_game_leads_to_is_no_view(text: str) -> None:
    """Too few or many words, cards in a hand, cards in the row, copies of a card."""
    with pytest.raises(NotationError, match=r"."):
        View.from_text(text)


def test_texts_have_kinds_of_errors_which_are_value_errors() -> None:
    """A bad character, wrong cards, an illegal action, and one after the end."""
    for error in (NotationError, DealError, IllegalAction, AfterEnd):
        assert issubclass(error, ValueError)
        assert issubclass(error, EngineError)
    assert issubclass(AfterEnd, IllegalAction)
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
    with pytest.raises(EngineError):
        View.from_text("0 55667 88 TT")


def test_a_record_is_one_json_object_on_one_line() -> None:
    """Deal, actions and the rules that differ, also by 0; further keys come last, unread."""
    text = Record(DEAL, "57T").to_json()
    assert json.loads(text) == {"deal": DEAL, "actions": "57T"}
    assert "\n" not in text
    record = Record(DEAL, "", Rules(set_bonus=3, tiebreak="supports"))
    text = record.to_json()
    assert json.loads(text)["rules"] == {"set_bonus": 3, "tiebreak": "supports"}
    assert Record.from_json(text) == record
    rules = Rules(set_bonus=0, opening_row=0, removed=5)
    again = Record.from_json(Record(DEAL, "", rules).to_json())
    assert again.rules.set_bonus == 0
    assert again.rules.opening_row == 0
    text = Record(DEAL, "5").to_json(id=0, bots=["a", "b"])
    assert list(json.loads(text)) == ["deal", "actions", "id", "bots"]
    assert Record.from_json(text) == Record(DEAL, "5")
    record = Record(DEAL, "57T")
    assert Record.from_json(record.to_json().encode()) == record
    for rules in (STANDARD, Rules(take_size=4, tiebreak="supports")):
        record = Record("56", "5T", rules)
        assert eval(repr(record)) == record


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


rule_sets = pytest.mark.parametrize("rules", few(RULE_SETS.values(), 5), ids=RULE_SETS)


def games(rules: Rules, number: int, seed: int = 4) -> Iterator[list[State]]:
    """Yield the positions of random games, each from the deal to the end."""
    rng = Random(seed)
    for _ in range(number):
        yield [state.copy() for state in walk(rng, rules)]


def fields(rules: Rules, bits: bytearray) -> dict[str, list[int]]:
    """Return the bits of each field."""
    encoder = encoder_of(rules)
    known = (*encoder.fields, *encoder.history_fields)
    return {one.name: [*bits[one.start : one.start + one.size]] for one in known}


def counted(rules: Rules, bits: list[int]) -> list[int]:
    """Return the count of each kind from a thermometer; all that is set comes first."""
    found, start = [], 0
    for copies in rules.copies:
        part = bits[start : start + copies]
        assert part == sorted(part, reverse=True)
        found.append(sum(part))
        start += copies
    return found


def one_hot(bits: list[int], size: int) -> list[int | None]:
    """Return the place that is set in each group of so many bits, None where none is."""
    groups = [bits[start : start + size] for start in range(0, len(bits), size)]
    assert all(sum(group) <= 1 for group in groups)
    return [group.index(1) if any(group) else None for group in groups]


@rule_sets
def test_every_field_says_what_the_view_says(rules: Rules) -> None:
    """Read back field by field, for both seats, also after the end."""
    for positions in games(rules, 6):
        for state in positions:
            for seat in (0, 1):
                check_fields(rules, view(state, seat), state)


def check_fields(rules: Rules, seen: View, state: State) -> None:
    said = fields(rules, encoder_of(rules).information_state(seen))
    own, other = seen.seat, seen.opponent
    packs = {
        "hand": seen.hand,
        "own pile": seen.piles[own],
        "other pile": seen.piles[other],
        "row": pack_of(seen.row),
        "unseen": seen.unseen,
    }
    for name, pack in packs.items():
        assert counted(rules, said[name]) == [*counts(pack)], name
    newest = [*reversed(seen.row)][:NEWEST]
    assert one_hot(said["newest"], len(KINDS)) == newest + [None] * (NEWEST - len(newest))
    assert one_hot(said["round"], rules.rounds) == [seen.round - 1]
    assert said["seat"] == [own]
    assert said["taken"] == [seen.taken[own], seen.taken[other]]
    held = [sum(counts(state.hands[seat])) for seat in (own, other)]
    assert one_hot(said["own cards"], rules.hand_size + 1) == [held[0]]
    assert one_hot(said["other cards"], rules.hand_size + 1) == [held[1]]
    assert one_hot(said["opening row"], len(KINDS)) == [*seen.opening]
    unplayed = [None] * (rules.game_plies - len(seen.history))
    assert one_hot(said["history"], ACTIONS) == [*seen.history, *unplayed]


@rule_sets
def test_cards_that_are_not_seen_change_nothing_and_two_views_differ(rules: Rules) -> None:
    """All worlds that fit a view have its bits; no two plies and no two seats have the same."""
    rng = Random(8)
    encoder = encoder_of(rules)
    for positions in games(rules, 4):
        for state in positions[:-1]:
            seen = view(state, state.to_act)
            other = view(sample(seen, rng), seen.seat)
            assert encoder.information_state(seen) == encoder.information_state(other)
            assert worths(seen) == worths(other)
    encoder = encoder_of(rules)
    for positions in games(rules, 6):
        told = [bytes(encoder.observation(view(one, seat))) for one in positions for seat in (0, 1)]
        assert len({*told}) == 2 * len(positions)


@rule_sets
def test_the_mask_has_the_legal_actions(rules: Rules) -> None:
    """One byte for each of the 12 actions; none when it is not the seat's turn."""
    for positions in games(rules, 3):
        for state in positions:
            for seat in (0, 1):
                seen = view(state, seat)
                assert [*mask(seen)] == [action in seen.legal for action in range(ACTIONS)]


@rule_sets
def test_worths_are_leads_after_takes(rules: Rules) -> None:
    """Played out on piles by the rules' own points."""

    def lead(own: int, other: int) -> int:
        won = [pile >= rules.city_pack for pile in (own, other)]
        first, second = points((own, other), rules)
        return CITIES * (won[0] - won[1]) if any(won) else first - second

    for positions in games(rules, 3):
        for state in positions[:-1]:
            seen = view(state, state.to_act)
            own, other = seen.piles[seen.seat], seen.piles[seen.opponent]
            expected = [lead(own, other)]
            for played in (b"", *(bytes((kind,)) for kind in KINDS)):
                taken = sum(UNIT[card] for card in (seen.row + played)[-rules.take_size :])
                expected += [lead(own + taken, other), lead(own, other + taken)]
            assert worths(seen) == expected
            assert len(expected) == WORTHS


def test_a_view_of_other_rules_is_refused() -> None:
    """The message has both."""
    other = Rules(take_size=4)
    seen = view(State(random_deal(Random(1), other), other), 0)
    with pytest.raises(RulesError, match=r"a view of Rules\(take_size=4\); .* for Rules\(\)"):
        Encoder(STANDARD).observation(seen)


T = TypeVar("T")

LONG = {
    "many short rounds": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=0, hand_size=1, opening_row=1, take_size=1, rounds=170, cities_needed=1000,
    ),
    "a long first row": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=1, hand_size=1, opening_row=300, take_size=1, rounds=20, cities_needed=1000,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
    "a round of many cards": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=0, hand_size=170, opening_row=1, take_size=1, rounds=1, cities_needed=31,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
    "long rounds": Rules(
        copies=(31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31),
        removed=1, hand_size=10, opening_row=0, take_size=4, rounds=17, cities_needed=31,
        majority_values=(1000, 999, 998, 997), set_bonus=-1000, tiebreak="supports",
    ),
}  # fmt: skip
"""Variants with as many cards as a deck can have, and with long numbers."""


def read(text: str) -> View:
    """Return the view that a text describes, each part read from its own sentence."""
    found = dict(line.split(": ", 1) for line in text.splitlines()[1:])
    turn = re.match(r"You are seat (\d)\. Round (\d+) of (\d+), (.*) first\. (.*)\.\n", text)
    assert turn
    seat = int(turn[1])
    changes = json.loads(found.pop("Changed rules", "{}.")[:-1])
    rules = Rules.from_changes(changes)
    assert turn[3] == str(rules.rounds)
    assert (turn[4] == "you") == (first_seat(int(turn[2]) - 1) == seat)
    row, *legend = found["The row, oldest first"].split(". ")
    read_some = _read_notation if legend else _read_names
    taken = re.match(r"you (no|yes), the opponent (no|yes)\.", found["Taken in this round"])
    assert taken
    seen = View(
        seat,
        tuple(_read_names(found["Legal actions"])),
        _read_pack(found["Your hand"]),
        read_some(row),
        _by_seat(
            seat, *(_read_pack(found[f"{whose} pile"]) for whose in ("Your", "The opponent's"))
        ),
        _by_seat(seat, taken[1] == "yes", taken[2] == "yes"),
        b"".join(_read_history(found, seat)),
        read_some(found["The row at the beginning"]),
        rules,
    )
    assert turn[2] == str(seen.round)
    acts = {None: "The game is over", seat: "It is your turn"}
    assert turn[5] == acts.get(seen.to_act, "It is not your turn")
    return seen


def _read_names(text: str) -> bytes:
    names = text.removesuffix(".")
    return b"" if names == "none" else bytes(map(NAMES.index, names.split(", ")))


def _read_notation(text: str) -> bytes:
    return parse_actions(text.removesuffix("."))


def _read_history(found: dict[str, str], seat: Seat) -> Iterator[bytes]:
    if "The actions, in turn" in found:
        yield _read_notation(found["The actions, in turn"])
    for name, actions in found.items():
        if first := re.match(r"Round (\d+), (you|the opponent) first", name):
            assert (first[2] == "you") == (first_seat(int(first[1]) - 1) == seat)
            yield _read_names(actions)


def _read_pack(text: str) -> Pack:
    cards = text.partition(".")[0]
    if cards == "none":
        return 0
    counts = [part.split(" of ") for part in cards.split(", ")]
    return pack_of(b"".join(bytes([NAMES.index(name)]) * int(n) for n, name in counts))


def _by_seat(seat: Seat, mine: T, theirs: T) -> tuple[T, T]:
    return (theirs, mine) if seat else (mine, theirs)


def positions(rules: Rules, games: int, seed: int = 1) -> Iterator[View]:
    """Yield the views of both seats at every ply of random games."""
    rng = Random(seed)
    for _ in range(games):
        deal, actions = random_game(rng, rules)
        state = State(parse_deal(deal, rules), rules)
        yield from (view(state, seat) for seat in (0, 1))
        for action in parse_actions(actions):
            state.apply(action)
            yield from (view(state, seat) for seat in (0, 1))


@pytest.mark.parametrize("name", [*few(RULE_SETS, 4), *few(LONG)])
def test_a_described_view_is_read_back_and_is_short(name: str) -> None:
    """At every ply of games of all phases, for the seat to act and for the other one."""
    rules, is_long = (RULE_SETS | LONG)[name], name in LONG
    for seen in islice(positions(rules, games=1 if is_long else 4), 0, None, 9 if is_long else 1):
        text = seen.describe()
        assert len(text) <= MOST, text
        assert read(text) == seen, text


def test_the_text_has_what_follows_from_the_view() -> None:
    """Points, the next take, the unseen cards and the number of hidden ones."""
    for seen in positions(STANDARD, 5, seed=2):
        text = seen.describe()
        mine, theirs = points(seen.piles)[:: -1 if seen.seat else 1]
        assert re.findall(r"(-?\d+) points now: majorities", text) == [str(mine), str(theirs)]
        for line in re.findall(r"points now: (.*)\.", text):
            assert sum(numbers(line)) in (mine, theirs)
        said = dict(line.split(": ", 1) for line in text.splitlines()[1:])
        assert _read_pack(said["A take would bring"]) == pack_of(seen.row[-5:])
        unseen = said["Unseen, held by the opponent, still to come or removed"]
        assert _read_pack(unseen) == seen.unseen
        assert said["The opponent's hand"] == f"{seen.opponent_cards} hidden cards."


def test_every_action_has_a_name_of_its_own() -> None:
    """And the names are those that the notation has, or say the value."""
    assert len({*NAMES}) == len(NAMES) == TAKE + 1
    assert [NAMES[kind] for kind in KINDS] == [*"5678", "+2", "+3", "+4", "-1", "-2", "-3", "City"]


def numbers(text: str) -> list[int]:
    """Return the numbers in a text."""
    return [int(number) for number in re.findall(r"-?\d+", text)]


@pytest.mark.parametrize("name", RULE_SETS)
def test_the_page_of_rules_has_the_numbers_of_the_rule_book(name: str) -> None:
    """Every number that a variant may change is in the line of its rule."""
    rules = RULE_SETS[name]
    title, *lines = rules_text(rules).splitlines()
    assert title.endswith("seat 0 and seat 1.")
    by_number = dict(line.split(". ", 1) for line in lines)
    assert [*by_number] == [f"R{number}" for number in range(1, 19)]
    said = by_number["R1"]
    assert numbers(said)[0] == len(rules.deck)
    for kind in KINDS:
        held = re.search(rf"(\d+) of {re.escape(NAMES[kind])}\b", said)
        assert (int(held[1]) if held else 0) == rules.copies[kind], NAMES[kind]
    assert numbers(by_number["R2"]) == [rules.removed, rules.opening_row]
    assert numbers(by_number["R6"]) == [rules.take_size]
    assert numbers(by_number["R10"]) == [rules.rounds, rules.hand_size, rules.hand_size + 1]
    assert numbers(by_number["R11"]) == [rules.cities_needed]
    values = [n for pair in zip(rules.majority_values, (5, 6, 7, 8), strict=True) for n in pair]
    assert numbers(by_number["R12"]) == values
    assert numbers(by_number["R13"])[-1] == rules.set_bonus
    assert ("cities" in by_number["R18"]) == (rules.tiebreak == "cities")


def test_the_rules_as_published_fit_on_a_page_and_no_text_is_too_long() -> None:
    """Every part at its longest is more than any one position has, and still short."""
    assert rules_text() == engine.RULES_TEXT
    assert len(engine.RULES_TEXT) < 2_000
    copies = (MOST_COPIES,) * len(KINDS)
    rules = Rules(
        copies=copies, removed=100, hand_size=10, opening_row=1, take_size=10, rounds=12,
        cities_needed=1000, majority_values=(1000,) * 4, set_bonus=-1000, tiebreak="supports",
    )  # fmt: skip
    every = MOST_COPIES * pack_of(bytes(KINDS))
    twice = 2 * sum(copies)
    legal = tuple(range(TAKE + 1))
    known = (0, legal, every, bytes(twice), (every, every), (True, True), b"", b"", rules)
    assert len(describe(known, 170, 1, 170, every)) < MOST - 10
