"""The command that estimates what taking each kind of card is worth, also by experiment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    ON_THIS_MACHINE,
    PATH,
    QUIET,
    SEED,
    SWAPS,
    json_option,
    print_json,
    refuse_options,
    say,
    venue_options,
)
from arena.cli.picking import open_out
from arena.tournament import keys

if TYPE_CHECKING:
    import pandas as pd


_ADJUSTED = "adds: a correlation, adjusted for who was ahead; not what a card causes"
_EFFECT = "effect: what the swap of a taken card for one out of the game changes, by experiment"


@click.command()
@click.argument("run", type=PATH)
@click.option("--intervene", is_flag=True, help="Run the experiment: swap cards, then play on.")
@click.option(
    "--swaps",
    type=SWAPS,
    default=keys.SWAPS,
    show_default=True,
    help="Most swaps; for each one a game is played to its end.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Draws the swaps.")
@venue_options(*ON_THIS_MACHINE)
@click.option("--out", "-o", type=PATH, help="A CSV file of each bot and card.  [default: none]")
@json_option
@QUIET
def worth(
    run: Path,
    swaps: int,
    seed: int,
    out: Path | None,
    *,
    intervene: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Estimate what taking each kind of card is worth, from a RUN.

    `adds`, of cards.csv, is a correlation. With --intervene a taken card is swapped for one that
    was out of the game, and the bots of the run play on from there; `effect` is the mean change of
    the taker's result. The bots must be unchanged and repeat their moves. They play in the run's
    lane.

    \b
    Example:
      arena play greedy uniform --pairs 50 --out results/worth &&
        arena worth results/worth --intervene --swaps 100
    """
    import arena
    from arena.store.csv_files import csv_writer
    from arena.tables.summary import plain_rows

    if not intervene:
        refuse_options("swaps", "seed", *options, why="only with --intervene")
    results = arena.open(run)
    how: Any = {"intervene": intervene, "swaps": swaps, "seed": seed, "progress": not quiet}
    with open_out(out) as file, warnings.catch_warnings(action="ignore", category=UserWarning):
        table = results.worth(**how, **options)
        if out is not None:
            csv_writer(table)(file)
    note = table.attrs.get("note", "")
    if note and not quiet:
        say(f"note: {note}", err=True)
    if as_json:
        print_json({"run": str(run), "note": note, "cards": plain_rows(table)})
    elif not (quiet and out):
        say(*_format(table))
        if not quiet:
            say(_ADJUSTED)
            say(_EFFECT if intervene else "--intervene makes the experiment")


def _format(table: pd.DataFrame) -> Iterator[str]:
    """Yield the lines of a table of all bots together, in per cent."""
    from arena.reports.seat_section import CARD_NAMES
    from arena.tables.summary import plain_rows, write_row

    has_effects = "effect" in table
    head = f"{'card':<12} {'adds':>7} {'95 %':>15}"
    yield head + (f" {'effect':>7} {'95 %':>15} {'swaps':>7}" if has_effects else "")
    for row in plain_rows(table[table["bot"].isna()]):
        line = f"{CARD_NAMES[row['card']]:<12}"
        for name in ("adds", "effect") if has_effects else ("adds",):
            share, ends = write_row(row, name, "+.1%")
            line += f" {share and f'{share}%':>7} {ends:>15}"
        yield (f"{line} {row['swaps']:>7,}" if has_effects else line).rstrip()
