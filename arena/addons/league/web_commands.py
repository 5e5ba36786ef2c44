"""The commands of a league's web: serve it, and give tokens to owners."""

from __future__ import annotations

import importlib.util
import ipaddress
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from arena.cli.options import PATH, Whole, json_option, print_found, say
from arena.errors import InputError, not_installed

_NEEDED: Final = {
    "starlette": "starlette",
    "uvicorn": "uvicorn",
    "python_multipart": "python-multipart",
}
_PORT: Final = 8080
_HERE: Final = "127.0.0.1"


@click.command()
@click.argument("folder", type=PATH)
@click.argument("owners", nargs=-1, metavar="[OWNER]...")
@click.option("--revoke", is_flag=True, help="Make the tokens of these owners invalid.")
@json_option
def invite(folder: Path, owners: tuple[str, ...], revoke: bool, as_json: bool) -> None:
    """Give owners tokens for `arena league web`, or list them.

    A token is shown once: the league keeps only its hash. A new token replaces the one before.

    \b
    Example:
      arena league invite results/club Ann
    """
    from arena.addons.league.league_settings import read_settings
    from arena.addons.league.league_tables import check_owner
    from arena.addons.league.post import Post

    read_settings(folder)
    for owner in owners:
        check_owner(owner)
        if owner == "arena":
            raise InputError("owner 'arena': the bots of the panel are its own")
    if revoke and not owners:
        raise InputError("--revoke: name the owners")
    with closing(Post(folder)) as post:
        if revoke:
            for owner in owners:
                post.revoke(owner)
            print_found(
                {"revoked": [*owners]}, [f"{one}: revoked" for one in owners], as_json=as_json
            )
        elif owners:
            tokens = {owner: post.invite(owner) for owner in owners}
            print_found({"tokens": tokens}, map("  ".join, tokens.items()), as_json=as_json)
        else:
            given = post.invited()
            lines = [f"{owner}  since {at}" for owner, at in given.items()]
            print_found({"invited": given}, lines or ["nobody has a token"], as_json=as_json)


@click.command()
@click.argument("folder", type=PATH)
@click.option(
    "--port", type=Whole(0, 65_535), default=_PORT, show_default=True, help="0: any free port."
)
@click.option("--host", default=_HERE, show_default=True, help="The address to listen at.")
@click.option("--proxy", default="", metavar="ADDRESS", help="Believe X-Forwarded-* from there.")
def web(folder: Path, port: int, host: str, proxy: str) -> None:
    """Serve the league's pages, and let owners hand in bots.

    Owners enter with a token from `arena league invite`. What they hand in waits until
    `arena league serve`, which runs beside this, takes it. Needs the extra `table`.

    \b
    Example:
      timeout 5 arena league web results/club --port 0
    """
    for module, library in _NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise InputError(f"arena league web: {not_installed(library, 'table')}")
    for name, address in ("--host", host), ("--proxy", proxy):
        _check_address(name, address)
    from arena.addons.league.web import Web, make_server
    from arena.reports.front import listen

    with listen(port, host) as bound, closing(Web(folder)) as opened:
        port = bound.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        if host != _HERE and not proxy:
            say("warning: without a proxy with TLS, tokens can be read on the way", err=True)
        make_server(opened, host, port, proxy).run_until_end(
            bound, lambda: say(f"serving {folder}/ at http://{shown}:{port}/; Ctrl-C stops it")
        )


def _check_address(name: str, address: str) -> None:
    """Raise InputError unless an address is one of IP, or empty."""
    try:
        if address:
            ipaddress.ip_address(address)
    except ValueError:
        raise InputError(f"{name} {address!r}: not an IP address") from None
