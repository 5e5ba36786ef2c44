"""Play a tournament under several rules on the same deals, each in a run of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from arena.errors import InputError
from arena.executors.contract import Executor
from arena.executors.log import NORMAL
from arena.runs.prepare import prepare
from arena.runs.run import Interrupted, Outcome, run
from arena.store.folder import REPORTS, RunFolder
from arena.store.reader import count_kept, read_run
from arena.tournament.rule_changes import Variant, deals_alike
from arena.tournament.tournament import Tournament

if TYPE_CHECKING:
    from arena.differences.ablation import Ablation, Contest, VariantResult
    from arena.statistics.intervals import Ints

Announce: TypeAlias = Callable[[Variant], None]
"""Is called before the run of a variant begins."""


def ablate(
    tournament: Tournament,
    variants: Sequence[Variant],
    executor: Executor,
    path: Path,
    announce: Announce,
    shown: int = NORMAL,
    *,
    replace: bool = False,
) -> Ablation:
    """Play what is left of each variant, the base first, and write ablation.csv and the reports.

    The run of a variant is in a folder of this folder, with the variant's name. Raises what `run`
    raises; Interrupted counts the games of all variants. Raises InputError for a tournament whose
    results decide which pairs it plays: its variants would not have the same deals.
    """
    from arena.differences.ablation import Ablation, check_folder, write
    from arena.reports.ablation_report import make_ablation_report
    from arena.reports.html import write_reports
    from arena.reports.run_report import check_place

    if tournament.stop or tournament.rounds:
        raise InputError(
            f"{'until' if tournament.stop else 'format: swiss'}: an ablation plays the same pairs "
            "under all rules, and this chooses them by the results"
        )
    check_folder(path)
    for name in REPORTS:
        check_place(path / name)
    folders = [RunFolder(path / variant.name) for variant in variants]
    results: list[VariantResult] = []
    base: Ints | None = None
    contest: Contest | None = None
    try:
        for variant, folder in zip(variants, folders, strict=True):
            announce(variant)
            playing = _vary(tournament, variant)
            outcome = run(playing, executor, folder, shown, replace=replace)
            counted = _count(folder.path)
            if base is None:
                base, contest = counted, _find_contest(playing, outcome)
            results.append(_compare(variant, variants[0], outcome, counted, base, contest))
    except Interrupted:
        kept = sum(count_kept(path / variant.name) for variant in variants)
        raise Interrupted(kept, tournament.games * len(variants)) from None
    ablation = Ablation(results, tournament.pairs, _labels(tournament, contest))
    write(path, ablation)
    write_reports(path, make_ablation_report(ablation, tournament))
    return ablation


def _vary(tournament: Tournament, variant: Variant) -> Tournament:
    """Return the tournament under the rules of a variant."""
    return dataclasses.replace(tournament, rules=variant.rules)


def _count(path: Path) -> Ints:
    """Return the counts of a run that has ended."""
    from arena.differences.ablation import count_pairs

    tournament, store = read_run(path)
    with closing(store):
        pairings = map(store.read_pairs, range(len(tournament.pairings)))
        return count_pairs(tournament.pairs, pairings)


def _find_contest(tournament: Tournament, outcome: Outcome) -> Contest | None:
    """Return the pairing whose bots are furthest apart in Elo, the first of those of one gap."""
    from arena.differences.ablation import Contest

    rated = outcome.standings.dropna(subset="elo")
    elo: dict[str, float] = dict(zip(rated["bot"], rated["elo"], strict=True))
    best: Contest | None = None
    widest = -1.0
    for number, (bot, opponent) in enumerate(tournament.pairings):
        if bot in elo and opponent in elo and abs(elo[bot] - elo[opponent]) > widest:
            widest = abs(elo[bot] - elo[opponent])
            best = Contest(number, first=elo[bot] >= elo[opponent])
    return best


def _labels(tournament: Tournament, contest: Contest | None) -> tuple[str, str] | None:
    """Return the labels of the strongest bot and of the weakest."""
    if contest is None:
        return None
    bot, opponent = tournament.pairings[contest.pairing]
    return (bot, opponent) if contest.first else (opponent, bot)


def _compare(
    variant: Variant,
    first: Variant,
    outcome: Outcome,
    counted: Ints,
    base: Ints,
    contest: Contest | None,
) -> VariantResult:
    """Return what a variant's games came to, and how they differ from those of the base."""
    from arena.differences.ablation import MEASURES, VariantResult, difference, estimate
    from arena.statistics.intervals import Estimate

    return VariantResult(
        variant.name,
        variant.rules,
        deals_alike(variant.rules, first.rules),
        outcome.played + outcome.kept,
        int(outcome.standings["forfeits"].sum()),
        outcome.out,
        [estimate(counted, measure, contest) for measure in MEASURES],
        [
            Estimate() if variant is first else difference(base, counted, measure, contest)
            for measure in MEASURES
        ],
        variant is not first and bool((counted == base).all()),
    )


def prepare_variants(
    tournament: Tournament, variants: Sequence[Variant], kept: Path | None = None
) -> list[str]:
    """Return a line for each bot that does not load under the rules of a variant.

    `kept` is a folder whose games the ablation goes on from. Raises what `prepare` raises.
    """
    found: dict[str, list[str]] = {}
    for variant in variants:
        run = kept and kept / variant.name
        for problem in prepare(_vary(tournament, variant), run):
            found.setdefault(problem, []).append(variant.name)
    return [
        problem if len(names) == len(variants) else f"{', '.join(names)}: {problem}"
        for problem, names in found.items()
    ]


def clear(path: Path, variants: Sequence[Variant]) -> None:
    """Remove earlier runs of these variants, the table and the reports; raises InputError."""
    from arena.differences.ablation import FILE, check_folder

    check_folder(path)
    for variant in variants:
        if (path / variant.name).is_dir():
            RunFolder(path / variant.name).clear()
    for name in (FILE, *REPORTS):
        (path / name).unlink(missing_ok=True)
