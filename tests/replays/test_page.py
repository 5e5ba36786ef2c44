"""A page is one file: what is in it is text, and only its own scripts may run."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.replays import html_page
from arena.replays.html_page import content_policy, render, static, to_data
from tests import ROOT

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--",
    "\u2028\u2029",
    "&amp;",
    "'\"",
    "\u202eevil",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_data_cannot_leave_its_element(text: str) -> None:
    """It is JSON of the same text, without a character that HTML or a script could act on."""
    data = str(to_data({text: [text]}))
    assert json.loads(data) == {text: [text]}
    assert not re.search("[<>&\u2028\u2029]", data)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_title_is_text(text: str) -> None:
    """Jinja escapes what a template is given."""
    page = render("arena.replays/page.html", title=text)
    title = page.split("<title>")[1].split("</title>")[0]
    assert not re.search("[<>'\"]", title)
    assert page.count("<script") == 0


def test_the_policy_has_no_network_and_no_eval() -> None:
    """Nothing is allowed but the scripts with these hashes and inline styles."""
    policy = content_policy(["let a = 1"])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert policy.count("unsafe-inline") == 1
    assert not re.search(r"https?:|\*", policy)
    assert "script-src 'none'" in content_policy([])


def test_the_static_files_of_every_room_are_read() -> None:
    """By the room's name; tests/packaging sees that a wheel has them."""
    files = [path for path in (ROOT / "arena").rglob("static/*") if path.is_file()]
    assert files
    for path in files:
        package = ".".join(path.parent.parent.relative_to(ROOT).parts)
        assert static(f"{package}/{path.name}")


def compiled(cache: Path) -> tuple[str, int]:
    """Render a page in a new process with this cache; return its length, and what was compiled."""
    code = (
        "import jinja2; made = []; compile = jinja2.Environment.compile\n"
        "jinja2.Environment.compile = lambda *a, **b: made.append(a) or compile(*a, **b)\n"
        "from arena.replays.html_page import render\n"
        "print(len(render('arena.replays/page.html', title='x')), len(made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    length, made = done.stdout.split()
    return length, int(made)


@pytest.mark.slow
def test_compiled_templates_are_kept(tmp_path: Path) -> None:
    """The second process compiles none, and its page is the same; nobody else can read them."""
    length, first = compiled(tmp_path)
    assert first
    assert compiled(tmp_path) == (length, 0)
    (kept,) = (tmp_path / "district-noir-arena").glob("templates-*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    for file in kept.iterdir():
        file.write_bytes(b"damaged")
    assert compiled(tmp_path) == (length, first)


def test_compiled_templates_of_others_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are code: a folder into which others can write, or a link to one, is left alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = html_page._find_compiled()
    assert folder is not None
    folder.chmod(0o770)
    assert html_page._find_compiled() is None
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    assert html_page._find_compiled() is None
    folder.unlink()
    folder.parent.chmod(0o707)
    assert html_page._find_compiled() is None
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert html_page._find_compiled() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/nowhere/at/all")
    assert html_page._find_compiled() is None or os.access("/nowhere", os.F_OK)
