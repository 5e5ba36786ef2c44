"""What users build on stays as it is: names, keys, options, columns, bytes and folders.

`python -m tests.stability` writes the lists again: read the diff, and docs/stability.md. The
archives in `folders/` stay as the version that names their folder has written them.
"""

from pathlib import Path

_HERE = Path(__file__).parent
PUBLIC = _HERE / "public.txt"
"""What is known without playing a game."""

MADE = _HERE / "made.txt"
"""What commands print and write."""

BYTES = _HERE / "bytes.txt"
FOLDERS = _HERE / "folders"
