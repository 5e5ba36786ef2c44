"""Variants of the rules: what the option --rule asks for, and what it may not."""

from __future__ import annotations

import pytest

from arena.errors import InputError
from arena.tournament.rule_changes import MOST_VARIANTS, deals_alike, make_variants, name_of
from engine import Rules

BASE = Rules()


def names(*options: str, base: Rules = BASE) -> list[str]:
    """Return the names of the variants in their order."""
    return [variant.name for variant in make_variants(base, options)]


def test_one_rule_changes_at_a_time_in_the_order_of_the_options() -> None:
    """The issue's own example; published values and repeated ones are the base, once."""
    assert names("set_bonus=0,3,5,8", "cities_needed=2,3", "set_bonus=8,0") == [
        *("base", "set_bonus=0", "set_bonus=3", "set_bonus=8", "cities_needed=2"),
    ]


def test_each_variant_has_the_rules_of_its_name() -> None:
    """Numbers, lists and texts, by the type of the rule; a name is safe as that of a folder."""
    options = ["majority_values=[1, 2,3,4],[0,0,0,0]", "tiebreak=supports", "set_bonus=-2"]
    assert [tuple(variant) for variant in make_variants(BASE, options)] == [
        ("base", BASE),
        ("majority_values=1-2-3-4", Rules(majority_values=(1, 2, 3, 4))),
        ("majority_values=0-0-0-0", Rules(majority_values=(0, 0, 0, 0))),
        ("tiebreak=supports", Rules(tiebreak="supports")),
        ("set_bonus=-2", Rules(set_bonus=-2)),
    ]


def test_rules_that_are_joined_change_together() -> None:
    """Neither could change alone, because the cards would not add up."""
    base, *variants = make_variants(BASE, ["hand_size=4+removed=11,3+removed=19+take_size=3"])
    assert [variant.rules for variant in variants] == [
        Rules(hand_size=4, removed=11),
        Rules(hand_size=3, removed=19, take_size=3),
    ]
    assert not any(deals_alike(base.rules, variant.rules) for variant in variants)
    assert variants[0].name == "removed=11,hand_size=4"


def test_the_base_is_the_rules_of_the_config() -> None:
    """So the published value is a change, and changes keep what the config has changed."""
    mine = Rules(set_bonus=4, tiebreak="supports")
    variants = make_variants(mine, ["set_bonus=4,5"])
    assert [tuple(variant) for variant in variants] == [
        ("base", mine),
        ("set_bonus=5", Rules(tiebreak="supports")),
    ]
    assert name_of(mine, BASE) == "set_bonus=4,tiebreak=supports"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("set_bonus", "--rule 'set_bonus': write NAME=VALUE, such as set_bonus=0,3"),
        ("set_bonus=", "--rule 'set_bonus=': a value is missing"),
        ("set_bonus=0,,3", "--rule 'set_bonus=0,,3': a value is missing"),
        ("set_bonus=x", "--rule set_bonus=x: set_bonus must be a whole number up to 1000: 'x'"),
        ("set_bonus=1.5", "--rule set_bonus=1.5: set_bonus must be a whole"),
        ("set_bonus=" + "9" * 5000, "--rule set_bonus=9"),
        ("take_size=0", "--rule take_size=0: take_size must be a whole number from 1"),
        ("tiebreak=5", "--rule tiebreak=5: tiebreak must be 'cities' or 'supports': 5"),
        ("bonus=5", "--rule bonus=5: unknown rule 'bonus'; the rules are copies, removed"),
        ("copies=[1,2]", "--rule copies=1-2: copies must be 11 whole numbers"),
        ("copies=[1,[2", "--rule copies=[1: copies must be a list of whole numbers"),
        ("majority_values=[]", "--rule majority_values=: majority_values must be 4"),
        ("hand_size=4", "rounds 4 x 2 x hand_size 4 + removed 3 = 37 cards, but the copies"),
        ("removed=3+removed=4", "removed stands twice in one change"),
        ("set_bonus=5", "--rule: every value is that of the base; there is nothing to compare"),
    ],
)
def test_a_bad_rule_or_value_is_named(option: str, message: str) -> None:
    """With what the rule may be, on one short line."""
    with pytest.raises(InputError) as caught:
        make_variants(BASE, [option])
    assert message in str(caught.value)
    assert len(str(caught.value)) <= 700


def test_more_than_two_hundred_variants_are_refused() -> None:
    """Before any is played."""
    with pytest.raises(InputError, match=f"more than {MOST_VARIANTS} variants"):
        make_variants(BASE, ["set_bonus=" + ",".join(map(str, range(MOST_VARIANTS + 2)))])
