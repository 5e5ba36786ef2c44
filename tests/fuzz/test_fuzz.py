"""Any input is used, or refused with one printable line, in bounded work."""

from __future__ import annotations

import socket
import tempfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.entries.resolve import resolve
from arena.lanes.evidence import Output
from arena.lanes.host import Host, serve
from arena.lanes.messages import End, New, encode, hello
from engine import STANDARD
from tests.fuzz import strategies, targets
from tests.fuzz.campaign import campaign, seconds


def examples(most: int) -> settings:
    """Return the settings of a test with so many examples, the same each time."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
    return settings(
        max_examples=most,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=slow,
    )


@pytest.mark.slow
@given(strategies.configs)
@examples(60)
def test_a_config_is_read_or_refused(content: bytes) -> None:
    """Its bots are resolved, too."""
    with targets.bounded():
        targets.try_config(content)


@pytest.mark.slow
@given(strategies.specs)
@examples(60)
def test_a_spec_is_resolved_or_refused(text: str) -> None:
    """Also as the spec of a person."""
    with targets.bounded():
        targets.try_spec(text)


@pytest.mark.slow
@given(strategies.records)
@examples(40)
def test_a_record_is_judged_and_shown_or_refused(content: bytes) -> None:
    """A judgement is a line of printable characters."""
    with targets.bounded():
        targets.try_records(content)


@pytest.mark.slow
@given(strategies.stores)
@examples(12)
def test_a_store_is_read_or_refused(changes: list[targets.Change]) -> None:
    """By `verify`, and by a run that goes on."""
    with targets.bounded():
        targets.try_store(changes)


@pytest.mark.slow
@given(strategies.answers)
@examples(8)
def test_what_a_program_answers_is_played_or_a_fault(content: bytes) -> None:
    """The fault has a kind, and evidence that can be kept."""
    targets.try_answers(content)


@given(st.lists(st.integers(1, 400), max_size=12))
@examples(30)
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
