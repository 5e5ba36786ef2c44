"""A tournament: its numbers, games, manifest and anchor, and the configs that ship."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.store.manifest import manifest_text, obstacles, read_tournament
from arena.tournament import config, yaml_text
from arena.tournament.config import convert, make_tournament, override
from arena.tournament.schedule import Fixture, Pairing, round_robin
from arena.tournament.tournament import Anchor, Tournament, read_anchor
from engine import STANDARD, Rules
from tests import ROOT
from tests.conftest import Arena

LARGEST = {"seed": 2**63 - 1, "pairs": 10**9, "workers": 256}
SMALLEST = {"seed": 0, "pairs": 1, "workers": 1, "max_faults": 1}


def read(folder: Path, **numbers: int) -> config.Config:
    """Return the config of two bots with these numbers."""
    path = folder / "cup.yaml"
    keys = {"pairs": 1} | numbers
    path.write_text("bots: [a, b]\n" + "".join(f"{name}: {n}\n" for name, n in keys.items()))
    return config.read(path)


@pytest.mark.parametrize(
    ("name", "value", "outside"),
    [
        *((name, value, value + 1) for name, value in LARGEST.items()),
        *((name, value, value - 1) for name, value in SMALLEST.items()),
    ],
)
def test_a_number_may_be_as_large_and_as_small_as_its_bounds(
    tmp_path: Path, name: str, value: int, outside: int
) -> None:
    """One more or one less is refused, and the error names the bound."""
    assert getattr(read(tmp_path, **{name: value}), name) == value
    relation = "<=" if outside > value else ">="
    with pytest.raises(InputError, match=f"{name}: expected `int` {relation} {value}$"):
        read(tmp_path, **{name: outside})


def test_what_a_config_does_not_say_has_a_default(tmp_path: Path) -> None:
    """Seed 0, ten faults, the published rules and limits; workers and lane are left open."""
    cup = read(tmp_path)
    assert (cup.seed, cup.max_faults, cup.workers, cup.lane) == (0, 10, None, None)
    assert (cup.game_rules(), cup.limits) == (STANDARD, Limits())


@pytest.mark.parametrize("name", ["0", "a.b", "cup-2_c", "Z"])
def test_a_name_of_letters_digits_and_marks_names_a_folder(tmp_path: Path, name: str) -> None:
    """It replaces the name of the file."""
    path = tmp_path / "cup.yaml"
    path.write_text(f"bots: [a, b]\npairs: 1\nname: '{name}'\n")
    assert config.read(path).name == name


@pytest.fixture
def cup() -> Tournament:
    """Return a tournament of three bots and seven pairs."""
    entries = [resolve("uniform"), resolve("g=greedy"), resolve("denier")]
    return Tournament("cup", 5, 7, entries, Rules(set_bonus=4))


def test_every_pairing_plays_each_of_its_pairs_twice(cup: Tournament) -> None:
    """Three bots have three pairings: 2 x 7 x 3 games."""
    assert cup.labels == ["uniform", "g", "denier"]
    assert cup.pairings == [
        Pairing("uniform", "g"),
        Pairing("uniform", "denier"),
        Pairing("g", "denier"),
    ]
    assert cup.games == 42
    assert cup.fixture(2, 6, 1) == Fixture(Pairing("g", "denier"), 6, 1)
    assert cup.by_label["g"] is cup.entries[1]
    assert cup.max_faults == 10


def test_a_manifest_says_what_was_asked_for_and_with_what(cup: Tournament) -> None:
    """The hash of the engine is that of its modules' bytes in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "engine").glob("*.py")):
        digest.update(path.read_bytes())
    assert cup.manifest() == {
        "name": "cup",
        "seed": 5,
        "pairs": 7,
        "rules": {"set_bonus": 4},
        "limits": {
            "decision": 10.0,
            "game": None,
            "start": 10.0,
            "backstop": None,
            "idle": None,
            "latency": 1.0,
            "memory": 1024,
        },
        "max_faults": 10,
        "bots": [entry.describe() for entry in cup.entries],
        "versions": {
            "arena": metadata.version("district-noir-arena"),
            "engine": digest.hexdigest(),
            "python": platform.python_version(),
        },
    }


def test_every_two_bots_meet_once() -> None:
    """Four bots have six pairings, in the order in which the bots were named."""
    pairings = round_robin(["d", "c", "b", "a"])
    assert pairings[0] == Pairing("d", "c")
    assert len(pairings) == 6
    assert len({frozenset(pairing) for pairing in pairings}) == 6


def test_labels_cannot_be_confused_in_an_address() -> None:
    """Two pairs of labels that are equal when joined have different addresses."""
    one, two = Pairing("a", "b', 'c"), Pairing("a', 'b", "c")
    assert Fixture(one, 0, 0).draw(0) != Fixture(two, 0, 0).draw(0)


def test_the_configs_of_the_clone_are_those_that_ship() -> None:
    """`configs/` in the clone is what a wheel has as `arena/configs/`."""
    assert yaml_text.FOLDER.resolve() == ROOT / "configs"
    assert yaml_text.shipped() == sorted(path.stem for path in (ROOT / "configs").iterdir())


@pytest.mark.parametrize("name", yaml_text.shipped())
def test_a_shipped_config_can_be_played(name: str) -> None:
    """It is valid, is named as its file, and all of its bots are found."""
    settings = config.read(yaml_text.find_config(Path(name)))
    assert settings.name == name
    assert len(config.resolve_bots(settings)) >= 2


