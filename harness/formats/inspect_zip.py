"""The pieces of one Inspect log, whichever way it is stored: an ``.eval`` archive, or one JSON object.

An archive keeps a header, the beginning of the evaluation, one member a sample and a summary of each; a log that is
still written, or was cut off by a crash, has no header yet. Samples are unpacked one at a time, and a long one may be
stored in chunks. A sample that cannot be read is told, and its summary stands in its place. This module refuses to know
what a sample means.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from harness.formats.archive import Archive, Member
from harness.formats.json_files import FileLog, only_of, values_of
from harness.formats.limits import FormatError, Limits
from harness.formats.run_format import Source
from harness.formats.whole_json import as_dict, as_int, as_list, decoded
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["ZIP", "LogPieces", "Sample", "first_member", "log_pieces"]

ZIP = b"PK\x03\x04"

_LOCAL = struct.Struct("<4s5H3L2H")
_SAMPLE = re.compile(r"samples/(.+)\.json")
_SHELL = re.compile(r"samples/(.+_epoch_\d+)/sample\.json")
_CHUNK = re.compile(r"samples/(.+_epoch_\d+)/events/(\d{1,12})\.json")
_UNPACKED_HEAD = 1 << 14


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of one epoch: its fields, and its events. ``whole`` is False where only its summary could be read."""

    fields: dict[str, Any]
    events: Iterable[Any]
    whole: bool = True


class LogPieces(Protocol):
    """A log. ``unread`` counts the samples of which only summaries, or nothing, could be read so far."""

    header: dict[str, Any]
    unread: int

    def samples(self) -> Iterator[Sample]:
        """The samples, one at a time."""
        ...


def first_member(head: bytes) -> tuple[str, bytes]:
    """Name and first bytes of the member that an archive begins with; empty where ``head`` shows neither."""
    if not head.startswith(ZIP) or len(head) < _LOCAL.size:
        return "", b""
    local = _LOCAL.unpack_from(head)
    method, end = local[3], _LOCAL.size + local[9]
    name, body = head[_LOCAL.size : end].decode("utf-8", "replace"), head[end + local[10] :]
    if method == 8:
        try:
            return name, zlib.decompressobj(-zlib.MAX_WBITS).decompress(body, _UNPACKED_HEAD)
        except zlib.error:
            return name, b""
    return name, body[:_UNPACKED_HEAD] if method == 0 else b""


def log_pieces(source: Source, limits: Limits, file: FileLog) -> LogPieces:
    """The log in ``source``; what stands in its way is noted in ``file``.

    Raises:
        FormatError: it is neither an archive nor one JSON object, or is too large.
    """
    source.blob.seek(0)
    packed = source.blob.read(len(ZIP)) == ZIP
    source.blob.seek(0)
    return _Packed(source, limits, file) if packed else _Plain(source, limits, file)


class _Plain:
    """A log that is one JSON object."""

    def __init__(self, source: Source, limits: Limits, file: FileLog) -> None:
        self.header = only_of(list(values_of(source, limits, file)), file)
        self.unread = 0
        if not isinstance(self.header.get("eval"), dict):
            raise FormatError("it is no log of Inspect.")

    def samples(self) -> Iterator[Sample]:
        for value in as_list(self.header.get("samples")):
            fields = as_dict(value)
            yield Sample(fields, events_of(fields))


def events_of(fields: dict[str, Any]) -> Sequence[Any]:
    """The events of a sample; the oldest logs kept them in its transcript."""
    return as_list(fields.get("events")) or as_list(as_dict(fields.get("transcript")).get("events"))


class _Packed:
    """A log that is an archive."""

    def __init__(self, source: Source, limits: Limits, file: FileLog) -> None:
        self._limits = limits
        self._file = file
        self._archive = Archive(source.blob, limits)
        self._names: list[str] = []
        self._told: set[str] = set()
        self.unread = 0
        for each in self._archive.members():
            if isinstance(each, Member):
                self._names.append(each.name)
            else:
                file.issues.append(Issue(each.severity, each.code, each.message, file=file.name))
        known = set(self._names)
        self.header: dict[str, Any] = {}
        if "header.json" in known:
            self.header = as_dict(self._value("header.json"))
        if not isinstance(self.header.get("eval"), dict):
            self.header = {**as_dict(self._value("_journal/start.json") if "_journal/start.json" in known else None)}
            if not isinstance(self.header.get("eval"), dict) and not any(map(_SAMPLE.fullmatch, known)):
                raise FormatError("it is an archive, and no log of Inspect.")
            said = "The log has no header: it is still written, or was cut off. What it holds so far was read."
            file.issue(Severity.WARNING, IssueCode.W_UNSETTLED, said)
            self.header["status"] = "started"

    def samples(self) -> Iterator[Sample]:
        chunks: dict[str, list[tuple[int, str]]] = {}
        shells: dict[str, str] = {}
        for name in self._names:
            if found := _CHUNK.fullmatch(name):
                chunks.setdefault(found[1], []).append((int(found[2]), name))
                continue
            whole = _SAMPLE.fullmatch(name) if "_epoch_" in name.rpartition("/")[2] else _SHELL.fullmatch(name)
            if whole is not None:
                shells[whole[1]] = name
        read: set[str] = set()
        for key, name in shells.items():
            value = self._value(name)
            if not isinstance(value, dict):
                continue
            read.add(key)
            parts = [self._chunk(each) for _, each in sorted(chunks.get(key, ()))]
            yield Sample(value, chain(events_of(value), chain.from_iterable(parts)))
        yield from self._summaries(read, set(shells))

    def _chunk(self, name: str) -> Iterator[Any]:
        yield from as_list(self._value(name))

    def _summaries(self, read: set[str], present: set[str]) -> Iterator[Sample]:
        """What is known of samples that could not be read."""
        found: dict[str, dict[str, Any]] = {}
        for name in self._names:
            if name == "summaries.json" or name.startswith("_journal/summaries/"):
                for each in as_list(self._value(name)):
                    fields = as_dict(each)
                    found[f"{fields.get('id')}_epoch_{as_int(fields.get('epoch'))}"] = fields
        lost = [key for key in {**dict.fromkeys(present), **found} if key not in read]
        self.unread = len(lost)
        if lost:
            many = f"{len(lost):,} samples" if len(lost) > 1 else "1 sample"
            said = f"{many} could not be read. Of them the log's summaries are shown, which hold no requests."
            self._file.issue(Severity.ERROR, IssueCode.E_LIMIT, said)
        for key in lost:
            if key in found:
                yield Sample(found[key], (), whole=False)

    def _value(self, name: str) -> Any:
        """The JSON of a member; None, with an issue, where it cannot be read."""
        try:
            return decoded(self._archive.read(name), self._limits, "A member of the archive")
        except FormatError as error:
            said = str(error)
        except ValueError:
            said = "A member of the archive is no JSON."
        if said not in self._told:  # what is wrong with one member is often wrong with all
            self._told.add(said)
            self._file.issue(Severity.ERROR, IssueCode.E_ARCHIVE, said)
        return None
