"""`python -m bench.mutants` tries mutants of the engine, the bots and all rooms of the arena.

It never changes the working tree: it has a copy in a temporary folder. Which tests run a line it
knows from one run of all tests under coverage, which it makes once for each commit. Every trial is
kept in a file outside the repository, so that the program goes on where it was stopped. `--depth
room` tries each mutant only by the quick tests of its line and its room, `--depth test` by all
quick tests. What the steps before the last catch is caught by `make test`, and what all steps catch
by `make test-all`. A survivor that bench/MUTANTS.md names, with the reason, is kept; the program
fails if there is another one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from bench.mutants.finding import change, draw, find_mutants, modules
from bench.mutants.ledger import Ledger, Trial, usual_path
from bench.mutants.mutant import Mutant
from bench.mutants.steps import MARKERS, STEPS, steps
from bench.mutants.table import table
from bench.mutants.together import find_killers
from bench.mutants.traces import Traces, read, trace
from bench.mutants.traces import usual_path as usual_traces
from bench.mutants.trial import Copy
from tests import ROOT
from tests.drill.fault import commit

_MEMORY = 8 << 30  # bytes of data for each process: a mutant may ask for much more


def main() -> None:
    """Draw the sample, try it, and print what came of it."""
    options = _options()
    ledger = Ledger(options.results)
    population = list(_population(options.only))
    sample = draw(population, ROOT, options.sample or len(population), options.seed)
    texts = {one.module: (ROOT / one.module).read_text(encoding="utf-8") for one in sample}
    print(f"{len(sample)} of {len(population)} mutants, seed {options.seed}", flush=True)
    if not options.report:
        _limit_memory()
        with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
            copy = Copy(Path(folder), options.timeout)
            assert all(copy.text(module) == text for module, text in texts.items())
            path = options.traces or usual_traces(commit())
            if not path.exists():
                trace(copy.path, copy.environment, path)
            traces = read(path)
            _try_nearest(traces, sample, options)
            ledger = Ledger(options.results)
            _try_all(copy, ledger, traces, sample, options)
    tried = [(one, ledger.find(one, texts[one.module])) for one in sample]
    lines, new = table(population, tried)
    print("\n".join(lines))
    sys.exit(1 if new else 0)


def _limit_memory() -> None:
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, most))  # of addresses Chromium takes more


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=600, help="how many; 0 for every place")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at the same time")
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


def _try_nearest(traces: Traces, sample: list[Mutant], options: argparse.Namespace) -> None:
    """Take the first two steps of all mutants in several processes, each with a copy of its own."""
    context = multiprocessing.get_context("fork")
    parts = [sample[number :: options.jobs] for number in range(options.jobs)]
    processes = [context.Process(target=_try_part, args=(traces, one, options)) for one in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def _try_part(traces: Traces, part: list[Mutant], options: argparse.Namespace) -> None:
    near = argparse.Namespace(**vars(options) | {"depth": STEPS[1]})
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copy = Copy(Path(folder), options.timeout)
        _try_all(copy, Ledger(options.results), traces, part, near)


def _try_all(
    copy: Copy, ledger: Ledger, traces: Traces, sample: list[Mutant], options: argparse.Namespace
) -> None:
    """Try each mutant whose trial is not complete, and print what came of it.

    All go one step before any goes the next, so that a run that is stopped knows of all a little.
    """
    tests = commit()
    for number, step in enumerate(STEPS[: STEPS.index(options.depth) + 1]):
        left = list[Mutant]()
        for mutant in sample:
            former = ledger.find(mutant, copy.text(mutant.module))
            if not (former and former.is_done(step, "" if options.go_on else tests)):
                left.append(mutant)
        if step in MARKERS:
            _try_together(copy, ledger, left, (step, tests), traces)
            continue
        for mutant in left:
            text = copy.text(mutant.module)
            trial = copy.test(mutant, steps(mutant, text, traces, copy.path)[number], tests)
            _keep(ledger, mutant, text, trial)
    print("".join(f"not believed: {name}\n" for name in copy.unsound))


def _try_together(
    copy: Copy, ledger: Ledger, mutants: list[Mutant], at: tuple[str, str], traces: Traces
) -> None:
    """Try mutants by all tests of a tier; `at` is the step and the commit of the tests."""
    (step, tests), start = at, monotonic()
    killers = find_killers(copy, mutants, MARKERS[step], traces.failed)
    for mutant in mutants:
        text = copy.text(mutant.module)
        seconds = round((monotonic() - start) / len(mutants), 1)
        trial = Trial(change(mutant, text), step, killers.get(mutant, ""), seconds, tests)
        _keep(ledger, mutant, text, trial)


def _keep(ledger: Ledger, mutant: Mutant, text: str, trial: Trial) -> None:
    """Write a trial to the ledger, and print it."""
    ledger.add(mutant, text, trial)
    print(f"{trial.reached} {mutant.place} {trial.change}", flush=True)
    print(f"    {trial.seconds} s {trial.killer or 'SURVIVED'}", flush=True)


if __name__ == "__main__":
    main()
