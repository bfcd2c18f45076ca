"""Runs the planner against a file of stores: spans, scores, the plan of each objective, the greedy view and its faults.

A fault is the demand for each span that the greedy view does not hold, made on that view and on no other.

``python -m tests.conformance.planner FILE ...`` prints the name of each case that fails (``#index`` where it has
none) and what differed, then ``N passed, M failed``. Exit 0: all passed; 1: some failed; 2: a file was unreadable.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seams.contract.turn import COVERAGE, EXACT, GREEDY, Forecast, Plan, Weights
from seams.turn.paging import demand_page
from seams.turn.planner import ReferencePlanner
from seams.turn.spans import SpanStore, durability_of, utility_of
from seams.turn.view import materialize

OBJECTIVES = (GREEDY, EXACT, COVERAGE)
SPAN_FIELDS = ("id", "step", "role", "descriptor", "digest", "bytes", "durability")
SELECTED_FIELDS = ("id", "step", "role", "descriptor", "cost", "benefit", "density", "pinned")
ELIDED_FIELDS = ("id", "step", "role", "digest", "cost", "benefit", "reason")
PLAN_FIELDS = ("budget", "objective", "candidates", "cost_used", "pinned_tokens", "benefit", "over_budget")
RENDERED_FIELDS = ("id", "step", "role", "descriptor", "bytes", "tokens")
REFUSED_FIELDS = ("id", "step", "role", "reason")
FAULT_FIELDS = ("id", "step", "role", "status", "reason", "tokens")
WITNESS_FIELDS = (
    "candidates",
    "resident",
    "elided",
    "recoverable",
    "resident_tokens",
    "elided_tokens",
    "partition",
    "faithful",
    "rendered",
    "refused",
    "reconciled",
    "cost_contract",
)


def same(expected: object, actual: object) -> bool:
    """Equal; numbers to within 1e-9, an absent mark being false and an absent reason none."""
    if isinstance(expected, float) or isinstance(actual, float):
        return math.isclose(float(expected or 0), float(actual or 0), rel_tol=1e-9, abs_tol=1e-9)  # type: ignore[arg-type]
    return expected == actual or (expected is None and actual is False)


def rows(
    what: str, expected: Sequence[Mapping[str, Any]] | None, actual: Sequence[Any], fields: Sequence[str]
) -> Iterator[str]:
    """What differs between recorded rows and records, in order."""
    expected = expected or []
    if len(expected) != len(actual):
        yield f"{what}: {len(expected)} expected, {len(actual)} made"
        return
    for row, (want, made) in enumerate(zip(expected, actual, strict=True)):
        for field in fields:
            if not same(want.get(field), getattr(made, field)):
                yield f"{what}[{row}].{field}: {want.get(field)!r} expected, {getattr(made, field)!r} made"


def plan_differs(what: str, want: Mapping[str, Any], plan: Plan) -> Iterator[str]:
    """What differs between a recorded plan and ``plan``."""
    for field in PLAN_FIELDS:
        if not same(want[field], getattr(plan, field)):
            yield f"{what}.{field}: {want[field]!r} expected, {getattr(plan, field)!r} made"
    yield from rows(f"{what}.selected", want["selected"], plan.selected, SELECTED_FIELDS)
    yield from rows(f"{what}.elided", want["elided"], plan.elided, ELIDED_FIELDS)


def differences(case: Mapping[str, Any], defaults: Mapping[str, float]) -> Iterator[str]:
    """Everything in which the reference planner departs from ``case``; ``defaults`` are the weights of one without."""
    store = SpanStore()
    for add in case["adds"]:
        utility = utility_of(add.get("attrs"))
        durability = durability_of(add["durability"])
        store.add(add["role"], add["body"], durability, sealed=add.get("sealed", False), utility=utility)
    yield from rows("spans", case["spans"], store.spans, (*SPAN_FIELDS, "sealed"))

    given = case["forecast"]
    weights = Weights(**{**dict.fromkeys(Weights._fields, 0.0), **(given.get("weights") or {})})
    if not any(weights):
        yield from rows("default_weights", [defaults], [Weights()], list(defaults))
    words = {key: tuple(given.get(key) or ()) for key in ("intents", "pins", "releases")}
    forecast = Forecast(horizon=given["horizon"], weights=weights, **words)

    planner = ReferencePlanner()
    candidates = planner.candidates(store.spans, forecast)
    yield from rows("candidates", case["candidates"], candidates, ("cost", "benefit"))
    yield from rows(
        "candidates.cell",
        [each["cell"] for each in case["candidates"]],
        [each.cell for each in candidates],
        SPAN_FIELDS,
    )
    plans = {
        objective: planner.optimize(candidates, case["budget"]["tokens"], forecast.pins, forecast.releases, objective)
        for objective in OBJECTIVES
    }
    for objective, made in plans.items():
        yield from plan_differs(f"plans.{objective}", case["plans"][objective], made)
    yield from plan_differs("plan_cells", case["plan_cells"], plans[GREEDY])

    view = materialize(plans[GREEDY], store.page_in)
    yield from rows("rendered", case["rendered"], view.rendered, RENDERED_FIELDS)
    yield from rows("refused", case["refused"], view.refused, REFUSED_FIELDS)
    yield from rows("witness", [case["witness"]], [view.witness], WITNESS_FIELDS)

    held = {each.id for each in view.rendered}
    faults = [demand_page(view, span.id, store)[1] for span in store.spans if span.id not in held]
    wanted = [{"tokens": 0, **each} for each in case["faults"] or []]
    yield from rows("faults", wanted, faults, FAULT_FIELDS)


def run(blob: str) -> tuple[int, dict[str, list[str]]]:
    """How many cases there are, and what differs in those that fail.

    Raises:
        ValueError: the text is no JSON, or holds no list of cases.
    """
    document = json.loads(blob)
    defaults = document.get("default_weights", {}) if isinstance(document, dict) else {}
    cases = document.get("cases") if isinstance(document, dict) else None
    if not isinstance(cases, list) or not cases:
        raise ValueError('there is no list under "cases"')
    failed = {}
    for index, case in enumerate(cases):
        try:
            found = list(differences(case, defaults))
        except (AttributeError, KeyError, TypeError) as error:
            found = [f"the case lacks something: {type(error).__name__}: {error}"]
        if found:
            failed[case.get("name", f"#{index}") if isinstance(case, dict) else f"#{index}"] = found
    return len(cases), failed


def main(argv: list[str]) -> int:
    """The runner; see the module's documentation."""
    total = failures = 0
    if not argv:
        print("No file was named. Run: python -m tests.conformance.planner FILE ...", file=sys.stderr)
        return 2
    for name in argv:
        try:
            count, failed = run(Path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            print(f"{name} cannot be read: {error}. Run: python -m tests.conformance.planner FILE ...", file=sys.stderr)
            return 2
        total, failures = total + count, failures + len(failed)
        for case, found in failed.items():
            print(case)
            print(f"{case}: {'; '.join(found[:5])}", file=sys.stderr)
    print(f"{total - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
