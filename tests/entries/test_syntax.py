"""What a source says of itself: parsed once, and by one thread at a time."""

from __future__ import annotations

import ast
import os
import threading

import pytest

from arena.entries import syntax
from arena.entries.catalogue import catalogue
from arena.entries.resolve import resolve
from arena.entries.syntax import parse_source, read_outline
from tests.threads import changing_places

NESTED = "\n".join(f"x{n} = [a + b * (c - {n}) for a in (1, 2, (3, 4))]" for n in range(50))


@pytest.mark.slow
def test_threads_that_parse_do_not_disturb_each_other() -> None:
    """Python 3.11 ends in a SystemError where two threads are in `ast.parse` at once."""
    failures: list[BaseException] = []

    def parse_often() -> None:
        try:
            for _ in range(5):
                parse_source(NESTED)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=parse_often) for _ in range(8)]
    with changing_places():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_source_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the list of bots nor a bot that imports others is parsed again."""
    before = catalogue(), resolve("champion").sha256
    monkeypatch.setattr(syntax, "make_outline", None)
    assert (catalogue(), resolve("champion").sha256) == before


def test_another_source_is_another_outline() -> None:
    """What counts is the content: a file that was changed is read as it is now."""
    assert read_outline(b"'one'").summary == "one"
    assert read_outline(b"'two'\nfrom bots import greedy").bots == ("greedy",)
    assert read_outline(b"'one'").summary == "one"


def test_a_source_that_does_not_compile_says_so_and_imports_nothing() -> None:
    """Also one that is nested too deep."""
    for source in (b"from bots import greedy\nif", b"\0", b"(" * 5000, b"# coding: none\n"):
        outline = read_outline(source)
        assert outline.summary.startswith("(cannot be read: ")
        assert outline.bots == ()


def test_sources_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may see any number of them."""
    monkeypatch.setattr(syntax, "_kept", {})
    for number in range(syntax._MOST_KEPT + 1):
        read_outline(b"%d" % number)
    assert len(syntax._kept) == 1


def test_a_forked_process_waits_for_no_thread_of_its_parent() -> None:
    """The thread that held the lock is not in the child."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with syntax._lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(not (syntax._lock.acquire(timeout=0) and isinstance(parse_source(""), ast.Module)))
    done.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0
