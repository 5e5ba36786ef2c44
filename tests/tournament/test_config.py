"""Configs are read strictly: every mistake names the file and the place in it."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import pytest

from arena.errors import InputError
from arena.library.request import RunKeys
from arena.tournament import config, config_keys
from arena.tournament.config import Config
from arena.tournament.tournament import Tournament


def read(folder: Path, text: str) -> config.Config:
    path = folder / "cup.yaml"
    path.write_text(text)
    return config.read(path)


def test_a_config_says_what_is_played(tmp_path: Path) -> None:
    """Every key is read; without a name, the name is the file's."""
    cup = read(
        tmp_path,
        "bots: [uniform, {bot: greedy, label: g, params: {patience: 2.5}}]\n"
        "pairs: 10\nseed: 0\nworkers: 2\nrules: {set_bonus: 4}\n",
    )
    assert cup.name == "cup"
    assert (cup.seed, cup.pairs, cup.workers) == (0, 10, 2)
    assert cup.game_rules().set_bonus == 4
    labels = [entry.label for entry in config.resolve_bots(cup, ["more=uniform"])]
    assert labels == ["uniform", "g", "more"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "cup.yaml: the file is empty"),
        ("# nothing\n", "cup.yaml: the file is empty"),
        ("- 1\n", "expected `mapping`, got `list`"),
        ("pairs: 1\n", "cup.yaml: key 'bots' is missing"),
        ("bots: [a, b]\n", "key 'pairs' is missing"),
        ("bots: [a, b]\npairs: 1\ncolour: red\n", "line 3: unknown key 'colour'; there are bots"),
        ("bots: [a, b]\npiars: 1\n", "line 2: unknown key 'piars'; did you mean 'pairs'?"),
        (
            "bots: [a, b]\npairs: 1\nlimits:\n  decision: 1\n  gane: 2\n",
            "line 5: limits: unknown key 'gane'; did you mean 'game'?",
        ),
        ("bots: [a, b]\npairs: many\n", "pairs: expected `int`, got `str`"),
        ("bots: [a, b]\npairs: 0\n", "line 2: pairs: expected `int` >= 1"),
        ("bots:\n- a\n- 3\npairs: 1\n", "line 3: bots[1]: expected `str | mapping`, got `int`: 3"),
        (
            "bots:\n- a\n- bot: b\n  lane: 3\npairs: 1\n",
            "line 4: bots[1].lane: expected `str | null`, got `int`: 3",
        ),
        (
            "bots: [a, b]\nlimits:\n  decision: 1\n  game: soon\npairs: 1\n",
            "line 4: limits.game: expected `float | null`, got `str`: 'soon'",
        ),
        (
            "bots: [a, b]\npairs: 1\nrules:\n  set_bonus: 1\n  colour: 1\n",
            "line 5: rules: unknown rule 'colour'",
        ),
        (
            "bots: [a, b]\npairs: 1\nrules:\n  set_bonus: many\n",
            "line 4: rules: set_bonus must be a whole number",
        ),
        ("bots: [a, b]\npairs: 1\nname: a/b\n", "line 3: name: 'a/b' cannot name a folder"),
        ("bots: [a, b]\npanel: [c]\npairs: 1\n", "line 2: panel: only a gauntlet has one"),
        ("bots: [a, b]\npairs: true\n", "pairs: expected `int`, got `bool`"),
        ("bots: [a, b]\npairs: 1\nseed: -1\n", "seed: expected `int` >= 0"),
        ("bots: [a, b]\npairs: 1\nseed: 9223372036854775808\n", "seed: expected `int`"),
        (
            "bots: [a, {bot: b, colour: red}]\npairs: 1\n",
            "line 1: bots[1]: unknown key 'colour'; there are bot, label",
        ),
        ("bots: [a, {label: b}]\npairs: 1\n", "bots[1]: key 'bot' is missing"),
        ("bots: a\npairs: 1\n", "bots: expected `list`, got `str`"),
        ("bots: [a, b]\npairs: 1\nname: ''\n", "name: '' cannot name a folder"),
        ("bots: [a, b]\npairs: 1000000001\n", "pairs: expected `int` <= 1000000000"),
        ("bots: [a, b]\npairs: 1\nworkers: 300\n", "workers: expected `int` <= 256"),
        (
            "bots: [a, b]\npairs: 1\nlimits: {decision: 0}\n",
            "limits.decision: expected `float` > 0",
        ),
        ("bots: [a, b]\npairs: 1\nlimits: {decision: .nan}\n", "limits.decision: expected"),
        ("bots: [a, b]\npairs: 1\nlimits: {memory: 1}\n", "limits.memory: expected `int` >= 64"),
        ("bots: [a, b]\npairs: 1\nmax_faults: 0\n", "max_faults: expected `int` >= 1"),
        (
            "bots: [a, {bot: b, lane: train}]\npairs: 1\n",
            "bots[1].lane: 'train' is not one of inproc, process, jail",
        ),
        ("bots: [a, b]\npairs: 1\nlane: docker\n", "lane: 'docker' is not one of inproc, "),
        ("bots: [a, b]\npairs: 1\nformat: cup\n", "'cup' is not one of round_robin, gauntlet"),
        (
            "bots: [a, {bot: b, params: {1: 2}}]\npairs: 1\n",
            "key in bots[1].params: expected `str`",
        ),
        ("bots: [a, b]\npairs: 1\nname: ..\n", "name: '..' cannot name a folder"),
        (
            "bots: [a, b]\npairs: 1\nrules: {removed: 4}\n",
            "= 46 cards, but the copies add up to 45",
        ),
        ("bots: [a, b]\npairs: 1\npairs: 2\n", "line 3, column 1: key 'pairs' is given twice"),
        ("bots: [a, b\npairs: 1\n", "line 2, column 6"),
        ("bots: &x [*x]\npairs: 1\n", "line 1, column 11: an alias inside of what it names"),
        ("bots: !!python/name:os.system\npairs: 1\n", "line 1, column 7"),
        ("bots: [a, b]\npairs: 1\nname: \x00\n", "not YAML"),
        ("? [a]\n: 1\n", "line 1, column 3: unhashable: a key must be a text"),
        ("{a: 1}: 2\n", "unhashable"),
        (
            f"bots: [a, b]\npairs: 1\nrules: {{removed: 0x{'f' * 5000}}}\n",
            "a number of more than 1,000 digits",
        ),
        ("1: 1\n", "key in the config: expected `str`"),
        ("bots: !!map [1, 2]\n", "line 1, column 7: expected a mapping node"),
        ("bots: !!set {a, b}\npairs: 1\n", "line 1, column 7: YAML tag !!set is not supported"),
        ("seed: !!bool foo\n", "not YAML"),
        ("seed: !!int ''\n", "not YAML"),
        ("seed: !!timestamp foo\n", "not YAML"),
        (f"bots: [{'a, ' * 1000}b]\npairs: 1\n", "bots: expected `list` of length <= 1000"),
        (f"bots: [{'a, ' * 10_000}b]\n", "more than 10,000 values"),
        (f"bots: {'[' * 100_000}\n", "line 1, column 56: nested deeper than 50 levels"),
        (f"bots: [a, b]\npairs: {'1' * 1001}\n", "line 2, column 8: a number of more than 1,000"),
        (f"bots: [a, b]\npairs: 1{':59' * 80_000}\n", "a number of more than 1,000 digits"),
        ("bots: [a, b]\npairs: 1.0e+400\n", "pairs: expected `int`, got `float`"),
        ('bots: [a, "\\ud800"]\npairs: 1\n', "line 1, column 11: a text with a NUL or half"),
        ('bots: [a, b]\n"\\udfff": 1\n', "line 2, column 1: a text with a NUL or half"),
        ('bots: [a, "cmd:true \\0"]\npairs: 1\n', "line 1, column 11: a text with a NUL or half"),
        ('bots: [a, b]\npairs: 1\n"\\e[31m\\n": 1\n', "unknown key '\\x1b[31m\\n'"),
        (f"bots: [a, b]\npairs: 1\n? {'k' * 100_000}\n: 1\n", "unknown key 'kkkkk"),
    ],
)
def test_a_mistake_is_one_line_that_names_its_place(tmp_path: Path, text: str, place: str) -> None:
    """The file, the place in it, and what is wrong there."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "cup.yaml"))
    assert place in message
    assert "\n" not in message


def repeated(levels: int) -> str:
    """Return a list of lists; each but the first holds the one before it ten times."""
    lists = ["&a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lists += [f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return f"[{', '.join(lists)}]"


@pytest.mark.parametrize(
    "text",
    [
        "bots: [a, {bot: b, params: {x: BOMB}}]\npairs: 1\n",
        "bots: [a, b]\npairs: 1\nrules: {copies: BOMB}\n",
        "bots: BOMB\npairs: 1\n",
        "bots: [a, b]\npairs: 1\nlimits: {decision: BOMB}\n",
        "bots: [a, b]\npairs: 1\ncolour: BOMB\n",
    ],
)
def test_aliases_that_multiply_are_refused_before_they_do(tmp_path: Path, text: str) -> None:
    """Nine lists name 10 to the 9th values; the counting stops at the first 10,000."""
    with pytest.raises(InputError, match=r"cup\.yaml: line \d.*: more than 10,000 values$"):
        read(tmp_path, text.replace("BOMB", repeated(9)))


def test_merged_mappings_that_multiply_are_refused(tmp_path: Path) -> None:
    """Each of nine mappings merges the one before it ten times."""
    lines = ["m0: &m0 {a: 1, b: 2}"]
    lines += [f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" for n in range(1, 9)]
    with pytest.raises(InputError, match="more than 10,000 values"):
        read(tmp_path, "\n".join(lines))


def test_aliases_and_merged_mappings_work(tmp_path: Path) -> None:
    """A key of its own wins over a merged one, wherever that mapping is merged in turn."""
    cup = read(
        tmp_path,
        "bots:\n"
        "- {bot: greedy, label: a, params: &p {patience: 1.0, depth: 1}}\n"
        "- {bot: greedy, label: b, params: {deep: &q {<<: *p, patience: 2.0}}}\n"
        "- {bot: greedy, label: c, params: {<<: *q, depth: 3}}\n"
        "- {bot: greedy, label: d, params: *p}\n"
        "pairs: 1\n",
    )
    params = [bot.params for bot in cup.bots if isinstance(bot, config.BotEntry)]
    assert params == [
        {"patience": 1.0, "depth": 1},
        {"deep": {"patience": 2.0, "depth": 1}},
        {"patience": 2.0, "depth": 3},
        {"patience": 1.0, "depth": 1},
    ]


@pytest.mark.slow
def test_as_many_values_as_allowed_are_read(tmp_path: Path) -> None:
    """Ten thousand values in all, and a file of 2 to the 18th bytes, but not one more."""
    values = ["bots: [uniform, {bot: greedy, params: {x: [1", "]}}]\npairs: 1\n"]
    inside = 10_000 - 14
    assert read(tmp_path, ", 1".join(["", ""]).join(values)).pairs == 1
    assert read(tmp_path, (", 1" * inside).join(values)).pairs == 1
    with pytest.raises(InputError, match="more than 10,000 values"):
        read(tmp_path, (", 1" * (inside + 1)).join(values))
    text = "bots: [a, b]\npairs: 1\n#"
    assert read(tmp_path, text.ljust(1 << 18, "x")).pairs == 1
    with pytest.raises(InputError, match=r"cup\.yaml: larger than 262,144 bytes"):
        read(tmp_path, text.ljust((1 << 18) + 1, "x"))


def test_what_is_not_a_file_is_not_read(tmp_path: Path) -> None:
    """Nothing is waited for where a pipe has no writer; a device without end is not read."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(InputError, match=f"^{path}: not a regular file$"):
            config.read(path)
    with pytest.raises(InputError, match="not the name of a file"):
        config.read(tmp_path / "a\0b.yaml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """A folder in place of a file, too."""
    with pytest.raises(InputError, match=r"none\.yaml: No such file"):
        config.read(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="directory"):
        config.read(tmp_path)


def test_the_commands_lane_wins_over_a_bots_and_a_bots_over_the_configs(
    tmp_path: Path,
) -> None:
    """A bot of the command line has no lane of its own, so it gets the config's."""
    bots = "bots: [uniform, {bot: greedy, lane: inproc}]\npairs: 1\n"
    for lane, passed, expected in (
        ("process", None, ["process", "inproc", "process"]),
        ("process", "jail", ["jail", "jail", "jail"]),
        (None, None, ["inproc", "inproc", "inproc"]),  # the bots' default
    ):
        cup = read(tmp_path, bots + (f"lane: {lane}\n" if lane else ""))
        entries = config.resolve_bots(cup, ["more=uniform"], passed)
        assert [entry.lane for entry in entries] == expected


def test_a_bot_that_cannot_be_loaded_names_its_place(tmp_path: Path) -> None:
    """The second of the config's bots is bots[1]."""
    with pytest.raises(InputError, match=r"^bots\[1\]: bot 'unifrm': .* did you mean uniform"):
        config.resolve_bots(read(tmp_path, "bots: [greedy, unifrm]\npairs: 1\n"))


def test_options_and_keywords_are_keys_of_a_config() -> None:
    """So there is one description of a run; a gauntlet's and a Swiss run's are keys only."""
    known = {*Config.__struct_fields__}
    assert known >= {*config_keys.TEXTS}
    assert {*RunKeys.__annotations__} == known - {"bots", "panel", "format", "rounds"}
    not_asked_for = {"meetings", "extended"}  # of leagues, and what became of a run
    own = {one.name for one in fields(Tournament)} - {"entries", "paired", "stop"}
    assert known >= own - not_asked_for
