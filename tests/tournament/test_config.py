"""Configs are read strictly, and become tournaments: their numbers, manifests and anchors."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import fields
from importlib import metadata
from pathlib import Path

import pytest

import arena as library
from arena.entries.resolve import resolve
from arena.errors import InputError
from arena.lanes.limits import Limits
from arena.library.keywords import RunKeys
from arena.store.manifest import manifest_text, obstacles, read_tournament
from arena.tournament import config, config_keys, yaml_text
from arena.tournament.config import Config, convert, make_tournament, override
from arena.tournament.config_keys import Anchor, read_anchor
from arena.tournament.schedule import Fixture, Pairing
from arena.tournament.tournament import Tournament
from engine import STANDARD, Rules, to_text
from tests import ROOT
from tests.conftest import Arena
from tests.kit import refused

OK = "bots: [a, b]\npairs: 1\n"


def read(folder: Path, text: str) -> config.Config:
    path = folder / "cup.yaml"
    path.write_text(text)
    return config.read(path)


def test_a_config_says_what_is_played(tmp_path: Path) -> None:
    bots = "bots: [uniform, {bot: greedy, label: g, params: {patience: 2.5}}]\n"
    cup = read(tmp_path, f"{bots}pairs: 10\nseed: 0\nworkers: 2\nrules: {{set_bonus: 4}}\n")
    assert (cup.name, cup.seed, cup.pairs, cup.workers) == ("cup", 0, 10, 2)
    assert cup.game_rules().set_bonus == 4
    labels = [entry.label for entry in config.resolve_bots(cup, ["more=uniform"])]
    assert labels == ["uniform", "g", "more"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "cup.yaml: the file is empty"),
        ("- 1\n", "expected `mapping`, got `list`"),
        ("bots: [a, b]\n", "key 'pairs' is missing"),
        (OK + "colour: red\n", "line 3: unknown key 'colour'; there are bots"),
        ("bots: [a, b]\npiars: 1\n", "line 2: unknown key 'piars'; did you mean 'pairs'?"),
        (
            OK + "limits:\n  decision: 1\n  gane: 2\n",
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
        (OK + "rules:\n  set_bonus: 1\n  colour: 1\n", "line 5: rules: unknown rule 'colour'"),
        (OK + "rules:\n  set_bonus: many\n", "line 4: rules: set_bonus must be a whole number"),
        (OK + "name: a/b\n", "line 3: name: 'a/b' cannot name a folder"),
        ("bots: [a, b]\npanel: [c]\npairs: 1\n", "line 2: panel: only a gauntlet has one"),
        ("bots: [a, b]\npairs: true\n", "pairs: expected `int`, got `bool`"),
        (
            "bots: [a, {bot: b, colour: red}]\npairs: 1\n",
            "line 1: bots[1]: unknown key 'colour'; there are bot, label",
        ),
        (OK + "name: ''\n", "name: '' cannot name a folder"),
        (OK + "limits: {decision: 0}\n", "limits.decision: expected `float` > 0"),
        (OK + "limits: {decision: .nan}\n", "limits.decision: expected"),
        (OK + "limits: {memory: 1}\n", "limits.memory: expected `int` >= 64"),
        (
            "bots: [a, {bot: b, lane: train}]\npairs: 1\n",
            "bots[1].lane: 'train' is not one of inproc, process, jail",
        ),
        (OK + "format: cup\n", "'cup' is not one of round_robin, gauntlet"),
        (
            "bots: [a, {bot: b, params: {1: 2}}]\npairs: 1\n",
            "key in bots[1].params: expected `str`",
        ),
        (OK + "rules: {removed: 4}\n", "= 46 cards, but the copies add up to 45"),
        (OK + "pairs: 2\n", "line 3, column 1: key 'pairs' is given twice"),
        ("bots: [a, b\npairs: 1\n", "line 2, column 6"),
        ("pairs: 1\n---\nseed: 2\n", "line 2, column 1: found another document"),
        ("bots: &x [*x]\npairs: 1\n", "line 1, column 11: an alias; write what it stands for"),
        (OK + "<<: {seed: 1}\n<<: {seed: 2}\n", "line 4, column 1: key '<<' is given twice"),
        ("bots: !!python/name:os.system\npairs: 1\n", "line 1, column 7"),
        (OK + "name: \x00\n", "not YAML"),
        ("? [a]\n: 1\n", "line 1, column 3: unhashable: a key must be a text"),
        (OK + f"rules: {{removed: 0x{'f' * 5000}}}\n", "a number of more than 1,000 digits"),
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
        ("bots: [a, b]\npairs: 010\n", "line 2, column 8: 010: a number in another base"),
        ("bots: [a, b]\npairs: 1:03\n", "line 2, column 8: 1:03: a number in another base"),
        ("bots: [a, b]\npairs: 1.0e+400\n", "pairs: expected `int`, got `float`"),
        ('bots: [a, "\\ud800"]\npairs: 1\n', "line 1, column 11: a text with a NUL or half"),
        ('bots: [a, b]\n"\\udfff": 1\n', "line 2, column 1: a text with a NUL or half"),
        ('bots: [a, "cmd:true \\0"]\npairs: 1\n', "line 1, column 11: a text with a NUL or half"),
        ('bots: [a, b]\npairs: 1\n"\\e[31m\\n": 1\n', "unknown key '\\x1b[31m\\n'"),
        (OK + f"? {'k' * 100_000}\n: 1\n", "unknown key 'kkkkk"),
    ],
)
def test_a_mistake_is_one_line_that_names_its_place(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "cup.yaml"))
    assert place in message
    assert "\n" not in message


@pytest.mark.slow
def test_as_many_values_as_allowed_are_read(tmp_path: Path) -> None:
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
    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path / "pipe", "not a regular file$"),
        (Path("/dev/zero"), "not a regular file$"),
        (tmp_path / "none", "No such file"),
        (tmp_path, ".*directory"),
        (tmp_path / "a\0b", ".*not the name of a file"),
    ):
        with pytest.raises(InputError, match=why):
            config.read(path)


def test_the_commands_lane_wins_over_a_bots_and_a_bots_over_the_configs(tmp_path: Path) -> None:
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


def test_options_and_keywords_are_keys_of_a_config() -> None:
    """So there is one description of a run; a gauntlet's and a Swiss run's are keys only."""
    known = {*Config.__struct_fields__}
    assert known | {*config_keys.ExecutorChoice.__struct_fields__} >= {*config_keys.TEXTS}
    assert {*RunKeys.__annotations__} == known - {"bots", "panel", "format", "rounds"}
    not_asked_for = {"meetings", "extended"}  # of leagues, and what became of a run
    own = {one.name for one in fields(Tournament)} - {"entries", "paired", "stop"}
    assert known >= own - not_asked_for


LARGEST = {"seed": 2**63 - 1, "pairs": 10**9, "workers": 256}
SMALLEST = {"seed": 0, "pairs": 1, "workers": 1, "max_faults": 1}
BOUNDS: list[tuple[str, list[int], str]] = [
    *((name, [most, most + 1], "<=") for name, most in LARGEST.items()),
    *((name, [least, least - 1], ">=") for name, least in SMALLEST.items()),
]


@pytest.mark.parametrize(("name", "numbers", "relation"), BOUNDS)
def test_a_number_may_be_as_large_and_as_small_as_its_bounds(
    tmp_path: Path, name: str, numbers: list[int], relation: str
) -> None:
    inside, outside = (
        f"bots: [a, b]\n{'' if name == 'pairs' else 'pairs: 1'}\n{name}: {n}" for n in numbers
    )
    assert getattr(read(tmp_path, inside), name) == numbers[0]
    with pytest.raises(InputError, match=f"{name}: expected `int` {relation} {numbers[0]}$"):
        read(tmp_path, outside)


def test_what_a_config_does_not_say_has_a_default_or_is_given(tmp_path: Path) -> None:
    """A name of letters, digits and marks replaces that of the file."""
    (tmp_path / "half.yaml").write_text("bots: [a, b]\n")
    assert config.read(tmp_path / "half.yaml", pairs=3, seed=None).pairs == 3
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(InputError, match=r"list\.yaml: expected `mapping`, got `list`"):
        config.read(tmp_path / "list.yaml", pairs=3)
    cup = read(tmp_path, OK)
    assert (cup.seed, cup.max_faults, cup.workers, cup.lane) == (0, 10, None, None)
    assert (cup.game_rules(), cup.limits) == (STANDARD, Limits())
    for name in ("0", "a.b", "cup-2_c", "Z"):
        assert read(tmp_path, f"{OK}name: '{name}'\n").name == name


@pytest.fixture
def cup() -> Tournament:
    entries = [resolve("uniform"), resolve("g=greedy"), resolve("denier")]
    return Tournament("cup", 5, 7, entries, Rules(set_bonus=4))


def test_every_pairing_plays_each_of_its_pairs_twice(cup: Tournament) -> None:
    assert cup.labels == ["uniform", "g", "denier"]
    assert cup.pairings == [("uniform", "g"), ("uniform", "denier"), ("g", "denier")]
    assert cup.games == 3 * 7 * 2
    assert cup.fixture(2, 6, 1) == Fixture(Pairing("g", "denier"), 6, 1)
    assert cup.by_label["g"] is cup.entries[1]
    assert cup.max_faults == 10
    one, two = Pairing("a", "b', 'c"), Pairing("a', 'b", "c")  # labels cannot be confused
    assert Fixture(one, 0, 0).draw(0) != Fixture(two, 0, 0).draw(0)


def test_a_manifest_says_what_was_asked_for_and_with_what(cup: Tournament) -> None:
    """The hash of the engine is that of its modules' bytes in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "engine").glob("*.py")):
        digest.update(path.read_bytes())
    assert cup.manifest() == {
        "name": "cup",
        "seed": 5,
        "pairs": 7,
        "rules": {"set_bonus": 4},
        "limits": {
            **{"decision": 10.0, "game": None, "start": 10.0, "backstop": None},
            **{"idle": None, "latency": 1.0, "memory": 1024},
        },
        "max_faults": 10,
        "bots": [entry.describe() for entry in cup.entries],
        "versions": {
            "arena": metadata.version("district-noir-arena"),
            "engine": digest.hexdigest(),
            "python": platform.python_version(),
        },
    }


