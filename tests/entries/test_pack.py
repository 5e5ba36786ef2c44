"""`arena pack` makes one file of a bot and what it has learned."""

from __future__ import annotations

import base64
import hashlib
import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from arena.entries.archive import read_archive
from arena.entries.pack import make_archive, read_packed
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.lanes.probe import find_problems
from engine import STANDARD
from engine.play import setup
from tests import ROOT
from tests.conftest import Arena
from tests.entries.learned import DEEP, DEEP_ORDER, ORDER, write_learned

FILES = ("learned/bot.py", "learned/order.txt", "learned/helper.py", "learned/nets")


@pytest.fixture
def packed(arena: Arena, tmp_path: Path) -> Path:
    """Return the packed file of the bot, beside the folder `learned`."""
    write_learned(tmp_path / "learned")
    done = arena("pack", *FILES, "-o", "packed.py")
    assert done.returncode == 0, done.stderr
    return tmp_path / "packed.py"


def test_a_packed_bot_carries_its_files(packed: Path) -> None:
    """One file, which travels to every worker with all that it holds."""
    entry = pickle.loads(pickle.dumps(resolve(str(packed))))
    packed.unlink()
    assert (entry.label, entry.lane) == ("packed", "process")
    strategy = entry.create(setup(0, 0))
    assert (strategy.order, strategy.deep) == (ORDER, DEEP_ORDER)


@pytest.mark.slow
def test_the_same_files_give_the_same_bytes(arena: Arena, packed: Path) -> None:
    """In any order, as a folder, from elsewhere, and whatever the clock says."""
    (packed.parent / "learned" / "nets" / "__pycache__").mkdir()
    (packed.parent / "learned" / "nets" / "__pycache__" / "deep.pyc").touch()
    for number, words in enumerate([[*FILES[:1], *FILES[:0:-1]], ["learned/"], ["./learned"]]):
        assert arena("pack", *words, "-o", f"{number}.py").returncode == 0
        assert (packed.parent / f"{number}.py").read_bytes() == packed.read_bytes()
    (packed.parent / "learned" / "order.txt").write_bytes(DEEP_ORDER)
    assert arena("pack", "learned", "-o", "other.py").returncode == 0
    assert resolve(f"{packed.parent}/other.py").sha256 != resolve(str(packed)).sha256


@pytest.mark.slow
def test_it_is_a_module_to_python_too(packed: Path) -> None:
    """So a test of the bot can import it."""
    code = "import packed; print(packed.bot(None).order == bytes(range(12)))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=packed.parent,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr


def test_it_says_what_it_holds(packed: Path) -> None:
    """Every file with its size, for the reader."""
    head = packed.read_text().partition("import")[0].splitlines()
    assert head[0].startswith("# A bot with its files")
    assert f"#   order.txt  {len(ORDER)} bytes" in head
    assert f"#   nets/deep.py  {len(DEEP)} bytes" in head


