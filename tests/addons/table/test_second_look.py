"""A recorded game is looked at again: its decisions judged, and another action played."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from arena.addons.table import second_look
from arena.addons.table.own_games import find_line
from arena.addons.table.second_look import judged_timeline, other_timeline
from arena.entries.catalogue import STRENGTHS
from arena.errors import InputError
from arena.runs.judge_games import review_record
from arena.tournament.judged import PARTS
from engine import Record
from engine.errors import RecordError
from tests.addons.table import Client, running
from tests.addons.table.test_costliest import _few_worlds as _few_worlds
from tests.addons.table.test_own_games import FACTS, finished
from tests.waiting import PATIENCE

PLIES = 9


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of records: a game that was left, noise, and a whole game."""
    whole = finished(0)
    lines = [whole._replace(actions=whole.actions[:PLIES]).to_json(**FACTS), "noise"]
    path = tmp_path / "games.jsonl"
    path.write_text("".join(f"{line}\n" for line in [*lines, whole.to_json(**FACTS)]))
    return path


def record_of(file: Path, line: int) -> Record:
    return Record.from_json(find_line(file, line))


@pytest.mark.slow
def test_every_decision_of_both_seats_is_judged(file: Path) -> None:
    """The numbers are those of the judge for this game, of the line's name."""
    timeline = judged_timeline(file, 1)
    found = {frame["ply"]: frame["judged"] for frame in timeline["frames"] if frame["judged"]}
    judged = review_record(record_of(file, 1), name="line 1", worlds=second_look.WORLDS)
    assert {*found} == {one.ply for one in judged}
    assert {ply % 2 for ply in found} == {0, 1}
    for one in judged:
        assert found[one.ply]["loss"] == round(one.loss / PARTS, 4)
    assert timeline["judge"] == "apprentice, 8 worlds"


def test_another_action_is_played_and_a_strength_goes_on(file: Path) -> None:
    """What came before stays; the game goes on to its end; equal questions, equal games."""
    record = record_of(file, 3)
    frames = other_timeline(file, 3, 0, other_of(record), 2)["frames"]
    actions = "".join(frame["action"]["char"] for frame in frames[1:])
    assert actions[0] == other_of(record) != record.actions[0]
    timeline = other_timeline(file, 3, 0, other_of(record), 2)
    assert timeline["frames"] == frames
    assert timeline["over"]
    assert timeline["branch"] == {"ply": 0, "action": record.actions[0], "by": STRENGTHS[1].bot}
    assert timeline["players"] == ["human", "greedy"]


def other_of(record: Record) -> str:
    """Return a card of the first hand that was not played first."""
    return next(char for char in record.deal[:5] if char != record.actions[0])


def test_what_cannot_be_played_is_refused(file: Path, client: Client) -> None:
    """A line, ply, action or strength that is not there; and rules that no judge knows."""
    played = record_of(file, 3).actions[0]
    for ply, action, message in (
        (0, played, "what was played"),
        (99, "T", "the game has"),
        (-1, "T", "the game has"),
        (0, "?", "ply 0"),
        (0, "", "ply 0"),
    ):
        with pytest.raises(InputError, match=message):
            other_timeline(file, 3, ply, action, 1)
    for line, strength in ((4, 1), (3, 9), (3, 0)):
        with pytest.raises(LookupError):
            other_timeline(file, line, 0, "T", strength)
    with pytest.raises(RecordError):
        judged_timeline(file, 2)
    shorter = '{"deal": "%s", "actions": "", "rules": {"rounds": 2, "removed": 23}}\n'
    with file.open("a") as end:
        end.write(shorter % record_of(file, 3).deal)
    for look in (lambda: judged_timeline(file, 4), lambda: other_timeline(file, 4, 0, "T", 1)):
        with pytest.raises(InputError, match="rules"):
            look()
    asked = {"line": 99, "ply": 0, "action": "T", "strength": 1}
    assert client.ask("api/other", asked, 404)
    assert "strength" in client.ask("api/other", asked | {"strength": "1"}, 400)["error"]
    assert client.ask("api/judged", {"line": 99}, 404)


def test_the_end_of_the_table_does_not_wait_for_a_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C ends it at once, and the page is told so."""
    begun, goes_on = threading.Event(), threading.Event()

    def judge(*_: object) -> dict[str, object]:
        begun.set()
        goes_on.wait(PATIENCE)
        return {}

    with running(tmp_path) as client:
        monkeypatch.setattr(client.table, "judged", judge)
        answers: list[object] = []
        asking = threading.Thread(
            target=lambda: answers.append(client.ask("api/judged", {"line": 1}, 503))
        )
        asking.start()
        begun.wait(PATIENCE)
    asking.join()
    goes_on.set()
    assert answers == [{"error": "the table ends"}]
