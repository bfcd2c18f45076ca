"""What a reader of recorded runs is: files in, the events of one run out.

A run may be several files, so a reader says of each which run it belongs to, and is then handed all files of a run at
once. It is pure: it opens nothing, names no path of its own and lets no text through but names of tools, models, files
and branches, which are printed only where asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol

from harness.formats.limits import Limits
from kpis.terms.trace import Issue, TraceEvent

if TYPE_CHECKING:
    from kpis.terms.context_run import ContextRun

__all__ = ["Origin", "RunFormat", "Source"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which run a file belongs to.

    Files with the same ``run`` are one; ``parent`` is the run it was forked from or spawned by, whose files it is read
    with; ``started`` is Unix milliseconds of the first thing recorded.
    """

    run: str
    parent: str | None = None
    started: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One open file. ``name`` is how its user knows it, for issues; ``size`` its bytes when it was opened."""

    name: str
    blob: BinaryIO
    size: int


class RunFormat(Protocol):
    """A reader of one tool's recordings."""

    name: ClassVar[str]

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure a file that begins with ``head`` is in this format, 0 to 1. Content decides, a name breaks ties."""
        ...

    def origin(self, head: bytes, filename: str) -> Origin:
        """Which run the file belongs to. ``filename`` is its path below what the user named, with forward slashes."""
        ...

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | ContextRun | Issue]:
        """Everything that the files of one run say, in any order of events; exactly one Recording a file.

        The order of ``sources`` must not matter. The only exception is FormatError, for what nothing can be read of;
        every other fault is an issue with its file and line.
        """
        ...
