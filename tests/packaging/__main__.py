"""`make release-check`: what must hold before a commit is released; then its files are in dist/.

Nothing but the package index is reached. Libraries come from it in the versions of
constraints.txt. Every step is tried, and the summary at the end has a line for each.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from arena.cli.bots import EXTRAS, Finding, format_findings
from tests import ROOT
from tests.packaging import licences, smoke, wheel
from tests.packaging.wheel import PROJECT

DIST = ROOT / "dist"
MOST = 190
"""Megabytes that the wheel and what it needs take, beside what a new environment has."""

_VERSIONED = "Programming Language :: Python :: 3."
NAMED = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith(_VERSIONED)]
"""The versions of Python that the package is for."""


def main(words: list[str]) -> int:
    """Check the commit of this clone; return the exit status."""
    found = list(filter(None, map(wheel.probe, words))) if words else wheel.find()
    if len(found) < len(words) or not found:
        print(f"error: PYTHONS={' '.join(words)}: not all of them run here and make environments")
        return 2
    if not (ROOT / ".git").exists():
        print("error: this folder is no clone, and a release is made of a commit")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        findings = [*_check(Path(folder), found)]
    print(f"\n{PROJECT['name']} {PROJECT['version']}")
    print(*format_findings(findings), sep="\n")
    failed = [finding.what for finding in findings if finding.ok is False]
    print(f"not ready: {', '.join(failed)}" if failed else "ready: the files are in dist/")
    for file in [] if failed else sorted(DIST.iterdir()):
        print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    return 1 if failed else 0


def _check(folder: Path, found: list[wheel.Python]) -> Iterator[Finding]:
    """Yield what each step has found, and copy the files to dist/ if none has failed."""
    commit = wheel.read_commit()
    shutil.rmtree(DIST, ignore_errors=True)
    yield _describe(commit)
    yield _try("version", _check_tag, commit.tags)
    yield _try("licences", _check_licences)
    files: list[Path] = []
    findings = [_try("same bytes", _build, folder, commit, files)]
    if files:
        sdist = files[1]
        source = _unpack(sdist, folder / "unpacked")
        findings.append(_try("metadata", _check_metadata, files))
        findings.append(_try("sdist", _check_sdist, folder / "sdist", found[0], sdist, source))
        for python in found:
            here = folder / python.version
            step = _try(f"python {python.version}", _check_wheel, here, python, files[0], source)
            findings.append(step if python.minor in NAMED else step._replace(ok=step.ok or None))
            shutil.rmtree(here)
    findings.append(_describe_missing(found))
    yield from findings
    if all(finding.ok is not False for finding in findings):
        DIST.mkdir()
        for file in files:
            shutil.copy(file, DIST)


def _try(what: str, step: Callable[..., str], *arguments: object) -> Finding:
    """Return what a step says, or its last line if it fails, after the whole of it was printed."""
    print(f"{what} ...", flush=True)
    try:
        return Finding(what, True, step(*arguments))
    except metadata.PackageNotFoundError as error:
        return Finding(what, False, f"{error.name} is not installed in .venv")
    except AssertionError as error:
        print(error, flush=True)
        return Finding(what, False, str(error).strip().splitlines()[-1])


def _describe(commit: wheel.Commit) -> Finding:
    changes = len(wheel.git("status", "--porcelain").splitlines())
    rest = f", without the {changes} files that differ from it here" if changes else ""
    return Finding("commit", None, commit.sha[:12] + rest)


def _describe_missing(found: list[wheel.Python]) -> Finding:
    tried = ", ".join(python.version for python in found)
    missing = ", ".join(wheel.missing(found, NAMED))
    rest = f"; not tried: {missing}" if missing else ""
    return Finding("Pythons", None, f"tried {tried}{rest}")


def _check_tag(tags: tuple[str, ...]) -> str:
    """A tag of the commit is that of its version, and the changelog tells of the version."""
    version = PROJECT["version"]
    releases = [tag for tag in tags if tag.startswith("v")]
    if not releases:
        return f"{version}; the commit has no tag"
    assert releases == [f"v{version}"], f"the tag is {' '.join(releases)}, the version {version}"
    headings = (ROOT / "CHANGELOG.md").read_text().splitlines()
    told = any(line.startswith(f"## {version}") for line in headings)
    assert told, f"CHANGELOG.md has no heading `## {version}`"
    return f"{version}, as the tag says"


def _check_licences() -> str:
    """Every library of every install says its licence, which is one of those that are allowed."""
    extras = PROJECT["optional-dependencies"]
    needs = [*PROJECT["dependencies"], *(need for extra in EXTRAS for need in extras[extra])]
    rows = licences.survey(needs)
    print(*(f"{row.name} {row.version}: {row.licence or 'unknown'}" for row in rows), sep="\n")
    refused = [f"{row.name} ({row.licence or 'unknown'})" for row in rows if not row.is_allowed]
    assert not refused, f"not allowed: {', '.join(refused)}"
    return f"of {len(rows)} libraries, all allowed"


def _build(folder: Path, commit: wheel.Commit, files: list[Path]) -> str:
    """Two clones of the commit give the same bytes."""
    files += wheel.build_twice(folder, commit)
    return f"two clones of {commit.sha[:12]}, of which one has another umask and time zone"


def _unpack(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    return source


def _check_metadata(files: list[Path]) -> str:
    """Twine accepts both files, without a warning."""
    wheel.run([sys.executable, "-m", "twine", "check", "--strict", *files], files[0].parent)
    return "twine check --strict"


def _check_sdist(folder: Path, python: wheel.Python, sdist: Path, source: Path) -> str:
    """It can be installed without the wheel, and its own tests run in it."""
    environment = folder / "environment"
    wheel.make(environment, python.path)
    wheel.add(environment, str(sdist))
    wheel.run([environment / "bin" / "arena", "run", "quickstart", "--pairs", "1"], folder)
    wheel.run([sys.executable, "-m", "pytest", "-q", *smoke.TESTS_OF_SDIST], source)
    return f"installed by {python.version}; {' and '.join(smoke.TESTS_OF_SDIST)} run in it"


def _check_wheel(folder: Path, python: wheel.Python, built: Path, source: Path) -> str:
    """It works in a new environment without extras, and with all of them."""
    environment = folder / "environment"
    before = wheel.make(environment, python.path)
    wheel.add(environment, str(built))
    size = wheel.megabytes(environment)
    assert size - before <= MOST, f"{size} MB, and {before} MB of them before"
    bin_folder = environment / "bin"
    for job in (
        *(smoke.try_commands, smoke.try_in_another_project),
        *(smoke.try_docs, smoke.try_run),
    ):
        (folder / job.__name__).mkdir()
        job(bin_folder, folder / job.__name__)
    smoke.try_examples(bin_folder, folder / "examples", source / "docs" / "examples")
    for extra in EXTRAS:
        wheel.add(environment, f"{built}[{extra}]")
    (folder / "extras").mkdir()
    smoke.try_extras(bin_folder, folder / "extras")
    return f"{size} MB, {before} MB of them before; examples; extras {', '.join(EXTRAS)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
