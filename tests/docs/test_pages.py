"""What README and pages list is what the code has: names, options, figures, files, diffs."""

from __future__ import annotations

import inspect
import os
import re
import sys
import tomllib
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urlsplit

import click
import pytest
import yaml

import arena
from arena.addons.league import ledger
from arena.addons.rl import VERSION, Encoding
from arena.addons.rl.aec import DistrictNoirAEC
from arena.addons.rl.env import DistrictNoirEnv
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.cli import cli
from arena.entries.loader import MOST_DATA, MOST_FILES
from arena.entries.zipped import MEGABYTES, SECONDS, SECONDS_OF_MB
from arena.lanes.jail import most_processes
from arena.lanes.jail_limits import DISK, INODES, MOST_OPEN, SOCKETS
from arena.lanes.jail_root import MOST
from arena.lanes.jail_support import OLDEST_JAIL
from arena.lanes.syscalls import ALLOWED, DECIDED
from arena.reports.http_server import MOST_WAITING, WHOLE
from arena.store import database
from arena.tournament import config
from arena.tournament.rule_changes import list_published
from arena.tournament.stop import Until
from arena.tournament.versions import minor, version_here
from docs.making import api, commands, config_keys, csv_columns, staging
from docs.making.site import build_site
from docs.making.versions import list_versions
from engine import encoding, record
from tests import ROOT, markdown
from tests.conftest import Arena, Once
from tests.kit import run_program
from tests.markdown import PAGES
from tests.rogues import fills
from tests.test_imports import ADDONS, ROOMS

DOCS = ROOT / "docs"
PAGE, GYM, CLUSTER = PAGES["docs/library.md"], PAGES["docs/gym.md"], PAGES["docs/cluster.md"]
TOURNAMENTS, CHANGELOG = PAGES["docs/tournaments.md"], PAGES["CHANGELOG.md"]
STABILITY, ARCHITECTURE = PAGES["docs/stability.md"], PAGES["docs/architecture.md"]
TRUST = " ".join(PAGES["docs/trust.md"].split())
ROW = re.compile(r"\| `(\w+)` \| `(\S+)` \| \w")
FILE = re.compile(r"`((?:arena|bench|bots|docs|engine|tests)/[a-z0-9_/.-]*[a-z0-9])/?`")
MODULE = re.compile(r"\b(arena(?:\.addons)?)\.([a-z_]+)\.([a-z_]+)")
PUBLIC = [(package, name) for package in api.PACKAGES for name in getattr(package, "__all__", ())]
ALIASES = ("Action", "Bot", "Kind", "Pack", "Seat")
"""Names of types that are not classes of ours: `Kind` is int."""
NAMES = ("stopping rule", "option")
DIFFS = dict(zip(NAMES, markdown.blocks(PAGES["docs/changes.md"], "diff"), strict=True))
OF_SPHINX = ("genindex.html", "py-modindex.html", "search.html")


def test_the_tables_have_the_rules_the_arguments_and_the_calls() -> None:
    """Of the engine in its order, of `arena.run`, and every public name of the library."""
    assert [*ROW.findall(PAGES["docs/rules.md"])] == [*list_published().items()]
    table = PAGE.split("## `arena.run`")[1].split("\n\nKeywords")[0]
    explained = [
        name for row in table.splitlines()[4:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(explained) == sorted(inspect.signature(arena.run).parameters)
    names = [name for name in vars(arena.Results) if not name.startswith("_")]
    for name in [*names, *arena.__all__]:
        unnamed = ("ArenaError", "NoSites", "WorkerDied", "name")
        assert re.search(rf"\b{name}\b", PAGE) or name in unnamed, name


def options(environment: type) -> list[str]:
    """Return the names of the arguments that an environment is made with."""
    parameters = inspect.signature(environment).parameters.values()
    return [one.name for one in parameters if one.kind is not inspect.Parameter.VAR_KEYWORD]


def section(heading: str) -> str:
    """Return the text below a heading."""
    return GYM.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_page_of_environments_has_their_fields_and_options() -> None:
    """In their order, with their sizes; the options of each environment, and no other one."""
    encoding = Encoding()
    assert f"Version {VERSION} of the encoding" in GYM
    observation, history = section("What an observation holds").split("goes on with")
    for text, fields in ((observation, encoding.fields), (history, encoding.history_fields)):
        assert listed(text) == [(field.size, field.name) for field in fields]
    rows = re.findall(r"^\| `(\w+)` \|", section("Against a bot"), re.M)
    assert rows == options(DistrictNoirEnv)
    names = re.search(r"^Options are ([^;]*);", section("Thousands of games at once"), re.M)
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirVectorEnv)
    names = re.search(r"The\noptions are (.*), as above", section("PettingZoo"))
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirAEC)


