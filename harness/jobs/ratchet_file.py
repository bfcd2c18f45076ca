"""From comparisons to the ratchet file: which of them decide, what is claimed, and the verdict over it.

What does not decide is shown all the same: thin rows, waived ones, what was red at the base already. Refuses to let a
waiver outlive its day, and to pass where the catalog, the record and the run do not hold the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_base import AtBase
from harness.jobs.ratchet_found import Found
from harness.jobs.ratchet_points import kpi_of
from harness.judge.bounds import median
from harness.judge.compose import claim_of, compose, coverage_of
from harness.record.baseline import different
from harness.record.baselines import Record
from harness.record.ratchet import RatchetBase, RatchetFile, RatchetRow, RatchetRun, WaiverNote, passed_over
from harness.record.run import Run
from kpis.terms.claim import Claim, Confidence, Coverage, Evidence, Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import Comparison, ComparisonWarn, State
from kpis.terms.kpi import Direction, Gate
from kpis.terms.reading import Reading

__all__ = ["no_record", "ratchet_file"]


def no_record(root: Path, slug: str, run: Run | None) -> RatchetFile:
    """What is said where the machine has no record: nothing was compared, so that nothing passed."""
    others = sorted(path.parent.name for path in (root / "baselines").glob("*/*.toml"))
    there = f" (there is one of {', '.join(dict.fromkeys(others))})" if others else ""
    note = (
        f"There is no record of this machine, {slug}, under baselines{there}; begin one with "
        "`python -m harness run --all`, then `python -m harness ratchet accept`."
    )
    verdict = Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING)
    return RatchetFile(
        slug=slug,
        run=None if run is None else _run(run),
        verdict=verdict,
        coverage=Coverage(0, 0),
        claims=[],
        rows=[],
        unselected=0,
        release=None,
        ruler=None,
        base=None,
        notes=[note],
    )


def ratchet_file(
    record: Record,
    run: Run,
    found: list[Found],
    unselected: int,
    ruler: dict[str, Any] | None,
    base: AtBase | None,
    today: date,
    evidence: Callable[[Found], Sequence[Evidence]],
) -> RatchetFile:
    """What ``found`` comes to: rows, claims, coverage and the verdict; ``base`` excuses what was red before.

    ``evidence`` says where the readings of a comparison stand.
    """
    tag = record.release.tag if record.release is not None else None
    rows: list[RatchetRow] = []
    claims: list[Claim] = []
    comparisons: dict[str, Comparison] = {}
    reported: set[str] = set()
    for compared in found:
        each, excused = _excused(compared, base)
        waiver = _waiver(each, today)
        decides = _decides(each) and not excused and (waiver is None or waiver.expired)
        rule = each.name if each.anchor == "record" else f"{each.name} since {each.anchor}"
        rows.append(_row(each, decides, waiver))
        claims.append(_claim(rule, each, decides, evidence(each)))
        comparisons[rule] = each.comparison
        if not decides:
            reported.add(rule)
        if waiver is not None and waiver.expired and each.anchor == "record":
            said = f"its waiver ended on {waiver.until}: {waiver.why}"
            ended = Comparison(State.REGRESSED, evidence=(said,))
            claims.append(claim_of(f"waiver of {each.name}", ended, Gate.EXACT, Direction.LOWER))
    coverage = _with_new(coverage_of(comparisons, reported=reported), found)
    return RatchetFile(
        slug=record.slug,
        run=_run(run),
        verdict=_sure(compose(claims, coverage), rows),
        coverage=coverage,
        claims=claims,
        rows=rows,
        unselected=unselected,
        release=tag,
        ruler=ruler,
        base=None if base is None else RatchetBase(commit=base.commit, run=base.run, red=_red(base.red)),
        notes=[] if base is None or base.note is None else [base.note],
    )


def _sure(verdict: Verdict, rows: Iterable[RatchetRow]) -> Verdict:
    """A pass beside rows that were not judged, for they are thin, waived or excused, is no decisive one."""
    if verdict.confidence is Confidence.DECISIVE and verdict.passed and any(passed_over(row) for row in rows):
        return replace(verdict, confidence=Confidence.MARGINAL)
    return verdict


def _excused(found: Found, base: AtBase | None) -> tuple[Found, bool]:
    if base is None or found.comparison.state is not State.REGRESSED or base.blames(found):
        return found, False
    return found.saying(f"it was so at the base {base.commit[:12]} already: not blamed on this change"), True


def _red(red: Mapping[tuple[str, str], Found]) -> list[str]:
    return sorted({name for _, name in red})


def _left_out(found: Found) -> bool:
    return any(notice.code is ComparisonWarn.LEFT_OUT for notice in found.comparison.warnings)


def _decides(found: Found) -> bool:
    """Whether a comparison counts: not where sessions are too few; a release that cannot be held says nothing."""
    state = found.comparison.state
    if state is State.THIN or _left_out(found):
        return False
    return found.anchor == "record" or state not in (State.NO_BASELINE, State.VOID)


def _with_new(coverage: Coverage, found: Iterable[Found]) -> Coverage:
    """Registry and record are to hold the same rows: what is in the catalog and not on record is missing, too."""
    new = [each.name for each in found if each.comparison.state is State.NEW and not _left_out(each)]
    return Coverage(coverage.wanted + len(new), coverage.seen, (*coverage.missing, *new))


def _gate(found: Found) -> Gate:
    if found.held is not None:
        return Gate.TIMED if found.held.row.timed else found.held.row.gate
    kpi = found.point.kpi if found.point is not None else None
    return Gate.EXACT if kpi is None else Gate.TIMED if kpi.estimand.timed else kpi.gate


def _direction(found: Found) -> Direction:
    if found.held is not None:
        return found.held.row.direction
    return Direction.LOWER if found.point is None else found.point.kpi.direction


def _claim(rule: str, found: Found, decides: bool, evidence: Sequence[Evidence]) -> Claim:
    critical = found.point is not None and found.point.kpi.critical
    gate = _gate(found) if decides else Gate.REPORT
    said = found.comparison
    if said.state is State.WITHIN:
        # The ratchet's rule looks for what lies beyond the record's reach, and stayed quiet; how far that is, and that
        # it may be more than 5 %, is in the claim's uncertainty and makes a pass marginal.
        said = replace(said, state=State.OK)
    return claim_of(rule, said, gate, _direction(found), critical=critical, evidence=evidence)


def _waiver(found: Found, today: date) -> WaiverNote | None:
    waiver = None if found.held is None else found.held.row.waiver
    if waiver is None:
        return None
    return WaiverNote(why=waiver.why, until=waiver.until.isoformat(), expired=waiver.until < today)


def _run(run: Run) -> RatchetRun:
    return RatchetRun(
        id=run.id, created=run.created, commit=run.source.commit, dirty=run.source.dirty, mode=run.mode.value
    )


def _row(found: Found, decides: bool, waiver: WaiverNote | None) -> RatchetRow:
    held, point, reading, said = found.held, found.point, found.reading, found.comparison
    row = None if held is None else held.row
    recorded: int | float | None = None
    if row is not None:
        recorded = median(row.medians) if row.timed and row.medians else row.limit
    kpi_id = point.kpi.id if point is not None else kpi_of(found.name)
    unit = row.unit if row is not None else None if point is None else point.kpi.unit
    return RatchetRow(
        name=found.name,
        kpi=kpi_id,
        params=_params(point, reading),
        runtime=point.runtime[0] if point is not None else "",
        workload=None if reading is None else reading.workload,
        anchor=found.anchor,
        gate=_gate(found).value,
        unit="" if unit is None else unit.value,
        direction=_direction(found).value,
        state=said.state,
        decides=decides,
        limit=None if row is None else row.limit,
        recorded=recorded,
        measured=None if reading is None else reading.value,
        ratio=said.ratio,
        low=said.low,
        high=said.high,
        sessions=0 if row is None else len(different(row.sessions)),
        beyond=found.judged.beyond,
        smallest_visible=said.smallest_visible,
        alpha=said.alpha,
        pending=None if row is None or row.pending is None else row.pending.isoformat(),
        waiver=waiver,
        moved=None if row is None or row.moved is None else {"why": row.moved.why, "on": row.moved.on.isoformat()},
        evidence=list(said.evidence),
        warnings=list(said.warnings),
    )


def _params(point: PlannedPoint | None, reading: Reading | None) -> dict[str, str]:
    if point is not None:
        return dict(point.params)
    return {} if reading is None else dict(reading.params)
