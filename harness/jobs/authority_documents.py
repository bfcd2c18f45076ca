"""The documents that are held against the run files, and the constants of the code that they may name."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.formats.limits import regular_bytes
from harness.jobs.authority_findings import Fault, Finding

__all__ = ["constant", "documents_of", "text_of", "why_of"]

_AGAIN = "run `python -m harness authority` and commit the result."
_OURS = ("harness", "kpis", "seams")
"""The packages whose constants a document may name: importing them runs no code of a project."""


def documents_of(root: Path) -> tuple[dict[str, str], list[Finding]]:
    """README.md and every page below docs/, by name, and findings for those that cannot be read.

    A folder below docs/ that is a link is not followed, for it may lead in a circle; it is a finding.
    """
    texts: dict[str, str] = {}
    faults = []
    readme = root / "README.md"
    below = sorted((root / "docs").rglob("*"))
    for path in (*([readme] if os.path.lexists(readme) else []), *(path for path in below if path.suffix == ".md")):
        name = path.relative_to(root).as_posix()
        try:
            texts[name] = text_of(path)
        except (OSError, UnicodeDecodeError) as error:
            faults.append(Finding(Fault.MARK, f"{name} cannot be read ({why_of(error)}); mend it, then {_AGAIN}"))
    for path in below:
        if path.is_symlink() and path.is_dir():
            name = path.relative_to(root).as_posix()
            said = f"{name} is a link to a folder, so that no page behind it is checked"
            faults.append(Finding(Fault.MARK, f"{said}; put the pages themselves there, then {_AGAIN}"))
    return texts, faults


def text_of(path: Path) -> str:
    """The text of a document, line endings as they are.

    Raises:
        OSError: it is no regular file, or cannot be read.
        UnicodeDecodeError: it is no UTF-8.
    """
    return regular_bytes(path).decode("utf-8")  # read_text would hide changed line endings


def why_of(error: OSError | UnicodeDecodeError) -> str:
    """Why a document cannot be read, in a few words."""
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).rstrip(".")


def constant(module: str, name: str) -> Any:
    """The constant ``module:name``, where ``name`` may go on into attributes.

    Raises:
        LookupError: there is none.
    """
    if module.partition(".")[0] not in _OURS:
        raise LookupError(module)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise LookupError(f"{module}:{name}") from None
    return found
