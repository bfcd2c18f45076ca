"""The JSON values in an export: one document, one a line, or several documents printed one after another.

Tracing tools write all three, and add to a file that another program is still writing. Each value comes with the line
at which it begins; what is no JSON is an issue and the rest is read. This module refuses to know what a value means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import msgspec

from harness.formats.jsonl import LineLog, RawLine
from harness.formats.limits import FormatError, Limits, check_depth, printable, read_bounded
from harness.formats.pseudonym import safe_id, safe_kind
from harness.formats.run_format import Origin, Source
from harness.formats.span_values import Numbers, millis
from kpis.terms.trace import Issue, IssueCode, Recording, Severity

__all__ = ["Document", "ReadFile", "decode", "origin_by", "read_files", "values_of"]

_BOM = b"\xef\xbb\xbf"
_OPEN = (b"{", b"[")
_CLOSED = (b"}", b"]")


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON object or list. ``whole``: it is all of the file, so its parts are told apart by their index."""

    line: int
    value: Any
    whole: bool = False


@dataclass(slots=True)
class ReadFile:
    """One file while it is read: its documents, what became of its lines, and what is learned of it on the way."""

    name: str
    size: int
    documents: list[Document] = field(default_factory=list)
    log: LineLog = field(default_factory=LineLog)
    numbers: Numbers = field(default_factory=Numbers)
    unknown: dict[str, int] = field(default_factory=dict)
    version: str | None = None
    session: str | None = None
    first: int | None = None
    last: int | None = None
    faults: list[Issue] = field(default_factory=list)

    def seen(self, *times: int | None) -> None:
        """Unix microseconds at which something is recorded."""
        for time in times:
            if time is not None:
                self.first = time if self.first is None else min(self.first, time)
                self.last = time if self.last is None else max(self.last, time)

    def unknown_kind(self, kind: str) -> None:
        """Something of a ``kind`` that the reader does not know."""
        kind = safe_kind(kind)
        self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def recording(self, source_format: str) -> Recording:
        """What is said of the file itself."""
        return Recording(
            source_format,
            self.version,
            self.session,
            lines=self.log.lines,
            bad_lines=self.log.bad_lines,
            unknown_kinds=dict(sorted(self.unknown.items())),
            t_start=None if self.first is None else self.first // 1_000,
            t_end=None if self.last is None else self.last // 1_000,
            file=self.name,
            bytes=self.size,
        )

    def issues(self) -> Iterator[Issue]:
        """Everything that was wrong with the file."""
        yield from self.faults
        for each in self.log.issues():
            yield Issue(each.severity, each.code, each.message, each.line, self.name)
        yield from self.numbers.issues(self.name)
        if self.unknown:
            kinds = ", ".join(f"{kind} ({count:,})" for kind, count in sorted(self.unknown.items())[:8])
            said = f"Kinds that this reader does not know were left out: {kinds}."
            yield Issue(Severity.NOTE, IssueCode.W_UNKNOWN_KIND, said, file=self.name)


def read_files(sources: Sequence[Source], limits: Limits) -> list[ReadFile]:
    """Every file with its documents, in the order of their names.

    A file over a limit is an issue of its own as long as another one could be read.

    Raises:
        FormatError: no file holds a JSON object or list.
    """
    files: list[ReadFile] = []
    refused: FormatError | None = None
    for source in sorted(sources, key=lambda each: each.name):
        made = ReadFile(source.name, source.size)
        files.append(made)
        try:
            data = read_bounded(source.blob, limits)
            made.documents = list(values_of(data, limits, made.log))
        except FormatError as error:
            refused = refused or error
            said = f"{printable(source.name, 200)}: {error}"
            made.faults.append(Issue(Severity.ERROR, IssueCode.E_LIMIT, said, file=source.name))
    if not any(made.documents for made in files):
        if refused is not None:
            raise refused
        named = printable(files[0].name, 200) if files else "The input"
        raise FormatError(f"{named} holds no JSON object or list and was not read.")
    return files


