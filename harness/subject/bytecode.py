"""Bytecode for all trees before a clock runs, so that no worker compiles and none writes.

A source that is the same on two sides is compiled once and its bytes are written to both: marshalling one code object
twice can give different bytes. Code objects carry the path relative to the project's root; the import system puts the
real one in. Files are found valid without a look at their source, so times of copying do not matter. What cannot be
compiled is left for its import to tell.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import py_compile
import shutil
import warnings
from collections.abc import Iterable
from pathlib import Path

__all__ = ["compile_roots"]

_CACHE = "__pycache__"


def compile_roots(roots: Iterable[Path]) -> int:
    """Compile the Python files under each root, in the place of what compiled files were there.

    Call it last, after overlay and build. Returns how many sources were compiled, a shared one counted once.

    Raises:
        OSError: a compiled file cannot be written.
    """
    made: dict[tuple[str, bytes], bytes | None] = {}
    for root in roots:
        for file in _sources(root):
            shown = str(file.relative_to(root))
            key = (shown, hashlib.sha256(file.read_bytes()).digest())
            target = file.parent / _CACHE / Path(importlib.util.cache_from_source(str(file))).name
            if key not in made:
                made[key] = _compiled(file, target, shown)
            elif (blob := made[key]) is not None:
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(blob)
    return sum(blob is not None for blob in made.values())


def _sources(root: Path) -> list[Path]:
    """The regular .py files under ``root``; removes stale compiled files on its way."""
    found = []
    for place, folders, files in os.walk(root):
        if _CACHE in folders:
            shutil.rmtree(Path(place, _CACHE))
        elif _CACHE in files:
            Path(place, _CACHE).unlink()
        folders[:] = [name for name in folders if name not in (_CACHE, "node_modules") and not name.startswith(".")]
        found += [path for name in files if name.endswith(".py") and (path := Path(place, name)).is_file()]
    return sorted(found)


def _compiled(file: Path, target: Path, shown: str) -> bytes | None:
    try:
        with warnings.catch_warnings():
            # A worker with -B imports compiled files in silence; a doubtful escape is not the gate's affair.
            warnings.simplefilter("ignore")
            py_compile.compile(
                str(file),
                cfile=str(target),
                dfile=shown,
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
    except (py_compile.PyCompileError, UnicodeError):
        return None
    return target.read_bytes()
