"""What a seat knows, what it believes of the opponent's hand, and whom a bot plays like."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.lockstep import Lockstep, of_both
from arena.batch.positions import Cards, Indices, packs_of
from arena.batch.replay import NOTHING, Bools
from arena.batch.rollouts import Policy, pick
from engine import TAKE, Pack, View, hands
from engine.cards import KINDS, cards_of, pack_of, to_text
from engine.state import played

Floats: TypeAlias = npt.NDArray[np.float64]

DOUBT: Final = 1 / 64
"""The probability that an opponent deviates from its policy."""


class Model(NamedTuple):
    """A model of an opponent: a policy, from which it deviates with probability `doubt`.

    Without a policy all cards of its hand and the take are equally likely, so that its remaining
    hand is uniform over the unseen cards. `share` is the prior probability of the model.
    """

    policy: Policy | None
    doubt: float = DOUBT
    share: float = 1.0


class Mix(NamedTuple):
    """A model of an opponent that draws one of several policies, or any action, at each decision.

    `weights` are the probabilities of the policies; the rest is that of any legal action. `share`
    is the prior probability of the model.
    """

    policies: Sequence[Policy]
    weights: Sequence[float]
    share: float = 1.0


class Belief:
    """The probability distribution over the opponent's possible hands.

    At the beginning of a round the weight of a hand is the number of its deals. By Bayes' rule each
    action of the opponent multiplies the weight of a hand by the probability of the action: with
    that hand a model's policy plays one action, and with probability `doubt` another legal action.
    So no hand is excluded by a wrong policy. The posterior of several models follows from their
    shares and the actions in finished rounds, of which all cards are known by then. `games` are the
    worlds, one for each hand, at the position of the last view; they end with the round, and are
    stepped with the game, so that a decision costs only the plies since the last one. The `weights`
    are not normalised.

    >>> belief = Belief([Model(lambda games: np.arange(12.0) + np.zeros((games.count, 1)))])
    >>> belief.update(View.from_text("1 5678C xy T"))
    >>> len(belief.hands), float(belief.weights.sum())
    (2444, 494099.15625)
    """

    def __init__(self, models: Sequence[Model | Mix]) -> None:
        self.models = models
        self.shares: Floats = np.array([model.share for model in models])
        self.games = Lockstep(0)
        self._by_model: Floats = np.zeros((len(models), 0))
        self._seen: View | None = None

    @property
    def hands(self) -> list[Pack]:
        """The hands, in the order of the weights."""
        assert self._seen is not None, "a view comes first"
        held = self.games.hands[self._seen.opponent]
        packs: list[Pack] = packs_of(held).tolist()
        return packs

    @property
    def weights(self) -> Floats:
        """The weight of each hand, proportional to its probability."""
        weights: Floats = (self.shares[:, None] * self._by_model).sum(axis=0)
        return weights

    @property
    def chances(self) -> Floats:
        """The posterior probability of each model; they add up to 1."""
        odds = self.shares * self._by_model.sum(axis=1)
        chances: Floats = odds / odds.sum()
        return chances

    def update(self, view: View) -> None:
        """Update the belief to a view of an unfinished game.

        If the view does not follow the last one, the belief begins anew with the view's round.
        """
        start, last = _start(view, view.round), self._seen
        follows = last and start == _start(last, last.round)
        if not last or not follows or not view.history.startswith(last.history):
            if len(self.models) > 1:
                self._judge(view)
            self._begin(start, [*hands(start)])
            last = start
        self._go_on(view, len(last.history), len(view.history))
        self._seen = view

    def _begin(self, start: View, worlds: Sequence[tuple[Pack, int]]) -> None:
        """Begin a round with these hands of the opponent and the number of deals of each."""
        self.games = Lockstep.from_view(start, [hand for hand, _ in worlds])
        ways = np.array([ways for _, ways in worlds], np.float64)
        self._by_model = np.tile(ways, (len(self.models), 1))

    def _judge(self, view: View) -> None:
        """Compute the posterior of the models from the rounds before that of a view."""
        self.shares = np.array([model.share for model in self.models])
        for number in range(1, view.round):
            start = _start(view, number)
            theirs = pack_of(played(view.history, number - 1, view.opponent, view.rules))
            self._begin(start, [(theirs, 1)])
            first = len(start.history)
            self._go_on(view, first, first + view.rules.round_plies)
            self.shares = self.shares * self._by_model[:, 0]
            self.shares = self.shares / self.shares.sum()

    def _go_on(self, view: View, first: int, last: int) -> None:
        """Update the belief by these plies of a round."""
        for ply in range(first, last):
            if view.rules.seat_at(ply) != view.seat:
                self._learn(view.history[ply])
            self.games.step(np.full(self.games.count, view.history[ply]))

    def _learn(self, action: int) -> None:
        """Reweight the hands by an action of the opponent, which some of them exclude."""
        able = np.flatnonzero(self.games.legal()[:, action])
        if len(able) < self.games.count:
            self.games, self._by_model = self.games.select(able), self._by_model[:, able]
        others = self.games.legal().sum(axis=1) - 1
        says = cache(lambda policy: pick(self.games, policy) == action)
        chances = np.ones_like(self._by_model)
        for row, model in zip(chances, self.models, strict=True):
            if isinstance(model, Mix):
                row[:] = (1 - sum(model.weights)) / (others + 1)
                for policy, weight in zip(model.policies, model.weights, strict=True):
                    row += weight * says(policy)
            elif model.policy is None:
                row[:] = self._any_card(action)
            else:
                by_chance = model.doubt / np.maximum(others, 1)
                row[:] = np.where(says(model.policy), 1 - model.doubt, by_chance)
        self._by_model = self._by_model * np.where(others, chances, 1.0)

    def _any_card(self, action: int) -> Floats:
        """Return the probabilities of an action if all cards of the hand and the take are equal."""
        seat = int(self.games.to_act[0])
        held = self.games.hands[seat]
        ways = held[action] if action != TAKE else np.ones(self.games.count)
        chances: Floats = ways / (held.sum(axis=0) + self.games.legal()[:, TAKE])
        return chances

    def sample(self, most: int) -> tuple[Indices, npt.NDArray[np.int64]]:
        """Return the numbers of at most `most` hands, with whole weights.

        All hands are returned if they are few enough. Otherwise they are drawn by systematic
        sampling, at equal distances along the sum of all weights, so that each is drawn in
        proportion to its weight, rounded up or down.
        """
        weights = self.weights
        count = len(weights)
        if count <= most:
            whole = np.rint(weights * (_WHOLE / weights.max())).astype(np.int64)
            return np.arange(count), whole
        sums = weights.cumsum()
        places = (np.arange(most) + 0.5) * (sums[-1] / most)
        drawn = np.minimum(sums.searchsorted(places, side="right"), count - 1)
        chosen, times = np.unique(drawn, return_counts=True)
        return chosen, times.astype(np.int64)


_WHOLE = 1 << 20


def _start(view: View, number: int) -> View:
    """Return the view of the same seat at the beginning of a round, this or an earlier one."""
    own = played(view.history, number - 1, view.seat, view.rules)
    held = pack_of(own) + (view.hand if number == view.round else 0)
    hand = to_text(cards_of(held))
    history = to_text(view.history[: (number - 1) * view.rules.round_plies])
    return View.from_text(
        f"{view.seat} {hand} {to_text(view.opening) or '-'} {history}".rstrip(), view.rules
    )


Counts: TypeAlias = npt.NDArray[np.int8]

_ONE_EACH = np.eye(len(KINDS), dtype=np.int8)[:, :, None]


class Seats:
    """The information of the seats to act; arrays have a column for each game.

    Packs are (kind, game). `own` and `other` are the piles of the seats to act and of their
    opponents, and `hand` are the hands of the seats to act. `taken` and `cards` have the seat to
    act first, then its opponent: whether it has taken in this round, and the number of its cards.
    All are of the position at which the object is made; its methods are valid until the games are
    stepped.

    >>> from engine import TAKE, State
    >>> games = Lockstep(1)
    >>> deal = State.from_text("555556666667777777888888882222334xxxyyyyzzCCC").deal()
    >>> games.begin(np.arange(1), np.frombuffer(deal, np.uint8)[None])
    >>> games.step(np.array([TAKE]))
    >>> seats = Seats(games)
    >>> seats.cards[:, 0].tolist(), seats.taken[:, 0].tolist(), seats.other[:4, 0].tolist()
    ([5, 5], [False, True], [0, 1, 1, 0])
    """

    def __init__(self, games: Lockstep) -> None:
        self._games = games
        self._second = games.to_act == 1
        packs = np.empty_like(games.piles)
        of_both(games.piles, games.to_act, *packs)
        self.own, self.other = packs.view(np.int8)
        self.taken = games.taken ^ ((games.taken[0] ^ games.taken[1]) & self._second)
        played = (np.stack([games.plies, games.plies + 1]) >> 1) - self.taken
        self.cards = games.rules.hand_size - played

    @cached_property
    def hand(self) -> Counts:
        """The hands of the seats to act."""
        hands = np.empty_like(self._games.hands)
        of_both(self._games.hands, self._games.to_act, *hands)
        mine: Counts = hands[0].view(np.int8)
        return mine

    def piles(self, own: npt.NDArray[np.bool_]) -> tuple[Counts, Counts]:
        """Return two piles for each game: the own one first if `own`, else the other one first."""
        return np.where(own, self.own, self.other), np.where(own, self.other, self.own)

    @property
    def unseen(self) -> Counts:
        """The cards unseen by the seats to act."""
        copies = np.array(self._games.rules.copies, np.int8)[:, None]
        seen: Counts = self.hand + self.own + self.other + self._games.in_row.view(np.int8)
        return copies - seen

    def newest(self, most: int) -> Counts:
        """Return the `most` newest cards of the rows."""
        return self._games.count_newest(slice(None), max(0, most)).view(np.int8)

    @cached_property
    def take(self) -> Counts:
        """The cards that a take brings."""
        return self.newest(self._games.take_size)

    @property
    def next_take(self) -> Counts:
        """The cards that the next take brings if this one is carried out."""
        return self.newest(2 * self._games.take_size) - self.take

    @property
    def after_play(self) -> Counts:
        """The cards that a take brings after one more card of each kind (kind, card, game)."""
        return self.newest(self._games.take_size - 1)[:, None] + _ONE_EACH

    def after_plays(self, cards: Indices, games: Indices) -> Counts:
        """Return the cards that takes bring after two more cards (kind, second card, play).

        The first card is `cards` in each of `games`; the second is of each kind.
        """
        row = self.newest(self._games.take_size - 2)[:, games]
        if self._games.take_size > 1:
            row[cards, np.arange(len(games))] += 1
        return row[:, None] + _ONE_EACH


_STEPS = 30  # of the fit; later ones change a weight by less than .001


class Moves(NamedTuple):
    """The moves of some bots that were not forced: a row for each.

    `bot` is the number of the bot, `says` (move, policy) whether a policy plays the same action
    with the same hand, and `legal` the number of legal actions.
    """

    bot: Indices
    says: Bools
    legal: Indices


def read_moves(deals: Cards, actions: Cards, bots: Indices, policies: Sequence[Policy]) -> Moves:
    """Return the moves of games and what the policies would play in their place.

    `deals` (game, card) and `actions` (game, ply) are those of games under the published rules,
    with NOTHING after their end; `bots` (game, seat) are the numbers of the bots.
    """
    games = Lockstep(len(deals))
    games.begin(np.arange(len(deals)), deals)
    found: list[tuple[Indices, Bools, Indices]] = []
    for action in np.ascontiguousarray(actions.T):
        legal = games.legal().sum(axis=1)
        some = np.flatnonzero((action != NOTHING) & (legal > 1))
        if len(some):
            at = games.select(some)
            says = np.stack([pick(at, policy) == action[some] for policy in policies], axis=1)
            found.append((bots[some, games.to_act[some]], says, legal[some]))
        games.step(np.where(action == NOTHING, 0, action))
    return Moves(*map(np.concatenate, zip(*found, strict=True)))


def fit_weights(seen: Moves, bot: int) -> Floats:
    """Return with which probabilities a bot plays as each policy; what is left is any action.

    The likeliest ones of its moves, by expectation maximisation, with one move more for each.

    >>> says = np.array([[True, False]] * 8 + [[False, False]] * 2)
    >>> seen = Moves(np.zeros(10, int), says, np.full(10, 4))
    >>> fit_weights(seen, 0).round(2).tolist()
    [0.69, 0.03]
    """
    mine = seen.bot == bot
    likely = np.column_stack([seen.says[mine], 1 / seen.legal[mine]])
    weights = np.full(likely.shape[1], 1 / likely.shape[1])
    for _ in range(_STEPS):
        parts = likely * weights
        parts /= parts.sum(axis=1, keepdims=True)
        weights = (parts.sum(axis=0) + 1 / len(weights)) / (len(parts) + 1)
    fitted: Floats = weights[:-1]
    return fitted
