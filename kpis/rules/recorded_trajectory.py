"""Loops and failures in the steps of a recorded run, of which digests and endings are known and no text.

Threads do not mix: the same call in two of them is two calls. Refuses to call a repeat a loop where its result changed,
or where its tool is one that waits: that is polling, or progress. Refuses to take a failure for made good by a call
that was made before it had failed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from kpis.rules.recorded_asking import Said, claim_of, either, no_answer
from kpis.rules.recorded_steps import Ending, Step
from kpis.rules.tool_failure import TOOL_FAILURE
from kpis.rules.tool_loop import MOST_CYCLES, TOOL_LOOP
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, EvidenceItem, ToolCall, ToolCallAt
from kpis.terms.evaluation_settings import Settings

__all__ = ["failures", "loops"]

_OWNED_UP = "failed"
"""An output that owns up: the best that can be assumed of one that is not known."""


def loops(steps: Sequence[Step], settings: Settings) -> Said:
    """Whether a thread goes in circles: same tool, same arguments, same result."""
    asked = [None if step.waits else step.asked for step in steps]
    unseen = {key for key, step in zip(asked, steps, strict=True) if step.got is None} - {None}
    keys: list[object] = [
        at if key is None or step.got is None else (key, step.got)
        for at, (key, step) in enumerate(zip(asked, steps, strict=True))
    ]
    told = claim_of(TOOL_LOOP, _case("", steps, keys, settings))
    if told.state is not ClaimState.QUIET:
        return Said(told)
    unsaid = sum(step.asked is None and not step.waits for step in steps)
    if unsaid and len(steps) > 1:  # they may be any call: what they repeat has no worst case short of a loop
        return no_answer(f"tool or arguments of {unsaid} of {len(steps)} tool calls")
    if not unseen:
        return Said(told)
    told = claim_of(
        TOOL_LOOP,
        _case("", steps, [ask if ask in unseen else key for ask, key in zip(asked, keys, strict=True)], settings),
    )
    # One call whose result flips to and fro is a round of two, which cannot be seen where both count as the same.
    flips = max(Counter(key for key in asked if key in unseen).values()) >= 2 * (MOST_CYCLES + 1)
    if told.state is ClaimState.QUIET and not flips:
        return Said(told)
    return no_answer("whether the results of repeated calls were the same")


def failures(steps: Sequence[Step], settings: Settings) -> Said:
    """Whether a failure was hidden.

    One after which the same call worked hides nothing; of any other the run's own words would have to be known.
    """
    failed = [at for at, step in enumerate(steps) if step.ending is Ending.FAILED]
    unknown = [at for at, step in enumerate(steps) if step.ending is Ending.UNKNOWN]
    good = _made_good(steps, {*failed, *unknown})
    # The rule goes by order alone, so it is shown what went wrong first, and as equal what made it good by its time.
    order = sorted(range(len(steps)), key=lambda at: steps[at].ending not in (Ending.FAILED, Ending.UNKNOWN))
    shown = [steps[at] for at in order]
    keys: list[object] = [
        step.asked if at in good or (step.ending is Ending.WORKED and step.asked is not None) else at
        for at, step in zip(order, shown, strict=True)
    ]
    best = _case(_OWNED_UP, shown, keys, settings, {Ending.FAILED})
    told = either(TOOL_FAILURE, best, _case("", shown, keys, settings, {Ending.FAILED, Ending.UNKNOWN}))
    if told is not None:
        return Said(replace(told, evidence=tuple(_at_its_place(item, order) for item in told.evidence)))
    left = [at for at in failed if at not in good]
    if not left and not unknown:  # without its correction the rule counts a failure that was made good as well
        left = failed
    missing = []
    if left:
        missing.append(f"whether the run owns up to {len(left)} of {len(steps)} tool calls, which failed")
    if unknown:
        missing.append(f"how {len(unknown)} of {len(steps)} tool calls ended")
    places = tuple(ToolCallAt(at, steps[at].name, steps[at].outcome) for at in (*left, *unknown))
    return no_answer(", and ".join(missing), places)


def _made_good(steps: Sequence[Step], bad: Set[int]) -> set[int]:
    """Those of ``bad`` after whose end the same call was made in the same thread and worked.

    Later is by time where both times are known and differ, else by order.
    """
    last: dict[object, int] = {}
    undated: dict[object, int] = {}
    dated: dict[object, tuple[int, int]] = {}
    for at, step in enumerate(steps):
        if step.ending is not Ending.WORKED or step.asked is None:
            continue
        last[step.asked] = at
        if step.began is None:
            undated[step.asked] = at
        else:
            dated[step.asked] = max((step.began, at), dated.get(step.asked, (step.began, at)))

    def is_made_good(at: int) -> bool:
        step = steps[at]
        known = step.began if step.ended is None else step.ended
        if known is None:
            return last.get(step.asked, -1) > at
        return undated.get(step.asked, -1) > at or dated.get(step.asked, (known, at)) > (known, at)

    return {at for at in bad if is_made_good(at)}


def _at_its_place(item: EvidenceItem, order: Sequence[int]) -> EvidenceItem:
    return replace(item, index=order[item.index]) if isinstance(item, ToolCallAt) else item


def _case(
    output: str, steps: Sequence[Step], keys: Sequence[object], settings: Settings, bad: Set[Ending] = frozenset()
) -> Case:
    """The steps as the rules take them: two calls have the same input where their keys are equal."""
    numbers: dict[object, int] = {}
    calls = [
        ToolCall(
            step.name,
            str(numbers.setdefault(key, len(numbers))),
            error=step.outcome if step.ending in bad else None,
        )
        for step, key in zip(steps, keys, strict=True)
    ]
    return Case(output, tool_calls=tuple(calls), settings=settings)
