"""An anchor: how it is written, where it is kept, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import arena as library
from arena.errors import InputError
from arena.store.manifest import manifest_text, obstacles, read_tournament
from arena.tournament.config import convert, make_tournament, override
from arena.tournament.tournament import Anchor, Tournament, read_anchor
from tests.conftest import Arena

TWO = {"bots": ["greedy", "uniform"], "pairs": 2}


def tournament(written: object = None, **more: str) -> Tournament:
    data = TWO if written is None else TWO | {"anchor": written}
    return make_tournament(override(convert(data, "cup"), **more))


@pytest.mark.parametrize("written", ["greedy=1239", " greedy = 1239.0", {"greedy": 1239}])
def test_it_is_a_text_or_a_mapping(written: object) -> None:
    """In a config; an option comes before it."""
    assert tournament(written).anchor == Anchor("greedy", 1239.0)
    assert tournament(written, anchor="uniform=-5").anchor == Anchor("uniform", -5.0)


def test_a_label_may_have_equals_signs() -> None:
    """The Elo follows the last of them."""
    assert read_anchor("a=b=7", ["a=b"]) == Anchor("a=b", 7.0)
    assert read_anchor("bot(depth=3)=7", ["bot(depth=3)"]) == Anchor("bot(depth=3)", 7.0)


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
    """In one line that begins with the key."""
    with pytest.raises(InputError) as refused:
        tournament(written)
    assert str(refused.value).startswith("anchor")
    assert message in str(refused.value)


def test_the_manifest_has_it_only_where_there_is_one() -> None:
    """Read back it is the same; a run goes on with another one, because it changes no game."""
    anchored, free = tournament("greedy=1239"), tournament()
    assert anchored.manifest()["anchor"] == {"bot": "greedy", "elo": 1239.0}
    assert "anchor" not in free.manifest()
    text = manifest_text(anchored.manifest())
    assert read_tournament(text).anchor == anchored.anchor
    assert obstacles(anchored.manifest(), free.manifest()) == []
    with pytest.raises(InputError, match="anchor: no bot 'x'"):
        read_tournament(text.replace('"bot": "greedy",\n    "elo"', '"bot": "x",\n    "elo"'))


@pytest.mark.slow
def test_a_run_goes_on_with_another_anchor(tmp_path: Path) -> None:
    """Nothing is played again; the ratings are on the new scale, also when it is opened."""
    out = tmp_path / "cup"
    library.run(TWO["bots"], pairs=2, out=out, progress=False)
    results = library.run(TWO["bots"], pairs=2, out=out, anchor={"uniform": 1000}, progress=False)
    for table in (results.standings, library.open(out).standings):
        assert table.set_index("bot").loc["uniform", ["elo", "elo_low"]].tolist() == [1000, 1000]


@pytest.mark.slow
def test_the_command_line_takes_it_and_says_what_is_wrong(arena: Arena) -> None:
    """The JSON document has it; an unknown bot is one line and exit status 2."""
    words = ["play", "greedy", "uniform", "--pairs", "2", "--workers", "1", "--anchor"]
    document = json.loads(arena(*words, "greedy=1239", "--json").stdout)
    assert document["anchor"] == {"bot": "greedy", "elo": 1239.0}
    assert [row["elo"] for row in document["standings"] if row["bot"] == "greedy"] == [1239.0]
    wrong = arena(*words, "champion=1")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: anchor: no bot 'champion' in this run; there are ")
