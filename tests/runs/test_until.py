"""Runs that stop by themselves, and Swiss runs: the same bytes always, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

import arena as library
from arena.errors import InputError
from tests.conftest import Arena, run_command
from tests.kills import kill_often
from tests.kit import same_files
from tests.tiers import few

WORDS = "resolved, first, top:K, against:BOT"
BOTS = "bots: [uniform, greedy, city_hunter, denier]\nseed: 4\n"
KINDS = {
    "until": f"{BOTS}pairs: 4\nuntil: resolved\nmax_pairs: 24\n",
    "swiss": f"{BOTS}pairs: 5\nformat: swiss\nrounds: 3\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", few(["until", "swiss"], 0, 1))
def test_the_number_of_workers_changes_no_byte(arena: Arena, tmp_path: Path, kind: str) -> None:
    """1 and 3 workers; a second run plays nothing, and `verify` agrees."""
    (tmp_path / "cup.yaml").write_text(KINDS[kind])
    for workers in ("1", "3"):
        done = arena("run", "cup.yaml", "--workers", workers, "--out", workers)
        assert done.returncode == 0, done.stderr
    assert same_files(tmp_path / "1") == same_files(tmp_path / "3")
    again = arena("run", "cup.yaml", "--out", "3")
    assert again.stdout.startswith("nothing was left to play")
    assert same_files(tmp_path / "1") == same_files(tmp_path / "3")
    verified = arena("verify", "3", "--sample", "1")
    assert verified.returncode == 0, verified.stderr


@pytest.mark.slow
def test_a_run_that_was_killed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """Killed once, and gone on with; `make study` kills it, and other kinds, ten times."""
    (tmp_path / "cup.yaml").write_text(KINDS["until"])
    check_kills(tmp_path, kills=1, counts=[3])


def check_kills(folder: Path, kills: int, counts: list[int]) -> None:
    """Kill a run so many times while it plays, and compare it with one that was not."""
    assert run_command(folder, "run", "cup.yaml", "--out", "whole").returncode == 0
    whole = same_files(folder / "whole")
    luck = Random(13)
    for workers in counts:
        out = f"out-{workers}"
        words = ["run", "cup.yaml", "--workers", str(workers)]
        kill_often(folder, words, out, kills, luck)
        done = run_command(folder, *words, "--out", out)
        assert done.returncode == 0, done.stderr
        assert same_files(folder / out) == whole


@pytest.mark.slow
def test_the_end_says_what_is_known_and_what_it_would_cost(arena: Arena, tmp_path: Path) -> None:
    """In words, as JSON and as a table of the library."""
    (tmp_path / "cup.yaml").write_text("bots: [greedy, uniform]\npairs: 20\n")
    done = arena("run", "cup.yaml", "--until", "resolved", "--max-pairs", "60")
    assert "resolved after " in done.stdout
    assert "every two neighbours are told apart" in done.stdout
    words = ["denier", "twin=denier"]
    (tmp_path / "even.yaml").write_text(json.dumps({"bots": words, "pairs": 5}))
    done = arena("run", "even.yaml", "--until", "resolved", "--max-pairs", "9")
    lines = [line for line in done.stdout.splitlines() if "apart: " in line or "at most" in line]
    said = "not resolved after 5 pairs, ended early, as 9 in a pairing would hardly tell more:"
    assert said in done.stdout
    assert lines[0].lstrip().startswith(("denier and twin are not told apart: ", "twin and denier"))
    document = json.loads(
        arena("run", "even.yaml", "--until", "9", "--max-pairs", "5", "--json").stdout
    )
    assert [one["bot"] for one in document["unresolved"]] == ["denier", "twin"]
    assert all(one["further_pairs"] > 0 for one in document["unresolved"])
    table = library.open(tmp_path / "results" / "even").unresolved
    known = table.astype(object).where(table.notna(), None)
    assert known.to_dict("records") == document["unresolved"]
    assert library.run(["greedy", "uniform"], pairs=1, progress=False).unresolved.empty


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("until: soon", f"line 4: until: 'soon' is not one of {WORDS}, a number of Elo points"),
        ("until: 0", "line 4: until: expected `float` >= 1.0"),
        ("until: .nan", "line 4: until: expected `float` >= 1.0"),
        ("until: .inf", "line 4: until: expected `float` <= 1000.0"),
        ("max_pairs: 10", "max_pairs: only with until"),
        ("until: resolved\nmax_pairs: 3", "max_pairs: 3 is less than pairs, 4"),
        ("rounds: 3", "line 4: rounds: only a Swiss tournament has them; write format: swiss"),
        ("format: swiss\nuntil: 10", "until: a Swiss tournament stops after its rounds"),
        ("format: swiss\nrounds: 0", "line 5: rounds: expected `int` >= 1"),
    ],
)
def test_bad_keys_are_refused_in_one_line(
    arena: Arena, tmp_path: Path, keys: str, message: str
) -> None:
    """With the file and the key, and exit status 2."""
    (tmp_path / "cup.yaml").write_text(f"{BOTS}pairs: 4\n{keys}\n")
    done = arena("run", "cup.yaml")
    assert (done.returncode, done.stderr) == (2, f"error: cup.yaml: {message}\n")


@pytest.mark.parametrize("words", [("--until", "soon"), ("--until", "nan"), ("--until", "0.5")])
def test_a_bad_target_is_refused(arena: Arena, tmp_path: Path, words: tuple[str, str]) -> None:
    """On the command line and in the library."""
    (tmp_path / "cup.yaml").write_text(f"{BOTS}pairs: 4\n")
    done = arena("run", "cup.yaml", *words)
    assert done.returncode == 2
    assert "nor a number of Elo points from 1 to 1,000" in done.stderr
    with pytest.raises(InputError, match=r"^until: "):
        library.run(["greedy", "uniform"], pairs=1, until=words[1], progress=False)


@pytest.mark.slow
def test_a_bot_that_had_only_byes_is_named(arena: Arena, tmp_path: Path) -> None:
    """It is in no table, and a warning says so."""
    text = "bots: [greedy, uniform, denier]\npairs: 2\nformat: swiss\nrounds: 1\n"
    (tmp_path / "cup.yaml").write_text(text)
    document = json.loads(arena("run", "cup.yaml", "--json").stdout)
    played = {row["bot"] for row in document["standings"]}
    (idle,) = {"greedy", "uniform", "denier"} - played
    wanted = f"not in the tables, because they have played no game: {idle}"
    assert document["warnings"] == [wanted]
