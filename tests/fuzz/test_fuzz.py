"""Any input is used, or refused with one printable line, in bounded work."""

from __future__ import annotations

import socket
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.entries.resolve import resolve
from arena.lanes.evidence import Output
from arena.lanes.host import Host, serve
from arena.lanes.messages import End, New, encode, hello
from engine import STANDARD
from tests.fuzz.__main__ import TARGETS, attempt, campaign, seconds

MOST = {"configs": 60, "specs": 60, "records": 40, "stores": 12, "answers": 8}
"""How many inputs of each kind are tried, the same ones each time."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_used_or_refused(name: str) -> None:
    """Configs, specs, records, stores of runs that go on, and what a program answers."""
    assert attempt(name, 0, MOST[name]) >= MOST[name] // 2


@given(st.lists(st.integers(1, 400), max_size=12))
@settings(max_examples=30, deadline=None, derandomize=True, database=None)
def test_our_host_reads_lines_in_whatever_pieces_they_come(cuts: list[int]) -> None:
    """Each message has one answer, with its id."""
    entry = resolve("uniform")
    messages = [hello(entry, STANDARD, None)]
    for game in range(3):
        limits = {"seconds_per_decision": None, "seconds_per_game": None}
        messages += [New(game=game, seat=0, seed="0" * 32, **limits), End(game=game)]
    for number, message in enumerate(messages):
        message.id = number
    first, *others = map(encode, messages)
    text = b"".join([first, *others])
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs, tempfile.TemporaryFile() as answers:
        for piece in cuts:
            ours.send(text[:piece])
            text = text[piece:]
        ours.send(text)
        ours.shutdown(socket.SHUT_WR)
        serve(Host(Output()), theirs.fileno(), answers.fileno())
        answers.seek(0)
        lines = answers.read().splitlines()
    assert [line.partition(b",")[0].strip(b"}") for line in lines] == [
        b'{"id":%d' % number for number in range(len(messages))
    ]


@pytest.mark.study
def test_an_hour_of_random_input_finds_nothing() -> None:
    """Or as many seconds as ARENA_FUZZ_SECONDS says; the inputs are counted."""
    counts = campaign(seconds())
    print(counts)
    assert min(counts.values()) > 0
