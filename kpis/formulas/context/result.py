"""The result record of one run: every metric as a number or as null with its reason, each with its basis.

The one source of what is shown of a run; tables are made from it. The same run gives the same record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kpis.terms.context_run import ContextRun
from kpis.terms.metric import Metric, MetricClass, MetricRow

__all__ = ["SCHEMA", "metric_record", "result_record"]

SCHEMA = "loopladder.context-result/1"


def metric_record(metric: Metric) -> dict[str, Any]:
    """One metric as plain values; every key is there, null where it does not apply."""
    return {
        "value": metric.value,
        "reason": metric.undefined,
        "basis": metric.basis.value,
        "numerator": metric.numerator,
        "denominator": metric.denominator,
        "low": metric.low,
        "high": metric.high,
        "detail": dict(sorted(metric.detail.items())),
        "notes": list(metric.notes),
    }


def result_record(run: ContextRun, metrics: Mapping[str, Metric], rows: Mapping[str, MetricRow]) -> dict[str, Any]:
    """The record of ``run``: who ran what, and its ``metrics`` by class and id. Issues stand beside, never inside.

    Raises:
        KeyError: a metric has no row.
    """
    header = run.header
    by_class: dict[str, dict[str, Any]] = {each.value: {} for each in MetricClass}
    for metric_id in sorted(metrics):
        by_class[rows[metric_id].metric_class.value][metric_id] = metric_record(metrics[metric_id])
    return {
        "schema": SCHEMA,
        "run": header.run_id,
        "case": header.case_id,
        "arm": header.arm,
        "replicate": header.replicate,
        "pair_key": header.pair_key,
        "model": header.model,
        "provider": header.provider,
        "harness_rev": header.harness_rev,
        "policy_rev": header.policy_rev,
        "semantic_mode": header.semantic_mode,
        "tokenizer": {"id": header.tokenizer.id, "basis": header.tokenizer.basis.value},
        "window_tokens": header.window_tokens,
        "concurrency": header.concurrency,
        "outcome": None if run.end is None else run.end.outcome.value,
        "metrics": by_class,
        "issues": [
            {**asdict(issue), "severity": issue.severity.value, "code": issue.code.value} for issue in run.issues
        ],
    }
