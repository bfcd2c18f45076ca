"""The lines of a session that are no message: what their kinds mean, and which kinds nobody knows yet.

Kinds appear with every release. The ones below are understood or known to carry nothing; any other is counted and left
out. This module refuses to take usage from anything but an answer, also where a line embeds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.formats.claude_lines import KNOWN_KINDS
from harness.formats.claude_notice_lines import Notice, notice_of
from harness.formats.claude_run_lines import RunLine
from harness.formats.claude_run_state import EventDraft
from harness.formats.claude_stream_result import result_of, settled_of
from harness.formats.pseudonym import safe_kind, safe_name
from harness.formats.session_numbers import stamp_ms
from kpis.terms.trace import EventKind

if TYPE_CHECKING:
    from harness.formats.claude_run_gather import Gather

__all__ = ["NOTHING_IN_IT", "take_notice"]

NOTHING_IN_IT = frozenset((b"file-history-snapshot", b"last-prompt", b"permission-mode", b"pr-link", b"summary"))
"""Kinds without an id whose lines may be skipped by their first bytes. A summary names another session's leaf."""

_STREAMED = frozenset(
    ("stream_event", "result", "rate_limit_event", "control_request", "control_response", "keep_alive")
)
_QUEUED = frozenset(("enqueue", "dequeue", "remove", "popAll"))
_NAMED_KINDS = 32  # a hostile file invents a kind a line
_FAULTS = {429: "rate_limit", 529: "overloaded"}


def take_notice(gather: Gather, line: RunLine, raw: bytes, number: int) -> None:
    """What a line that is no message adds to what is gathered."""
    kind = line.type
    if kind == "system":
        _system(gather, line, notice_of(raw), number)
    elif kind == "attachment":
        notice = notice_of(raw)
        if notice.attachment is not None and (notice.attachment.type or "").startswith("hook_"):
            event = _event(gather, EventKind.HOOK, line, number, "hook")
            if event is not None:
                event.duration_ms = _ms(notice.attachment.duration_ms)
    elif kind == "queue-operation":
        operation = notice_of(raw).operation
        _event(gather, EventKind.QUEUE, line, number, operation if operation in _QUEUED else None)
    elif kind == "result":
        result = result_of(raw)
        if result is not None and gather.first_time(raw):
            gather.file.results.append(result)
    elif kind == "stream_event":
        event_of = settled_of(raw)
        if event_of is not None:
            gather.settle(line, event_of.message.id if event_of.message is not None else None, event_of.usage)
    elif kind not in KNOWN_KINDS and kind not in _STREAMED:
        _unknown(gather, kind or "(none)")
        if line.message is not None and line.message.usage is not None:
            gather.file.uncounted += 1


def _event(gather: Gather, kind: EventKind, line: RunLine, number: int, detail: str | None) -> EventDraft | None:
    return gather.events.note(kind, gather.thread_of(line), stamp_ms(line.timestamp), number, gather.file, detail)


def _system(gather: Gather, line: RunLine, notice: Notice, number: int) -> None:
    subtype = notice.subtype
    if subtype in ("compact_boundary", "microcompact_boundary"):
        whole = subtype == "compact_boundary"
        event = _event(gather, EventKind.COMPACTION, line, number, None if whole else "microcompact")
        meta = notice.compact_metadata if whole else notice.microcompact_metadata
        if event is not None and meta is not None:
            event.trigger = safe_name(meta.trigger, 20) if meta.trigger else None
            event.pre_tokens = meta.pre_tokens
        if whole:
            gather.thread_of(line).compaction = event
    elif subtype == "api_error":
        # An attempt that failed: the client waits, then tries again.
        status = notice.error.status if notice.error is not None and not isinstance(notice.error, str) else None
        event = _event(gather, EventKind.RETRY, line, number, _FAULTS.get(status or 0, "failed"))
        if event is not None:
            event.duration_ms = _ms(notice.retry_in_ms)
            gather.thread_of(line).retries += 1
    elif subtype in ("stop_hook_summary", "turn_duration"):
        event = _event(gather, EventKind.HOOK, line, number, subtype)
        if event is not None:
            known = [hook.duration_ms for hook in notice.hook_infos or () if hook.duration_ms is not None]
            event.duration_ms = _ms(sum(known) if known else notice.duration_ms)
    elif subtype not in ("init", "local_command", "status"):
        _unknown(gather, f"system/{subtype or '(none)'}")


def _unknown(gather: Gather, kind: str) -> None:
    kind = safe_kind(kind)
    unknown = gather.file.unknown
    unknown[kind if kind in unknown or len(unknown) < _NAMED_KINDS else "(others)"] += 1


def _ms(clock: int | float | None) -> int | None:
    return round(clock) if clock is not None and 0 <= clock < 1e13 else None
