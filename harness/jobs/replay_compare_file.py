"""Compared arms as the file that ``replay --compare --json`` writes: sorted keys, the same bytes for the same arms.

It has names of arms, cases in counts only, and numbers; no name of a case and no text of a recording.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from harness.formats.limits import encodable
from harness.jobs.replay_compare import MetricPair, PassedWhere
from harness.jobs.replay_compare_arms import Against, ComparedArms, Permuted, Standing
from harness.jobs.replay_compare_context import ComparedContexts
from harness.record.replay import metric_value
from harness.record.replay_compare_schema import SCHEMA
from kpis.formulas.context.gates import GateState

__all__ = ["encode_arms"]

_SAFE = 1 << 53
"""Larger counts are no exact numbers to many readers of JSON."""

Plain = dict[str, object]


def encode_arms(
    compared: ComparedArms, contexts: Sequence[ComparedContexts | None], prices: str, unmatched: int
) -> bytes:
    """The file; ``contexts`` belong to the arms but the first, ``unmatched`` counts verdicts that are on no run."""
    front = compared.front
    whole = {
        "schema": SCHEMA,
        "prices": prices,
        "arms": [_standing(each) for each in compared.standings],
        "against_first": [_against(*each) for each in zip(compared.against, contexts, strict=True)],
        "common_runs": compared.common,
        "front": {
            "frontier": list(map(encodable, front.frontier)),
            "dominated": list(map(encodable, front.dominated)),
            "excluded": {encodable(name): list(why) for name, why in front.excluded.items()},
            "open": {encodable(name): list(why) for name, why in front.open.items()},
        },
        "unmatched": unmatched,
    }
    return json.dumps(whole, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=True).encode("ascii") + b"\n"


def _standing(standing: Standing) -> Plain:
    return {
        "name": encodable(standing.name),
        "runs": standing.runs,
        "attempts": standing.attempts,
        "judged": standing.judged,
        "passed": standing.passed,
        "cost_usd": standing.cost,
        "peak_tokens": standing.peak,
        "success": standing.success,
        "pass_k": [
            {
                "k": each.k,
                "windows": each.windows.value,
                "windows_passed": each.windows.numerator,
                "windows_all": each.windows.denominator,
                "combinations": each.combinations.value,
                "cases": each.combinations.tasks,
                "cases_with_too_few": each.combinations.too_few,
            }
            for each in standing.pass_k
        ],
        "cases_not_judged": standing.unjudged_cases,
    }


def _against(against: Against, context: ComparedContexts | None) -> Plain:
    found = against.compared
    return {
        "name": encodable(against.name),
        "pairs": found.pairs,
        "unpaired": found.unpaired,
        "repeated": found.repeated,
        "run_pairs": found.run_pairs,
        "pairs_in_run_pairs": found.within,
        "metrics": _metrics(found.metrics),
        "passed": _passed(found.passed),
        "permutation": None if against.permuted is None else _permutation(against.permuted),
        "parity": against.parity.value,
        "dominance": against.dominance.value,
        "workloads": against.workloads,
        "workloads_unknown": against.unknown,
        "context": None if context is None else _context(context),
    }


def _metrics(pairs: Sequence[MetricPair]) -> Plain:
    return {
        pair.row.id: {
            "reference": metric_value(pair.reference),
            "candidate": metric_value(pair.candidate),
            "pairs": pair.pairs,
            "deltas": list(pair.deltas),
            "median": pair.median,
            "interval": None if pair.interval is None else asdict(pair.interval),
            "tally": None if pair.tally is None else asdict(pair.tally),
        }
        for pair in pairs
    }


def _passed(passed: PassedWhere) -> Plain:
    return {
        "both": passed.table.both_pass,
        "reference_only": passed.table.reference_only,
        "candidate_only": passed.table.candidate_only,
        "neither": passed.table.both_fail,
        "not_judged": passed.unjudged,
        "undecided": passed.undecided,
        "without_partner": passed.alone,
        "non_inferior": passed.non_inferior.value,
    }


def _permutation(found: Permuted) -> Plain:
    test = found.test
    return {
        "observed": test.observed,
        "p": test.p,
        "exact": test.exact,
        "labellings": test.total if test.total <= _SAFE else None,
        "labellings_log10": math.log10(test.total),
        "blocks": found.blocks,
        "lacking": found.lacking,
    }


def _context(found: ComparedContexts) -> Plain:
    return {
        "pairs": found.pairs,
        "unpaired": found.unpaired,
        "unlike": found.unlike,
        "unlike_in": list(found.conditions),
        "gates": {
            name: [{state.value: arm[state] for state in GateState} for arm in arms]
            for name, arms in found.gates.items()
        },
        "metrics": _metrics(found.metrics),
        "passed": _passed(found.passed),
        "available": found.available.value,
    }
