"""Kinds, packs, records and positions as text and as numbers, and what is wrong with one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice, product
from random import Random
from typing import Any, TypeVar

import pytest

import engine
from engine import CITY, EIGHT, FIVE, KINDS, SEVEN, SIX, SUPPORTS, TAKE, Pack, count, counts
from engine.cards import BITS, CHARS, MOST_COPIES, UNIT, cards_of, pack_of, pack_text, size, to_text
from engine.encoding import ACTIONS, CITIES, NEWEST, WORTHS, Encoder, encoder_of, mask, worths
from engine.errors import AfterEnd, DealError, EngineError, IllegalAction, NotationError, RulesError
from engine.notation import check_deal, parse_actions, parse_cards, parse_deal
from engine.record import Record
from engine.rules import STANDARD, Rules, first_seat
from engine.scoring import points
from engine.state import Seat, State
from engine.view import View, view
from engine.words import MOST, NAMES, describe, rules_text
from engine.worlds import sample
from tests.positions import DECK, RULE_SETS, at, dealt, quiet_game, states, walk
from tests.tiers import few


def test_kinds_and_actions_are_integers_in_the_order_of_the_notation_and_so_are_packs() -> None:
    """`5 6 7 8 2 3 4 x y z C` are 0 to 10, and `T` is 11; also no cards, and the most copies."""
    assert list(KINDS) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert (FIVE, SIX, SEVEN, EIGHT, CITY, TAKE) == (0, 1, 2, 3, 10, 11)
    assert SUPPORTS == (0, 1, 2, 3)
    assert CHARS == "5678234xyzCT"
    assert to_text(bytes(range(12))) == CHARS
    assert len(set(CHARS)) == 12
    assert to_text(b"") == ""
    five = pack_of([FIVE])
    assert (size(five), count(five, FIVE), count(five, SIX)) == (1, 1, 0)
    assert (pack_text(five), cards_of(five)) == ("5", b"\x00")
    assert pack_of([]) == 0 != five
    assert (size(0), counts(0), cards_of(0), pack_text(0)) == (0, (0,) * 11, b"", "")
    cards = [CITY, EIGHT, FIVE, EIGHT]
    assert pack_text(pack_of(cards)) == "588C"
    assert to_text(bytes(cards)) == "C858"
    assert MOST_COPIES == 2**BITS - 1
    for kind in KINDS:
        full = pack_of([kind] * MOST_COPIES)
        assert count(full, kind) == size(full) == MOST_COPIES
        assert full == MOST_COPIES * UNIT[kind]


DEAL = dealt("55667", "78822", "88", removed="CCC")


def test_what_is_no_notation_is_named_with_its_place() -> None:
    """`T` is no card; a wrong first action is at ply 0, and a wrong card at none."""
    assert list(parse_actions("5T")) == [0, 11]
    with pytest.raises(NotationError, match="'T' at index 1 is not a card") as caught:
        parse_cards("5T")
    assert caught.value.ply is None
    for place, char in product((0, 2), ("9", "c", "t", "X", " ", "\n", "é", "\ud800", "五")):
        with pytest.raises(NotationError) as caught:
            parse_actions(f"{'56'[:place]}{char}7{char}")
        assert f"{char!a} at index {place}" in str(caught.value)
        assert str(caught.value).isascii()
        assert caught.value.ply == place


def test_a_deal_is_all_the_cards_of_its_rules_in_the_order_dealt() -> None:
    """The bytes are the kinds of the text; too few, too many and wrong cards are named."""
    deal = parse_deal(DEAL)
    assert len(deal) == 45
    assert (list(deal[:5]), list(deal[-3:])) == ([0, 0, 1, 1, 2], [10, 10, 10])
    for text, message in (
        (DEAL[:-1], "44 cards, not 45"),
        (DEAL + "5", "46 cards, not 45"),
        ("", "0 cards, not 45"),
        (DEAL[:-1] + "5", "6 of card 5, not 5"),
        (DECK.replace("z", "C", 1), "1 of card z, not 2"),
    ):
        with pytest.raises(DealError, match=message):
            parse_deal(text)
    rules = Rules(copies=(6, 6, 7, 8, 4, 2, 1, 3, 4, 2, 2))
    check_deal(parse_cards(DEAL[:-1] + "5"), rules)
    with pytest.raises(DealError, match="5 of card 5, not 6"):
        parse_deal(DEAL, rules)
    assert at(DEAL).to_text() == DEAL
    assert at(DEAL) == at("76655" + DEAL[5:])
    one, other = dealt("55667", "78822", "78"), dealt("55667", "78822", "87")
    assert at(one) != at(other)


def test_a_wrong_record_has_its_kind_of_error_with_the_ply() -> None:
    """All are value errors; an illegal action says what was legal, or that the game was over."""
    for error in (NotationError, DealError, IllegalAction, AfterEnd):
        assert issubclass(error, ValueError)
        assert issubclass(error, EngineError)
    assert issubclass(AfterEnd, IllegalAction)
    cities = dealt("CCC56", "66777", "88")
    for deal, actions, error, message, ply in (
        (DEAL, "?", NotationError, "index 0", 0),
        ("?" + DEAL[1:], "", NotationError, "index 0", None),
        (DEAL[1:], "", DealError, "44 cards", None),
        (DEAL, "z", IllegalAction, r"illegal action 9 \(z\); legal: 5 6 7 T", 0),
        (DEAL, "TT", IllegalAction, r"illegal action 11 \(T\); legal: 7 8 2", 1),
        (DEAL, "57z", IllegalAction, r"\(z\)", 2),
        (DEAL, quiet_game(DEAL) + "T", AfterEnd, "over after 48 actions", 48),
        (cities, "C6C6CT" + "5", AfterEnd, "over after 6 actions", 6),
    ):
        with pytest.raises(error, match=message) as caught:
            Record(deal, actions).replay()
        assert getattr(caught.value, "ply", None) == ply


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
    """Nothing hidden is in it, and a dash stands for an empty hand; others are no views."""
    state = at(DEAL, "57")
    assert view(state, 0).to_text() == "0 5667 88 57"
    assert view(state, 1).to_text() == "1 8822 88 57"
    assert view(at(DEAL), 0).to_text() == "0 55667 88"
    assert view(at(DEAL, quiet_game(DEAL, 1)[:10]), 0).to_text().startswith("0 - 88 ")
    for wrong in (
        *("", "0", "0 55667", "2 55667 88", "0 55667 88 5 7"),  # words
        *("0 5566 88", "0 556677 88", "0 55667 8", "0 55667 888"),  # numbers of cards
        *("0 55667 T8", "0 55667 88 5?", "0 CCC67 CC", "0 55667 88 TT", f"0 55667 88 {'5' * 60}"),
    ):
        with pytest.raises(EngineError, match=r"."):
            View.from_text(wrong)


def test_a_record_is_one_json_object_on_one_line() -> None:
    """Deal, actions and the rules that differ, also by 0; further keys come last, unread."""
    record = Record(DEAL, "57T")
    text = record.to_json()
    assert json.loads(text) == {"deal": DEAL, "actions": "57T"}
    assert "\n" not in text
    assert Record.from_json(text.encode()) == record
    for changes in (
        {"set_bonus": 3, "tiebreak": "supports"},
        {"set_bonus": 0, "opening_row": 0, "removed": 5},
    ):
        record = Record(DEAL, "5T", Rules.from_changes(changes))
        text = record.to_json(id=0, bots=["a", "b"])
        assert json.loads(text)["rules"] == changes
        assert list(json.loads(text)) == ["deal", "actions", "rules", "id", "bots"]
        assert Record.from_json(text) == record == eval(repr(record))
    assert eval(repr(Record("56", "5T"))) == Record("56", "5T", STANDARD)
    deal = "76655" + DEAL[5:]  # its order is kept, which that of a position is not
    state = at(deal, "57T")
    record = Record.of(parse_deal(deal), state)
    assert record == Record(deal, "57T", STANDARD)
    assert record.replay() == state


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        (b"\xff", "not JSON"),
        pytest.param("[" * 100_000, "not JSON", id="100,000 brackets"),
        ("null", "JSON object"),
        ('"deal"', "JSON object"),
        ("{}", "'deal'"),
        ('{"deal": "5"}', "'actions'"),
        ('{"deal": 5, "actions": ""}', "'deal'"),
        ('{"deal": "5", "actions": null}', "'actions'"),
        ('{"deal": "", "actions": "", "rules": {"set_bonsu": 3}}', "unknown rule"),
        ('{"deal": "", "actions": "", "rules": []}', "mapping"),
        ('{"deal": "", "actions": "", "rules": 0}', "mapping"),
        ('{"deal": "", "actions": "", "rules": {"removed": 4}}', "add up"),
    ],
)
def test_a_text_that_is_no_record_is_refused_with_the_reason(text: str | bytes, words: str) -> None:
    """The message names the wrong key or rule, or says that the text is not a JSON object."""
    with pytest.raises((engine.errors.RecordError, RulesError), match=words):
        Record.from_json(text)


rule_sets = pytest.mark.parametrize("rules", few(RULE_SETS.values(), 5), ids=RULE_SETS)


def games(rules: Rules, number: int, seed: int = 4) -> Iterator[list[State]]:
    """Yield the positions of random games, each from the deal to the end."""
    rng = Random(seed)
    for _ in range(number):
        yield [state.copy() for state in walk(rng, rules)]


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
    """Read back field by field, for both seats, also after the end; no two are the same."""
    for positions in games(rules, 6):
        for state in positions:
            for seat in (0, 1):
                check_fields(rules, view(state, seat), state)
        seen = [view(one, seat) for one in positions for seat in (0, 1)]
        told = {bytes(encoder_of(rules).observation(one)) for one in seen}
        assert len(told) == 2 * len(positions)
    if rules != STANDARD:
        with pytest.raises(RulesError, match=r"a view of Rules\(.+\); .* for Rules\(\)"):
            Encoder(STANDARD).observation(seen[0])


def check_fields(rules: Rules, seen: View, state: State) -> None:
    assert [*mask(seen)] == [action in seen.legal for action in range(ACTIONS)]
    encoder = encoder_of(rules)
    bits = encoder.information_state(seen)
    known = (*encoder.fields, *encoder.history_fields)
    said = {one.name: [*bits[one.start : one.start + one.size]] for one in known}
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
def test_cards_that_are_not_seen_change_nothing_and_worths_are_leads_after_takes(
    rules: Rules,
) -> None:
    """All worlds that fit a view have its bits; takes are played by the rules' own points."""

    def lead(own: int, other: int) -> int:
        won = [pile >= rules.city_pack for pile in (own, other)]
        first, second = points((own, other), rules)
        return CITIES * (won[0] - won[1]) if any(won) else first - second

    rng, encoder = Random(8), encoder_of(rules)
    for positions in games(rules, 4):
        for state in positions[:-1]:
            seen = view(state, state.to_act)
            twin = view(sample(seen, rng), seen.seat)
            assert encoder.information_state(seen) == encoder.information_state(twin)
            own, other = seen.piles[seen.seat], seen.piles[seen.opponent]
            expected = [lead(own, other)]
            for played in (b"", *(bytes((kind,)) for kind in KINDS)):
                taken = sum(UNIT[card] for card in (seen.row + played)[-rules.take_size :])
                expected += [lead(own + taken, other), lead(own, other + taken)]
            assert worths(seen) == worths(twin) == expected
            assert len(expected) == WORTHS


