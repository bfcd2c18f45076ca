"""Reads runs exported from LangSmith, or written down as its client sends them.

The client posts a run when it starts and patches it when it ends; both are one run by its id, and what the later one
says counts. Chains report the sum of the model calls below them, so only the lowest run with usage counts. A session of
a thread (``session_id`` or ``thread_id`` in the metadata) is a thread and each of its traces a turn; a trace without
one is a thread of its own. This module refuses to understand a run: :mod:`harness.formats.langsmith_span` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from harness.formats.langsmith_span import Piece, span_of
from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.span_files import ReadFile, origin_by, read_files
from harness.formats.span_run import run_of
from harness.formats.span_values import text_of
from kpis.terms.trace import Issue, TraceEvent

__all__ = ["LangsmithRun"]

_RUN_TYPE = re.compile(rb'(?<!\\)"run_type"\s*:\s*"[a-z]{1,20}"')
_ORDER = re.compile(rb'(?<!\\)"(?:dotted_order|parent_run_id|usage_metadata|session_name)"\s*:')
_THREAD = re.compile(rb'(?<!\\)"(?:thread_id|conversation_id)"\s*:\s*"([^"\\]{1,200})"')
_TRACE = re.compile(rb'(?<!\\)"trace_id"\s*:\s*"([^"\\]{1,200})"')
_TIME = re.compile(rb'(?<!\\)"start_time"\s*:\s*("[^"\\]{1,40}"|\d{1,20})')
_HOLDERS = ("post", "patch", "runs", "data", "child_runs")


class LangsmithRun:
    """The reader of LangSmith runs."""

    name: ClassVar[str] = "langsmith"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` holds such runs: by the names of fields that only they have together."""
        del filename  # the content tells
        typed, ordered = _RUN_TYPE.search(head) is not None, _ORDER.search(head) is not None
        if typed:
            return 0.96 if ordered else 0.7
        return 0.8 if b'"dotted_order"' in head else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The thread, else the trace, else the content itself."""
        del filename
        return origin_by(head, _TIME, (_THREAD, _TRACE), self.name)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the runs in ``sources`` say of one run of an agent.

        Raises:
            FormatError: no source holds any JSON.
        """
        files = read_files(sources, limits)
        pieces: dict[str, list[Piece]] = {}
        for file in files:
            for document in file.documents:
                for place, fields in enumerate(_walk(document.value, file), 1):
                    line = place if document.whole else document.line
                    pieces.setdefault(str(fields["id"]), []).append(Piece(fields, file, line))
        merged = [_merged(held) for _, held in sorted(pieces.items())]
        yield from run_of(files, [span_of(each) for each in merged], self.name)


def _walk(value: Any, file: ReadFile) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, file)
        return
    if not isinstance(value, dict):
        file.unknown_kind(f"<{type(value).__name__}>")
        return
    held = [value[key] for key in _HOLDERS if isinstance(value.get(key), (list, dict))]
    if text_of(value.get("id")) and ("run_type" in value or "dotted_order" in value or "trace_id" in value):
        yield value
    elif not held:
        file.unknown_kind(safe_name(next(iter(value), "empty"), 40))
    for each in held:
        yield from _walk(each, file)


def _merged(pieces: Iterable[Piece]) -> Piece:
    """All that is said of one run; where two pieces differ, the one that knows its end."""

    def rank(piece: Piece) -> tuple[bool, str, int, str]:
        end = piece.fields.get("end_time")
        filled = sum(each not in (None, "", {}, []) for each in piece.fields.values())
        return end is not None, str(end), filled, repr(sorted(piece.fields))

    ordered = sorted(pieces, key=rank)
    fields: dict[str, Any] = {}
    for piece in ordered:
        fields |= {key: value for key, value in piece.fields.items() if value not in (None, "", {}, [])}
    first = min(ordered, key=lambda each: (each.file.name, each.line))
    return Piece(fields, first.file, first.line)
