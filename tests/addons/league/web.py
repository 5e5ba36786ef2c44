"""A league's web in this process, asked as programs and browsers ask it, also by a proxy."""

from __future__ import annotations

import json
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from arena.addons.league import post, web
from tests.waiting import PATIENCE

BOUNDARY = "a-line-between-parts"
KIND = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def form(file: str, content: bytes, name: str = "") -> bytes:
    """Return the body of a form with a file, as browsers send it."""
    parts = [
        f'Content-Disposition: form-data; name="name"\r\n\r\n{name}\r\n'.encode(),
        f'Content-Disposition: form-data; name="file"; filename="{file}"\r\n'
        f"Content-Type: text/x-python\r\n\r\n".encode()
        + content
        + b"\r\n",
    ]
    line = f"--{BOUNDARY}".encode()
    return b"".join(line + b"\r\n" + part for part in parts) + line + b"--\r\n"


class Client:
    """Somebody who reaches the port; every answer comes with all its bytes."""

    def __init__(self, url: str, folder: Path) -> None:
        self.origin = url.rstrip("/")
        self.port = int(self.origin.rpartition(":")[2])
        self.folder = folder

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request, and return the whole answer."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            return answer, answer.read()

    def invite(self, owner: str) -> dict[str, str]:
        """Return the headers of a program of an owner."""
        return {"Authorization": f"Bearer {post.invite(self.folder, owner)}"}

    def hand_in(
        self, token: Mapping[str, str], file: str, content: bytes, name: str = ""
    ) -> tuple[int, Any]:
        """Hand in a file; return the status, and the receipt or the error."""
        answer, data = self.send("POST", "/hand-in", {**token, **KIND}, form(file, content, name))
        return answer.status, json.loads(data)

    def uploads(self, token: Mapping[str, str]) -> Any:
        """Return what the page says of an owner's uploads."""
        answer, data = self.send("GET", "/", token)
        assert answer.status == 200, data
        return json.loads(data)["uploads"]


@contextmanager
def serving(folder: Path) -> Iterator[Client]:
    """Yield a client of a league's web, which ends afterwards."""
    with web.serving(folder, 0, "127.0.0.1") as (url, _):
        yield Client(url, folder)


PREFIX = "/club"
_OWN = ("connection", "keep-alive", "transfer-encoding", "content-length")


def make_certificate(folder: Path) -> Path:
    """Return a file with a key and a certificate that it has signed itself."""
    key, certificate, both = folder / "key.pem", folder / "certificate.pem", folder / "both.pem"
    words = ("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2")
    subject = ("-subj", "/CN=localhost")
    subprocess.run(
        [*words, *subject, "-keyout", key, "-out", certificate], check=True, capture_output=True
    )
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    return both


@contextmanager
def proxied(port: int, certificate: Path) -> Iterator[str]:
    """Yield an address that leads to a port of this machine, without the prefix."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Pass a request on."""
            assert self.path.startswith(PREFIX), self.path
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = dict(self.headers.items()) | {
                "X-Forwarded-Proto": "https",
                "Connection": "close",
            }
            with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
                connection.request(self.command, self.path.removeprefix(PREFIX), body, headers)
                answer = connection.getresponse()
                content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}{PREFIX}"
    finally:
        server.shutdown()
        server.server_close()
