"""What a whole Claude Code session says once every line is in: token parts, statuses, outcomes, as terms.

This module refuses to repair a number: where a client logged placeholders it keeps them and marks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from harness.formats.claude_conversation import Conversation, nodes
from harness.formats.claude_drafts import BlockDraft, CallDraft, EventDraft, Gathered, RequestDraft
from harness.formats.claude_issues import issues
from harness.formats.claude_lines import PLACEHOLDER_RATIO
from harness.formats.pseudonym import safe_id, safe_name
from kpis.terms.trace import (
    Event,
    Issue,
    Outcome,
    Provenance,
    Recording,
    Request,
    RequestStatus,
    Thread,
    Tokens,
    ToolCall,
    TraceEvent,
    Turn,
)

__all__ = ["finished"]

_OBSERVED = MappingProxyType({"cache_write_other": Provenance.DERIVED})
_PLACEHOLDER = MappingProxyType({"cache_write_other": Provenance.DERIVED, "out_total": Provenance.PLACEHOLDER})


def finished(out: Gathered, source_format: str, lines: int, bad_lines: int) -> Iterator[TraceEvent | Issue]:
    """Yield everything gathered as terms, issues last."""
    yield Recording(
        source_format,
        source_version=safe_name(out.version, 40) if out.version else None,
        session_id=safe_id(out.session_id) if out.session_id else None,
        lines=lines,
        bad_lines=bad_lines,
        unknown_kinds=dict(out.unknown),
        t_start=out.t_start,
        t_end=out.t_end,
    )
    conversation = Conversation(out)
    for thread_id, kind in out.threads.items():
        parent, call = out.spawned.get(thread_id, (None, None))
        yield Thread(thread_id, kind, parent, call)
    for turn in out.turns:
        kept = conversation.holds(turn.at)
        yield Turn(turn.thread, turn.index, turn.kind, turn.t_start, turn.t_end, kept)
    placeholders = _placeholders(list(out.requests.values()))
    for log in out.log.values():
        requests = [entry for entry in log if isinstance(entry, RequestDraft)]
        for index, draft in enumerate(requests):
            yield _request(draft, index, draft.key in placeholders, conversation.holds_request(draft))
        yield from nodes(log, conversation)
        _close_compactions(log, conversation)
    for made in out.calls.values():
        yield _call(made, conversation)
    for event in out.events:
        yield Event(
            event.kind, event.thread, event.t, event.trigger, event.pre_tokens, event.post_tokens, event.summary_bytes,
            event.line,
        )  # fmt: skip
    yield from conversation.events()
    yield from issues(out, conversation, placeholders)


def _placeholders(requests: Sequence[RequestDraft]) -> frozenset[str]:
    """The requests whose output count its client never updated: by the whole file's ratio, else by their own."""
    counted = [request for request in requests if request.parts.get("out_total") is not None]
    if not counted:
        return frozenset()
    if all(request.stop_reason is None for request in counted):
        output = sum(request.parts["out_total"] for request in counted)
        if output < PLACEHOLDER_RATIO * sum(request.visible_chars for request in counted) / 4:
            return frozenset(request.key for request in counted)
    return frozenset(
        request.key
        for request in counted
        if request.stop_reason is None and request.parts["out_total"] < PLACEHOLDER_RATIO * request.visible_chars / 4
    )


def _tokens(draft: RequestDraft, placeholder: bool) -> Tokens:
    parts = draft.parts
    total = parts.get("cache_write")
    timed = [parts[name] for name in ("cache_write_5m", "cache_write_1h") if name in parts]
    other = None if total is None else max(0, total - sum(timed))
    return Tokens(
        fresh_in=parts.get("fresh_in"),
        cache_read=parts.get("cache_read"),
        cache_write_5m=parts.get("cache_write_5m"),
        cache_write_1h=parts.get("cache_write_1h"),
        cache_write_other=other,
        out_total=parts.get("out_total"),
        provenance=_PLACEHOLDER if placeholder else _OBSERVED,
    )


def _request(draft: RequestDraft, index: int, placeholder: bool, kept: bool) -> Request:
    status = RequestStatus.OK
    if draft.failed:
        status = RequestStatus.ERROR
    elif draft.aborted and draft.stop_reason is None:
        status = RequestStatus.ABORTED
    return Request(
        draft.key,
        draft.thread,
        draft.turn,
        index,
        _tokens(draft, placeholder),
        model=safe_name(draft.model) if draft.model else None,
        status=status,
        stop_reason=safe_name(draft.stop_reason, 40) if draft.stop_reason else None,
        n_lines=draft.n_lines,
        t_first=draft.t_first,
        t_last=draft.t_last,
        in_conversation=kept,
    )


def _close_compactions(log: Sequence[RequestDraft | BlockDraft | EventDraft], conversation: Conversation) -> None:
    """A compaction's prompt afterwards is that of the next request of the conversation; the call itself is unlogged."""
    waiting: list[EventDraft] = []
    for entry in log:
        if isinstance(entry, EventDraft):
            waiting.append(entry)
        elif isinstance(entry, RequestDraft) and waiting and conversation.holds_request(entry):
            prompt = _tokens(entry, False).prompt
            for event in waiting:
                event.post_tokens = prompt
            waiting = []


def _call(call: CallDraft, conversation: Conversation) -> ToolCall:
    outcome = Outcome.ORPHAN if call.request is None else call.outcome or Outcome.UNANSWERED
    return ToolCall(
        call.call_id,
        call.request.key if call.request is not None else None,
        call.thread,
        call.index,
        call.name,
        call.op,
        outcome,
        call.arg_bytes,
        call.arg_digest,
        call.result_bytes,
        call.result_digest,
        call.t_start,
        call.t_end,
        conversation.holds(call.at if call.request is not None else call.answered_at),
    )
