"""View: the information of one seat; no attribute leads back to the State."""

from __future__ import annotations

from typing import NamedTuple

from engine.cards import Pack, cards_of, pack_of, to_text
from engine.errors import IllegalAction, NotationError
from engine.notation import parse_actions, parse_cards
from engine.rules import STANDARD, Rules
from engine.state import Legal, Seat, State, played, plays, plays_or_take
from engine.words import describe


class View(NamedTuple):
    """The information of a seat: immutable, comparable and hashable, an information set's key.

    `hand` and `piles` are packs (engine.cards); `row`, `history` and `opening` are bytes,
    one kind or action each, oldest first. `legal` is empty when it is not the seat's turn.

    >>> from engine import CITY, count
    >>> seen = View.from_text("0 5678C xy")
    >>> seen.round, seen.opponent_cards, to_text(bytes(seen.legal))
    (1, 5, '5678CT')
    >>> count(seen.unseen, CITY)  # of three in the game
    2
    """

    seat: Seat
    legal: Legal
    hand: Pack
    row: bytes
    piles: tuple[Pack, Pack]
    taken: tuple[bool, bool]
    history: bytes
    opening: bytes
    rules: Rules

    @property
    def opponent(self) -> Seat:
        """The other seat."""
        return 1 - self.seat

    @property
    def round(self) -> int:
        """The current round, from 1; after the end, the last one."""
        return (len(self.history) - self.over) // self.rules.round_plies + 1

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return len(self.history) == self.rules.game_plies or max(self.piles) >= self.rules.city_pack

    @property
    def to_act(self) -> Seat | None:
        """The seat to act, or None when the game is over."""
        if self.over:
            return None
        return self.rules.seat_at(len(self.history))

    @property
    def opponent_cards(self) -> int:
        """The number of cards that the opponent holds."""
        return self.rules.hand_size - len(self._played(self.opponent))

    @property
    def unseen(self) -> Pack:
        """The cards this seat cannot see: the opponent's hand, the deck and the removed cards."""
        seen = self.hand + self.piles[0] + self.piles[1] + pack_of(self.row)
        return self.rules.pack - seen

    def _played(self, seat: Seat) -> bytes:
        return played(self.history, self.round - 1, seat, self.rules)

    def to_text(self) -> str:
        """Return the view as one line: seat, hand, opening row and the actions so far.

        `-` stands for an empty hand or row. The rest of the view follows from these four.
        """
        hand = to_text(cards_of(self.hand))
        words = (str(self.seat), hand or "-", to_text(self.opening) or "-", to_text(self.history))
        return " ".join(words).rstrip()

    def describe(self) -> str:
        """Return the view in plain words, at most 2,000 characters: all that it knows.

        They are hand and row, both piles with their points, who has taken, the unseen cards, the
        actions so far, and the names of the legal ones. `engine.RULES_TEXT` has the rules.

        >>> print(View.from_text("0 5678C xy").describe())  # doctest: +ELLIPSIS
        You are seat 0. Round 1 of 4, you first. It is your turn.
        Your hand: 1 of 5, 1 of 6, 1 of 7, 1 of 8, 1 of City.
        ...
        Legal actions: 5, 6, 7, 8, City, take.
        """
        return describe(self, self.round, self.to_act, self.opponent_cards, self.unseen)

    @classmethod
    def from_text(cls, text: str, rules: Rules = STANDARD) -> View:
        """Return the view of a line, `to_text` reversed.

        Raises NotationError for a text that is not possible in a game under these rules.
        """
        words = text.split(" ")
        if len(words) not in (3, 4) or words[0] not in ("0", "1"):
            raise NotationError(f"a view is '0|1 hand row actions', not {text!a}")
        hand, opening = (b"" if word == "-" else parse_cards(word) for word in words[1:3])
        history = parse_actions(words[3] if len(words) == 4 else "")
        return _rebuild(int(words[0]), hand, opening, history, rules)

    def __repr__(self) -> str:
        rules = "" if self.rules == STANDARD else f", {self.rules!r}"
        return f"View.from_text({self.to_text()!r}{rules})"


def view(state: State, seat: Seat) -> View:
    """Return the view of a seat; `state.legal()` written out saves 45 ns."""
    hand, row, taken = state.hands[seat], state.row, state.taken
    if seat != state.to_act or state.over:
        legal: Legal = ()
    else:
        known = plays if taken[seat] or not row else plays_or_take
        legal = known[hand]
    return _new(
        View,
        (seat, legal, hand, row, state.piles, taken, state.history, state.opening, state.rules),
    )


def _rebuild(seat: Seat, hand: bytes, opening: bytes, history: bytes, rules: Rules) -> View:
    """Return the view by playing the actions in one world that fits; all such worlds agree."""
    now = min(len(history) // rules.round_plies, rules.rounds - 1)
    hands = [
        played(history, number, player, rules) for number in range(now + 1) for player in (0, 1)
    ]
    hands[2 * now + seat] += hand
    unseen = list(rules.deck)
    for card in b"".join(hands) + opening:
        if card not in unseen:
            raise NotationError(f"more cards {to_text(bytes((card,)))} than the rules have")
        unseen.remove(card)
    for index in range(2 * rules.rounds):
        held = hands[index] if index < len(hands) else b""
        missing = rules.hand_size - len(held)
        hands[index : index + 1] = [held + bytes(unseen[:missing])]
        del unseen[:missing]
    state = State(b"".join([*hands[:2], opening, *hands[2:]]) + bytes(unseen), rules)
    try:
        state.follow(history)
    except IllegalAction as error:
        raise NotationError(str(error), error.ply) from None
    seen = view(state, seat)
    if seen.hand != pack_of(hand) or seen.opening != opening:
        raise NotationError("the hand and the opening row do not fit the actions")
    return seen


_new = tuple.__new__  # 0.15 us less than View(...), which is a Python function
