"""`python -m bench.studies [STUDY ...]` prints figures; with --save it writes bench/STUDIES.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from bench.saving import chosen, make
from bench.studies import (
    ablation,
    apart,
    chances,
    claims,
    effect_headlines,
    first,
    guess,
    league,
    lessons,
    plan,
    ratings,
    sequences,
    sprt,
    swiss,
    telling,
    unmet,
    verdicts,
)
from bench.studies.baselines import runs as baselines

HEAD = """# What the statistics get right

Simulations of the decisions, intervals and ratings that the arena prints: how often they are
wrong, where the truth is known. `python -m bench.studies --save` wrote this, and
`python -m bench.studies sprt --save` writes one section. Tests make a few runs of them."""

STUDIES: Mapping[str, tuple[str, Callable[[], Iterable[str]]]] = {
    "sprt": ("Comparisons that stop: arena compare", sprt.lines),
    "races": ("Comparisons that stop: beside fishtest's test", sprt.races),
    "claims": ("Comparisons that stop: the sentence", claims.lines),
    "sequences": ("Confidence sequences", sequences.lines),
    "apart": ("Runs that stop by themselves: under hostile truths", apart.lines),
    "unmet": ("Ratings: where not all bots meet", unmet.lines),
    "first": ("Runs that stop by themselves: the strongest bot", first.lines),
    "league": ("Leagues: a newcomer's interval", league.lines),
    "guess": ("The rating that ends a check", guess.lines),
    "swiss": ("Swiss tournaments: simulated fields", swiss.lines),
    "ratings": ("Ratings: pairs that depend on time", ratings.lines),
    "verdicts": ("Verdicts: under hostile truths", verdicts.lines),
    "plan": ("Plans: the pairs that a run takes: arena plan", plan.lines),
    "effect_headlines": ("The headline of an ablation", effect_headlines.lines),
    "ablation": ("Changes of the rules: arena ablate", ablation.lines),
    "chances": ("Replays: whether the curve is right", chances.lines),
    "lessons": ("Lessons: whether a planted weakness is told first", lessons.lines),
    "baselines": ("Baselines: how far algorithms are from optimal play", baselines.lines),
    "telling": ("Jails: what one tells another", telling.lines),
}
"""The studies by name: the title of the section, and what yields its lines."""

LONG = {"baselines"}
"""Studies that are made only by name: it takes half an hour."""


def section(name: str) -> Iterator[str]:
    """Yield the lines of a study's section, each as soon as it is known."""
    title, lines = STUDIES[name]
    yield f"\n## {title}\n"
    yield from lines()
    yield f"\n`python -m bench.studies {name} --save`"


def main() -> None:
    """Print the named studies, or all, and save them beside the others if asked to.

    `baselines --seeds N --only NAME ...` prints a part of that study.
    """
    words = sys.argv[2:] if sys.argv[1:2] == ["baselines"] else []
    if any(word != "--save" and word not in STUDIES for word in words):
        for line in baselines.lines(*baselines.wanted(words)):
            print(line, flush=True)
        return
    parts = {name: (title, partial(section, name)) for name, (title, _) in STUDIES.items()}
    names = chosen(STUDIES, LONG)
    make(Path(__file__).parents[1] / "STUDIES.md", HEAD, parts, names)
    if "--save" in sys.argv and "baselines" in names:
        baselines.fill()


if __name__ == "__main__":
    main()
