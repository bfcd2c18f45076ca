"""How many workers a host carries, what the gate before a launch has to say, and the rate of its decisions.

Rules over plain numbers, of which some are assumed: a worker takes 2 cores, 1,500 MB and 200 threads,
and a host carries 400 threads a core. Nothing of a machine is read here. Units: workers, MB, threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

__all__ = ["VERDICTS", "Admission", "admission", "cap", "host_capacity", "limiter", "live", "verdict"]

VERDICTS = (
    "SPAWN_OK",
    "REFUSE_INSPECT",
    "REFUSE_HOST",
    "REFUSE_NO_SEAT",
    "REFUSE_AT_CAP",
    "REFUSE_NO_ACCOUNT",
)

_CORES_EACH, _MB_EACH, _THREADS_EACH, _THREADS_A_CORE = 2, 1_500, 200, 400


def host_capacity(cores: int | None, free_ram_mb: int | None, threads: int | None) -> tuple[int, str] | None:
    """(workers, what limits them: cpu, memory or threads); at least one worker. None where nothing is known.

    What is not known does not limit; threads do only where the cores are known as well.
    """
    parts = []
    if cores is not None:
        parts.append((cores // _CORES_EACH, "cpu"))
    if free_ram_mb is not None:
        parts.append((free_ram_mb // _MB_EACH, "memory"))
    if cores is not None and threads is not None:
        parts.append((max(0, cores * _THREADS_A_CORE - threads) // _THREADS_EACH, "threads"))
    if not parts:
        return None
    least, by = min(parts, key=lambda part: part[0])
    return max(1, least), by


def _bounds(max_workers: int, target: int, host: tuple[int, str] | None, seats: int | None) -> list[tuple[int, str]]:
    bounds = [(max_workers, "configured")]
    if target > 0:
        bounds.append((target, "target"))
    if host is not None:
        bounds.append(host)
    if seats is not None and seats > 0:
        bounds.append((seats, "seats"))
    return bounds


def cap(max_workers: int, target: int, host: tuple[int, str] | None, seats: int | None) -> int:
    """Workers that may live: the least of what is configured, aimed at, carried by the host, and of the seats."""
    return max(0, min(bound for bound, _ in _bounds(max_workers, target, host, seats)))


def live(alive: int, target: int, workers: int) -> int:
    """Workers that do: those that the machine shows, or those that a loop says, if they are more.

    A loop whose ``target`` is 0 has no aim and is not believed; one below 0 is, though it bounds no cap.
    """
    return max(alive if target else 0, workers)


def limiter(max_workers: int, target: int, host: tuple[int, str] | None, seats: int | None, live: int) -> str:
    """What stands in the way of one more: ``leases`` where all of a cap is used, else the first of the least bounds."""
    if 0 < cap(max_workers, target, host, seats) <= live:
        return "leases"
    return min(_bounds(max_workers, target, host, seats), key=lambda bound: bound[0])[1]


def verdict(
    *,
    failed: bool,
    safe: bool,
    depleted: bool,
    seats: int | None,
    leased: int,
    cap_before_seats: int,
    cap: int,
    live: int,
    account: bool,
) -> str:
    """The first that holds, in the order of the arguments; ``failed``: a check but that of account or seats did."""
    if failed:
        return "REFUSE_INSPECT"
    if not safe:
        return "REFUSE_HOST"
    if depleted and seats is not None and seats <= cap_before_seats and leased > 0:
        return "REFUSE_NO_SEAT"
    if live >= cap:
        return "REFUSE_AT_CAP"
    return "SPAWN_OK" if account else "REFUSE_NO_ACCOUNT"


class Admission(NamedTuple):
    """Decisions that let a worker in, all of them, and how often each verdict fell, also by limiter.

    ``unreadable`` rows are in none of these.
    """

    admitted: int
    decisions: int
    by_verdict: Mapping[str, int]
    by_limiter: Mapping[str, Mapping[str, int]]
    unreadable: int = 0

    @property
    def rate(self) -> float | None:
        """The share that was admitted; None of no decisions."""
        return self.admitted / self.decisions if self.decisions else None


def admission(rows: Iterable[Mapping[str, Any]]) -> Admission:
    """Count the rows of a decision log by ``verdict`` and ``limiter``; a limiter that is null is ``unknown``."""
    by_verdict = dict.fromkeys(VERDICTS, 0)
    by_limiter: dict[str, Counter[str]] = {}
    unreadable = 0
    for row in rows:
        said, by = row.get("verdict"), row.get("limiter")
        if not isinstance(said, str) or said not in by_verdict or not (by is None or isinstance(by, str)):
            unreadable += 1
            continue
        by_verdict[said] += 1
        by_limiter.setdefault(by or "unknown", Counter())[said] += 1
    split = {name: dict(sorted(counts.items())) for name, counts in sorted(by_limiter.items())}
    return Admission(by_verdict["SPAWN_OK"], sum(by_verdict.values()), by_verdict, split, unreadable)
