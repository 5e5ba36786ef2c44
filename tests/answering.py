"""Use commands one after the other in this process, where something may be missing."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Sequence


def answer(commands: Sequence[Sequence[str]], typed: str) -> None:
    """Print a JSON line for each command: its exit status, or an exception, and what it printed.

    Each has this text as its standard input.
    """
    from arena.cli import main

    for words in commands:
        sys.argv, printed = ["arena", *words], io.StringIO()
        sys.stdin = io.TextIOWrapper(io.BytesIO(typed.encode()))
        status: object = None
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                main()
        except SystemExit as end:
            status = end.code
        except BaseException as error:
            status = repr(error)
        print(json.dumps([status, printed.getvalue()]))
