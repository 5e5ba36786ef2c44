"""Guided: atheris, a coverage-guided fuzzer, chooses the bytes of a target's input."""

from __future__ import annotations

import sys

_MEGABYTES = 4096
_LONGEST = 4096  # bytes


def guide(name: str, seconds: float) -> None:
    """Try bytes that reach new code, and end the process; a finding is written to a file."""
    import atheris  # in the extra `fuzz`, because few machines have a wheel of it

    options = [f"-max_total_time={seconds:.0f}", f"-max_len={_LONGEST}"]
    options += [f"-rss_limit_mb={_MEGABYTES}", "-timeout=60", "-print_final_stats=1"]
    with atheris.instrument_imports(include=["arena", "engine", "yaml"]):
        from tests.fuzz.targets import FROM_BYTES, good_run
    if name == "stores":
        good_run()  # before the memory is counted
    target = FROM_BYTES[name]
    atheris.Setup([sys.argv[0], *options], lambda content: target(content))
    atheris.Fuzz()
