"""The documents that are held against the run files, and the constants of the code that they may name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from harness.jobs.authority_findings import Fault, Finding

__all__ = ["constant", "documents_of"]

_AGAIN = "run `python -m harness authority` and commit the result."
_OURS = ("harness", "kpis", "seams")
"""The packages whose constants a document may name: importing them runs no code of a project."""


def documents_of(root: Path) -> tuple[dict[str, str], list[Finding]]:
    """README.md and every page below docs/, by name, and findings for those that cannot be read."""
    texts: dict[str, str] = {}
    faults = []
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        name = path.relative_to(root).as_posix()
        try:
            texts[name] = path.read_bytes().decode("utf-8")  # read_text would hide changed line endings
        except FileNotFoundError:
            continue
        except (OSError, UnicodeDecodeError) as error:
            faults.append(Finding(Fault.MARK, f"{name} cannot be read ({error}); mend it, then {_AGAIN}"))
    return texts, faults


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
