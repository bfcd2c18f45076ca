"""What the tests of run readers of Claude Code share: files in, everything told out, and lines to build files of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from harness.formats.claude_run import ClaudeCodeRun
from harness.formats.limits import Limits
from harness.formats.run_format import RunFormat, Source
from kpis.terms.trace import (
    Event,
    EventKind,
    Issue,
    Recording,
    Request,
    RunFacts,
    Thread,
    ToolCall,
    Turn,
)

DAY = 1_767_225_600_000  # 2026-01-01, in milliseconds


@dataclass
class Told:
    """Everything that a reader told of one run."""

    everything: Sequence[Any]

    def of(self, kind: type) -> list[Any]:
        return [each for each in self.everything if type(each) is kind]

    @property
    def recordings(self) -> list[Recording]:
        return self.of(Recording)

    @property
    def threads(self) -> dict[str, Thread]:
        return {each.thread_id: each for each in self.of(Thread)}

    @property
    def turns(self) -> list[Turn]:
        return self.of(Turn)

    @property
    def requests(self) -> list[Request]:
        return self.of(Request)

    @property
    def calls(self) -> dict[str, ToolCall]:
        return {each.call_id: each for each in self.of(ToolCall)}

    @property
    def facts(self) -> list[RunFacts]:
        return self.of(RunFacts)

    @property
    def issues(self) -> list[Issue]:
        return self.of(Issue)

    @property
    def codes(self) -> set[str]:
        return {issue.code.value for issue in self.issues}

    def events(self, kind: EventKind) -> list[Event]:
        return [each for each in self.of(Event) if each.kind is kind]

    def total(self, part: str) -> int:
        return sum(getattr(request.tokens, part) or 0 for request in self.requests if not request.copied)

    @property
    def totals(self) -> dict[str, int]:
        return {part: self.total(part) for part in ("fresh_in", "cache_read", "cache_write", "out_total")} | {
            "requests": len(self.requests),
            "calls": len(self.calls),
        }


def told(files: bytes | Mapping[str, bytes], reader: RunFormat | None = None, limits: Limits | None = None) -> Told:
    """What the reader tells of some files, or of one."""
    named = {"s1.jsonl": files} if isinstance(files, bytes) else files
    sources = [Source(name, BytesIO(data), len(data)) for name, data in named.items()]
    return Told(list((reader or ClaudeCodeRun()).read(sources, limits or Limits())))


def stamp(second: float) -> str:
    """The time of a line, in seconds after the first of January 2026."""
    whole, ms = divmod(round(second * 1_000), 1_000)
    hour, rest = divmod(whole, 3_600)
    return f"2026-01-01T{hour:02d}:{rest // 60:02d}:{rest % 60:02d}.{ms:03d}Z"


def ms(second: float) -> int:
    """The same time in Unix milliseconds."""
    return DAY + round(second * 1_000)


def line(kind: str, uuid: str | None, parent: str | None, at: float | None = None, **more: Any) -> bytes:
    """One line with its line feed; keys in the order in which the client writes them."""
    first = {"parentUuid": parent, "isSidechain": False, "sessionId": "s1", "version": "2.1.77"}
    last = {} if at is None else {"timestamp": stamp(at)}
    own = {} if uuid is None else {"uuid": uuid}
    return json.dumps(first | {"type": kind} | more | own | last, separators=(",", ":")).encode() + b"\n"


def prompt(uuid: str, parent: str | None, at: float | None = None, text: str = "go", **more: Any) -> bytes:
    """A user's line."""
    return line("user", uuid, parent, at, message={"role": "user", "content": text}, **more)


def answer(
    uuid: str | None,
    parent: str | None,
    identifier: str | None,
    at: float | None = None,
    *,
    content: Sequence[Mapping[str, Any]] | str | None = None,
    stop: str | None = "end_turn",
    usage: Mapping[str, Any] | None = None,
    model: str = "model-a",
    request_id: str | None = "req",
    fresh: int = 1,
    read: int = 0,
    write: int = 0,
    out: int = 2,
    **more: Any,
) -> bytes:
    """A line of the response ``identifier``."""
    counters = {
        "input_tokens": fresh,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "output_tokens": out,
    }
    message = {
        "id": identifier,
        "model": model,
        "role": "assistant",
        "content": [{"type": "text", "text": "so"}] if content is None else content,
        "stop_reason": stop,
        "usage": counters if usage is None else usage,
    }
    if request_id is not None:
        more["requestId"] = request_id
    return line("assistant", uuid, parent, at, message=message, **more)


def call(identifier: str, name: str, **given: Any) -> dict[str, Any]:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": identifier, "name": name, "input": given}


def result(
    uuid: str, parent: str | None, identifier: str, body: Any = "done", at: float | None = None, **more: Any
) -> bytes:
    """A user's line with the result of a call; ``error`` marks it as one."""
    block = {"tool_use_id": identifier, "type": "tool_result", "content": body}
    if "error" in more:
        block["is_error"] = more.pop("error")
    return line("user", uuid, parent, at, message={"role": "user", "content": [block]}, **more)
