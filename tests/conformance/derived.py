"""Runs the context metrics against cases that were ruled by hand from the text, in strict mode.

``python -m tests.conformance.derived FILE ...`` prints the id of each case that fails, then ``N passed, M failed``;
what differed goes to the standard error. Exit 0: all passed; 1: some failed; 2: a file was unreadable.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kpis.formulas.context.after_fold import SIGNALS, after_fold
from kpis.formulas.context.break_even import CostLine, region
from kpis.formulas.context.correctness import (
    ShownState,
    authority_loss,
    constraint_violations,
    provenance_coverage,
    stale_state,
)
from kpis.formulas.context.duplicate_rates import duplicate_work
from kpis.formulas.context.duplicates import Repeatable
from kpis.formulas.context.recall_chain import RecallRun, success_given_trigger, trigger_rate
from kpis.formulas.context.reclaimed import reclaimed
from kpis.formulas.context.regret import regret_at
from kpis.formulas.context.values import Ratio
from kpis.formulas.context.windows import FoldPoint, Step
from kpis.terms.context_words import Family, RecallKind
from tests.conformance.context_metrics import defined, rows_of, same

USAGE = "usage: python -m tests.conformance.derived FILE ..."

Given = Mapping[str, Any]


def folds_of(given: Given) -> list[FoldPoint]:
    return [
        FoldPoint(fold["atAction"], fold["checkpointRef"], reclaimed(fold["before"], fold["after"]))
        for fold in given["folds"]
    ]


def steps_of(given: Given) -> list[Step]:
    kinds = {Family.RECALL: RecallKind.RECALL, Family.SEARCH: RecallKind.SEARCH}
    steps = []
    for action in given["actions"]:
        family = Family(action["family"])
        refs = (action["ref"],) if "ref" in action else ()
        steps.append(Step(action["i"], family, kinds.get(family), refs, action.get("returned")))
    return steps


def told_regret(given: Given) -> Any:
    made = regret_at(folds_of(given), steps_of(given), given["k"])
    return defined(made.value) if isinstance(made, Ratio) else f"no regret: {made.undefined}"


def told_after_fold(signal: str) -> Callable[[Given], Any]:
    def told(given: Given) -> dict[str, Any]:
        made = after_fold(folds_of(given), steps_of(given), SIGNALS[signal], given["k"])
        return {"rate": defined(made.rate.value), "eligibleFolds": made.eligible, "censoredFolds": made.censored}

    return told


def recall_runs(rows: list[Given]) -> list[RecallRun]:
    return [RecallRun(row["required"], row["recalled"], row["appropriate"], row["success"]) for row in rows]


def told_staleness(rows: list[Given]) -> Any:
    shown = [ShownState(row["key"], row["presented"], row["current"], row["superseded"]) for row in rows]
    return defined(stale_state(shown).rate.value)


def told_constraints(given: Given) -> dict[str, Any]:
    made = constraint_violations([run["v"] for run in given["runs"]])
    rate = made.rate
    return {
        "rate": defined(rate.value),
        "violatingRuns": rate.numerator,
        "violations": made.violations,
        "runs": rate.denominator,
    }


def told_duplicate_work(given: Given) -> dict[str, Any]:
    rows = [
        Repeatable(
            each["i"],
            Family(each["family"]),
            f"{each['family']}:{each['sig']}",
            each.get("env"),
            each.get("env"),
            each.get("timeSensitive"),
        )
        for each in given["actions"]
    ]
    work = duplicate_work(rows, given.get("boundary", 0))
    bounds = work.bounds()
    told = {
        "rate": defined(work.rate().value),
        "avoidable": sum(work.avoidable.values()),
        "unknownEnvironment": sum(work.unknown.values()),
        "post": work.post,
    }
    # Bounds are told where they are not the rate itself.
    return {**told, "bounds": list(bounds)} if bounds and bounds[0] != bounds[1] else told


def told_region(given: Given) -> dict[str, Any]:
    lines = [CostLine(arm["miss"], arm["hit"], arm.get("extra", 0)) for arm in (given["ef"], given["basic"])]
    made = region(*lines)
    return {"kind": made.kind.value, "cross": made.cross}


METRICS: dict[str, Callable[[Any], Any]] = {
    "CR@k": told_regret,
    "RAF@k": told_after_fold("raf"),
    "SAF@k": told_after_fold("saf"),
    "TAF@k": told_after_fold("taf"),
    "RTR": lambda rows: defined(trigger_rate(recall_runs(rows)).value),
    "RSGT": lambda rows: defined(success_given_trigger(recall_runs(rows)).value),
    "ALR": lambda given: defined(authority_loss(given["expected"], given["present"]).value),
    "SSR": told_staleness,
    "PC": lambda given: defined(provenance_coverage(given["objects"], given["withValidProvenance"]).value),
    "CCVR": told_constraints,
    "DWR": told_duplicate_work,
    "break-even": told_region,
}


def run(text: str) -> tuple[int, dict[str, str]]:
    """How many cases there are, and what differs in those that fail.

    Raises:
        ValueError: the text is no JSON Lines, or holds no case.
    """
    cases = {row["id"]: row for row in rows_of(text)}
    if not cases:
        raise ValueError("there is no case")
    failed = {}
    for name, case in cases.items():
        try:
            made = METRICS[case["metric"]](case["input"])
            want = case["value"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            failed[name] = f"the case lacks something: {type(error).__name__}: {error}"
            continue
        if not same(want, made):
            failed[name] = f"{want!r} expected, {made!r} made"
    return len(cases), failed


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    if not argv:
        print(f"No file was named; {USAGE}", file=sys.stderr)
        return 2
    total = failures = 0
    for file in argv:
        try:
            count, failed = run(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            print(f"{file} cannot be read as cases: {error}; {USAGE}", file=sys.stderr)
            return 2
        total, failures = total + count, failures + len(failed)
        for name, found in failed.items():
            print(name)
            print(f"{name}: {found}", file=sys.stderr)
    print(f"{total - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
