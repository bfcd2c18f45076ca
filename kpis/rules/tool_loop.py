"""Does the trajectory go in circles: one call again and again, or the same round of calls.

Counts identical calls over the whole trajectory, in a row or not, and looks for rounds only where no call alone is too
many. The reference sees rounds of two calls; longer ones are ours. Refuses to judge whether a repeat was worth it:
results are not compared; and whether calls are the same whose inputs were not sent.
"""

from __future__ import annotations

import math
from collections import Counter

from kpis.rules.call_key import call_keys
from kpis.rules.claims import fired, quiet, skipped
from kpis.rules.cycles import Cycle, longest_alternation, longest_cycle
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import Threshold, ThresholdError, threshold
from kpis.rules.tool_failure import without_trajectory
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import ABSENT, Count, EvidenceItem, RuleClaim, RuleFacts, ToolCall, ToolCallAt, Value
from kpis.terms.evaluation_words import (
    MOST_EVIDENCE,
    Bundle,
    Correction,
    FailureClass,
    Mechanism,
    Need,
    Question,
    RuleKind,
    ThresholdSource,
)

__all__ = ["MOST_CYCLES", "TOOL_LOOP"]

MOST_REPEATS = 3
MOST_CYCLES = 2
_EACH = 0.25
"""What each call or round too many takes from the score."""

_REPEATS = "max_repeats_of_one_call"


def _most_repeats(subject: Subject) -> Threshold:
    """How often one call may be made. For the reference its own number stands where a choice is none from 1 on.

    Raises:
        ThresholdError: the choice is no number from 1 on.
    """
    own = Threshold(MOST_REPEATS, ThresholdSource.DEFAULT)
    try:
        chosen = threshold(subject.case.settings, MOST_REPEATS, "max_tool_repeats")
        if chosen.value < 1:
            raise ThresholdError(f"max_tool_repeats is set to {chosen.value:g}, and has to be 1 or more")
    except ThresholdError:
        if subject.has(Correction.REPEATS_ARE_COUNTED):
            raise
        return own
    most = math.floor(chosen.value)
    if most == MOST_REPEATS and not subject.has(Correction.SOURCE_BY_KEY):
        return own
    return Threshold(most, chosen.source)


def _evaluate(subject: Subject) -> RuleClaim:
    if (skip := without_trajectory(subject)) is not None:
        return skip
    calls = subject.case.tool_calls or ()
    most = _most_repeats(subject)
    differ = subject.has(Correction.UNSENT_INPUT_IS_UNKNOWN)
    keys = call_keys(calls, whole=subject.has(Correction.LONG_INPUTS_DIFFER), unsent_differ=differ)
    found = _circles(subject, calls, keys, most)
    unsent = {call.tool_name for call in calls if call.input is ABSENT} if differ else set()
    if not unsent or found.state is not ClaimState.QUIET:
        return found
    # At worst all calls of such a tool are one; what one tool does to and fro is then not seen, and counts by itself.
    merged = [call.tool_name if call.tool_name in unsent else key for call, key in zip(calls, keys, strict=True)]
    flips = max(Counter(call.tool_name for call in calls if call.tool_name in unsent).values()) >= 2 * (MOST_CYCLES + 1)
    if flips or _circles(subject, calls, merged, most).state is not ClaimState.QUIET:
        return skipped(f"the input of {sum(call.input is ABSENT for call in calls)} of {len(calls)} calls was not sent")
    return found


def _circles(subject: Subject, calls: tuple[ToolCall, ...], keys: list[str], most: Threshold) -> RuleClaim:
    """Whether calls are made too often, or go in rounds, where equal ``keys`` are the same call."""
    worst, count = Counter(keys).most_common(1)[0]
    value = Value(_REPEATS, "calls", count)
    counted = Count(_REPEATS, "calls", count, most.value, most.source)
    if count > most.value:
        return fired(
            f"One call was made {count} times, over {most.value:g}",
            score=max(0.0, 1 - _EACH * (count - most.value)),
            value=value,
            evidence=[counted, *_at(calls, [i for i, key in enumerate(keys) if key == worst], "repeated call")],
        )
    two = longest_alternation(keys)
    if two is not None and two.rounds > MOST_CYCLES:
        pair = set(keys[two.start : two.start + 2])
        return _round(
            two, "two_call_cycles", calls, [i for i, key in enumerate(keys) if key in pair], "alternating call"
        )
    if subject.has(Correction.CYCLE_OF_ANY_PERIOD):
        longer = longest_cycle(keys, MOST_CYCLES + 1)
        if longer is not None:
            return _round(longer, "call_cycles", calls, list(range(longer.start, longer.end)), "call of a round")
    return quiet(
        f"The most frequent of {len(calls)} tool calls was made {count} times", value=value, evidence=[counted]
    )


def _round(cycle: Cycle, stat: str, calls: tuple[ToolCall, ...], places: list[int], label: str) -> RuleClaim:
    counted = Count(stat, "cycles", cycle.rounds, MOST_CYCLES, ThresholdSource.RULE)
    return fired(
        f"The same {cycle.period} calls came {cycle.rounds} times in turn, over {MOST_CYCLES}",
        score=max(0.0, 1 - _EACH * (cycle.rounds - MOST_CYCLES)),
        value=Value(stat, "cycles", cycle.rounds),
        evidence=[counted, *_at(calls, places, label)],
    )


def _at(calls: tuple[ToolCall, ...], places: list[int], label: str) -> list[EvidenceItem]:
    return [ToolCallAt(index, calls[index].tool_name, label) for index in places[: MOST_EVIDENCE - 1]]


TOOL_LOOP = Rule(
    RuleFacts(
        "no_tool_loop",
        Bundle.COST,
        1.0,
        RuleKind.DETECTION,
        Mechanism.FORMULA,
        (Need.TOOL_CALLS,),
        Question.TOOL_USE_CORRECT,
        (FailureClass.TOOL_LOOP,),
    ),
    _evaluate,
)
