"""Copy a bot's files into a folder from which it runs, and load it from there.

A bot is sent to other processes as an archive: an uncompressed zip file of its modules and data
files, whose first file defines `bot`. A bot's process imports this module, so it uses the standard
library only.
"""

from __future__ import annotations

import atexit
import builtins
import hashlib
import importlib
import io
import linecache
import logging
import os
import re
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any
from weakref import WeakValueDictionary

FOLDER_VARIABLE = "ARENA_BOT_FOLDER"
"""The environment variable that marks a process as started for a bot."""

_NAME = "files-"  # prefix of the name of a folder with a bot's files
_CACHE = "__pycache__"
_READ, _EXECUTE = 0o444, 0o555
_MOST_TOLD = 3  # names of changed files in a message


class Layout:
    """A copy of a bot's files in a folder that nobody should change.

    `read` returns the files by name. With `programs`, each is executable. `links` are links to
    paths that are too large to copy.
    """

    def __init__(
        self,
        folder: Path,
        label: str,
        read: Callable[[], Mapping[str, bytes]],
        links: Mapping[str, Path] | None = None,
        *,
        programs: bool = False,
    ) -> None:
        self.folder = folder
        self.label = label
        self.read = read
        self.links = links or {}
        self.mode = _EXECUTE if programs else _READ
        self._states: dict[str, tuple[int, ...]] = {}
        self._renewing = threading.Lock()

    def renew(self) -> None:
        """Copy the files, unless the copy exists and is unchanged; log the changes.

        Raises ImportError for a name that leads out of the folder, and if the disk is full.
        """
        with self._renewing:
            if self._states and not self._has_changed():
                return
            remove_tree(self.folder)
            files = self.read()
            for name in (*files, *self.links):
                check_name(name)
            try:
                self._write(files)
            except (OSError, UnicodeEncodeError) as error:
                why = error.strerror if isinstance(error, OSError) else str(error)
                raise ImportError(f"the bot's files cannot be laid out: {why}") from None
            self._states = dict(_look(self.folder))

    def _write(self, files: Mapping[str, bytes]) -> None:
        for name in (*files, *self.links):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = self.folder / name
            path.write_bytes(content)
            path.chmod(self.mode)
        for name, target in self.links.items():
            (self.folder / name).symlink_to(target)
        for place, _, _ in os.walk(self.folder, topdown=False):
            os.chmod(place, _EXECUTE)

    def _has_changed(self) -> bool:
        """Return whether the copy was changed, and log the changes."""
        now = dict(_look(self.folder))
        both = self._states | now
        changed = sorted(name for name in both if self._states.get(name) != now.get(name))
        if changed:
            shown = ", ".join(name or "its folder" for name in changed[:_MOST_TOLD])
            more = ", ..." if len(changed) > _MOST_TOLD else ""
            what = "its files were changed while it played, and are laid out again"
            logging.getLogger("arena").warning("%s: %s: %s%s", self.label, what, shown, more)
        return bool(changed)


_layouts: WeakValueDictionary[Path, Layout] = WeakValueDictionary()


def shared(layout: Layout, identity: object) -> Layout:
    """Return this process's existing layout of the same files in this folder, else `layout`.

    Files with equal `identity` are the same.
    """
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()
    layout.folder = layout.folder.absolute() / f"{_NAME}{digest[:16]}"
    return _layouts.setdefault(layout.folder, layout)


def renew_all() -> None:
    """Check all copies of this process, and restore those that were changed."""
    for layout in [*_layouts.values()]:
        with suppress(ImportError):  # its next process reports it
            layout.renew()


@cache
def own_folder() -> Path:
    """Return the folder for the files of bots that this process loads itself.

    That is the worker's folder; in any other program, a folder that is removed when it ends.
    """
    if os.environ.get(FOLDER_VARIABLE) == tempfile.gettempdir():
        return Path(tempfile.gettempdir())
    folder = Path(tempfile.mkdtemp(prefix="noir-arena-"))
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, process: int) -> None:
    if os.getpid() == process:  # not in a fork
        remove_tree(folder)


def lay_out_here(label: str, files: Mapping[str, bytes], identity: object) -> Path:
    """Copy the files of a packed bot that a program imports, and return their folder."""
    layout = shared(Layout(own_folder(), label, lambda: files), identity)
    layout.renew()
    return layout.folder


