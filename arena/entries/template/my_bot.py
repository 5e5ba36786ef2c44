"""Takes when the end of the row is worth enough, and gives away as little as it can.

A file like this is a bot: its last line binds `bot` to a callable that makes a strategy for
one game. `arena check` says whether a bot keeps the rules of the arena.
"""

from engine import CITY, SUPPORTS, TAKE, VALUES, Action, Kind, Setup, View


class MyBot:
    """Plays one game from one seat; every game gets a new one.

    `setup` has `rng`, the random numbers of this game (use no others, so that the game can be
    replayed), `seat`, `rules` and `clock`. The arguments after it are parameters of the bot,
    each with a type and a default: `my_bot.py(enough=6.5)` sets one.
    """

    def __init__(self, setup: Setup, enough: float = 8.0) -> None:
        self.rng = setup.rng
        self.rules = setup.rules
        self.enough = enough

    def choose(self, view: View, /) -> Action:
        """Return one of `view.legal`: the kind of card to play, or TAKE.

        `view` has all that this seat may know: its `hand`, the `row` (oldest first), both
        `piles`, which seats have `taken` in this round, the `history`, the `unseen` cards and
        more.
        """
        plays = [action for action in view.legal if action != TAKE]
        if not plays:
            return TAKE  # with an empty hand this is the only legal action
        if TAKE in view.legal and self.ripe(view):
            return TAKE
        return self.least(plays, view)

    def ripe(self, view: View) -> bool:
        """Return whether to take now: a take brings the last `take_size` cards of the row."""
        return sum(self.worth(kind) for kind in view.row[-self.rules.take_size :]) >= self.enough

    def worth(self, kind: Kind) -> float:
        """Return roughly what one card is worth to its owner: a place to improve."""
        if kind == CITY:
            return 5.0
        if kind in SUPPORTS:
            return self.rules.majority_values[kind] / 4
        return VALUES[kind]

    def least(self, plays: list[Action], view: View) -> Action:
        """Return the card worth least, or worth most once the opponent has taken."""
        sign = -1 if view.taken[view.opponent] else 1
        gifts = {kind: sign * self.worth(kind) for kind in plays}
        lowest = min(gifts.values())
        return self.rng.choice([kind for kind in plays if gifts[kind] == lowest])


bot = MyBot
