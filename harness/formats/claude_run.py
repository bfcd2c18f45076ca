"""The replay of Claude Code sessions: all files of a session and its sub-agents, line by line, none held as a whole.

One response is up to six lines that each copy its usage, a resumed session copies the history of another, and a
sub-agent writes a file of its own under its parent's session id: lines are never summed. The last line of a message id
counts, over all files of the run, and the file that begins earliest owns it. This module refuses nothing: every fault
is an issue with its file and line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import ClassVar

import msgspec

from harness.formats.claude_decode import NotALineError
from harness.formats.claude_notice_lines import notice_of
from harness.formats.claude_run_finish import finished
from harness.formats.claude_run_gather import Gather
from harness.formats.claude_run_lenient import decode_leniently
from harness.formats.claude_run_lines import decode_fast
from harness.formats.claude_run_notices import NOTHING_IN_IT
from harness.formats.claude_run_state import FileState
from harness.formats.claude_sniff import session_score
from harness.formats.jsonl import BOM, RawLine, first_objects
from harness.formats.limits import Limits
from harness.formats.pseudonym import safe_id
from harness.formats.run_format import Origin, Source
from harness.formats.session_numbers import stamp_ms
from kpis.terms.trace import Issue, TraceEvent

__all__ = ["ClaudeCodeRun", "read_lines"]

_SESSION = re.compile(rb'"sessionId" ?: ?"([^"\\]{1,128})"')
_HEAD_LINES = 50
_FOLDER = "subagents"


class ClaudeCodeRun:
    """The reader."""

    name: ClassVar[str] = "claude-code"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` is such a file: lines of known kinds with the keys of a session file, not of a stream."""
        return session_score(head, filename, lambda raw: notice_of(raw).stream_session is None)

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session, which a sub-agent's lines name too; where no line does, what the path says, else the content."""
        session, started = None, 0
        for raw in first_objects(head, _HEAD_LINES):
            notice = notice_of(raw)
            session = session or notice.session_id
            started = started or stamp_ms(notice.timestamp)
            if session and started:
                break
        if session is None:
            found = _SESSION.search(head)
            session = found[1].decode("utf-8", "replace") if found is not None else _by_path(filename)
        return Origin(safe_id(session), None, started or None)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield everything that the files of one session say; a file may be read once only and is never rewound."""
        gather = Gather()
        files = [file for file, _ in read_lines(gather, sources, limits)]
        yield from finished(gather, files, self.name)


def _by_path(filename: str) -> str:
    parts = filename.split("/")
    if _FOLDER in parts[1:]:
        return parts[parts.index(_FOLDER, 1) - 1]
    return parts[-1].removesuffix(".jsonl") or "session"


def read_lines(gather: Gather, sources: Sequence[Source], limits: Limits) -> list[tuple[FileState, bytes]]:
    """Hand all lines of all files to ``gather``, the file that begins first at first; each file with its last line."""
    opened = sorted((_Opened(source, limits) for source in sources), key=_Opened.order)
    return [(each.file, each.read(gather)) for each in opened]


class _Opened:
    """A file whose first lines are read ahead, to know when it begins."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.file = FileState(source.name, source.size)
        self._limits = limits
        self._next = partial(source.blob.readline, limits.max_line + 1)
        self._ahead: list[bytes] = []
        self._started = 0
        for _ in range(_HEAD_LINES):
            raw = self._next()
            if not raw:
                break
            self._ahead.append(raw)
            if len(raw) > limits.max_line:
                self._skip_rest(raw)
            elif self._describe(raw):
                break

    def order(self) -> tuple[int, bytes, str]:
        """By the first time, then by content; a file without times comes last."""
        return self._started or 1 << 62, b"".join(self._ahead)[:4_096], self.file.name

    def _describe(self, raw: bytes) -> bool:
        """Note what a line says of its file, and whether that is all there is to know."""
        file = self.file
        notice = notice_of(raw.removeprefix(BOM))
        self._started = self._started or stamp_ms(notice.timestamp)
        file.session = file.session or notice.session_id or notice.stream_session
        file.project = file.project or notice.cwd
        file.branch = file.branch or notice.git_branch
        file.version = notice.version or notice.client_version or file.version
        return bool(self._started and file.session and file.version)

    def read(self, gather: Gather) -> bytes:
        """All lines, in a loop that does as little as it can; the last line."""
        gather.begin(self.file)
        add, progress, decoded, number, last = gather.add, gather.progress, decode_fast, 0, b""
        most = self._limits.max_line
        lines = chain(self._ahead, iter(self._next, b""))
        ahead, self._ahead = len(self._ahead), []
        for number, raw in enumerate(lines, 1):
            if raw[:9] == b'{"type":"' and raw[-2:] == b"}\n" and raw[9 : raw.find(b'"', 9)] in NOTHING_IN_IT:
                continue
            try:
                line = decoded(raw)
            except (msgspec.DecodeError, RecursionError):
                if len(raw) > most:
                    self.file.log.long(number)
                    if number > ahead:
                        self._skip_rest(raw)
                else:
                    self._again(gather, raw, number)
                continue
            last = raw
            if line.type == "progress":
                progress(line)
            else:
                add(line, raw, number)
        self.file.log.lines = number
        self._end(last)
        return last

    def _skip_rest(self, begun: bytes) -> None:
        """Pass over what follows of a line that is over the limit, piece by piece."""
        while begun and not begun.endswith(b"\n"):
            begun = self._next()

    def _again(self, gather: Gather, raw: bytes, number: int) -> None:
        """A line that did not fit: nothing, NUL padding, drifted, or no line at all."""
        file = self.file
        body = raw.removeprefix(BOM).strip(b"\0 \t\r\n")
        if not body:
            if b"\0" in raw:
                file.log.nul(number)
            return
        try:
            line, drifted, bad = decode_leniently(body, self._limits)
        except NotALineError:
            file.log.bad(RawLine(number, b"", not raw.endswith(b"\n")))
            return
        file.drifted += drifted
        file.bad_numbers += bad
        gather.add(line, body, number)

    def _end(self, last: bytes) -> None:
        if last:
            self.file.version = notice_of(last).version or self.file.version
