"""Change a tournament's rules, and name what was changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from arena.errors import InputError, naming
from engine import STANDARD, Rules
from engine.errors import RulesError, show
from engine.rules import RULE_NAMES

Change: TypeAlias = dict[str, Any]
"""Values of rules, by name."""

BASE: Final = "base"
MOST_VARIANTS: Final = 200  # each is a run with a folder of its own

_DEALING = ("copies", "removed", "hand_size", "opening_row", "rounds")
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_RANGE = re.compile(r"-?[0-9]+\.\.-?[0-9]+")
_OUTSIDE_BRACKETS = r"(?![^\[]*\])"


class Variant(NamedTuple):
    """Rules with a name, which lists their differences from the base rules."""

    name: str
    rules: Rules


def make_variants(base: Rules, options: Sequence[str]) -> list[Variant]:
    """Return the base rules, then a variant for each change in the options, without duplicates.

    An option is `NAME=VALUE,VALUE`; a list is in brackets, and `+NAME=VALUE` after a value changes
    a further rule along with it. Raises InputError, which names the option and the value.

    >>> options = ["set_bonus=0,5,0", "rounds=2+removed=23"]
    >>> [variant.name for variant in make_variants(Rules(), options)]
    ['base', 'set_bonus=0', 'removed=23,rounds=2']
    """
    by_rule: dict[str, list[Change]] = {}
    for option in options:
        by_rule.setdefault(option.partition("=")[0].strip(), []).extend(_parse(option))
    variants = {base: BASE}
    for change in chain.from_iterable(by_rule.values()):
        rules = _apply(base, change)
        variants.setdefault(rules, name_of(rules, base))
        if len(variants) > MOST_VARIANTS:
            raise InputError(f"--rule: more than {MOST_VARIANTS} variants")
    if len(variants) == 1:
        raise InputError("--rule: every value is that of the base; there is nothing to compare")
    return [Variant(name, rules) for rules, name in variants.items()]


def name_of(rules: Rules, base: Rules) -> str:
    """Return the differences of rules from base rules, in a form for a folder's name.

    >>> name_of(Rules(set_bonus=0, majority_values=(1, 1, 1, 1)), Rules())
    'majority_values=1-1-1-1,set_bonus=0'
    """
    values = [(name, getattr(rules, name)) for name in RULE_NAMES]
    changed = [(name, value) for name, value in values if value != getattr(base, name)]
    return ",".join(f"{name}={_text(value)}" for name, value in changed)


def list_published() -> dict[str, str]:
    """Return the published value of each rule, in the form for `--rule` and for YAML.

    >>> published = list_published()
    >>> published["set_bonus"], published["majority_values"]
    ('5', '[5,6,7,8]')
    """
    values = {name: getattr(STANDARD, name) for name in RULE_NAMES}
    return {
        name: f"[{','.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
        for name, value in values.items()
    }


def describe_changes(rules: Rules) -> str:
    """Describe the differences from the published rules in a sentence, empty without any.

    >>> describe_changes(Rules(set_bonus=0)), describe_changes(Rules())
    ('Played under changed rules: set_bonus=0 (published: 5).', '')
    """
    changes = [
        f"{name}={_text(value)} (published: {_text(getattr(STANDARD, name))})"
        for name, value in rules.changes().items()
    ]
    return f"Played under changed rules: {', '.join(changes)}." if changes else ""


def deals_alike(rules: Rules, other: Rules) -> bool:
    """Return whether games under both rules have the same deals.

    >>> deals_alike(Rules(), Rules(set_bonus=0)), deals_alike(Rules(), Rules(rounds=2, removed=23))
    (True, False)
    """
    return all(getattr(rules, name) == getattr(other, name) for name in _DEALING)


def _parse(option: str) -> Iterator[Change]:
    """Yield the changes of an option."""
    name, equals, values = option.partition("=")
    if not equals:
        raise InputError(f"--rule {show(option)}: write NAME=VALUE, such as set_bonus=0,3")
    if _RANGE.search(values):
        commas = "write all values, with commas, such as set_bonus=0,3"
        raise InputError(f"--rule {show(option)}: there are no ranges; {commas}")
    if isinstance(getattr(STANDARD, name.strip(), None), tuple) and "[" not in values:
        raise InputError(f"--rule {show(option)}: a list stands in brackets: {name}=[{values}]")
    for value in re.split("," + _OUTSIDE_BRACKETS, values):
        change: Change = {}
        for part in f"{name}={value}".split("+"):
            rule, _, text = (word.strip() for word in part.partition("="))
            if not text:
                raise InputError(f"--rule {show(option)}: a value is missing")
            if rule in change:
                raise InputError(f"--rule {show(option)}: {rule} stands twice in one change")
            change[rule] = _value(text)
        yield change


def _value(text: str) -> Any:
    """Parse a value by its form: a number, a list, or else a text."""
    if text.startswith("[") and text.endswith("]"):
        return [_value(part.strip()) for part in text[1:-1].split(",")]
    return int(text) if _NUMBER.fullmatch(text) else text


def _apply(base: Rules, change: Change) -> Rules:
    """Return the base rules with a change."""
    words = "+".join(f"{name}={_text(value)}" for name, value in change.items())
    with naming(f"--rule {words}", RulesError):
        return Rules.from_changes(base.changes() | change)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "-".join(map(str, value))
    return str(value)
