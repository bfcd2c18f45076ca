"""What the tests of formats share: read bytes or an authored case to a trace, and make session lines."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from harness.formats.claude_code import ClaudeCode
from harness.formats.limits import Limits
from harness.formats.trace_build import build
from kpis.terms.trace import Trace

CASES = Path(__file__).resolve().parent.parent.parent / "cases" / "claude-code"


def read(data: bytes, limits: Limits | None = None) -> Trace:
    """The trace of the Claude Code session in ``data``."""
    return build(ClaudeCode().read(BytesIO(data), limits or Limits()))


def case(name: str) -> Trace:
    """The trace of an authored case."""
    return read((CASES / f"{name}.jsonl").read_bytes())


def codes(trace: Trace) -> set[str]:
    """The codes of a trace's issues."""
    return {issue.code.value for issue in trace.issues}


def line(kind: str, uuid: str, parent: str | None, **more: Any) -> bytes:
    """One session line with its line feed."""
    return json.dumps({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", **more}).encode() + b"\n"


def prompt(uuid: str, parent: str | None, text: str, **more: Any) -> bytes:
    """A user's line."""
    return line("user", uuid, parent, message={"role": "user", "content": text}, **more)


def answer(uuid: str, parent: str | None, identifier: str, *, stop: str | None = "end_turn", **usage: int) -> bytes:
    """An assistant's line of the response ``identifier``; ``usage`` are its counters, short names."""
    counters = {
        "input_tokens": usage.get("fresh", 1),
        "cache_read_input_tokens": usage.get("read", 0),
        "cache_creation_input_tokens": usage.get("write", 0),
        "output_tokens": usage.get("out", 2),
    }
    content = [{"type": "text", "text": f"answer {uuid}"}]
    message = {"id": identifier, "model": "model-a", "content": content, "stop_reason": stop, "usage": counters}
    return line("assistant", uuid, parent, requestId=f"req_{identifier}", message=message)
