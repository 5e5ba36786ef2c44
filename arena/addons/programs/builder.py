"""Run in a jail: build a program in a copy of its folder, and hand back the files it made.

Usage: `python builder.py FOLDER WORD...`. It speaks the protocol of bots: `hello` is answered at
once, the message `piece` of number 0 runs the build, and each higher number asks for a part of the
archive of new and changed files. It is in the build's power: nothing it says is trusted.
"""

import base64
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator

PIECE = 45_000
"""The most bytes of a part of the archive: its line must not exceed 64 KB."""

_HEAD, _TAIL = 1000, 3000  # characters of the build's output that are kept
_MOST_FILES = 1000
_READ = 1 << 16
_PATIENCE = 0.1  # seconds in which output must end that a child of the build holds open


class Said:
    """The beginning and the end of a process's output."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""

    def read(self, source: int) -> None:
        """Read until the output ends."""
        while data := os.read(source, _READ):
            self.head += data[: _HEAD - len(self.head)]
            self.tail = (self.tail + data)[-_TAIL:]

    @property
    def text(self) -> str:
        """The output; its middle is left out if it is long."""
        if len(self.head) < _HEAD:
            return self.head.decode("utf-8", "replace")
        apart = self.head not in self.tail
        return (self.head + b"\n...\n" * apart + self.tail).decode("utf-8", "replace")


def build(words: list[str], folder: str) -> tuple[str, str]:
    """Run the build; return why it failed, "" if it did not, and its output."""
    said = Said()
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except OSError as error:
        return f"{words[0]}: {error.strerror}; a build sees what is in /usr and /opt", ""
    assert process.stdout is not None
    reader = threading.Thread(target=said.read, args=(process.stdout.fileno(),), daemon=True)
    reader.start()
    status = process.wait()
    reader.join(_PATIENCE)
    how = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
    return how if status else "", said.text


def find_made(folder: str, source: str) -> Iterator[str]:
    """Yield the files in a folder that the source lacks or has otherwise, by relative path.

    Raises ValueError for anything that is neither a file nor a folder.
    """
    for place, folders, files in os.walk(folder):
        for path in (os.path.join(place, name) for name in (*folders, *files)):
            relative = os.path.relpath(path, folder)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                raise ValueError(f"made a link, {relative}: copy what it leads to")
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ValueError(f"made {relative}, which is not a file")
            if stat.S_ISREG(mode) and not _is_same(path, os.path.join(source, relative)):
                yield relative


def _is_same(path: str, other: str) -> bool:
    if not os.path.isfile(other):
        return False
    with open(path, "rb") as file, open(other, "rb") as source:
        return file.read() == source.read()


def pack(folder: str, source: str) -> bytes:
    """Return the archive of the files that were made, empty without any."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in find_made(folder, source):
            with open(os.path.join(folder, name), "rb") as file:
                archive.writestr(zipfile.ZipInfo(name), file.read())
            if len(archive.infolist()) > _MOST_FILES:
                raise ValueError(f"made more than {_MOST_FILES:,} files")
        made = archive.namelist()
    return buffer.getvalue() if made else b""


def main(source: str, words: list[str]) -> None:
    """Answer messages until the input ends."""
    folder = os.path.join(os.environ["HOME"], "bot")
    packed = b""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        answer = {"id": message["id"]}
        if message["type"] == "hello":
            answer["ready"] = True
        elif number := message["number"]:
            part = packed[(number - 1) * PIECE : number * PIECE]
            answer["output"] = base64.b64encode(part).decode()
        else:
            shutil.copytree(source, folder)
            for place, _, files in os.walk(folder):
                for path in (place, *(os.path.join(place, name) for name in files)):
                    os.chmod(path, stat.S_IRWXU)
            why, answer["output"] = build(words, folder)
            try:
                packed = b"" if why else pack(folder, source)
            except (OSError, ValueError) as error:
                why = str(error)
            answer["traceback"] = why
            answer["games"] = -(-len(packed) // PIECE)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
