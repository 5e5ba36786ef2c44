"""`python -m arena` is the command `arena`."""

import os
import sys

# what Python says where there was no memory to read a folder, a library or a module
_SIGNS = ("allocate memory", "map segment", "without exception set")


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported is quiet, too."""
    try:
        from arena.cli import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if not isinstance(error, MemoryError) and not any(sign in str(error) for sign in _SIGNS):
            raise
        sys.exit(f"error: too little memory to begin: {error!r}")  # ulimit -v is below 20 MB
    command()


def _leave_working_folder() -> None:
    """Import nothing from the working folder, which `python -m` searches first.

    A bot called random.py would be imported by the standard library, and a folder bots/ in
    place of ours. A working folder that holds the arena itself stays.
    """
    try:
        working_folder = os.getcwd()
    except OSError:  # it was removed
        return
    own = os.path.dirname(os.path.dirname(__file__))
    if not sys.flags.safe_path and sys.path[0] == working_folder != own:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    main()
