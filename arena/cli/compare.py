"""The command that compares two bots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import (
    AGAINST,
    NO_REPEAT,
    PAIRS,
    REPLACE,
    Command,
    add_run_options,
    print_json,
    say,
    terminal_room,
    with_options,
)
from arena.cli.starting import count_games, describe_folder, make_playing, prepare, stoppable
from arena.errors import arena_command, wrapped
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.runs.run import Outcome, Playing
    from arena.tournament.tournament import Tournament

_SHOWN = 5  # games in which the change decided


@click.command(cls=Command)
@click.argument("new")
@click.argument("old")
@AGAINST
@click.option(
    "--elo0", type=float, default=keys.ELO0, show_default=True, help="Elo difference under H0."
)
@click.option(
    "--elo1", type=float, default=keys.ELO1, show_default=True, help="Elo difference under H1."
)
@click.option(
    "--alpha",
    type=float,
    default=keys.ERROR_RATE,
    show_default=True,
    help="Wrong verdicts under H0, at most.",
)
@click.option(
    "--beta",
    type=float,
    default=keys.ERROR_RATE,
    show_default=True,
    help="Wrong verdicts under H1, at most.",
)
@click.option(
    "--max-pairs",
    type=PAIRS,
    default=keys.COMPARED_PAIRS,
    show_default=True,
    help="Stop, undecided, after this many pairs.",
)
@REPLACE
@NO_REPEAT
@add_run_options("results/compare-NEW-OLD")
def compare(
    new: str,
    old: str,
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    max_pairs: int,
    **options: Any,
) -> None:
    """Say whether NEW is stronger than OLD, with as few games as needed.

    The two play each other until a sequential probability ratio test decides for H1, that NEW
    leads by elo1 Elo points, or for H0, that it leads by elo0. With --against both meet other
    bots on the same deals, and the difference by deal is tested. A comparison that was stopped
    goes on from where it was.

    \b
    Example:
      arena compare denier uniform --against greedy --max-pairs 32
    """
    from arena.tournament.config import Config, make_tournament
    from arena.tournament.sprt_rounds import as_comparison
    from arena.tournament.stop import make_sprt

    how = make_playing(options)
    stop = make_sprt(elo0, elo1, alpha, beta, max_pairs)
    settings = with_options(Config([], max_pairs, name="compare"), options)
    bots = (new, old), options["against"], options["lane"]
    tournament = as_comparison(make_tournament(settings, *bots), stop)
    how = replace(how, out=how.out or Path("results") / tournament.name)
    play_comparison(tournament, how, options)


def play_comparison(
    tournament: Tournament,
    how: Playing,
    options: Mapping[str, Any],
    place: Path | None = None,
) -> None:
    """Play a comparison, which is from this place, and print its result."""
    how, problems = prepare(tournament, how, options, place)
    with stoppable(how.out):
        outcome = how.play(tournament)
    comparison = outcome.comparison
    assert comparison is not None
    assert how.out is not None
    if options["as_json"]:
        played = {"folder": str(how.out), "played": outcome.played, "kept": outcome.kept}
        print_json(comparison.document() | played | {"warnings": [*problems]})
    else:
        print_comparison(outcome, how.out, quiet=options["quiet"])


def print_comparison(outcome: Outcome, out: Path, *, quiet: bool) -> None:
    """Print the statement, the lead, the counts, what differs, and the command that repeats it."""
    comparison = outcome.comparison
    assert comparison is not None
    statement, *lines = comparison.lines()
    if quiet:
        say(statement)
        return
    say(*wrapped(statement), *lines)
    say(*(f"{label} was out after {outcome.out[label]}" for label in comparison.out))
    say(*comparison.difference_lines(terminal_room()))
    if paired := comparison.paired:
        for row in paired.decided.head(_SHOWN).to_dict("records"):
            command = arena_command("show", [out, row["game"]])
            scores = f"{row['new_score']:g}, not {row['old_score']:g}"
            say(f"  {command}   from ply {row['ply']} on: {scores}")
    say(count_games(outcome))
    if comparison.command:
        say(f"repeat with: {comparison.command}")
    say(describe_folder(out))


COMMANDS: list[click.Command] = [compare]
