"""The rules as numbers: every count and variant switch, each with its number in the rule book."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypeVar

from engine.cards import CHARS, CITY, KINDS, MOST_COPIES, SUPPORTS, UNIT, Pack, pack_of
from engine.errors import RulesError, show

TieBreak: TypeAlias = Literal["cities", "supports"]
_TIEBREAKS = ("cities", "supports")
_MOST = 1000
_Number = TypeVar("_Number", bound=Any)  # an int, or an array of them


def first_seat(number: _Number) -> _Number:
    """Return the seat that begins a round (counted from 0): the seats alternate (R3)."""
    seat: _Number = number & 1
    return seat


class _Fields:
    """The fields of a dataclass that has the names of the rules, for `dataclasses.replace`."""

    def __get__(self, _instance: object, _owner: type) -> Any:
        from dataclasses import fields, make_dataclass

        return {field.name: field for field in fields(make_dataclass("Rules", RULE_NAMES))}


class Rules:
    """The numbers of one game; the default is District Noir as published.

    `copies` has 11 counts in kind order, `majority_values` four values for 5, 6, 7, 8. With fewer
    cities in the pack than `cities_needed` a win by City is impossible. Derived from the numbers:
    `deck`, every card in kind order, and `pack`, the same as a pack; `city_pack`, the cities it
    takes to win; `round_plies`, the actions of both seats in a round. Raises RulesError, with the
    arithmetic, for rules that cannot be played.

    >>> Rules(removed=2)
    Traceback (most recent call last):
    ...
    engine.errors.RulesError: opening_row 2 + rounds 4 x 2 x hand_size 5 + removed 2 = 44 \
