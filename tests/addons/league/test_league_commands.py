"""`arena league` and the league in a program: a few calls, and one line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Arena

NEW = (
    "league",
    "new",
    "club",
    "--seed",
    "1",
    "--lane",
    "process",
    "--panel",
    "uniform,greedy,majority",
)


@pytest.fixture
def club(arena: Arena) -> Arena:
    """Return the command, in a folder with a small league."""
    assert arena(*NEW).returncode == 0
    return arena


@pytest.mark.slow
def test_a_league_from_its_beginning(club: Arena) -> None:
    """Submit, play, look, submit again and withdraw; every line fits 80 columns."""
    done = club("league", "submit", "club", "timing(patience=2.5)", "--name", "patient")
    assert done.stdout == "accepted: patient 1, by patient; it plays in the next round\n"
    done = club("league", "play", "club", "--games", "700", "--workers", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["round 1: 600 games", "round 2: 100 games"]
    assert lines[2].split() == ["rank", "bot", "elo", "95", "%", "shrunk", "pairs", "group"]
    assert lines[3].split()[:3] == ["1", "patient", "1"]
    assert max(map(len, lines)) <= 80
    shown = club("league", "show", "club").stdout.splitlines()
    assert shown == lines[2:]
    assert "This is after round 2" in shown[-1]
    done = club("league", "withdraw", "club", "patient", "--by", "patient")
    assert done.stdout == "patient 1 is withdrawn\n"
    history = club("league", "show", "club", "patient").stdout.splitlines()
    history = [line for line in history if not line.startswith("  like ")]
    assert history[0].endswith("withdrawn")
    assert history[1].split() == ["elo", "95", "%"]
    assert [line.split()[:2] for line in history[2:]] == [["round", "1"], ["round", "2"]]


@pytest.mark.slow
def test_every_verb_of_a_run_takes_a_league(club: Arena) -> None:
    """Its games are one run; what is verified is its games, as it has no files of a run."""
    assert club("league", "play", "club", "--games", "40", "--quiet").returncode == 0
    for words in (("show", "club"), ("rate", "club"), ("export", "club", "-o", "games.jsonl")):
        assert club(*words).returncode == 0
    for more in ([], ["--fresh"]):
        done = club("play", "greedy", "uniform", "--out", "club", *more)
        assert done.stderr == "error: club: a league, whose games are kept; choose a new folder\n"
    assert "games: 40 replayed" in club("verify", "club", "--sample", "1").stdout


@pytest.mark.slow
def test_every_command_has_one_json_document(club: Arena, tmp_path: Path) -> None:
    """And nothing else on standard output."""
    new = json.loads(club("league", "new", "other", "--lane", "process", "--json").stdout)
    assert (new["folder"], new["lane"], len(new["panel"])) == ("other", "process", 6)
    bot = "greedy(patience=3)"
    words = ("league", "submit", "club", bot, "--name", "mine", "--by", "Ann", "--json")
    version = json.loads(club(*words).stdout)
    assert (version["accepted"], version["version"]) == (True, 1)
    again = club(*words)
    assert again.returncode == 1
    assert json.loads(again.stdout)["why"] == "the same as mine 1 of Ann"
    played = json.loads(club("league", "play", "club", "--games", "40", "--json").stdout)
    assert (played["rounds"], played["games"], played["round"]) == (1, 40, 1)
    shown = json.loads(club("league", "show", "club", "--json").stdout)
    assert {**shown, "rounds": 1, "games": 40} == played
    assert {one["bot"] for one in shown["standings"]} == {"mine", *NEW[-1].split(",")}
    history = json.loads(club("league", "show", "club", "mine", "--json").stdout)
    assert [one["number"] for one in history["versions"]] == [1]
    assert history["refusals"][0]["why"] == "the same as mine 1 of Ann"
    assert club("report", "club").stdout == "report in club/site/index.html\n"
    assert (tmp_path / "club" / "site" / "index.html").is_file()
    gone = json.loads(club("league", "withdraw", "club", "mine", "--json").stdout)
    assert gone == {"bot": "mine", "version": 1, "state": "withdrawn"}


@pytest.mark.slow
def test_a_bot_that_fails_the_check_is_refused_with_status_1(club: Arena, tmp_path: Path) -> None:
    """Its owner sees why, also later; by default it has its file's name, and no other path."""
    (tmp_path / "bare.py").write_text("bott = 1\n")
    done = club("league", "submit", "club", "bare.py")
    assert " bare.py does not bind `bot`; `arena check` of the file" in done.stderr
    assert str(tmp_path) not in done.stderr
    (tmp_path / "bad.py").write_text("1 / 0\n")
    done = club("league", "submit", "club", "bad.py", "--name", "bad")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("refused: the check failed: imports: ")
    assert "ZeroDivisionError" in done.stderr
    history = club("league", "show", "club", "bad").stdout
    assert "ZeroDivisionError" in history


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("new", "a", "--lane", "process", "--panel", ","), "--panel: ',' has an empty place"),
        (("show", "x" * 5000), "` makes one"),
        (("show", "nowhere"), "nowhere: no league there; `arena league new nowhere` makes one"),
        (("new", "club"), "club: there is something already"),
        (("new", "a", "--lane", "process", "--panel", "gredy"), "panel[0]: 'gredy' is not"),
        (("new", "a", "--lane", "process", "--target", "0"), "target: expected `float` >= 1"),
        (("new", "a", "--rules", '{"rounds": 100}'), "--rules: "),
        (("submit", "club", "none.py", "--name", "x"), "bot 'none.py': no such file"),
        (("submit", "club", "greedy", "--name", "../x"), "name '../x': '/' is not one of A-Z"),
        (("submit", "club", "greedy(patience=3)", "--name", "x", "--by", "a\nb"), "owner 'a\\nb'"),
        (("submit", "club", "greedy(patience=3)", "--name", "x", "--by", "Ann "), "owner 'Ann '"),
        (("submit", "club", "greedy"), "bot 'greedy': no file; say with --name"),
        (("play", "club", "--games", "9", "--seconds", "3"), "choose one of them"),
        (("play", "club", "--seconds", "0"), "--seconds: 0 is not a number above 0"),
        (("play", "club", "--seconds", "nan"), "--seconds: nan is not a number above 0"),
        (("play", "club", "--executor", "moon"), "--executor"),
        (("withdraw", "club", "nobody"), "no bot 'nobody' in this league"),
        (("withdraw", "club", "greedy"), "greedy: it is of the panel, which stays"),
        (("show", "club", "nobody"), "no bot 'nobody' in this league"),
        (("host", "club", "--workers", "0"), "--workers"),
        (("host", "club", "--port", "70000"), "70000"),
        (("host", "club", "--host", "me", "--port", "0"), "--host me --port 0: "),
        (("invite", "nowhere", "Ann"), "no league there"),
        (("invite", "club", "a/b"), "owner 'a/b': 1 to 60 of"),
        (("invite", "club", "arena"), "of the panel"),
        (("invite", "club", "Zed", "--revoke"), "no token was given"),
        (("chow", "club"), "No such command 'chow'"),
    ],
)
def test_a_mistake_is_one_line_with_status_2(club: Arena, words: tuple[str, ...], why: str) -> None:
    """Which names the thing and the place; nothing is lost."""
    before = club("league", "show", "club").stdout
    done = club("league", *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert why in line
    assert club("league", "show", "club").stdout == before


def test_a_token_is_shown_once(club: Arena) -> None:
    """The list has owners and times, and no token."""
    tokens = json.loads(club("league", "invite", "club", "Ann", "Bob B.", "--json").stdout)[
        "tokens"
    ]
    assert [*tokens] == ["Ann", "Bob B."]
    assert len({*tokens.values()}) == 2
    shown = club("league", "invite", "club").stdout
    assert shown.count("since") == 2
    assert not any(token in shown for token in tokens.values())
    assert club("league", "invite", "club", "Ann", "--revoke").stdout == "Ann: revoked\n"
    assert "Ann" not in club("league", "invite", "club").stdout
