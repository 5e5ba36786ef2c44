"""`python -m docs.making [FOLDER] [--no-gallery]` writes the site, by default to docs/site/."""

from __future__ import annotations

from pathlib import Path

import click

from docs.making.site import DOCS, build_site


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=DOCS / "site")
@click.option("--no-gallery", is_flag=True, help="Play nothing: the gallery has no live pages.")
@click.option(
    "--url", default="", metavar="URL/", help="Where the folders of all versions will be."
)
def main(folder: Path, no_gallery: bool, url: str) -> None:
    """Write the site to FOLDER; every warning is an error, and the exit status is then 1."""
    try:
        status = build_site(folder, gallery=not no_gallery, url=url)
    except FileExistsError as error:
        click.echo(f"error: {error}", err=True)
        raise SystemExit(2) from None
    if status:
        raise SystemExit(status)
    click.echo(f"wrote {folder}/index.html")


if __name__ == "__main__":
    main()
