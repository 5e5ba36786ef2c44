"""Replay and score many recorded games at once (R11-R18).

Hands are not needed: the record has every card played, and a hand is empty once all its cards have
been played. The tests compare every ply with `engine.State` (tests/batch).

It is the only place beside `engine` that knows these rules. Arrays have a column for each game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.batch.positions import Cards, Indices, Piles
from engine import CITY, KINDS, STANDARD, SUPPORTS, TAKE, VALUES, Rules, Seat, State, outcome
from engine.notation import parse_actions, parse_cards
from engine.scoring import WinType

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

NOTHING: Final = 255
"""The entry for plies after the end of a game."""

_KINDS = len(KINDS)


@dataclass(frozen=True)
class Takes:
    """Every take of some games, in the order of the plies; arrays have an element for each.

    `before` are both piles before it (seat, kind, take); `cards` are the cards taken (kind, take);
    `action` is its number among the seat's actions in this round, from 1; `round` counts from 1.
    """

    game: Indices
    ply: Ints
    seat: Ints
    round: Ints
    action: Ints
    before: Ints
    cards: Ints

    @property
    def after(self) -> Ints:
        """Both piles after it (seat, kind, take)."""
        piles = self.before.copy()
        piles[self.seat, :, np.arange(len(self.seat))] += self.cards.T
        return piles


@dataclass(frozen=True)
class Replay:
    """The actions and positions of some replayed games.

    `actions` are those of each game (game, ply), with NOTHING after its end, and `plies` is their
    number. `piles` are those of both seats before each ply and at the end (ply, seat, kind, game),
    `row` the cards of the row, and `within` the cards that a take would bring (ply, kind, game);
    they do not change after the end of a game.
    """

    rules: Rules
    actions: Cards
    plies: Ints
    piles: Cards
    row: Cards
    within: Cards
    takes: Takes

    def count_played(self) -> Ints:
        """Return how many cards of each kind the seats have played (seat, kind, game)."""
        actions = np.ascontiguousarray(self.actions.T)
        seats = self.rules.seat_at(np.arange(len(actions)))
        played = np.zeros((2, _KINDS, actions.shape[1]), np.int64)
        for seat in (0, 1):
            own = actions[seats == seat]
            for kind in KINDS:
                played[seat, kind] = np.count_nonzero(own == kind, axis=0)
        return played


def replay(actions: Cards, opening: Cards, rules: Rules) -> Replay:
    """Replay games from their `actions` (game, ply) and their `opening` rows."""
    games, plies = actions.shape
    size = rules.take_size
    table = Piles(games, size, opening.shape[1] + plies)
    table.open_rows(slice(None), opening.T)
    piles = np.empty((plies + 1, 2, _KINDS, games), np.uint8)
    row, within = (np.empty((plies + 1, _KINDS, games), np.uint8) for _ in range(2))
    for ply, now in enumerate(np.ascontiguousarray(actions.T)):
        piles[ply], row[ply] = table.piles, table.in_row
        within[ply] = table.count_newest(slice(None), size)
        players, takers = np.flatnonzero(now < TAKE), np.flatnonzero(now == TAKE)
        table.lay(players, now[players].astype(np.intp))
        table.take(takers, rules.seat_at(ply))
    piles[-1], row[-1] = table.piles, table.in_row
    within[-1] = table.count_newest(slice(None), size)
    ended = (actions != NOTHING).sum(axis=1)
    return Replay(rules, actions, ended, piles, row, within, _takes(actions, piles, within, rules))


def in_rows(games: Sequence[bytes], plies: int) -> Cards:
    """Return the actions of games as an array (game, ply), padded with NOTHING.

    >>> in_rows([b"\\0\\1", b"\\2"], 2).tolist()
    [[0, 1], [2, 255]]
    """
    actions = np.full((len(games), plies), NOTHING, np.uint8)
    for row, played in zip(actions, games, strict=True):
        row[: len(played)] = np.frombuffer(played, np.uint8)
    return actions


def record_arrays(games: Sequence[tuple[str, str]]) -> tuple[Cards, Cards]:
    """Return the deals (game, card) and actions (game, ply) of games given as texts."""
    deals = np.frombuffer(b"".join(parse_cards(deal) for deal, _ in games), np.uint8)
    actions = in_rows([parse_actions(text) for _, text in games], STANDARD.game_plies)
    return deals.reshape(len(games), -1), actions


def _takes(actions: Cards, piles: Cards, within: Cards, rules: Rules) -> Takes:
    """Return all takes, given the positions at each ply."""
    ply, game = np.nonzero(actions.T == TAKE)
    number, before = np.divmod(ply, rules.round_plies)
    return Takes(
        game=game,
        ply=ply,
        seat=rules.seat_at(ply),
        round=number + 1,
        action=before // 2 + 1,
        before=piles[ply, :, :, game].transpose(1, 2, 0).astype(np.int32),
        cards=within[ply, :, game].T.astype(np.int32),
    )


DRAW: Final = -1
"""The entry of a drawn game among winners."""


def find_end(state: State) -> tuple[int, WinType]:
    """Return the winner of a game that is over, a seat or DRAW, and the win type."""
    winner, win_type, _ = outcome(state.piles, state.rules)
    return DRAW if winner is None else winner, win_type


def find_reward(winner: int, seat: Seat) -> float:
    """Return the reward of a seat, given the winner or DRAW.

    >>> find_reward(1, 1), find_reward(1, 0), find_reward(DRAW, 0)
    (1.0, -1.0, 0.0)
    """
    if winner == DRAW:
        return 0.0
    return 1.0 if winner == seat else -1.0


TIES: Final = {"supports": SUPPORTS[::-1], "cities": (*SUPPORTS[::-1], CITY)}
"""The kinds of which more cards decide a tie, in this order, by `Rules.tiebreak` (R17, R18)."""

_DEALS = [kind for kind, value in enumerate(VALUES) if value]


def find_majorities(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points of majorities (..., seat, support, game) in piles of signed numbers (R12).

    The piles are (..., seat, kind, game), here and below.
    """
    supports = piles[..., : len(SUPPORTS), :]
    values = np.array(rules.majority_values, piles.dtype)[:, None]
    majorities: npt.NDArray[Any] = values * (supports > supports[..., ::-1, :, :])
    return majorities


