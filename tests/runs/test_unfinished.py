"""What a run says that is not finished, or has a bot that remembers; games that are judged."""

from __future__ import annotations

import io
import os
import signal
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, call

import pandas as pd
import pytest

import arena
from arena.addons.rl.exact import Exact
from arena.differences.run_files import RunTables
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.executors.local import LocalExecutor
from arena.executors.log import NORMAL, QUIET, read_spending
from arena.lanes.faults import Fault
from arena.lanes.jail_support import find_pid_namespaces
from arena.lanes.limits import Limits
from arena.runs import rerun
from arena.runs import run as run_module
from arena.runs.judge_games import JudgedGames, review_record
from arena.runs.next_round import measure_extent
from arena.runs.rerun import add_thoughts, choose_pairs, find_varying
from arena.runs.run import Interrupted, run
from arena.store.folder import RunFolder
from arena.store.store import Store
from arena.tournament.asking import Found
from arena.tournament.config import convert, make_tournament
from arena.tournament.match import GameResult
from arena.tournament.plan import Chunk, Played
from arena.tournament.schedule import Fixture
from arena.tournament.stop import Until
from arena.tournament.tournament import Tournament
from engine import STANDARD, Record, Rules, to_text
from engine.notation import parse_cards
from tests.kit import HERE, Stops
from tests.replays.games import random_record
from tests.rogues import FOLDER, rogue, write
from tests.tiers import few

BOTS = ("uniform", "greedy", "majority", "city_hunter")


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of four bots that was stopped."""
    folder = tmp_path_factory.mktemp("stopped") / "cup"
    bots = [resolve(name) for name in BOTS]
    tournament = Tournament("cup", 1, 200, bots, STANDARD)
    with pytest.raises(Interrupted):
        run(tournament, Stops(40), RunFolder(folder), QUIET)
    return folder


@pytest.mark.slow
def test_the_library_says_that_it_is_not_finished(cup: Path) -> None:
    """In its head, its report and as a value; all pairings have about as many games."""
    results = arena.open(cup)
    assert not results.finished
    state = f"not finished: {results.played:,} of 2,400 games"
    assert str(results).splitlines()[0] == f"cup: {state}"
    text = results.report().markdown()
    assert text.splitlines()[1] == "# cup: 4 bots, seed 1 (not finished)"
    assert f"{state.capitalize()}." in text
    assert "4 bots, every bot against every other one" in text
    games = results.head_to_head["games"]
    assert len(games) == 12
    assert min(games) >= 0.75 * max(games) - 2


@pytest.mark.parametrize(
    ("changes", "total", "at_most"),
    [
        ({}, 6 * 2 * 7, False),
        ({"stop": Until("first", 9)}, 6 * 2 * 9, True),
        ({"rounds": 3}, 2 * 2 * 7, False),
    ],
)
def test_a_run_has_as_many_games_as_are_known_of(
    changes: dict[str, Any], total: int, at_most: bool
) -> None:
    """Of a Swiss tournament those of its rounds so far, of one that may stop the most."""
    cup = Tournament("cup", 1, 7, [resolve(name) for name in BOTS], STANDARD, **changes)
    with closing(Store(None)) as store:
        store.begin(cup.manifest())
        assert measure_extent(cup, store) == (0, total, False, at_most)


def test_a_bot_that_has_finished_no_game_gets_no_more_pairs() -> None:
    bots = [resolve("uniform"), resolve("other=uniform"), rogue("raises_boom", "inproc")]
    cup = Tournament("cup", 1, 2, bots, STANDARD, max_faults=99, stop=Until("resolved", 4))
    outcome = run(cup, HERE, None, QUIET)
    assert (outcome.out, outcome.progress.unrated) == ({}, ["raises_boom"])
    assert [outcome.progress.lengths[pairing] for pairing in (1, 2)] == [2, 2]
    said, *_ = outcome.progress.describe_end(outcome.out)
    assert ", but for raises_boom, which finished no game" in said


def test_ctrl_c_while_a_chunk_is_stored_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is kept as a whole: an import of the main thread that is left halfway may lock others."""
    add = Store.add

    def add_at_ctrl_c(store: Store, *chunks: Played) -> None:
        signal.raise_signal(signal.SIGINT)
        add(store, *chunks)

    monkeypatch.setattr(Store, "add", add_at_ctrl_c)
    monkeypatch.setattr("arena.runs.stored_run._UNSTORED", 0.0)
    cup = Tournament("cup", 1, 40, [resolve("uniform"), resolve("greedy")], STANDARD)
    with pytest.raises(Interrupted) as caught:
        run(cup, HERE, RunFolder(tmp_path), QUIET)
    assert 0 < caught.value.kept == arena.open(tmp_path).played < 80
    log = (tmp_path / "run.log").read_text()
    assert "INFO run cup: 80 games, " in log
    assert log.endswith("INFO run cup ended early: KeyboardInterrupt\n")


