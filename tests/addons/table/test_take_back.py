"""A person takes an action back: what the bot, the record, the journal and the page make of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from arena.addons.table import page_games
from arena.addons.table.interrupted import find_interrupted
from arena.addons.table.journal import Journal, TakenBack
from arena.addons.table.session import Records
from engine.cards import CHARS
from tests.addons.table import Client, running
from tests.addons.table.interrupting import leave_journal, make_session
from tests.addons.table.test_command import open_address
from tests.addons.table.test_interrupted import go_on, interrupted, journals, next_question
from tests.addons.table.test_person_interrupted import COUNTS, typed_after
from tests.addons.table.test_person_interrupted import go_on as again
from tests.addons.table.test_playing import LOWEST, lines, sit_down
from tests.addons.table.test_session import expected
from tests.conftest import Arena, start_command
from tests.waiting import until


@pytest.fixture(autouse=True)
def seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session has seed 0, so that the person begins."""
    monkeypatch.setattr("arena.addons.table.visitor.secrets.randbelow", lambda _: 0)


def questions(client: Client, path: str) -> Iterator[dict[str, Any]]:
    """Yield the news in which the person is asked, and the last ones."""
    for news in client.news(f"{path}/events"):
        if news["phase"] != "bot":
            yield news | {"frames": [*news["frames"]]}


def act(client: Client, path: str, news: dict[str, Any], place: int = 0) -> None:
    """Play the legal action at a place of the list."""
    frame = news["frames"][-1]
    client.ask(f"{path}/act", {"ply": frame["ply"], "action": frame["legal"][place]})


def take_back(client: Client, path: str, news: dict[str, Any], status: int = 200) -> Any:
    return client.ask(f"{path}/take-back", {"ply": len(news["frames"]) - 1}, status)


@pytest.mark.slow
def test_the_game_goes_on_as_if_the_action_had_not_been_made(
    client: Client, tmp_path: Path, arena: Arena
) -> None:
    """Also with a bot that has a memory and luck of its own; the record says what was taken back.

    The one who listens gets the position again, and `arena replay` reads the record.
    """
    bot = tmp_path / "counts.py"
    bot.write_text(COUNTS)
    right = expected(0, bot=str(bot))[1]
    path = sit_down(client, bot=str(bot))
    asked = questions(client, path)
    act(client, path, next(asked))
    act(client, path, before := next(asked), place=1)
    after = next(asked)
    undone = "".join(frame["action"]["char"] for frame in after["frames"][3:])
    assert (before["back_to"], after["back_to"], before["taken_back"]) == (0, 2, 0)
    take_back(client, path, after)
    again = next(asked)
    (journal,) = client.table.records.under_way.glob("0-0-*")
    assert b'{"back_to":2}\n' in journal.read_bytes()
    assert again["frames"] == before["frames"]
    assert again["texts"] == before["texts"]
    assert again["taken_back"] == 1
    asked.close()
    client.play(path)
    record = json.loads(lines(client)[-1])
    assert record["actions"] == right
    assert record["taken_back"] == [{"ply": 2, "actions": undone}]
    assert undone[0] == before["frames"][-1]["legal"][1]
    judged = json.loads(
        arena("replay", str(client.table.records.path), "--json").stdout.splitlines()[-1]
    )
    assert (judged["over"], judged["plies"]) == (True, len(right))


@pytest.mark.slow
def test_what_was_forced_is_taken_back_with_the_choice_before(client: Client) -> None:
    """Else it would be made again at once, and nothing would have been taken back."""
    path = sit_down(client)
    back_to = []
    for news in questions(client, path):
        if news["phase"] == "yours":
            back_to.append((len(news["frames"]) - 1, news["back_to"]))
            act(client, path, news)
    chosen = [ply for ply, _ in back_to]
    assert back_to == [*zip(chosen, [None, *chosen[:-1]], strict=True)]
    assert any(after - before > 2 for before, after in pairwise(chosen))


