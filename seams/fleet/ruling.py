"""The rule of the gate before a launch, over what its checks answered: the cap, what makes it, and the verdict.

It looks at nothing itself. What is not known of a host limits nobody; a check that failed refuses, and leaves open what
hangs on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seams.contract.fleet_preflight import Flagged, Host, Limiter, Loop, Seen, SpawnVerdict

__all__ = ["ruled", "unsafe"]

_CORES_EACH, _MB_EACH, _THREADS_EACH, _THREADS_A_CORE = 2, 1_500, 200, 400
"""What a worker is taken to need, and threads that a core carries."""


class _Bound(NamedTuple):
    """At most so many workers, and why."""

    workers: int
    by: Limiter


def _carried(host: Host) -> _Bound | None:
    """What the host carries: one worker at least, limited by the scarcest of what is known of it."""
    cores, free, threads = host
    parts = []
    if cores is not None:
        parts.append(_Bound(cores // _CORES_EACH, Limiter.CPU))
    if free is not None:
        parts.append(_Bound(free // _MB_EACH, Limiter.MEMORY))
    if cores is not None and threads is not None:
        parts.append(_Bound(max(cores * _THREADS_A_CORE - threads, 0) // _THREADS_EACH, Limiter.THREADS))
    if not parts:
        return None
    least = min(parts, key=lambda bound: bound.workers)
    return least._replace(workers=max(least.workers, 1))


def _bounds(max_workers: int, loop: Loop, host: Host) -> list[_Bound]:
    """What limits the workers, but for seats: configured, aimed at, and carried by the host."""
    found = [_Bound(max_workers, Limiter.CONFIGURED)]
    if loop.target > 0:
        found.append(_Bound(loop.target, Limiter.TARGET))
    carried = _carried(host)
    return found if carried is None else [*found, carried]


def ruled(seen: Seen) -> tuple[SpawnVerdict, int | None, int | None, Limiter | None]:
    """(verdict, cap, live workers, limiter) of what was seen."""
    flagged, account, loop, seats, host, workers, max_workers = seen
    if flagged is None or loop is None or host is None or workers is None or max_workers is None:
        verdict: SpawnVerdict | None = SpawnVerdict.REFUSE_INSPECT
    else:
        verdict = SpawnVerdict.REFUSE_HOST if unsafe(flagged) else None
    if loop is None or host is None or workers is None or max_workers is None:
        return SpawnVerdict.REFUSE_INSPECT, None, None, None
    limits = _bounds(max_workers, loop, host)
    before_seats = max(min(bound.workers for bound in limits), 0)
    if seats is not None and seats.total is not None and seats.total > 0:
        limits.append(_Bound(seats.total, Limiter.SEATS))
    least = min(limits, key=lambda bound: bound.workers)
    cap = max(least.workers, 0)
    live = max(loop.alive if loop.target else 0, workers)
    limiter = Limiter.LEASES if 0 < cap <= live else least.by
    if verdict is None and seats is not None and seats.depleted and seats.total is not None:
        taken = seats.total <= before_seats and seats.leased > 0
        verdict = SpawnVerdict.REFUSE_NO_SEAT if taken else None
    if verdict is None and live >= cap:
        verdict = SpawnVerdict.REFUSE_AT_CAP
    if verdict is None:
        verdict = SpawnVerdict.REFUSE_NO_ACCOUNT if account is None else SpawnVerdict.SPAWN_OK
    return verdict, cap, live, limiter


def unsafe(flagged: Sequence[Flagged]) -> list[Flagged]:
    """Those that make a host unsafe: all but the protected ones that no agent runs on."""
    return [each for each in flagged if each.backend or not each.protected]
