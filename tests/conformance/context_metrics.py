"""Runs the context metrics against recorded inputs and values of their reference implementation, in reference mode.

``python -m tests.conformance.context_metrics CASES EXPECTED`` reads two JSON Lines files, inputs and values, and pairs
them by id. It prints the id of each case that fails, then ``N passed, M failed``; what differed goes to the standard
error. Exit 0: all passed; 1: some failed; 2: a file was unreadable. Numbers agree to within 1e-9, absolute or relative;
the words ``__undefined__``, ``__Infinity__``, ``__-Infinity__`` and ``__NaN__`` stand for what JSON cannot write.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kpis.formulas.context import actions as acts
from kpis.formulas.context.break_even import CostLine, crossing
from kpis.formulas.context.canonical import normalised_query
from kpis.formulas.context.cost_curve import RHOS, Additions, cost_at
from kpis.formulas.context.duplicate_rates import duplicate_work_rate
from kpis.formulas.context.duplicates import Repeatable, reference_duplicates
from kpis.formulas.context.exposure import exposure
from kpis.formulas.context.frozen import frozen
from kpis.formulas.context.gates import GateState
from kpis.formulas.context.locality import Surface, locality, prefix
from kpis.formulas.context.pareto import Point, pareto
from kpis.formulas.context.reclaimed import FoldSize, prefix_mutation, reclaimed, reclaimed_by
from kpis.formulas.context.regret import context_regret
from kpis.formulas.context.values import Mode
from kpis.formulas.paired.bootstrap import RESAMPLES, SEED, bootstrap
from kpis.formulas.paired.describe import describe
from kpis.formulas.paired.disagreement import PassedRun, disagreement
from kpis.formulas.paired.noninferiority import non_inferior
from kpis.formulas.paired.tally import TIE_BAND, tally
from kpis.terms.context_words import Family

USAGE = "usage: python -m tests.conformance.context_metrics CASES EXPECTED"
UNDEFINED = "__undefined__"
SENTINELS = {"__Infinity__": math.inf, "__-Infinity__": -math.inf, "__NaN__": math.nan}
RATED = (Family.READ, Family.SEARCH, Family.TEST, Family.RECALL)
REFERENCE = Mode.REFERENCE

Given = Mapping[str, Any]


def defined(value: Any) -> Any:
    return UNDEFINED if value is None else value


def told_exposure(prompts: list[float]) -> dict[str, Any]:
    seen = exposure(prompts, REFERENCE)
    parts = {"total": seen.total, "mean": seen.mean, "median": seen.median, "peak": seen.peak, "p95": seen.p95}
    return {f"{name}PromptTokens": value for name, value in parts.items()}


def told_frozen(load: list[float], prompts: list[float]) -> dict[str, Any]:
    seen = frozen(load, prompts, REFERENCE)
    return {
        "meanFrozenTokens": seen.mean,
        "peakFrozenTokens": seen.peak,
        "frozenShareOfPrompt": seen.share.value,
    }


def told_cost(given: Given) -> float:
    additions = Additions(
        given.get("auxiliaryInputTokens", 0),
        given.get("auxiliaryOutputTokens", 0),
        given.get("auxiliaryOutputWeight", 1),
        given.get("recallReturnedTokens", 0),
    )
    return cost_at(given["rho"], given["promptTokens"], given["sharedPrefixTokens"], additions, REFERENCE)


def line_of(given: Given) -> CostLine:
    return CostLine(given["missTokens"], given["hitTokens"])


def told_duplicates(given: Given) -> dict[str, Any]:
    rows, hashes = [], []
    for each in given["actions"]:
        family = acts.family_of(each["toolName"], table=acts.REFERENCE)
        args = each.get("args", acts.ABSENT)
        hashes.append(acts.args_digest(family, each.get("target"), args, REFERENCE))
        before, after = each.get("beforeEnvironment"), each.get("afterEnvironment")
        rows.append(Repeatable(each["index"], family, acts.signature(family, hashes[-1]), before, after))
    of = reference_duplicates(rows)
    found = [each is not None for each in of]

    def rate(family: Family | None) -> float | None:
        marks = [mark for mark, row in zip(found, rows, strict=True) if family in (None, row.family)]
        return duplicate_work_rate(sum(marks), len(marks), REFERENCE).value

    return {
        "families": [row.family.value for row in rows],
        "duplicate": found,
        "duplicateOf": of,
        "dwr_total": rate(None),
        "dwr_by_family_over_family_actions": {family.value: rate(family) for family in RATED},
        "argsHash": hashes,
    }


def told_bootstrap(given: Given) -> Any:
    made = bootstrap(
        given["deltas"],
        given.get("resamples", RESAMPLES),
        given.get("confidence", 0.95),
        given.get("seed", SEED),
    )
    return UNDEFINED if made is None else asdict(made)


def told_tally(given: Given) -> dict[str, Any]:
    made = tally(given["candidate"], given["basic"], given.get("tieBand", TIE_BAND), REFERENCE)
    return {"wins": made.wins, "ties": made.ties, "losses": made.losses, "tieBand": made.tie_band}


def told_distribution(given: Given) -> dict[str, Any]:
    made = describe(given["values"], REFERENCE)
    parts = {"count": made.count, "mean": made.mean, "median": made.median, "p10": made.p10, "p90": made.p90}
    return {**parts, "min": made.least, "max": made.largest}


def passed_runs(rows: list[Given]) -> list[PassedRun]:
    return [PassedRun(row["family"], row["replicate"], row["passed"]) for row in rows]


def told_non_inferiority(given: Given) -> dict[str, Any]:
    table = disagreement(passed_runs(given["candidate"]), passed_runs(given["reference"]), REFERENCE)
    epsilon = given.get("epsilon", 0)
    return {
        "outcomes": {
            "bothPass": table.both_pass,
            "referenceOnlyPass": table.reference_only,
            "candidateOnlyPass": table.candidate_only,
            "bothFail": table.both_fail,
            "unpaired": table.unpaired,
        },
        "pairs": table.pairs,
        "epsilon": epsilon,
        "nonInferior": non_inferior(table, epsilon, REFERENCE) is GateState.SATISFIED,
        "netWins": table.net_wins,
    }


def told_pareto(given: Given) -> dict[str, Any]:
    front = pareto(
        [
            Point(row["id"], row["effectiveCost"], row["peakContext"], row["taskSuccess"], row["gates"])
            for row in given["points"]
        ]
    )
    return {
        "frontier": list(front.frontier),
        "dominated": list(front.dominated),
        "excluded": [{"id": name, "failedGates": list(gates)} for name, gates in front.excluded.items()],
    }


def told_run(given: Given) -> dict[str, Any]:
    requests, folds = given["requests"], given["folds"]
    chain = locality([Surface(each["nodes"], each["tokens"]) for each in requests], REFERENCE)
    prompts = [sum(each["tokens"]) for each in requests]
    sizes = [FoldSize(fold["tokensBefore"], fold["tokensAfter"]) for fold in folds]
    back = reclaimed_by(sizes).total or 0
    after_folds = chain.ist_before({fold["beforeRequest"] for fold in folds})
    return {
        "perPair": [asdict(pair) for pair in chain.pairs],
        "spt_total": chain.spt,
        "ist_total": chain.ist,
        "reclaimed_per_fold": [reclaimed(fold["tokensBefore"], fold["tokensAfter"]) for fold in folds],
        "reclaimed_total": back,
        "pma_all_pairs": defined(prefix_mutation(chain.ist, back).value),
        "pma_fold_pairs_only": defined(prefix_mutation(after_folds, back).value),
        "exposure": told_exposure(prompts),
        "frozen": told_frozen([each.get("frozenTokens", 0) for each in requests], prompts),
        "cost_curve_spec16": [cost_at(rho, sum(prompts), chain.spt, mode=REFERENCE) for rho in RHOS],
    }


FUNCTIONS: dict[str, Callable[[Given], Any]] = {
    "prefix": lambda given: asdict(prefix(given["previous"], given["previousTokens"], given["current"], REFERENCE)),
    "reclaimed": lambda given: reclaimed(given["before"], given["after"]),
    "pma": lambda given: defined(prefix_mutation(given["ist"], given["reclaimed"]).value),
    "exposure": lambda given: told_exposure(given["promptTokens"]),
    "frozen": lambda given: told_frozen(given["frozenTokens"], given["promptTokens"]),
    "regret": lambda given: context_regret(given["recalled"], given["reclaimed"], REFERENCE).value,
    "cost": told_cost,
    "breakeven": lambda given: defined(crossing(line_of(given["ef"]), line_of(given["basic"]))),
    "dwr": lambda given: duplicate_work_rate(given["avoidable"], given["post"], REFERENCE).value,
    "families": lambda given: [acts.family_of(name, table=acts.REFERENCE).value for name in given["toolNames"]],
    "normalize_query": lambda given: normalised_query(given["query"]),
    "duplicates": told_duplicates,
    "bootstrap": told_bootstrap,
    "tally": told_tally,
    "describe": told_distribution,
    "noninferiority": told_non_inferiority,
    "pareto": told_pareto,
    "run": told_run,
}


def same(expected: Any, actual: Any) -> bool:
    """Equal; numbers to within 1e-9, words for numbers that JSON cannot write being these numbers."""
    if isinstance(expected, str) and expected in SENTINELS:
        expected = SENTINELS[expected]
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        both_nan = math.isnan(expected) and math.isnan(actual)
        return both_nan or math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(same(expected[key], actual[key]) for key in expected)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return type(expected) is type(actual) and bool(expected == actual)


def rows_of(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines text, each with its ``id``.

    Raises:
        ValueError: a line is no such object.
    """
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            row = json.loads(line)
            if not isinstance(row, dict) or not isinstance(row.get("id"), str):
                raise ValueError(f"line {number} is no object with an id")
            yield row


