"""What pages list is what the code has: names, options, figures, versions, the example."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterable

import yaml

import arena
from arena.addons.league import ledger
from arena.addons.rl import VERSION, Encoding
from arena.addons.rl.aec import DistrictNoirAEC
from arena.addons.rl.env import DistrictNoirEnv
from arena.addons.rl.exact import SMALL
from arena.addons.rl.vector import DistrictNoirVectorEnv
from arena.entries.resolve import resolve
from arena.store import database, judge
from arena.tournament.rule_changes import list_published
from arena.tournament.versions import minor, version_here
from engine import encoding, play_game, record
from engine.encoding import Field
from tests import ROOT, markdown
from tests.addons.rl.ground_truth import PATH, VARIANTS

ROW = re.compile(r"\| `(\w+)` \| `(\S+)` \| \w")


def test_the_table_has_the_rules_of_the_engine() -> None:
    """In its order, and each says what it does."""
    page = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert [*ROW.findall(page)] == [*list_published().items()]


PAGE = (ROOT / "docs" / "library.md").read_text()


def test_every_argument_of_run_is_explained() -> None:
    """And no other one."""
    table = PAGE.split("## `arena.run`")[1].split("\n\nKeywords")[0]
    explained = [
        name for row in table.splitlines()[4:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    ]
    assert sorted(explained) == sorted(inspect.signature(arena.run).parameters)


def test_every_table_and_every_call_is_named() -> None:
    """The public names of `Results` and of the arena are on the page."""
    names = [name for name in vars(arena.Results) if not name.startswith("_")]
    for name in [*names, *arena.__all__]:
        assert re.search(rf"\b{name}\b", PAGE) or name in (
            "ArenaError",
            "NoSites",
            "WorkerDied",
            "name",
        ), name


OPENSPIEL = (ROOT / "docs" / "openspiel.md").read_text()


def test_the_table_has_the_figures_of_the_file() -> None:
    """Every variant, every policy."""
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


def test_the_rules_of_the_variants_are_those_listed() -> None:
    """As arguments of `Rules`."""
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


def test_the_fields_are_those_of_the_encoding() -> None:
    """In their order, with their sizes, of an observation and of what follows it."""
    encoding = Encoding()
    assert f"Version {VERSION} of the encoding" in GYM
    observation, history = section("What an observation holds").split("goes on with")
    assert listed(observation) == sizes(encoding.fields)
    assert listed(history) == sizes(encoding.history_fields)


def listed(text: str) -> list[tuple[int, str]]:
    return [(int(bits), name) for bits, name in re.findall(r"^\| (\d+) \| ([\w ]+) \|", text, re.M)]


def sizes(fields: Iterable[Field]) -> list[tuple[int, str]]:
    return [(field.size, field.name) for field in fields]


def test_every_option_is_explained() -> None:
    """Those of each environment, and no other one."""
    rows = re.findall(r"^\| `(\w+)` \|", section("Against a bot"), re.M)
    assert rows == options(DistrictNoirEnv)
    names = re.search(r"^Options are ([^;]*);", section("Thousands of games at once"), re.M)
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirVectorEnv)
    names = re.search(r"The\noptions are (.*), as above", section("PettingZoo"))
    assert names is not None
    assert re.findall(r"`(\w+)`", names[1]) == options(DistrictNoirAEC)


HELP = (ROOT / "docs" / "help.md").read_text()


def test_the_bibtex_is_the_citation_file() -> None:
    """The same title, authors, version, year and licence."""
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


STABILITY = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_page_has_the_number_of_each_format() -> None:
    """Of what is opened by this minor version."""
    assert f"| {minor(version_here())} opens |" in STABILITY
    row = r"^\| ([^|]+?) \|[^|]+\| ([\d.]+(?: to [\d.]+)?) \|$"
    rows = dict(re.findall(row, STABILITY, re.MULTILINE))
    assert rows["the folder of a run, `run.sqlite`"] == str(database.FORMAT)
    assert rows["`analysis.sqlite`, games that were judged"] == str(judge.FORMAT)
    assert rows["a league, `league.sqlite`"] == f"2 to {ledger.FORMAT}"
    assert rows["`manifest.json`"] == f"1.0 to {minor(version_here())}"
    assert rows["a record"] == str(record.FORMAT)
    assert rows["weights of a network"] == str(encoding.VERSION)


def test_the_changelog_begins_with_what_is_not_released_and_this_version() -> None:
    """With the date of the citation; older ones follow in order, and a later one is unreleased."""
    titles = re.findall(r"^## (\S+)(?: \((.*)\))?$", CHANGELOG, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert titles[0] == ("Unreleased", "")
    assert titles[1] == (citation["version"], str(citation["date-released"]))
    assert ".dev" in project["version"] or project["version"] == citation["version"]
    numbers = [tuple(map(int, version.split("."))) for version, _ in titles[1:]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(CHANGELOG.splitlines()) < 400


def test_the_version_that_is_installed_is_that_of_the_project() -> None:
    """An editable installation keeps the number that it had: install it again."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert version_here() == project["version"], "run: pip install -e . --no-deps"


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
