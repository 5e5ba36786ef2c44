"""Nursery: a process that has imported the libraries, and forks one for each run of pytest.

`python -m bench.mutants.nursery` imports nothing of ours that a mutant may change. It reads lines
of JSON, each with pytest's words and the file of its output, and prints the id of the process and,
when it has ended, its status: less than a second of imports is saved each time.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from contextlib import suppress

_LIBRARIES = (
    *("pytest", "_hypothesis_pytestplugin", "hypothesis", "doctest", "unittest.mock", "asyncio"),
    *("numpy", "pandas", "scipy.stats", "scipy.optimize", "networkx", "altair"),
    *("yaml", "click", "msgspec", "psutil", "tqdm", "jinja2", "starlette", "uvicorn"),
    *("concurrent.futures.process", "multiprocessing.forkserver", "sqlite3", "http.client"),
)


def main() -> None:
    """Fork a process for each line, until there is none."""
    for name in _LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(name)
    for line in iter(sys.stdin.readline, ""):
        words, output = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(words, output)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(words: list[str], output: str) -> None:
    """Become the process of pytest, as the leader of a session of its own."""
    os.setsid()
    for number, path in enumerate((os.devnull, output, output)):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdin = os.fdopen(0, closefd=False)  # what the other one had read is gone
    for name in [name for name in sys.modules if name.partition(".")[0] in ("bench", "tests")]:
        del sys.modules[name]
    sys.argv = ["pytest", *words]
    status: object = 1
    try:
        runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


if __name__ == "__main__":
    main()
