"""The command that searches good parameters of a bot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.completion import complete_bots
from arena.cli.options import AGAINST, PAIRS, add_run_options, print_json, with_options
from arena.cli.starting import How, stoppable
from arena.errors import InputError, escape
from arena.tournament import keys

if TYPE_CHECKING:
    from arena.insight.tuned import Tuned
    from arena.runs.tune_parameters import Progress
    from arena.tournament.keys import ExecutorChoice
    from arena.tournament.tune_plan import Tuning


@click.command()
@click.argument("bot", shell_complete=complete_bots)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    required=True,
    metavar="NAME=VALUES",
    help="A parameter to tune: patience=0..5, weight=0.1..10:log, mode=a,b; repeatable.",
)
@AGAINST
@click.option(
    "--budget",
    type=PAIRS,
    default=keys.TUNED_PAIRS,
    show_default=True,
    help="Pairs of the search, over all settings and opponents.",
)
@click.option("--proof", type=PAIRS, help="Pairs of the comparison at most.  [default: the budget]")
@add_run_options(seed="0", workers="all cores", lane="as fits the bot", out="results/tune-BOT")
def tune(
    bot: str,
    parameters: Sequence[str],
    against: Sequence[str],
    budget: int,
    proof: int | None,
    lane: str | None,
    out: Path | None,
    **options: Any,
) -> None:
    """Find good parameters of BOT by games on common deals.

    Settings of the parameters meet the bots of --against, round by round, all on the same deals
    with the same luck. At the end the best one is compared with BOT as it is, on fresh deals.
    Where both ends of a range are whole numbers, its values are; 0.0..5 has others. A parameter
    can depend on a choice: --param 'depth=1..4 if mode=deep'. A search that was stopped goes on
    from where it was.

    \b
    Example:
      arena tune greedy --param patience=0..20 --against majority --budget 400
    """
    from arena.tournament.config import Config, make_tournament
    from arena.tournament.search_space import make_space
    from arena.tournament.tune_plan import make_tuning

    asked = How.of(options | {"replace": False})
    choice = asked.choose()
    if not against:
        raise InputError("--against: name the bots that the settings meet, A,B,C or ladder")
    space = make_space(parameters)
    settings = with_options(Config([], 1, name="tune"), options)
    tuning = make_tuning(make_tournament(settings, (bot,), against, lane), space, budget, proof)
    _tune(tuning, out or Path("results") / tuning.folder_name, asked, choice)


def _tune(tuning: Tuning, out: Path, how: How, choice: ExecutorChoice) -> None:
    """Search, and print what was found."""
    from arena.insight.tuned import describe
    from arena.runs.tune_parameters import check_folder, clear, prepare_tuning
    from arena.runs.tune_parameters import tune as search

    prepare_tuning(tuning)

    def announce(progress: Progress) -> None:
        if not how.quiet:
            tried = f"{progress.candidates} settings, {progress.pairs:,} of {tuning.budget:,} pairs"
            best = describe(progress.best)
            click.echo(f"round {progress.number}: {tried}, best so far {best}", err=True)

    with stoppable(out, choice, how.workers) as executor:
        if how.fresh:
            clear(out)
        check_folder(out, tuning)
        tuned = search(tuning, executor, out, announce, how.shown)
    if how.as_json:
        print_json({"folder": str(out)} | _document(tuned))
    else:
        _print(tuned, out, quiet=how.quiet)


def _document(tuned: Tuned) -> dict[str, Any]:
    from arena.insight.tuned import to_document

    return to_document(tuned)


def _print(tuned: Tuned, out: Path, *, quiet: bool) -> None:
    """Print the finding, the warnings and the spec that has it."""
    from arena.insight.tuned import describe_lines

    lines = list(describe_lines(tuned))
    if quiet:
        click.echo(lines[0])
        return
    for line in lines:
        click.echo(line)
    for warning in tuned.warnings():
        click.echo(f"warning: {escape(warning)}", err=True)
    click.echo(f"{tuned.played:,} games played, {tuned.kept:,} kept from before")
    click.echo(f"use it: {tuned.spec}")
    click.echo(f"results in {out}/")


COMMANDS: list[click.Command] = [tune]
