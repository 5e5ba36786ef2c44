"""What somebody reads who has mistyped something: one line that says what to write instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import arena as library
from arena.errors import InputError
from tests.conftest import Arena

CHOOSE = "    def choose(self, view):\n        return view.legal[0]\n\n\nbot = Bot\n"
BOTS = {
    "bare.py": f"class Bot:\n{CHOOSE}",
    "empty.py": f"class Bot:\n    def __init__(self):\n        pass\n\n{CHOOSE}",
    "function.py": "def bot():\n    return None\n",
    "good.py": "from bots.uniform import bot\n",
    "hasty.js": "console.log(1)\n",
    "hasty.sh": "#!/bin/sh\nexit 3\n",
}
PLAY = ("greedy", "--pairs", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a newcomer's folder: bots that are wrong in one way each, and one that is right."""
    for name, text in BOTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def refusal(arena: Arena, *words: str) -> str:
    """Return the only line that a command prints, which ends with status 2."""
    done = arena(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


TAKES_NO_SETUP = [
    ("bare.py", "class Bot has no __init__; write `__init__(self, setup)`"),
    ("empty.py", "the __init__ of class Bot takes no setup; write `__init__(self, setup)`"),
    ("function.py", "bot takes no setup; write `def bot(setup)`"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("bot", "advice"), TAKES_NO_SETUP)
def test_a_bot_that_takes_no_setup_is_told_what_to_write(
    arena: Arena, bot: str, advice: str
) -> None:
    """A class without `__init__` is the first mistake of all."""
    assert refusal(arena, "play", f"./{bot}", *PLAY) == f"bot './{bot}': {advice}"


def test_the_library_says_the_same_of_a_class() -> None:
    """Before the first game."""

    class Bare:
        def choose(self, _: object) -> int:
            return 0

    with pytest.raises(InputError, match=r"class Bare has no __init__; write `__init__\(self, set"):
        library.run([Bare, "greedy"], pairs=1, progress=False)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("bot", "advice"),
    [
        ("./hasty.js", "not Python; a program is named by its command: 'cmd:node ./hasty.js'"),
        ("hasty.js", "not Python; a program is named by its command: 'cmd:node hasty.js'"),
        ("hasty.sh", "not Python; a program is named by its command: 'cmd:sh hasty.sh'"),
        ("cmd:./hasty.js", "not a program by itself; write 'cmd:node ./hasty.js'"),
        ("cmd:hasty.js 3", "not a program by itself; write 'cmd:node hasty.js 3'"),
        ("good", "no bot 'good' in bots/; did you mean ./good.py?"),
    ],
)
def test_a_program_and_a_file_are_told_from_a_name(arena: Arena, bot: str, advice: str) -> None:
    """The line has the spec that was meant."""
    assert refusal(arena, "play", bot, *PLAY).endswith(advice)


def test_a_program_is_known_by_its_first_bytes(arena: Arena, folder: Path) -> None:
    """A script without an ending, and a compiled program; a Python script stays a bot's file."""
    shutil.copy("/bin/true", folder / "compiled")
    for name, first in (("runs", "/bin/sh"), ("mine", "/usr/bin/env python3")):
        (folder / name).write_text(f"#!{first}\nfrom bots.uniform import bot\n")
        (folder / name).chmod(0o755)
    for name in ("runs", "compiled"):
        assert refusal(arena, "play", f"./{name}", *PLAY).endswith(f"'cmd:./{name}'")
    assert refusal(arena, "play", "cmd:runs", *PLAY).endswith("write 'cmd:./runs'")
    (folder / "runs").chmod(0o644)
    assert "`chmod +x ./runs` makes it so" in refusal(arena, "play", "cmd:./runs", *PLAY)
    assert arena("play", "./mine", *PLAY).stderr == ""


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("python3 none.py", "none.py': [Errno 2] No such file or directory; there is no file"),
        ("sh -c 'echo one >&2; echo two >&2; exit 3'", "ended with exit status 3: two;"),
        ("sh hasty.sh", "ended with exit status 3;"),
    ],
)
def test_a_command_that_ends_at_once_is_quoted(arena: Arena, command: str, said: str) -> None:
    """Its own words say more than its exit status; a file that is not there is named."""
    done = arena("play", f"cmd:{command}", *PLAY, "--strict")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert ("there is no file 'none.py' here" in done.stderr) == ("none" in command)


@pytest.mark.parametrize("place", ["mine.py", "mine/bot.py"])
def test_a_bot_that_opens_its_own_file_is_told_how_to_read_it(
    arena: Arena, tmp_path: Path, place: str
) -> None:
    """With `pkgutil.get_data`, and packed where it is one file; another file is no such case."""
    bot = tmp_path / place
    bot.parent.mkdir(exist_ok=True)
    bot.write_text('from bots.uniform import bot\nopen("weights.txt")\n')
    spec = "./mine.py" if place == "mine.py" else "./mine/"
    words = ("play", spec, *PLAY, "--strict")
    assert "pkgutil" not in arena(*words).stderr
    (bot.parent / "weights.txt").write_text("0.5")
    told = arena(*words).stderr
    assert 'read it with pkgutil.get_data(__name__, "weights.txt")' in told
    pack = "`arena pack ./mine.py weights.txt -o packed.py`"
    assert (pack in told) == (place == "mine.py")
