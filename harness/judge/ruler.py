"""Whether the machine ran at another speed than in the sessions on record, by a fixed piece of work that is no KPI.

Speaks of the machine alone: what it says takes the timings of a run out of the judgement, and passes or fails none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.judge.predicted import shift_of
from harness.judge.ratchet_limit import LIMIT_ALPHA
from harness.judge.ratchet_row import LEAST_SESSIONS
from harness.judge.rule import DELTA

__all__ = ["ruler_off"]


def ruler_off(sessions: Sequence[float], now: Sequence[float]) -> str | None:
    """Why this run's timings are another machine speed's; None where its ruler says nothing of the kind.

    ``sessions`` are ruler times of different sessions, ``now`` those of this run, both in ns. Either of the latter
    beyond the record's own reach at the level of a limit, and by more than 2 % (a change that nobody is asked about),
    is off. Below five sessions nothing can be said.
    """
    if len(sessions) < LEAST_SESSIONS or min((*sessions, *now), default=0.0) <= 0:
        return None
    logs = [math.log(value) for value in sessions]
    for when, value in zip(("start", "end"), now, strict=False):
        shift = shift_of(logs, [math.log(value)])
        if shift is None:
            continue
        margin = max(shift.reach(LIMIT_ALPHA), math.log1p(DELTA))
        if abs(shift.size) > margin:
            change = math.expm1(shift.size)
            word = "slower" if change > 0 else "faster"
            return (
                f"at the {when} of the run a fixed piece of work took {100 * change:+.1f} % against {len(sessions)} "
                f"sessions ({100 * math.expm1(margin):.1f} % would be chance): the machine was {word}, not the code"
            )
    return None
