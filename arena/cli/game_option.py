"""Picking: a game of a run by its bots, its pair and its seat, or by its name."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from arena.errors import InputError, escape

if TYPE_CHECKING:
    from arena.store.finished import Game
    from arena.store.store import Store
    from arena.tournament.schedule import Fixture
    from arena.tournament.tournament import Tournament

_LISTED = 20  # games


class Picked(NamedTuple):
    """A game with its place in a run."""

    tournament: Tournament
    fixture: Fixture
    game: Game


def pick_game(
    path: Path, choice: tuple[Sequence[str], int | None, int | None], command: str
) -> Picked | None:
    """Return the game of a run that is chosen by labels or a name, a pair and a seat.

    Where several are chosen they are listed, with the `command` for one of them, and it is
    None. Raises InputError where there is none.
    """
    from arena.store.chosen import choose, chosen_games
    from arena.store.reader import read_run

    tournament, store = read_run(path)
    with closing(store):
        games = chosen_games(tournament, store, choose(tournament, *choice))
        listed = list(islice(games, _LISTED + 1))
        note_extent(path, tournament, store)
    if not listed:
        raise InputError(f"{path}: no such game has been played yet")
    if len(listed) == 1:
        return Picked(tournament, *listed[0])
    for fixture, game in listed[:_LISTED]:
        click.echo(escape(f"{fixture.name}  {game.ending}"))
    if len(listed) > _LISTED:
        click.echo("...")
    words = shlex.join(["arena", command, str(path), listed[0][0].name])
    click.echo(f"one of them, ply by ply: {words}")
    return None


def note_extent(path: Path, tournament: Tournament, store: Store) -> None:
    """Say on standard error of a run that it is not finished, if it is not."""
    from arena.runs.run_progress import measure_extent

    if state := measure_extent(tournament, store).describe():
        click.echo(f"note: {path}: {state}", err=True)
