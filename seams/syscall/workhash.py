"""The identity of a trace: a hash over its tools, raw argument bytes and hints.

Raw bytes count, spaces included, since an echoing engine sees them. What annotates a call (its expected class, a note)
is not part of the work and not hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from seams.contract.syscall import ToolCall

__all__ = ["workload_hash"]


def workload_hash(slice_id: str, calls: Iterable[ToolCall]) -> str:
    """16 hex digits of a SHA-256 over the name, then tool, NUL, arguments, NUL, and sorted ``key=value;`` a call."""
    digest = hashlib.sha256(slice_id.encode())
    for call in calls:
        digest.update(call.tool.encode() + b"\0" + call.args + b"\0")
        for key in sorted(call.meta):
            digest.update(f"{key}={call.meta[key]};".encode())
    return digest.hexdigest()[:16]