T = TypeVar("T")

ALL = (31,) * len(KINDS)
COSTS: Any = {"majority_values": (1000, 999, 998, 997), "set_bonus": -1000}
DEAR = COSTS | {"tiebreak": "supports"}
LONG = {
    "many short rounds": Rules(ALL, 0, 1, 1, 1, 170, 1000),
    "a long first row": Rules(ALL, 1, 1, 300, 1, 20, 1000, **DEAR),
    "a round of many cards": Rules(ALL, 0, 170, 1, 1, 1, 31, **DEAR),
    "long rounds": Rules(ALL, 1, 10, 0, 4, 17, 31, **DEAR),
}
"""Variants with as many cards as a deck can have, and with long numbers. In turn: copies, removed,
hand_size, opening_row, take_size, rounds, cities_needed."""


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
    read_some = parse_actions if legend else _read_names
    taken = re.match(r"you (no|yes), the opponent (no|yes)\.", found["Taken in this round"])
    assert taken
    seen = View(
        seat,
        tuple(_read_names(found["Legal actions"])),
        _read_pack(found["Your hand"]),
        read_some(row.removesuffix(".")),
        _by_seat(
            seat, *(_read_pack(found[f"{whose} pile"]) for whose in ("Your", "The opponent's"))
        ),
        _by_seat(seat, taken[1] == "yes", taken[2] == "yes"),
        b"".join(_read_history(found, seat)),
        read_some(found["The row at the beginning"].removesuffix(".")),
        rules,
    )
    assert turn[2] == str(seen.round)
    acts = {None: "The game is over", seat: "It is your turn"}
    assert turn[5] == acts.get(seen.to_act, "It is not your turn")
    return seen


