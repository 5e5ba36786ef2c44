"""`python -m bench.mutants` tries mutants of the engine, the bots and all rooms of the arena.

It never changes the working tree: it has a copy in a temporary folder. Which tests run a line it
knows from one run of all tests under coverage, which it makes once for each commit. Every trial is
kept in a file outside the repository, so that the program goes on where it was stopped; `--part
1/2` and `--part 2/2` may run side by side. `--depth room` tries each mutant only by the quick
tests of its line and its room. What the steps before the last catch is caught by `make test`, and
what all steps catch by `make test-all`: lower bounds, as no step runs all tests. A survivor that
bench/MUTANTS.md names, with the reason, is kept; the program fails if there is another one.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.mutants.finding import draw, find_mutants, modules
from bench.mutants.ledger import Ledger, usual_path
from bench.mutants.mutant import Mutant
from bench.mutants.steps import STEPS, steps
from bench.mutants.table import table
from bench.mutants.traces import Traces, read, trace
from bench.mutants.traces import usual_path as usual_traces
from bench.mutants.trial import Copy
from tests import ROOT
from tests.drill.fault import commit

_MEMORY = 8 << 30  # bytes for each process: a mutant may ask for much more


def main() -> None:
    """Draw the sample, try it, and print what came of it."""
    options = _options()
    ledger = Ledger(options.results)
    population = list(_population(options.only))
    sample = draw(population, ROOT, options.sample or len(population), options.seed)
    texts = {one.module: (ROOT / one.module).read_text(encoding="utf-8") for one in sample}
    print(f"{len(sample)} of {len(population)} mutants, seed {options.seed}", flush=True)
    if not options.report:
        part, parts = map(int, options.part.split("/"))
        _limit_memory()
        with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
            copy = Copy(Path(folder), options.timeout)
            assert all(copy.text(module) == text for module, text in texts.items())
            path = options.traces or usual_traces(commit())
            if not path.exists():
                trace(copy.path, copy.environment, path)
            _try_all(copy, ledger, read(path), sample[part - 1 :: parts], options)
    tried = [(one, ledger.find(one, texts[one.module])) for one in sample]
    lines, new = table(population, tried)
    print("\n".join(lines))
    sys.exit(1 if new else 0)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=600, help="how many; 0 for every place")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument(
        "--part", default="1/1", help="2/3: the second of three parts of the sample"
    )
    parser.add_argument("--only", default="", help="modules whose paths begin like this")
    parser.add_argument("--depth", default=STEPS[-1], choices=STEPS[1:], help="the last step")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for a test")
    parser.add_argument("--results", type=Path, default=usual_path(), help="the file of all trials")
    parser.add_argument("--traces", type=Path, help="a file of traces, of another commit too")
    parser.add_argument("--go-on", action="store_true", help="also after trials with older tests")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    return parser.parse_args()


def _population(only: str) -> Iterator[Mutant]:
    for path in modules(ROOT):
        module = path.relative_to(ROOT).as_posix()
        if module.startswith(only):
            yield from find_mutants(module, path.read_text(encoding="utf-8"))


def _try_all(
    copy: Copy, ledger: Ledger, traces: Traces, sample: list[Mutant], options: argparse.Namespace
) -> None:
    """Try each mutant whose trial is not complete, and print what came of it.

    All go one step before any goes the next, so that a run that is stopped knows of all a little.
    """
    tests = commit()
    for number, step in enumerate(STEPS[: STEPS.index(options.depth) + 1]):
        for mutant in sample:
            text = copy.text(mutant.module)
            former = ledger.find(mutant, text)
            if former and former.is_done(step, "" if options.go_on else tests):
                continue
            goes_on = former and (options.go_on or former.commit == tests)
            done = STEPS.index(former.reached) + 1 if former and goes_on else 0
            rest = steps(mutant, text, traces, copy.path)[done : number + 1]
            trial = copy.test(mutant, rest, step, tests)
            ledger.add(mutant, text, trial)
            print(f"{number + 1} {step} {mutant.place} {trial.change}", flush=True)
            print(f"    {trial.seconds} s {trial.killer or 'SURVIVED'}", flush=True)
    print("".join(f"not believed: {name}\n" for name in copy.unsound))


if __name__ == "__main__":
    main()
