"""The progress of a run: on a terminal, in a log file, and without standard error."""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Iterator

import pytest

from arena.runs import progress_bar
from arena.runs.progress_bar import show_progress
from tests.screen import Screen, terminal
from tests.waiting import until

HEAD = "rank  bot"


def standings(rows: int = 20) -> list[str]:
    """Return lines of 80 characters, which are too many for some terminals."""
    return [HEAD, *(f"{rank:>4}  {'b' * 74}" for rank in range(1, rows + 1))]


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "LINE_EVERY", 0.01)
    monkeypatch.setattr(progress_bar, "TABLE_EVERY", 0.01)
    monkeypatch.setattr(progress_bar, "DRAW_EVERY", 0.01)


@pytest.fixture
def log() -> Iterator[logging.StreamHandler[io.StringIO]]:
    """Return the handler that shows the log on standard error."""
    handler = logging.StreamHandler(io.StringIO())
    yield handler
    handler.close()


def say(handler: logging.StreamHandler[io.StringIO], text: str) -> None:
    handler.handle(logging.LogRecord("arena", logging.WARNING, "", 0, text, None, None))


def test_without_standard_error_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose standard error is closed has None in its place."""
    monkeypatch.setattr(sys, "stderr", None)
    with show_progress(10, 0, standings) as progressed:
        progressed.add(10)


@pytest.mark.parametrize(
    ("lines", "columns", "shown"), [(24, 80, 12), (100, 200, 12), (8, 50, 5), (5, 80, 2)]
)
def test_on_a_terminal_the_standings_are_under_the_bar_and_nothing_is_left(
    monkeypatch: pytest.MonkeyPatch,
    log: logging.StreamHandler[io.StringIO],
    lines: int,
    columns: int,
    shown: int,
) -> None:
    """As many rows as there is room for, cut to its width; what was there before stays."""
    with terminal(monkeypatch, lines, columns) as screen:
        print("before", file=sys.stderr)
        with show_progress(1000, 100, standings, log, shown=True) as progressed:
            progressed.add(400)
            expected = [line[: columns - 1] for line in standings()[:shown]]
            until(lambda: screen.text()[-shown:] == expected)
            until(lambda: "500/1000" in screen.text()[-shown - 1])
    assert screen.text() == ["before"]


def test_after_ctrl_c_the_last_state_stays(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """It is fresh, and what is said then stands below it."""
    rows = [HEAD]

    def interrupted(screen: Screen) -> None:
        with show_progress(1000, 0, lambda: [*rows], log, shown=True, at_most=True) as progressed:
            until(lambda: HEAD in screen.text())
            progressed.add(300)
            monkeypatch.setattr(progress_bar, "TABLE_EVERY", 3600.0)
            time.sleep(0.05)  # the last one that was due is drawn
            rows.append("   1  a")
            raise KeyboardInterrupt

    with terminal(monkeypatch, 24, 80) as screen:
        with pytest.raises(KeyboardInterrupt):
            interrupted(screen)
        print("interrupted", file=sys.stderr)
    bar, *rest = screen.text()
    assert bar.startswith("300 of at most 1,000 games, ")
    assert "left" not in bar
    assert rest == [HEAD, "   1  a", "interrupted"]


def test_after_ctrl_c_a_bar_without_a_state_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of `arena verify`."""

    def interrupted(screen: Screen) -> None:
        with show_progress(1000):
            until(lambda: "0/1000" in screen.text()[0])
            raise KeyboardInterrupt

    with terminal(monkeypatch, 24, 80) as screen, pytest.raises(KeyboardInterrupt):
        interrupted(screen)
    assert screen.text() == [""]


def test_after_ctrl_c_a_log_has_the_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the next line was not due."""
    monkeypatch.setattr(progress_bar, "LINE_EVERY", 3600.0)
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)

    def interrupted() -> None:
        with show_progress(1000, 0, lambda: ["16 pairs"]) as progressed:
            progressed.add(32)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    (line,) = errors.getvalue().splitlines()
    assert line.startswith("32 of 1,000 games, ")
    assert line.endswith("; 16 pairs")


@pytest.mark.parametrize("lines", [3, 4])
def test_on_a_low_terminal_there_is_only_the_bar(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO], lines: int
) -> None:
    """A head without a row under it says nothing."""
    asked: list[None] = []

    def counted() -> list[str]:
        asked.append(None)
        return standings()

    with terminal(monkeypatch, lines, 80) as screen:
        print("before", file=sys.stderr)
        with show_progress(1000, 0, counted, log, shown=True) as progressed:
            progressed.add(10)
            until(lambda: len(asked) > 2)
            until(lambda: "10/1000" in screen.text()[1])
            assert len(screen.text()) == 2
    assert screen.text() == ["before"]


def test_a_wide_label_takes_one_line(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """A character that takes two columns is counted as two."""
    rows = [HEAD, "日" * 60, "the next line"]
    with terminal(monkeypatch, 24, 80) as screen:
        print("before", file=sys.stderr)
        with show_progress(10, 0, lambda: rows, log, shown=True):
            until(lambda: screen.text()[-1] == "the next line")
            assert screen.text()[-2] == "日" * 39
    assert screen.text() == ["before"]


def test_the_log_is_shown_above_the_bar(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """Its lines stay when the bar is gone, and later ones go to the stream from before."""
    with terminal(monkeypatch, 24, 80) as screen:
        with show_progress(1000, 0, standings, log, shown=True):
            until(lambda: HEAD in screen.text())
            say(log, "x is out after 10 faults")
            until(lambda: screen.text()[0] == "x is out after 10 faults")
            until(lambda: screen.text()[2] == HEAD)
        say(log, "later")
    assert screen.text() == ["x is out after 10 faults"]
    assert log.stream.getvalue() == "later\n"


def test_on_a_terminal_that_cannot_move_the_cursor_there_is_only_the_bar(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """TERM=dumb says so; no control character but the carriage return is written."""
    asked: list[None] = []
    with terminal(monkeypatch, 24, 80) as screen:
        monkeypatch.setenv("TERM", "dumb")
        with show_progress(10, 0, lambda: asked.append(None) or [], log, shown=True) as progressed:
            progressed.add(5)
            until(lambda: "5/10" in screen.text()[0])
    assert not asked


def test_without_a_terminal_there_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """It counts the games from before, also while the first game has not ended."""
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    with show_progress(1000, 100, lambda: ["a state"], log, shown=True) as progressed:
        until(lambda: "100 of 1,000 games, none finished yet in 0 s; a" in errors.getvalue())
        progressed.add(400)
        until(lambda: "500 of 1,000 games, " in errors.getvalue())
        until(lambda: errors.getvalue().endswith(" left; a state\n"))
    ended = errors.getvalue()
    assert all(line.count(" games, ") == 1 for line in ended.splitlines())


def test_when_only_errors_are_shown_there_is_no_line(
    monkeypatch: pytest.MonkeyPatch, log: logging.StreamHandler[io.StringIO]
) -> None:
    """--quiet: no thread is started that could print one."""
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setattr(progress_bar, "_repeat_action", None)
    with show_progress(1000, 0, standings, log, shown=False) as progressed:
        progressed.add(400)
    assert errors.getvalue() == ""