@pytest.mark.slow
def test_a_run_that_is_stopped_between_rounds_is_not_finished(tmp_path: Path) -> None:
    """All games of its rounds so far are there; the same run goes on to its end."""
    bots = [resolve("greedy"), resolve("other=greedy")]
    until = Tournament("until", 1, 2, bots, STANDARD, stop=Until(5.0, 6))
    for executor, state in ((Stops(2), (4, False)), (HERE, (12, True))):
        with suppress(Interrupted):
            run(until, executor, RunFolder(tmp_path / "cup"), QUIET)
        results = arena.open(tmp_path / "cup")
        assert (results.played, results.finished) == state


ILLEGAL = [f"{label}={FOLDER}/answers.py(what='99')" for label in "abcd"]
TABLES = ("standings", "head_to_head", "win_types", "verdicts", "wins")


def tables_of(specs: Sequence[str], pairs: int, max_faults: int) -> dict[str, pd.DataFrame]:
    """Return tables of a round robin between these bots, with their rows in one order."""
    bots = [resolve(spec, lane="inproc") for spec in specs]
    tournament = Tournament("cup", 5, pairs, bots, STANDARD, max_faults=max_faults)
    found = {}
    with closing(Store(None)) as store:
        run(tournament, HERE, shown=QUIET, store=store)
        writers = RunTables(tournament, store).writers
        for name in TABLES:
            writers[f"{name}.csv"](file := io.StringIO())
            table = pd.read_csv(io.StringIO(file.getvalue()))
            keys = [key for key in ("bot", "opponent", "seat", "round", "source") if key in table]
            found[name] = table.sort_values(keys, ignore_index=True)[sorted(table)]
    return found


@pytest.mark.slow
def test_the_order_of_the_config_changes_no_number(tires: Path) -> None:
    """Of a field in which two bots fail now and then, and two always."""
    bots = ["uniform", "greedy", f"s={tires}", f"e={tires}", *ILLEGAL[:2]]
    first, *others = (
        tables_of([bots[place] for place in order], 12, 2)
        for order in ((0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0), (3, 5, 0, 4, 1, 2))
    )
    elo = first["standings"].set_index("bot")["elo"]
    assert elo[["a", "b"]].isna().all()
    assert elo[["uniform", "greedy"]].notna().all()
    assert first["standings"]["forfeits"].min() == 0
    for tables in others:
        for name, table in tables.items():
            pd.testing.assert_frame_equal(table, first[name], obj=name)


@pytest.mark.slow
def test_games_that_were_not_played_change_no_elo(tires: Path) -> None:
    """A bot that is out has the Elo of what it has played, however many games are left."""
    few, many = (
        tables_of(["greedy", f"t={tires}"], pairs, 1)["standings"].set_index("bot")
        for pairs in (20, 60)
    )
    assert many.loc["t", "forfeits"] == few.loc["t", "forfeits"] + 80
    columns = ["elo", "elo_low", "elo_high"]
    assert few[columns].notna().all(axis=None)
    pd.testing.assert_frame_equal(many[columns], few[columns])


SMALL = Limits(memory=256)


def said(
    bot: Path, capsys: pytest.CaptureFixture[str], lane: str, pairs: int, *, repeat: bool = True
) -> tuple[list[str], int]:
    """Return what a run of a bot against uniform prints of its moves, and its forfeits."""
    entries = [resolve(str(bot), label="bot", lane=lane), resolve("uniform")]
    tournament = Tournament("test", 3, pairs, entries, STANDARD, SMALL)
    store = Store(None)
    outcome = run(tournament, LocalExecutor(1), None, NORMAL, store=store, repeat=repeat)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("bot: ")]
    return lines, outcome.forfeits