def test_a_game_on_a_deal_is_that_of_any_pair(cup: Tournament) -> None:
    deal = to_text(cup.draw(cup.fixture(0, 3, 0)).deal)
    fixed = cup.on_deal(deal)
    assert (fixed.pairs, fixed.deals) == (1, [deal])
    for pair in (0, 5):
        fixture = cup.fixture(1, pair, 1)
        assert to_text(fixed.draw(fixture).deal) == deal
        assert fixed.draw(fixture).lucks == cup.draw(fixture).lucks
    with pytest.raises(InputError, match=r"^deal: "):
        cup.on_deal(deal[1:])


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "configs").iterdir()))
def test_a_config_of_the_clone_ships_and_can_be_played(name: str) -> None:
    assert (yaml_text.FOLDER.resolve(), name in yaml_text.shipped()) == (ROOT / "configs", True)
    settings = config.read(yaml_text.find_config(Path(name)))
    assert settings.name == name
    assert len(config.resolve_bots(settings)) >= 2


def test_a_file_wins_over_a_shipped_config_and_a_path_is_only_a_path(
    arena: Arena, tmp_path: Path
) -> None:
    (tmp_path / "quickstart").write_text("bots: [uniform]\npairs: none\n")
    assert refused(arena("run", "quickstart")).startswith("quickstart: line 2: pairs: ")
    assert refused(arena("run", "quickstrat")) == (
        "quickstrat: no such file, and no config has this name; "
        "there are ladder, long, quickstart, search"
    )
    for path in (Path("quickstart.yaml"), Path("mine/quickstart")):
        assert yaml_text.find_config(path) == path


