"""Sites: what the machines of a Dask cluster offer to a run, and what each of them lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from arena.cli.machine import (
    Finding,
    examine_bubblewrap,
    examine_lanes,
    examine_memory,
    examine_temporary_folder,
)
from arena.errors import counted
from arena.executors.dask import submit_to
from arena.executors.sites.versions import Versions, versions_here
from arena.lanes.faults import one_line

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 30.0
"""Seconds in which the machines answer."""


def describe_here() -> dict[str, Any]:
    """Return what this machine offers, as plain data."""
    jail = examine_bubblewrap()
    folder = examine_temporary_folder()
    lanes = examine_lanes(has_workers=True, has_jail=bool(jail.ok))
    versions = versions_here()
    return {
        "memory": examine_memory().detail,
        "lanes": lanes.detail,
        "versions": {"engine": versions.engine, "arena": versions.arena, "python": versions.python},
        "lacks": [f"{one.what}: {one.detail}" for one in (jail, folder) if one.ok is False],
    }


def examine_sites(client: Client, patience: float = PATIENCE) -> Iterator[dict[str, Any]]:
    """Yield what each machine of a cluster offers: its site, cores, lanes, and what it lacks.

    `plays` says whether it can play what this machine plays. One that does not answer within
    `patience` seconds lacks that.
    """
    from distributed import wait

    workers = client.scheduler_info(n_workers=-1)["workers"]
    futures = {
        address: submit_to(client, address, f"arena-{uuid4().hex}", describe_here)
        for address in sorted(workers)
    }
    if futures:
        try:
            with client.as_current():
                wait([*futures.values()], timeout=patience)  # type: ignore[no-untyped-call]
        except TimeoutError:
            pass  # of those that have not answered nothing is known
    for address, future in futures.items():
        site = {"site": address, "cores": workers[address]["nthreads"]}
        yield site | _judge(future, patience)


def _judge(future: Any, patience: float) -> dict[str, Any]:
    """Return what a machine has answered, and whether it plays."""
    if future.status == "finished":
        found: dict[str, Any] = future.result()
        differs = Versions(**found["versions"]).differences(versions_here())
        return found | {"lacks": differs + found["lacks"], "plays": not differs}
    reason = f"no answer within {patience:g} s"
    if future.status == "error":
        error = future.exception()
        reason = one_line(f"{type(error).__name__}: {error}")
    return {"memory": "", "lanes": "", "versions": {}, "lacks": [reason], "plays": False}


def to_finding(site: dict[str, Any]) -> Finding:
    """Return what is printed of a site.

    >>> site = {"site": "tcp://10.0.0.5:40331", "cores": 4, "memory": "8 GiB", "lanes": "inproc"}
    >>> to_finding(site | {"versions": {"python": "3.11"}, "lacks": [], "plays": True}).detail
    '4 cores, Python 3.11, 8 GiB; lanes: inproc'
    """
    cores = counted(site["cores"], "core")
    detail = cores
    if site["versions"]:
        detail = f"{cores}, Python {site['versions']['python']}, {site['memory']}"
        detail += f"; lanes: {site['lanes']}"
    return Finding(site["site"], site["plays"], detail, "; ".join(site["lacks"]))
