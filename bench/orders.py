"""`python -m bench.orders --runs 400 --workers 16` prints the study of wrong orders."""

from __future__ import annotations

import argparse
import os

from bench.studies.orders import FIELDS, RUNS, lines


def main() -> None:
    """Print the table; it needs numpy and the arena, and no game is played."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fields", type=int, default=len(FIELDS), help="only the first so many")
    asked = parser.parse_args()
    for line in lines(asked.runs, asked.workers, FIELDS[: asked.fields]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