@pytest.mark.slow
def test_a_bot_that_remembers_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither its opponent, which answers other moves, nor one that draws from its generator."""
    counts = "global games; self.number = games = globals().get('games', 0) + 1"
    first_differ = "return view.legal[-1 if self.number < 4 else 0]"
    path = write(tmp_path, "remembers", first_differ, counts)
    (line,), _ = said(path, capsys, "inproc", 50)
    assert line.startswith("bot: its moves differ when a game is repeated (bot/uniform/")
    assert line.endswith("they depend on earlier games, its clock or its own randomness")
    assert said(path, capsys, "inproc", 50, repeat=False) == ([], 0)
    assert said(path, capsys, "inproc", 49) == ([], 0)
    path = write(tmp_path, "draws", "return self.rng.choice(view.legal)", "self.rng = setup.rng")
    assert said(path, capsys, "inproc", 50) == ([], 0)


LEAKS = {"memory": (16, 8), "threads": (2, 20), "files": (8, 10), "children": (2, 10)}
"""What is kept of a game, how much of it, and after how many pairs it would be too much."""


@pytest.mark.skipif(find_pid_namespaces() is None, reason="no bubblewrap")
@pytest.mark.parametrize("lane", few(["process", "jail"], 0, 1))
@pytest.mark.parametrize("what", LEAKS)
def test_what_a_bot_keeps_of_each_game_costs_no_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, lane: str
) -> None:
    """Its process is renewed in time: without that there are faults, which do not come back."""
    much, pairs = LEAKS[what]
    path = tmp_path / "keeps.py"
    text, usual = (FOLDER / "keeps.py").read_text(), 'what: str = "memory", much: int = 0'
    path.write_text(text.replace(usual, f'what="{what}", much={much}'))
    assert said(path, capsys, lane, pairs) == ([], 0)


def test_some_games_are_repeated_after_all_others_and_a_bot_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The repeated ones count as no games of the run; a short run repeats none."""
    cup = Tournament("cup", 1, 2, [resolve(name) for name in BOTS], STANDARD)
    chosen = [(n, one.start) for n, own in enumerate(choose_pairs(cup, [2] * 6)) for one in own]
    again: list[Chunk] = []

    def find(_cup: Tournament, _store: Store, played: Played) -> list[tuple[str, Fixture, int]]:
        again.append(played.chunk)
        return [("greedy", cup.fixture(0, 1, 0), 7)]

    monkeypatch.setattr(run_module, "find_varying", find)
    for least, wanted in ((25, []), (24, chosen)):
        monkeypatch.setattr(run_module, "LEAST", least)
        outcome = run(cup, HERE, None, NORMAL, repeat=True)
        assert (outcome.played, outcome.kept) == (24, 0)
        assert [chunk[:2] for chunk in again] == wanted
    assert {(chunk.pairs, chunk.seats, chunk.again) for chunk in again} == {(1, (0,), True)}
    assert capsys.readouterr().err.splitlines() == [
        "greedy: its moves differ when a game is repeated (uniform/greedy/1/0, ply 7): they depend "
        "on earlier games, its clock or its own randomness"
    ]


