"""Tree search, with values of piles and row learned from games.

The search is that of `ismcts`. What piles and row are worth after a round was learned from
games by `python -m bench.values`, by logistic regression. Under other rules than the
published ones it uses the heuristic value of `ismcts` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp
from typing import Any, NamedTuple, Protocol

from bots.endgame import OpenHand
from bots.ismcts import Ismcts, Node
from engine import (
    CITY,
    KINDS,
    STANDARD,
    SUPPORTS,
    TAKE,
    VALUES,
    Action,
    Pack,
    Seat,
    Setup,
    State,
    View,
)
from engine.cards import MOST_COPIES, count, pack_of
from engine.rules import first_seat
from engine.scoring import count_sets, net_deals, outcome


class Cities(NamedTuple):
    """The worth of cities: by number `held`, and more for threats of a win by City."""

    held: float
    unrivalled: float
    in_row: float


class Role(NamedTuple):
    """The weights of a pile: of the first to the fourth card of each support, and of the rest."""

    fives: tuple[float, ...]
    sixes: tuple[float, ...]
    sevens: tuple[float, ...]
    eights: tuple[float, ...]
    whole_set: float
    point: float  # of alliances and betrayals
    one_city: Cities
    two_cities: Cities


class Weights(NamedTuple):
    """The weights after a round, in logits of the chance to win of the seat that begins the next.

    `begins` is for that seat's pile, `follows` for the other one. For 5, 6, 7 and 8, `share` is for
    the lead divided by the cards left, `sure` for a lead that cannot be overtaken. `row` is for a
    card of each kind in the row.
    """

    constant: float
    begins: Role
    follows: Role
    share: tuple[float, ...]
    sure: tuple[float, ...]
    row: tuple[float, ...]


class ToTake(NamedTuple):
    """The weights of `features_to_take`, in favour of the seat that is still to take.

    `now` is the weight of the logit as if the round had ended, `gain` that of the logit's gain by a
    take from the row as it is. `lacking` is for the share of a whole take that the row lacks,
    `city` for a take that would win by City.
    """

    now: float
    gain: float
    constant: float
    lacking: float
    city: float


# fmt: off
LEARNED = {
    1: Weights(
        constant=-0.33,
        begins=Role(
            fives=(0.35, 0.35, 0, -0.03),
            sixes=(0.33, 0.28, 0.04, -0.09),
            sevens=(0.33, 0.24, 0.26, -0.01),
            eights=(0.32, 0.33, 0.31, -0.01),
            whole_set=0.08, point=0.13,
            one_city=Cities(held=0.39, unrivalled=0.1, in_row=0.47),
            two_cities=Cities(held=0.49, unrivalled=0.71, in_row=0.7),
        ),
        follows=Role(
            fives=(0.39, 0.37, 0, -0.02),
            sixes=(0.35, 0.32, 0.34, 0.12),
            sevens=(0.35, 0.34, 0.25, 0.11),
            eights=(0.31, 0.44, 0.24, -0.11),
            whole_set=-0.01, point=0.13,
            one_city=Cities(held=0.34, unrivalled=0.26, in_row=0.11),
            two_cities=Cities(held=0.49, unrivalled=0.65, in_row=-0.05),
        ),
        share=(0.41, 0.41, 0.39, 0.32),
        sure=(0, 0.03, 0.1, 0.05),
        row=(0.1, 0.08, 0.07, 0.05, -0.03, 0.05, 0.16, 0.05, 0.01, -0.02, 0.1),
    ),
    2: Weights(
        constant=-0.03,
        begins=Role(
            fives=(0.46, 0.36, 0.08, 0.24),
            sixes=(0.31, 0.37, 0.11, 0.15),
            sevens=(0.37, 0.42, 0.31, 0.1),
            eights=(0.33, 0.36, 0.35, 0.07),
            whole_set=0.03, point=0.15,
            one_city=Cities(held=0.47, unrivalled=0.03, in_row=0.88),
            two_cities=Cities(held=0.42, unrivalled=0.78, in_row=1.93),
        ),
        follows=Role(
            fives=(0.43, 0.39, -0.03, 0.17),
            sixes=(0.37, 0.32, 0.16, -0.07),
            sevens=(0.36, 0.37, 0.28, 0),
            eights=(0.29, 0.37, 0.36, 0.02),
            whole_set=0.02, point=0.14,
            one_city=Cities(held=0.47, unrivalled=0.1, in_row=0.28),
            two_cities=Cities(held=0.43, unrivalled=0.88, in_row=-0.29),
        ),
        share=(0.61, 0.71, 0.47, 0.7),
        sure=(0.06, 0.07, 0.1, 0.09),
        row=(0.06, 0.06, 0.05, 0.05, 0.01, 0.06, 0.11, -0.05, -0.04, 0.01, 0.03),
    ),
    3: Weights(
        constant=-0.57,
        begins=Role(
            fives=(0.42, 0.55, 0, 0.24),
            sixes=(0.34, 0.43, 0.31, 0.03),
            sevens=(0.29, 0.41, 0.32, -0.06),
            eights=(0.22, 0.3, 0.38, 0),
            whole_set=0.27, point=0.19,
            one_city=Cities(held=0.45, unrivalled=-0.02, in_row=1.84),
            two_cities=Cities(held=0.38, unrivalled=0.51, in_row=3.75),
        ),
        follows=Role(
            fives=(0.44, 0.45, 0.01, 0.14),
            sixes=(0.37, 0.47, 0.36, 0.03),
            sevens=(0.4, 0.41, 0.31, -0.02),
            eights=(0.31, 0.27, 0.38, 0),
            whole_set=0.18, point=0.18,
            one_city=Cities(held=0.4, unrivalled=0.05, in_row=0.51),
            two_cities=Cities(held=0.43, unrivalled=1.1, in_row=-0.32),
        ),
        share=(0.94, 0.81, 1.13, 1.63),
        sure=(0.01, 0.06, -0.08, -0.29),
        row=(0.15, 0.12, 0.13, 0.15, 0.09, 0.1, 0.16, 0, -0.08, -0.01, 0.07),
    ),
}
# fmt: on
"""The weights by the round that has ended."""

TO_TAKE = {
    1: ToTake(now=0.62, gain=0.67, constant=0, lacking=1.01, city=2.99),
    2: ToTake(now=0.95, gain=0.68, constant=0.59, lacking=1.33, city=4.99),
    3: ToTake(now=0.82, gain=0.61, constant=0.53, lacking=1.52, city=6.17),
    4: ToTake(now=1.36, gain=1.03, constant=0.63, lacking=2.51, city=3.35),
}
"""The weights by the round in which one seat has taken and the other one is still to take, learned
by `python -m bench.to_take`."""

_WIDTH = MOST_COPIES + 1


class Values:
    """The value of two piles and a row after a round of the published game."""

    def __init__(self, weights: Weights) -> None:
        roles = weights.begins, weights.follows
        self.constant = weights.constant
        self.row = weights.row
        self.cities = tuple([role.one_city + role.two_cities for role in roles])
        self.worth = tuple([(role.whole_set, role.point) for role in roles])
        self.known: tuple[dict[Pack, float], dict[Pack, float]] = ({}, {})
        self.leads = []
        for kind in SUPPORTS:
            cards = [(role.fives, role.sixes, role.sevens, role.eights)[kind] for role in roles]
            lead = _lead_table(kind, cards, weights.share[kind], weights.sure[kind])
            self.leads.append(lead)

    def logit(self, first: Pack, second: Pack, row: bytes) -> float:
        """Return the chance to win, as a logit, of the first pile's owner, the seat to begin."""
        fives, sixes, sevens, eights = self.leads
        logit = (
            self.constant
            + self.pile_worth(0, first)
            - self.pile_worth(1, second)
            + fives[(first & 31) << 5 | second & 31]
            + sixes[first & 31 << 5 | second >> 5 & 31]
            + sevens[first >> 5 & 31 << 5 | second >> 10 & 31]
            + eights[first >> 10 & 31 << 5 | second >> 15 & 31]
        )
        for kind in row:
            logit += self.row[kind]
        mine, theirs = count(first, CITY), count(second, CITY)
        if mine and not theirs:
            logit += self.threat(0, mine, row)
        elif theirs and not mine:
            logit -= self.threat(1, theirs, row)
        return logit

    def pile_worth(self, role: int, pile: Pack) -> float:
        """Return the worth of a pile by its own sets, deals and cities."""
        known = self.known[role].get(pile)
        if known is None:
            per_set, per_point = self.worth[role]
            whole = count_sets(pile)
            held = (0.0, self.cities[role][0], self.cities[role][3])
            known = per_set * whole + per_point * net_deals(pile) + held[count(pile, CITY)]
            self.known[role][pile] = known
        return known

    def threat(self, role: int, held: int, row: bytes) -> float:
        """Return the additional worth of held cities while the other seat does not have any."""
        _, unrivalled, in_row = self.cities[role][3 * held - 3 : 3 * held]
        return unrivalled + (in_row if row.count(CITY) == STANDARD.cities_needed - held else 0.0)


