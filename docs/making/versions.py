"""List the versions of the site for the theme's switcher, which must not need a network.

A site's versions are the folders beside it, each named by a heading of CHANGELOG.md. On a host
the switcher reads `switcher.json` there, so that an old version knows the newer ones. Where the
site has no address, and where it is opened from a file, its list is a part of each page.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

_HEADING = re.compile(r"^## \[?v?(\d+\.\d+(?:\.\w+)*)", re.MULTILINE)
_FIRST: Final = 1
"""The first major version that has a site."""


def list_versions(changelog: str, release: str, url: str) -> list[dict[str, Any]]:
    """Return the entries of the switcher, newest first: this release, and those with a site.

    >>> list_versions("## 1.1.0\\n## 1.0.0\\n## 0.1.0\\n", "1.1.0", "https://example.org/arena/")
    [{'version': '1.1.0', 'url': 'https://example.org/arena/1.1.0/'}, \
{'version': '1.0.0', 'url': 'https://example.org/arena/1.0.0/'}]
    """
    found = [one for one in _HEADING.findall(changelog) if int(one.split(".")[0]) >= _FIRST]
    names = [*dict.fromkeys([release, *found])] if url else [release]
    return [{"version": name, "url": f"{url}{name}/" if url else ""} for name in names]


def _entries(app: Any) -> list[dict[str, Any]]:
    changelog = Path(app.srcdir, "CHANGELOG.md").read_text(encoding="utf-8")
    return list_versions(changelog, app.config.release, app.config.site_url)


def _choose(app: Any, config: Any) -> None:
    """Give the theme the address of the list, or the list itself."""
    entries = _entries(app)
    data = "data:application/json," + quote(json.dumps(entries))
    address = f"{config.site_url}switcher.json" if config.site_url else data
    config.html_theme_options["switcher"] = {
        "json_url": address,
        "version_match": config.release,
    }
    if config.site_url:
        app.add_js_file(
            None,
            body=f'if (location.protocol === "file:") '
            f'DOCUMENTATION_OPTIONS.theme_switcher_json_url = "{data}";',
            priority=900,
        )


def _write(app: Any, failure: Exception | None) -> None:
    """Write the list into the site; on a host it belongs beside the folders of the versions."""
    if failure is None:
        text = json.dumps(_entries(app), indent=1)
        Path(app.outdir, "switcher.json").write_text(f"{text}\n", encoding="utf-8")


def setup(app: Any) -> None:
    """Take part in a build of Sphinx."""
    app.add_config_value("site_url", "", "html")
    app.connect("config-inited", _choose)
    app.connect("build-finished", _write)
