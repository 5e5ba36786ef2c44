"""Browser: opens what it is given, when a test lets it, and goes on from there.

It is given a page of its owner's, whose address it follows, or the address itself. It waits for a
file; what it was given, the address, and the page that it reached are written to another.
"""

from __future__ import annotations

import json
import re
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_GLANCE = 0.02  # seconds between looks at the file


def main(awaited: Path, kept: Path, given: str) -> None:
    """Write what happened to a file."""
    while not awaited.exists():
        time.sleep(_GLANCE)
    address = given
    if given.startswith("file:"):
        page = Path(unquote(urlsplit(given).path)).read_text()
        address = re.findall(r'content="0; url=([^"]+)"', page)[0]
    parts = urlsplit(address)
    connection = HTTPConnection(str(parts.hostname), parts.port)
    connection.request("GET", f"{parts.path}?{parts.query}")
    answer = connection.getresponse()
    content = answer.read().decode()
    cookie = str(answer.headers["set-cookie"]).partition(";")[0]
    following = answer.headers["location"] or re.findall(r"url=([^\"]+)", content)[0]
    home = urlsplit(urljoin(address, following)).path
    connection.request("GET", home, headers={"Cookie": cookie})
    answer = connection.getresponse()
    reached = {"given": given, "address": address, "status": answer.status, "home": home}
    part = kept.with_suffix(".part")
    part.write_text(json.dumps(reached))
    part.rename(kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
