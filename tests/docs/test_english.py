"""Docstrings and pages are without turns that no reader of English expects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests import ROOT

TURNS = {
    "a noun is missing before 'who': the bot that, the player who": (
        r"\b(?:of|for|to|by|with|against|from|than) who\b(?! (?:is|was|chooses|wins)\b)"
        r"|^Who (?:has|leads|may|wants)\b"
    ),
    "say which value it is not: another value, no executor": r"\b(?:or|that|what|which) is none\b",
    "name the result": r"\bwhat (?:\w+ ){1,3}(?:came|comes) to\b",
    "say 'this many' or the number": r"\b(?:for|from|in|of|on|with) so many\b(?! (?:that|as)\b)",
    "write, change, break or invalidate": r"\bspoil(?:s|t|ed)\b",
    "notes, records or stores": r"\btakes? note\b",
    "reports, shows or says": r"\b(?:tells?|told) of\b",
}
"""What is wrong, or better, and the pattern of the turn in a sentence."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield docstrings without their examples, and pages without their code, with their places."""
    for top in ("arena", "bots", "engine"):
        for path in sorted((ROOT / top).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                    text = (ast.get_docstring(node) or "").partition(">>>")[0]
                    yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', '')}", text
    for path in [*ROOT.glob("[!C]*.md"), ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]:
        if "site" not in path.relative_to(ROOT).parts:
            code = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
            yield str(path.relative_to(ROOT)), code.sub("", path.read_text(encoding="utf-8"))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each in one line; an item or a row begins one."""
    for part in re.split(r"\n\n|\n(?=[-|#])", text):
        yield from re.split(r"(?<=[.:?!])\s+", " ".join(part.split()))


@pytest.mark.slow
def test_no_text_has_a_turn_that_is_surely_odd() -> None:
    """The list is short: what may also be good English is left to the reader."""
    every = [(place, one) for place, text in texts() for one in sentences(text)]
    for better, turn in TURNS.items():
        assert not [(place, one) for place, one in every if re.search(turn, one)], better


def test_the_turns_are_found() -> None:
    """Each in an example, and none in good sentences."""
    odd = (
        *("Say what a card is worth to who takes it.", "Raise it for what is none."),
        *("Print what the run came to.", "Wait for so many seconds."),
        *("It spoils a run.", "Take note of it.", "It tells of a game."),
    )
    for sentence in odd:
        assert [name for name, turn in TURNS.items() if re.search(turn, sentence, re.IGNORECASE)]
    good = (
        "None if there is none. It depends on who is asked. Of so many that none is left. Who wins?"
    )
    assert not [one for one in sentences(good) if re.search("|".join(TURNS.values()), one)]
