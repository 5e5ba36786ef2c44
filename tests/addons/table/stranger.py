"""Stranger: another user of this machine, who wants `arena table` to start a program for him.

Reads what everybody may read: the command lines of all processes, again and again, and the files
of the temporary folder. Knocks with each address that it finds, at once, and asks who is let in
for a bot that is a command. Ends when its input ends, and prints what it has found and done.

With `close` or `reset` it only asks, with what it was handed, and ends its connections before
it could be known whose they are. With `hold` it only keeps as many connections open as it can, and
says of how many the other end was closed.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_ADDRESS = re.compile(rb"http://127\.0\.0\.1:\d+/[^\s\"'<>\0]*")
_PAGE = re.compile(rb"(?:file://)?(/[^\s\0]+\.html)")
_PATIENCE = 600.0
_GLANCE = 0.01  # seconds between two looks: a test makes the browser wait until it was seen


def command_lines() -> Iterator[bytes]:
    """Yield the command line of every process but this one."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with suppress(OSError):
                yield Path("/proc", name, "cmdline").read_bytes()


def readable(path: Path) -> bool:
    """Return whether everybody may read a file; a test may run this as the owner."""
    with suppress(OSError):
        above = [folder.stat().st_mode & stat.S_IXOTH for folder in path.parents]
        return bool(all(above) and path.stat().st_mode & stat.S_IROTH and path.is_file())
    return False


def knock(address: str, cookie: str = "") -> Iterator[dict[str, Any]]:
    """Open an address as a browser does; where it lets one in, ask for a command as a bot.

    With the cookie of a browser that is in, ask at once.
    """
    parts = urlsplit(address)
    for host in ("127.0.0.1", "::ffff:127.0.0.1"):
        got: dict[str, Any] = {"address": address, "status": None, "began": None}
        try:
            connection = HTTPConnection(host, parts.port, timeout=_PATIENCE)
            connection.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
            answer = connection.getresponse()
            answer.read()
            got["status"] = answer.status
            own = cookie or str(answer.headers["set-cookie"] or "").partition(";")[0]
            if own:
                root = str(answer.headers["location"] or parts.path)
                got["began"] = begin_command(connection, parts.netloc, root, own)
        except (OSError, HTTPException) as error:
            got["status"] = str(error)
        yield got


def begin_command(connection: HTTPConnection, place: str, root: str, cookie: str) -> str:
    connection.request("POST", f"{root}api/games", *command_to_begin(place, cookie))
    answer = connection.getresponse()
    return f"{answer.status} {answer.read().decode()}"


def command_to_begin(place: str, cookie: str) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a request for a bot that is a command."""
    headers = {"Cookie": cookie, "Origin": f"http://{place}", "Host": place}
    headers["Content-Type"] = "application/json"
    body = json.dumps({"bot": f"cmd:sh -c 'id -u > {Path.cwd()}/id'", "begins": "bot"})
    return body.encode(), headers


def ask_and_leave(address: str, cookie: str, ending: str) -> None:
    """Ask for a command as a bot, and close the connection, or reset it, at once."""
    parts = urlsplit(address)
    body, headers = command_to_begin(parts.netloc, cookie)
    headers["Content-Length"] = str(len(body))
    lines = [f"POST {parts.path}api/games HTTP/1.1", *map(": ".join, headers.items()), "", ""]
    request = "\r\n".join(lines).encode() + body
    connection = socket.create_connection(("127.0.0.1", parts.port or 0))
    if ending == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.sendall(request)
    connection.close()


def hold(address: str, number: int = 205) -> int:
    """Hold connections on which half a request has come, or none; return how many were closed."""
    held = []
    for half in range(number):
        held.append(socket.create_connection(("127.0.0.1", urlsplit(address).port or 0)))
        with suppress(OSError):
            held[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" if half % 2 else b"")
    return sum(map(is_closed, held))


def is_closed(connection: socket.socket) -> bool:
    """Wait until the other end of a connection is closed."""
    connection.settimeout(_PATIENCE)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def look(temporary: Path, addresses: set[str], closed: set[str]) -> Iterator[str]:
    """Yield each address that has not been found yet; keep the pages that cannot be read."""
    seen = [*command_lines()]
    named = {Path(os.fsdecode(name)) for line in seen for name in _PAGE.findall(line)}
    pages = {path for path in named if temporary in path.parents}
    for path in {*pages, *temporary.rglob("*")}:
        if readable(path):
            with suppress(OSError):
                seen.append(path.read_bytes())
        elif path in pages and str(path) not in closed:
            closed.add(str(path))
            note(str(path))
    for text in seen:
        for match in _ADDRESS.findall(text):
            address = match.decode(errors="replace")
            if "token" in address and address not in addresses:
                addresses.add(address)
                yield address
                note(address)


def note(what: str) -> None:
    """Write down what was seen, so that a test knows that it was."""
    with Path("seen").open("a") as file:
        file.write(f"{what}\n")


def main(temporary: Path, handed: list[list[str]]) -> None:
    """Look until the input ends; `handed` are addresses and cookies that came in another way."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    addresses, closed = {address for address, _ in handed}, set[str]()
    got = [one for address, cookie in handed for one in knock(address, cookie)]
    print("looking", flush=True)
    while True:
        last = ended.is_set()
        for address in look(temporary, addresses, closed):
            got += knock(address)
        if last:
            break
        time.sleep(_GLANCE)
    print(json.dumps({"got": got, "closed": sorted(closed)}))


if __name__ == "__main__":
    handed = Path("handed")  # a command line would tell them to every other stranger
    if sys.argv[2:] == ["hold"]:
        print(*[hold(address) for address, _ in json.loads(handed.read_text())], flush=True)
        sys.stdin.read()
        print("[]")
    elif len(sys.argv) > 2:
        for address, cookie in json.loads(handed.read_text()) * 5:
            ask_and_leave(address, cookie, sys.argv[2])
        print("[]")
    else:
        main(Path(sys.argv[1]), json.loads(handed.read_text()))
