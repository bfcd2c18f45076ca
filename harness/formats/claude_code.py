"""Claude Code session files: ``~/.claude/projects/<project>/<session>.jsonl``.

Pure: bytes in, events out; no path, no network, and no text of the recording in what comes out. One response of the
model is up to six lines that each copy its usage, so lines are never summed: :mod:`harness.formats.claude_session`
merges them by message id. This module refuses nothing but what breaks the limits; every other fault is an issue.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

from harness.formats.claude_decode import NotALineError, decode
from harness.formats.claude_session import Session
from harness.formats.claude_sniff import session_score
from harness.formats.jsonl import LineLog, raw_lines
from harness.formats.limits import Limits, read_bounded
from harness.formats.pseudonym import Pseudonyms
from kpis.terms.trace import Issue, TraceEvent

__all__ = ["ClaudeCode"]


class ClaudeCode:
    """The reader.

    ``key`` seeds the pseudonyms; by default it is the SHA-256 of the bytes read.
    """

    name = "claude-code"

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` is such a file: 0 to 1. Content decides; the name only breaks a near tie.

        A line counts if its kind is a known one and, for user and assistant lines, it holds a message.
        """
        return session_score(head, filename)

    def read(self, blob: BinaryIO, limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield the recording, its threads, turns, requests, calls, events and blocks, and the issues.

        Requests are unique by message id, also when the file repeats itself; their order is that of first appearance.

        Raises:
            FormatError: the input breaks ``limits``.
        """
        data = read_bounded(blob, limits)
        session = Session(Pseudonyms(sha256(data).digest() if self._key is None else self._key))
        log = LineLog()
        for raw in raw_lines(data, limits, log):
            try:
                line, drifted = decode(raw.body)
            except NotALineError:
                log.bad(raw)
                continue
            session.add(line, raw.number, drifted)
        yield from session.finish(self.name, log.lines, log.bad_lines)
        yield from log.issues()