def run(cases: str, expected: str) -> tuple[int, dict[str, str]]:
    """How many cases there are, and what differs in those that fail.

    Raises:
        ValueError: a text is no JSON Lines, holds no case, or the two do not name the same cases.
    """
    inputs = {row["id"]: row for row in rows_of(cases)}
    values = {row["id"]: row for row in rows_of(expected)}
    if not inputs:
        raise ValueError("there is no case")
    if inputs.keys() != values.keys():
        raise ValueError(f"cases without partner: {', '.join(sorted(inputs.keys() ^ values.keys())[:5])}")
    failed = {}
    for name, case in inputs.items():
        try:
            made = FUNCTIONS[case["fn"]](case["input"])
            want = values[name]["value"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            failed[name] = f"the case lacks something: {type(error).__name__}: {error}"
            continue
        if not same(want, made):
            failed[name] = f"{want!r} expected, {made!r} made"
    return len(inputs), failed


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    if len(argv) != 2:
        print(f"Two files are needed; {USAGE}", file=sys.stderr)
        return 2
    try:
        count, failed = run(*(Path(name).read_text(encoding="utf-8") for name in argv))
    except (OSError, ValueError) as error:
        print(f"{argv[0]} and {argv[1]} cannot be read as cases: {error}; {USAGE}", file=sys.stderr)
        return 2
    for name, found in failed.items():
        print(name)
        print(f"{name}: {found}", file=sys.stderr)
    print(f"{count - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
