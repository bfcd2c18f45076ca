"""The event stream of Claude Code: ``claude -p --output-format stream-json``, and the logs that harnesses keep of it.

The usage on an answer is what the provider said when the answer began, so its output is a stub; only the result at the
end knows the whole, also of models that no answer names. A sub-agent's lines name the call that started it. This module
refuses to add the two: stubs stay and are marked, the result stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from harness.formats.claude_notice_lines import notice_of
from harness.formats.claude_run import read_lines
from harness.formats.claude_run_finish import PLACEHOLDER, events, recording, threads
from harness.formats.claude_run_gather import Gather
from harness.formats.claude_run_issues import issues
from harness.formats.claude_run_state import FileState
from harness.formats.claude_stream_result import facts_of
from harness.formats.jsonl import first_objects
from harness.formats.limits import FormatError, Limits, check_depth
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.run_format import Origin, Source
from harness.formats.session_numbers import stamp_ms
from kpis.terms.trace import Issue, IssueCode, Outcome, Request, Severity, TraceEvent

__all__ = ["ClaudeStream"]

_KINDS = frozenset(("assistant", "user", "system", "result", "stream_event", "rate_limit_event"))


class ClaudeStream:
    """The reader."""

    name: ClassVar[str] = "claude-stream"

    def sniff(self, head: bytes, filename: str) -> float:
        """How sure ``head`` is such a stream: lines of its kinds that name their session in its spelling."""
        named = 0.05 if filename.endswith((".jsonl", ".txt", ".json")) else 0.0
        lines = first_objects(head)
        fitting = 0
        for raw in lines:
            try:
                check_depth(raw, Limits(), "A line")
            except FormatError:
                continue
            notice = notice_of(raw)
            fitting += notice.type in _KINDS and notice.stream_session is not None and notice.session_id is None
        return min(1.0, 0.25 + 0.7 * fitting / len(lines) + named) if fitting else 0.0

    def origin(self, head: bytes, filename: str) -> Origin:
        """The session; a file that names none is its own run."""
        session, started = None, 0
        for raw in first_objects(head, 50):
            notice = notice_of(raw)
            session = session or notice.stream_session
            started = started or stamp_ms(notice.timestamp)
        return Origin(safe_id(session or filename.rpartition("/")[2] or "stream"), None, started or None)

    def read(self, sources: Sequence[Source], limits: Limits) -> Iterator[TraceEvent | Issue]:
        """Yield what the streams of one session say."""
        gather = Gather(chained=False)
        files = [file for file, _ in read_lines(gather, sources, limits)]
        gather.requests.unnamed.clear()  # a stream gives no request ids
        requests = list(gather.requests.all.values())
        for file in files:
            yield recording(file, self.name)
            model = next((r.model for r in requests if r.file == file.name and r.thread_id == "main"), None)
            facts = facts_of(file.results, model, file.name)
            if facts is not None:
                yield facts
            _deny(gather, file)
            _windows(requests, file)
        marked = _stubs(gather, files)
        for request in marked:
            request.tokens.provenance = PLACEHOLDER
        for call in gather.calls.all.values():
            if call.request_id is None:
                call.outcome = Outcome.ORPHAN
        yield from threads(gather)
        yield from requests
        yield from gather.calls.all.values()
        yield from events(gather, gather.chain.walk())
        yield from issues(gather, files, len(marked), 0)
        yield from _unfinished(files, requests)


def _stubs(gather: Gather, files: Sequence[FileState]) -> list[Request]:
    """The requests whose output is what their first line said, unless they add up to what the result says."""
    marked: list[Request] = []
    for file in files:
        counted = [r for r in gather.requests.all.values() if r.file == file.name and r.tokens.out_total is not None]
        usage = file.results[-1].usage if file.results else None
        reported = None if usage is None else usage.output_tokens
        if reported is None or sum(request.tokens.out_total or 0 for request in counted) < reported:
            marked += [request for request in counted if request.request_id not in gather.requests.settled]
    return marked


def _deny(gather: Gather, file: FileState) -> None:
    """The result lists the calls that were refused; their own results only say that they failed."""
    for result in file.results:
        for denial in result.permission_denials or ():
            call = gather.calls.all.get(denial.tool_use_id or "")
            if call is not None:
                call.outcome, call.error_class = Outcome.DENIED, "approval"


def _windows(requests: Sequence[Request], file: FileState) -> None:
    sizes = {
        safe_name(name): of.context_window for each in file.results for name, of in (each.model_usage or {}).items()
    }
    for request in requests:
        if request.file == file.name and request.model in sizes:
            request.context_window = sizes[request.model]


def _unfinished(files: Sequence[FileState], requests: Sequence[Request]) -> Iterator[Issue]:
    for file in files:
        seen = {request.model for request in requests if request.file == file.name}
        if not file.results and seen:
            sentence = "The stream has no result line, so it was cut: the output of its answers was not observed."
            yield Issue(Severity.WARNING, IssueCode.W_UNSETTLED, sentence, file=file.name)
        hidden = {safe_name(name) for each in file.results for name in each.model_usage or ()} - seen
        if hidden and seen:
            models = ", ".join(sorted(hidden))
            sentence = f"Models that only the result counts: {models}. No answer of theirs is in the stream."
            yield Issue(Severity.WARNING, IssueCode.W_TOTAL_MISMATCH, sentence, file=file.name)
