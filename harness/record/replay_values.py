"""Parts of the replay file as plain values: files, reported facts, findings, attribution, turns.

Names of projects and branches stay out of it, and what a call was about unless attribution by it was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.formats.limits import encodable
from kpis.formulas.recorded.carried import CarriedParts
from kpis.formulas.recorded.ledger import TurnLedger
from kpis.formulas.recorded.pricing import PICO
from kpis.terms.trace import Issue, Recording, RunFacts

__all__ = ["attribution_value", "facts_value", "issue_value", "recording_value", "turn_value"]

_PRIVATE = ("project", "branch", "places")
_MONEY = ("initial_cost", "carried_cost", "output_cost")
_COUNTS = ("runs", "runs_timed", "untimed")
"""Fields of a ledger that are no times."""


def attribution_value(parts: CarriedParts) -> dict[str, Any]:
    """The rows by key in dollars and tokens, what they add up to, and what is in none."""
    rows: dict[str, Mapping[str, float | int]] = {
        encodable(key): {name: value / PICO if name in _MONEY else value for name, value in asdict(row).items()}
        for key, row in parts.rows.items()
    }
    return {
        "rows": rows,
        "prompt": parts.prompt,
        "output": parts.output,
        "cost_usd": parts.cost / PICO,
        "derived_tokens": parts.derived,
        "requests_without_price": parts.unpriced,
        "requests_without_prompt": parts.unknown,
        "calls_without_size": parts.unsized,
    }


def turn_value(turn: TurnLedger) -> dict[str, Any]:
    """One turn, its times in milliseconds."""
    times = {name: ms for name, ms in asdict(turn.parts).items() if name not in _COUNTS}
    return {"index": turn.index, "start": turn.start, "file": turn.file, "line": turn.line, "ms": times}


def recording_value(recording: Recording) -> dict[str, Any]:
    """One file."""
    plain = asdict(recording)
    for private in _PRIVATE:
        plain.pop(private)
    return {**plain, "unknown_kinds": dict(recording.unknown_kinds)}


def facts_value(facts: RunFacts) -> dict[str, Any]:
    """What a recording says of the whole run."""
    plain = asdict(facts)
    plain["by_model"] = [
        {"model": each.model, "requests": each.requests, "cost_usd": each.cost_usd, "tokens": _tokens(each.tokens)}
        for each in facts.by_model
    ]
    return plain


def _tokens(tokens: Any) -> dict[str, int | None]:
    plain = asdict(tokens)
    plain.pop("provenance")
    return plain


def issue_value(issue: Issue) -> dict[str, Any]:
    """One finding."""
    return {**asdict(issue), "severity": issue.severity.value, "code": issue.code.value}