def decode(body: bytes, limits: Limits) -> Any:
    """The JSON value in ``body``; None where there is none, or it nests too deep."""
    try:
        check_depth(body, limits, "A value")
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError:  # lone surrogates and huge exponents, which the standard library reads
            return json.loads(body)
    except (ValueError, RecursionError):  # FormatError and UnicodeDecodeError are ValueErrors
        return None


def origin_by(head: bytes, time: re.Pattern[bytes], names: Sequence[re.Pattern[bytes]], format_name: str) -> Origin:
    """The run that the first of ``names`` in ``head`` says, else the content itself; begun at the first ``time``."""
    began = time.search(head)
    started = None if began is None else millis(Numbers().micros(decode(began[1], Limits())))
    for pattern in names:
        if (found := pattern.search(head)) is not None:
            return Origin(safe_id(found[1].decode("utf-8", "replace")), started=started)
    return Origin(f"{format_name}-{blake2b(head, digest_size=12).hexdigest()}", started=started)


def values_of(data: bytes, limits: Limits, log: LineLog) -> Iterator[Document]:
    """The objects and lists in ``data``, with the line of each."""
    body = data.rstrip(b"\0")
    log.padded = len(body) != len(data)
    body = body.removeprefix(_BOM)
    stripped = body.strip()
    first, _, rest = stripped.partition(b"\n")
    # A first line that is whole by itself makes lines of the file; trying all of it at once would be in vain.
    if stripped.startswith(_OPEN) and not (rest and decode(first, limits) is not None):
        value = decode(stripped, limits)
        if isinstance(value, (dict, list)):
            log.lines = body.rstrip().count(b"\n") + 1
            yield Document(1, value, whole=True)
            return
    yield from _parted(body.splitlines(keepends=True), limits, log)


def _parted(lines: list[bytes], limits: Limits, log: LineLog) -> Iterator[Document]:
    """Line by line, and what stands over many lines as one."""
    log.lines = len(lines)
    ends = _blocks(lines)
    after = 0
    for at, raw in enumerate(lines):
        line, number = raw.strip(), at + 1
        if not line or at < after:
            continue
        if len(raw) > limits.max_line:
            log.long(number)
            continue
        value = decode(line, limits) if line.startswith(_OPEN) else None
        if value is None and at in ends:
            value = decode(b"".join(lines[at : ends[at] + 1]), limits)
            after = at if value is None else ends[at] + 1
        if isinstance(value, (dict, list)):
            yield Document(number, value)
            continue
        found, whole = _run_together(line, limits)
        for each in found:
            yield Document(number, each)
        if not whole:
            log.bad(RawLine(number, line, not raw.endswith((b"\n", b"\r"))))


def _blocks(lines: list[bytes]) -> dict[int, int]:
    """Where a value that is printed over many lines ends: at the next bracket in the first column, by its first line.

    All that is inside is indented, so no two blocks share a line and reading them costs no more than their length.
    """
    ends: dict[int, int] = {}
    start: int | None = None
    for at, line in enumerate(lines):
        if line.startswith(_OPEN):
            start = at
        elif line.startswith(_CLOSED) and start is not None:
            ends[start] = at
            start = None
    return ends


def _run_together(line: bytes, limits: Limits) -> tuple[list[Any], bool]:
    """The values at the beginning of a line, and whether they are all of it."""
    found: list[Any] = []
    if not line.startswith(_OPEN):
        return found, False
    try:
        check_depth(line, limits, "A line")
        text = line.decode("utf-8", "surrogateescape")
        at, decoder = 0, json.JSONDecoder()
        while at < len(text) and text[at] in "{[":
            value, at = decoder.raw_decode(text, at)
            found.append(value)
    except (ValueError, RecursionError):
        return found, False
    return found, at == len(text)
