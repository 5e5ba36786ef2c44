"""`python -m bench.mutants` tries a sample of the mutants of five rooms and prints the score.

It never changes the working tree: each of its processes has a copy in a temporary folder. Every
trial is a line of build/mutants.jsonl. A survivor that bench/MUTANTS.md names, with the reason,
is kept; the program fails if there is another one, or if the score is below the aim.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from bench.mutants.mutant import Mutant, draw, find_mutants
from bench.mutants.trial import TESTS, Copy, Trial
from tests import ROOT

AIM = 0.90
KEPT = ROOT / "bench" / "MUTANTS.md"
LOG = ROOT / "build" / "mutants.jsonl"
_MEMORY = 8 << 30  # bytes for each process: a mutant may ask for much more

_copy: Copy


class Tried(NamedTuple):
    """A mutant, what it changes, and how the tests went."""

    mutant: Mutant
    change: str
    trial: Trial


def main() -> None:
    """Draw the sample, try it, and print what came of it."""
    options = _options()
    population = {
        path.relative_to(ROOT).as_posix(): find_mutants(
            path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        )
        for room in TESTS
        for path in sorted((ROOT / room).glob("*.py"))
        if path.relative_to(ROOT).as_posix().startswith(options.only)
    }
    sample = _sample(population, options.sample, options.seed)
    print(f"{len(sample)} of {sum(map(len, population.values()))} mutants, seed {options.seed}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tried = list(_logged(_try_all(sample, options.workers, folder)))
    for line in _report(population, tried):
        print(line)
    sys.exit(1 if _new_survivors(tried) or _score(tried) < AIM else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=400, help="how many at least; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--workers", type=int, default=2, help="processes, each with a copy")
    parser.add_argument("--only", default="", help="modules whose paths begin like this")
    return parser.parse_args()


def _sample(population: dict[str, list[Mutant]], wanted: int, seed: int) -> list[Mutant]:
    """Return so many mutants, or a few more: of each module in proportion to what it has."""
    share = wanted / sum(map(len, population.values())) if wanted else 1.0
    return [
        mutant
        for module, mutants in population.items()
        if mutants
        for mutant in draw(
            mutants,
            (ROOT / module).read_text(encoding="utf-8"),
            math.ceil(min(1.0, share) * len(mutants)),
            seed,
        )
    ]


def _try_all(sample: list[Mutant], workers: int, folder: str) -> Iterator[Tried]:
    with ProcessPoolExecutor(workers, initializer=_begin, initargs=(folder,)) as pool:
        yield from pool.map(_try, sample)


def _begin(folder: str) -> None:
    """Make this process's copy of the repository."""
    global _copy
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    _copy = Copy(Path(tempfile.mkdtemp(dir=folder)))


def _try(mutant: Mutant) -> Tried:
    change = mutant.change((ROOT / mutant.module).read_text(encoding="utf-8"))
    return Tried(mutant, change, _copy.test(mutant))


def _logged(tried: Iterable[Tried]) -> Iterator[Tried]:
    """Yield each trial once its line has been written."""
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("w", encoding="utf-8") as file:
        for one in tried:
            data = one.mutant._asdict() | {"change": one.change} | one.trial._asdict()
            print(json.dumps(data), file=file, flush=True)
            yield one


def _report(population: dict[str, list[Mutant]], tried: list[Tried]) -> Iterator[str]:
    """Yield the table by module, as in bench/MUTANTS.md, and the survivors."""
    yield "\n| module | mutants | tried | killed | timeouts | survived | score |"
    yield "|---|---|---|---|---|---|---|"
    for module, mutants in population.items():
        own = [one for one in tried if one.mutant.module == module]
        if own:
            yield _row(module, len(mutants), own)
    yield _row("all", sum(map(len, population.values())), tried)
    new = _new_survivors(tried)
    yield f"\n{len(new)} survivors that {KEPT.name} does not explain:"
    for one in new:
        yield f"{one.mutant.module}:{one.mutant.line}: {one.change}"


def _row(what: str, mutants: int, tried: list[Tried]) -> str:
    """Return a row of the table; a timeout counts as killed."""
    ends = Counter(
        one.trial.killer if one.trial.killer in ("", "timeout") else "test" for one in tried
    )
    numbers = (mutants, len(tried), ends["test"], ends["timeout"], ends[""])
    return f"| {what} | {' | '.join(map(str, numbers))} | {_score(tried):.1%} |"


def _score(tried: list[Tried]) -> float:
    return sum(1 for one in tried if one.trial.killer) / len(tried)


def _new_survivors(tried: list[Tried]) -> list[Tried]:
    """Return the survivors that nobody has explained."""
    kept = KEPT.read_text(encoding="utf-8")
    return [one for one in tried if not one.trial.killer and f"`{one.change}`" not in kept]


if __name__ == "__main__":
    main()
