"""The command that writes the report of a run again, or compares runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from arena.cli.completion import complete_runs
from arena.cli.options import PATH
from arena.errors import InputError


@click.command()
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=PATH,
    metavar="RUN [RUN ...]",
    shell_complete=complete_runs,
)
@click.option(
    "--out",
    "-o",
    type=PATH,
    metavar="FILE.html",
    help="Where to; FILE.md goes beside it.  [default: report.html in the folder of RUN; for "
    "several: results/report-RUN-RUN.html]",
)
def report(runs: Sequence[Path], out: Path | None) -> None:
    """Write the report of a RUN again, or compare runs.

    It shows the games as they are now, also of a run that goes on, and what a run's own report
    does not have: the time that bots took. With several runs the report has what is different from
    the first one to each other one: ratings, win types, head to heads, with intervals of the
    differences, and which bots are the same.

    \b
    Example:
      arena play greedy uniform --pairs 10 --out results/friday &&
        arena report results/friday
    """
    import arena
    from arena.reports.writers import check_place

    _check_different(runs)
    file = out or _default_place(runs)
    if file.suffix != ".html":
        raise InputError(f"--out {file}: not the name of a page, such as {file.stem or 'a'}.html")
    places = [file, file.with_suffix(".md")]
    for place in places:
        check_place(place)
    first, *others = [arena.open(run) for run in runs]
    made = first.report(*others)
    for place in places:
        made.save(place)
    click.echo(f"report in {' and '.join(map(str, places))}")


def _check_different(runs: Sequence[Path]) -> None:
    """Raise InputError where a run is named twice."""
    seen: dict[Path, Path] = {}
    for run in runs:
        first = seen.setdefault(run.resolve(), run)
        if first is not run:
            raise InputError(f"{run}: the same run as {first}; name different ones")


def _default_place(runs: Sequence[Path]) -> Path:
    """Return where a report is written to without --out."""
    if len(runs) == 1:
        return runs[0] / "report.html"
    names = [run.resolve().name for run in runs[:2]]
    more = f"-and-{len(runs) - 2}-more" if len(runs) > 2 else ""
    return Path("results") / f"report-{'-'.join(names)}{more}.html"


COMMANDS: list[click.Command] = [report]