def check_name(name: str) -> None:
    """Raise ImportError for a file name that leads out of its folder.

    >>> check_name("nets/deep.npz")
    """
    if "\0" in name or not {"", os.curdir, os.pardir}.isdisjoint(name.split("/")):
        raise ImportError(f"a packed bot with a file {name!a}, which is not below its folder")


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with its contents, however deeply a bot has nested it.

    It works if a bot has removed the permissions. Links are not followed, and pipes are not opened.
    """
    with suppress(OSError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
    folders = [os.fspath(path)]
    while folders:
        with suppress(OSError):
            folder = folders.pop()
            os.chmod(folder, stat.S_IRWXU)
            with os.scandir(folder) as items:
                folders += [item.path for item in items if item.is_dir(follow_symlinks=False)]
    with suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):  # a file, or nested too deeply for Python
        if path.exists():
            from subprocess import run  # here: it takes 10 ms, and few bots need it

            run(["rm", "-rf", "--", path], capture_output=True, check=False)


def _look(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield files and folders by name, with the metadata by which changes are detected."""
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with suppress(OSError):
            status = os.lstat(folder / place)
            is_folder = stat.S_ISDIR(status.st_mode)
            yield place, (status.st_mode, status.st_ino, 0 if is_folder else status.st_ctime_ns)
            if is_folder:
                names = (name for name in os.listdir(folder / place) if name != _CACHE)
                waiting += [f"{place}/{name}" if place else name for name in names]


MAGIC = b"PK\x03\x04"
"""The first bytes of an archive; no Python source begins with them."""

MOST_DATA = 45 << 20
"""The most bytes of all files of a bot together; a packed file is a third larger."""

MOST_FILES = 1000
"""The most files and folders of a bot."""

_MOST_LISTED = 1 << 22  # bytes of an archive's directory of files
_LIST, _LIST_64 = b"PK\x05\x06", b"PK\x06\x07"  # signatures of the records with its place
_MAIN = re.compile(r"[^./]+")
_CODE = (".py", *EXTENSION_SUFFIXES)
_import = builtins.__import__


