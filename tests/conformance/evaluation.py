"""Runs the evaluation engine in reference mode against a file of cases and the answers of the reference to them.

Two kinds are told apart. *Equal*: shape, counts, categories, coverage, the rules that are formulas, and everything that
is composed. *Agreement*: five rules match patterns of which only descriptions exist; they are asked whether they fire
as the reference's do, and what is composed is then composed of the reference's word, so that a difference in a pattern
is no difference in the arithmetic.

``python -m tests.conformance.evaluation CASES EXPECTED`` prints the name of each case that is not equal, then
``equal: N passed, M failed``, ``pattern agreement: P of Q`` and ``N passed, M failed``. Exit 0: all equal; 1: some are
not; 2: a file was unreadable.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.formats.evaluation_case import read_case
from harness.formats.limits import FormatError
from harness.jobs.evaluate import carried
from harness.jobs.evaluate_config import Deployment, reference
from harness.judge.evaluation.judge import judge
from harness.record.evaluation_write import response
from kpis.rules.criticality import CriticalityError
from kpis.rules.run import findings
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Finding, RuleClaim
from kpis.terms.evaluation_case import Case

USAGE = "Run: python -m tests.conformance.evaluation CASES EXPECTED"
PATTERN_RULES = (
    "no_pii",
    "no_blocklist_words",
    "no_injection_patterns",
    "no_stub_output",
    "no_hallucination_markers",
)
INTERVAL = 1e-4
"""What two mathematical libraries may differ by in a bound that is rounded to four places."""

_TOP = (
    "eval_type",
    "score",
    "passed",
    "rules_evaluated",
    "rules_skipped",
    "insufficient_data",
    "critical_failures",
    "critical_skipped",
    "categories",
)
_RESULT = (
    "ruleName",
    "ruleId",
    "category",
    "critical",
    "criticalSource",
    "passed",
    "score",
    "skipped",
    "skipClass",
    "configInvalid",
    "budgetExceeded",
    "kind",
    "role",
    "question",
    "classes",
    "ruleVersion",
    "origin",
    "saw",
    "uncertainty",
    "value",
)
_PROVENANCE = ("rulesetHash", "configHash", "thresholds", "corpusVersion")


@dataclass
class Tally:
    """How many cases are equal, what differs in the others, and where a pattern rule answers otherwise."""

    equal: int = 0
    failed: dict[str, list[str]] = field(default_factory=dict)
    agreed: int = 0
    asked: int = 0
    apart: list[str] = field(default_factory=list)


def differs(what: str, want: object, made: object) -> Iterator[str]:
    """Where two plain values differ, each with its path; a key that is null is as good as absent."""
    if isinstance(want, Mapping) and isinstance(made, Mapping):
        for key in dict.fromkeys([*want, *made]):
            yield from differs(f"{what}.{key}", want.get(key), made.get(key))
    elif isinstance(want, list) and isinstance(made, list):
        if len(want) != len(made):
            yield f"{what}: {len(want)} expected, {len(made)} made"
        for at, (one, other) in enumerate(zip(want, made, strict=False)):
            yield from differs(f"{what}[{at}]", one, other)
    elif isinstance(want, bool) or isinstance(made, bool):
        if want is not made:
            yield f"{what}: {want!r} expected, {made!r} made"
    elif isinstance(want, int | float) and isinstance(made, int | float):
        slack = INTERVAL if what.endswith((".lo", ".hi")) else 0.0
        if not math.isclose(want, made, rel_tol=1e-12, abs_tol=slack * 1.0001):
            yield f"{what}: {want!r} expected, {made!r} made"
    elif want != made:
        yield f"{what}: {want!r} expected, {made!r} made"


def _evidence(items: Sequence[Mapping[str, Any]] | None) -> list[Mapping[str, Any]]:
    """Evidence without its wording: counts as they are, calls by their place."""
    return [
        {key: value for key, value in item.items() if key != "label"}
        for item in items or ()
        if item["type"] in ("count", "toolCall")
    ]


def _questions(coverage: Mapping[str, Any] | None) -> list[tuple[str, str]] | None:
    return None if coverage is None else [(each["id"], each["status"]) for each in coverage["questions"]]


def compared(want: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[str]:
    """What differs between the answer of the reference and ours, wording apart."""
    for key in _TOP:
        yield from differs(key, want.get(key), made.get(key))
    verdict = dict(made["verdict"])
    if verdict["risk"] is not None:
        verdict["risk"] = {key: value for key, value in verdict["risk"].items() if key != "assumptions"}
    yield from differs("verdict", want.get("verdict"), verdict)
    coverage = made.get("coverage")
    yield from differs("coverage.inputs", (want.get("coverage") or {}).get("inputs"), (coverage or {}).get("inputs"))
    if _questions(want.get("coverage")) != _questions(coverage):
        yield f"coverage.questions: {_questions(want.get('coverage'))} expected, {_questions(coverage)} made"
    for key in _PROVENANCE:
        yield from differs(
            f"provenance.{key}", (want.get("provenance") or {}).get(key), (made.get("provenance") or {}).get(key)
        )
    rows, ours = want["rule_results"], made["rule_results"]
    if [row["ruleName"] for row in rows] != [row["ruleName"] for row in ours]:
        yield f"rule_results: {[row['ruleName'] for row in rows]} expected"
        return
    for row, our in zip(rows, ours, strict=True):
        name = row["ruleName"]
        for key in _RESULT:
            yield from differs(f"{name}.{key}", row.get(key), our.get(key))
        if name not in PATTERN_RULES:
            yield from differs(f"{name}.evidence", _evidence(row.get("evidence")), _evidence(our.get("evidence")))


def _pattern(finding: Finding) -> bool:
    return finding.rule.name in PATTERN_RULES and not finding.rule.custom


def _said(row: Mapping[str, Any]) -> ClaimState:
    if row.get("skipped"):
        return ClaimState.UNKNOWN
    return ClaimState.QUIET if row["passed"] else ClaimState.FIRED


def _as_told(finding: Finding, rows: Mapping[str, Mapping[str, Any]]) -> Finding:
    """A pattern rule with the reference's word in the place of ours."""
    row = rows.get(finding.rule.name)
    if row is None or not _pattern(finding) or row.get("skipped"):
        return finding
    return replace(finding, claim=RuleClaim(_said(row), row["score"], "as the reference says"))