def _lead_table(
    kind: int, cards: list[tuple[float, ...]], share: float, sure: float
) -> list[float]:
    """Return the worth of a support, at index 32 times the first count plus the second."""
    table = [0.0] * _WIDTH * _WIDTH
    copies = STANDARD.copies[kind]
    for mine in range(copies + 1):
        for theirs in range(copies + 1 - mine):
            ahead, left = mine - theirs, copies - mine - theirs
            turned = (ahead > left) - (-ahead > left)
            table[mine * _WIDTH + theirs] = (
                sum(cards[0][:mine])
                - sum(cards[1][:theirs])
                + share * max(-1.0, min(1.0, ahead / (left + 1)))
                + sure * turned
            )
    return table


_VALUES = {played: Values(weights) for played, weights in LEARNED.items()}


def logit_after(played: int, piles: tuple[Pack, Pack], row: bytes) -> float:
    """Return the chance of seat 0 to win, as a logit, after `played` rounds."""
    values = _VALUES[played]
    if first_seat(played):
        return -values.logit(piles[1], piles[0], row)
    return values.logit(piles[0], piles[1], row)


def logit_within(view: View) -> float:
    """Return the chance of seat 0 to win, as a logit, by what both seats see of a round.

    Before the first take the weights of the previous round are used, and after the second take
    those of this round. In between, the seat that is still to take would seem to be behind: TO_TAKE
    corrects for its expected take.
    """
    number = view.round
    if view.taken[0] == view.taken[1]:
        return logit_after(number if view.taken[0] else max(1, number - 1), view.piles, view.row)
    seat = view.taken.index(False)
    now, gain, constant, lacking, city = features_to_take(view, seat)
    weights = TO_TAKE[number]
    own = weights.constant * constant + weights.lacking * lacking + weights.city * city
    return weights.now * now + weights.gain * gain + (own if seat == 0 else -own)


