"""One replay of a trace over a fast path: what was answered, by whom, and whether those answers can be believed.

A hit is held to what the engine gives for the same call, or to what is known without any engine. Classes, counters and
tokens are summed as they came; a hit and a refusal report no tokens, so that a saving of them is of engine calls.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.syscall._sound import writes
from harness.probes.syscall._trace import HINTS, fresh
from seams.contract.syscall import Counters, Result, ToolCall, Verdict
from seams.contract.verdict import VerdictKind

__all__ = ["Served", "replay_of", "require_answers"]

_TIERS = {"1": "pure", "2": "dedup", "3": "static"}
_AIRPORTS = {"airports": ["SFO", "JFK", "LAX", "ORD", "SEA", "BOS", "ATL", "DFW"]}
"""What the table that is served before any policy holds."""


class Served(NamedTuple):
    """The results in the order of the calls, the class of each, and the kernel's counters."""

    results: Sequence[Result]
    classes: Sequence[str]
    counters: Counters

    def hits(self) -> Mapping[str, int]:
        """Hits by tier."""
        tiers = (_TIERS.get(result.meta.get("tier", ""), "other") for result in self.results if _hit(result))
        return dict(Counter(tiers))

    def tokens(self) -> tuple[int, int]:
        """Input and output tokens that the engine reported.

        Raises:
            WorkNotDoneError: what it reported is no count.
        """
        return _sum(self.results, "input_tokens"), _sum(self.results, "output_tokens")

    def told(self, arm: str) -> tuple[str, str]:
        """Counters with tokens, and classes, as two sentences of evidence."""
        of, (given, made) = self.counters, self.tokens()
        classes = ", ".join(f"{count} {name}" for name, count in sorted(Counter(self.classes).items()))
        return (
            f"{arm}: {of.submits} submits, {of.vdso_hits} hits, {of.engine_calls} engine calls, {of.denies} denies, "
            f"{of.transforms} transforms, {of.quarantines} quarantines; {given} input and {made} output tokens",
            f"{arm} by class: {classes}",
        )


async def replay_of(kernel: Any, calls: Sequence[ToolCall]) -> Served:
    """Submit and reap every call once.

    Raises:
        WorkNotDoneError: the kernel's counters do not account for every call.
    """
    results: list[Result] = []
    classes: list[str] = []
    for call in calls:
        result, verdict = await settled(kernel.syscall(fresh(call)))
        results.append(result)
        classes.append(_class(result, verdict))
    counters: Counters = await settled(kernel.counters())
    served = sum(map(_hit, results))
    settled_calls = counters.vdso_hits + counters.denies + counters.engine_calls
    if counters.submits != len(calls) or settled_calls != len(calls):
        raise WorkNotDoneError(
            f"of {len(calls)} calls the kernel submitted {counters.submits} and settled {settled_calls}"
        )
    accounted = counters.admitted + counters.quarantines + counters.result_denies + counters.engine_errors
    if counters.engine_calls != accounted:
        raise WorkNotDoneError(f"of {counters.engine_calls} engine calls the gates account for {accounted}")
    if counters.vdso_hits != served:
        raise WorkNotDoneError(f"the kernel counts {counters.vdso_hits} hits and {served} results say so")
    return Served(results, classes, counters)


def require_answers(calls: Sequence[ToolCall], on: Served, off: Served) -> None:
    """Hold every hit of ``on`` against ``off``, the same calls with lookups off.

    Raises:
        WorkNotDoneError: a call was answered that may not be, or with other bytes than the engine's.
    """
    known: defaultdict[tuple[str, str], set[bytes]] = defaultdict(set)
    for call, result in zip(calls, off.results, strict=True):
        known[_key(call)].add(result.payload)
    for number, (call, result) in enumerate(zip(calls, on.results, strict=True)):
        if not _hit(result):
            if "admit" in result.meta:  # what a gate left in place of a body is numbered, and may be kept as a read
                known[_key(call)].add(result.payload)
            continue
        hinted = all(call.meta.get(name) == value for name, value in HINTS.items())
        static = call.tool == "list_all_airports" or result.meta.get("tier") == "3"
        if writes(call) or not (hinted or static):
            raise WorkNotDoneError(f"the fast path answered call {number}, which is no read that says so")
        if result.payload not in known[_key(call)] and not _computed(call, result.payload):
            raise WorkNotDoneError(
                f"the fast path answered call {number} with {len(result.payload)} bytes that no engine gives for it"
            )


def _hit(result: Result) -> bool:
    return result.meta.get("served_by") == "vdso"


def _class(result: Result, verdict: Verdict) -> str:
    if result.meta.get("admit") == "quarantined":
        return "quarantine"
    if verdict.kind == VerdictKind.DENY or result.meta.get("verdict") == "deny":
        return "deny"
    if _hit(result):
        return _TIERS.get(result.meta.get("tier", ""), "other")
    return "grammar" if verdict.kind == VerdictKind.TRANSFORM and verdict.by == "grammar" else "pass"


def _sum(results: Sequence[Result], name: str) -> int:
    counts = [result.meta.get(name, "0") for result in results]
    if not all(count.isascii() and count.isdecimal() and len(count) < 16 for count in counts):
        raise WorkNotDoneError(f"a result reports {name} that are no count")
    return sum(map(int, counts))


def _key(call: ToolCall) -> tuple[str, str]:
    """Calls that ask for the same: the order of the arguments does not matter, 1 and 1.0 do."""
    try:
        return call.tool, json.dumps(json.loads(call.args), sort_keys=True)
    except (ValueError, RecursionError):
        return call.tool, call.args.decode(errors="replace")


def _computed(call: ToolCall, payload: bytes) -> bool:
    """Whether ``payload`` is the answer that is known of such a call without asking any engine."""
    try:
        told, args = json.loads(payload), json.loads(call.args)
        if call.tool == "list_all_airports":
            return bool(told == _AIRPORTS)
        return call.tool == "calculate" and bool(told == {"sum": float(args["a"]) + float(args["b"])})
    except (ValueError, RecursionError, TypeError, LookupError, OverflowError):
        return False
