"""The command that lists the machines of a Dask cluster."""

from __future__ import annotations

import sys

import click

from arena.cli.options import SCHEDULER, SCHEDULER_FILE, json_option, print_json
from arena.errors import InputError


@click.command()
@SCHEDULER
@SCHEDULER_FILE
@json_option
def sites(scheduler: str | None, scheduler_file: str | None, as_json: bool) -> None:
    """List the machines of a Dask cluster, and what each of them lacks.

    Without a scheduler it is that of Dask's own config. The exit status is 1 if one of them
    cannot play what this machine plays.

    \b
    Example:
      arena sites --scheduler tcp://10.0.0.1:8786
    """
    from arena.cli.cluster import examine_sites, to_finding
    from arena.cli.machine import format_findings
    from arena.executors.dask import connect

    if scheduler and scheduler_file:
        raise InputError("--scheduler and --scheduler-file: choose one of them")
    found = []
    with connect(scheduler, scheduler_file) as client:
        for site in examine_sites(client):
            found.append(site)
            if not as_json:
                click.echo("\n".join(format_findings([to_finding(site)])))
    ok = all(site["plays"] for site in found)
    if as_json:
        print_json({"ok": ok, "sites": found})
    elif not found:
        click.echo("no sites: the scheduler has no workers yet", err=True)
    sys.exit(0 if ok else 1)


COMMANDS: list[click.Command] = [sites]
