"""`python -m arena` is the command `arena`."""

import os
import sys

_FOLDER = os.path.dirname(os.path.dirname(__file__))


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported is quiet, too."""
    try:
        from arena.cli import main as command
        from arena.threads import THREADS

        os.environ.update(dict.fromkeys(THREADS, "1") | os.environ)  # saves 9 ms of `one_thread`
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if name := _find_missing(error):
            sys.exit(f"error: no library {name}: run `pip install -e .` in {_FOLDER!a}")
        raise
    command()


def _find_missing(error: Exception) -> str | None:
    """Return the library whose absence is the error, as in a checkout that was never installed."""
    name = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else None
    return None if name in {"arena", "bots", "engine", *sys.stdlib_module_names} else name


def _leave_working_folder() -> None:
    """Import nothing from the working folder, which `python -m` searches first.

    A bot called random.py would be imported by the standard library, and a folder bots/ in
    place of ours. A working folder that holds the arena itself stays.
    """
    try:
        working_folder = os.getcwd()
    except OSError:  # it was removed
        return
    if not sys.flags.safe_path and sys.path[0] == working_folder != _FOLDER:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    main()
