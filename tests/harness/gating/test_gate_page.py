"""A gate as a person reads it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from harness.cli.exits import Exit
from harness.cli.gate import exit_code
from harness.gating.foresight import what_fits
from harness.gating.rows import unmeasured
from harness.record.gate import GateFile, GateRow, GateSide, encode
from harness.record.run import Machine
from harness.report.gate_page import decided_by, render_gate, sentence_of
from kpis.terms.claim import Claim, ClaimKind, ClaimState, Gap, Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import ComparisonNotice, ComparisonWarn, State
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


def test_a_verdict_names_some_of_what_it_rests_on_and_counts_the_rest() -> None:
    def by(count: int) -> str:
        names = tuple(f"k{number}" for number in range(count))
        return decided_by(Verdict(VerdictState.FAIL, VerdictBasis.DETECTOR_VETO, names))

    assert by(0) == ""
    assert by(2) == " by k0, k1"
    assert by(20).endswith(", k19")
    assert by(100_000).endswith(", k19 and 99,980 more")


CLEAN = Verdict(VerdictState.PASS, VerdictBasis.CLEAN)


def text_of(rows: list[GateRow], *, built_in: tuple[str, ...] = (), verbose: bool = False) -> str:
    out = io.StringIO()
    render_gate(file(rows, CLEAN), Console(file=out, width=80), built_in=built_in, verbose=verbose)
    return " ".join(out.getvalue().split())


def ended(kpi: str, base: tuple[str, str] | None, head: tuple[str, str] | None) -> GateRow:
    found = unmeasured(base, head)
    assert found is not None
    return row(found.state, kpi=kpi, evidence=list(found.evidence), warnings=list(found.warnings))


def late(kpi: str) -> GateRow:
    return ended(kpi, None, ("out-of-budget", "the budget ended before this point was tried"))


def absent(kpi: str, why: str) -> GateRow:
    return ended(kpi, ("not-offered", why), ("not-offered", why))


def test_ones_own_come_first_and_built_in_ones_are_counted_where_there_is_nothing_to_say() -> None:
    rows = [
        row(State.REGRESSED, kpi="theirs_ns", ratio=1.1, low=1.08, high=1.12, pairs=80, alpha=0.01),
        row(State.UNCHANGED, kpi="one", evidence=["2 files are touched"]),
        row(State.UNCHANGED, kpi="two", evidence=["3 files are touched"]),
        absent("three", "The runtime offers no planner."),
        late("four"),
        late("five"),
        row(State.UNCHANGED, kpi="own_ns", evidence=["2 files are touched"]),
    ]
    built_in = ("theirs_ns", "one", "two", "three", "four", "five")
    text = text_of(rows, built_in=built_in)
    assert text.index("unchanged: own_ns") < text.index("regressed: theirs_ns: +10.0 %")
    assert "unchanged: 2 built-in KPIs (named with --verbose): every touched file is the same" in text
    assert "1 built-in KPI: not offered by this runtime (list them with --verbose or python -m harness list)" in text
    assert "inconclusive: 2 built-in KPIs (named with --verbose): the budget ended before this point was tried" in text
    assert "three" not in text
    spelled = text_of(rows, built_in=built_in, verbose=True)
    assert "unchanged: one, two: " in spelled
    assert "not offered: three: The runtime offers no planner." in spelled
    assert "inconclusive: four, five: the budget ended before this point was tried" in spelled
    alone = text_of(rows[:-1], built_in=built_in)
    assert "unchanged: one, two: " in alone, "a project without rows of its own asks about the built-in ones"


def test_sentences_are_shown_and_never_read_back() -> None:
    """What a row is stands in its codes; a sentence that happens to begin like another one changes nothing."""
    rows = [
        row(State.UNCHANGED, kpi="own_ns", evidence=["2 files are touched"]),
        row(State.NEW, kpi="three", evidence=["left out on both sides: by the look of it"]),
        row(State.INCONCLUSIVE, kpi="four", evidence=["the budget ended before this point was tried"]),
    ]
    text = text_of(rows, built_in=("three", "four"))
    assert "new: three: left out on both sides: by the look of it" in text
    assert "inconclusive: four: the budget ended" in text
    again = text_of([rows[0], absent("three", "Other words."), late("four")], built_in=("three", "four"))
    assert "1 built-in KPI: not offered by this runtime" in again
    assert "inconclusive: 1 built-in KPI (named with --verbose)" in again


def test_a_row_that_only_reports_is_shown_by_its_evidence() -> None:
    notice = ComparisonNotice(ComparisonWarn.REPORTED, "a slope is reported and decides nothing")
    said = ["slope 1.00 on the base and 1.10 on the head, over 10 to 1000 turns", notice.message]
    found = row(State.INCONCLUSIVE, kpi="work_ns_growth", ratio=1.2, low=1.0, high=1.5, pairs=16, evidence=said)
    text = text_of([found])
    assert "smallest visible" in text, "without its code it reads as a time"
    noted = row(found.state, **{**slots(found), "warnings": [notice]})
    text = text_of([noted])
    assert f"inconclusive: work_ns_growth: {said[0]}; {said[1]}" in text
    assert "warning" not in text, "what the sentence says is not said again"
    assert "smallest visible" not in text


def slots(found: GateRow) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__ if name != "state"}


def test_what_is_void_on_both_sides_for_one_reason_says_it_once() -> None:
    found = unmeasured(("error", "It broke."), ("error", "It broke."))
    assert found is not None
    assert found.evidence == ("on both sides: It broke.",)
    apart = unmeasured(("error", "It broke."), ("timeout", "It did not end."))
    assert apart is not None
    assert sentence_of(row(apart.state, evidence=list(apart.evidence))) == (
        "on the base: It broke; on the head: It did not end."
    )


@pytest.mark.parametrize(
    ("base", "head", "state"),
    [
        (None, None, None),
        ("error", None, State.NEW),
        ("not-offered", None, State.NEW),
        (None, "error", State.VOID),
        ("error", "error", State.VOID),
        ("not-offered", "error", State.VOID),
        ("error", "not-offered", State.VOID),
        (None, "not-offered", State.REMOVED),
        ("not-offered", "not-offered", State.NEW),
        ("out-of-budget", None, State.INCONCLUSIVE),
        ("error", "out-of-budget", State.INCONCLUSIVE),
    ],
)
def test_what_a_point_is_that_a_side_cannot_measure(base: str | None, head: str | None, state: State | None) -> None:
    found = unmeasured(base and (base, "a."), head and (head, "b."))  # type: ignore[arg-type]
    assert (None if found is None else found.state) is state


@pytest.mark.parametrize(
    ("budget", "spent", "said"),
    [
        (9.0, 0.0, "The budget of 9 s is not enough for one of them: what has changed will end inconclusive."),
        (60.0, 0.0, "The budget of 1 min 00 s is enough for about 6 of the 12: the others, and any suspect, end"),
        (120.0, 0.0, "The budget of 2 min 00 s leaves no time to confirm one: a suspect will end inconclusive."),
        (220.0, 0.0, "leaves time to confirm 1 suspect; more will end inconclusive."),
        (500.0, 100.0, "leaves time to confirm 2 suspects; more will end inconclusive."),
        (5000.0, 0.0, "leaves time to confirm every one of them."),
    ],
)
def test_a_budget_says_what_it_can_hold(budget: float, spent: float, said: str) -> None:
    assert said in what_fits(12, 120.0, 100.0, budget, spent)


def unknown(gap: Gap, *, critical: bool = False, kind: ClaimKind = ClaimKind.DETECTION) -> Claim:
    return Claim("work_ns", kind, ClaimState.UNKNOWN, critical=critical, gap=gap)


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
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.CRITICAL_UNKNOWN, ("work_ns",)),
            (unknown(Gap.INCONCLUSIVE, critical=True), unknown(Gap.REMOVED)), False, Exit.UNCOVERED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("work_ns",)),
            (unknown(Gap.REMOVED), unknown(Gap.INCONCLUSIVE)), True, Exit.FAILED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.REQUIRED_EVIDENCE_MISSING, ("work_ns",)),
            (unknown(Gap.REMOVED), unknown(Gap.INCONCLUSIVE, kind=ClaimKind.MEASUREMENT)), True, Exit.UNCOVERED,
        ),
        (
            Verdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES),
            (unknown(Gap.NEW),), True, Exit.UNCOVERED,
        ),
    ],
)  # fmt: skip
def test_unknown_never_ends_with_zero(verdict: Verdict, claims: tuple[Claim, ...], strict: bool, code: Exit) -> None:
    assert exit_code(file([], verdict, claims), strict=strict) is code
    written = encode(file([], verdict, claims))
    assert (b'"passed": true' in written) is (code is Exit.OK)
