"""Run in a jail: build a program in a copy of its folder, and hand the folder back as an archive.

Usage: `python builder.py FOLDER WORD...`. It speaks the protocol of bots: `hello` is answered at
once, the message `piece` of number 0 runs the build, and each higher number asks for a part of the
archive. It is in the build's power: nothing it says is trusted.
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
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", strict_timestamps=False) as archive:
        for path in filter(Path.is_file, folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return buffer.getvalue()


def main(source: str, words: list[str]) -> None:
    """Answer messages until the input ends."""
    packed = b""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        answer = {"id": message["id"], "ready": True}
        number = message.get("number")
        try:
            if number == 0:
                packed = build(source, words)
            elif number:
                part = packed[(number - 1) * PIECE : number * PIECE]
                answer["output"] = base64.b64encode(part).decode()
        except OSError as error:
            answer["error"] = f"{error}; a build sees what is in /usr and /opt"
        except (subprocess.SubprocessError, ValueError) as error:
            answer["error"] = str(error)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
