"""Run in a jail: build a program in a copy of its folder, and hand the folder back as an archive.

Usage: `python builder.py FOLDER WORD...`. It speaks the protocol of bots: `hello` is answered at
once, the next message runs the build, and each asks for the next part of the archive. It is in the
build's power: nothing it says is trusted.
"""

import base64
import json
import os
import shutil
import subprocess
import sys

PIECE = 45_000
"""The most bytes of a part of the archive: its line must not exceed 64 KB."""


def build(source: str, words: list[str]) -> bytes:
    """Run the build, which prints to standard error, and return the archive of the folder then.

    Links to files are followed; what else is not a file is left out.
    """
    folder = shutil.copytree(source, f"{os.environ['HOME']}/bot")
    subprocess.run(["chmod", "-R", "755", folder], check=True)
    subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=True)
    with open(shutil.make_archive(folder, "zip", folder), "rb") as archive:
        return archive.read()


if __name__ == "__main__":
    left = None
    for number in map(int, (json.loads(line)["id"] for line in sys.stdin)):
        answer: dict[str, object] = {"id": number, "ready": True}
        try:
            if number:
                left = memoryview(build(sys.argv[1], sys.argv[2:])) if left is None else left
                answer["output"], left = base64.b64encode(left[:PIECE]).decode(), left[PIECE:]
        except OSError as error:
            answer["error"] = f"{error}; a build sees what is in /usr and /opt"
        except subprocess.CalledProcessError as error:  # a status below 0 is a signal
            answer["error"] = f"exit status {error.returncode}"
        print(json.dumps(answer), flush=True)
