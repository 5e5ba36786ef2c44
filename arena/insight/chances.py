"""Chances: each seat's chance to win at every ply of many games, by `champion`'s values.

They are the numbers that `bots.champion.Champion.chance` returns, looked up for all plies of a
batch at once (tests/wins).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

import numpy as np

from arena.batch.replay import Replay, count_sets, replay
from arena.batch.run_games import Bools, Bytes, Ints, Row, read_batches
from arena.entries.resolve import resolve
from arena.statistics.distributions import Floats, expit
from arena.store.finished import Game
from arena.tournament.tournament import Tournament
from engine import CITY, STANDARD, SUPPORTS, TAKE, VALUES
from engine.cards import MOST_COPIES
from engine.rules import first_seat

BOT = "champion"
"""The bot whose values these are."""

_DEALS = np.array(VALUES, float)
_MOST_CITIES = 2  # that a seat holds and has not won


class _Learned(Protocol):
    """What `champion` has learned of the piles and the row after a round."""

    constant: float
    row: Sequence[float]
    cities: Sequence[Sequence[float]]
    worth: Sequence[Sequence[float]]
    leads: Sequence[Sequence[float]]


class _Champion(Protocol):
    """The class that the bot's module binds to `bot`."""

    after_round: Mapping[int, _Learned]
    to_take: Mapping[int, Sequence[float]]


class _Values:
    """What piles and rows are worth after a round of the published game, as arrays."""

    def __init__(self, learned: _Learned) -> None:
        self.constant = learned.constant
        self.row = np.array(learned.row)
        self.leads = np.array(learned.leads)
        self.worth = np.array(learned.worth)
        cities = np.array(learned.cities).reshape(2, _MOST_CITIES, 3)
        self.held, self.unrivalled, self.in_row = (
            np.pad(cities[:, :, column], ((0, 0), (1, 0))) for column in range(3)
        )

    def logit(self, piles: Bytes, row: Bytes) -> Floats:
        """Return the chance to win, as a logit, of the seat that begins the next round.

        `piles` has that seat's pile first (positions x seats x kinds), `row` is by kind.
        """
        counts = np.minimum(piles[:, :, : len(SUPPORTS)], MOST_COPIES).astype(np.int16)
        logit: Floats = self.constant + np.einsum("ij,j->i", row, self.row)
        places = counts[:, 0] * (MOST_COPIES + 1) + counts[:, 1]
        for kind in SUPPORTS:
            logit += self.leads[kind].take(places[:, kind])
        whole, deals = count_sets(counts), np.einsum("ijk,k->ij", piles, _DEALS)
        cities = np.minimum(piles[:, :, CITY], _MOST_CITIES)
        for role, sign in ((0, 1), (1, -1)):
            held = cities[:, role]
            worth = whole[:, role] * self.worth[role, 0] + deals[:, role] * self.worth[role, 1]
            worth += self.held[role].take(held)
            logit += sign * worth
            alone = np.flatnonzero((held > 0) & (cities[:, 1 - role] == 0))
            own = held[alone]
            missing = row[alone, CITY] == STANDARD.cities_needed - own
            threat = self.unrivalled[role][own] + missing * self.in_row[role][own]
            logit[alone] += sign * threat
        return logit


@cache
def _learned() -> tuple[dict[int, _Values], dict[int, Floats]]:
    """Return the bot's values by rounds played, and those of a take to come by round."""
    bot: _Champion = resolve(BOT).load()
    values = {played: _Values(learned) for played, learned in bot.after_round.items()}
    return values, {number: np.array(weights) for number, weights in bot.to_take.items()}


