"""The seam ``fleet/preflight``: a gate before one more worker is launched, which refuses where it cannot see.

Every check is called, whatever the others said, so that a refusal comes with all that is known. What a check answers is
held against what it may: a number below 0, or one that is none, is a failed check. It launches nothing and holds no
place for whom it let in: two that ask at the same time may both be told that there is room for one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seams.contract import Engine
from seams.contract.fleet_preflight import (
    Asks,
    Checks,
    Decision,
    Flagged,
    Host,
    Loop,
    Seats,
    Seen,
    SpawnVerdict,
)
from seams.fleet.decision_log import DecisionLog
from seams.fleet.machine import checks
from seams.fleet.ruling import ruled, unsafe

__all__ = ["DispatchGate", "offer"]

_SAID = 300


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
            found = unsafe(seen.flagged)
            shown = ", ".join(f"{each.name[:40]!r} ({each.pid})" for each in found[:5])
            notes.append(f"The host is not safe: {len(found)} processes are flagged, among them {shown}.")
        if self._log is not None:
            row = {"verdict": verdict.value, "cap": cap, "live": live, "limiter": limiter and limiter.value}
            try:
                self._log.append({**row, "ns": time.perf_counter_ns() - began})
            except (OSError, ValueError) as error:  # a name that no file has is a ValueError
                notes.append(f"The decision is not in the log: {_told(error)}. Give log_to() another file.")
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
    except (Exception, SystemExit) as error:  # a check is anybody's, and whatever it raises, it has failed
        notes.append(f"The check {name} {then}: {_told(error)}.")
        return None


def _told(error: BaseException) -> str:
    """What ``error`` says, in one line that no terminal obeys; where it says nothing, what it is."""
    try:
        text = str(error)
    except Exception:  # the text of an error is as much anybody's as the error is
        text = ""
    said = " ".join(text[: 2 * _SAID].split())[:_SAID]
    if not said or isinstance(error, SystemExit):
        said = f"{type(error).__name__} {said}".strip()
    return "".join(sign if sign.isprintable() else "?" for sign in said).rstrip(".")


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
    if not isinstance(value, list | tuple):  # an empty text or mapping would say that nobody is flagged
        raise ValueError(f"it answered {value!r:.80}, which is no list")
    found = []
    for pid, name, protected, backend in value:
        if not isinstance(name, str) or not isinstance(protected, bool) or not isinstance(backend, bool):
            raise ValueError(f"it answered {(pid, name, protected, backend)!r:.80}, which is no process with its marks")
        found.append(Flagged(_whole(pid), name, protected, backend))
    return tuple(found)


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
