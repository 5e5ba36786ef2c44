"""Which algorithms run, for how long, and the tables of how far they are from optimal play.

What has been computed stands in `figures.jsonl`, and is not computed again.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

from arena.addons.rl.exact import SMALL
from arena.statistics.distributions import student_bound
from bench.studies.baselines import learned, nfsp, spiel, tree
from bench.studies.baselines.game import Game, Shares

PATH = Path(__file__).with_name("figures.jsonl")
PAGE = PATH.parents[3] / "docs" / "baselines.md"
SEEDS = 5
MOST_SEEDS = 100
PLAYED = ("points", "hand3")


class Algorithm(NamedTuple):
    """An algorithm with the steps that it takes in each variant; without luck, one run is enough.

    A variant that it has no steps for is too large for it.
    """

    title: str
    run: Callable[[Game, int, int], Shares]
    steps: Mapping[str, int]
    luck: bool = False


def _steps(points: int, hand3: int) -> dict[str, int]:
    return {"points": points, "hand3": hand3}


ENTROPIES = {"ppo_low": 0.05, "ppo_middle": 0.2, "ppo_high": 0.5}

ALGORITHMS = {
    "uniform": Algorithm("all legal actions alike", lambda game, *_: game.uniform(), _steps(0, 0)),
    "lp": Algorithm("linear program", tree.lp, _steps(1, 1)),
    "cfr": Algorithm("CFR+", tree.cfr_plus, _steps(5000, 1100)),
    "dcfr": Algorithm("DCFR", tree.dcfr, _steps(3500, 950)),
    "xfp": Algorithm("XFP", tree.xfp, _steps(12_000, 1900)),
    "mmd": Algorithm("MMD", tree.mmd, _steps(4300, 900)),
    "psro": Algorithm("PSRO", tree.psro, _steps(160, 190), luck=True),
    "spiel_cfr": Algorithm("CFR+ of OpenSpiel", spiel.cfr_plus, _steps(480, 10)),
    "spiel_dcfr": Algorithm("DCFR of OpenSpiel", spiel.dcfr, {"points": 20}),
    "spiel_xfp": Algorithm("XFP of OpenSpiel", spiel.xfp, {"points": 5}),
    "mccfr": Algorithm("MCCFR of OpenSpiel", spiel.mccfr, _steps(68_000, 28_000), luck=True),
    **{
        name: Algorithm(
            f"PPO, entropy {weight}", partial(learned.ppo, entropy=weight), _steps(30, 32), True
        )
        for name, weight in ENTROPIES.items()
    },
    "nfsp": Algorithm("NFSP", nfsp.nfsp, _steps(370, 700), luck=True),
    "ismcts": Algorithm("IS-MCTS", learned.search, _steps(110, 12), luck=True),
}
"""The algorithms by name; the steps are such that a run takes 3 s of a processor, or 6."""

OPENSPIEL = ("spiel_cfr", "spiel_dcfr", "spiel_xfp", "mccfr")


class Figure(NamedTuple):
    """What one run came to: exploitability of the policy and of its likeliest actions, seconds."""

    variant: str
    algorithm: str
    seed: int
    steps: int
    exploitability: float
    likeliest: float
    seconds: float


@cache
def game_of(variant: str) -> Game:
    """Return a variant as arrays."""
    return Game(SMALL[variant])


def compute(variant: str, name: str, seed: int) -> Figure:
    """Run an algorithm once."""
    game, one = game_of(variant), ALGORITHMS[name]
    if name in OPENSPIEL:
        spiel.tree(game.rules)  # is read once a process, before the clock starts
    start = process_time()
    shares = one.run(game, seed, one.steps[variant])
    seconds = round(process_time() - start, 1)
    return Figure(variant, name, seed, one.steps[variant], *game.measure(shares), seconds)


def stored(path: Path = PATH) -> list[Figure]:
    """Return the figures that have been computed."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [Figure(**json.loads(line)) for line in text.splitlines()]