@pytest.mark.slow
def test_it_plays_and_is_checked(arena: Arena, packed: Path) -> None:
    """In the jail it can be read as anywhere; nothing is left behind."""
    done = arena("check", f"./{packed.name}", "--games", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok   leaves nothing" in done.stdout
    words = ["--pairs", "1", "--lane", "jail"]
    assert "forfeits" not in arena("play", "./packed.py", "uniform", *words).stdout


def test_what_lies_elsewhere_comes_beside_the_bot(arena: Arena, tmp_path: Path) -> None:
    """What lies below the bot's folder keeps its place there."""
    write_learned(tmp_path / "learned")
    (tmp_path / "learned" / "order.txt").rename(tmp_path / "order.txt")
    words = ["pack", "learned/bot.py", "order.txt", "learned/nets/", "learned/helper.py"]
    assert arena(*words, "-o", "packed.py").returncode == 0
    strategy = resolve(f"{tmp_path}/packed.py").create(setup(0, 0))
    assert (strategy.order, strategy.deep) == (ORDER, DEEP_ORDER)


@pytest.mark.slow
def test_an_edit_of_a_bot_that_a_packed_bot_imports_is_seen(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a bot that is one file; so it is with a folder."""
    bots = tmp_path / "bots"
    (tmp_path / "mine").mkdir()
    bots.mkdir()
    (bots / "first.py").write_text("bot = 1")
    (tmp_path / "mine" / "bot.py").write_text("import helper\nbot = 1")
    (tmp_path / "mine" / "helper.py").write_text("from bots.first import bot")
    monkeypatch.setattr("arena.entries.resolve.BOTS", bots)
    assert arena("pack", "mine", "-o", "packed.py").returncode == 0
    specs = (f"{tmp_path}/packed.py", f"{tmp_path}/mine")
    before = [resolve(spec).sha256 for spec in specs]
    (bots / "first.py").write_text("bot = 2")
    assert not {*before} & {resolve(spec).sha256 for spec in specs}


def test_nothing_is_overwritten_unasked(arena: Arena, packed: Path) -> None:
    """With `--force` the command says that it replaced the file."""
    before = packed.read_bytes()
    (packed.parent / "learned" / "order.txt").write_bytes(DEEP_ORDER)
    done = arena("pack", "learned", "-o", "packed.py")
    assert (done.returncode, done.stderr) == (
        2,
        "error: packed.py: exists already; --force replaces it\n",
    )
    assert packed.read_bytes() == before
    done = arena("pack", "learned", "-o", "packed.py", "--force")
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "replaced packed.py")
    assert packed.read_bytes() != before
    assert {path.name for path in packed.parent.iterdir()} == {"learned", "packed.py"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["none.py", "-o", "x.py"], "none.py: No such file or directory"),
        (["learned/order.txt", "-o", "x.py"], "learned/order.txt: neither a folder nor a .py file"),
        (["learned/bot.py", "none.npz", "-o", "x.py"], "none.npz: No such file or directory"),
        (
            ["learned/nets", "-o", "x.py"],
            "learned/nets: a bot's folder has a bot.py or a",
        ),
        (["learned/bot.py", "/dev/zero", "-o", "x.py"], "zero: not a regular file"),
        (["learned/bot.py", "/dev/stdin/x", "-o", "x.py"], "x: Not a directory"),
        (
            ["learned/bot.py", "elsewhere/bot.py", "-o", "x.py"],
            "two files would be bot.py: learned/bot.py and elsewhere/bot.py",
        ),
        (["learned", "-o", "learned/x.py"], "learned/x.py: it would be a part of the bot itself"),
        (["learned/bot.py", "-o", "learned/bot.py", "--force"], "would be a part of the bot"),
        (["learned", "-o", "x.zip"], "x.zip: a bot's file ends in .py"),
        (["learned", "-o", "none/x.py"], "none/x.py: No such file or directory"),
        (["learned", "-o", "folder.py", "--force"], "folder.py: exists already; it is not a file"),
        (["linked", "-o", "x.py"], "linked: data: a link; copy what it leads to"),
        (["packed.py", "-o", "x.py"], "packed.py: packed already"),
        (["learned/bot.py", "\udcff", "-o", "x.py"], r"'\udcff': the name is not UTF-8"),
        (["a.b.py", "-o", "x.py"], "a.b.py: a module has no dot in its name"),
        (["learned/bot.py"], "Missing option '--out'"),
    ],
)
def test_what_cannot_be_packed_is_refused(
    arena: Arena, packed: Path, words: list[str], reason: str
) -> None:
    """In one line, and no file is written."""
    folder = packed.parent
    (folder / "folder.py").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "bot.py").touch()
    (folder / "linked").mkdir()
    (folder / "linked" / "bot.py").touch()
    (folder / "linked" / "data").symlink_to("bot.py")
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    done = arena("pack", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: ")
    assert reason in done.stderr
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b'"""\n\nbot', b"\n\nbot"),
        lambda text: text.replace(b'FILES = """', b"FILES = '''"),
        lambda text: text.replace(b"UEsDB", b"UE(DB"),
        lambda text: text.replace(b"UEsDB", b"EsDB"),
        lambda text: text.replace(b"UEsDB", b"VEsDB"),
        lambda text: text.replace(b"import base64", b"#" * (1 << 20)),
    ],
)
def test_a_packed_file_that_was_edited_is_refused(packed: Path, change: object) -> None:
    """Before any of it is played."""
    assert callable(change)
    packed.write_bytes(change(packed.read_bytes()))
    with pytest.raises(InputError, match=r"packed\.py': not as `arena pack` has written it"):
        resolve(str(packed))


