"""The exact legs: what a call costs in instructions, allocations, calls and opcodes, and where that changed.

A leg counts in worker processes of its own and times nothing. Where its tool is missing it is unavailable, with the
sentence that says how to get it; it is never zero. A worker's task ``leg:NAME`` is ``run(job)`` of the module NAME
here (counted, allocated, where); instructions and allocations are the parent's side and start those workers.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Unavailable"]


@dataclass(frozen=True, slots=True)
class Unavailable:
    """In place of a leg: one full sentence that says what is missing and how to get it."""

    reason: str
