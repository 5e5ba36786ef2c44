"""Write a notebook as a page."""

from __future__ import annotations

import json
from pathlib import Path


def to_markdown(path: Path) -> str:
    """Return the cells of a notebook in order, and a link to the notebook itself."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    first, *others = parts
    note = (
        f"This page is a notebook: {{download}}`{path.name}`. Run it to see its tables and plots."
    )
    return "\n\n".join([first, note, *others, ""])