@pytest.mark.slow
def test_a_shipped_config_plays_by_its_name(arena: Arena, tmp_path: Path) -> None:
    """The results go to results/NAME; a folder of the same name is not in the way."""
    (tmp_path / "quickstart").mkdir()
    done = arena("run", "quickstart", "--pairs", "1")
    assert done.returncode == 0, done.stderr
    assert "results in results/quickstart/" in done.stdout


def test_a_file_wins_over_a_shipped_config(arena: Arena, tmp_path: Path) -> None:
    """What is wrong with it is said of it."""
    (tmp_path / "quickstart").write_text("bots: [uniform]\npairs: none\n")
    done = arena("run", "quickstart")
    assert done.returncode == 2
    assert done.stderr.startswith("error: quickstart: line 2: pairs: ")


def test_an_unknown_name_lists_those_there_are(arena: Arena) -> None:
    """A word that is neither a file nor a config is one line; a path is only a path."""
    done = arena("run", "quickstrat")
    assert done.returncode == 2
    assert done.stderr == (
        "error: quickstrat: no such file, and no config has this name; "
        "there are ladder, long, quickstart, search\n"
    )
    for path in (Path("quickstart.yaml"), Path("mine/quickstart")):
        assert yaml_text.find_config(path) == path


TWO = {"bots": ["greedy", "uniform"], "pairs": 2}


def tournament(written: object = None, **more: str) -> Tournament:
    data = TWO if written is None else TWO | {"anchor": written}
    return make_tournament(override(convert(data, "cup"), **more))


@pytest.mark.parametrize("written", ["greedy=1239", " greedy = 1239.0", {"greedy": 1239}])
def test_it_is_a_text_or_a_mapping(written: object) -> None:
    """In a config; an option comes before it."""
    assert tournament(written).anchor == Anchor("greedy", 1239.0)
    assert tournament(written, anchor="uniform=-5").anchor == Anchor("uniform", -5.0)


def test_a_label_may_have_equals_signs() -> None:
    """The Elo follows the last of them."""
    assert read_anchor("a=b=7", ["a=b"]) == Anchor("a=b", 7.0)
    assert read_anchor("bot(depth=3)=7", ["bot(depth=3)"]) == Anchor("bot(depth=3)", 7.0)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("greedy", "expected a bot and its Elo, -100000 to 100000, as in greedy=1239"),
        ("greedy=", "expected a bot and its Elo"),
        ("greedy=nan", "expected a bot and its Elo"),
        ("greedy=inf", "expected a bot and its Elo"),
        ("greedy=100001", "expected a bot and its Elo"),
        ("gredy=1239", "no bot 'gredy' in this run; there are greedy, uniform"),
        ("=1239", "no bot '' in this run"),
        ({"greedy": 1, "uniform": 2}, "one bot and its Elo, not 2 bots"),
        ({"greedy": float("nan")}, "expected a bot and its Elo"),
        ({"greedy": "1239"}, "expected `float`, got `str`"),
        (["greedy=1239"], "expected `str | mapping"),
        (1239, "expected `str | mapping"),
    ],
)
def test_what_is_no_anchor_is_refused(written: object, message: str) -> None:
    """In one line that begins with the key."""
    with pytest.raises(InputError) as refused:
        tournament(written)
    assert str(refused.value).startswith("anchor")
    assert message in str(refused.value)


def test_the_manifest_has_it_only_where_there_is_one() -> None:
    """Read back it is the same; a run goes on with another one, because it changes no game."""
    anchored, free = tournament("greedy=1239"), tournament()
    assert anchored.manifest()["anchor"] == {"bot": "greedy", "elo": 1239.0}
    assert "anchor" not in free.manifest()
    text = manifest_text(anchored.manifest())
    assert read_tournament(text).anchor == anchored.anchor
    assert obstacles(anchored.manifest(), free.manifest()) == []
    with pytest.raises(InputError, match="anchor: no bot 'x'"):
        read_tournament(text.replace('"bot": "greedy",\n    "elo"', '"bot": "x",\n    "elo"'))


@pytest.mark.slow
def test_a_run_goes_on_with_another_anchor(tmp_path: Path) -> None:
    """Nothing is played again; the ratings are on the new scale, also when it is opened."""
    out = tmp_path / "cup"
    library.run(TWO["bots"], pairs=2, out=out, progress=False)
    results = library.run(TWO["bots"], pairs=2, out=out, anchor={"uniform": 1000}, progress=False)
    for table in (results.standings, library.open(out).standings):
        assert table.set_index("bot").loc["uniform", ["elo", "elo_low"]].tolist() == [1000, 1000]


@pytest.mark.slow
def test_the_command_line_takes_it_and_says_what_is_wrong(arena: Arena) -> None:
    """The JSON document has it; an unknown bot is one line and exit status 2."""
    words = ["play", "greedy", "uniform", "--pairs", "2", "--workers", "1", "--anchor"]
    document = json.loads(arena(*words, "greedy=1239", "--json").stdout)
    assert document["anchor"] == {"bot": "greedy", "elo": 1239.0}
    assert [row["elo"] for row in document["standings"] if row["bot"] == "greedy"] == [1239.0]
    wrong = arena(*words, "champion=1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: anchor: no bot 'champion' in this run; there are ")
