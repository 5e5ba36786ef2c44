"""The tests: a folder for each room; modules that several folders use are here."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
"""The folder of the repository."""
