"""Solve small games exactly: value, optimal policies, and the exploitability of a policy.

The game is written in sequence form (a number for each sequence of a seat's own actions) and solved
as a linear program. Source: Koller, Megiddo, von Stengel, "Fast algorithms for finding randomized
strategies in game trees", 1994. It uses nothing of OpenSpiel, so that the results of both can be
compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from importlib.util import find_spec
from math import comb
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.addons.rl.decisions import missing
from arena.errors import InputError
from engine.cards import Action, Pack, cards_of, pack_of, size
from engine.rules import Rules
from engine.scoring import outcome
from engine.seeds import stream
from engine.state import Seat, State
from engine.strategy import Bot, Setup
from engine.view import View, view
from engine.worlds import choices

Policy: TypeAlias = Callable[[View], Mapping[Action, float]]
"""The probability of each action at a view; a missing action is never played."""

Plan: TypeAlias = npt.NDArray[np.float64]
"""A realisation plan: the product of a seat's own probabilities, for each of its sequences."""

SMALL: Final = {
    "open": Rules((2, 1, 0, 0, 0, 0, 1, 1, 0, 0, 2), 3, 1, 2, 2, 1, 2),
    "points": Rules((3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0), 1, 2, 1, 2, 1),
    "city": Rules((2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1), 1, 2, 1, 2, 1, 1),
    "rounds": Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2), 0, 1, 1, 1, 2, 2),
    "hand3": Rules((3, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0), 1, 3, 1, 3, 1),
}
"""Small games that are solved exactly; docs/openspiel.md says what each is for.

The numbers are copies, removed, hand_size, opening_row, take_size, rounds, cities_needed.
"""

_MEASURED = ("points", "hand3")  # by `small_games`; the last one needs a mixed policy
_PARTS = 8  # of the trials of a bot

MOST_SEQUENCES = 200_000
"""The most sequences of both seats; a game of this size takes minutes to solve."""


class Decision(NamedTuple):
    """A view of the seat to act, the sequence that leads to it, and that of its first action."""

    parent: int
    first: int
    seen: View

    def sequences(self) -> range:
        """Return the numbers of the sequences that end with its actions, as `seen.legal`."""
        return range(self.first, self.first + len(self.seen.legal))


