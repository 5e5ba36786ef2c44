"""What somebody reads who has mistyped something: one line that says what to write instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena.entries.identity import COPY
from arena.entries.resolve import resolve
from tests.conftest import Arena, run_here

CHOOSE = "    def choose(self, view):\n        return view.legal[0]\n\n\nbot = Bot\n"
BOTS = {
    "bare.py": f"class Bot:\n{CHOOSE}",
    "empty.py": f"class Bot:\n    def __init__(self):\n        pass\n\n{CHOOSE}",
    "function.py": "def bot():\n    return None\n",
    "good.py": "from bots.uniform import bot\n",
    "hasty.js": "console.log(1)\n",
    "hasty.sh": "#!/bin/sh\nexit 3\n",
    "notes.txt": "from bots.uniform import bot\n",
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


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("bot", "advice"),
    [
        ("hasty.js", "no module 'hasty.js'; did you mean ./hasty.js?"),
        ("cmd:./hasty.js", "not a program by itself; write 'cmd:node ./hasty.js'"),
        ("cmd:hasty.js 3", "not a program by itself; write 'cmd:node hasty.js 3'"),
        ("good", "no bot 'good' in bots/; did you mean ./good.py?"),
        ("notes.txt", "no module 'notes.txt'; did you mean ./notes.txt?"),
        (".", "no module '.'; did you mean ./?"),
    ],
)
def test_a_program_and_a_file_are_told_from_a_name(arena: Arena, bot: str, advice: str) -> None:
    """The line has the spec that was meant."""
    assert refusal(arena, "play", bot, *PLAY).endswith(advice)


@pytest.mark.slow
def test_a_program_is_known_by_its_first_bytes(arena: Arena, folder: Path) -> None:
    """A script without an ending, and a compiled program; a Python script stays a bot's file."""
    shutil.copy("/bin/true", folder / "compiled")
    for name, first in (("runs", "/bin/sh"), ("mine", "/usr/bin/env python3")):
        (folder / name).write_text(f"#!{first}\nfrom bots.uniform import bot\n")
        (folder / name).chmod(0o755)
    for name in ("runs", "compiled"):
        assert resolve(str(folder / name)).command == (f"{COPY}bot",)
    assert refusal(arena, "play", "cmd:runs", *PLAY).endswith("write 'cmd:./runs'")
    (folder / "runs").chmod(0o644)
    assert "`chmod +x ./runs` makes it so" in refusal(arena, "play", "cmd:./runs", *PLAY)
    assert not resolve(str(folder / "mine")).command
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
    """By its path, and in a folder where the bot is one file; another file is no such case."""
    bot = tmp_path / place
    bot.parent.mkdir(exist_ok=True)
    bot.write_text('from bots.uniform import bot\nopen("weights.txt")\n')
    spec = "./mine.py" if place == "mine.py" else "./mine/"
    words = ("play", spec, *PLAY, "--strict")
    assert "__file__" not in arena(*words).stderr
    (bot.parent / "weights.txt").write_text("0.5")
    told = arena(*words).stderr
    assert 'read it with Path(__file__).parent / "weights.txt"' in told
    assert ("give a folder of both" in told) == (place == "mine.py")


CUP = "name: cup\npairs: 1\nbots: [uniform, greedy]\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, duel: Path) -> Path:
    """Return a folder with a run in friday/, bots and a config."""
    folder = tmp_path_factory.mktemp("run")
    shutil.copytree(duel, folder / "friday")
    (folder / "my_bot.py").write_text("from bots.uniform import bot\n")
    (folder / "mine").mkdir()
    (folder / "mine" / "bot.py").write_text("from bots.uniform import bot\n")
    (folder / "cup.yaml").write_text(CUP)
    (folder / "männer.yaml").write_text("pairs: 1\nbots: [uniform, greedy]\n")
    (folder / "empty").mkdir()
    (folder / "games.jsonl").write_text("{}\n")
    return folder


