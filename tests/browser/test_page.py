"""The policy of a page holds in a browser: what it does not name does not run or load."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena.store.html_page import render

TRIES = """
window.ran = [];
window.ran.push("script");
try { eval("window.ran.push('eval')"); } catch {}
try { new Function("window.ran.push('Function')")(); } catch {}
const late = document.createElement("script");
late.textContent = "window.ran.push('inline')";
document.body.append(late);
const link = "<a id='a' href='#' onclick='window.ran.push(1)'>a</a>";
document.body.insertAdjacentHTML("beforeend", link);
document.getElementById("a").click();
fetch("https://example.org/").then(() => window.ran.push("fetch"), () => {});
const image = new Image();
image.onload = () => window.ran.push("image");
image.src = "https://example.org/a.png";
"""


def test_only_the_scripts_of_the_page_run(browser: Any, tmp_path: Path) -> None:
    """No eval, no further script, no handler in an attribute, and nothing is loaded."""
    path = tmp_path / "page.html"
    path.write_text(render("arena.store/page.html", title="A page", libraries=[TRIES]))
    page = browser.new_page()
    sent: list[str] = []
    page.on("requestfinished", lambda request: sent.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_load_state()
    assert page.evaluate("window.ran") == ["script"]
    assert sent == [path.as_uri()]
    page.close()


def test_a_page_that_is_as_it_should_be_is_quiet(
    open_page: Callable[..., Any], tmp_path: Path
) -> None:
    """Its own script runs under the policy, also with `</script` in it."""
    script = "document.title = 'ran </script>';"
    path = tmp_path / "page.html"
    path.write_text(render("arena.store/page.html", title="A page", libraries=[script]))
    assert open_page(path).title() == "ran </script>"
