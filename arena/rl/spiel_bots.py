"""Adapt bots of the arena to OpenSpiel's algorithms, and OpenSpiel's bots to the arena."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from arena.rl.exact import Policy
from arena.rl.spiel import Game, SpielState, follow, load_game, pyspiel
from engine import Action, Bot, Seat, Setup, Strategy, View, sample
from engine.seeds import stream
from engine.state import checked

MakeBot: TypeAlias = Callable[[Any, Seat, int], Any]
"""Makes a `pyspiel.Bot` from a game, a seat and a seed."""


class ArenaBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot of the arena that OpenSpiel asks, with a new strategy for each game.

    It is shown views only. Game n of two bots with equal seeds and seats has the same luck.

    >>> from bots.greedy import bot as greedy
    >>> game = load_game()
    >>> bots = [ArenaBot(game, seat, greedy) for seat in (0, 1)]
    >>> state = game.new_initial_state()
    >>> pyspiel.evaluate_bots(state, bots, 7)
    [-1.0, 1.0]
    """

    def __init__(self, game: Game, seat: Seat, bot: Bot, seed: int = 0) -> None:
        super().__init__()
        self.rules = game.rules
        self.seat = seat
        self.bot = bot
        self.seed = seed
        self.games = 0
        self.strategy: Strategy | None = None

    def player_id(self) -> Seat:
        """Return the seat."""
        return self.seat

    def restart(self) -> None:
        """Begin a game."""
        luck = stream(self.seed, "bot", self.games, self.seat)
        self.strategy = self.bot(Setup(luck, self.seat, self.rules))
        self.games += 1

    def restart_at(self, _state: SpielState) -> None:
        """Begin in the middle of a game."""
        self.restart()

    def inform_action(self, state: SpielState, player: int, action: int) -> None:
        """Ignore what others did: the next view has it."""

    def step(self, state: SpielState) -> Action:
        """Return the action that the bot chooses; raises IllegalAction."""
        if self.strategy is None:
            self.restart()
        assert self.strategy is not None
        seen = state.view(self.seat)
        return checked(self.strategy.choose(seen), seen.legal, len(seen.history))


class _Asked:
    """A strategy that asks a bot of OpenSpiel."""

    def __init__(self, setup: Setup, make: MakeBot) -> None:
        self.rng = setup.rng
        self.game = load_game(setup.rules)
        self.bot = make(self.game, setup.seat, setup.rng.getrandbits(31))

    def choose(self, view: View, /) -> Action:
        """Return what the bot plays in a world that fits the view."""
        return int(self.bot.step(follow(self.game, sample(view, self.rng))))


def arena_bot(make: MakeBot) -> Bot:
    """Return a bot of the arena that plays as a bot of OpenSpiel does.

    A bot is made for each game. At each decision it is given a game that its seat cannot tell
    from the true one, so that looking at the opponent's hand tells it nothing. It is told
    nothing else: what it plays must follow from the state that it is asked about.

    >>> from bots.greedy import bot as greedy
    >>> from engine import play_game
    >>> def make(game, seat, seed):
    ...     return pyspiel.make_uniform_random_bot(seat, seed)
    >>> play_game(arena_bot(make), greedy, seed=7).winner
    1
    """

    def bot(setup: Setup) -> Strategy:
        return _Asked(setup, make)

    return bot


def table(policy: Policy, views: list[View]) -> Any:
    """Return a `pyspiel.TabularPolicy` with what a policy plays at these views.

    >>> from arena.rl.exact import Exact
    >>> from engine import Rules
    >>> rules = Rules((3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1), 1, 1, 1, 1, 2, 1)
    >>> exact = Exact(rules)
    >>> optimal = table(exact.optimal(), exact.views())
    >>> round(abs(pyspiel.exploitability(load_game(rules), optimal)), 6)
    0.0
    """
    rows = {}
    for seen in views:
        odds = policy(seen)
        rows[seen.to_text()] = [(action, odds.get(action, 0.0)) for action in seen.legal]
    return pyspiel.TabularPolicy(rows)
