"""The lines of a rollout, one at a time, also of a compressed one: memory holds a line, never the file.

New builds compress the sessions that they archive with Zstandard. A stranger's frame may be made to fill a memory, so
what comes out of it is bounded by the larger of ``limits.max_bytes`` and 250 times what goes in, and its window by 128
MiB. Torn, long and padded lines are counted in a :class:`~harness.formats.jsonl.LineLog`; no fault of a file is
raised but the missing decoder.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import IO, Protocol, cast

from harness.formats.jsonl import LineLog, RawLine
from harness.formats.limits import FormatError, Limits
from harness.formats.run_format import Source
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["ZSTD", "RolloutLines", "unpacked_head"]

ZSTD = b"\x28\xb5\x2f\xfd"
"""How a Zstandard frame begins."""

_BOM = b"\xef\xbb\xbf"
_BUFFER = 1 << 18
_HEAD = 1 << 16
_MOST_RATIO = 250
_WINDOW = 1 << 27
_NO_DECODER = (
    "{name} is compressed with Zstandard, and no decoder for it is installed;"
    " type `pip install 'loopladder[codex]'`, then the command again."
)


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class _Raw(io.RawIOBase):
    """Anything that reads, as what a buffer can stand on."""

    def __init__(self, rest: _Readable) -> None:
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _buffered(rest: _Readable) -> io.BufferedReader:
    return io.BufferedReader(_Raw(rest), _BUFFER)


def _unpacked(packed: _Readable) -> io.BufferedReader:
    """What a Zstandard stream unpacks to.

    Raises:
        ImportError: there is no decoder.
    """
    import zstandard  # an optional dependency, which compressed sessions alone need

    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    return _buffered(unpacker.stream_reader(cast("IO[bytes]", packed), read_across_frames=True, closefd=False))


def _faults() -> tuple[type[Exception], ...]:
    """What reading a damaged file raises: its decoder's errors, and those of an archive that it stands in."""
    faults: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, RuntimeError, zlib.error)
    try:
        import zstandard
    except ImportError:
        return faults
    return (*faults, zstandard.ZstdError)


def unpacked_head(head: bytes) -> bytes:
    """The beginning of a file, unpacked where it is a compressed one; empty where that cannot be done."""
    if not head.startswith(ZSTD):
        return head
    found = b""
    try:
        stream = _unpacked(io.BytesIO(head))
        while len(found) < _HEAD and (more := stream.read1(_HEAD)):
            found += more
    except ImportError:
        return b""
    except _faults():
        return found[:_HEAD]
    return found[:_HEAD]


class RolloutLines:
    """The lines of one source. Iterate once; then :attr:`log`, :attr:`bytes` and :meth:`issues` say what was read.

    ``bytes`` are those of the lines, so of a compressed file the unpacked ones.
    """

    def __init__(self, source: Source, limits: Limits) -> None:
        """Look at the first bytes.

        Raises:
            FormatError: the file is compressed and there is no decoder.
        """
        self.source = source
        self.log = LineLog()
        self.bytes = 0
        self._limits = limits
        self._bound: int | None = None
        self._cut = False
        self._open_end = False
        self._fault: str | None = None
        self._stream = _buffered(source.blob)
        try:
            if self._stream.peek(len(ZSTD)).startswith(ZSTD):
                self._stream = _unpacked(self._stream)
                self._bound = max(limits.max_bytes, _MOST_RATIO * source.size)
        except ImportError:
            raise FormatError(_NO_DECODER.format(name=source.name)) from None
        except _faults() as error:
            self._fault = type(error).__name__

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Number and body of each line that may be an object; the others are in the log."""
        if self._fault is not None:
            return
        log, most = self.log, self._limits.max_line
        try:
            for number, raw in enumerate(self._whole(), 1):
                log.lines = number
                if len(raw) > most:
                    log.long(number)
                    continue
                line = raw.strip(b" \t\r\n\0")
                if number == 1:
                    line = line.removeprefix(_BOM).strip()
                if raw.endswith(b"\0"):
                    log.padded = True
                    log.lines -= not line
                if not line:
                    continue
                if line[:1] == b"{":
                    self._open_end = raw[-1:] not in (b"\n", b"\0")
                    yield number, line
                else:
                    log.bad(RawLine(number, line, raw[-1:] not in (b"\n", b"\0")))
        except _faults() as error:
            self._fault = type(error).__name__

    def bad(self, number: int) -> None:
        """The line that was yielded last is no object after all."""
        self.log.bad(RawLine(number, b"", self._open_end))

    def _whole(self) -> Iterator[bytes]:
        """Lines with their ends; of one that is too long, a part that is too long as well."""
        readline, most = self._stream.readline, self._limits.max_line + 1
        while raw := readline(most):
            self.bytes += len(raw)
            part = raw
            while len(part) == most and not part.endswith(b"\n") and self._within() and (part := readline(most)):
                self.bytes += len(part)
            if not self._within():
                self._cut = True
                return
            yield raw

    def _within(self) -> bool:
        return self._bound is None or self.bytes <= self._bound

    def issues(self) -> Iterator[Issue]:
        """What could not be read, with the name of the file."""
        name, last = self.source.name, self.log.lines
        for issue in self.log.issues():
            yield Issue(issue.severity, issue.code, issue.message, issue.line, name)
        if self._cut:
            said = f"The file unpacks to more than {self._bound:,} bytes; what follows line {last} was not read."
            yield Issue(Severity.ERROR, IssueCode.E_LIMIT, said, last or None, name)
        if self._fault is not None:
            said = f"Reading stopped after line {last} ({self._fault}); what follows is not counted."
            yield Issue(Severity.ERROR, IssueCode.E_UNREADABLE, said, last or None, name)
