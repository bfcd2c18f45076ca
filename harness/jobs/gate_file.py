"""From comparisons to the gate file: what each point claims, on what samples, and the verdict over all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from harness.gating.work import Work
from harness.judge.compose import claim_of, compose, coverage_of
from harness.measure import machine
from harness.record.floors import CommittedFloors
from harness.record.gate import GateFile, GateRow, GateSide
from harness.record.run import Machine
from harness.subject.revisions import Base
from kpis.terms.claim import ClaimKind, Evidence
from kpis.terms.comparison import Comparison
from kpis.terms.kpi import Direction, Gate

__all__ = ["gate_file"]


def gate_file(
    head: tuple[str | None, bool | None],
    base: Base,
    work: Work,
    found: dict[str, Comparison],
    rows: list[GateRow],
    header: dict[str, Any],
    began: float,
    known: CommittedFloors,
    seen: Mapping[str, Evidence],
) -> GateFile:
    """The file of a gate that ``found`` these comparisons; ``seen`` says where the samples of a point stand.

    ``head`` is the commit and whether the tree differed from it, ``header`` that of the journal, ``began`` a reading of
    the monotonic clock.
    """
    claims = []
    for name, comparison in sorted(found.items()):
        kpi = work.kpis.get(name)
        kind = Gate.EXACT if kpi is None else kpi.gate
        direction = Direction.LOWER if kpi is None else kpi.direction
        critical = kpi is not None and kpi.critical
        claims.append(
            claim_of(
                name,
                comparison,
                kind,
                direction,
                critical=critical,
                table=known.table(name),
                evidence=[seen[name]] if name in seen else (),
                coverage=work.coverage.get(name),
            )
        )
    reported = {claim.rule for claim in claims if claim.kind is ClaimKind.MEASUREMENT}
    commit, dirty = head
    fingerprint = machine.fingerprint()
    return GateFile(
        id=header["id"],
        created=header["created"],
        argv=list(header["argv"]),
        base=GateSide(commit=base.commit, dirty=False, touched=work.trials.touched("base")),
        head=GateSide(commit=commit, dirty=dirty, touched=work.trials.touched("head")),
        verdict=compose(claims, coverage_of(found, reported=reported)),
        claims=claims,
        rows=sorted(rows, key=lambda row: (row.kpi, sorted(row.params.items()), row.leg.value)),
        injected=dict(work.injected),
        machine=Machine(slug=machine.slug(fingerprint), fingerprint=fingerprint),
        environment=machine.environment(),
        noise={"after": machine.noise()},
        seed=header["seed"],
        seconds=round(time.monotonic() - began, 3),
    )
