"""The command that lists the machines of a Dask cluster, and what each of them lacks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

import click

from arena.cli.options import SCHEDULER, SCHEDULER_FILE, json_option, print_json, say
from arena.errors import InputError, counted

if TYPE_CHECKING:
    from distributed import Client

    from arena.cli.examined import Finding

PATIENCE = 30.0
"""Seconds for which the machines' answers are awaited."""


def describe_here() -> dict[str, Any]:
    """Return this machine's cores, memory, lanes and versions as plain data."""
    import msgspec

    from arena.cli import machine
    from arena.tournament.versions import versions_here

    jail = machine.examine_bubblewrap()
    folder = machine.examine_temporary_folder()
    lanes = machine.examine_lanes(has_workers=True, has_jail=bool(jail.ok))
    return {
        "memory": machine.examine_memory().detail,
        "lanes": lanes.detail,
        "versions": msgspec.structs.asdict(versions_here()),
        "lacks": [f"{one.what}: {one.detail}" for one in (jail, folder) if one.ok is False],
    }


def examine_sites(client: Client, patience: float = PATIENCE) -> Iterator[dict[str, Any]]:
    """Yield what each machine of a cluster offers: its site, cores, lanes, and what it lacks.

    `plays` is whether it can play what this machine plays. For a machine that does not answer
    within `patience` seconds, `lacks` says so.
    """
    from arena.addons.cluster.dask import OneWorker, find_workers

    cores = find_workers(client)
    futures = {
        address: OneWorker(client, address).submit(describe_here) for address in sorted(cores)
    }
    wait(futures.values(), timeout=patience)
    for address, future in futures.items():
        site = {"site": address, "cores": cores[address]}
        yield site | _judge(future, patience)


def _judge(future: Future[dict[str, Any]], patience: float) -> dict[str, Any]:
    """Return a machine's answer, and whether it can play."""
    from arena.lanes.faults import one_line
    from arena.tournament.versions import Versions, versions_here

    error = future.exception() if future.done() and not future.cancelled() else None
    if future.done() and not error:
        found = future.result()
        differs = Versions(**found["versions"]).differences(versions_here())
        return found | {"lacks": differs + found["lacks"], "plays": not differs}
    reason = f"no answer within {patience:g} s"
    if error:
        reason = one_line(f"{type(error).__name__}: {error}")
    return {"memory": "", "lanes": "", "versions": {}, "lacks": [reason], "plays": False}


def to_finding(site: dict[str, Any]) -> Finding:
    """Return the line to print about a site.

    >>> site = {"site": "tcp://10.0.0.5:40331", "cores": 4, "memory": "8 GiB", "lanes": "inproc"}
    >>> to_finding(site | {"versions": {"python": "3.11"}, "lacks": [], "plays": True}).detail
    '4 cores, Python 3.11, 8 GiB; lanes: inproc'
    """
    from arena.cli.examined import Finding

    cores = counted(site["cores"], "core")
    detail = cores
    if site["versions"]:
        detail = f"{cores}, Python {site['versions']['python']}, {site['memory']}"
        detail += f"; lanes: {site['lanes']}"
    return Finding(site["site"], site["plays"], detail, "; ".join(site["lacks"]))


@click.command()
@SCHEDULER
@SCHEDULER_FILE
@json_option
def sites(scheduler: str | None, scheduler_file: str | None, as_json: bool) -> None:
    """List the machines of a Dask cluster, and what each of them lacks.

    Without --scheduler the address comes from Dask's own config. The exit status is 1 if a machine
    cannot play what this one plays, or none is found.

    \b
    Example:
      arena sites --scheduler tcp://10.0.0.1:8786
    """
    from arena.addons.cluster.dask import connect
    from arena.cli.examined import format_findings

    if scheduler and scheduler_file:
        raise InputError("--scheduler and --scheduler-file: choose one of them")
    found = []
    with connect(scheduler, scheduler_file) as client:
        for site in examine_sites(client):
            found.append(site)
            if not as_json:
                say("\n".join(format_findings([to_finding(site)])))
    ok = bool(found) and all(site["plays"] for site in found)
    if as_json:
        print_json({"ok": ok, "sites": found})
    elif not found:
        say("no sites: the scheduler has no workers yet", err=True)
    sys.exit(0 if ok else 1)
