"""The sentinel of the syscall floor.

``gate_primary`` compares two medians of one machine; it says nothing about how much faster, since the slower side pays
for an interpreter's start.
"""

from __future__ import annotations

__all__ = ["gate_primary"]


def gate_primary(in_process_p50_ns: float, spawned_p50_ns: float) -> int:
    """1 if deciding in process is strictly faster than starting a process to decide, else 0.

    Both are medians in ns. A median that is not above zero is no measurement, and nothing passes against it.
    """
    return int(in_process_p50_ns > 0 and spawned_p50_ns > 0 and in_process_p50_ns < spawned_p50_ns)
