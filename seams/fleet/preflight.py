"""The seam ``fleet/preflight``: a gate before one more worker is launched, which refuses where it cannot see.

Every check is called, whatever the others said, so that a refusal comes with all that is known. What a check answers is
held against what it may: a number below 0, or one that is none, is a failed check. It launches nothing and holds no
place for whom it let in: two that ask at the same time may both be told that there is room for one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seams.contract import Engine
from seams.contract.fleet_preflight import (
    Asks,
    Checks,
    Decision,
    Flagged,
    Host,
    Limiter,
    Loop,
    Seats,
    Seen,
    SpawnVerdict,
)
from seams.fleet.decision_log import DecisionLog
from seams.fleet.machine import checks

__all__ = ["DispatchGate", "bounds", "offer", "ruled"]

_CORES_EACH, _MB_EACH, _THREADS_EACH, _THREADS_A_CORE = 2, 1_500, 200, 400
"""What a worker is taken to need, and threads that a core carries."""

_SAID = 300


class Bound(NamedTuple):
    """At most so many workers, and why."""

    workers: int
    by: Limiter


def _carried(host: Host) -> Bound | None:
    """What the host carries: one worker at least, limited by the scarcest of what is known of it."""
    cores, free, threads = host
    parts = []
    if cores is not None:
        parts.append(Bound(cores // _CORES_EACH, Limiter.CPU))
    if free is not None:
        parts.append(Bound(free // _MB_EACH, Limiter.MEMORY))
    if cores is not None and threads is not None:
        parts.append(Bound(max(cores * _THREADS_A_CORE - threads, 0) // _THREADS_EACH, Limiter.THREADS))
    if not parts:
        return None
    least = min(parts, key=lambda bound: bound.workers)
    return least._replace(workers=max(least.workers, 1))


def bounds(max_workers: int, loop: Loop, host: Host) -> list[Bound]:
    """What limits the workers, but for seats: configured, aimed at, and carried by the host."""
    found = [Bound(max_workers, Limiter.CONFIGURED)]
    if loop.target > 0:
        found.append(Bound(loop.target, Limiter.TARGET))
    carried = _carried(host)
    return found if carried is None else [*found, carried]


def ruled(seen: Seen) -> tuple[SpawnVerdict, int | None, int | None, Limiter | None]:
    """(verdict, cap, live workers, limiter) of what was seen."""
    flagged, account, loop, seats, host, workers, max_workers = seen
    if flagged is None or loop is None or host is None or workers is None or max_workers is None:
        verdict: SpawnVerdict | None = SpawnVerdict.REFUSE_INSPECT
    else:
        verdict = None if _safe(flagged) else SpawnVerdict.REFUSE_HOST
    if loop is None or host is None or workers is None or max_workers is None:
        return SpawnVerdict.REFUSE_INSPECT, None, None, None
    limits = bounds(max_workers, loop, host)
    before_seats = max(min(bound.workers for bound in limits), 0)
    if seats is not None and seats.total is not None and seats.total > 0:
        limits.append(Bound(seats.total, Limiter.SEATS))
    least = min(limits, key=lambda bound: bound.workers)
    cap = max(least.workers, 0)
    live = max(loop.alive if loop.target > 0 else 0, workers)
    limiter = Limiter.LEASES if 0 < cap <= live else least.by
    if verdict is None and seats is not None and seats.depleted and seats.total is not None:
        taken = seats.total <= before_seats and seats.leased > 0
        verdict = SpawnVerdict.REFUSE_NO_SEAT if taken else None
    if verdict is None and live >= cap:
        verdict = SpawnVerdict.REFUSE_AT_CAP
    if verdict is None:
        verdict = SpawnVerdict.REFUSE_NO_ACCOUNT if account is None else SpawnVerdict.SPAWN_OK
    return verdict, cap, live, limiter


def _safe(flagged: Sequence[Flagged]) -> bool:
    return all(each.protected and not each.backend for each in flagged)


class DispatchGate:
    """What ``fleet/preflight`` offers; without a log until it is told of one. One thread owns it."""

    def __init__(self) -> None:
        self._log: DecisionLog | None = None

    def on_this_machine(self, asks: Asks) -> Checks:
        """See the contract."""
        return checks(asks)

    def log_to(self, path: str) -> None:
        """See the contract. A log that cannot be written is a note of the decision, which stands."""
        self._log = DecisionLog(Path(path))

    def evaluate(self, checks: Checks) -> Decision:
        """See the contract."""
        began = time.perf_counter_ns()
        notes: list[str] = []
        seen = Seen(
            flagged=_asked("flagged", checks.flagged, _flagged, notes),
            account=_asked("account", checks.account, _account, notes),
            loop=_asked("loop", checks.loop, _loop, notes),
            seats=_asked("seats", checks.seats, _seats, notes, "is left out"),
            host=_asked("host", checks.host, _host, notes),
            workers=_asked("workers", checks.workers, _whole, notes),
            max_workers=_asked("max_workers", checks.max_workers, _configured, notes),
        )
        verdict, cap, live, limiter = ruled(seen)
        if verdict is SpawnVerdict.REFUSE_HOST and seen.flagged is not None:
            unsafe = [each for each in seen.flagged if each.backend or not each.protected]
            shown = ", ".join(f"{each.name[:40]!r} ({each.pid})" for each in unsafe[:5])
            notes.append(f"The host is not safe: {len(unsafe)} processes are flagged, among them {shown}.")
        if self._log is not None:
            row = {"verdict": verdict.value, "cap": cap, "live": live, "limiter": limiter and limiter.value}
            try:
                self._log.append({**row, "ns": time.perf_counter_ns() - began})
            except OSError as error:
                notes.append(f"The decision is not in the log: {error}.")
        return Decision(verdict, cap, live, limiter, seen, tuple(notes))


def _asked(
    name: str, check: Callable[[], Any], proved: Callable[[Any], Any], notes: list[str], then: str = "has failed"
) -> Any:
    """What ``check`` answered, or None and a note where it raised or its answer is none."""
    try:
        answer = check()
        if answer is None and name in ("account", "seats"):
            notes.append(f"The check {name} has no answer" + (" and is left out." if name == "seats" else "."))
            return None
        return proved(answer)
    except Exception as error:  # a check is anybody's, and whatever it raises, it has failed
        said = " ".join(str(error)[: 2 * _SAID].split())[:_SAID] or type(error).__name__
        said = "".join(sign if sign.isprintable() else "?" for sign in said)
        notes.append(f"The check {name} {then}: {said.rstrip('.')}.")
        return None


def _whole(value: object, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"it answered {value!r:.80}, which is no whole number from {least} on")
    return value


def _configured(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"it answered {value!r:.80}, which is no whole number")
    return value


def _known(value: object) -> int | None:
    return None if value is None else _whole(value)


def _flagged(value: Any) -> tuple[Flagged, ...]:
    return tuple(
        Flagged(_whole(pid), str(name), bool(protected), bool(backend)) for pid, name, protected, backend in value
    )


def _account(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it answered {value!r:.80}, which is no name")
    return value


def _loop(value: Any) -> Loop:
    alive, target = value
    return Loop(_whole(alive), _configured(target))


def _seats(value: Any) -> Seats:
    total, free, leased, depleted = value
    if not isinstance(depleted, bool):
        raise ValueError(f"it says that it is depleted: {depleted!r:.80}, which is neither true nor false")
    return Seats(None if total is None else _configured(total), _whole(free), _whole(leased), depleted)


def _host(value: Any) -> Host:
    cores, free, threads = value
    return Host(_known(cores), _known(free), _known(threads))


def offer(engine: Engine) -> DispatchGate:  # noqa: ARG001 - the gate asks the machine and no engine
    """A gate without a log."""
    return DispatchGate()
