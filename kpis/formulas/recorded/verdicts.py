"""Tallies of what became of calls and requests: errors, denials, interrupts, and what was never answered.

An orphan is a result whose call is not in the recording, and an unanswered call one whose result is not: neither is an
error of the agent's, and neither is counted as one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from kpis.formulas.recorded.ledger_spans import TURN_CLOCK
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import EventKind, Outcome, RequestStatus

__all__ = ["VerdictParts", "verdict_parts"]


@dataclass(frozen=True, slots=True)
class VerdictParts(Summed):
    """What one run adds. ``answered`` calls are the base of the error ratio: ok, error, denied, timeout, interrupted.

    ``denied_reported`` is what recordings say of whole runs, kept apart from the calls that were counted.
    """

    calls: int = 0
    answered: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    error_classes: dict[str, int] = field(default_factory=dict)
    failed_exits: int = 0
    requests: dict[str, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    denied_reported: int = 0

    def count(self, outcome: Outcome) -> int:
        """Calls with that outcome."""
        return self.outcomes.get(outcome.value, 0)


_COUNTED_EVENTS = (
    EventKind.ABORT,
    EventKind.RETRY,
    EventKind.ERROR,
    EventKind.RATE_LIMIT,
    EventKind.PERMISSION,
    EventKind.REWIND,
    EventKind.HOOK,
)


def verdict_parts(view: RunView) -> VerdictParts:
    """The verdict parts of one run."""
    became = [call.outcome for call in view.calls]
    outcomes = {outcome.value: n for outcome in Outcome if (n := became.count(outcome))}
    classes = Counter([call.error_class for call in view.calls if call.error_class is not None])
    ended = [request.status for request in view.billed]
    ended += [request.status for request in view.synthetic]
    kinds = [event.kind for event in view.run.events if event.detail != TURN_CLOCK]
    unanswered = outcomes.get(Outcome.UNANSWERED.value, 0)
    orphans = outcomes.get(Outcome.ORPHAN.value, 0)
    return VerdictParts(
        calls=len(became) - orphans,
        answered=len(became) - orphans - unanswered,
        outcomes=outcomes,
        error_classes=dict(classes),
        failed_exits=sum(map(bool, [call.exit_code for call in view.calls])),
        requests={status.value: n for status in RequestStatus if (n := ended.count(status))},
        events={kind.value: n for kind in _COUNTED_EVENTS if (n := kinds.count(kind))} if kinds else {},
        denied_reported=sum(facts.denied or 0 for facts in view.facts),
    )