cards, but the copies add up to 45
    """

    copies: tuple[int, ...]  # R1
    removed: int  # R2
    hand_size: int  # R2, R10
    opening_row: int  # R2
    take_size: int  # R6
    rounds: int  # R10
    cities_needed: int  # R11
    majority_values: tuple[int, ...]  # R12
    set_bonus: int  # R13
    tiebreak: TieBreak  # R18; "supports" stops after R17
    deck: bytes
    pack: Pack
    round_plies: int
    city_pack: Pack
    _hash: int
    __slots__ = (*__annotations__,)
    __dataclass_fields__ = _Fields()

    def __init__(  # a dataclass imports `inspect`: 12 ms of the start of a bot's process
        self,
        copies: tuple[int, ...] = (5, 6, 7, 8, 4, 2, 1, 3, 4, 2, 3),
        removed: int = 3,
        hand_size: int = 5,
        opening_row: int = 2,
        take_size: int = 5,
        rounds: int = 4,
        cities_needed: int = 3,
        majority_values: tuple[int, ...] = (5, 6, 7, 8),
        set_bonus: int = 5,
        tiebreak: TieBreak = "cities",
    ) -> None:
        numbers = locals()
        for name in RULE_NAMES:
            object.__setattr__(self, name, numbers[name])
        for name in ("copies", "majority_values"):
            object.__setattr__(self, name, _as_tuple(name, getattr(self, name)))
        _check_numbers(self)
        deck = b"".join(bytes((kind,)) * n for kind, n in enumerate(self.copies))
        object.__setattr__(self, "deck", deck)
        object.__setattr__(self, "pack", pack_of(deck))
        object.__setattr__(self, "round_plies", 2 * (self.hand_size + 1))
        object.__setattr__(self, "city_pack", self.cities_needed * UNIT[CITY])
        _check_deal(self)
        _check_forced_take(self)
        key = self._numbers()[:-1]
        object.__setattr__(self, "_hash", hash((key, _TIEBREAKS.index(self.tiebreak))))

    def _numbers(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in RULE_NAMES)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"rules do not change: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"rules do not change: {name}")

    def __eq__(self, other: object) -> bool:
        return self._numbers() == other._numbers() if type(other) is Rules else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Rules, self._numbers()

    @property
    def game_plies(self) -> int:
        """The number of actions of a game without a win by City."""
        return self.rounds * self.round_plies

    def seat_at(self, ply: _Number) -> _Number:
        """Return the seat that acts at a ply, or at each of an array of them (R3).

        >>> [Rules().seat_at(ply) for ply in (0, 11, 12, 13)]
        [0, 1, 1, 0]
        """
        seat: _Number = first_seat(ply + ply // self.round_plies)
        return seat

    def changes(self) -> dict[str, Any]:
        """Return the numbers that differ from the published game, ready for JSON or YAML.

        >>> Rules(tiebreak="supports").changes()
        {'tiebreak': 'supports'}
        """
        mine = dict(zip(RULE_NAMES, self._numbers(), strict=True))
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in mine.items()
            if value != getattr(STANDARD, name)
        }

    @classmethod
    def from_changes(cls, changes: object) -> Rules:
        """Return the published rules with some numbers changed; the inverse of `changes`.

        Raises RulesError for an unknown name or an invalid value.

        >>> Rules.from_changes({"set_bonus": 4}).set_bonus
        4
        """
        if not isinstance(changes, dict):
            raise RulesError(f"rules must be a mapping of names to numbers, not {show(changes)}")
        for name in changes:
            if name not in RULE_NAMES:
                raise RulesError(
                    f"unknown rule {show(name)}; the rules are {', '.join(RULE_NAMES)}"
                )
        return cls(**changes) if changes else STANDARD

    def __repr__(self) -> str:
        changes = ", ".join(
            f"{name}={tuple(value) if isinstance(value, list) else value!r}"
            for name, value in self.changes().items()
        )
        return f"Rules({changes})"


RULE_NAMES = Rules.__slots__[:10]
"""The names of the numbers that a variant may change."""


def _as_tuple(name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise RulesError(f"{name} must be a list of whole numbers: {show(value)}")
    return tuple(value)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_numbers(rules: Rules) -> None:
    """Raise RulesError for a value that is not a number in its range."""
    lowest = {"removed": 0, "opening_row": 0}
    for name in ("removed", "hand_size", "opening_row", "take_size", "rounds", "cities_needed"):
        value, least = getattr(rules, name), lowest.get(name, 1)
        if not _is_int(value) or not least <= value <= _MOST:
            raise RulesError(
                f"{name} must be a whole number from {least} to {_MOST}: {show(value)}"
            )
    _check_counts("copies", rules.copies, len(KINDS), MOST_COPIES)
    _check_counts("majority_values", rules.majority_values, len(SUPPORTS), _MOST)
    if not _is_int(rules.set_bonus) or abs(rules.set_bonus) > _MOST:
        raise RulesError(f"set_bonus must be a whole number up to {_MOST}: {show(rules.set_bonus)}")
    if rules.tiebreak not in _TIEBREAKS:
        raise RulesError(f"tiebreak must be 'cities' or 'supports': {show(rules.tiebreak)}")


def _check_counts(name: str, values: tuple[int, ...], length: int, most: int) -> None:
    if len(values) != length or not all(_is_int(n) and 0 <= n <= most for n in values):
        order = " ".join(CHARS[:length])
        raise RulesError(
            f"{name} must be {length} whole numbers from 0 to {most}, for {order}: "
            f"{show(list(values))}"
        )


def _check_deal(rules: Rules) -> None:
    """Raise RulesError unless the numbers deal exactly the cards of the deck."""
    dealt = rules.opening_row + rules.rounds * 2 * rules.hand_size + rules.removed
    if dealt != len(rules.deck):
        raise RulesError(
            f"opening_row {rules.opening_row} + rounds {rules.rounds} x 2 x hand_size "
            f"{rules.hand_size} + removed {rules.removed} = {dealt} cards, "
            f"but the copies add up to {len(rules.deck)}"
        )


def _check_forced_take(rules: Rules) -> None:
    """Raise RulesError if a forced take could find an empty row (R8).

    In the worst case the first player has played the whole hand, and the opponent, who has played
    all cards but one, has just taken.
    """
    row = rules.opening_row
    for number in range(1, rules.rounds + 1):
        left = row + 2 * rules.hand_size - 1 - rules.take_size
        if left < 1:
            raise RulesError(
                f"round {number} may have nothing left for a forced take: a row of {row} "
                f"+ 2 x hand_size {rules.hand_size} - 1 played - take_size "
                f"{rules.take_size} = {left}"
            )
        row = max(0, row + 2 * rules.hand_size - 2 * rules.take_size)


STANDARD = Rules()
"""District Noir as published."""