def figures(variant: str, name: str, seeds: int, path: Path = PATH) -> list[Figure]:
    """Return the figures of an algorithm, and compute those that are not stored."""
    one = ALGORITHMS[name]
    known = {(f.variant, f.algorithm, f.seed, f.steps): f for f in stored(path)}
    found = []
    for seed in range(seeds if one.luck else 1):
        key = variant, name, seed, one.steps[variant]
        if key not in known:
            known[key] = compute(variant, name, seed)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[key]._asdict()) + "\n")
        found.append(known[key])
    return found


def wanted(words: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return seeds and algorithms of `--seeds N --only NAME ...`; exits for anything else.

    >>> wanted(["--seeds", "2", "--only", "cfr", "mmd"])
    (2, ('cfr', 'mmd'))
    """
    rest, seeds = [*words], SEEDS
    if "--seeds" in rest:
        place = rest.index("--seeds")
        number = "".join(rest[place + 1 : place + 2])
        if not number.isdecimal() or not 1 <= int(number) <= MOST_SEEDS:
            sys.exit(f"error: --seeds: a number from 1 to {MOST_SEEDS}, not {number!a}")
        seeds = int(number)
        del rest[place : place + 2]
    if rest and rest[0] != "--only":
        sys.exit(f"error: {rest[0]}: there are --seeds N, --only NAME ...")
    names = rest[1:]
    if unknown := [name for name in names or rest if name not in ALGORITHMS]:
        sys.exit(f"error: {', '.join(unknown)}: there are {', '.join(ALGORITHMS)}")
    return seeds, tuple(names) or tuple(ALGORITHMS)


def lines(seeds: int = SEEDS, names: Sequence[str] = tuple(ALGORITHMS)) -> Iterator[str]:
    """Yield the tables of the section, each row as soon as it is known."""
    yield (
        "How far each algorithm's policy is from optimal play: its exact exploitability by\n"
        "`arena.addons.rl.exact`, the mean over seeds and its 95 % interval by Student's t; one\n"
        "run where nothing depends on luck. *Likeliest* is the same of the policy that always\n"
        "plays its likeliest action. A run has about 3 s of a processor in `points`, and 6 s in\n"
        "`hand3`."
    )
    for variant in PLAYED:
        exact = game_of(variant).exact
        sequences, views = sum(exact.payoffs.shape), len(exact.views())
        yield f"\n`{variant}`: {sequences:,} sequences, {views:,} views, value {exact.value:.4f}\n"
        yield "| algorithm | name | steps | runs | exploitability | likeliest | seconds |"
        yield "|---|---|---|---|---|---|---|"
        for name in names:
            if variant in ALGORITHMS[name].steps:
                yield row(name, figures(variant, name, seeds))


def fill(seeds: int = SEEDS, page: Path = PAGE) -> None:
    """Write the tables into the page of the documentation."""
    _, *tables = lines(seeds)
    text = page.read_text(encoding="utf-8")
    made = re.sub(r"\n`points`: .*?(?=\n\n## )", lambda _: "\n".join(tables), text, flags=re.DOTALL)
    page.write_text(made, encoding="utf-8")


def row(name: str, found: Sequence[Figure]) -> str:
    """Return the row of an algorithm by the figures of its seeds."""
    far = _mean([one.exploitability for one in found])
    likeliest = _mean([one.likeliest for one in found])
    seconds = np.mean([one.seconds for one in found])
    title, steps = ALGORITHMS[name].title, found[0].steps
    return (
        f"| {title} | `{name}` | {steps:,} | {len(found)} | {far} | {likeliest} | {seconds:.1f} |"
    )


def _mean(values: Sequence[float]) -> str:
    """Return the mean of some numbers and its interval as text; of one, the number."""
    mean = np.mean(values)
    if len(values) == 1:
        return f"{mean:.4f}"
    half = student_bound(len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5
    return f"{mean:.4f} ({max(0.0, mean - half):.4f}..{mean + half:.4f})"