def archive(*items: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """Return a zip that `arena pack` would not write."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in items:
            file.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


HOSTILE = {
    "compressed": (
        archive(("bot.py", b"#" * (1 << 20)), compression=zipfile.ZIP_DEFLATED),
        "no compressed files",
    ),
    "of too many files": (
        archive(*((f"{number}.py", b"") for number in range(1001))),
        "1 to 1,000 files",
    ),
    "cut off": (archive(("bot.py", b"bot = 1"))[:-30], "damaged"),
    "changed": (archive(("bot.py", b"bot = 1")).replace(b"bot = 1", b"bot = 2"), "damaged"),
    "without a file": (b"PK\x03\x04", "damaged"),
    "with a list of millions": (archive(("bot.py", b""))[:-10] + b"\xff" * 10, "damaged"),
}
"""Archives that are refused before anybody unpacks them."""

MISPLACED = {
    "without a module": (archive(("bot.txt", b"bot = 1")), "is not beside the others"),
    "with a module below": (archive(("nets/bot.py", b"bot = 1")), "is not beside the others"),
    "with a module above": (archive(("../bot.py", b"bot = 1")), "is not below its folder"),
    "with an absolute module": (archive(("/tmp/bot.py", b"")), "is not below its folder"),
    "with a file above": (archive(("bot.py", b""), ("a/../../x", b"")), "is not below its folder"),
    "with a file without a name": (archive(("bot.py", b""), ("a/", b"")), "not below its folder"),
    "with a file as a folder": (archive(("bot.py", b""), ("bot.py/x", b"")), "cannot be laid out"),
    "with too long a name": (archive(("bot.py", b""), ("x" * 300, b"")), "cannot be laid out"),
}
"""Archives without a first file that binds `bot`."""


def pack_archive(packed: Path, content: bytes) -> str:
    """Put an archive into a packed file in place of its own, and return its path."""
    text = packed.read_bytes()
    _, honest = read_packed(text) or (b"", b"")
    changed = text.replace(base64.encodebytes(honest), base64.encodebytes(content))
    assert changed != text
    packed.write_bytes(changed)
    return str(packed)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_archive_is_refused(packed: Path, kind: str) -> None:
    """Nothing of it is written to a disk, and no bot's process begins."""
    content, reason = HOSTILE[kind]
    with pytest.raises(InputError, match=rf"packed\.py': a packed bot .*{reason}"):
        resolve(pack_archive(packed, content))


@pytest.mark.parametrize("kind", MISPLACED)
def test_an_archive_without_a_bot_is_a_fault_of_its_bot(packed: Path, kind: str) -> None:
    """Its process says what is wrong in one line."""
    content, reason = MISPLACED[kind]
    (problem,) = find_problems([resolve(pack_archive(packed, content))], STANDARD, Limits())
    assert reason in problem
    assert "\n" not in problem


@pytest.mark.slow
def test_a_packed_file_of_a_gigabyte_is_not_read(packed: Path) -> None:
    """The most is 64 MB; a file that is not packed has at most 1 MB."""
    with packed.open("r+b") as file:
        file.truncate(1 << 30)
    with pytest.raises(InputError, match="larger than 67,108,864 bytes"):
        resolve(str(packed))
    packed.write_text("#" * (1 << 21))
    with pytest.raises(InputError, match="larger than 1,048,576 bytes"):
        resolve(str(packed))


def test_an_archive_has_no_clock_and_no_order_but_its_own() -> None:
    """The bot comes first, then the others by name."""
    files = {"b.txt": b"2", "a.txt": b"1", "bot.py": b"0"}
    content = make_archive(files, "bot.py")
    assert list(read_archive(content)) == ["bot.py", "a.txt", "b.txt"]
    assert content == make_archive(dict(sorted(files.items())), "bot.py")


@pytest.mark.parametrize("lane", ["inproc", "process"])
@pytest.mark.parametrize(
    "read",
    [
        "pkgutil.get_data(__name__, 'w.npz')",
        "Path(__file__).with_name('w.npz').read_bytes()",
        "open('w.npz')",
    ],
)
def test_a_file_that_stands_alone_says_how_it_gets_its_data(
    tmp_path: Path, lane: str, read: str
) -> None:
    """The message names the command and the file."""
    path = tmp_path / "b.py"
    path.write_text(f"import pkgutil\nfrom pathlib import Path\n{read}\nbot = 1")
    (tmp_path / "w.npz").touch()
    (problem,) = find_problems([resolve(str(path), lane=lane)], STANDARD, Limits())
    assert "No such file or directory: 'w.npz'" in problem
    assert (
        "a bot's file stands alone: hand in a folder of both, or one file: `arena pack" in problem
    )


@pytest.mark.slow
def test_weights_of_many_megabytes_arrive_whole(arena: Arena, tmp_path: Path) -> None:
    """In a process with little more memory than they need."""
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "weights").write_bytes(bytes(range(256)) * (1 << 16))  # 16 MB
    (tmp_path / "large" / "bot.py").write_text(
        "import hashlib, pkgutil\n"
        "digest = hashlib.sha256(pkgutil.get_data(__name__, 'weights')).hexdigest()\n"
        "class bot:\n"
        "    def __init__(self, setup, expected=''):\n"
        "        assert digest == expected\n"
        "    def choose(self, view, /):\n"
        "        return view.legal[0]\n"
    )
    digest = hashlib.sha256((tmp_path / "large" / "weights").read_bytes()).hexdigest()
    config = "pairs: 1\nlimits: {memory: 128}\nbots:\n- {bot: ./large/, label: large, "
    config += f"params: {{expected: {digest}}}}}\n- uniform\n"
    (tmp_path / "cup.yaml").write_text(config)
    done = arena("run", "cup.yaml")
    assert (done.returncode, "forfeits" in done.stdout) == (0, False)
