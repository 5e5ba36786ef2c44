"""The list of runs beside their folders: a row for each report, and nothing of others touched."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from arena.reports.blocks import to_paragraph
from arena.reports.html import renew_index
from tests.conftest import Arena

HOSTILE = "<b>&amp;'\"\u202e #?%"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return an empty folder of results."""
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


def add(folder: Path, name: str, sentence: str = "a is first.", time: int = 1_700_000_000) -> Path:
    """Make the folder of a run as far as the list reads it."""
    run = folder / name
    run.mkdir()
    for file, text in (
        ("report.html", "<!doctype html>"),
        ("report.md", f"# Run\n\n{to_paragraph(sentence)}\n"),
        ("manifest.json", "{}"),
    ):
        (run / file).write_text(text)
        os.utime(run / file, (time, time))
    return run


def rows(folder: Path) -> list[tuple[str, ...]]:
    """Return the date, the link, the name and the sentence of each row of a list."""
    cells = '<a href="(.*?)">(.*?)</a><td class=mono><code>(.*?)</code><td class=.*?>(.*)'
    row = re.compile(f'<tr><th scope="row".*?>{cells}$', re.M)
    found = row.findall((folder / "index.html").read_text())
    return [(when, link, name, sentence) for link, name, when, sentence in found]


def test_a_run_and_a_tuning_are_rows(arena: Arena, tmp_path: Path) -> None:
    """With the first sentence of their reports; a second writing changes no byte."""
    words = ("greedy", "uniform", "--seed", "1", "--quiet")
    assert arena("play", *words, "--pairs", "3", "--out", "results/cup").returncode == 0
    ((_, link, name, sentence),) = rows(tmp_path / "results")
    assert (link, name) == ("./cup/report.html", "cup")
    assert sentence in (tmp_path / "results" / "cup" / "report.md").read_text().replace("\\", "")
    page = (tmp_path / "results" / "index.html").read_bytes()
    renew_index(tmp_path / "results" / "cup")
    assert (tmp_path / "results" / "index.html").read_bytes() == page
    assert arena("play", *words, "--pairs", "1", "--out", "elsewhere/cup").returncode == 0
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["cup"]


def test_the_last_written_is_first_and_names_are_text(results: Path) -> None:
    """A name and a sentence are escaped, and the link is quoted; without a page, to the text."""
    add(results, "old", time=1_000_000_000)
    hostile = add(results, HOSTILE, HOSTILE)
    (hostile / "report.html").unlink()
    renew_index(hostile)
    first, second = rows(results)
    shown = "&lt;b&gt;&amp;amp;&#39;&#34;\\u202e #?%"
    link = "./%3Cb%3E%26amp%3B%27%22%E2%80%AE%20%23%3F%25/report.md"
    assert first == ("2023-11-14 22:13", link, shown, shown)
    assert second[:3] == ("2001-09-09 01:46", "./old/report.html", "old")


def test_what_is_no_run_is_skipped(results: Path, tmp_path: Path) -> None:
    """Files, links, hidden and empty folders, a report that is a link, a pipe or no text."""
    run = add(results, "cup")
    secret = add(tmp_path, "secret", "secret")
    (results / "linked").symlink_to(secret)
    add(results, ".hidden")
    (results / "empty").mkdir()
    (results / "notes.txt").write_text("")
    link, pipe, inner = (add(results, name) / "report.md" for name in ("link", "pipe", "inner"))
    for odd in (link, pipe, inner):
        odd.unlink()
    link.symlink_to(secret / "report.md")
    os.mkfifo(pipe)
    inner.mkdir()
    (add(results, "noise") / "report.md").write_bytes(b"\xff\xfe\0")
    renew_index(run)
    assert {row[2] for row in rows(results)} == {"cup", "noise"}


def test_another_file_of_this_name_is_not_touched(results: Path, tmp_path: Path) -> None:
    """Neither a page of somebody's own, nor a link, a folder, or one where nothing can be made."""
    run, page = add(results, "cup"), results / "index.html"
    other = tmp_path / "other.html"
    page.write_text("mine")
    renew_index(run)
    assert page.read_text() == "mine"
    page.unlink()
    for target in (other, results):
        page.symlink_to(target)
        renew_index(run)
        assert page.is_symlink()
        page.unlink()
    assert not other.exists()
    page.mkdir()
    renew_index(run)
    assert page.is_dir()
    page.rmdir()
    renew_index(results / "gone" / "deeper")
    shutil.rmtree(results)
    renew_index(run)
    assert not results.exists()
