"""Duplicate work: a call that repeats an earlier one while nothing that it depends on has changed since.

Whether something changed is rarely recorded, so there are two bounds. Below: every call whose effect is not known may
have changed everything. Above: only calls that declare a write did. Where a recording gives the version of the
environment on both sides, that decides. Polling repeats by design and is left out; a call that writes is never work
done twice by this rule. Refuses to give one number where the bounds differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kpis.formulas.recorded.families import family_of
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import Outcome, ToolCall, ToolOp

__all__ = ["Duplicate", "DuplicateParts", "duplicate_parts", "duplicates", "effect_of"]

_HARMLESS = (ToolOp.READ, ToolOp.SEARCH, ToolOp.LIST, ToolOp.WEB, ToolOp.PLAN, ToolOp.RECALL)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A repeat and the call that it repeats. ``certain``: it is one by the lower bound too."""

    call: ToolCall
    earlier: ToolCall
    certain: bool


@dataclass(frozen=True, slots=True)
class DuplicateParts(Summed):
    """What one run adds: ``calls`` that could repeat something, and of them the repeats by either bound and family.

    ``unkeyed`` are calls without recorded arguments, each of which may be a repeat or make one more of a later call.
    """

    calls: int = 0
    lower: int = 0
    upper: int = 0
    polling: int = 0
    unkeyed: int = 0
    lower_by_family: dict[str, int] = field(default_factory=dict)
    upper_by_family: dict[str, int] = field(default_factory=dict)


def effect_of(call: ToolCall) -> bool | None:
    """Whether the call changes what others read: True, False, or None where that is not known."""
    if call.mutates is not None:
        return call.mutates
    if call.op is ToolOp.WRITE:
        return True
    return False if call.op in _HARMLESS else None


def _in_order(view: RunView) -> Sequence[ToolCall]:
    """All calls as they happened: threads of a run share an environment, so where times are known they interleave."""
    calls = view.run.calls
    if len(view.kinds) < 2 or any(call.t_start is None for call in calls):
        return calls
    return sorted(calls, key=lambda call: call.t_start or 0)


def duplicates(view: RunView) -> Iterator[Duplicate]:
    """Every call that repeats an earlier one of its thread, by the upper bound; those of the lower bound are marked."""
    keys = [call.arg_digest or call.target for call in view.run.calls]
    if len(set(keys)) == len(keys):
        return
    last: dict[tuple[str, int, str], tuple[ToolCall, int, int]] = {}
    surely = perhaps = 0  # how often something was written; how often anything may have been
    for call in _in_order(view):
        if call.polling:
            continue
        effect = effect_of(call)
        said = call.arg_digest or call.target
        if said is not None and call.in_conversation:
            key = (call.thread_id, id(call.op), said)  # an enumeration's own hash is slow, and a member is one object
            before = last.get(key)
            if before is not None and not effect and not call.copied:
                same = _recorded(before[0], call)
                above = before[1] == surely if same is None else same
                below = before[2] == perhaps if same is None else same
                if above:
                    yield Duplicate(call, before[0], below)
            if call.outcome in (Outcome.OK, Outcome.ERROR):
                last[key] = (call, surely, perhaps)
        surely += effect is True
        perhaps += effect is not False


def _recorded(earlier: ToolCall, call: ToolCall) -> bool | None:
    """Whether the environment is recorded to be as the earlier call left it; None where it is not recorded."""
    left = earlier.environment_after or earlier.environment_before
    found = call.environment_before or call.environment_after
    return None if left is None or found is None else left == found


def duplicate_parts(view: RunView) -> DuplicateParts:
    """The duplicate-work parts of one run."""
    kept = [call for call in view.calls if call.in_conversation]
    polling = [call.polling for call in kept].count(True)
    keyed = [call.polling or call.arg_digest is not None or call.target is not None for call in kept]
    bare = [] if all(keyed) else [call for call, known in zip(kept, keyed, strict=True) if not known]
    below: dict[str, int] = {}
    above: dict[str, int] = {}
    for found in duplicates(view):
        family = family_of(found.call.op).value
        above[family] = above.get(family, 0) + 1
        if found.certain:
            below[family] = below.get(family, 0) + 1
    return DuplicateParts(
        calls=len(kept) - polling,
        lower=sum(below.values()),
        upper=sum(above.values()),
        polling=polling,
        unkeyed=sum(not effect_of(call) for call in bare),
        lower_by_family=below,
        upper_by_family=above,
    )
