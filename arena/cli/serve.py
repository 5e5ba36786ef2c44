"""`arena table`: a page to play, watch and look things up, on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import click

from arena.cli.options import PATH
from arena.cli.whole import Whole
from arena.errors import InputError

_NEEDED: Final = ("starlette", "uvicorn", "sse_starlette")
_RESULTS: Final = Path("results")
_PORT: Final = Whole(0, 65_535)
_FIRST: Final = "to be pasted into a browser, and works once; Ctrl-C ends the table"
_FURTHER: Final = "for another browser: the address before has been used"


@click.command()
@click.option("--port", type=_PORT, default=0, metavar="N", help="The port.  [default: a free one]")
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option(
    "--results",
    type=PATH,
    default=_RESULTS,
    show_default=True,
    help="Folder of the runs, and of your games in human/.",
)
def table(port: int, no_browser: bool, results: Path) -> None:
    """Play, watch and look things up in a browser.

    Serves a page to this machine alone until Ctrl-C. The address that is printed works once;
    then another one is printed. Your games are added to RESULTS/human/games.jsonl, as those of
    `arena human` are. Needs the extra `table`.

    \b
    Example:
      arena table
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"arena table needs {', '.join(missing)}: pip install 'district-noir-arena[table]'"
        )
    from arena.table.server import serve

    serve(results, port, _make_teller(), None if no_browser else _open_browser)


def _make_teller() -> Callable[[str], None]:
    """Return what prints each address: the first one, and those for further browsers."""
    remarks = chain([_FIRST], repeat(_FURTHER))

    def tell(address: str) -> None:
        click.echo(f"{address}\n{next(remarks)}")

    return tell


def _open_browser(page: Path) -> None:
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()


COMMANDS: list[click.Command] = [table]