class Exact:
    """A small variant of the game in sequence form; a win is worth 1, a loss -1.

    `decisions[seat]` has every view at which a seat decides, in the order of play; `payoffs` has
    the first seat's winnings by two sequences, times the probability of the chance moves. Raises
    InputError for rules whose game is too large, and without scipy.

    >>> rules = Rules((2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0, 1, 1, 1, 1)
    >>> game = Exact(rules)
    >>> game.value, game.exploitability(game.optimal())
    (0.0, 0.0)
    >>> game.exploitability(lambda view: {view.legal[0]: 1.0})
    0.333333333
    """

    def __init__(self, rules: Rules, most: int = MOST_SEQUENCES) -> None:
        if not find_spec("scipy"):
            raise missing("scipy")
        self.rules = rules
        self.decisions: tuple[list[Decision], list[Decision]] = ([], [])
        self._most = most
        self._sizes = [1, 1]  # sequence 0 is the empty sequence
        self._numbers: dict[View, Decision] = {}
        self._ends: dict[tuple[int, int], float] = {}
        for state, chance in _openings(rules):
            self._begin_round(state, chance, (0, 0))
        self._numbers.clear()
        ends = [(*last, worth) for last, worth in self._ends.items()]
        self.payoffs = _matrix(ends, (self._sizes[0], self._sizes[1]))

    def _begin_round(self, state: State, chance: float, last: tuple[int, int]) -> None:
        """Continue with every two hands with which a round may begin."""
        held = self.rules.hand_size
        unseen = self.rules.pack - sum(state.piles) - pack_of(state.row)
        for first, odds in _hands(unseen, held):
            for second, more in _hands(unseen - first, held):
                dealt = state.copy()
                dealt.hands = [first, second]
                self._walk(dealt, chance * odds * more, last)

    def _walk(self, state: State, chance: float, last: tuple[int, int]) -> None:
        """Add the subtree of a position; `last` has the last sequence of each seat."""
        if state.over:
            winner = outcome(state.piles, self.rules).winner
            if winner is not None:
                self._ends[last] = self._ends.get(last, 0.0) + chance * (1 - 2 * winner)
            return
        seat = state.to_act
        decision = self._find(view(state, seat), last[seat])
        for number, action in zip(decision.sequences(), decision.seen.legal, strict=True):
            after = state.copy()
            after.apply(action)
            then = (last[0], number) if seat else (number, last[1])
            walk = self._walk if after.round == state.round else self._begin_round
            walk(after, chance, then)

    def _find(self, seen: View, parent: int) -> Decision:
        """Return the decision at a view; it is created at the first call."""
        seat = seen.seat
        if seen not in self._numbers:
            self._numbers[seen] = Decision(parent, self._sizes[seat], seen)
            self._sizes[seat] += len(seen.legal)
            self.decisions[seat].append(self._numbers[seen])
            if sum(self._sizes) > self._most:
                raise InputError(f"rules: the game has more than {self._most:,} sequences")
        assert self._numbers[seen].parent == parent, "a view tells all that its seat did"
        return self._numbers[seen]

    def views(self) -> list[View]:
        """Return every view at which a seat decides."""
        return [decision.seen for decisions in self.decisions for decision in decisions]

    @property
    def value(self) -> float:
        """The value of the game for the first seat."""
        return round(self._solved[0][1], 9) + 0.0

    def optimal(self) -> Policy:
        """Return an equilibrium: a policy for both seats against which none exceeds the value."""
        plans = [plan for plan, _ in self._solved]
        table: dict[View, dict[Action, float]] = {}
        for seat, plan in enumerate(plans):
            for decision in self.decisions[seat]:
                shares = np.maximum(plan[decision.sequences()], 0)
                whole = shares.sum()
                shares = shares / whole if whole > 0 else np.full(len(shares), 1 / len(shares))
                table[decision.seen] = dict(zip(decision.seen.legal, shares.tolist(), strict=True))
        return table.__getitem__

    def result(self, first: Policy, second: Policy) -> float:
        """Return the expected winnings of the first seat if the seats play these policies."""
        return float(self._plan(0, first) @ (self.payoffs @ self._plan(1, second)))

    def worst(self, seat: Seat, policy: Policy, known: Policy | None = None) -> float:
        """Return the expected winnings of a policy at a seat against the best response to it.

        With `known` they are those against the best response to another policy.
        """
        response = self._respond(1 - seat, self._winnings(seat, known or policy))
        return -float(response @ self._winnings(seat, policy))

    def exploitability(self, policy: Policy, known: Policy | None = None) -> float:
        """Return the expected loss of a policy against best responses, the mean of both seats.

        It is 0 for an optimal policy and at most 1; OpenSpiel's `exploitability` is the same. With
        `known` they are the best responses to another policy, and the loss is at most as large.
        """
        return round(-sum(self.worst(seat, policy, known) for seat in (0, 1)) / 2, 9) + 0.0

    def _winnings(self, seat: Seat, policy: Policy) -> Plan:
        """Return the winnings of the other seat, by its sequences, against a policy at a seat."""
        plan = self._plan(seat, policy)
        return np.asarray(self.payoffs @ plan if seat else -(plan @ self.payoffs))

    def _plan(self, seat: Seat, policy: Policy) -> Plan:
        """Return the realisation plan of a seat under a policy."""
        plan = np.zeros(self._sizes[seat])
        plan[0] = 1.0
        for decision in self.decisions[seat]:
            odds = policy(decision.seen)
            for number, action in zip(decision.sequences(), decision.seen.legal, strict=True):
                plan[number] = plan[decision.parent] * odds.get(action, 0.0)
        return plan

    def _respond(self, seat: Seat, gains: Plan) -> Plan:
        """Return the plan of a seat's best response; `gains` are the winnings by sequence."""
        worth, plan = gains.copy(), np.zeros(len(gains))
        for decision in reversed(self.decisions[seat]):
            worth[decision.parent] += worth[decision.sequences()].max()
        plan[0] = 1.0
        for decision in self.decisions[seat]:
            best = decision.first + int(worth[decision.sequences()].argmax())
            plan[best] = plan[decision.parent]
        return plan

    @cached_property
    def _solved(self) -> tuple[tuple[Plan, float], ...]:
        """An optimal plan for each seat, and its guaranteed winnings."""
        return self._maximise(0, self.payoffs), self._maximise(1, -self.payoffs.T)

    def _maximise(self, seat: Seat, payoffs: Any) -> tuple[Plan, float]:
        """Return the maximin plan of a seat and its value, by linear programming.

        The variables are the plan and, for each decision of the opponent, its value to the seat,
        which is bounded by every sequence of the opponent. The last value is that of the game.
        """
        from scipy.optimize import linprog
        from scipy.sparse import hstack

        own, theirs = self._constraints(seat), self._constraints(1 - seat)
        plans, worths = own.shape[1], theirs.shape[0]
        goal = np.zeros(plans + worths)
        goal[plans] = -1.0  # the value of the opponent's empty sequence is that of the game
        start = np.zeros(own.shape[0])
        start[0] = 1.0
        done: Any = linprog(
            goal,
            A_ub=hstack([-payoffs.T, theirs.T]),
            b_ub=np.zeros(theirs.shape[1]),
            A_eq=hstack([own, _matrix([], (own.shape[0], worths))]),
            b_eq=start,
            bounds=[(0, None)] * plans + [(None, None)] * worths,
        )
        assert done.success, done.message
        return done.x[:plans], -float(done.fun)

    def _constraints(self, seat: Seat) -> Any:
        """Return the constraints of a plan: a row for the empty sequence and each decision."""
        entries = [(0, 0, 1.0)]
        for row, decision in enumerate(self.decisions[seat], start=1):
            entries.append((row, decision.parent, -1.0))
            entries += [(row, number, 1.0) for number in decision.sequences()]
        return _matrix(entries, (len(self.decisions[seat]) + 1, self._sizes[seat]))