@pytest.mark.slow
def test_taking_back_is_refused_where_there_is_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first choice, at another ply, too often, and after the end."""
    path = sit_down(client)
    asked = questions(client, path)
    first = next(asked)
    assert "nothing yet" in take_back(client, path, first, 400)["error"]
    act(client, path, first)
    second = next(asked)
    assert "does not wait" in take_back(client, path, first, 400)["error"]
    take_back(client, path, second)
    act(client, path, next(asked))
    monkeypatch.setattr(page_games, "MOST_TAKEN_BACK", 1)
    assert "1 times" in take_back(client, path, next(asked), 400)["error"]
    client.ask(f"{path}/leave", {})
    (*_, last) = asked
    assert "does not wait" in take_back(client, path, last, 400)["error"]


@pytest.mark.slow
def test_a_game_of_which_all_is_taken_back_leaves_a_record(client: Client) -> None:
    """Who has seen what the bot does has played."""
    before = len(lines(client))
    path = sit_down(client)
    asked = questions(client, path)
    act(client, path, next(asked))
    take_back(client, path, next(asked))
    next(asked)
    client.ask(f"{path}/leave", {})
    assert [*asked][-1]["line"] == before + 1
    record = json.loads(lines(client)[-1])
    assert record["actions"] == ""
    assert len(record["taken_back"]) == 1


@pytest.mark.slow
def test_a_bot_that_answers_otherwise_ends_the_game(client: Client, tmp_path: Path) -> None:
    """As after an interruption: the record has what was played, and says what was taken back."""
    bot, mark = tmp_path / "fickle.py", tmp_path / "mark"
    begins = f"open({str(mark)!r}, 'a').write('x')\n        self.starts = len(open({str(mark)!r})"
    bot.write_text(
        LOWEST.replace("pass", f"{begins}.read())").replace(
            "[0]", "[self.starts % len(view.legal)]"
        )
    )
    path = sit_down(client, bot=str(bot))
    asked = questions(client, path)
    for _ in range(2):
        act(client, path, next(asked))
    take_back(client, path, next(asked))
    (*_, last) = asked
    assert last["phase"] == "failed"
    assert last["error"].startswith("fickle does not play as before, ply 1: it was ")
    record = json.loads(lines(client)[-1])
    assert (len(record["actions"]), record["win_type"]) == (2, None)
    assert [one["ply"] for one in record["taken_back"]] == [2]


def test_a_journal_says_what_was_taken_back(tmp_path: Path) -> None:
    """A line for it; what is damaged there ends what is known, as elsewhere."""
    actions = expected(0)[1]
    path = leave_journal(tmp_path, "greedy", 0, 5)
    journal = Journal.take(path)
    journal.take_back(2)
    journal.add(2, CHARS.index(actions[2]))
    journal.close()
    whole = path.read_bytes()
    (one,), problems = find_interrupted(Records(tmp_path))
    assert problems == []
    assert one.plies == 3
    assert one.content.taken_back == (TakenBack(2, actions[2:5]),)
    *before, back, last = whole.splitlines(keepends=True)
    for damaged in (back[:-1], b'{"back_to":5}\n', b'{"back_to":-1}\n', b'{"back_to":2,"x":1}\n'):
        path.write_bytes(b"".join([*before, damaged, last]))
        (one,), _ = find_interrupted(Records(tmp_path))
        assert (one.plies, one.content.taken_back) == (5, ())
        assert one.content.size == len(b"".join(before))


@pytest.mark.slow
def test_an_interrupted_game_remembers_what_was_taken_back(tmp_path: Path) -> None:
    """It goes on from there, and its record has all of it, before and after the interruption."""
    bot = tmp_path / "counts.py"
    bot.write_text(COUNTS)
    actions = expected(0, bot=str(bot))[1]
    journal = Journal.take(leave_journal(tmp_path / "human", str(bot), 0, 7))
    journal.take_back(4)
    journal.close()
    with running(tmp_path) as client:
        assert interrupted(client)[0]["plies"] == 4
        path = f"api/games/{go_on(client)['id']}"
        asked = questions(client, path)
        news = next(asked)
        assert len(news["frames"]) == 5
        take_back(client, path, news)
        news = next(asked)
        assert (len(news["frames"]), news["taken_back"]) == (3, 2)
        asked.close()
        client.play(path)
        record = json.loads(lines(client)[-1])
    assert record["actions"] == actions
    assert [one["ply"] for one in record["taken_back"]] == [4, 2]
    assert "".join(one["actions"] for one in record["taken_back"]) == actions[4:7] + actions[2:4]


def test_an_interrupted_game_goes_on_in_the_terminal(tmp_path: Path) -> None:
    """Which itself has no take back; the record is the same."""
    records, session = Records(tmp_path), make_session("greedy", 0)
    journal = Journal.take(leave_journal(tmp_path, "greedy", 0, 7))
    journal.take_back(4)
    journal.close()
    again(session, records, typed_after(session, expected(0)[1], 4))
    record = json.loads(records.path.read_text())
    assert record["actions"] == expected(0)[1]
    assert [one["ply"] for one in record["taken_back"]] == [4]


@pytest.mark.slow
def test_a_table_that_is_killed_after_taking_back_loses_nothing(tmp_path: Path) -> None:
    """The real command, with kill -9, while the bot is being asked again or just after."""
    server = start_command(tmp_path, "table", "--no-browser")
    assert server.stdout is not None
    try:
        connection, root, headers = open_address(server.stdout.readline())

        def ask(path: str, **body: Any) -> Any:
            connection.request("POST", f"{root}{path}", json.dumps(body), headers)
            return json.load(connection.getresponse())

        def question(after: int) -> dict[str, Any]:
            connection.request("GET", f"{root}{path}/events", headers=headers)
            frame = next_question(connection.getresponse(), after)
            connection.close()
            return frame

        path = f"api/games/{ask('api/games', bot='ismcts', begins='me')['id']}"
        ply = -1
        for _ in range(3):
            frame = question(ply)
            ply = frame["ply"]
            ask(f"{path}/act", ply=ply, action=frame["legal"][0])
        ask(f"{path}/take-back", ply=question(ply)["ply"])
        until(lambda: b"back_to" in journals(tmp_path)[0].read_bytes())
    finally:
        server.kill()
        server.communicate()
    with running(tmp_path / "results") as client:
        assert interrupted(client)[0]["plies"] == 4
        client.play(f"api/games/{go_on(client)['id']}")
        record = json.loads(lines(client)[-1])
    assert record["actions"] == expected(record["seed"], bot="ismcts")[1]
    assert [one["ply"] for one in record["taken_back"]] == [4]