AGAIN = "to play its run again: arena run friday/manifest.json --out FOLDER"
A_BOT = "a bot, not a config; to play it: arena play"
A_FILE = "a file of a run; name its folder: friday"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("run my_bot.py", f"my_bot.py: {A_BOT} ./my_bot.py greedy"),
        ("run mine", f"mine: {A_BOT} ./mine/ greedy"),
        ("run greedy", f"greedy: {A_BOT} greedy OPPONENT"),
        ("ablate ./my_bot.py --rule set_bonus=1", f"my_bot.py: {A_BOT} ./my_bot.py greedy"),
        ("run friday", f"friday: a folder; {AGAIN}"),
        ("run friday/", f"friday: a folder; {AGAIN}"),
        (
            "run friday/report.html",
            "friday/report.html: a file of a run, not a config; to play the run again: "
            "arena run friday/manifest.json --out FOLDER",
        ),
        (
            "ablate friday/manifest.json --rule set_bonus=1",
            "friday/manifest.json: the manifest of a run, which only `arena run` takes",
        ),
        ("run empty", "empty: is a directory; a config is a YAML file"),
        ("run cup", "cup: no such file, and no config has this name; did you mean cup.yaml?"),
        (
            "run games.jsonl",
            "games.jsonl: game records, not a config; to judge them: arena replay games.jsonl",
        ),
        *(
            (f"{command} friday/{file}", f"friday/{file}: {A_FILE}")
            for command, file in (
                ("report", "report.html"),
                ("export", "run.sqlite"),
                ("verify", "games.csv"),
                ("show", "report.html"),
                ("view", "report.md"),
                ("replay", "run.sqlite"),
            )
        ),
        ("report my_bot.py", "my_bot.py: a file, and a run is a folder"),
        (
            "play greedy uniform --out my_bot.py",
            "my_bot.py: cannot be written: a file, and a run is a folder",
        ),
        (
            "export friday -o none/a.jsonl",
            "none/a.jsonl: cannot be written: No such file or directory",
        ),
        (
            "check ./empty/",
            "bot './empty/': a bot's folder has a bot.py or a __init__.py, and this one has "
            "neither",
        ),
        (
            "play greedy uniform --rules set_bonus=3",
            "--rules: JSON is malformed: invalid character (byte 0); "
            """write --rules '{"set_bonus": 3}'""",
        ),
        (
            "run männer.yaml",
            "männer.yaml: name: 'männer' cannot name a folder; "
            "use A-Z a-z 0-9 . _ -, or write name: NAME",
        ),
        ("verify empty", "empty: no run: there is no run.sqlite"),
        (
            "export friday -o friday.csv",
            "--out friday.csv: games are written as JSON lines, as to friday.jsonl; "
            "the rows of games.csv are in friday/games.csv",
        ),
    ],
)
def test_a_path_of_another_kind_leads_to_the_command_that_was_meant(
    run: Path, words: str, line: str
) -> None:
    """Nothing is written."""
    before = sorted(run.rglob("*"))
    done = run_here(run, *words.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {line}\n")
    assert sorted(run.rglob("*")) == before


NUMBERS = [("1e3", "write 1000"), ("1,000", "write 1000"), ("2.0", "write 2")]
NUMBERS += [("many", "write a whole number, such as 1000"), ("1.5", "write a whole number, such")]


@pytest.mark.parametrize(("text", "advice"), NUMBERS)
@pytest.mark.parametrize(
    "words",
    [
        "play greedy uniform --pairs",
        "run quickstart --max-pairs",
        "compare greedy uniform --max-pairs",
        "check greedy --games",
        "game greedy uniform --seed",
        "run cup.yaml",
    ],
)
def test_a_number_that_is_not_whole_is_refused_alike(
    arena: Arena, tmp_path: Path, words: str, text: str, advice: str
) -> None:
    """In every command and in a config, with the number that was meant."""
    if words == "run cup.yaml":
        shown = f'"{text}"' if "," in text else text
        (tmp_path / "cup.yaml").write_text(f"bots: [greedy, uniform]\npairs: {shown}\n")
        line = refusal(arena, *words.split())
        assert line.startswith("cup.yaml: line 2: pairs: expected `int`, got ")
    else:
        line = refusal(arena, *words.split(), text)
        assert f"{text!r} is not a whole number; " in line
    assert advice in line


def test_a_bot_beside_a_config_is_found_for_whoever_looks_elsewhere(
    arena: Arena, tmp_path: Path
) -> None:
    """The error names the folder that was looked in, and where the bot is."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").touch()
    (tmp_path / "sub" / "cup.yaml").write_text("pairs: 1\nbots: [uniform, {bot: ./mine.py}]\n")
    for words in (["run"], ["ablate", "--rule", "set_bonus=0"]):
        done = arena(*words, "sub/cup.yaml")
        assert done.returncode == 2
        assert done.stderr == (
            "error: sub/cup.yaml: bots[1]: bot './mine.py': No such file or directory; "
            f"./mine.py is looked for in {tmp_path}, and is beside the config: sub/mine.py\n"
        )