def listed(text: str) -> list[tuple[int, str]]:
    return [(int(bits), name) for bits, name in re.findall(r"^\| (\d+) \| ([\w ]+) \|", text, re.M)]


def test_citation_changelog_and_formats_have_this_version() -> None:
    """The same title, authors, dates and numbers wherever they stand, in order."""
    (entry,) = markdown.blocks(PAGES["docs/help.md"], "bibtex")
    fields = dict(re.findall(r"^  (\w+) += \{(.*)\},?$", entry, re.MULTILINE))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    authors = " and ".join(f"{{{author['name']}}}" for author in citation["authors"])
    assert entry.startswith(f"@{citation['type']}{{")
    assert fields == {
        "title": citation["title"],
        "author": authors,
        "version": str(citation["version"]),
        "year": citation["date-released"][:4],
        "license": citation["license"],
    }
    assert f"| {minor(version_here())} opens |" in STABILITY
    row = r"^\| ([^|]+?) \|[^|]+\| ([\d.]+(?: to [\d.]+)?) \|$"
    rows = dict(re.findall(row, STABILITY, re.MULTILINE))
    assert rows["the folder of a run, `run.sqlite`"] == f"{database.OLDEST} to {database.FORMAT}"
    assert rows["a league, `league.sqlite`"] == str(ledger.FORMAT)
    assert rows["`manifest.json`"] == f"1.0 to {minor(version_here())}"
    assert rows["a record"] == str(record.FORMAT)
    assert rows["weights of a network"] == str(encoding.VERSION)
    titles = re.findall(r"^## (\S+)(?: \((.*)\))?$", CHANGELOG, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert titles[0] == ("Unreleased", "")
    assert titles[1] == (citation["version"], str(citation["date-released"]))
    assert ".dev" in project["version"] or project["version"] == citation["version"]
    numbers = [tuple(map(int, version.split("."))) for version, _ in titles[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(CHANGELOG.splitlines()) < 400
    assert version_here() == project["version"], "run: pip install -e . --no-deps"


def test_the_cluster_begins_with_its_warning_and_shows_pages_to_nobody() -> None:
    """Its containers are the processes of the page, and open nothing to the outside."""
    assert CLUSTER.split("\n\n")[1].startswith("**An open scheduler port runs anybody's code.**")
    commands = re.findall(r"^dask scheduler .*$", CLUSTER, re.MULTILINE)
    assert commands
    for command in commands:
        assert "--dashboard-address 127.0.0.1:8787" in command
    containers = DOCS / "cluster"
    composed = yaml.safe_load((containers / "compose.yaml").read_text())
    services = composed["services"]
    assert composed["networks"] == {"inside": {"internal": True}}
    for service in services.values():
        assert "ports" not in service
        assert service["networks"] == ["inside"]
    assert services["scheduler"]["command"].startswith("dask scheduler --port 8786")
    assert services["worker"]["command"].startswith("dask worker tcp://scheduler:8786 --nworkers 1")
    assert services["worker"]["deploy"]["replicas"] == 3
    dockerfile = ROOT / services["worker"]["build"]["dockerfile"]
    assert dockerfile == containers / "Dockerfile"
    assert dockerfile.exists()
    for text in markdown.blocks(CLUSTER, "python"):
        compile(text, "program.py", "exec")
        assert 'if __name__ == "__main__":' in text  # Dask starts processes that would import it


def test_a_figure_is_that_of_the_code() -> None:
    for words in (
        *(f"{len(ALLOWED)} system calls", f"{len(DECIDED)} more", f"{SOCKETS} sockets"),
        *(f"{DISK >> 20} MB and {INODES:,} files", f"{MOST_OPEN} files in each process"),
        *(f"{fills.KERNEL_ALLOWED >> 20} MB", f"{MOST >> 30} GB", f"{MEGABYTES} MB"),
        f"{most_processes(hosted=True) - 1} processes and threads",
        f"{MOST_FILES:,} files or {MOST_DATA >> 20} MB",
        *(f"{SECONDS} s of a processor", f"{SECONDS_OF_MB} s more for each MB"),
        *(f"{WHOLE:.0f} s to come whole", f"{MOST_WAITING} connections"),
        f"Linux {OLDEST_JAIL[0]}.{OLDEST_JAIL[1]}",
    ):
        assert words in TRUST


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a folder like a reader's clone, with the README's bot and that of `arena new`."""
    (tmp_path / "docs").symlink_to(DOCS)
    (tmp_path / "patient.py").write_text(markdown.blocks(PAGES["README.md"], "python")[0])
    template = ROOT / "arena" / "entries" / "template" / "my_bot.py"
    (tmp_path / "my_bot.py").write_text(template.read_text())
    return tmp_path


@pytest.mark.slow
def test_the_bot_plays_without_a_fault_and_leaves_the_files_of_the_table(
    arena: Arena, clone: Path
) -> None:
    specs = ["patient.py", "patient.py(enough=6)"]
    done = arena("play", *specs, "uniform", "--pairs", "20", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert len((clone / "out" / "faults.csv").read_text().splitlines()) == 1
    arena("play", "greedy", "uniform", "--pairs", "1", "--out", "files")
    named = set(re.findall(r"^\| `(\w+\.\w+)` \|", PAGES["docs/results.md"], re.MULTILINE))
    assert named == {path.name for path in (clone / "files").rglob("*.*")}


def test_the_configs_can_be_read(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The three bots of the first load, and its rules are valid; the others are what they say."""
    (clone / "openings").mkdir()
    monkeypatch.chdir(clone)
    names = ("friday", "gauntlet", "until", "swiss")
    for name, text in zip(names, markdown.blocks(TOURNAMENTS, "yaml"), strict=True):
        Path(f"{name}.yaml").write_text(text)
    friday = config.read(Path("friday.yaml"))
    assert len(config.resolve_bots(friday)) == 3
    assert friday.game_rules().tiebreak == "supports"
    gauntlet = config.make_tournament(config.read(Path("gauntlet.yaml")))
    assert len(gauntlet.pairings) == 3
    until = config.make_tournament(config.read(Path("until.yaml")))
    assert until.stop == Until("first", 2000)
    swiss = config.make_tournament(config.read(Path("swiss.yaml")))
    assert (swiss.rounds, swiss.pairs, len(swiss.entries)) == (12, 10, 3)


def first_cells(heading: str) -> list[str]:
    """Return the first cells of the table below a line of the architecture."""
    table = ARCHITECTURE.split(heading)[1].strip().split("\n\n")[0]
    return re.findall(r"^\| `(\w+)/?` \|", table, re.MULTILINE)


def test_the_map_has_every_room_and_every_addon() -> None:
    """The rooms in the order in which they may import one another; an add-on has a page.

    It is the first one of its row; before its first heading it also says which extra is needed.
    """
    flat = ("__main__", "addons", "errors", "files", "processes", "threads", "tokens")
    rooms = [room for room in ROOMS if room not in flat]
    assert first_cells("rooms below it in this table:") == rooms
    assert {*first_cells("are beside the core:")} == ADDONS
    for addon in ADDONS:
        (row,) = re.findall(rf"^\| `{addon}` \| .+$", ARCHITECTURE, re.MULTILINE)
        page = re.findall(r"\]\((.+?)\)", row)[0]
        head = PAGES[f"docs/{page}"].split("\n## ")[0]
        assert f"add-on `{addon}`" in head
        assert "extra" in head


def test_pages_name_files_that_exist() -> None:
    """By their place in the repository, or as modules of the arena."""
    for page in PAGES.keys() - {"CHANGELOG.md"}:
        text = re.sub(r"^```diff\n.*?^```$", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)
        made = "docs/site/"  # is not in the repository
        named = [name for name in FILE.findall(text) if not name.startswith(made)]
        assert not [name for name in named if not (ROOT / name).exists()], page
        for folder, *names in MODULE.findall(text):
            place = ROOT.joinpath(*folder.split("."), names[0])
            assert place.with_suffix(".py").exists() or place.is_dir(), (page, folder, names)


@pytest.mark.parametrize("name", NAMES)
def test_a_change_applies_and_touches_at_most_three_files(name: str, tmp_path: Path) -> None:
    """All of them in `arena/`; what else a change needs is said once, on the page."""
    files = re.findall(r"^\+\+\+ b/(.+)$", DIFFS[name], re.MULTILINE)
    assert 1 <= len({*files}) <= 3
    assert all(file.startswith("arena/") for file in files)
    before = {file: (ROOT / file).read_text() for file in files if (ROOT / file).exists()}
    for file, text in before.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    # without a repository around it, git takes the folder for the tree
    own = [f"--unset={name}" for name in os.environ if name.startswith("GIT_")]
    words = ("env", *own, f"GIT_CEILING_DIRECTORIES={tmp_path.parent}", "git", "apply", "-C1", "-")
    done = run_program(*words, folder=tmp_path, text=DIFFS[name])
    assert done.returncode == 0, f"docs/changes.md no longer applies: make it again\n{done.stderr}"
    assert all((tmp_path / file).read_text() != before.get(file) for file in files)


@pytest.fixture(scope="session")
def site(once: Once) -> Path:
    """Return the folder of the whole site."""

    def build(folder: Path) -> None:
        done = run_program(sys.executable, "-m", "docs.making", folder / "site")
        said = f"wrote {folder}/site/index.html\n"
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")

    return once("site", build) / "site"


class Page(NamedTuple):
    """What a page of HTML links to and loads, and the anchors that it has."""

    links: list[str]
    loaded: list[str]
    anchors: set[str]


@cache
def read(path: Path) -> Page:
    """Return a page; what its scripts write is left out."""
    text = re.sub(r"(<script\b[^>]*>).*?</script>", r"\1", path.read_text("utf-8"), flags=re.DOTALL)
    anchors, links, loaded = (
        [unescape(found) for found in re.findall(rf'<{tag}\b[^>]*?\s{name}="([^"]*)"', text)]
        for tag, name in (
            (r"\w+", "(?:id|name)"),
            ("a", "href"),
            ("(?:link|script|img)", "(?:href|src)"),
        )
    )
    return Page(links, loaded, {*anchors})


def is_external(address: str) -> bool:
    """Return whether an address is none of a file."""
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def follow(page: Path, address: str) -> tuple[Path, str]:
    """Return the file that a link of a page leads to, and the anchor in it."""
    target, anchor = urldefrag(address)
    path = unquote(urlsplit(target).path)
    return (page.parent / path).resolve() if path else page, unquote(anchor)


def pages(site: Path) -> list[Path]:
    """Return all pages of the site, those of the gallery included."""
    return sorted(path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts)


@pytest.mark.slow
def test_links_lead_to_files_or_have_the_form_of_one(site: Path) -> None:
    """To an anchor in a file, also of what pages load; nothing is loaded from elsewhere."""
    missing = []
    for page in pages(site):
        for address in [*read(page).links, *read(page).loaded]:
            if is_external(address):
                continue
            target, anchor = follow(page, address)
            target = target / "index.html" if target.is_dir() else target
            known = "gallery" in target.parts or target.suffix != ".html"
            lost = anchor and not known and anchor not in read(target).anchors
            if not target.is_file() or lost:
                missing.append(f"{page.relative_to(site)}: {address}")
    assert not missing
    for page in pages(site):
        found = read(page)
        links = [link for link in found.links if is_external(link) and "//" in link]
        assert all(link.startswith(("https://", "http://")) and " " not in link for link in links)
        assert not [one for one in found.loaded if is_external(one) and "data:" not in one[:5]]


@pytest.mark.slow
def test_every_page_is_two_clicks_from_the_first(site: Path) -> None:
    """Those of Sphinx are left out, and those behind the gallery, which has its own pages."""
    first = (site / "index.html").resolve()
    reached = {first}
    for _ in range(2):
        reached |= {
            follow(page, link)[0]
            for page in reached
            if page.suffix == ".html" and page.is_file()
            for link in read(page).links
            if not is_external(link)
        }
    live = {page for page in pages(site) if page.is_relative_to(site / "gallery")}
    live.remove(site / "gallery" / "index.html")
    wanted = {page for page in pages(site) if page.name not in OF_SPHINX} - live
    assert len(wanted) > 60
    assert not wanted - reached


@pytest.mark.slow
def test_only_a_site_is_replaced_and_a_release_adds_its_version_by_its_heading(
    tmp_path: Path,
) -> None:
    """Of versions before 1 there is no site; the one that is built is there in any case."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else than a site"):
        build_site(tmp_path, gallery=False)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    text = "# Changelog\n\n## Unreleased\n\n## 1.1.0 (2027-01-02)\n\n## 1.0.0\n\n## 0.9.0\n"
    found = list_versions(text, "1.2.0.dev1", "https://example.org/")
    assert [one["version"] for one in found] == ["1.2.0.dev1", "1.1.0", "1.0.0"]
    assert found[1]["url"] == "https://example.org/1.1.0/"


def documented(value: Any) -> str:
    """Return the docstring of a function, or those of a class and of its methods."""
    texts = [inspect.getdoc(value)]
    if inspect.isclass(value):
        texts += [inspect.getdoc(member) for member in vars(value).values()]
    return "\n".join(text or "" for text in texts)


def test_what_is_public_has_an_example_and_a_place_on_its_page() -> None:
    """A `>>>` in its docstring, or in that of a method; all of them run with the tests."""
    made = api.pages()
    for package, name in PUBLIC:
        value = getattr(package, name)
        assert package.__name__ != "arena" or name in dir(package)
        if name not in ALIASES and (inspect.isclass(value) or inspect.isroutine(value)):
            assert ">>> " in documented(value), name
            assert inspect.getdoc(value), name
        assert re.search(rf":: {package.__name__}\.{name}$", made[f"{package.__name__}.rst"], re.M)


def test_every_command_has_a_page_that_finds_it() -> None:
    """It is in the list of the page `reference`; no page is that of a command that is gone."""
    listed = re.findall(r"\(made/(arena-[\w-]+\.rst)\)", commands.listing("made/"))
    wanted = sorted(f"arena-{name}.rst" for name in cli.commands)
    assert sorted(listed) == sorted(commands.pages()) == wanted
    assert commands.run is cli.commands["run"]
    assert not hasattr(commands, "walk")
    lines = ["Play.", "", "| Example:", "|   arena run quickstart &&", "|     arena show", ""]
    commands.show_example(None, click.Context(cli), lines)  # type: ignore[arg-type]
    block = ["", ".. code-block:: console", "", "   arena run quickstart &&", "   arena show", ""]
    assert lines == ["Play.", "", "Example:", *block]


def test_every_config_key_has_a_row_and_every_column_a_sentence() -> None:
    page = config_keys.pages()[config_keys.NAME]
    for heading, of, _ in config_keys.FILES:
        part = page.split(f"## {heading}\n")[1].split("\n## ")[0]
        for key in of.__struct_fields__:
            (row,) = re.findall(rf"^\| `{key}` \| (.+?) \| (.+?) \|", part, re.MULTILINE)
            assert row[0].endswith("."), key
    assert "| whole number, 1 to 256 |  |" in page
    assert "| number, more than 0 and at most 86,400 | `10.0` |" in page
    assert "| `gauntlet` or `round_robin` or `swiss` | `round_robin` |" in page
    assert "| `set_bonus` | `5` |" in page
    for columns in csv_columns.files():
        for name, meaning in csv_columns.meanings(columns):
            assert meaning.endswith((".", ")")), name


def test_every_page_is_listed_by_one_way_in() -> None:
    """By one only: so it has one place in the navigation."""
    listed: list[str] = []
    for name in staging.WAYS_IN[1:]:
        listed += staging.LISTED.findall(PAGES[f"docs/{name}.md"])
    here = {page.removeprefix("docs/") for page in PAGES if page.startswith("docs/")}
    here -= {f"{name}.md" for name in staging.WAYS_IN}
    beside = {f"../{path.relative_to(ROOT)}" for name in staging.BESIDE for path in ROOT.glob(name)}
    assert sorted(listed) == sorted(here | beside | {"tour.ipynb"})


def test_every_link_of_a_page_leads_to_a_file_of_the_repository() -> None:
    """So that the pages can be read on a code host, too; staged ones lead to where they lie."""
    links = [
        (page, link)
        for page in PAGES
        for link in staging.LINK.findall(re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL))
    ]
    assert len(links) > 100
    assert not [
        (page, link)
        for page, link in links
        if not (ROOT / page).parent.joinpath(link).exists() and not link.startswith("gallery/")
    ]
    page, text = "docs/course/a.md", "[a](../league.md) [b](../../bench/STUDIES.md#x)"
    moved = staging.move_links(text, page)
    assert moved == "[a](../league.md) [b](../bench/STUDIES.md#x)"
    assert staging.move_links("[a](docs/trust.md)", "CONTRIBUTING.md") == "[a](trust.md)"
    assert staging.move_links("[a](https://example.org/x.md)", "docs/a.md").endswith("org/x.md)")
