"""What a fault shows is the same in every run; what the machine refuses is no bot's fault."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.entries.layout import Layout
from arena.entries.resolve import resolve
from arena.entries.zipped import open_zip
from arena.errors import Exhausted, InputError, blaming_machine
from arena.lanes import jail_support
from arena.lanes.evidence import Output
from arena.lanes.faults import Forfeit, forfeit_from, settle
from arena.lanes.host import Host
from arena.lanes.jail_support import require_jail
from arena.lanes.launch import Launch
from arena.lanes.limits import Limits
from arena.lanes.messages import Answer
from arena.lanes.process import TOO_MANY, BotProcess, bot_process
from arena.lanes.temp_and_cache_folders import scratch_folder
from engine import STANDARD
from tests import ROOT
from tests.runs.test_rogues import needs_jail
from tests.tiers import few


def test_what_differs_between_runs_is_replaced() -> None:
    """Addresses of objects, numbers of threads and descriptors, folders of a run and of Python."""
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


def test_an_exception_of_a_bot_is_told_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without our module's name; in short where nothing can be imported; a forfeit stays one."""
    own = type("Oops", (Exception,), {"__module__": "_arena_bot_mine_fd79f098e25d"})
    assert forfeit_from(own("no card")).fault.message == "Oops: no card"
    assert forfeit_from(OSError("no file")).fault.message == "OSError: no file"
    told = Forfeit("timeout", "late")
    assert forfeit_from(told) is told
    monkeypatch.setitem(sys.modules, "arena.lanes.faults", None)
    short = [Host(Output()).report(one, "exception") for one in (MemoryError(), OSError(24))]
    assert [one["kind"] for one in short] == ["memory", "exception"]
    assert [one["error"] for one in short] == ["MemoryError", "OSError"]


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
def test_output_takes_its_place_again_after_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_a_program_says_of_itself_ends_it_unless_it_can_go_on() -> None:
    """It may not say everything; what its processes were told is said of those here only."""
    process: Any = BotProcess.__new__(BotProcess)
    ended: list[Forfeit] = []
    process.launch, process._process = SimpleNamespace(hosted=True), None
    process._kill_for = lambda forfeit: ended.append(forfeit) or forfeit
    for kind in ("illegal", "exception", "memory", "timeout", "crash"):
        process._refusal(Answer(id=1, error="no", kind=kind))
    assert [forfeit.fault.kind for forfeit in ended] == ["memory", "timeout"]
    assert TOO_MANY == "started more than 32 processes"
    told = Answer(id=1, error="can't start new thread", kind="exception")
    assert process._refusal(told).fault.message == "can't start new thread"
    process._process = 1
    assert process._refusal(told).fault.message == f"can't start new thread: {TOO_MANY}"


HEAD = f"""
import os, socket, subprocess, sys
from pathlib import Path
sys.path.insert(0, {str(ROOT)!r})
import arena.check.trial
from arena.entries.resolve import resolve
from arena.executors import worker_process
from arena.lanes.launch import Program
from arena.lanes.limits import Limits
from arena.lanes.process import bot_process
from arena.processes import adopt_orphans, find_children
from arena.tournament.tournament import Tournament
from engine import STANDARD

def start_bot(lane="process", **program):
    entry = resolve("greedy", lane=lane)
    with bot_process(entry, STANDARD, Limits(), Path("own").absolute(), **program) as process:
        process.start()

"""
STARTS = {
    "bot": "start_bot()",
    "trial": "start_bot(program=arena.check.trial.__name__)",
    "worker": """
ours, theirs = socket.socketpair()
memory, head = os.memfd_create("progress"), os.memfd_create("head")
os.ftruncate(memory, 4096)
os.write(head, worker_process.write_head(Tournament("own", 0, 1, [], STANDARD, Limits())))
Path("own").mkdir()
program = worker_process.start(theirs.fileno(), memory, head, Path("own").absolute())
theirs.close()
ours.close()
assert program.wait() == 0, program.last_words()
""",
}


def run_code(python: Path | str, folder: Path, code: str) -> str:
    """Return what a Python prints that runs this code."""
    words = [python, "-P", "-c", HEAD + code]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python where another arena is installed, and the libraries of this one."""
    home = tmp_path_factory.mktemp("other")
    executable = Path(sys.executable)
    (home / "pyvenv.cfg").write_text(f"home = {executable.resolve().parent}\n")
    (home / "bin").mkdir()
    (home / "bin" / "python").symlink_to(executable.resolve())
    packages = home / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    for name in ("arena", "engine"):
        (packages / name).mkdir(parents=True)
        (packages / name / "__init__.py").write_text("raise ImportError('the other arena')\n")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


@pytest.mark.parametrize("name", few(STARTS))
def test_a_program_finds_the_arena_that_runs(tmp_path: Path, python: Path, name: str) -> None:
    """The one that is installed raises as it is imported."""
    run_code(python, tmp_path, STARTS[name])


LACKS = (errno.EAGAIN, errno.ENOMEM, errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.EDQUOT)


def refusing(number: int) -> Callable[..., None]:
    """Return a function that fails as one of the system does."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def start(folder: Path, words: list[str] | None = None) -> None:
    """Start a bot in the lane process, with these words in place of those that confine it."""
    with bot_process(resolve("greedy", lane="process"), STANDARD, Limits(), folder) as process:
        if words:
            process.launch = process.launch._replace(words=words)
        process.start()


