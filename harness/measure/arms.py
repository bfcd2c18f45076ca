"""Times the arms of a ratio: part by part, round by round, all in one process.

Both sides see the same machine in the same seconds, and no part is stamped that the probe did not name. It adds up what
it stamped and leaves it to the probe which parts make a side; ratios of the same parts may share their rounds. Part of
the worker: standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.measure.clock import Arms, Undefined, clock_fault, is_async, stamp
from harness.measure.handed import described, tally_fault
from harness.measure.opening import Opened, Refused, refusal, refused
from harness.measure.timing import Loop, stamp_async

__all__ = ["run", "time_round"]


def time_round(measured: Arms, loop: Loop) -> dict[str, int]:
    """The ns of one round by part; checked after the clock.

    Raises:
        WorkNotDoneError: from ``check``. Whatever else the probe raises passes through.
    """
    parts = list(measured.parts())
    stamps: list[int] = []
    calls: list[Callable[[], Any]] = [call for _, call in parts]
    waits = any(map(is_async, calls))
    result = loop.run(stamp_async(calls, stamps)) if waits else stamp(iter(calls), stamps)
    measured.check(result)
    spent: dict[str, int] = {}
    for (name, _), ns in zip(parts, stamps, strict=True):
        spent[name] = spent.get(name, 0) + ns
    return spent


def run(job: Mapping[str, Any], opened: Opened) -> dict[str, Any]:
    """The ratio of ``values`` rounds of this process, as plain JSON values.

    ``beside`` has, by KPI, the answers of those that were opened with it, of the same rounds.

    Raises:
        Refused: a side takes no time that this clock could tell, or what the probe made of the rounds is no ratio.
    """
    rounds = [time_round(opened.what, opened.loop) for _ in range(job["values"])]
    answer = _answer(opened.what, rounds)
    if opened.beside:
        answer["beside"] = {name: _beside(what, rounds) for name, what in opened.beside.items()}
    return answer


def _beside(what: Any, rounds: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    try:
        if isinstance(what, Undefined):
            raise refused(what)
        return _answer(what, rounds)
    except Exception as error:  # whatever it is, it is of that ratio alone
        return refusal(error)


def _answer(what: Any, rounds: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    plain = described(what.ratio(rounds))
    fault = tally_fault(plain)
    sides = (plain["numerator"], plain["denominator"])
    if fault is None and not (sides[1] and sides[0] > 0):
        fault = f"The arms took {sides[0]!r} and {sides[1]!r} ns, which makes no ratio."
    if fault is not None:
        raise Refused("bad-value", fault)
    for side in sides:
        if (short := clock_fault(side)) is not None:
            raise Refused("too-short", short)
    return {"ratio": {name: plain[name] for name in ("numerator", "denominator", "evidence")}, "rounds": _sums(rounds)}


def _sums(rounds: Sequence[Mapping[str, int]]) -> dict[str, list[int]]:
    """Every part's ns, round by round."""
    return {name: [spent[name] for spent in rounds if name in spent] for name in sorted(set().union(*rounds))}