def count_sets(piles: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the numbers of sets 5-6-7-8 in piles (..., seat, game) (R13)."""
    sets: npt.NDArray[Any] = piles[..., : len(SUPPORTS), :].min(axis=-2)
    return sets


def find_points(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points (..., seat, game) of piles of signed numbers (R12-R15)."""
    points = rules.set_bonus * count_sets(piles)
    for kind in SUPPORTS:  # takes a third of the time of `sum` over a short axis
        held = piles[..., kind, :]
        points += rules.majority_values[kind] * (held > held[..., ::-1, :])
    for kind in _DEALS:
        points += VALUES[kind] * piles[..., kind, :]
    return points


def find_take_gains(
    first: npt.NDArray[Any], second: npt.NDArray[Any], cards: npt.NDArray[Any], rules: Rules
) -> npt.NDArray[Any]:
    """Return by how many points these cards change the leads of the first piles (..., game).

    The piles and cards are (..., kind, game) of signed numbers. City wins do not count.
    """
    held, more = (piles[..., : len(SUPPORTS), :] for piles in (first, cards))
    ahead = held - second[..., : len(SUPPORTS), :]
    turned = np.sign(ahead + more) - np.sign(ahead)
    gains: npt.NDArray[Any] = np.array(rules.majority_values, cards.dtype) @ turned
    gains += rules.set_bonus * ((held + more).min(axis=-2) - held.min(axis=-2))
    gains += np.array(VALUES, cards.dtype) @ cards
    return gains


def find_sources(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the points by source: 5, 6, 7, 8, sets, alliances, betrayals, and their sum.

    They are (..., seat, source, game), of piles of signed numbers (R12-R15).
    """
    sets = rules.set_bonus * count_sets(piles)[..., None, :]
    deals = np.zeros((*piles.shape[:-2], 2, piles.shape[-1]), piles.dtype)
    for kind in _DEALS:
        deals[..., int(VALUES[kind] < 0), :] += VALUES[kind] * piles[..., kind, :]
    parts = np.concatenate([find_majorities(piles, rules), sets, deals], axis=-2)
    return np.concatenate([parts, parts.sum(axis=-2, keepdims=True)], axis=-2)


def find_winners(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return the winning seat for each game, or DRAW (R11, R16-R18)."""
    score = find_points(piles, rules)
    lead = np.sign(score[0] - score[1])
    lead = np.where(lead, lead, find_ties(piles, rules))
    cities = piles[:, CITY] >= rules.cities_needed
    lead = np.where(cities[0] ^ cities[1], np.where(cities[0], 1, -1), lead)
    return np.where(lead > 0, 0, np.where(lead < 0, 1, DRAW))


def find_ties(piles: npt.NDArray[Any], rules: Rules) -> npt.NDArray[Any]:
    """Return 1 if seat 0 is ahead at equal points, -1 if seat 1 is, and 0 for a draw (R17, R18)."""
    lead: npt.NDArray[Any] = np.zeros_like(piles[0, 0])
    for kind in TIES[rules.tiebreak]:
        lead = np.where(lead, lead, np.sign(piles[0, kind] - piles[1, kind]))
    return lead