def settled_piles(view: View) -> tuple[Pack, Pack] | None:
    """Return the piles at the end of the game, if both seats see that they are settled.

    In the last round they are once both have taken. A seat with one action left that has not taken
    must take, because it has played its five cards (R7, R8), so its take is known, too.
    """
    taken, row, piles = [*view.taken], view.row, [*view.piles]
    if not view.over and view.round == STANDARD.rounds:
        ply = len(view.history)
        while not all(taken):
            seat = STANDARD.seat_at(ply)
            if STANDARD.game_plies - ply > 2 or taken[seat]:
                return None
            start = max(0, len(row) - STANDARD.take_size)
            piles[seat], row = piles[seat] + pack_of(row[start:]), row[:start]
            if piles[seat] >= STANDARD.city_pack:
                break
            taken[seat] = True
            ply += 1
    elif not view.over:
        return None
    return piles[0], piles[1]


def features_to_take(view: View, seat: Seat) -> tuple[float, float, float, float, float]:
    """Return the features that TO_TAKE weighs, while this seat is still to take."""
    played = min(view.round, STANDARD.rounds - 1)
    now = logit_after(played, view.piles, view.row)
    start = max(0, len(view.row) - STANDARD.take_size)
    piles = [*view.piles]
    piles[seat] += pack_of(view.row[start:])
    wins = piles[seat] >= STANDARD.city_pack
    gain = 0.0
    if not wins:
        gain = logit_after(played, (piles[0], piles[1]), view.row[:start]) - now
    return now, gain, 1.0, 1 - (len(view.row) - start) / STANDARD.take_size, float(wins)