TWO = {"bots": ["greedy", "uniform"], "pairs": 2}


def tournament(written: object = None, **more: str) -> Tournament:
    data = TWO if written is None else TWO | {"anchor": written}
    return make_tournament(override(convert(data, "cup"), **more))


def test_an_anchor_is_a_text_or_a_mapping_and_an_option_comes_before_it() -> None:
    """The Elo follows the last equals sign."""
    for written in ("greedy=1239", " greedy = 1239.0", {"greedy": 1239}):
        assert tournament(written).anchor == Anchor("greedy", 1239.0)
        assert tournament(written, anchor="uniform=-5").anchor == Anchor("uniform", -5.0)
    for label in ("a=b", "bot(depth=3)"):
        assert read_anchor(f"{label}=7", [label]) == Anchor(label, 7.0)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("greedy", "expected a bot and its Elo, -100000 to 100000, as in greedy=1239"),
        ("greedy=", "expected a bot and its Elo"),
        ("greedy=nan", "expected a bot and its Elo"),
        ("greedy=inf", "expected a bot and its Elo"),
        ("greedy=100001", "expected a bot and its Elo"),
        ("gredy=1239", "no bot 'gredy' in this run; there are greedy, uniform"),
        ("=1239", "no bot '' in this run"),
        ({"greedy": 1, "uniform": 2}, "one bot and its Elo, not 2 bots"),
        ({"greedy": float("nan")}, "expected a bot and its Elo"),
        ({"greedy": "1239"}, "expected `float`, got `str`"),
        (["greedy=1239"], "expected `str | mapping"),
        (1239, "expected `str | mapping"),
    ],
)
def test_what_is_no_anchor_is_refused(written: object, message: str) -> None:
    with pytest.raises(InputError) as refused:
        tournament(written)
    assert str(refused.value).startswith("anchor")
    assert message in str(refused.value)


def test_the_manifest_has_an_anchor_only_where_there_is_one() -> None:
    anchored, free = tournament("greedy=1239"), tournament()
    assert anchored.manifest()["anchor"] == {"bot": "greedy", "elo": 1239.0}
    assert "anchor" not in free.manifest()
    text = manifest_text(anchored.manifest())
    assert read_tournament(text).anchor == anchored.anchor
    assert obstacles(anchored.manifest(), free.manifest()) == []
    with pytest.raises(InputError, match="anchor: no bot 'x'"):
        read_tournament(text.replace('"bot": "greedy",\n    "elo"', '"bot": "x",\n    "elo"'))


def test_a_run_goes_on_with_another_anchor(tmp_path: Path) -> None:
    """Nothing is played again; the ratings are on the new scale, also when it is opened."""
    out = tmp_path / "cup"
    library.run(TWO["bots"], pairs=2, out=out, progress=False)
    results = library.run(TWO["bots"], pairs=2, out=out, anchor={"uniform": 1000}, progress=False)
    for table in (results.standings, library.open(out).standings):
        assert table.set_index("bot").loc["uniform", ["elo", "elo_low"]].tolist() == [1000, 1000]
    assert '"extended"' not in (out / "manifest.json").read_text()
    library.run(TWO["bots"], pairs=3, out=out, progress=False)
    assert '"extended": true' in (out / "manifest.json").read_text()
