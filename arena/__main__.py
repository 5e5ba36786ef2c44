"""`python -m arena` is the command `arena`."""

import sys


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported is quiet, too."""
    try:
        from arena.cli import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
