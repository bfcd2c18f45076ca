"""Whether two benches may be compared at all; asked before any of their numbers is looked at.

A stored result is judged against its like only: same unit, same direction, same parameters, same machine. Refuses to
take not knowing for being equal.
"""

from __future__ import annotations

from kpis.terms.bench import Bench, MachineField
from kpis.terms.comparison import Comparison, State

__all__ = ["differing", "mismatch"]


def differing(what: str, base: str | None, head: str | None) -> Comparison:
    """No baseline, because ``what`` differs; None is what a side does not state."""
    return Comparison(
        State.NO_BASELINE, evidence=(f"{what} differs: {base or 'not stated'} against {head or 'not stated'}",)
    )


def mismatch(base: Bench, head: Bench) -> Comparison | None:
    """No baseline, with what differs named; None where the two benches may be compared.

    A fact of the machine that only one side states differs. One that neither states is passed over only where both
    name the same host.
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
    return None


def _short(digest: str | None) -> str | None:
    return None if digest is None else digest[:12]
