"""A tournament: the bounds of its numbers, its games and its manifest."""

from __future__ import annotations

import hashlib
import platform
from importlib import metadata
from pathlib import Path

import pytest

from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.tournament import config
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules
from tests import ROOT

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
