"""Adapt bots of the arena to OpenSpiel's algorithms, and OpenSpiel's bots to the arena."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from arena.addons.rl.exact import Policy
from arena.addons.rl.spiel import Game, SpielState, follow, load_game, pyspiel
from engine import Action, Bot, Seat, Setup, Strategy, View, sample
from engine.seeds import stream
from engine.state import checked

MakeBot: TypeAlias = Callable[[Any, Seat, int], Any]
"""Makes a `pyspiel.Bot` from a game, a seat and a seed."""


class ArenaBot(pyspiel.Bot):  # type: ignore[misc]
    """A bot of the arena as a bot of OpenSpiel, with a new strategy for each game.

    It sees only views. Two bots with equal seeds and seats draw the same random numbers in game n.

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
        """Begin at a state in the middle of a game."""
        self.restart()

    def inform_action(self, state: SpielState, player: int, action: int) -> None:
        """Ignore the action of a player: the next view contains it."""

    def step(self, state: SpielState) -> Action:
        """Return the bot's action; raises IllegalAction."""
        if self.strategy is None:
            self.restart()
        assert self.strategy is not None
        seen = state.view(self.seat)
        return checked(self.strategy.choose(seen), seen.legal, len(seen.history))


class _Asked:
    """A strategy that plays the actions of a bot of OpenSpiel."""

    def __init__(self, setup: Setup, make: MakeBot) -> None:
        self.rng = setup.rng
        self.game = load_game(setup.rules)
        self.bot = make(self.game, setup.seat, setup.rng.getrandbits(31))

    def choose(self, view: View, /) -> Action:
        """Return the bot's action in a world that fits the view."""
        return int(self.bot.step(follow(self.game, sample(view, self.rng))))


def arena_bot(make: MakeBot) -> Bot:
    """Return a bot of OpenSpiel as a bot of the arena.

    A bot is made for each game. At each decision it gets a state that is drawn from the information
    set of its seat, so that the opponent's hand in it reveals nothing. It gets no other
    information: its action must follow from that state.

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
    """Return a `pyspiel.TabularPolicy` with the probabilities of a policy at these views.

    >>> from arena.addons.rl.exact import Exact
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
