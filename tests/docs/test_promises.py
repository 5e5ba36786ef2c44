"""Each sentence of docs/trust.md and docs/table.md is held by a test, or says why none is needed.

`promises.txt` has the sentences of both pages in their order. Below each stand the tests that
hold it, or a line that begins with `-` and says why there is none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests import ROOT, rogues

PAGES = ("trust", "table")
PROMISES = (ROOT / "tests" / "docs" / "promises.txt").read_text()
_LIST_ITEM = re.compile(r"^(?:-|\d+\.) ")
_END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\))) +(?=[^a-z])")


def paragraphs(page: str) -> Iterator[str]:
    """Yield each paragraph, list item and row of a table in one line; no heading and no code."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    lines: list[str] = []
    for line in [*text.splitlines(), ""]:
        words = line.strip()
        is_new = not words or words.startswith(("|", "#")) or _LIST_ITEM.match(words)
        if is_new and lines:
            yield " ".join(lines)
            lines = []
        if words and not words.startswith(("#", "![")) and words.strip("|- "):
            lines.append(words)


def sentences(page: str) -> list[str]:
    """Return the sentences of a page, without the marks of lists; a row of a table is one."""
    found = []
    for paragraph in paragraphs(page):
        if paragraph.startswith("|"):
            found.append(paragraph)
        else:
            found += _END.split(_LIST_ITEM.sub("", paragraph))
    return found


def promises(page: str) -> list[tuple[str, list[str]]]:
    """Return each sentence that the map has of a page, with what holds it."""
    part = PROMISES.split(f"# docs/{page}.md\n")[1].split("\n# docs/")[0]
    found = []
    for block in re.split(r"\n\n+", part.strip("\n")):
        lines = block.splitlines()
        said = " ".join(line for line in lines if not line.startswith("    "))
        found.append((said, [line.strip() for line in lines if line.startswith("    ")]))
    return found


@cache
def names_in(file: str) -> set[str]:
    """Return the names of the tests in a file, without importing it."""
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES)
def test_the_map_has_the_sentences_of_the_page(page: str) -> None:
    """All of them and no others, in their order: whoever changes one looks at its tests."""
    said = sentences((ROOT / "docs" / f"{page}.md").read_text())
    mapped = [sentence for sentence, _ in promises(page)]
    assert [one for one in said if one not in mapped] == []
    assert [one for one in mapped if one not in said] == []
    assert mapped == said


@pytest.mark.parametrize("page", PAGES)
def test_each_sentence_is_held_by_tests_that_exist(page: str) -> None:
    """Or by a reason in words, and never by both."""
    for sentence, held in promises(page):
        reasons = [line for line in held if line.startswith("- ")]
        assert held, sentence
        assert not reasons or held == reasons[:1], sentence
        for line in held if not reasons else []:
            file, _, name = line.partition("::")
            assert name.startswith("test_"), line
            assert name in names_in(file), line


def test_a_sentence_ends_where_a_reader_ends_it() -> None:
    """Rows, items and footnotes are found; headings and code are no sentences."""
    page = (
        "# Head\n\nOne `a.b` is. `Two` is\nlong. (So it is.) Process 1. A bot\n\n"
        "```text\nNo.\n```\n"
        "| a | b |\n|---|---|\n| c | d. E. |\n\n1. Foot. Note\n   on, e.g. this.\n- item;\n- end.\n"
    )
    assert sentences(page) == [
        *(
            "One `a.b` is.",
            "`Two` is long.",
            "(So it is.)",
            "Process 1.",
            "A bot",
            "| a | b |",
            "| c | d. E. |",
        ),
        *("Foot.", "Note on, e.g. this.", "item;", "end."),
    ]


def test_there_are_about_a_hundred_rogues() -> None:
    """With their variants; and the study kills as often as the page says."""
    kinds = (rogues.ROGUES, rogues.ESCAPING, rogues.UNTRUE, rogues.COMMANDS)
    assert 90 <= sum(map(len, kinds)) <= 120
    source = (ROOT / "tests" / "runs" / "test_kills.py").read_text()
    assert '"ARENA_KILLS", "500"' in source
