"""What pages list is what the code has: names, options, figures, versions, examples."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterable

import pytest
import yaml

import arena
from arena.addons.league import ledger
from arena.addons.rl import VERSION, Encoding
from arena.addons.rl.aec import DistrictNoirAEC
from arena.addons.rl.env import DistrictNoirEnv
from arena.addons.rl.exact import SMALL
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.entries.archive import MOST_DATA, MOST_FILES
from arena.entries.resolve import resolve
from arena.entries.syntax import MEGABYTES, SECONDS, SECONDS_OF_MB
from arena.lanes.confine import DISK, INODES, MOST_OPEN, SOCKETS
from arena.lanes.jail import most_processes
from arena.lanes.jail_root import MOST
from arena.lanes.jail_support import OLDEST_JAIL
from arena.lanes.syscalls import ALLOWED, DECIDED
from arena.reports.front import MOST_WAITING, WHOLE
from arena.runs import judge_games
from arena.store import database
from arena.store.table_columns import CARDS
from arena.tournament.rule_changes import list_published
from arena.tournament.versions import minor, version_here
from engine import encoding, play_game, record
from engine.encoding import Field
from tests import ROOT, markdown
from tests.addons.rl.ground_truth import PATH, VARIANTS
from tests.rogues import fills

ROW = re.compile(r"\| `(\w+)` \| `(\S+)` \| \w")


def test_the_tables_have_the_rules_the_arguments_and_the_calls() -> None:
    """Of the engine in its order, of `arena.run`, and every public name of the library."""
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [*ROW.findall(page)] == [*list_published().items()]
    table = PAGE.split("## `arena.run`")[1].split("\n\nKeywords")[0]
    explained = [
        name for row in table.splitlines()[4:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(explained) == sorted(inspect.signature(arena.run).parameters)
    names = [name for name in vars(arena.Results) if not name.startswith("_")]
    for name in [*names, *arena.__all__]:
        assert re.search(rf"\b{name}\b", PAGE) or name in (
            "ArenaError",
            "NoSites",
            "WorkerDied",
            "name",
        ), name


PAGE = (ROOT / "docs" / "library.md").read_text()


OPENSPIEL = (ROOT / "docs" / "openspiel.md").read_text()


def test_the_page_of_small_games_has_their_figures_and_rules() -> None:
    """Every variant and every policy; rules as arguments of `Rules`."""
    truth = json.loads(PATH.read_text())
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in re.findall(r"^\| .*\|$", OPENSPIEL.split("| policy |")[1], re.M)
    ]
    table = {row[0]: row[1:] for row in rows}
    for column, name in enumerate(VARIANTS):
        kept = truth[name]
        assert table["views"][column] == f"{kept['views']:,}"
        assert table["value"][column] == f"{kept['value']:.4f}"
        for label in ("uniform", "greedy", "ismcts", "search 10", "search 100", "search 1000"):
            row = kept["policies"].get(label)
            said = table[label][column]
            assert said == ("" if row is None else f"{row['exploitability']:.4f}"), (name, label)
    for name, rules in SMALL.items():
        (text,) = re.findall(rf"^- `{name}`: .*?`(Rules\([^`]*\))`", OPENSPIEL, re.M | re.S)
        assert eval(" ".join(text.split()), {"Rules": type(rules)}) == rules, name


GYM = (ROOT / "docs" / "gym.md").read_text()


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
    assert listed(observation) == sizes(encoding.fields)
    assert listed(history) == sizes(encoding.history_fields)
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


def sizes(fields: Iterable[Field]) -> list[tuple[int, str]]:
    return [(field.size, field.name) for field in fields]


HELP = (ROOT / "docs" / "help.md").read_text()


def test_citation_changelog_and_formats_have_this_version() -> None:
    """The same title, authors, dates and numbers wherever they stand, in order."""
    (entry,) = markdown.blocks(HELP, "bibtex")
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
    assert rows["the folder of a run, `run.sqlite`"] == str(database.FORMAT)
    assert rows["`analysis.sqlite`, games that were judged"] == str(judge_games.FORMAT)
    assert rows["a league, `league.sqlite`"] == str(ledger.FORMAT)
    assert rows["`manifest.json`"] == f"1.0 to {minor(version_here())}"
    assert rows["a record"] == str(record.FORMAT)
    assert rows["weights of a network"] == str(encoding.VERSION)
    titles = re.findall(r"^## (\S+)(?: \((.*)\))?$", CHANGELOG, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert titles[0] == ("Unreleased", "")
    assert titles[1] == (citation["version"], str(citation["date-released"]))
    assert ".dev" in project["version"] or project["version"] == citation["version"]
    numbers = [tuple(map(int, version.split("."))) for version, _ in titles[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(CHANGELOG.splitlines()) < 400
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version_here() == project["version"], "run: pip install -e . --no-deps"


STABILITY = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


FOLDER = ROOT / "docs" / "examples" / "greedy_plus"


def test_its_games_are_those_of_the_base_until_the_last_round() -> None:
    """In twenty games of either against `majority`; three times twelve plies are before it."""
    old_one, majority = resolve("greedy(patience=3.0)").create, resolve("majority").load()
    plus = resolve(str(FOLDER), lane="inproc").load()
    changed = 0
    for seed in range(20):
        new = play_game(plus, majority, seed=seed).record.actions
        old = play_game(old_one, majority, seed=seed).record.actions
        assert new[:36] == old[:36]
        changed += new != old
    assert 0 < changed < 10


CLUSTER = (ROOT / "docs" / "cluster.md").read_text()
CONTAINERS = ROOT / "docs" / "cluster"


def test_the_cluster_begins_with_its_warning_and_shows_pages_to_nobody() -> None:
    """Its containers are the processes of the page, and open nothing to the outside."""
    assert CLUSTER.split("\n\n")[1].startswith("**An open scheduler port runs anybody's code.**")
    commands = re.findall(r"^dask scheduler .*$", CLUSTER, re.MULTILINE)
    assert commands
    for command in commands:
        assert "--dashboard-address 127.0.0.1:8787" in command
    composed = yaml.safe_load((CONTAINERS / "compose.yaml").read_text())
    services = composed["services"]
    assert composed["networks"] == {"inside": {"internal": True}}
    for service in services.values():
        assert "ports" not in service
        assert service["networks"] == ["inside"]
    assert services["scheduler"]["command"].startswith("dask scheduler --port 8786")
    assert services["worker"]["command"].startswith("dask worker tcp://scheduler:8786 --nworkers 1")
    assert services["worker"]["deploy"]["replicas"] == 3
    dockerfile = CONTAINERS.parents[1] / services["worker"]["build"]["dockerfile"]
    assert dockerfile == CONTAINERS / "Dockerfile"
    assert dockerfile.exists()


@pytest.mark.parametrize("text", markdown.blocks(CLUSTER, "python"))
def test_its_programs_have_a_main_guard(text: str) -> None:
    """They compile; Dask starts processes that would import the program."""
    compile(text, "program.py", "exec")
    assert 'if __name__ == "__main__":' in text


TRUST = " ".join((ROOT / "docs" / "trust.md").read_text(encoding="utf-8").split())
STUDY = (ROOT / "bench" / "STUDIES.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words",
    [
        f"{len(ALLOWED)} system calls",
        f"{len(DECIDED)} more",
        f"{DISK >> 20} MB and {INODES:,} files",
        f"{MOST_OPEN} files in each process",
        f"{SOCKETS} sockets",
        f"{fills.KERNEL_ALLOWED >> 20} MB",
        f"{most_processes(hosted=True) - 1} processes and threads",
        f"{MOST >> 30} GB",
        f"{MOST_FILES:,} files or {MOST_DATA >> 20} MB",
        f"{SECONDS} s of a processor",
        f"{SECONDS_OF_MB} s more for each MB",
        f"{MEGABYTES} MB",
        f"{WHOLE:.0f} s to come whole",
        f"{MOST_WAITING} connections",
        f"Linux {OLDEST_JAIL[0]}.{OLDEST_JAIL[1]}",
    ],
)
def test_a_figure_is_that_of_the_code(words: str) -> None:
    """The page has it, with its unit."""
    assert words in TRUST


def test_what_stays_is_that_of_the_study_and_correlations_are_explained() -> None:
    """The trials and the bits of a decision; the glossary of a report says it without its page."""
    rows = {row.split(" | ")[0][2:]: row.split(" | ")[1:] for row in STUDY.splitlines()}
    fresh = next(row for way, row in rows.items() if way.startswith("reads pages that nobody"))
    load = next(row for way, row in rows.items() if way.startswith("works on all cores"))
    trials, known = (fresh[0].split(" of ")[place] for place in (1, 0))
    assert f"{known} of {trials} trials" in TRUST
    inodes = next(row for way, row in rows.items() if way.startswith("opens pipes"))
    assert f"{inodes[0]} trials" in TRUST
    assert f"{load[2].rstrip(' |')} bits a decision" in TRUST
    (won,) = (column.meaning for column in CARDS.columns if column.name == "won")
    assert "need not come from it" in won
