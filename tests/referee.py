"""A second referee, as plain as possible: lists of characters, and no code of the engine.

It is written only from the numbered rules, so a mistake in the engine is unnoticed only if
the same mistake is made here.
"""

from __future__ import annotations

from typing import Any

ORDER = "5678234xyzC"
ALLIANCES = {"2": 2, "3": 3, "4": 4}
BETRAYALS = {"x": 1, "y": 2, "z": 3}


class Table:
    """The state of a game; the keywords are the rules that differ, by name."""

    def __init__(self, deal: str, **changes: Any) -> None:
        self.removed_count = changes.get("removed", 3)
        self.hand_size = changes.get("hand_size", 5)
        self.opening_row = changes.get("opening_row", 2)
        self.take_size = changes.get("take_size", 5)
        self.rounds = changes.get("rounds", 4)
        self.cities_needed = changes.get("cities_needed", 3)
        self.majority_values = changes.get("majority_values", [5, 6, 7, 8])
        self.set_bonus = changes.get("set_bonus", 5)
        self.tiebreak = changes.get("tiebreak", "cities")

        self.deck = list(deal)
        self.removed: list[str] = []
        for _ in range(self.removed_count):  # R2
            self.removed.append(self.deck.pop())
        self.hands: list[list[str]] = [[], []]
        self.deal_hands()
        self.row = self.draw(self.opening_row)  # R2
        self.piles: list[list[str]] = [[], []]
        self.first_player = 0  # R3
        self.round = 1
        self.turn = 0
        self.acted = [0, 0]
        self.taken = [False, False]
        self.over = False
        self.city_winner: int | None = None

    def draw(self, number: int) -> list[str]:
        """Take this many cards from the top of the deck."""
        return [self.deck.pop(0) for _ in range(number)]

    def deal_hands(self) -> None:
        """Give both players a new hand, seat 0 first."""
        self.hands[0] = self.draw(self.hand_size)
        self.hands[1] = self.draw(self.hand_size)

    def legal(self) -> list[str]:
        """Return what the player to act may do, in the order of the notation."""
        if self.over:
            return []
        actions = [card for card in ORDER if card in self.hands[self.turn]]  # R4, R5
        if self.row != [] and not self.taken[self.turn]:  # R6, R7
            actions.append("T")
        return actions

    def act(self, action: str) -> None:
        """Carry out the action of the player to act."""
        if action not in self.legal():
            raise ValueError(f"{action} is not legal")
        player = self.turn
        if action == "T":
            self.take(player)
        else:
            self.hands[player].remove(action)
            self.row.append(action)  # R5
        self.acted[player] += 1
        self.turn = 1 if player == 0 else 0
        if self.city_winner is None and self.acted == [self.hand_size + 1] * 2:  # R10
            self.next_round()

    def take(self, player: int) -> None:
        """Move cards from the end of the row to the pile, one by one (R6, R9, R11)."""
        moved = 0
        while moved < self.take_size and len(self.row) > 0:
            self.piles[player].append(self.row.pop())
            moved += 1
        self.taken[player] = True
        if self.piles[player].count("C") >= self.cities_needed:
            self.city_winner = player
            self.over = True

    def next_round(self) -> None:
        """End the round, and the game if the deck is empty (R10, R3)."""
        if self.deck == []:
            self.over = True
            return
        self.round += 1
        self.deal_hands()
        self.first_player = 1 if self.first_player == 0 else 0
        self.turn = self.first_player
        self.acted = [0, 0]
        self.taken = [False, False]

    def breakdown(self, player: int) -> dict[str, Any]:
        """Return the parts of the score of the player's pile."""
        mine = self.piles[player]
        theirs = self.piles[1 - player]
        majorities = []
        for card, value in zip("5678", self.majority_values, strict=True):  # R12
            majorities.append(value if mine.count(card) > theirs.count(card) else 0)
        complete = 0
        supports = [card for card in mine if card in "5678"]
        while {"5", "6", "7", "8"} <= set(supports):  # R13: remove the sets one by one
            for card in "5678":
                supports.remove(card)
            complete += 1
        return {
            "majorities": majorities,
            "sets": complete * self.set_bonus,
            "alliances": sum(ALLIANCES[card] for card in mine if card in ALLIANCES),  # R14
            "betrayals": -sum(BETRAYALS[card] for card in mine if card in BETRAYALS),
        }

    def points(self, player: int) -> int:
        """Return the sum of the parts; cities are worth nothing (R15)."""
        parts = self.breakdown(player)
        deals = parts["alliances"] + parts["betrayals"]
        total: int = sum(parts["majorities"]) + parts["sets"] + deals
        return total

    def result(self) -> tuple[int | None, str]:
        """Return the winner and the win type (R11, R16, R17, R18)."""
        if self.city_winner is not None:
            return self.city_winner, "city"
        if self.points(0) > self.points(1):
            return 0, "points"
        if self.points(1) > self.points(0):
            return 1, "points"
        for card in "8765C" if self.tiebreak == "cities" else "8765":
            if self.piles[0].count(card) > self.piles[1].count(card):
                return 0, "tiebreak"
            if self.piles[1].count(card) > self.piles[0].count(card):
                return 1, "tiebreak"
        return None, "draw"
