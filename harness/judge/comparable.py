"""Whether two benches may be compared at all; asked before any of their numbers is looked at.

A stored result is judged against its like only: same unit, same direction, same parameters, same machine, the same
month. Refuses to take not knowing for being equal, and to look at a value.
"""

from __future__ import annotations

import contextlib
from datetime import date

from kpis.terms.bench import Bench, MachineField
from kpis.terms.comparison import Comparison, State

__all__ = ["MOST_DAYS", "differing", "mismatch"]

MOST_DAYS = 30
"""Days that may lie between two files. What no file states (firmware, libraries, neighbours on the host) moves in a
month as much as a machine differs from another."""


def differing(what: str, base: str | None, head: str | None) -> Comparison:
    """No baseline, because ``what`` differs; None is what a side does not state."""
    return Comparison(
        State.NO_BASELINE, evidence=(f"{what} differs: {base or 'not stated'} against {head or 'not stated'}",)
    )


def mismatch(base: Bench, head: Bench) -> Comparison | None:
    """No baseline, with what differs named; None where the two benches may be compared.

    A fact of the machine that only one side states differs. One that neither states is passed over only where both name
    the same host.
    """
    if base.unit is not head.unit:
        return differing("unit", base.unit.value, head.unit.value)
    if base.direction is not head.direction:
        return differing("direction", base.direction.value, head.direction.value)
    if base.params_digest != head.params_digest:
        return differing("params (their digest)", _short(base.params_digest), _short(head.params_digest))
    host = base.machine.get(MachineField.HOSTNAME)
    same_host = host is not None and host == head.machine.get(MachineField.HOSTNAME)
    for field in MachineField:
        if field is MachineField.HOSTNAME:
            continue
        old, new = base.machine.get(field), head.machine.get(field)
        if old != new:
            return differing(field.value, old, new)
        if old is None and not same_host:
            told = f"neither file states {field.value}, so that nothing shows that the machine is the same"
            return Comparison(State.NO_BASELINE, evidence=(told,))
    return _apart(base, head)


def _apart(base: Bench, head: Bench) -> Comparison | None:
    """No baseline where one side is older by more than :data:`MOST_DAYS`, or only one says when it was measured."""
    old, new = _days(base), _days(head)
    if not old or not new:
        return differing("date", str(old[0]) if old else None, str(new[0]) if new else None) if old or new else None
    earlier, later = sorted((old, new))
    apart = (later[0] - earlier[-1]).days
    if apart <= MOST_DAYS:
        return None
    aged = f"{apart} days lie between them, and {MOST_DAYS} may; measure the base again on this machine"
    return differing("date", str(old[0]), f"{new[0]} ({aged})")


def _days(bench: Bench) -> list[date]:
    """The days on which its processes were measured, in order; what is no date counts as not stated."""
    days = set()
    for process in bench.processes:
        said = process.metadata.get("date")
        if isinstance(said, str):
            with contextlib.suppress(ValueError):
                days.add(date.fromisoformat(said[:10]))
    return sorted(days)


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest[:12]
