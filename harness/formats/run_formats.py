"""Which reader takes a file: every known format of recorded runs, tried by content.

A reader is imported when it is first asked, so that a command that needs none pays for none. This module refuses to
guess: below even odds a file is in no known format.
"""

from __future__ import annotations

import importlib
from functools import cache

from harness.formats.run_format import RunFormat

__all__ = ["NAMES", "detect_run", "reader"]

_READERS = {
    "claude-code": "claude_run:ClaudeCodeRun",
    "claude-stream": "claude_stream:ClaudeStream",
    "codex": "codex_run:CodexRun",
    "otel": "otel_run:OtelRun",
    "loopladder": "own_run:OwnRun",
    "context": "context_run:ContextRuns",
    "openai-log": "openai_run:OpenAiRun",
    "mini-swe-agent": "mini_swe_run:MiniSweRun",
    "swe-agent": "swe_agent_run:SweAgentRun",
    "inspect": "inspect_run:InspectRun",
    "gemini-cli": "gemini_run:GeminiRun",
    "tau-bench": "tau_run:TauRun",
    "atif": "atif_run:AtifRun",
    "langfuse": "langfuse_run:LangfuseRun",
    "langsmith": "langsmith_run:LangsmithRun",
    "claude-managed-agents": "managed_agents_run:ManagedAgentsRun",
    "openhands": "openhands_run:OpenHandsRun",
}
NAMES = tuple(_READERS)
"""The words of ``--format``."""

_SURE = 0.5
_CERTAIN = 0.95
"""A score from here on needs no second opinion: big trees hold one format, and each sniff parses a few lines."""

_STARTS = (b"{", b"[", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")
"""What a recording begins with: an object, a list, a zip archive, a zstd frame."""


@cache
def reader(name: str) -> RunFormat:
    """The reader of format ``name``.

    Raises:
        KeyError: there is none of that name.
    """
    module, _, attribute = _READERS[name].partition(":")
    made: RunFormat = getattr(importlib.import_module(f"harness.formats.{module}"), attribute)()
    return made


def detect_run(head: bytes, filename: str, likely: str | None = None) -> RunFormat | None:
    """The reader for the file that begins with ``head``; None where it is in no known format.

    ``likely`` is tried first: the format of the file before.
    """
    body = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not body.startswith(_STARTS) and b"\n{" not in body:  # one spoilt line before the others hides no session
        return None
    best: tuple[float, RunFormat | None] = (_SURE, None)
    for name in sorted(_READERS, key=lambda each: each != likely):
        taken = reader(name)
        score = taken.sniff(head, filename)
        if score >= _CERTAIN:
            return taken
        if score > best[0] or (score == best[0] and best[1] is None):
            best = (score, taken)
    return best[1]
