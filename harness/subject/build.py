"""Runs the project's build in each tree, and notices where one seems to be needed and none is named.

The command is split as a shell would and run without one, in a process group that is ended with it. Knows no build
system; what a build installs elsewhere is not undone.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from harness.subject import SubjectError

__all__ = ["build", "missing_build"]

_LIMIT_S = 20 * 60.0
_KEPT = 4096
_EXTENSIONS = re.compile(
    r"ext_modules|ext-modules|rust_extensions|cffi_modules|Extension\(|setuptools[-_]rust|maturin|scikit[-_]build"
    r"|mesonpy|meson-python|cythonize|mypycify",
)
_NATIVE = (".c", ".cc", ".cpp", ".cxx", ".rs", ".f90")


def build(command: str, root: Path, *, limit: float = _LIMIT_S) -> None:
    """Run ``command`` with ``root``, a project's root in one tree, as its folder; ``limit`` is in seconds.

    The scripts of this interpreter come first on PATH, so that ``python`` means it.

    Raises:
        SubjectError: it cannot be split or found, does not end in time, or fails; with the end of its output.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SubjectError(
            f"build = {command!r} cannot be split: {error}. Mend [tool.harness] in pyproject.toml"
        ) from None
    if not words:
        raise SubjectError("build is empty. Mend [tool.harness] in pyproject.toml, or remove the line")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    # The tree has no repository: a build that asks git for a version must not hear of one around TMPDIR.
    environment["GIT_CEILING_DIRECTORIES"] = str(root)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    try:
        process = subprocess.Popen(
            words,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise SubjectError(
            f"The build {command!r} cannot be started: {error.strerror}. Look with: which {shlex.quote(words[0])}"
        ) from error
    try:
        tail, ended = _follow(process, time.monotonic() + limit)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    said = tail.decode("utf-8", "replace").strip() or "nothing"
    if not ended:
        raise SubjectError(
            f"The build {command!r} did not end within {limit / 60:.0f} minutes; the end of what it said:\n{said}\n"
            f"Try it in the project: {command}"
        )
    if process.returncode != 0:
        raise SubjectError(
            f"The build {command!r} failed with exit status {process.returncode}; the end of what it said:\n{said}\n"
            f"Try it in the project: {command}"
        )


def _follow(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """(the last 4 kB of output, whether the process ended by itself)."""
    if process.stdout is None:
        raise RuntimeError("the build was started without a pipe for its output")
    tail = b""
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            # The end is asked for before the pipe is emptied, so that nothing written before the end is lost.
            ended = process.poll() is not None
            chunk = b""
            with contextlib.suppress(BlockingIOError):
                while chunk := os.read(pipe.fileno(), 1 << 16):
                    tail = (tail + chunk)[-_KEPT:]
            left = deadline - time.monotonic()
            if ended or left <= 0:
                return tail, ended
            if not selector.get_map():
                time.sleep(min(0.05, left))
            elif selector.select(min(0.1, left)) and not _more(pipe.fileno()):
                selector.unregister(pipe)


def _more(fd: int) -> bool:
    """Whether a readable pipe has bytes; without, its other end is closed, and it would stay readable for ever."""
    import fcntl  # with termios: Linux only, as is measuring
    import termios

    return int.from_bytes(fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4), sys.byteorder) > 0


def missing_build(root: Path) -> str | None:
    """A sentence where sources of compiled extensions lie under ``root`` and no build was named; else None."""
    native = next(_native_sources(root), None)
    if native is None:
        return None
    return (
        f"{native.relative_to(root)} is the source of a compiled extension, and the trees hold no compiled file: its "
        "import will fail or fall back. Say how it is built in pyproject.toml: [tool.harness] "
        'build = "python setup.py build_ext --inplace"'
    )


def _native_sources(root: Path) -> Iterator[Path]:
    declared = any(
        _EXTENSIONS.search(file.read_text(encoding="utf-8", errors="replace"))
        for file in (root / "pyproject.toml", root / "setup.py", root / "setup.cfg")
        if file.is_file()
    )
    for place, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "node_modules" and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".pyx") or (declared and name.endswith(_NATIVE)):
                yield Path(place, name)