def _matrix(entries: list[tuple[int, int, float]], shape: tuple[int, int]) -> Any:
    """Return a sparse matrix with these entries: row, column and value."""
    from scipy.sparse import csr_array

    table = np.array(entries, dtype=float).reshape(-1, 3)
    rows, columns = table[:, :2].astype(int).T
    return csr_array((table[:, 2], (rows, columns)), shape=shape)


def _openings(rules: Rules) -> Iterator[tuple[State, float]]:
    """Yield a state with every opening row, before hands are dealt, and its probability."""
    begun = State(rules.deck, rules)
    begun.hands = [0, 0]
    for row, chance in _rows(rules.pack, rules.opening_row):
        state = begun.copy()
        state.row = state.opening = row
        yield state, chance


def _rows(unseen: Pack, length: int) -> Iterator[tuple[bytes, float]]:
    """Yield every row of `length` of the unseen cards, and its probability."""
    if not length:
        yield b"", 1.0
        return
    for card, odds in _hands(unseen, 1):
        for row, chance in _rows(unseen - card, length - 1):
            yield cards_of(card) + row, chance * odds


def _hands(unseen: Pack, held: int) -> Iterator[tuple[Pack, float]]:
    """Yield every hand of `held` of the unseen cards, and its probability."""
    whole = comb(size(unseen), held)
    for pack, ways in choices(unseen, held):
        yield pack, ways / whole


def estimate(bot: Bot, rules: Rules, samples: int, seed: int = 0) -> Policy:
    """Return the frequencies of a bot's actions at each view in `samples` trials.

    Each trial makes a new strategy with a generator of its own, and calls it at that view only: the
    result is the policy of bots that do not remember earlier views. A forced action is not asked
    for.

    >>> from bots.greedy import bot
    >>> from engine import STANDARD
    >>> estimate(bot, STANDARD, samples=1)(View.from_text("0 5678C xy"))
    {10: 1.0}
    """

    @cache
    def policy(seen: View) -> Mapping[Action, float]:
        if len(seen.legal) == 1:
            return {seen.legal[0]: 1.0}
        lucks = (stream(seed, seen.to_text(), number) for number in range(samples))
        return _shares([bot(Setup(luck, seen.seat, rules)).choose(seen) for luck in lucks])

    return policy


def _shares(chosen: Sequence[Action]) -> dict[Action, float]:
    return {action: chosen.count(action) / len(chosen) for action in set(chosen)}


def small_games() -> Iterator[tuple[str, Rules, Callable[..., tuple[float, float, int]]]]:
    """Yield two small games, and what measures a bot there.

    It gets what chooses at a view in a trial of some number, and how many trials there are. It
    returns the ends of the exploitability's 95 % interval, which are equal with one trial, and the
    number of views with a choice.
    """
    for name in _MEASURED:
        yield name, SMALL[name], partial(_exploit, Exact(SMALL[name]))


def _exploit(
    game: Exact, choose: Callable[[View, int], Action], trials: int
) -> tuple[float, float, int]:
    """Return the interval of a bot's exploitability, and the number of views with a choice.

    The best response to a sample of the bot's choices wins more from that sample than anybody wins
    from the bot. The best response to some trials wins from the others what it wins from the bot,
    which is no more than the best one wins. So the ends are these means with their errors.
    """
    numbers = range(trials)
    views = [seen for seen in game.views() if len(seen.legal) > 1]
    chosen = {seen: [choose(seen, number) for number in numbers] for seen in views}

    def policy(some: Iterable[int]) -> Policy:
        def shares(seen: View) -> Mapping[Action, float]:
            made = chosen.get(seen)
            return _shares([made[number] for number in some]) if made else {seen.legal[0]: 1.0}

        return shares

    most = game.exploitability(policy(numbers))
    if trials == 1:
        return most, most, len(views)
    found = []
    for part in range(_PARTS):
        own = policy(numbers[part::_PARTS])
        others = policy([number for number in numbers if number % _PARTS != part])
        found.append((game.exploitability(own), game.exploitability(own, others)))
    from scipy.stats import t

    high, low = np.std(found, axis=0, ddof=1) * t.ppf(0.975, _PARTS - 1) / _PARTS**0.5
    return float(np.mean(found, axis=0)[1] - low), float(min(1.0, most + high)), len(views)
