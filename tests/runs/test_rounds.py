"""Runs of several rounds, which stop by themselves or are Swiss: the same bytes always."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import QUIET
from arena.runs import saving
from arena.runs.run import run
from arena.runs.verify import verify
from arena.store.folder import RunFolder
from arena.tournament.rounds import Counts, Rounds
from arena.tournament.schedule import PairRange
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament
from engine import STANDARD
from tests.conftest import Arena
from tests.kit import Stops, refused, same_files
from tests.rogues import write

SEEN: list[tuple[int, dict[int, Counts], list[str]]] = []


class Closest(Rounds):
    """Two pairs of every pairing, then three more, twice, of the one that is closest to even."""

    leaves_out_unrated = True

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament

    def next(
        self, number: int, counts: Mapping[int, Counts], out: Collection[str], /
    ) -> list[PairRange]:
        SEEN.append((number, dict(counts), [*out]))
        if number == 0:
            return [PairRange(n, 0, 2) for n in range(len(self.tournament.pairings))]
        if number > 2:
            return []
        lead = {
            n: abs(4 * c[4] + 3 * c[3] + 2 * c[2] + c[1] - 2 * sum(c)) for n, c in counts.items()
        }
        free = [n for n in lead if not {*self.tournament.pairings[n]} & {*out}]
        closest = min(free, key=lambda n: (lead[n], n))
        return [PairRange(closest, sum(counts[closest]), sum(counts[closest]) + 3)]

    def status(self, counts: Mapping[int, Counts], _out: Collection[str] = (), /) -> str:
        return f"{sum(map(sum, counts.values()))} pairs"


@pytest.fixture
def cup(monkeypatch: pytest.MonkeyPatch) -> Tournament:
    """Return a tournament whose rounds are chosen as above."""
    SEEN.clear()
    monkeypatch.setattr(saving, "make_rounds", Closest)
    bots = [resolve(name) for name in ("uniform", "greedy", "denier")]
    return Tournament("cup", 5, 2, bots, STANDARD, stop=Until("resolved", 8))


def files(folder: Path, *unlike: str) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*.csv") if path.stem not in ("timings", *unlike)]
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.slow
def test_rounds_are_decided_from_all_games_before_them(cup: Tournament, tmp_path: Path) -> None:
    """The counts at each barrier are those of the whole rounds before it."""
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path), QUIET)
    assert [number for number, *_ in SEEN] == [0, 1, 2, 3]
    assert [sum(map(sum, counts.values())) for _, counts, _ in SEEN] == [0, 6, 9, 12]
    assert outcome.progress.counts == SEEN[-1][1]
    assert outcome.played == 24 == sum(row["games"] for row in outcome.standings) / 2
    lengths = {n: sum(c) for n, c in outcome.progress.counts.items()}
    assert outcome.progress.lengths == lengths
    assert max(lengths.values()) > min(lengths.values()) == 2


@pytest.mark.slow
def test_the_same_bytes_for_any_workers_and_after_any_stop(cup: Tournament, tmp_path: Path) -> None:
    """Stopped after each number of chunks, and gone on with."""
    run(cup, LocalExecutor(2), RunFolder(tmp_path / "whole"), QUIET)
    whole = files(tmp_path / "whole")
    folder = RunFolder(tmp_path / "stopped")
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(cup, Stops(1, LocalExecutor(1)), folder, QUIET)
    outcome = run(cup, LocalExecutor(3), folder, QUIET)
    assert outcome.kept > 0
    assert files(folder.path) == whole
    again = run(cup, LocalExecutor(1), folder, QUIET)
    assert (again.played, again.kept) == (0, 24)
    verified = list(verify(folder.path, 2, LocalExecutor(1)))
    assert verified[0] == "games: 24 replayed"
    assert verified[1].startswith("files: ")


@pytest.mark.slow
def test_a_bot_with_too_many_faults_is_out_in_the_rounds_that_follow(
    cup: Tournament, tmp_path: Path
) -> None:
    """Its games of the round are forfeits by rule, and the next barrier knows it."""
    write(tmp_path, "fails", "raise ValueError")
    fails = resolve(str(tmp_path / "fails.py"), lane="inproc")
    bots = [resolve("uniform"), fails, resolve("greedy")]
    cup = Tournament("cup", 5, 2, bots, STANDARD, max_faults=3, stop=cup.stop)
    outcome = run(cup, LocalExecutor(2), RunFolder(tmp_path / "out"), QUIET)
    assert [out for *_, out in SEEN] == [[], ["fails"], ["fails"], ["fails"]]
    assert outcome.progress.lengths == {0: 2, 1: 8, 2: 2}
    assert outcome.out == {"fails": "3 exceptions"}
    assert next(verify(tmp_path / "out", 2, LocalExecutor(1))) == "games: 24 replayed"


WORDS = "resolved, first, top:K, against:BOT"
BOTS = "bots: [uniform, greedy, city_hunter, denier]\nseed: 4\n"
KINDS = {
    "until": f"{BOTS}pairs: 4\nuntil: resolved\nmax_pairs: 24\n",
    "swiss": f"{BOTS}pairs: 5\nformat: swiss\nrounds: 3\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
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
        ("panel: [greedy]", "line 4: panel: only a gauntlet has one; write format: gauntlet"),
        ("format: gauntlet", "line 4: format: a gauntlet needs a panel, a list of bots"),
        ("format: gauntlet\npanel: [nobody]", "panel[0]: bot 'nobody': no bot 'nobody'"),
        ("format: gauntlet\npanel: [uniform]", "bots 1 and 5 have the same label"),
        ("format: swiss\nrounds: 0", "line 5: rounds: expected `int` >= 1"),
    ],
)
def test_bad_keys_are_refused_in_one_line(
    arena: Arena, tmp_path: Path, keys: str, message: str
) -> None:
    """With the file and the key, and exit status 2."""
    (tmp_path / "cup.yaml").write_text(f"{BOTS}pairs: 4\n{keys}\n")
    done = arena("run", "cup.yaml")
    assert refused(done).startswith(f"cup.yaml: {message}")


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
