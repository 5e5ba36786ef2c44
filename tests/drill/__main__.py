"""`python -m tests.drill` plants one fault at a time and runs the test that must catch it.

It never changes the working tree. It fails if a fault goes unnoticed. The tests must pass in
the copy without a fault, so they are run once before.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.drill import FAULTS, copy_repository
from tests.drill.fault import is_caught, run_tests


def main() -> None:
    """Plant every fault, and print the test that caught it."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="drill-") as folder:
        copy = copy_repository(Path(folder))
        if run_tests(copy, *sorted({fault.test for fault in FAULTS})):
            sys.exit("a test of the drill fails without a fault")
        for fault in FAULTS:
            caught = is_caught(copy, fault)
            missed += not caught
            print(f"{fault.what}: {fault.test if caught else 'NOT CAUGHT'}", flush=True)
    print(f"{len(FAULTS) - missed} of {len(FAULTS)} faults caught")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
