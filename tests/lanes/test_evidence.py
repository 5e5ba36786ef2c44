"""Text that is new in every run or process is replaced, and nothing else."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.entries.resolve import resolve
from arena.lanes.evidence import Output
from arena.lanes.faults import Forfeit, forfeit_from, settle
from arena.lanes.host import Host
from arena.lanes.messages import Answer
from arena.lanes.process import TOO_MANY, BotProcess
from arena.lanes.temp_and_cache_folders import scratch_folder


def test_addresses_and_numbers_of_a_process_are_replaced() -> None:
    """Those of objects, threads and descriptors."""
    assert settle(repr(object())) == "<object object at 0x...>"
    assert settle(hex(id(object()))) == "0x..."
    thread = threading.Thread(target=print)
    thread.start()
    thread.join()
    assert settle(repr(thread)) == "<Thread(Thread-... (print), stopped ...)>"
    with socket.socket() as opened:
        assert "fd=..., " in settle(repr(opened))
    for text in ("hand 0x1f, pack 0xbeef", "at 5T, 7 and 12", "tmpfile", "Task force"):
        assert settle(text) == text


def test_temporary_folders_are_replaced() -> None:
    """The folder of a run, of its worker and of a bot; and names that Python has made up."""
    with scratch_folder() as folder:
        for inner in (folder, folder / "worker-1", folder / "worker-12" / "bot-3"):
            assert settle(f"no file '{inner}/a/b'") == "no file '<folder>/a/b'"
        for worker in (folder, folder / "worker-3", folder / "bot-ab_cd7x1"):
            layout = resolve("greedy").layout(worker)
            assert settle(f'File "{layout.folder}/bots/greedy.py"') == 'File "bots/greedy.py"'
            assert settle(f"at file://{layout.folder}/lib/a.js:3") == "at file://lib/a.js:3"
    path = tempfile.mkdtemp()
    os.rmdir(path)
    assert settle(path) == str(Path(path).parent / "tmp...")
    assert settle("/tmp/mine/worker-1") == "/tmp/mine/worker-1"


def test_text_is_cut_after_it_is_settled() -> None:
    """Folders with names of several lengths leave the same end."""
    ends = set()
    for worker in ("worker-1", "worker-100"):
        line = f"/tmp/noir-arena-0/run-01234567/{worker}/bot-0 {'x' * 20}\n"
        fault = Forfeit("exception", line * 99, line * 999, line * 999).fault
        assert len(fault.message) <= 200
        assert len(fault.traceback) == len(fault.output) == 2000
        ends.add(fault)
    assert len(ends) == 1


@pytest.mark.slow
def test_settling_takes_no_longer_than_the_text_is_long() -> None:
    """No pattern looks at a part of the text again and again."""
    for part in (
        "x",
        "/",
        "/x",
        "0x1",
        "tmp",
        "Thread-",
        "/noir-arena-0",
        "/noir-arena-0/run-",
    ):
        Forfeit("exception", part * 10**6, part * 10**6, part * 10**6)


def recurse_in_turn(depth: int) -> None:
    """Recurse by another function."""
    recurse_back(depth)


def recurse_back(depth: int) -> None:
    """Recurse by the first function."""
    recurse_in_turn(depth + 1)


def recurse_by_key(_depth: int) -> None:
    """Recurse in the key of a sort."""
    sorted([1, 2], key=recurse_by_key)


def convert(depth: int) -> None:
    """Raise another exception from a deep recursion."""
    try:
        recurse_in_turn(depth)
    except RecursionError:
        raise ValueError("too deep") from None


def fault_at(depth: int, call: Callable[[int], None]) -> tuple[str, ...]:
    """Return the fault of a call that is made so many frames deeper."""
    if depth:
        return fault_at(depth - 1, call)
    with pytest.raises((RecursionError, ValueError)) as caught:
        call(0)
    frames = caught.tb.tb_next
    return forfeit_from(caught.value.with_traceback(frames)).fault


@pytest.mark.parametrize("call", [recurse_in_turn, recurse_by_key, convert])
def test_a_deep_recursion_is_reported_without_its_depth(call: Callable[[int], None]) -> None:
    """Each place once, in order, wherever the recursion begins and ends."""
    faults = {fault_at(depth, call) for depth in range(4)}
    assert len(faults) == 1
    _, message, text, _ = faults.pop()
    if call is convert:
        assert message == "ValueError: too deep"
        return
    assert message == "RecursionError: maximum recursion depth exceeded"
    assert "  [and so on]" in text
    assert text.count("in recurse_back") == (call is recurse_in_turn)


def test_an_exception_of_a_bot_has_no_name_of_our_module() -> None:
    """Its author wrote another one."""
    own = type("Oops", (Exception,), {"__module__": "_arena_bot_mine_fd79f098e25d"})
    assert forfeit_from(own("no card")).fault.message == "Oops: no card"
    assert forfeit_from(OSError("no file")).fault.message == "OSError: no file"


def test_a_traceback_that_is_not_deep_is_pythons_own() -> None:
    """With its causes and contexts."""
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise RecursionError("my own words") from error
    except RecursionError as error:
        lines = "".join(traceback.format_exception(error))
        text = forfeit_from(error).fault.traceback
    assert text == lines.replace(f"{Path(__file__).parents[2]}/", "")


@pytest.mark.filterwarnings("default")
def test_output_takes_its_place_again_where_a_bot_has_left_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Standard output and error, by all their names; only if it was captured before."""
    names = ("stdout", "stderr", "__stdout__", "__stderr__")
    for name in names:
        monkeypatch.setattr(sys, name, None)
    output = Output()
    output.stay()
    assert sys.stdout is None
    output.capture()
    sys.stdout = None
    output.stay()
    assert {getattr(sys, name) for name in names} == {output}


def test_a_bot_that_leaves_no_room_has_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """In short, as what describes it cannot be imported without memory or open files."""
    monkeypatch.setitem(sys.modules, "arena.lanes.faults", None)
    told = [Host(Output()).report(one, "exception") for one in (MemoryError(), OSError(24))]
    assert [one["kind"] for one in told] == ["memory", "exception"]
    assert [one["error"] for one in told] == ["MemoryError", "OSError"]


def test_what_a_program_says_of_itself_ends_it_unless_it_can_go_on() -> None:
    """It may not say everything; what its processes were told is said of those here only."""
    process: Any = BotProcess.__new__(BotProcess)
    ended: list[Forfeit] = []
    process.launch, process._process = SimpleNamespace(hosted=True), None
    process._kill_for = lambda forfeit: ended.append(forfeit) or forfeit
    for kind in ("illegal", "exception", "memory", "timeout", "crash"):
        process._refusal(Answer(id=1, error="no", kind=kind))
    assert [forfeit.fault.kind for forfeit in ended] == ["memory", "timeout"]
    told = Answer(id=1, error="can't start new thread", kind="exception")
    assert process._refusal(told).fault.message == "can't start new thread"
    process._process = 1
    assert process._refusal(told).fault.message == f"can't start new thread: {TOO_MANY}"
