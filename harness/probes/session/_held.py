"""What Python's allocator holds, read after a full collection; and the resident set of the process beside it.

Only what was allocated since the tracing began is in a reading: every object of the interpreter and its extensions that
asks Python's allocator for memory, and nothing that a library takes from the system by itself. Two readings without a
session between them are the same number: a reading leaves nothing behind.
"""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held", "resident", "traced"]


@contextmanager
def traced() -> Iterator[None]:
    """Trace allocations inside; where somebody traces already, that goes on afterwards.

    What is there before is set apart, so that a collection walks over what a session made and no more.
    """
    ours = not tracemalloc.is_tracing()
    gc.collect()
    apart = gc.get_freeze_count() == 0
    gc.freeze()
    if ours:
        tracemalloc.start()
    held()  # the first reading makes what later ones find there
    try:
        yield
    finally:
        if ours:
            tracemalloc.stop()
        if apart:
            gc.unfreeze()


def held() -> int:
    """Bytes that are held now and were asked for since the tracing began."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def resident() -> int | None:
    """Bytes of the process in memory, books of the tracing included; None where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