class _Loader(SourceFileLoader):
    """Runs a module's source with its bot's own `__import__`; reads and writes no .pyc files."""

    def __init__(self, fullname: str, path: str, builtins: Mapping[str, Any]) -> None:
        super().__init__(fullname, path)
        self.builtins = builtins

    def get_code(self, _fullname: str) -> CodeType:
        """Return the compiled code of the module."""
        source = self.get_data(self.path)
        keep_lines(self.path, source)
        code: CodeType = compile(source, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Run the source of a module; a folder without `__init__.py` has no source to run."""
        if module.__spec__ and module.__spec__.has_location:
            module.__dict__["__builtins__"] = self.builtins
            super().exec_module(module)


class Importer:
    """Imports modules from a bot's folder, as submodules of the package `name`.

    In these modules `import other` finds the bot's own module before any other of that name.
    Imports by other code are not affected.
    """

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        self.folder = folder
        self.tops = {file.partition("/")[0].partition(".")[0] for file in _find_code(folder)}
        self.builtins = {**vars(builtins), "__import__": self.import_}

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return the spec of a module of this bot, None for any other module."""
        package, *rest = fullname.split(".")
        if package != self.name:
            return None
        stem = os.path.join(self.folder, *rest)
        for file, is_package in ((f"{stem}/__init__.py", True), (f"{stem}.py", False)):
            if os.path.isfile(file):
                return self._spec(fullname, file, is_package=is_package)
        if any(True for _ in _find_code(stem)):
            return self._spec(fullname, f"{stem}/__init__.py", is_package=True)
        return None

    def _spec(self, fullname: str, file: str, *, is_package: bool) -> ModuleSpec:
        loader = _Loader(fullname, file, self.builtins)
        spec = ModuleSpec(fullname, loader, origin=file, is_package=is_package)
        spec.has_location = os.path.isfile(file)
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def import_(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module for one of the bot's modules, in place of `__import__`."""
        top = name.partition(".")[0]
        if level or top not in self.tops:
            return _import(name, globals, locals, fromlist or (), level)
        module = _import(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]


def _find_code(folder: str) -> Iterator[str]:
    """Yield the modules below a folder, by their paths relative to it."""
    for place, _, files in os.walk(folder):
        for file in files:
            if file.endswith(_CODE):
                yield os.path.relpath(os.path.join(place, file), folder)


def load(name: str, place: str, archive: bytes) -> ModuleType:
    """Return the module of an archive that defines `bot`, imported below the package `name`.

    The files are extracted into a folder that is removed when this process ends. Raises ImportError
    for an archive that `arena pack` would not write, and whatever the modules raise.
    """
    top = os.path.basename(place)
    files = {f"{top}/{file}": content for file, content in read_archive(archive).items()}
    folder = lay_out_here(name, files, (top, hashlib.sha256(archive).digest()))
    return _load(name, str(folder / top), name_of_first(archive))


def _load(name: str, folder: str, file: str) -> ModuleType:
    """Import a file of a bot's folder, and return the module."""
    main = file.removesuffix(".py")
    if not _MAIN.fullmatch(main):
        raise ImportError(f"a packed bot whose first file {main!r} is not beside the others")
    sys.meta_path.insert(0, Importer(name, folder))
    return importlib.import_module(name if main == "__init__" else f"{name}.{main}")


def name_of_first(archive: bytes) -> str:
    """Return the name of the first file of an archive, which defines `bot`."""
    size = int.from_bytes(archive[26:28], "little")
    return archive[30 : 30 + size].decode(errors="replace")


def read_archive(
    archive: bytes, most_files: int = MOST_FILES, most_data: int = MOST_DATA
) -> dict[str, bytes]:
    """Return the files of an archive by name, in its order.

    Raises ImportError if it is damaged, too large or compressed.
    """
    import zipfile  # here, because it takes 10 ms and few bots need it

    end = archive[-22:]  # the end record, which has no comment
    listed = int.from_bytes(end[12:16], "little")
    if not end.startswith(_LIST) or archive[-42:].startswith(_LIST_64) or listed > _MOST_LISTED:
        raise ImportError("a packed bot that is damaged: its list of files cannot be read")
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            items = file.infolist()
            if not items or len(items) > most_files:
                raise ImportError(f"a packed bot has 1 to {most_files:,} files")
            if any(item.compress_type != zipfile.ZIP_STORED for item in items):
                raise ImportError("a packed bot has no compressed files")
            if sum(item.file_size for item in items) > most_data:
                raise ImportError(f"a packed bot has at most {most_data:,} bytes")
            return {item.filename: file.read(item) for item in items}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ImportError(f"a packed bot that is damaged: {error}") from None


def keep_lines(filename: str, source: bytes) -> None:
    """Register the lines of a source for tracebacks, even if a file of that name exists."""
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)


def _advise_binding(loaded: ModuleType) -> str:
    """Suggest the missing line `bot = ...` if the module defines exactly one suitable class."""
    own = (
        one.__name__
        for one in vars(loaded).values()
        if isinstance(one, type) and one.__module__ == loaded.__name__ and hasattr(one, "choose")
    )
    names = {*own}
    return f": write `bot = {names.pop()}`" if len(names) == 1 else ""


@cache
def load_bot(module: str, filename: str, file: str | None, folder: str = "") -> Any:
    """Return the `bot` of a module; without a file the module is imported by name.

    With a `folder`, the file can import the other modules in it; else it is a single file. A
    process loads each module once. Raises whatever the module raises, and ImportError if it does
    not define `bot`.
    """
    if file is None:
        loaded = importlib.import_module(module)
    elif folder:
        loaded = _load(module, folder, os.path.relpath(file, folder))
    else:
        loaded = _execute(module, file)
    return _bound(loaded, filename)


@cache
def load_source(module: str, filename: str, source: bytes) -> Any:
    """Return the `bot` of a source in memory, as `load_bot` does for a file."""
    return _bound(_execute(module, filename, source), filename)


def _bound(loaded: ModuleType, filename: str) -> Any:
    if not hasattr(loaded, "bot"):
        raise ImportError(f"{filename} does not bind `bot`{_advise_binding(loaded)}")
    if not callable(loaded.bot):
        raise ImportError(
            f"{filename} binds `bot` to {type(loaded.bot).__name__}, which is not callable"
        )
    return loaded.bot


def checked_strategy(strategy: Any) -> Any:
    """Return a bot's strategy for a game; raise TypeError if the bot returned None."""
    if strategy is None:
        raise TypeError("bot(setup) returned None, and not a strategy")
    return strategy


def _execute(name: str, file: str, source: bytes | None = None) -> ModuleType:
    """Run a single file as a module, register it in `sys.modules`, and return it."""
    loader = _Loader(name, file, vars(builtins))
    module = ModuleType(name)
    module.__file__ = file
    module.__spec__ = ModuleSpec(name, loader, origin=file)
    sys.modules[name] = module
    source = loader.get_data(file) if source is None else source
    keep_lines(file, source)
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    return module
