"""Run in a jail: build a program in a copy of its folder, and hand the folder back as an archive.

Usage: `python builder.py FOLDER WORD...`. It speaks the protocol of bots: `hello` is answered at
once, the first message `piece` runs the build, and each asks for a part of the archive by its
number from 0. It is in the build's power: nothing it says is trusted.
"""

import base64
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PIECE = 45_000
"""The most bytes of a part of the archive: its line must not exceed 64 KB."""


def build(source: str, words: list[str]) -> bytes:
    """Run the build, which prints to standard error, and return the archive of the folder then.

    Links to files are followed; what else is not a file is left out.
    """
    folder = Path(os.environ["HOME"], "bot")
    shutil.copytree(source, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
    with zipfile.ZipFile(buffer := io.BytesIO(), "w", strict_timestamps=False) as archive:
        for path in filter(Path.is_file, folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


if __name__ == "__main__":
    packed = b""
    for message in map(json.loads, sys.stdin):
        answer = {"id": message["id"], "ready": True}
        try:
            packed = packed or ("number" in message and build(sys.argv[1], sys.argv[2:])) or b""
            begin = PIECE * message.get("number", 0)
            answer["output"] = base64.b64encode(packed[begin : begin + PIECE]).decode()
        except OSError as error:
            answer["error"] = f"{error}; a build sees what is in /usr and /opt"
        except subprocess.CalledProcessError as error:  # a status below 0 is a signal
            answer["error"] = f"exit status {error.returncode}"
        print(json.dumps(answer), flush=True)
