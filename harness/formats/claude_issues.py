"""What a reading of a Claude Code session has to say against its own numbers, as values.

One issue a kind of fault, with how often it occurred. This module refuses to repair: what it reports was already left
out, kept unknown or marked.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.formats.claude_conversation import Conversation
from harness.formats.claude_drafts import Gathered, RequestDraft
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["issues"]

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def issues(out: Gathered, conversation: Conversation, placeholders: frozenset[str]) -> Iterator[Issue]:
    """The issues about content; those about unreadable lines are the line log's."""
    requests = out.requests.values()
    calls = out.calls.values()
    of = len(requests)
    without_usage = sum(1 for request in requests if not request.parts)
    unnamed = sum(1 for request in requests if request.parts and not request.named)
    shrank = sum(1 for request in requests if request.last_output != request.parts.get("out_total"))
    findings = (
        (
            len(placeholders),
            _WARNING,
            IssueCode.W_PLACEHOLDER_OUTPUT,
            f"Requests whose output is a placeholder: {{n}} of {of}. The output total is a lower bound.",
        ),
        (
            without_usage,
            _NOTE,
            IssueCode.W_NO_USAGE,
            f"Requests without usage: {{n}} of {of}. Their tokens are unknown.",
        ),
        (
            unnamed,
            _NOTE,
            IssueCode.W_NO_REQUEST_ID,
            f"Requests without a request id: {{n}} of {of}. They were told apart by message id.",
        ),
        (
            sum(request.bad_numbers for request in requests),
            _ERROR,
            IssueCode.E_BAD_NUMBER,
            "Token counts that are negative or beyond any real one: {n}. They were left out.",
        ),
        (
            shrank,
            _NOTE,
            IssueCode.W_REEMIT,
            f"Requests that end on a smaller output than an earlier line says: {{n}} of {of}. The largest was taken.",
        ),
        (
            sum(map(_splits_too_much, requests)),
            _WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            f"Requests that split their cache writes into more than the total: {{n}} of {of}.",
        ),
        (
            sum(1 for call in calls if call.request is None),
            _WARNING,
            IssueCode.W_ORPHAN_RESULT,
            "Tool results that answer no call in this file: {n}.",
        ),
        (
            sum(1 for call in calls if call.request is not None and call.outcome is None),
            _NOTE,
            IssueCode.W_UNANSWERED_CALL,
            "Tool calls without a result in this file: {n}.",
        ),
        (
            conversation.phantoms,
            _WARNING,
            IssueCode.W_PHANTOM_PARENT,
            "Lines that name a parent outside this file: {n}. The order of lines was followed there.",
        ),
        (
            out.repeated,
            _NOTE,
            IssueCode.W_REPEATED_LINE,
            "Lines that repeat an earlier line's id: {n}. They were left out.",
        ),
        (
            out.drifted,
            _NOTE,
            IssueCode.W_SCHEMA_DRIFT,
            "Lines that are not shaped as expected: {n}. What fitted was kept.",
        ),
    )
    for n, severity, code, sentence in findings:
        if n:
            yield Issue(severity, code, sentence.format(n=n))
    for kind, n in sorted(out.unknown.items()):
        yield Issue(_NOTE, IssueCode.W_UNKNOWN_KIND, f"Lines of the unknown kind {kind}: {n}. They were left out.")


def _splits_too_much(request: RequestDraft) -> bool:
    parts = request.parts
    split = parts.get("cache_write_5m", 0) + parts.get("cache_write_1h", 0)
    return "cache_write" in parts and split > parts["cache_write"]
