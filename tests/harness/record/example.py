"""A small authored run with one reading of each sort, and the pieces it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.record.run import Machine, Mode, Run, Selection, SourceTree, WorkloadRecord
from kpis.terms.kpi import Direction, Estimand, Gate, Layer, Status
from kpis.terms.quantity import Basis, Source, Unit
from kpis.terms.reading import Distribution, Leg, Notice, Reading, ReadingKind, Reason, Undefined, Warn

IDENTITY = "20261130T052031Z-3f9a1c"

TIMED = Reading(
    kpi="spawned_hook_baseline_p50_ns",
    layer=Layer.SYSCALL,
    params={},
    runtime="reference",
    workload=None,
    leg=Leg.MAIN,
    kind=ReadingKind.TIMED,
    value=1_234_567.25,
    undefined=None,
    unit=Unit.NS,
    direction=Direction.LOWER,
    status=Status.STANDING,
    basis=Basis.CLOCK,
    source=Source.LIVE,
    estimand=Estimand.CALL_P50,
    isolation="none",
    gate=Gate.TIMED,
    critical=True,
    distribution=Distribution("process values", 12, 1_234_567.25, (1_201_000.0, 1_310_000.0), 1_230_000.0, 0.01),
)
RATE = replace(
    TIMED,
    kpi="vdso_hit_rate",
    params={"arm": "isolated"},
    workload="calls",
    kind=ReadingKind.RATE,
    value=0.75,
    unit=Unit.RATIO,
    direction=Direction.HIGHER,
    basis=Basis.COUNT,
    source=Source.SYNTHETIC,
    estimand=Estimand.RATE,
    gate=Gate.EXACT,
    critical=False,
    numerator=1200,
    denominator=1600,
    excluded=3,
    distribution=None,
    warnings=[Notice(Warn.LOADED, "The load average was 3.2 on 2 cores.")],
)
HISTOGRAM = replace(
    RATE,
    kpi="verdict_reason_distribution",
    params={},
    kind=ReadingKind.HISTOGRAM,
    value=1600,
    unit=Unit.COUNT,
    direction=Direction.NEUTRAL,
    estimand=Estimand.HISTOGRAM,
    numerator=None,
    denominator=None,
    excluded=None,
    histogram={"allowed": 1200, "denied": 400},
)
ABSENT = replace(
    TIMED,
    kpi="planner_plan_ns",
    layer=Layer.TURN,
    params={"objective": "greedy", "n": "1000"},
    value=None,
    undefined=Undefined(Reason.NOT_OFFERED, "This runtime offers no turn/planner."),
    basis=None,
    source=None,
    critical=False,
    distribution=None,
)
MODELED = replace(
    TIMED,
    kpi="turn_cost_usd",
    layer=Layer.TURN,
    kind=ReadingKind.MODELED,
    value=0.0123,
    unit=Unit.USD,
    status=Status.MODELED,
    basis=Basis.MODEL,
    source=Source.SYNTHETIC,
    estimand=Estimand.COUNT,
    gate=Gate.REPORT,
    critical=False,
    knobs={"usd_per_mtok": 3.0},
    distribution=None,
)
REPORTED = replace(
    RATE,
    kpi="cached_tokens",
    layer=Layer.TURN,
    params={},
    kind=ReadingKind.COUNT,
    value=12_345,
    unit=Unit.TOK,
    basis=Basis.REPORTED,
    source=Source.REPLAY,
    numerator=None,
    denominator=None,
    excluded=None,
    warnings=[],
)


def example(**changes: Any) -> Run:
    """The run of the tests, with some of its members replaced."""
    run = Run(
        id=IDENTITY,
        created="2026-11-30T05:20:31Z",
        argv=["run", "--all"],
        complete=True,
        mode=Mode.DEFAULT,
        selection=Selection(all=True, layers=[], kpis=[], params={}, runtimes=["reference"], workloads=[]),
        machine=Machine(slug="linux-x86_64-2c-test", fingerprint={"cores": 2, "cpu_model": "Test"}),
        environment={"flags": {"optimize": 0}},
        noise={"load_average": [0.5, 0.25, 0.0], "governor": None},
        source=SourceTree(commit="0123456789abcdef0123456789abcdef01234567", dirty=False, touched={"a.py": "00" * 32}),
        workloads={
            "calls": WorkloadRecord(
                sha256="ab" * 32, kind="calls", source="synthetic", hash=None, facts={"calls": 1600}
            )
        },
        readings=[TIMED, RATE, HISTOGRAM, ABSENT, MODELED, REPORTED],
    )
    return replace(run, **changes)