@pytest.mark.parametrize("number", LACKS)
def test_a_process_that_the_machine_refuses_is_nobodys_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whatever it lacks; a program that does not exist is still the bot's fault."""
    monkeypatch.setattr(Launch, "popen", refusing(number))
    with pytest.raises(Exhausted, match=os.strerror(number)):
        start(tmp_path)
    monkeypatch.setattr(Launch, "popen", refusing(errno.ENOENT))
    with pytest.raises(Forfeit, match="cannot be started"):
        start(tmp_path)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("echo 'bwrap: Creating new namespace failed: Resource temporarily unavailable' >&2", ""),
        ("exit 1", ""),
        ("read line; echo 'bwrap: Creating new namespace failed' >&2; exit 1", "import"),
    ],
)
def test_a_fault_before_its_program_is_not_the_bots(tmp_path: Path, script: str, kind: str) -> None:
    """Its input says so, which no bot can write back: its words would prove nothing."""
    with pytest.raises(Forfeit if kind else Exhausted) as raised:
        start(tmp_path, ["sh", "-c", script])
    if isinstance(raised.value, Forfeit):
        assert raised.value.fault.kind == kind
    elif "bwrap" in script:
        assert "Creating new namespace failed: Resource temporarily" in str(raised.value)


@needs_jail
def test_a_jail_that_cannot_be_made_is_not_the_bots_fault(tmp_path: Path) -> None:
    """Its first process reads the last part of its input as the last thing before the bot."""
    with bot_process(resolve("greedy", lane="jail"), STANDARD, Limits(), tmp_path) as process:
        launch = process.launch
        for place in (1, launch.words.index("--")):
            words = [*launch.words]
            words[place:place] = ["--ro-bind", "/not/there", "/x"]
            process.launch = launch._replace(words=words)
            with pytest.raises(Exhausted, match="/not/there"):
                process.start()
        process.launch = launch._replace(words=[*launch.words[:-1], "/not/there.py"])
        with pytest.raises(Forfeit):
            process.start()


def test_what_a_machine_lacks_is_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A jail, space, a process for a zip, memory, threads; a bad name of a file is a fault."""

    def refuse() -> str:
        raise InputError("lane jail: Resource temporarily unavailable")

    monkeypatch.setattr(jail_support, "find_bubblewrap", refuse)
    with pytest.raises(Exhausted, match="Resource temporarily unavailable"):
        require_jail()
    layout = Layout(tmp_path / "files", "mine", lambda: {"bot.py": b""})
    for number, kind in ((errno.ENOSPC, Exhausted), (errno.ENAMETOOLONG, ImportError)):
        monkeypatch.setattr(Path, "write_bytes", refusing(number))
        with pytest.raises(kind, match=os.strerror(number)):
            layout.renew()
    monkeypatch.setattr("arena.processes.Child", refusing(errno.EAGAIN))
    with pytest.raises(Exhausted, match="no process can be started: Resource temporarily"):
        open_zip(b"nobody has read this")
    for error in (MemoryError(), RuntimeError("can't start new thread")):
        with pytest.raises(Exhausted, match="a check: "), blaming_machine("a check"):
            raise error
    with pytest.raises(RuntimeError, match="other"), blaming_machine("a check"):
        raise RuntimeError("other")


BORN = {
    "program": """
child = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"
program = Program(child + "; print(flush=True); import time; time.sleep(1000)", stdout=-1)
program.stdout.readline()
program.end()
""",
    "jail": 'start_bot("jail")',
}


@pytest.mark.parametrize("what", ["program", pytest.param("jail", marks=needs_jail)])
def test_who_kills_a_process_waits_for_all_below_it(tmp_path: Path, what: str) -> None:
    """The first process of a jail is left to who adopts it: one for each start of a bot."""
    code = f"adopt_orphans()\n{BORN[what]}\nprint(find_children(os.getpid()))"
    assert run_code(sys.executable, tmp_path, code) == "[]\n"


def test_a_process_that_did_not_begin_can_be_started_again(tmp_path: Path) -> None:
    """When the machine has room again."""
    with bot_process(resolve("greedy", lane="process"), STANDARD, Limits(), tmp_path) as process:
        launch = process.launch
        process.launch = launch._replace(words=["false"])
        with pytest.raises(Exhausted):
            process.start()
        process.launch = launch
        process.start()
        assert isinstance(process, BotProcess)
        assert process.pid
