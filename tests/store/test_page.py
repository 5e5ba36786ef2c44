"""A page is one file: what is in it is text, and only its own scripts may run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.reports import html as bundle
from arena.reports.blocks import Chart, Report, Section
from arena.store.html_page import content_policy, render, static, to_data
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
    page = render("arena.store/page.html", title=text)
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


def test_a_number_that_is_none_cannot_be_written() -> None:
    """NaN is no JSON, and a browser would refuse the whole data."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_data([float("nan")])


def test_the_static_files_of_every_room_are_read() -> None:
    """By the room's name; tests/packaging sees that a wheel has them."""
    files = [path for path in (ROOT / "arena").rglob("static/*") if path.is_file()]
    assert files
    for path in files:
        package = ".".join(path.parent.parent.relative_to(ROOT).parts)
        assert static(f"{package}/{path.name}")


def test_the_chart_bundle_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the cache folder is used, and a folder that cannot be made is no obstacle."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = []
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda text: made.append(text) or "bundle")
    for _ in range(2):
        bundle.chart_bundle.cache_clear()
        assert bundle.chart_bundle() == "bundle"
    assert len(made) == 1
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    bundle.chart_bundle.cache_clear()
    assert bundle.chart_bundle() == "bundle"
    bundle.chart_bundle.cache_clear()


def test_a_report_names_who_wrote_its_charts_library() -> None:
    """What vl-convert brings stands in its binary; only a page with charts has the script."""
    import vl_convert

    text = static("arena.reports/notices.txt")
    (binary,) = Path(vl_convert.__file__).parent.glob("*.so")
    names = set(re.findall(rb"npm/([\w.-]+)@\d", binary.read_bytes()))
    assert {b"vega", b"vega-lite", b"vega-embed", b"d3-array"} < names
    said = set(re.findall(r"[\w.-]+", text.partition("BSD 3-Clause\n\n")[0]))
    assert not [n for one in names if (n := one.decode()) not in said and n[:5] != "vega-"]
    spec = {"mark": "bar", "data": {"values": []}}
    chart = Chart("one", "One", "", spec)
    section = Section("one", "One", [chart])
    assert text in bundle.to_html(Report("x", [], [section]))
    assert "BSD 3-Clause" not in bundle.to_html(Report("x", [], []))


def test_a_kept_bundle_needs_no_converter() -> None:
    """A page with charts is written without loading vl_convert, which has a JavaScript engine."""
    code = (
        "from arena.reports.html import chart_bundle; import sys; "
        "assert 'vegaEmbed' in chart_bundle(); print('vl_convert' in sys.modules)"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert outputs[-1].stdout == "False\n"
