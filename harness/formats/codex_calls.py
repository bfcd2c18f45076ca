"""The tool calls of one Codex thread, each paired with its result and its events by id.

Calls are written in five kinds of lines and results in three. A web search has no result line: the provider runs it,
and its call says how it ended. This module refuses to keep arguments and results: sizes, digests, and what a call was
about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import blake2b

import msgspec

from harness.formats.codex_lines import plain
from harness.formats.codex_results import duration_of, outcome_of, result_of
from harness.formats.codex_shapes import Item
from harness.formats.pseudonym import safe_id, safe_name
from harness.formats.tool_names import ToolReading
from harness.formats.tool_readings import reading_of, target_of
from kpis.terms.trace import Outcome, TimeBasis, ToolCall, ToolOp

__all__ = ["CALLS", "RESULTS", "Calls", "Place", "digest_of"]

CALLS = frozenset(
    {
        "custom_tool_call",
        "function_call",
        "image_generation_call",
        "local_shell_call",
        "tool_search_call",
        "web_search_call",
    }
)
RESULTS = frozenset(
    {"custom_tool_call_output", "function_call_output", "local_shell_call_output", "tool_search_output"}
)
_SELF_ANSWERED = frozenset({"image_generation_call", "web_search_call"})
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEAD = 2_000


class Place(msgspec.Struct, gc=False):
    """Where a line stands: its file, its number there, the time, the turn."""

    file: str
    line: int
    when: int | None
    turn: int


def digest_of(data: bytes) -> str:
    """The digest of canonical bytes: equal for equal content."""
    return blake2b(data, digest_size=8).hexdigest()


def _canonical(value: object, text: bytes) -> bytes:
    try:
        return msgspec.json.encode(value, order="sorted")
    except (ValueError, TypeError, RecursionError):  # a lone surrogate
        return text


def _arguments(item: Item) -> tuple[Mapping[str, object], bytes, bytes]:
    """The arguments, their bytes as they stand, and their canonical bytes."""
    raw = item.arguments or item.input or item.action
    value = plain(raw)
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        inner = plain(text) if text[:1] == b"{" and item.type != "custom_tool_call" else None
        if isinstance(inner, dict):
            return inner, text, _canonical(inner, text)
        return {"input": value}, text, text
    text = bytes(raw) if value is not None else b""
    return (value if isinstance(value, dict) else {}), text, _canonical(value, text) if text else b""


def _reading(name: str, args: Mapping[str, object], text: bytes) -> ToolReading:
    found = reading_of(name, args)
    if found.target is None and b"*** Begin Patch" in text:
        # A patch that a shell was handed: its files stand in the patch, not among the words of the command.
        command = args.get("command", args.get("cmd"))
        script = "\n".join(map(str, command)) if isinstance(command, list) else command
        target = target_of("apply_patch", {"input": script})
        return found._replace(op=ToolOp.WRITE, mutates=True, target=target)
    return found


class Calls:
    """All calls of a thread, in order, with the children that they started."""

    __slots__ = ("_by_id", "_thread", "environment", "spawned")

    def __init__(self, thread: str) -> None:
        self._thread = thread
        self._by_id: dict[str, ToolCall] = {}
        self.environment: str | None = None
        self.spawned: dict[str, str] = {}

    def __iter__(self) -> Iterator[ToolCall]:
        return iter(self._by_id.values())

    def begun(self, item: Item, place: Place) -> ToolCall | None:
        """Take in a call; None if it is known already."""
        given = item.call_id or item.id
        call_id = safe_id(given) if given else f"{self._thread}.call-{len(self._by_id)}"
        if call_id in self._by_id:
            return None
        name = item.name or item.type.removesuffix("_call")
        args, text, canonical = _arguments(item)
        reading = _reading(name, args, text)
        call = ToolCall(
            call_id,
            None,
            self._thread,
            len(self._by_id),
            safe_name(name),
            reading.op,
            Outcome.UNANSWERED,
            len(text),
            digest_of(canonical),
            t_start=place.when,
            turn=place.turn,
            target=reading.target,
            mutates=reading.mutates,
            polling=reading.polling,
            environment_before=self.environment,
            file=place.file,
            line=place.line,
        )
        if item.type in _SELF_ANSWERED:
            call.outcome = Outcome.ERROR if item.status in ("failed", "incomplete") else Outcome.OK
        self._by_id[call_id] = call
        return call

    def ended(self, item: Item, place: Place) -> None:
        """Take in a result."""
        call_id = safe_id(item.call_id or item.id or f"{self._thread}.result-{len(self._by_id)}")
        call = self._by_id.get(call_id)
        if call is None:
            call = ToolCall(
                call_id, None, self._thread, len(self._by_id), None, ToolOp.OTHER, Outcome.ORPHAN,
                turn=place.turn, file=place.file, line=place.line,
            )  # fmt: skip
            self._by_id[call_id] = call
        elif call.result_bytes is not None:
            return
        result = result_of(item.output)
        if call.outcome in (Outcome.UNANSWERED, Outcome.OK):
            call.outcome, call.error_class = result.outcome, result.error_class
        call.result_bytes, call.result_digest = result.size, digest_of(result.body)
        call.t_end, call.truncated, call.environment_after = place.when, result.truncated, self.environment
        if call.exit_code is None:
            call.exit_code = result.exit_code
        if call.duration_ms is None and result.duration_ms is not None:
            call.duration_ms, call.time_basis = result.duration_ms, TimeBasis.MEASURED
        if call.op is ToolOp.SPAWN:
            for child in _UUID.findall(result.body[:_HEAD]):
                self.started(call_id, child.decode("ascii"))

    def measured(self, item: Item) -> None:
        """Take in the event of a command or of another tool that ended: the client's own clock."""
        call = self._by_id.get(safe_id(item.call_id or ""))
        if call is None:
            return
        duration = duration_of(item.duration, item.duration_ms)
        if duration is not None:
            call.duration_ms, call.time_basis = duration, TimeBasis.MEASURED
        if item.exit_code is not None and abs(item.exit_code) < 1 << 31:
            call.exit_code = item.exit_code
            if call.outcome in (Outcome.UNANSWERED, Outcome.OK):
                call.outcome, call.error_class = outcome_of(item.exit_code)

    def started(self, call_id: str, child: str) -> None:
        """``call_id`` started the thread ``child``."""
        child = safe_id(child)
        if child != self._thread:
            self.spawned.setdefault(child, call_id)
            call = self._by_id.get(call_id)
            if call is not None and call.spawned_thread is None:
                call.spawned_thread = child
