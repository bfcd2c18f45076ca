"""A gate as a person reads it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.cli.exits import Exit
from harness.cli.gate import exit_code
from harness.record.gate import GateFile, GateRow, GateSide, encode
from harness.record.run import Machine
from harness.report.gate_page import render_gate, sentence_of
from kpis.terms.claim import Claim, ClaimKind, ClaimState, Gap, Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import State
from kpis.terms.reading import Leg


def row(state: State, **more: object) -> GateRow:
    usual = {
        "kpi": "work_ns", "params": {}, "runtime": "reference", "workload": None, "leg": Leg.MAIN, "state": state,
        "ratio": None, "low": None, "high": None, "pairs": 0, "smallest_visible": None, "alpha": None, "off_cpu": None,
        "functions": [], "paths": [], "evidence": [], "warnings": [],
    }  # fmt: skip
    return GateRow(**{**usual, **more})  # type: ignore[arg-type]


def file(rows: list[GateRow], verdict: Verdict, claims: tuple[Claim, ...] = ()) -> GateFile:
    side = GateSide(commit="0123456789abcdef", dirty=False, touched={})
    return GateFile(
        id="20310101T000000Z-000000", created="2031-01-01T00:00:00Z", argv=["gate"], base=side, head=side,
        verdict=verdict, claims=list(claims), rows=rows, injected={}, machine=Machine(slug="m", fingerprint={}),
        environment={}, noise={}, seed=1, seconds=3.0,
    )  # fmt: skip


def test_ok_says_what_is_excluded() -> None:
    found = row(State.OK, ratio=1.001, low=0.99, high=1.021, pairs=16, smallest_visible=0.031, alpha=0.2)
    assert sentence_of(found) == "at most 2.1 % slower; 16 pairs, a change of 3.1 % would have shown"


def test_a_regression_is_shown_with_its_bounds_and_functions(capsys: pytest.CaptureFixture[str]) -> None:
    found = row(
        State.REGRESSED, ratio=1.1, low=1.08, high=1.12, pairs=80, alpha=0.01, smallest_visible=0.03,
        functions=["mine.py:1 work (edited, 10 -> 20 opcodes a call)"],
    )  # fmt: skip
    verdict = Verdict(VerdictState.FAIL, VerdictBasis.DETECTOR_VETO, ("work_ns",))
    out = io.StringIO()
    render_gate(file([found], verdict), Console(file=out, width=80))
    text = out.getvalue()
    assert "regressed: work_ns: +10.0 % [+8.0 %, +12.0 %]; 80 pairs" in text
    assert "mine.py:1 work" in text
    assert "fail: detector_veto by work_ns" in text
    assert all(line == line.rstrip() and len(line) <= 80 for line in text.splitlines())


def test_hostile_text_is_inert() -> None:
    found = row(State.VOID, kpi="a\x1b[31mb", evidence=["[red]x[/red]\x1b]0;t\x07"])
    out = io.StringIO()
    render_gate(file([found], Verdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES)), Console(file=out, width=80))
    assert "\x1b" not in out.getvalue()
    assert "[red]x[/red]" in out.getvalue()


def unknown(gap: Gap, *, critical: bool = False) -> Claim:
    return Claim("work_ns", ClaimKind.DETECTION, ClaimState.UNKNOWN, critical=critical, gap=gap)


@pytest.mark.parametrize(
    ("verdict", "claims", "strict", "code"),
    [
        (Verdict(VerdictState.PASS, VerdictBasis.CLEAN), (), False, Exit.OK),
        (Verdict(VerdictState.FAIL, VerdictBasis.POLICY_GATE, ("work_ns",)), (), False, Exit.FAILED),
        (Verdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES), (), False, Exit.UNCOVERED),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("work_ns",)),
            (unknown(Gap.INCONCLUSIVE),), False, Exit.UNKNOWN,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("work_ns",)),
            (unknown(Gap.INCONCLUSIVE),), True, Exit.FAILED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("work_ns",)),
            (unknown(Gap.REMOVED),), False, Exit.UNCOVERED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.CRITICAL_UNKNOWN, ("work_ns",)),
            (unknown(Gap.VOID, critical=True),), False, Exit.FAILED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.CRITICAL_UNKNOWN, ("work_ns",)),
            (unknown(Gap.INCONCLUSIVE, critical=True),), False, Exit.UNKNOWN,
        ),
    ],
)  # fmt: skip
def test_unknown_never_ends_with_zero(verdict: Verdict, claims: tuple[Claim, ...], strict: bool, code: Exit) -> None:
    assert exit_code(file([], verdict, claims), strict=strict) is code
    written = encode(file([], verdict, claims))
    assert (b'"passed": true' in written) is (code is Exit.OK)
