"""Build the site: stage the pages, add those made from the code, and run Sphinx strictly."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Final

from docs.making import api, commands, config_keys, csv_columns, notebook
from docs.making.gallery import write_gallery
from docs.making.staging import stage_pages

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"
STRICT: Final = ("--fail-on-warning", "--keep-going", "--nitpicky", "--quiet")
MARK: Final = ".buildinfo"  # a file that Sphinx leaves in a site
MAKERS: Final = (config_keys, csv_columns, api, commands)


def build_site(folder: Path, *, gallery: bool, url: str = "", root: Path = ROOT) -> int:
    """Write the site into a folder, in place of what is there; return Sphinx's exit status.

    `url` is the address beside which the folders of all versions will lie, empty for none. Raises
    FileExistsError for a folder with something else.
    """
    from sphinx.cmd.build import build_main

    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise FileExistsError(f"{folder}: there is something else than a site")
    with tempfile.TemporaryDirectory() as scratch:
        source, doctrees = Path(scratch, "source"), Path(scratch, "doctrees")
        write_source(root, source)
        write_gallery(source, play=gallery)
        shutil.rmtree(folder, ignore_errors=True)
        words = [
            "-b",
            "html",
            *STRICT,
            "-D",
            f"site_url={url}",
            "-d",
            str(doctrees),
            str(source),
            str(folder),
        ]
        status: int = build_main(words)
    for path in folder.rglob("*.map"):  # of the theme's scripts: a tenth of the site, for nobody
        path.unlink()
    return status


def write_source(root: Path, source: Path) -> None:
    """Write all pages but the gallery into a folder: those of docs/, and those of the code.

    The examples go with the site, under the name that pages give them.
    """
    stage_pages(root, source, {"docs/reference.md": list_made()})
    shutil.copytree(source / "examples", source / "extra" / "docs" / "examples")
    made = source / "reference"
    made.mkdir()
    for room in MAKERS:
        for name, text in room.pages().items():
            (made / name).write_text(text, encoding="utf-8")
    (source / "tour.md").write_text(
        notebook.to_markdown(root / "docs" / "tour.ipynb"), encoding="utf-8"
    )


def list_made() -> str:
    """Return the end of the page `reference`, which lists all pages that are made from the code."""
    return "\n" + "\n".join(room.listing("reference/") for room in MAKERS)
