"""Raises in its import, after another module that prints something once in a process."""

import os
import this  # noqa: F401

raise ImportError(f"not found: {os.path.abspath('model.bin')} for {object()}")
