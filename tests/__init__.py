"""The tests, in folders as the rooms of the house; what several of them use lies here."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The folder of the repository."""
