"""Small sessions and runtimes for the tests of the turn probes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from harness.measure.clock import Workload


def session(turns: int, *, size: int = 400, kind: str = "session") -> Workload:
    """One system message, then a question, an answer and a tool result a turn; each text is its own."""
    recorded = []
    for turn in range(turns):
        texts = [("user", f"question {turn} about claims"), ("assistant", f"answer {turn}"), ("tool", f"rows {turn}")]
        messages = [{"role": "system", "head": "You file claims.", "bytes": 16, "digest": ""}] if turn == 0 else []
        messages += [{"role": role, "head": head, "bytes": size, "digest": ""} for role, head in texts]
        recorded.append({"messages": messages})
    return Workload("claims", kind, "0" * 64, "synthetic", {"turns": recorded})


def runtime(offered: object) -> Any:
    """A runtime that answers every seam with ``offered``."""
    return SimpleNamespace(name="stub", version="1", offer=lambda seam, engine: offered)
