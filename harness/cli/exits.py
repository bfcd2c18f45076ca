"""Exit codes, in one place: what each means, and which applies when several do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

__all__ = ["Exit", "highest"]


class Exit(IntEnum):
    """What a command's end says to the shell."""

    OK = 0
    FAILED = 1
    """A gate, ratchet, evaluation or ``--check`` failed."""
    UNUSABLE = 2
    """The command line, or every input it names, cannot be used; nothing was measured."""
    UNKNOWN = 3
    """Inconclusive or unknown; a selected KPI is void, timed out or in error."""
    NO_BASELINE = 4
    """No baseline for this machine, or one too thin to judge."""
    UNCOVERED = 5
    """Catalog, baseline and run do not cover each other; nothing was selected."""
    PARTLY_READ = 6
    """Some input could not be read; the rest was done."""
    INTERNAL = 70
    """An internal error, or a result that could not be written; what was measured is kept."""
    INTERRUPTED = 130
    TERMINATED = 143


_ORDER = (
    Exit.INTERRUPTED,
    Exit.TERMINATED,
    Exit.INTERNAL,
    Exit.UNUSABLE,
    Exit.FAILED,
    Exit.UNCOVERED,
    Exit.NO_BASELINE,
    Exit.UNKNOWN,
    Exit.PARTLY_READ,
)


def highest(codes: Iterable[Exit]) -> Exit:
    """The code that applies when several do; OK where none does."""
    held = set(codes)
    return next((code for code in _ORDER if code in held), Exit.OK)