def answer(case: Case, found: Sequence[Finding], deployment: Deployment) -> dict[str, Any]:
    """What we make of ``found``, as it is written."""
    evaluation = judge(found, carried(case), case.settings, deployment.table, case.eval_type)
    return response(evaluation, ident="", case=case.id, judged_at="", engine="", note=None, counted=False)


def run(cases: bytes, expected: bytes) -> Tally:
    """Every case against its answer, line by line.

    Raises:
        ValueError: a file is no JSON Lines, or they do not have the same number of lines.
    """
    lines, answers = cases.splitlines(), [json.loads(line) for line in expected.splitlines()]
    if not lines or len(lines) != len(answers):
        raise ValueError(f"there are {len(lines)} cases and {len(answers)} answers")
    deployment, tally = reference(), Tally()
    for at, (line, want) in enumerate(zip(lines, answers, strict=True)):
        name = want.get("case", f"#{at}")
        try:
            case = read_case(line, deployment.settings)
            found = findings(case)
            rows = {} if want.get("error") else {row["ruleName"]: row for row in want["response"]["rule_results"]}
            made = answer(case, [_as_told(each, rows) for each in found], deployment)
            faults = ["an error expected"] if want.get("error") else list(compared(want["response"], made))
        except (FormatError, CriticalityError) as error:
            found, rows = (), {}
            faults = [] if want.get("error") else [f"refused: {error}"]
        for each in found:
            if _pattern(each) and each.rule.name in rows:
                tally.asked += 1
                tally.agreed += _said(rows[each.rule.name]) is each.claim.state
                if _said(rows[each.rule.name]) is not each.claim.state:
                    tally.apart.append(f"{name}: {each.rule.name} {each.claim.state.value}")
        if faults:
            tally.failed[name] = faults
        else:
            tally.equal += 1
    return tally


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    if len(argv) != 2:
        print(f"Two files have to be named. {USAGE}", file=sys.stderr)
        return 2
    try:
        tally = run(*(Path(name).read_bytes() for name in argv))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{' and '.join(argv)} cannot be read: {error}. {USAGE}", file=sys.stderr)
        return 2
    for name, faults in tally.failed.items():
        print(name)
        print(f"{name}: {'; '.join(faults[:5])}", file=sys.stderr)
    for sentence in tally.apart:
        print(f"otherwise than the reference: {sentence}", file=sys.stderr)
    said = f"{tally.equal} passed, {len(tally.failed)} failed"
    print(f"equal: {said}")
    print(f"pattern agreement: {tally.agreed} of {tally.asked}")
    print(said)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
