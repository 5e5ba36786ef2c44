"""The sentence of `arena compare`: how often what it claims is wrong, stopped tests included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from arena.differences.sentences import Claim, make_claim
from arena.statistics.intervals import Estimate
from arena.tournament.sprt_rounds import Evidence
from arena.tournament.stop import Sprt
from bench.studies.sprt import ERROR_RATE, FAR, MOST, NEAR, RUNS, Setup, play_tests

SETUPS = [
    Setup(shares, elo, 15.0, most)
    for shares, most in ((FAR, MOST), (FAR, 50), (FAR, 800), (NEAR, 800))
    for elo in (-30.0, 0.0, 5.0, 15.0)
]
FIRM: tuple[Claim, ...] = ("better", "weaker", "no worse", "not better")
"""What is said without `probably`."""


def claim_of(test: Evidence, setup: Setup) -> Claim:
    """Return what `arena compare` says after a test."""
    stop = Sprt(0.0, setup.elo1, ERROR_RATE, ERROR_RATE, setup.most)
    lead = Estimate(*map(test.elo, test.estimate()[:3]))
    return make_claim(test.verdict, lead, stop, test.pairs)


def is_wrong(claim: Claim, setup: Setup) -> bool:
    """Return whether a claim is not true of the lead that was simulated; elo0 is 0."""
    truths: dict[Claim, bool] = {
        "better": setup.elo > 0,
        "weaker": setup.elo < 0,
        "not better": setup.elo < setup.elo1,
        "probably better": setup.elo > 0,
        "probably not better": setup.elo < setup.elo1,
        "undecided": True,
    }
    return not truths[claim]


def count_claims(setup: Setup, runs: int) -> tuple[Counter[Claim], Counter[Claim]]:
    """Return how often each claim was made, and how often it was wrong."""
    made: Counter[Claim] = Counter()
    wrong: Counter[Claim] = Counter()
    for test in play_tests(setup, runs):
        claim = claim_of(test, setup)
        made[claim] += 1
        wrong[claim] += is_wrong(claim, setup)
    return made, wrong


def lines(runs: int = RUNS // 2, setups: Sequence[Setup] = SETUPS) -> Iterator[str]:
    """Yield the table of the section, each row as soon as it has been simulated."""
    yield (
        f"Tests of 0 against 15 points, {runs:,} runs a row, with pair scores as in the section\n"
        "before: how often each claim was made, and how often what was said was wrong, without\n"
        "`probably` and with it. Where there is no lead, 5 % are to be expected without it.\n"
    )
    yield (
        "| true Elo | pair scores | most pairs | better | weaker | not better | probably "
        "| undecided | wrong | wrong, probably |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for setup in setups:
        made, wrong = count_claims(setup, runs)
        probably = [claim for claim in made if claim.startswith("probably")]
        counts = [
            *(made[claim] for claim in ("better", "weaker", "not better")),
            sum(made[claim] for claim in probably),
            made["undecided"],
            sum(wrong[claim] for claim in FIRM),
            sum(wrong[claim] for claim in probably),
        ]
        cells = [
            f"{setup.elo:g}",
            "near" if setup.shares == NEAR else "far",
            "none" if setup.most == MOST else f"{setup.most:,}",
            *(f"{count / runs:.1%}" for count in counts),
        ]
        yield f"| {' | '.join(cells)} |"
