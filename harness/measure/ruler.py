"""The ruler: one fixed piece of work, timed at the start and at the end of a run, whatever the run measures.

No KPI is in it and no code of ours, only the interpreter and its standard library: where it took longer than in the
sessions on record, the machine was slower and not the code. Refuses to be a KPI: nothing gates on it. Its work must
never be edited, since every stored time is a time of exactly this; a test holds its checksum.
"""

from __future__ import annotations

import gc
import json
import time
import zlib

__all__ = ["REPEATS", "ROUNDS", "ruler_ns", "work"]

ROUNDS = 70
"""Rounds of one repeat: some five milliseconds, the shortest value that has an honest spread on a shared machine."""

REPEATS = 5
"""The median of five leaves out two disturbed ones; at both ends of a run that is some 50 ms in all."""


def work(rounds: int) -> int:
    """Dictionaries, strings, sorting, JSON, whole numbers; the checksum of what came out, always the same.

    Raises:
        ValueError: there is no round.
    """
    if rounds < 1:
        raise ValueError("The ruler needs at least one round.")
    checksum = 0
    for turn in range(rounds):
        table = {f"key-{number}": (number * 7919 + turn) % 1009 for number in range(120)}
        ordered = sorted(table, key=table.__getitem__)
        again = json.loads(json.dumps({"order": ordered, "table": table}, sort_keys=True))
        total = 0
        for name in again["order"]:
            total = (total * 31 + again["table"][name]) % 1_000_003
        checksum = zlib.crc32(f"{checksum} {total} {' '.join(ordered)}".encode())
    return checksum


def ruler_ns() -> int:
    """What :func:`work` takes now: the median of five repeats by the wall clock, in ns, the collector at rest."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        work(1)  # the first use of a code path fills caches; no repeat shall
        times = []
        for _ in range(REPEATS):
            began = time.perf_counter_ns()
            work(ROUNDS)
            times.append(time.perf_counter_ns() - began)
    finally:
        if collecting:
            gc.enable()
    return sorted(times)[REPEATS // 2]
