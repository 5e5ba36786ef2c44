"""Faults of the table: who is let in, what is shown, and what a person is sent."""

from __future__ import annotations

from tests.drill.fault import Fault

TABLE = [
    Fault(
        "a site whose name leads to 127.0.0.1 let in",
        "arena/table/guard.py",
        'if headers.getlist("host") not in [[host] for host in self._hosts]:',
        'if not headers.getlist("host"):',
        "tests/table/test_guard.py::test_another_host_is_refused",
    ),
    Fault(
        "another site let in that has the cookie",
        "arena/table/guard.py",
        'if headers.get("origin", f"http://{host}") != f"http://{host}":',
        'if headers.get("origin", "http:").partition(":")[0] != "http":',
        "tests/table/test_guard.py::test_another_origin_is_refused_everywhere",
    ),
    Fault(
        "a request without an origin that changes something",
        "arena/table/guard.py",
        'if scope["method"] not in _NEVER_CHANGES and "origin" not in headers:',
        'if scope["method"] == "DELETE" and "origin" not in headers:',
        "tests/table/test_guard.py::test_what_changes_something_needs_an_origin",
    ),
    Fault(
        "an address that works again and again",
        "arena/table/guard.py",
        "self._unused.pop(one)()",
        "self._unused[one]()",
        "tests/table/test_guard.py::test_an_address_lets_one_browser_in",
    ),
    Fault(
        "an address in the browser's command line",
        "arena/cli/person.py",
        "args=(page.as_uri(),)",
        "args=(page.read_text().split('url=')[1].partition('\"')[0],)",
        "tests/table/test_strangers.py::test_nobody_finds_the_address_while_it_is_opened",
    ),
    Fault(
        "an address that serves another user",
        "arena/table/guard.py",
        "return ours is None or theirs not in (ours, _ROOT)",
        "return False",
        "tests/table/test_strangers.py::test_a_stranger_is_neither_the_owner_nor_root",
    ),
    Fault(
        "a game under way that another table may take up",
        "arena/table/journal.py",
        "fcntl.flock(file, kind | fcntl.LOCK_NB)",
        "pass",
        "tests/table/test_interrupted.py::test_two_tables_do_not_play_the_same_game",
    ),
    Fault(
        "half an action believed",
        "arena/table/journal.py",
        r'not line.endswith(b"\n") or ',
        "",
        "tests/table/test_journal.py::test_a_line_that_is_cut_loses_only_itself",
    ),
    Fault(
        "a bot that plays otherwise after an interruption",
        "arena/table/session.py",
        "if now != former:",
        "if now != former and False:",
        "tests/table/test_person_interrupted.py::test_a_bot_that_plays_otherwise_now_ends_the_game",
    ),
    Fault(
        "bots parsed side by side",
        "arena/entries/syntax.py",
        "    with _lock:  # threads",
        "    if True:  # threads",
        "tests/table/test_looking_up.py::test_requests_that_come_side_by_side_are_all_answered",
    ),
    Fault(
        "a report that is a link followed",
        "arena/table/shelf.py",
        "os.O_RDONLY | os.O_NOFOLLOW",
        "os.O_RDONLY",
        "tests/table/test_looking_up.py::test_a_report_that_is_a_link_is_not_followed",
    ),
    Fault(
        "hidden folders among the runs",
        "arena/table/shelf.py",
        'if not part or part.startswith(".") or',
        'if not part or part in (".", "..") or',
        "tests/table/test_looking_up.py::test_no_name_leads_out_of_the_results",
    ),
    Fault(
        "the bot's hand sent to the page",
        "arena/table/page_games.py",
        "make_frames([(one,) for one in look_back(seen)])",
        "[*make_frames([(one,) for one in look_back(seen)]), str(self.recorded.state.hands)]",
        "tests/table/test_playing.py::test_no_byte_depends_on_what_the_person_cannot_know",
    ),
    Fault(
        "a game that was left and still asks",
        "arena/table/page_games.py",
        "            self._awaited = None\n        self._answers.put(None)",
        "            pass\n        self._answers.put(None)",
        "tests/table/test_playing.py::test_a_hint_is_what_the_champion_would_do",
    ),
]
