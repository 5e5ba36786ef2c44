"""`python -m bench.studies [STUDY ...]` prints figures; with --save it writes bench/STUDIES.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from bench.__main__ import sections
from bench.studies import ablation, sprt

HEAD = """# What the statistics get right

Simulations of the decisions, intervals and ratings that the arena prints: how often they are
wrong, where the truth is known. `python -m bench.studies --save` wrote this, and
`python -m bench.studies sprt --save` writes one section. `make study` runs them as tests."""

STUDIES: Mapping[str, tuple[str, Callable[[], Iterable[str]]]] = {
    "sprt": ("Comparisons that stop: arena compare", sprt.lines),
    "ablation": ("Changes of the rules: arena ablate", ablation.lines),
}
"""The studies by name: the title of the section, and what yields its lines."""


def section(name: str) -> Iterator[str]:
    """Yield the lines of a study's section, each as soon as it is known."""
    title, lines = STUDIES[name]
    yield f"\n## {title}\n"
    yield from lines()
    yield f"\n`python -m bench.studies {name} --save`"


def main() -> None:
    """Print the named studies, or all, and save them beside the others if asked to."""
    names = [word for word in sys.argv[1:] if word != "--save"]
    if unknown := {*names} - {*STUDIES}:
        sys.exit(f"error: {', '.join(sorted(unknown))}: there are {', '.join(STUDIES)}")
    made = {}
    for name in names or STUDIES:
        text = []
        for line in section(name):
            print(line, flush=True)
            text.append(line)
        made[STUDIES[name][0]] = "\n".join(text)
    if "--save" in sys.argv[1:]:
        path = Path(__file__).parents[1] / "STUDIES.md"
        kept = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
        kept |= made
        parts = [kept[title] for title, _ in STUDIES.values() if title in kept]
        path.write_text("\n".join([HEAD, *parts]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
