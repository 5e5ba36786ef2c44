"""Unpack a stranger's zip in a program with its own limits on time and memory.

Usage: `python source_reader.py SECONDS MEGABYTES`, with the zip as standard input. The answer is
JSON: why the zip is refused, "" if it is not, and its files in base64 by name.
`arena.entries.syntax` starts this program, and accepts only an answer of this form.
"""

from __future__ import annotations

import os
import sys

FULL = 3
"""The exit status if the memory does not suffice."""

_LONGEST = 1000  # characters of a refusal


def limit(seconds: int, megabytes: int) -> None:
    """Limit this process's processor time and writable memory, and forbid it to write files."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {"CPU": seconds, "DATA": megabytes << 20, "CORE": 0, "FSIZE": 0}
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (soft, hard))


def main() -> None:
    """Answer; exit with status `FULL` if the memory does not suffice."""
    limit(*map(int, sys.argv[1:]))
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
    import json
    from base64 import b64encode

    from arena.entries.zipped import read_zip

    try:
        damage, files = "", {}
        try:
            files = read_zip(sys.stdin.buffer.read())
        except ValueError as error:
            damage = str(error)[:_LONGEST]
        found = {name: b64encode(data).decode() for name, data in files.items()}
        sys.stdout.write(json.dumps([damage, found]))
        sys.stdout.flush()
    except MemoryError:
        os._exit(FULL)


if __name__ == "__main__":
    main()