def _find_policy() -> Callable[[View], Mapping[Action, float]]:
    from bots.apprentice import own_network  # numpy, which the search does without

    return own_network().policy


class Champion(Ismcts):
    """Searches as `ismcts` does, with learned values at the end of a round.

    At the beginning of a round it makes `iterations`. Later they are shorter, and it makes as many
    as take the same time, at most three times as many. `seconds` and `exploration` are those of
    `ismcts`. Under the published rules the last round is open-hand, as `endgame` plays it, unless
    `positions` is 0, and `prior` is the weight of the policy of `apprentice` beside the share of
    the visits. Under other rules `positions` bounds the search of the last round.
    """

    def __init__(
        self,
        setup: Setup,
        iterations: int = 1000,
        seconds: float | None = None,
        exploration: float = 0.4,
        positions: int = 2000,
        prior: float = 0.0,
    ) -> None:
        super().__init__(setup, iterations, seconds, exploration, "greedy", positions)
        self.exact = OpenHand(setup.rules, positions=positions)
        self.effort = iterations * setup.rules.round_plies
        self.most = 3 * iterations
        self.published = setup.rules == STANDARD
        self.prior = prior
        self.policy = _find_policy() if prior and self.published else None
        self.after: dict[tuple[Pack, Pack, bytes], float] = {}

    def search(self, view: View) -> Node:
        """Return the tree of a decision; every legal action has been visited."""
        self.after.clear()
        left = self.rules.round_plies - len(view.history) % self.rules.round_plies
        self.iterations = min(self.most, self.effort // left)
        return super().search(view)

    def preferred(self, view: View, actions: Sequence[Action], /) -> Action:
        """Return one of these actions, the one of the highest worth."""
        return max(actions, key=self.worths(view).__getitem__)

    def worths(self, view: View) -> dict[Action, float]:
        """Return the share of the visits of each action, plus its prior."""
        children = self.tree.children
        visits = sum(child.visits for child in children.values())
        worths = {action: child.visits / visits for action, child in children.items()}
        if self.policy:
            for action, probability in self.policy(view).items():
                worths[action] += self.prior * probability
        return worths

    def value(self, world: State) -> float:
        """Return the chance of seat 0 to win after this round, from 0 to 1."""
        if not self.published or world.round == self.rules.rounds:
            return super().value(world)
        first, second = world.piles
        key = (first, second, world.row)
        known = self.after.get(key)
        if known is None:
            if max(first, second) >= self.rules.city_pack:
                return super().value(world)
            values = _VALUES[world.round]
            if first_seat(world.round):
                known = 1.0 / (1.0 + exp(values.logit(second, first, world.row)))
            else:
                known = 1.0 / (1.0 + exp(-values.logit(first, second, world.row)))
            self.after[key] = known
        return known

    def chance(self, view: View, /) -> float | None:
        """Return the chance of the view's seat to win, by what both seats see.

        It comes from the learned values, without a search. None under rules other than the
        published ones.
        """
        if not self.published:
            return None
        if piles := settled_piles(view):
            winner = outcome(piles).winner
            chance = 0.5 if winner is None else 1.0 - winner
        else:
            chance = 1.0 / (1.0 + exp(-logit_within(view)))
        return chance if view.seat == 0 else 1.0 - chance

    @staticmethod
    def chances(games: Games, /) -> Any:
        """Return `chance` for seat 0 before each ply of many games (ply, game).

        The games are under the published rules; the entries after a game's end are undefined.
        """
        return _Chances(games).find()

    @staticmethod
    def values_after(games: Any, /) -> Any:
        """Call the function of this name, as the arena knows only the class."""
        return values_after(games)


class Games(Protocol):
    """Recorded games as arrays of numpy, as `arena.batch` makes them.

    `actions` are (game, ply). `piles` (ply, seat, kind, game), `row` (ply, kind, game) and
    `within`, the cards of the row that a take would bring, are those before each ply.
    """

    actions: Any
    piles: Any
    row: Any
    within: Any


class _ManyValues:
    """The `Values` after a round for many positions at once; arrays have a column for each."""

    def __init__(self, played: int) -> None:
        import numpy as np

        self.np: Any = np
        self.values = _VALUES[played]
        self.sign = -1 if first_seat(played) else 1
        self.leads = np.array(self.values.leads)
        cities = np.array(self.values.cities).reshape(2, 2, 3)
        self.cities = np.pad(cities, ((0, 0), (1, 0), (0, 0))).swapaxes(1, 2)  # (role, what, held)

    def logits(self, piles: Any, row: Any) -> Any:
        """Return seat 0's chance to win, as a logit, with piles (seat, kind, ...) and rows."""
        np = self.np
        counts = np.minimum(piles[:: self.sign], MOST_COPIES).astype(np.int16)
        logits = np.full(row.shape[1], self.values.constant)
        for weight, cards in zip(self.values.row, row, strict=True):
            logits += weight * cards
        for kind in SUPPORTS:
            logits += self.leads[kind].take(counts[0, kind] * _WIDTH + counts[1, kind])
        logits += self._worth(0, counts[0], counts[1, CITY], row[CITY])
        logits -= self._worth(1, counts[1], counts[0, CITY], row[CITY])
        return self.sign * logits

    def _worth(self, role: int, pile: Any, rivals: Any, in_row: Any) -> Any:
        """Return the worth of piles by their own sets, deals and cities, with threats."""
        np = self.np
        per_set, per_point = self.values.worth[role]
        held, unrivalled, missing = self.cities[role]
        cities = np.minimum(pile[CITY], STANDARD.cities_needed - 1)
        points = sum(value * pile[kind] for kind, value in enumerate(VALUES) if value)
        worth = per_set * pile[: len(SUPPORTS)].min(axis=0) + per_point * points
        worth += held.take(cities)
        alone = np.flatnonzero((cities > 0) & (rivals == 0))
        own = cities[alone]
        wins = in_row[alone] == STANDARD.cities_needed - own
        worth[alone] += unrivalled[own] + wins * missing[own]
        return worth


def values_after(games: Any) -> Any:
    """Return the chance of seat 0 to win in games of `arena.batch` that ended with a round."""
    chances = games.results()
    going_on = games.piles[:, CITY].max(axis=0) < STANDARD.cities_needed
    for played in LEARNED:
        some = (going_on & (games.round + 1 == played)).nonzero()[0]
        if len(some):  # by LEARNED, or by the result of a finished game
            values = _many_values(played)
            logits = values.logits(games.piles[:, :, some], games.in_row[:, some])
            chances[some] = 1.0 / (1.0 + values.np.exp(-logits))
    return chances


@cache
def _many_values(played: int) -> _ManyValues:
    return _ManyValues(played)


class _Chances:
    """The chances in many games, ply by ply.

    A card that is played changes a logit by its weight in the row. The logit is computed anew if
    piles change, if a city is added to the row, and while only one seat has taken.
    """

    def __init__(self, games: Games) -> None:
        import numpy as np

        self.np: Any = np
        self.games = games
        self.count, self.plies = games.actions.shape
        self.values = {played: _many_values(played) for played in _VALUES}
        self.weights = np.zeros((len(_VALUES) + 1, 1 << 8))
        for played, of in self.values.items():
            self.weights[played, : len(KINDS)] = of.sign * np.array(of.values.row)
        self.played = np.ones(self.count, np.intp)  # the rounds after which the logits apply
        self.now = np.zeros(self.count)
        self.taken = np.zeros((2, self.count), bool)

    def find(self) -> Any:
        """Return the chances of seat 0 (ply, game)."""
        np = self.np
        logits = np.empty((self.plies, self.count))
        actions = np.ascontiguousarray(self.games.actions.T)
        self._renew(0, np.arange(self.count))
        for start in range(0, self.plies, STANDARD.round_plies):
            self._begin_round(start)
            waiting = []  # games in which one seat has taken
            for ply in range(start, start + STANDARD.round_plies):
                logits[ply] = self.now
                waiting.append(self._positions(ply, np.flatnonzero(self.taken[0] ^ self.taken[1])))
                self._go_on(ply, actions[ply])
            of_round = (np.concatenate(part, axis=-1) for part in zip(*waiting, strict=True))
            self._expect_takes(start // STANDARD.round_plies + 1, logits, *of_round)
        return 1.0 / (1.0 + np.exp(-logits))

    def _begin_round(self, ply: int) -> None:
        """Reset the takes; without a take in the last round the logits are not those after it."""
        self.taken[:] = False
        before = max(1, ply // STANDARD.round_plies)
        if len(late := self.np.flatnonzero(self.played != before)):
            self.played[late] = before
            self._renew(ply, late)

    def _go_on(self, ply: int, actions: Any) -> None:
        """Compute the logits after this ply, which cities in the row and takes change most."""
        np, number = self.np, ply // STANDARD.round_plies + 1
        takers = np.flatnonzero(actions == TAKE)
        self.played[takers] = min(number, STANDARD.rounds - 1)
        self.taken[STANDARD.seat_at(ply), takers] = True
        self.now += self.weights.take(self.played * self.weights.shape[1] + actions)
        if ply + 1 < self.plies:
            self._renew(ply + 1, np.flatnonzero((actions == TAKE) | (actions == CITY)))

    def _renew(self, ply: int, games: Any) -> None:
        """Compute the logits of these games before a ply."""
        for played, values in self.values.items():
            if len(some := games[self.played[games] == played]):
                _, _, _, piles, row, _ = self._positions(ply, some)
                self.now[some] = values.logits(piles, row)

    def _positions(self, ply: int, games: Any) -> tuple[Any, ...]:
        """Return for each of these games the ply, its number, the seat to take, and its cards."""
        arrays = (self.games.piles[ply], self.games.row[ply], self.games.within[ply])
        plies, seats = self.np.full(len(games), ply), self.taken[0, games]
        return plies, games, seats, *(cards.take(games, axis=-1) for cards in arrays)

    def _expect_takes(
        self, number: int, logits: Any, plies: Any, games: Any, seats: Any, *cards: Any
    ) -> None:
        """Correct logits for the expected takes of these seats, as TO_TAKE weighs them."""
        np, weights = self.np, TO_TAKE[number]
        now = logits[plies, games]
        piles, row, within = cards
        piles[1] += seats * within
        piles[0] += ~seats * within
        wins = piles[:, CITY].max(axis=0) >= STANDARD.cities_needed
        then = self.values[min(number, STANDARD.rounds - 1)].logits(piles, row - within)
        lacking = 1 - within.sum(axis=0) / STANDARD.take_size
        own = weights.constant + weights.lacking * lacking + weights.city * wins
        expected = weights.now * now + weights.gain * np.where(wins, 0.0, then - now)
        logits[plies, games] = expected + np.where(seats == 0, own, -own)


bot = Champion
