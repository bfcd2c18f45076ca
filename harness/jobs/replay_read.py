"""Reads one run from its files. A file that cannot be read is an issue of the run, and the others are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from io import BytesIO
from typing import TYPE_CHECKING

from harness.formats.limits import FormatError, Limits, printable
from harness.formats.run_build import build_run
from harness.formats.run_format import Source
from harness.formats.run_formats import reader
from harness.jobs.replay_group import Group
from harness.jobs.replay_open import Piece, open_piece
from harness.jobs.replay_sound import sound
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Issue, IssueCode, Recording, Severity, TraceEvent

if TYPE_CHECKING:
    from kpis.terms.context_run import ContextRun

__all__ = ["LIMITS", "read_group"]

LIMITS = Limits(max_bytes=256 << 20)
"""A file that is read line by line may be of any size; this bounds what is held whole: one JSON, one member."""

_OPEN = 200
"""Files that are held open at once, well under what a process may; of a run with more the others are held as bytes."""


def read_group(group: Group, limits: Limits = LIMITS) -> RecordedRun:
    """The run that the files of ``group`` are."""
    issues: list[Issue] = []
    with ExitStack() as held:
        sources = list(_sources(group.pieces, limits, held, issues))
        return sound(build_run(group.key, group.format, [*_events(group, sources, limits), *issues]))


def _events(group: Group, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | ContextRun | Issue]:
    """What the reader says; where it gives up, the files as recordings that say nothing, and why."""
    heard: list[TraceEvent | ContextRun | Issue] = []
    if not sources:
        return
    try:
        heard += reader(group.format).read(sources, limits)
    except (FormatError, OSError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        for source in sources:
            yield Recording(group.format, file=source.name, bytes=source.size)
        yield Issue(
            Severity.ERROR, IssueCode.E_UNREADABLE, f"{printable(sources[0].name, 200)}: {why}", file=sources[0].name
        )
        return
    yield from heard


def _sources(pieces: Sequence[Piece], limits: Limits, held: ExitStack, issues: list[Issue]) -> Iterator[Source]:
    for at, piece in enumerate(pieces):
        try:
            blob = open_piece(piece, limits)
            if at < _OPEN:
                held.enter_context(blob)
            else:
                with blob:
                    blob = BytesIO(blob.read())
        except (FormatError, OSError) as error:
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            said = f"{printable(piece.name, 200)} cannot be read: {why.rstrip('.')}."
            issues.append(Issue(Severity.ERROR, IssueCode.E_UNREADABLE, said, file=piece.name))
            continue
        yield Source(piece.name, blob, piece.size)