@pytest.mark.parametrize(("bots", "pairs"), [(2, 100), (2, 50), (5, 10), (12, 1), (12, 40)])
def test_a_hundredth_of_the_games_and_one_of_each_bot_are_chosen(bots: int, pairs: int) -> None:
    """They are of the later half of the pairs, and the same for every run of a seed."""
    entries = [resolve("uniform", label=f"bot {number}") for number in range(bots)]
    games = []
    for seed in range(20):
        tournament = Tournament("test", seed, pairs, entries, STANDARD)
        lengths = [pairs] * len(tournament.pairings)
        chosen = choose_pairs(tournament, lengths)
        assert chosen == choose_pairs(tournament, lengths)
        counts = Counter(
            label
            for pairing, own in zip(tournament.pairings, chosen, strict=True)
            for label in pairing
            for _ in own
        )
        assert counts.keys() == {*tournament.labels}
        assert all(pairs // 2 <= pair.start < pairs for own in chosen for pair in own)
        games.append(sum(map(len, chosen)))
    total = len(tournament.pairings) * 2 * pairs
    assert sum(games) / len(games) <= max(0.013 * total, bots)


@pytest.fixture
def tires(tmp_path: Path) -> Path:
    """Return the file of a bot that fails now and then."""
    body = "assert self.rng.random() < 0.98\nreturn view.legal[0]"
    return write(tmp_path, "tires", body, "self.rng = setup.rng")


def test_what_needs_an_extra_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    swiss = {"format": "swiss", "bots": ["greedy", "uniform"], "pairs": 1}
    assert make_tournament(convert(swiss, "cup")).rounds
    for module in ("tournament.config", "rl.exact"):
        monkeypatch.setattr(f"arena.{module}.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"^format: swiss: networkx .*arena\[swiss\]'$"):
        make_tournament(convert(swiss, "cup"))
    with pytest.raises(InputError, match=r"^arena.addons.rl: scipy is not .*arena\[rl\]'$"):
        Exact(STANDARD)


@pytest.mark.slow
def test_a_run_knows_where_the_time_of_the_processor_went(tmp_path: Path) -> None:
    """A bot that spins for 5 ms in each of about 48 decisions of two games has used 0.25 s."""
    body = "import time\nend = time.process_time() + 0.005\nwhile time.process_time() < end: pass\n"
    spins = write(tmp_path, "spins", body + "return view.legal[0]")
    bots = [resolve(str(spins), lane="inproc"), resolve("uniform")]
    spun = Tournament("spun", 5, 1, bots, STANDARD)
    folder = RunFolder(tmp_path / "run")
    spending = run(spun, LocalExecutor(1), folder, QUIET).spending
    assert spending is not None
    assert spending.workers > 0.15
    assert min(spending) >= 0
    assert spending.files > 0
    assert str(spending) == read_spending(folder.log)
    assert run(spun, LocalExecutor(1), folder, QUIET).spending is None  # nothing was played


def deal_of(first: str, second: str, row: str) -> str:
    """Return a deal that begins with these hands and this row; the rest lies in order."""
    left = [*STANDARD.deck]
    for card in parse_cards(first + second + row):
        left.remove(card)
    return first + second + row + to_text(bytes(left))


@pytest.mark.slow
def test_whether_the_other_seat_had_a_choice_changes_no_number() -> None:
    """At ply 7 seat 1 held 555 in one game and 558 in the other, and played 5."""
    actions = "5T6677858"
    forced, free = (
        review_record(Record(deal_of("56788", hand, "4x"), actions)) for hand in ("67555", "67558")
    )
    assert 7 in [one.ply for one in free]
    assert 7 not in [one.ply for one in forced]
    last = [[one for one in judged if one.ply == 8] for judged in (forced, free)]
    assert len(last[0]) == 1
    assert last[0] == last[1]


def test_a_note_says_at_which_plies_thoughts_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each seat's bot is asked with the seed that it had in the game."""
    cup = Tournament("cup", 1, 4, [resolve("uniform"), resolve("greedy")], STANDARD)
    fixture, game = cup.fixture(0, 3, 1), arena.play("uniform", "greedy", seed=1, pair=3, seat=1)
    again = "asked again, the bot chose another action"
    notes = {(): "", (5,): f"ply 5: {again}", (5, 8): f"plies 5, 8: {again}"}
    find = Mock(side_effect=[Found({}, [*strayed]) for strayed in notes])
    monkeypatch.setattr(rerun, "find_thoughts", find)
    for note in notes.values():
        said = f"no thoughts at {note}" if note else ""
        assert add_thoughts(cup, fixture, game) == (replace(game, thoughts={}), said)
    lucks = cup.draw(fixture).lucks
    bots = {0: (cup.by_label["greedy"], lucks[0]), 1: (cup.by_label["uniform"], lucks[1])}
    assert find.call_args_list == [call(game.record, bots, cup.limits)] * 3


def test_a_bot_whose_moves_differ_is_named_with_the_ply() -> None:
    """By the first action that differs; a game that a fault ended says nothing."""
    cup = Tournament("cup", 1, 4, [resolve("uniform"), resolve("greedy")], STANDARD)
    game = arena.play("uniform", "greedy", seed=1, pair=3, seat=1)
    actions = game.record.actions
    result = GameResult(3, 1, 0, "points", 0, 0, 48, None, actions)
    chunk = Chunk(0, 3, 1, again=True)
    cases: list[tuple[GameResult, list[tuple[str, int]]]] = [
        (result, []),
        (result._replace(actions=actions[:4]), [("greedy", 4)]),
        (result._replace(actions=actions[:5] + "?"), [("uniform", 5)]),
        (result._replace(actions="", fault=Fault("crash", "")), []),
    ]
    for stored, found in cases:
        store: Any = SimpleNamespace(game=lambda *_, one=stored: one)
        told = find_varying(cup, store, Played(chunk, [result], {}, 1.0))
        place = cup.fixture(0, 3, 1)
        assert [*told] == [(label, place, ply) for label, ply in found]


def test_what_is_kept_is_read_and_not_written(tmp_path: Path) -> None:
    place = tmp_path / "run.sqlite"
    with closing(JudgedGames(place)) as kept:
        kept.add({b"key": []})
    os.utime(place, ns=(0, 0))
    with closing(JudgedGames(place)) as kept:
        assert kept.find([b"key", b"other"]) == {b"key": []}
    assert place.stat().st_mtime_ns == 0


def test_what_cannot_judge_or_be_judged_is_refused() -> None:
    """In one line that says why; also other rules, and a record whose actions are not legal."""
    record = random_record(Random(5))
    cases: list[tuple[Record, dict[str, Any], str]] = [
        (record, {"worlds": 5}, "worlds: 5 is odd"),
        (record, {"worlds": 2}, "worlds: 2 is not a number from 4 to 1,000"),
        (Record(record.deal, "", Rules(set_bonus=4)), {}, "other rules than the published ones"),
        (Record(record.deal, "TTT"), {}, "cannot be played"),
    ]
    for judged, change, message in cases:
        with pytest.raises(InputError, match=message):
            review_record(judged, **change)