def _read_names(text: str) -> bytes:
    names = text.removesuffix(".")
    return b"" if names == "none" else bytes(map(NAMES.index, names.split(", ")))


def _read_history(found: dict[str, str], seat: Seat) -> Iterator[bytes]:
    if "The actions, in turn" in found:
        yield parse_actions(found["The actions, in turn"].removesuffix("."))
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


@pytest.mark.parametrize("name", [*few(RULE_SETS, 4), *few(LONG)])
def test_a_described_view_is_read_back_and_is_short(name: str) -> None:
    """At every ply, for both seats; with points, the next take and what is hidden."""
    rules, is_long = (RULE_SETS | LONG)[name], name in LONG
    for state in islice(states(1 if is_long else 4, rules), 0, None, 9 if is_long else 1):
        for seen in (view(state, 0), view(state, 1)):
            text = seen.describe()
            assert len(text) <= MOST, text
            assert read(text) == seen, text
            if is_long:
                continue
            score = [*points(seen.piles, rules)][:: -1 if seen.seat else 1]
            said = re.findall(r"(-?\d+) points now: (majorities.*)\.", text)
            assert [int(whole) for whole, _ in said] == score
            assert [sum(numbers(parts)) for _, parts in said] == score
            lines = dict(line.split(": ", 1) for line in text.splitlines()[1:])
            take = seen.row[-rules.take_size :]
            assert _read_pack(lines["A take would bring"]) == pack_of(take)
            unseen = lines["Unseen, held by the opponent, still to come or removed"]
            assert _read_pack(unseen) == seen.unseen
            assert numbers(lines["The opponent's hand"]) == [seen.opponent_cards]


def numbers(text: str) -> list[int]:
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


def test_a_page_of_rules_and_every_text_fit() -> None:
    """Every part at its longest is more than any one position has; each action has a name."""
    assert rules_text() == engine.RULES_TEXT
    assert len(engine.RULES_TEXT) < 2_000
    rules = Rules(ALL, 100, 10, 1, 10, 12, 1000, (1000,) * 4, -1000, "supports")
    every, legal = MOST_COPIES * pack_of(bytes(KINDS)), tuple(range(TAKE + 1))
    row = bytes(2 * sum(ALL))
    known = (0, legal, every, row, (every, every), (True, True), b"", b"", rules)
    assert len(describe(known, 170, 1, 170, every)) < MOST - 10
    assert len({*NAMES}) == len(NAMES) == TAKE + 1
    assert [NAMES[kind] for kind in KINDS] == [*"5678", "+2", "+3", "+4", "-1", "-2", "-3", "City"]
