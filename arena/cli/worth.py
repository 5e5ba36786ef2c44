"""The command that estimates what cards are worth to who takes them, also by experiment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.completion import complete_runs
from arena.cli.options import (
    PATH,
    QUIET,
    SEED,
    SWAPS,
    json_option,
    key_option,
    print_json,
    refuse_options,
    say,
)
from arena.cli.picking import open_out
from arena.errors import naming
from arena.tournament import keys

if TYPE_CHECKING:
    import pandas as pd

    from arena.store.store import Store
    from arena.tournament.tournament import Tournament

_ADJUSTED = "adds: a correlation, adjusted for who was ahead; not what a card causes"
_EFFECT = "effect: what the swap of a taken card for one out of the game changes, by experiment"


@click.command()
@click.argument("run", type=PATH, shell_complete=complete_runs)
@click.option("--intervene", is_flag=True, help="Make the experiment: swap cards, and play on.")
@click.option(
    "--swaps",
    type=SWAPS,
    default=keys.SWAPS,
    show_default=True,
    help="Swaps at most; each plays a game on.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Draws the swaps.")
@key_option("workers", "all cores")
@click.option("--out", "-o", type=PATH, help="A CSV file of each bot and card.  [default: none]")
@json_option
@QUIET
def worth(
    run: Path,
    swaps: int,
    seed: int,
    workers: int | None,
    out: Path | None,
    *,
    intervene: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what each kind of card is worth to who takes it, in a RUN.

    `adds`, of cards.csv, is a correlation. With --intervene the bots of the run play games on, in
    each of which a card that was taken is swapped for one that was out of the game; `effect` is
    the mean of what this changes in the taker's result. Bots must be those of the run, and play
    the same game twice. They are played in the run's lane.

    \b
    Example:
      arena play greedy uniform --pairs 50 --out results/worth &&
        arena worth results/worth --intervene --swaps 100
    """
    from arena.insight.summary import plain_rows
    from arena.store.csv_files import csv_writer
    from arena.store.reader import read_run

    if not intervene:
        refuse_options("swaps", "seed", "workers", why="only with --intervene")
    tournament, store = read_run(run)
    with closing(store), open_out(out) as file:
        how = (swaps, seed, workers) if intervene else None
        with naming(run):
            table, note = _measure(tournament, store, how, progress=not quiet)
        if out is not None:
            csv_writer(table)(file)
    if note and not quiet:
        say(f"note: {note}", err=True)
    if as_json:
        print_json({"run": str(run), "note": note, "cards": plain_rows(table)})
    elif not (quiet and out):
        say(*_format(table))
        if not quiet:
            say(_ADJUSTED)
            say(_EFFECT if intervene else "--intervene makes the experiment")


def _measure(
    tournament: Tournament,
    store: Store,
    how: tuple[int, int, int | None] | None,
    *,
    progress: bool,
) -> tuple[pd.DataFrame, str]:
    """Return the table, with the experiment if its swaps, seed and workers are said, and a note."""
    from arena.differences.effects import ADJUSTED
    from arena.insight.win_tables import make_win_tables
    from arena.runs.intervene import add_effects

    cards = make_win_tables(tournament, store.count(), store.records).cards
    if how is None:
        return cards[[*ADJUSTED]], ""
    swaps, seed, workers = how
    return add_effects(cards, tournament, store, workers, swaps=swaps, seed=seed, progress=progress)


def _format(table: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of a table of all bots together, in per cent."""
    from arena.insight.summary import plain_rows, write_row
    from arena.reports.take_section import CARD_NAMES

    has_effects = "effect" in table
    head = f"{'card':<12} {'adds':>7} {'95 %':>15}"
    yield head + (f" {'effect':>7} {'95 %':>15} {'swaps':>7}" if has_effects else "")
    for row in plain_rows(table[table["bot"].isna()]):
        line = f"{CARD_NAMES[row['card']]:<12}"
        for name in ("adds", "effect") if has_effects else ("adds",):
            share, ends = write_row(row, name, "+.1%")
            line += f" {share and f'{share}%':>7} {ends:>15}"
        yield (f"{line} {row['swaps']:>7,}" if has_effects else line).rstrip()


COMMANDS: list[click.Command] = [worth]
