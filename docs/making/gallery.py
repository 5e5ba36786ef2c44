"""Play the runs of the gallery, and write its page with the commands beside what they made."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ARENA = (sys.executable, "-m", "arena")


@dataclass(frozen=True)
class Exhibit:
    """A page: what it is, the commands that make it, and the file that they write."""

    title: str
    text: str
    commands: tuple[str, ...]
    page: str
    beside: str = ""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.title.lower().replace(" ", "-")

    @property
    def picture(self) -> str:
        """The file of its first screen, as `make pictures` takes it into docs/pictures."""
        return f"{self.name}.png"

    @property
    def link(self) -> str:
        """The page, as the gallery links to it."""
        return f"{self.name}/{Path(self.page).name}"


_INTRODUCTION: Final = """\
What the arena writes: the first screen of each page, with the commands that have made it. The same
version of the arena writes the same pages anywhere. All of them open offline."""

EXHIBITS: Final = (
    Exhibit(
        "A round robin",
        "Four bots, every one against every other one: standings, pairings, key figures, how games "
        "were won, and replays of the games worth a look.",
        ("arena run quickstart --pairs 200 --quiet --out results/cup",),
        "results/cup/report.html",
    ),
    Exhibit(
        "A replay",
        "One game of this run, ply by ply, with the chance to win and what was hidden.",
        ("arena view results/cup uniform/greedy/3/0 --out results/replay.html",),
        "results/replay.html",
    ),
    Exhibit(
        "A comparison",
        "Is greedy stronger with more patience? It stops as soon as that is known.",
        (
            "arena compare 'greedy(patience=9.5)' 'greedy(patience=4.0)' --seed 7 "
            "--max-pairs 2000 --quiet --out results/patience",
        ),
        "results/patience/report.html",
    ),
    Exhibit(
        "A league",
        "Bots that come at any time, after a round.",
        (
            "arena league new results/club --seed 7 --lane process",
            "arena league submit results/club 'timing(patience=2.5)' --name patient --by Ann",
            "arena league host results/club --once",
        ),
        "results/club/site/index.html",
        "bots/*.html",
    ),
)


def write_gallery(source: Path, *, play: bool) -> None:
    """Write the gallery's page into the folder of all pages, and its exhibits if asked to play."""
    page, live = source / "gallery" / "index.md", source / "extra" / "gallery"
    for folder in (page.parent, live):
        folder.mkdir(parents=True, exist_ok=True)
    page.write_text(gallery_page(live=play), encoding="utf-8")
    if play:
        make_exhibits(live)


def make_exhibits(folder: Path) -> None:
    """Play the runs of the gallery, and keep the page of each in a folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        for exhibit in EXHIBITS:
            for command in exhibit.commands:
                run_command(command, Path(scratch))
            keep_pages(Path(scratch, exhibit.page), exhibit.beside, folder / exhibit.name)


def run_command(command: str, folder: Path) -> None:
    """Run a command of the page in a folder; raises CalledProcessError if it fails."""
    words = [*_ARENA, *shlex.split(command)[1:]]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def keep_pages(page: Path, beside: str, folder: Path) -> None:
    """Copy a page, and those in folders beside it to which it leads: a pattern says which."""
    for path in [page, *(page.parent.glob(beside) if beside else ())]:
        kept = folder / path.relative_to(page.parent)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(path.read_bytes())


def gallery_page(*, live: bool) -> str:
    """Return the page: each exhibit with its picture, its place, and the commands that make it."""
    parts = ["# Gallery", _INTRODUCTION]
    for exhibit in EXHIBITS:
        commands = "\n".join(exhibit.commands)
        parts += [f"## {exhibit.title}", exhibit.text, _show(exhibit, live=live)]
        if live:
            parts.append(f'<p><a href="{exhibit.link}">Open {exhibit.page}</a></p>')
        parts.append(f"```console\n{commands}\n```")
    return "\n\n".join([*parts, ""])


def _show(exhibit: Exhibit, *, live: bool) -> str:
    """Return the picture of an exhibit, which leads to it if it is there."""
    lines = [
        f"```{{image}} ../pictures/{exhibit.picture}",
        f":alt: The first screen of {exhibit.title.lower()}",
        *([f":target: {exhibit.link}"] if live else []),
        "```",
    ]
    return "\n".join(lines)
