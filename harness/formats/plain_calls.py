"""The tool calls of a run that is read as plain values, each paired with its result.

By id where the recording has ids, else the oldest waiting call of that tool: old formats name the tool in the result
and nothing more. Of arguments and results a length and a digest are kept, and the one target that a call is about.
This module refuses to guess an outcome: a call is ok unless something says otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.tool_readings import reading_of
from harness.formats.whole_json import as_list, as_str, canonical, digest_of
from kpis.terms.trace import Issue, IssueCode, Outcome, Severity, TimeBasis, ToolCall, ToolOp

__all__ = ["CallLog", "arguments_of", "text_of"]

_LIMITS = Limits()


def arguments_of(value: Any) -> Any:
    """The arguments of a call: an object, also where it stands as JSON inside a text; else the value as it is."""
    if not isinstance(value, str):
        return value
    body = value.encode("utf-8", "surrogatepass")
    try:
        check_depth(body, _LIMITS, "it")
        found = msgspec.json.decode(body)
    except (FormatError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return value
    return found if isinstance(found, dict) else value


def text_of(content: Any) -> str | None:
    """The text of a message's content: as it stands, or of its parts one after another; None where there is none."""
    if isinstance(content, str):
        return content
    parts = [as_str(part.get("text")) for part in as_list(content) if isinstance(part, dict)]
    known = [part for part in parts if part is not None]
    return "".join(known) if known else None


class CallLog:
    """The calls of one file, in the order in which they were made. Ids are unique within it."""

    __slots__ = ("_by_id", "_by_name", "_file", "_made", "_next", "_orphans", "_taken", "_used")

    def __init__(self, file: str) -> None:
        self._file = file
        self._made: list[ToolCall] = []
        self._next: dict[str, int] = {}
        self._used: set[str] = set()
        self._by_id: dict[tuple[str, str], deque[ToolCall]] = {}
        self._by_name: dict[tuple[str, str | None], deque[ToolCall]] = {}
        self._taken: set[str] = set()
        self._orphans: list[int] = []

    def _id(self, given: str | None, thread_id: str, index: int) -> str:
        made = safe_id(given) if given else f"{thread_id}#call-{index}"
        if made in self._used:  # some servers number the calls of each answer from 0
            made = f"{made}#{thread_id}-{index}"
        self._used.add(made)
        return made

    def opened(
        self,
        thread_id: str,
        name: str | None,
        arguments: Any,
        *,
        line: int,
        given: Any = None,
        request_id: str | None = None,
        turn: int | None = None,
        t: int | None = None,
        described: Mapping[str, Any] | None = None,
    ) -> ToolCall:
        """A call that was made.

        ``given`` is its recorded id. ``described`` stands for the arguments where they do not name the target.
        """
        index = self._next.get(thread_id, 0)
        self._next[thread_id] = index + 1
        body = canonical(arguments) if arguments is not None else None
        told = described if described is not None else arguments
        reading = reading_of(name, told if isinstance(told, dict) else {})
        call = ToolCall(
            self._id(as_str(given), thread_id, index),
            request_id,
            thread_id,
            index,
            safe_name(name) if name else None,
            reading.op,
            Outcome.UNANSWERED,
            arg_bytes=None if body is None else len(body),
            arg_digest=None if body is None else digest_of(body),
            t_start=t,
            turn=turn,
            target=reading.target,
            mutates=reading.mutates,
            polling=reading.polling,
            file=self._file,
            line=line,
        )
        self._made.append(call)
        if identifier := as_str(given):
            self._by_id.setdefault((thread_id, identifier), deque()).append(call)
        for key in {name, None}:
            self._by_name.setdefault((thread_id, key), deque()).append(call)
        return call

    def waiting(self, thread_id: str, given: Any, name: str | None = None) -> ToolCall | None:
        """The oldest call of the thread that waits for a result with this id, or without any id for this tool's."""
        wanted = as_str(given)
        queue = self._by_name.get((thread_id, name)) if wanted is None else self._by_id.get((thread_id, wanted))
        while queue:
            call = queue.popleft()
            if call.call_id not in self._taken:  # taken from the other queue, it still stands in this one
                self._taken.add(call.call_id)
                return call
        return None

    def answered(
        self,
        call: ToolCall,
        content: Any,
        outcome: Outcome = Outcome.OK,
        *,
        t: int | None = None,
        seconds: float | None = None,
        exit_code: int | None = None,
    ) -> None:
        """The result of ``call``. ``seconds`` are the client's own clock, ``t`` the time of the result's line."""
        body = canonical(content) if content is not None else b""
        call.outcome = outcome
        call.result_bytes, call.result_digest = len(body), digest_of(body)
        call.t_end = t
        call.exit_code = exit_code
        if seconds is not None:
            call.duration_ms, call.time_basis = round(seconds * 1_000), TimeBasis.MEASURED

    def orphan(self, thread_id: str, given: Any, content: Any, *, line: int, t: int | None = None) -> ToolCall:
        """A result whose call is not recorded."""
        index = self._next.get(thread_id, 0)
        self._next[thread_id] = index + 1
        call = ToolCall(
            self._id(as_str(given), thread_id, index), None, thread_id, index, None, ToolOp.OTHER, Outcome.ORPHAN,
            file=self._file, line=line,
        )  # fmt: skip
        self.answered(call, content, Outcome.ORPHAN, t=t)
        self._made.append(call)
        self._orphans.append(line)
        return call

    def finished(self) -> Iterator[ToolCall | Issue]:
        """All calls, and how many of them lack a result or a beginning."""
        yield from self._made
        unanswered = [call.line for call in self._made if call.outcome is Outcome.UNANSWERED]
        for lines, severity, code, one, said in (
            (unanswered, Severity.NOTE, IssueCode.W_UNANSWERED_CALL, "tool call", "no result recorded."),
            (self._orphans, Severity.WARNING, IssueCode.W_ORPHAN_RESULT, "tool result", "no call recorded."),
        ):
            if lines:
                many = f"{len(lines):,} {one}s have" if len(lines) > 1 else f"1 {one} has"
                yield Issue(severity, code, f"{many} {said}", lines[0], self._file)
