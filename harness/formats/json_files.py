"""Files of plain JSON: one value as a whole, or one a line, each read as far as it can be.

A list at the root is handed out item by item, so both shapes read alike. What cannot be read is an issue with its
line, and the rest is read. This module refuses to hold a file that it can read line by line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from harness.formats.jsonl import LineLog, RawLine
from harness.formats.limits import FormatError, Limits, printable
from harness.formats.pseudonym import safe_kind
from harness.formats.run_format import Source
from harness.formats.whole_json import decoded
from kpis.terms.trace import Issue, IssueCode, Recording, Severity, TraceEvent

__all__ = ["FileLog", "each_file", "holds_counts", "in_order", "lines_of", "only_of", "uncounted", "values_of"]

_BOM = b"\xef\xbb\xbf"
_KINDS = 1_000
_USED = ("usage", "tokens", "token_usage", "usageMetadata", "usage_metadata")
_ANSWERS = ("message", "response", "payload", "info")


class FileLog:
    """What is learned of one file besides its events: its lines, unknown kinds, first and last time, and its issues."""

    __slots__ = (
        "_counts",
        "_times",
        "branch",
        "issues",
        "log",
        "name",
        "project",
        "session",
        "size",
        "unknown",
        "version",
    )

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.size = source.size
        self.log = LineLog()
        self.unknown: dict[str, int] = {}
        self.issues: list[Issue] = []
        self.version: str | None = None
        self.session: str | None = None
        self.project: str | None = None
        self.branch: str | None = None
        self._times: list[int] = []
        self._counts = 0

    def seen(self, *times: int | None) -> None:
        """Unix milliseconds at which something is recorded."""
        known = [time for time in (*self._times, *times) if time is not None]
        self._times = [min(known), max(known)] if known else []

    def unknown_kind(self, kind: object, piece: object = None) -> None:
        """Count a piece of an unknown kind; its name is kept, of the first thousand names.

        A ``piece`` that holds counts of tokens is a fault, since they are in no sum.
        """
        self._counts += isinstance(piece, Mapping) and holds_counts(piece)
        name = safe_kind(kind if isinstance(kind, str) else None)
        name = name if name in self.unknown or len(self.unknown) < _KINDS else "(others)"
        self.unknown[name] = self.unknown.get(name, 0) + 1

    def issue(self, severity: Severity, code: IssueCode, said: str, line: int | None = None) -> None:
        """Note one finding at ``line``."""
        self.issues.append(Issue(severity, code, said, line, self.name))

    def unreadable(self, error: Exception) -> None:
        """Nothing, or nothing further, can be read of the file."""
        self.issue(Severity.ERROR, IssueCode.E_UNREADABLE, f"{printable(self.name, 200)}: {error}")

    def finished(self, source_format: str) -> Iterator[Recording | Issue]:
        """The file as a recording, and everything noted about it."""
        yield Recording(
            source_format,
            source_version=self.version,
            session_id=self.session,
            lines=self.log.lines,
            bad_lines=self.log.bad_lines,
            unknown_kinds=self.unknown,
            t_start=self._times[0] if self._times else None,
            t_end=self._times[-1] if self._times else None,
            file=self.name,
            bytes=self.size,
            project=self.project,
            branch=self.branch,
        )
        yield from self.issues
        for each in self.log.issues():
            yield Issue(each.severity, each.code, each.message, each.line, self.name)
        if self.unknown:
            named = ", ".join(sorted(self.unknown)[:5]) + (", ..." if len(self.unknown) > 5 else "")
            count = sum(self.unknown.values())
            said = f"{count:,} piece{'s' * (count != 1)} of unknown kinds ({named}) left out."
            yield Issue(Severity.NOTE, IssueCode.W_UNKNOWN_KIND, said, file=self.name)
        if self._counts:
            yield uncounted(self._counts, self.name)


def holds_counts(piece: Mapping[str, Any]) -> bool:
    """Whether a piece says what was used, itself or in the answer inside it."""
    inside = (piece, *(piece[key] for key in _ANSWERS if isinstance(piece.get(key), Mapping)))
    return any(isinstance(each.get(key), Mapping) and bool(each[key]) for each in inside for key in _USED)


def uncounted(pieces: int, file: str) -> Issue:
    """What is told of ``pieces`` of unknown kinds that say what was used."""
    said = f"Pieces of unknown kinds that hold counts of tokens: {pieces:,}. They are in no sum."
    return Issue(Severity.ERROR, IssueCode.E_BAD_LINE, said, file=file)


def in_order(sources: Sequence[Source]) -> list[Source]:
    """The files of a run by name, so that the order in which they were handed over tells nothing."""
    return sorted(sources, key=lambda source: source.name)


def lines_of(blob: BinaryIO, limits: Limits, log: LineLog) -> Iterator[RawLine]:
    """The lines that hold something, one at a time, without byte order mark, line ends and NUL padding."""
    number = 0
    while raw := blob.readline(limits.max_line + 1):
        number += 1
        log.lines = number
        if len(raw) > limits.max_line and not raw.endswith(b"\n"):
            log.long(number)
            while raw and not raw.endswith(b"\n"):
                raw = blob.readline(limits.max_line)
            continue
        body = raw.removeprefix(_BOM) if number == 1 else raw
        line = body.strip(b" \t\r\n\0\x0b\x0c")
        if line:
            yield RawLine(number, line, not raw.endswith(b"\n"))
        elif b"\0" in raw:
            log.nul(number)


def values_of(source: Source, limits: Limits, file: FileLog) -> Iterator[tuple[int, Any]]:
    """The values of a file, each with its line, or with its index from 1 where the file is one list.

    A file whose first line is a whole object is read line by line and never held; any other is decoded whole.

    Raises:
        FormatError: a file that is JSON as a whole is too large, too deep, or no JSON.
    """
    shown = printable(source.name, 200)
    lines = lines_of(source.blob, limits, file.log)
    first = next(lines, None)
    if first is None and not file.log.bad_lines:
        return
    if first is not None and first.body.startswith(b"{"):
        try:
            value = decoded(first.body, limits, shown)
        except ValueError:
            pass  # too deep as well: then it is as a whole, and said there
        else:
            yield first.number, value
            yield from _objects(lines, limits, file)
            return
    source.blob.seek(0)
    data = source.blob.read(limits.max_bytes + 1)
    if len(data) > limits.max_bytes:
        raise FormatError(f"it is one JSON value of more than {limits.max_bytes:,} bytes and was not read.")
    file.log = LineLog()
    file.log.lines = data.count(b"\n") + (not data.endswith(b"\n"))
    value = _whole(data.removeprefix(_BOM).strip(b" \t\r\n\0"), limits, file)
    if isinstance(value, list):
        yield from enumerate(value, 1)
    else:
        yield 1, value


def each_file(
    sources: Sequence[Source],
    limits: Limits,
    name: str,
    read: Callable[[FileLog, list[tuple[int, Any]]], Iterator[TraceEvent | Issue]],
) -> Iterator[TraceEvent | Issue]:
    """What ``read`` says of the values of each file of format ``name``, and then the file itself.

    A file that cannot be read is told, and the others are read.
    """
    for source in in_order(sources):
        file = FileLog(source)
        try:
            items = list(values_of(source, limits, file))
        except FormatError as error:
            file.unreadable(error)
        else:
            yield from read(file, items)
        yield from file.finished(name)


def only_of(items: Sequence[tuple[int, Any]], file: FileLog) -> dict[str, Any]:
    """The object that a file is; values behind it are told and left out."""
    if len(items) > 1:
        said = f"{len(items) - 1:,} more values follow the one that the file is, and were left out."
        file.issue(Severity.ERROR, IssueCode.E_BAD_LINE, said, items[1][0])
    value = items[0][1] if items else None
    return value if isinstance(value, dict) else {}


def _objects(lines: Iterator[RawLine], limits: Limits, file: FileLog) -> Iterator[tuple[int, Any]]:
    for line in lines:
        try:
            value = decoded(line.body, limits, f"Line {line.number}")
        except ValueError:
            file.log.bad(line)
            continue
        if isinstance(value, dict):
            yield line.number, value
        else:
            file.log.bad(line)


def _whole(data: bytes, limits: Limits, file: FileLog) -> Any:
    """The value of a file that is one; bytes that were added behind it are told and left out."""
    advice = f"Look at it with: python -m json.tool {json.dumps(printable(file.name, 200))}"
    try:
        return decoded(data, limits, "it")
    except FormatError:
        raise
    except ValueError as error:
        try:
            value, end = json.JSONDecoder().raw_decode(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise FormatError(f"it is no complete JSON ({printable(str(error), 120)}). {advice}") from None
        if not isinstance(value, (dict, list)):
            raise FormatError(f"it is no JSON object or list. {advice}") from None
        said = f"What follows the JSON value, from character {end + 1:,} on, is nothing of it and left out."
        file.issue(Severity.ERROR, IssueCode.E_BAD_LINE, said, file.log.lines)
        return value
