"""Guided: atheris, a coverage-guided fuzzer, chooses the bytes of a target's input."""

from __future__ import annotations

import sys
from collections.abc import Callable

_MEGABYTES = 4096
_LONGEST = 4096  # bytes


def guide(target: Callable[[bytes], None], seconds: float) -> None:
    """Try bytes that reach new code, and end the process; a finding is written to a file."""
    import atheris  # in the extra `fuzz`, because few machines have a wheel of it

    options = [f"-max_total_time={seconds:.0f}", f"-max_len={_LONGEST}"]
    options += [f"-rss_limit_mb={_MEGABYTES}", "-timeout=60", "-print_final_stats=1"]
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *options], lambda content: target(content))
    atheris.Fuzz()
