"""Sessions of Gemini's command line: ``~/.gemini/tmp/<project>/chats/session-*``, its streams, and recorded responses.

The files of a session and of its sub-agents are one run. Deduplication: by message id over all files of a session, so
an old session that went on as a log counts once. A stream of a session whose file is at hand adds no usage. This module
refuses nothing but what it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

import msgspec

from harness.formats.gemini_messages import Messages
from harness.formats.gemini_session import Session
from harness.formats.gemini_stream import read_responses, read_stream
from harness.formats.gemini_usage import GeminiUsage
from harness.formats.json_files import FileLog, in_order, values_of
from harness.formats.limits import FormatError, Limits
from harness.formats.plain_calls import CallLog
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.whole_json import as_dict, as_ms, as_str, file_run, has_keys
from kpis.terms.trace import Issue, Thread, ThreadKind, TraceEvent

__all__ = ["GeminiRun"]

_SESSION = re.compile(rb'"(?:sessionId|session_id)":\s*"([A-Za-z0-9_.:-]{1,128})"')
_START = re.compile(rb'"(?:startTime|timestamp)":\s*"([^"]{10,40})"')
_SUBAGENT = re.compile(rb'"kind":\s*"subagent"')
_RESPONSE = re.compile(rb'^\s*\{\s*"method":\s*"(?:generateContent|countTokens|embedContent)')
_FIRST = 1 << 14


class _Line(msgspec.Struct):
    """As much of a first line as is needed to know a stream."""

    type: str = ""
    session_id: str | None = None
    model: str | None = None


@dataclass(slots=True, eq=False)
class _File:
    log: FileLog
    usage: GeminiUsage
    calls: CallLog
    values: list[tuple[int, Any]] = field(default_factory=list)

    @property
    def head(self) -> dict[str, Any]:
        return as_dict(self.values[0][1]) if self.values else {}

    @property
    def stream(self) -> bool:
        if "sessionId" in self.head:
            return False
        kinds = {as_str(as_dict(value).get("type")) for _, value in self.values[:1] + self.values[-1:]}
        return bool(kinds & {"init", "result"})

    @property
    def responses(self) -> bool:
        return "method" in self.head and "response" in self.head


class GeminiRun:
    """The reader."""

    name: ClassVar[str] = "gemini-cli"

    def sniff(self, head: bytes, filename: str) -> float:  # noqa: ARG002 its first line tells enough
        """Sure of a session's first keys, of a stream's first line, and of recorded responses."""
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
        if start[:1] != b"{":
            return 0.0
        if has_keys(head[:_FIRST], "sessionId", "projectHash"):
            return 0.97
        if _RESPONSE.match(start[:200]) is not None:
            return 0.96
        line = start.partition(b"\n")[0]
        if b'"init"' not in line[:_FIRST]:
            return 0.0
        try:
            first = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return 0.0
        return 0.95 if first.type == "init" and first.session_id is not None and first.model is not None else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session, or of a sub-agent the session in whose folder its file lies."""
        found, when = _SESSION.search(head[:_FIRST]), _START.search(head[:_FIRST])
        started = as_ms(when[1].decode("utf-8", "replace")) if when is not None else None
        folder = PurePosixPath(filename).parent.name
        if _SUBAGENT.search(head[:_FIRST]) is not None and folder not in ("", "chats"):
            return Origin(safe_id(folder), started=started)
        return Origin(file_run(filename) if found is None else found[1].decode(), started=started)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Threads, requests, calls and events of one run."""
        files: list[_File] = []
        for source in in_order(sources):
            log = FileLog(source)
            file = _File(log, GeminiUsage(log.name), CallLog(log.name))
            files.append(file)
            try:
                file.values = list(values_of(source, limits, log))
            except FormatError as error:
                log.unreadable(error)
        yield from _sessions(files)
        for file in files:
            yield from file.calls.finished()
            yield from file.usage.issues()
            yield from file.log.finished(self.name)


def _sessions(files: Sequence[_File]) -> Iterator[TraceEvent]:
    """The sessions among the files, then streams, then recorded responses."""
    found: dict[str, tuple[Messages, _File]] = {}
    rest = [file for file in files if file.values and (file.stream or file.responses)]
    for file in sorted(files, key=lambda each: (_started(each), each.log.name)):
        if file in rest or not file.values:
            continue
        session = next((name for _, value in file.values if (name := as_str(as_dict(value).get("sessionId")))), None)
        messages, _ = found.setdefault(session or "main", (Messages(), file))
        for line, value in file.values:
            messages.record(as_dict(value), line, file.log.name)
        file.log.session = None if session is None else safe_id(session)
        for kind in messages.unknown:
            file.log.unknown_kind(kind)
        messages.unknown.clear()
    yield from _read(found, {file.log.name: file for file in files})
    for file in rest:
        named = as_str(file.head.get("session_id"))
        file.log.session = None if named is None else safe_id(named)
        thread_id = safe_id(named or "main")
        known = named is not None and named in found
        if not known:
            yield Thread(thread_id, ThreadKind.MAIN)
        if file.responses:
            yield from read_responses(file.values, thread_id, file.log, file.usage, file.calls)
        else:
            yield from read_stream(file.values, thread_id, file.log, file.usage, file.calls, known=known)


def _started(file: _File) -> int:
    return as_ms(file.head.get("startTime")) or 1 << 62


def _read(found: dict[str, tuple[Messages, _File]], by_name: dict[str, _File]) -> Iterator[TraceEvent]:
    read: dict[str, Session] = {}
    for name, (messages, file) in found.items():
        session = read[name] = Session(safe_id(name), messages, file.usage, file.calls)
        yield from session.events()
        for owner, kind in session.unknown:
            by_name[owner].log.unknown_kind(kind)
        for owner, time in session.times:
            by_name[owner].log.seen(time)
    calls = {agent: (name, call) for name, session in read.items() for agent, call in session.spawned.items()}
    mains = [name for name, (messages, _) in found.items() if messages.about.get("kind") != "subagent"]
    for name, (messages, _) in found.items():
        above, call = calls.get(name, (mains[0] if len(mains) == 1 else None, None))
        agent = as_str(messages.about.get("agentName"))
        if messages.about.get("kind") != "subagent":
            yield Thread(safe_id(name), ThreadKind.MAIN)
            continue
        if call is not None:
            call.spawned_thread = safe_id(name)
        yield Thread(
            safe_id(name),
            ThreadKind.SUBAGENT,
            None if above is None else safe_id(above),
            None if call is None else call.call_id,
            agent=None if agent is None else safe_name(agent),
        )