def chances(replay: Replay) -> Floats:
    """Return the chance of seat 0 to win before each ply and at the end (games x plies + 1).

    After the end of a game it is the result. The rules are the published ones.
    """
    taken = _taken(replay)
    some, all_taken = taken[..., 0] | taken[..., 1], taken[..., 0] & taken[..., 1]
    now = _rounds()
    after = np.clip(np.where(some, now, now - 1), 1, STANDARD.rounds - 1)
    on = np.arange(replay.row.shape[1]) < replay.plies[:, None]
    logits = np.zeros(on.shape)
    for played in range(1, STANDARD.rounds):
        here = np.nonzero(on & (after == played))
        logits[here] = _after(played, replay.piles[here], replay.row[here])
    for number in range(1, STANDARD.rounds + 1):
        here = np.nonzero(on & some & ~all_taken & (now == number))
        logits[here] = _to_take(number, replay, here, taken[here][:, 0] * 1, logits[here])
    known = on & ~((now == STANDARD.rounds) & all_taken)
    winner = replay.batch.winner[:, None]
    return np.where(known, expit(logits), np.where(winner < 0, 0.5, 1 - winner))


def _rounds() -> Ints:
    """Return the round of each ply, from 1; at the end the last one."""
    plies = np.arange(STANDARD.game_plies + 1)
    return np.minimum(plies // STANDARD.round_plies, STANDARD.rounds - 1) + 1


def _taken(replay: Replay) -> Bools:
    """Return which seats have taken in the round, before each ply and at the end."""
    games, plies = replay.batch.actions.shape
    taken = np.zeros((games, plies + 1, 2), bool)
    seats = STANDARD.seat_at(np.arange(plies))
    for seat in (0, 1):
        takes = (replay.batch.actions == TAKE) & (seats == seat)
        by_round = takes.reshape(games, STANDARD.rounds, STANDARD.round_plies)
        before = np.logical_or.accumulate(by_round, axis=2)[:, :, :-1]
        taken[:, :plies, seat].reshape(by_round.shape)[:, :, 1:] = before
    return taken


def _after(played: int, piles: Bytes, row: Bytes) -> Floats:
    """Return the logit of seat 0 when so many rounds have been played."""
    values = _learned()[0][played]
    if first_seat(played):
        return -values.logit(piles[:, ::-1], row)
    return values.logit(piles, row)


def _to_take(
    number: int, replay: Replay, here: tuple[Ints, ...], seat: Ints, now: Floats
) -> Floats:
    """Return the logit of seat 0 while a seat is still to take; `now` is the one without it."""
    weights = _learned()[1][number]
    cards = replay.within[here]
    piles = replay.piles[here].copy()
    piles[np.arange(len(seat)), seat] += cards
    wins = np.maximum(piles[:, 0, CITY], piles[:, 1, CITY]) >= STANDARD.cities_needed
    then = _after(min(number, STANDARD.rounds - 1), piles, replay.row[here] - cards)
    lacking = 1 - cards.sum(axis=1) / STANDARD.take_size
    own = weights[2] + weights[3] * lacking + weights[4] * wins
    logit: Floats = weights[0] * now + weights[1] * np.where(wins, 0.0, then - now)
    logit += np.where(seat == 0, own, -own)
    return logit


def chances_by_game(
    tournament: Tournament, games: Mapping[tuple[int, int, int], Game]
) -> dict[tuple[int, int, int], list[float]]:
    """Return the chance of seat 0 before each ply and at the end of each finished game.

    Games are given by pairing, pair and seat. They are `champion`'s, and known under the published
    rules.
    """
    if tournament.rules != STANDARD:
        return {}
    finished = sorted(place for place, game in games.items() if not game.fault)
    rows = [_row(tournament, place, games[place]) for place in finished]
    found: dict[tuple[int, int, int], list[float]] = {}
    start = 0
    for batch in read_batches(tournament, rows):
        for place, of_game in zip(finished[start:], chances(replay(batch, STANDARD)), strict=False):
            found[place] = of_game[: games[place].plies + 1].tolist()
        start += batch.games
    return found


def _row(tournament: Tournament, place: tuple[int, int, int], game: Game) -> Row:
    pairing, pair, seat = place
    two = [*tournament.pairings[pairing]]
    winner = None if game.winner is None else two.index(game.winner)
    return Row(pairing, pair, seat, winner, game.win_type, 0, game.record.actions)
