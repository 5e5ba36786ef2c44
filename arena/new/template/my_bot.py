"""Takes when the end of the row is worth enough, and gives away as little as it can.

A file like this is a bot: it binds `bot`, at its end, to something that makes a strategy
for one game. `arena check` says whether a bot keeps the rules of the arena.
"""

from engine import CITY, SUPPORTS, TAKE, Action, Kind, Setup, View
from engine.cards import VALUES


class MyBot:
    """Plays one game from one seat; a new one is made for every game.

    `setup` has `rng`, the luck of this game (use no other, and the same game can be played
    again), `seat`, `rules` and `clock`. Whatever follows it is a parameter of the bot, with
    a type and a default: `my_bot.py(enough=6.5)` sets it.
    """

    def __init__(self, setup: Setup, enough: float = 8.0) -> None:
        self.rng = setup.rng
        self.rules = setup.rules
        self.enough = enough

    def choose(self, view: View, /) -> Action:
        """Return one of `view.legal`: the kind of card to play, or TAKE.

        `view` is all that this seat may know: its `hand`, the `row` (oldest first), both
        `piles`, who has `taken` in this round, the `history`, the `unseen` cards and more.
        """
        plays = [action for action in view.legal if action != TAKE]
        if not plays:
            return TAKE  # with an empty hand there is nothing else
        if TAKE in view.legal and self.row_worth(view.row) >= self.enough:
            return TAKE
        return self.least(plays, view)

    def row_worth(self, row: bytes) -> float:
        """Return what a take would bring: it gets the last `take_size` cards of the row."""
        return sum(self.worth(kind) for kind in row[-self.rules.take_size :])

    def worth(self, kind: Kind) -> float:
        """Return what one card is worth to its owner, more or less: a place to improve."""
        if kind == CITY:
            return 5.0
        if kind in SUPPORTS:
            return self.rules.majority_values[kind] / 4
        return VALUES[kind]

    def least(self, plays: list[Action], view: View) -> Action:
        """Return the card that helps least who takes next: the opponent, or this seat."""
        sign = -1 if view.taken[view.opponent] else 1
        gifts = {kind: sign * self.worth(kind) for kind in plays}
        lowest = min(gifts.values())
        return self.rng.choice([kind for kind in plays if gifts[kind] == lowest])


bot = MyBot
