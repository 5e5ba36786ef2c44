"""The pages that are made from the code have every name, command, key and column."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click
import pytest

from arena.cli import cli
from arena.tables.table_columns import TableColumns
from docs.making import api, commands, config_keys, csv_columns, staging
from tests import ROOT, markdown

DOCS = ROOT / "docs"
PUBLIC = [(package, name) for package in api.PACKAGES for name in getattr(package, "__all__", ())]
ALIASES = ("Action", "Bot", "Kind", "Pack", "Seat")
"""Names of types that are not classes of ours: `Kind` is int."""
KEYS = [(heading, key) for heading, of, _ in config_keys.FILES for key in of.__struct_fields__]


def documented(value: Any) -> str:
    """Return the docstring of a function, or those of a class and of its methods."""
    texts = [inspect.getdoc(value)]
    if inspect.isclass(value):
        texts += [inspect.getdoc(member) for member in vars(value).values()]
    return "\n".join(text or "" for text in texts)


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=lambda value: str(value))
def test_a_public_function_or_class_has_an_example(package: Any, name: str) -> None:
    """A `>>>` in its docstring, or in that of a method; all of them run with the tests."""
    value = getattr(package, name)
    if name not in ALIASES and (inspect.isclass(value) or inspect.isroutine(value)):
        assert ">>> " in documented(value)


def test_the_pages_have_every_public_name() -> None:
    """Each has its place on the page of its package."""
    made = api.pages()
    for package, name in PUBLIC:
        assert re.search(rf":: {package.__name__}\.{name}$", made[f"{package.__name__}.rst"], re.M)


def test_every_command_has_a_page() -> None:
    """Which is in the list of the page `reference`; no page is that of a command that is gone."""
    listed = re.findall(r"\(made/(arena-[\w-]+\.rst)\)", commands.listing("made/"))
    assert (
        sorted(listed)
        == sorted(commands.pages())
        == sorted(f"arena-{name}.rst" for name in cli.commands)
    )


def test_a_page_finds_its_command() -> None:
    """By its name, as sphinx-click looks for it; another name is none."""
    assert commands.run is cli.commands["run"]
    assert not hasattr(commands, "walk")


def test_an_example_of_a_command_becomes_a_block() -> None:
    """What stands before it stays."""
    lines = ["Play.", "", "| Example:", "|   arena run quickstart &&", "|     arena show", ""]
    commands.show_example(None, click.Context(cli), lines)  # type: ignore[arg-type]
    block = ["", ".. code-block:: console", "", "   arena run quickstart &&", "   arena show", ""]
    assert lines == ["Play.", "", "Example:", *block]


@pytest.mark.parametrize(("heading", "key"), KEYS)
def test_every_config_key_has_a_row(heading: str, key: str) -> None:
    """With a meaning, and a type."""
    part = config_keys.pages()[config_keys.NAME].split(f"## {heading}\n")[1].split("\n## ")[0]
    (row,) = re.findall(rf"^\| `{key}` \| (.+?) \| (.+?) \|", part, re.MULTILINE)
    assert row[0].endswith(".")


def test_a_row_has_the_bounds_and_the_default_of_its_type() -> None:
    """As they are written in YAML."""
    page = config_keys.pages()[config_keys.NAME]
    assert "| whole number, 1 to 256 |  |" in page
    assert "| number, more than 0 and at most 86,400 | `10.0` |" in page
    assert "| `gauntlet` or `round_robin` or `swiss` | `round_robin` |" in page
    assert "| `set_bonus` | `5` |" in page


@pytest.mark.parametrize("of", csv_columns.files(), ids=lambda of: of.file)
def test_every_column_of_a_file_has_a_meaning(of: TableColumns) -> None:
    """A sentence."""
    assert all(meaning.endswith((".", ")")) for _, meaning in csv_columns.meanings(of))


def test_every_page_is_listed_by_one_way_in() -> None:
    """By one only: so it has one place in the navigation."""
    listed: list[str] = []
    for name in staging.WAYS_IN[1:]:
        listed += staging.LISTED.findall((DOCS / f"{name}.md").read_text())
    here = {
        path.relative_to(DOCS).as_posix()
        for path in [*DOCS.glob("*.md"), *DOCS.glob("course/*.md")]
    }
    here -= {f"{name}.md" for name in staging.WAYS_IN}
    beside = {f"../{path.relative_to(ROOT)}" for name in staging.BESIDE for path in ROOT.glob(name)}
    assert sorted(listed) == sorted(here | beside | {"tour.ipynb"})


def links() -> list[tuple[str, str]]:
    """Return each page with the files that it links to."""
    paths = [*DOCS.rglob("*.md"), *(path for name in staging.BESIDE for path in ROOT.glob(name))]
    found = []
    for path in paths:
        if "site" not in path.relative_to(ROOT).parts:
            text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
            found += [(str(path.relative_to(ROOT)), link) for link in staging.LINK.findall(text)]
    return found


def test_every_link_of_a_page_leads_to_a_file_of_the_repository() -> None:
    """So that the pages can be read on a code host, too; the gallery is only on the site."""
    assert len(links()) > 100
    assert not [
        (page, link)
        for page, link in links()
        if not (ROOT / page).parent.joinpath(link).exists() and not link.startswith("gallery/")
    ]


def test_a_staged_page_links_to_where_its_pages_lie() -> None:
    """From docs/ out of it, into it, and between its folders."""
    moved = staging.move_links(
        "[a](../league.md) [b](../../bench/STUDIES.md#x)", "docs/course/a.md"
    )
    assert moved == "[a](../league.md) [b](../bench/STUDIES.md#x)"
    assert staging.move_links("[a](docs/trust.md)", "CONTRIBUTING.md") == "[a](trust.md)"
    assert staging.move_links("[a](https://example.org/x.md)", "docs/a.md").endswith("org/x.md)")


@pytest.mark.slow
def test_the_first_page_runs_what_it_shows(tmp_path: Any) -> None:
    """With few pairs."""
    page = (DOCS / "index.md").read_text()
    for command in markdown.commands(page):
        done = markdown.run(f"{command.partition(' --pairs')[0]} --pairs 1", tmp_path)
        assert done.returncode == 0, done.stderr
