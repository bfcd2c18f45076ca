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
            f"{{n}} of {of} requests hold a placeholder instead of their output: the output total is a lower bound.",
        ),
        (
            without_usage,
            _NOTE,
            IssueCode.W_NO_USAGE,
            f"{{n}} of {of} requests carry no usage: their tokens are unknown.",
        ),
        (
            unnamed,
            _NOTE,
            IssueCode.W_NO_REQUEST_ID,
            f"{{n}} of {of} requests carry no request id; they were told apart by message id.",
        ),
        (
            sum(request.bad_numbers for request in requests),
            _ERROR,
            IssueCode.E_BAD_NUMBER,
            "{n} token counts are negative or beyond any real one; they were left out.",
        ),
        (
            shrank,
            _NOTE,
            IssueCode.W_REEMIT,
            f"{{n}} of {of} requests end on a smaller output than an earlier line says; the largest was taken.",
        ),
        (
            sum(map(_splits_too_much, requests)),
            _WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            f"{{n}} of {of} requests split their cache writes into more than the total.",
        ),
        (
            sum(1 for call in calls if call.request is None),
            _WARNING,
            IssueCode.W_ORPHAN_RESULT,
            "{n} tool results answer no call in this file.",
        ),
        (
            sum(1 for call in calls if call.request is not None and call.outcome is None),
            _NOTE,
            IssueCode.W_UNANSWERED_CALL,
            "{n} tool calls have no result in this file.",
        ),
        (
            conversation.phantoms,
            _WARNING,
            IssueCode.W_PHANTOM_PARENT,
            "{n} lines name a parent that is not in this file; the order of lines was followed there.",
        ),
        (
            out.repeated,
            _NOTE,
            IssueCode.W_REPEATED_LINE,
            "{n} lines repeat an earlier line's id and were left out.",
        ),
        (
            out.drifted,
            _NOTE,
            IssueCode.W_SCHEMA_DRIFT,
            "{n} lines are not shaped as expected; what fitted was kept.",
        ),
    )
    for n, severity, code, sentence in findings:
        if n:
            yield Issue(severity, code, sentence.format(n=n))
    for kind, n in sorted(out.unknown.items()):
        yield Issue(_NOTE, IssueCode.W_UNKNOWN_KIND, f"{n} lines of the unknown kind {kind} were left out.")


def _splits_too_much(request: RequestDraft) -> bool:
    parts = request.parts
    split = parts.get("cache_write_5m", 0) + parts.get("cache_write_1h", 0)
    return "cache_write" in parts and split > parts["cache_write"]
