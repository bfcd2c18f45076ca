"""What a KPI's status really is: derived from what a run emitted, never typed.

The catalog names a target; this module compares. It reads no file and chooses no run: it is handed the readings of
the newest complete run that covered the KPI's layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kpis.terms.kpi import Kpi, Seam, Status
from kpis.terms.quantity import Basis
from kpis.terms.reading import Reading, Reason

__all__ = ["StatusGap", "derive", "status_gap"]


def derive(kpi: Kpi, seam: Seam, readings: Iterable[Reading]) -> Status:
    """The status that ``readings`` bear out: one defined reading of the KPI is enough to have emitted it."""
    emitted = [reading for reading in readings if reading.kpi == kpi.id and reading.undefined is None]
    if not emitted:
        return Status.PROPOSED
    if any(reading.basis is Basis.MODEL for reading in emitted):
        return Status.MODELED
    return Status.GUARDED if seam.off_live else Status.STANDING


@dataclass(frozen=True, slots=True)
class StatusGap:
    """The catalog says ``target`` and the run bore out ``derived``.

    ``lie`` is False where the KPI is merely not emitted yet: nothing that could emit it is there.
    """

    kpi: str
    derived: Status
    target: Status
    lie: bool
    sentence: str


def status_gap(kpi: Kpi, seam: Seam, readings: Sequence[Reading] | None, *, wired: bool) -> StatusGap | None:
    """How the target differs from what was emitted; None where it does not.

    ``readings`` are those of the newest complete run of the KPI's layer, None where there is no such run. ``wired``
    says whether a probe for the KPI is in the tree.
    """
    target = kpi.target_status
    derived = derive(kpi, seam, readings or ())
    if derived is target:
        return None
    if derived is not Status.PROPOSED:
        sentence = (
            f"{kpi.id} is {derived.value} by the newest complete run and {target.value} in the catalog; correct "
            f"target_status in {_row(kpi)}, then run `python -m harness catalog --check`."
        )
        return StatusGap(kpi.id, derived, target, True, sentence)
    why = _why_undefined(kpi, readings or ())
    if readings is None or not wired or _only_not_installed(kpi, readings):
        sentence = (
            f"{kpi.id} is not emitted yet (target {target.value}){why}; see `python -m harness explain {kpi.id}`."
        )
        return StatusGap(kpi.id, derived, target, False, sentence)
    sentence = (
        f"{kpi.id} has a probe and is {target.value} in the catalog, yet the newest complete run emitted no number"
        f"{why}; try `python -m harness run --kpi {kpi.id}`."
    )
    return StatusGap(kpi.id, derived, target, True, sentence)


def _row(kpi: Kpi) -> str:
    return f"kpis/catalog/{kpi.layer.value}.toml" if kpi.origin == "catalog" else kpi.origin


def _undefined(kpi: Kpi, readings: Iterable[Reading]) -> list[Reason]:
    return [reading.undefined.reason for reading in readings if reading.kpi == kpi.id and reading.undefined]


def _only_not_installed(kpi: Kpi, readings: Iterable[Reading]) -> bool:
    # An optional part that is absent here says nothing about the catalog.
    reasons = _undefined(kpi, readings)
    return bool(reasons) and all(reason is Reason.NOT_INSTALLED for reason in reasons)


def _why_undefined(kpi: Kpi, readings: Iterable[Reading]) -> str:
    reasons = sorted({reason.value for reason in _undefined(kpi, readings)})
    return f": undefined, {', '.join(reasons)}" if reasons else ""
