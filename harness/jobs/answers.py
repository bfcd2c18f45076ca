"""Whether an answer has the shape that its question asks for, be it a worker's or one read back from a journal.

A probe shares its process with the worker, and a journal is a file that anybody may have edited: neither may break
the run that reads it. Says what is missing in a few words; refuses to mend an answer and to look at what it means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.measure.clock import ENGINES
from harness.measure.handed import SOURCES

__all__ = ["answer_fault", "journalled"]

Test = Callable[[Any], bool]


def _number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**64 and math.isfinite(value)
    )


def _positive(value: Any) -> bool:
    return _number(value) and value > 0


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_number, value))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _digests(value: Any) -> bool:
    return isinstance(value, dict) and all(item is None or isinstance(item, str) for item in value.values())


def _said(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in ("reason", "detail"))


def _pyperf(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        return False
    warmups = value.get("warmups")
    paired = isinstance(warmups, list) and all(
        isinstance(pair, list) and len(pair) == 2 and _count(pair[0]) and _number(pair[1]) for pair in warmups
    )
    return paired and _numbers(value.get("values")) and all(map(_positive, value["values"]))


def _calls(value: Any) -> bool:
    return isinstance(value, dict) and all(edge.isdecimal() and _count(times) for edge, times in value.items())


def _rated(value: Mapping[str, Any]) -> bool:
    return _positive(value["numerator"]) and _positive(value["denominator"]) and _texts(value["evidence"])


_ALWAYS: dict[str, Test] = {"seconds": lambda value: _number(value) and value >= 0}
_IF_THERE: dict[str, Test] = {
    "printed": _count,
    "touched": _digests,
    "notices": _texts,
    "p99_ns": _number,
    "calls": _calls,
    "stamp_ns": _number,
    "checked": lambda value: isinstance(value, bool),
    "work": lambda value: isinstance(value, dict) and all(map(_count, value.values())),
}
_SLICE: dict[str, Test] = {
    "engine": lambda value: isinstance(value, str) and value in ENGINES,
    "source": lambda value: value is None or (isinstance(value, str) and value in SOURCES),
}
_TALLY = ("numerator", "denominator", "reasons", "excluded", "knobs", "basis", "source", "evidence", "clocked")
_RATIO = ("numerator", "denominator", "evidence")
_COUNTED: dict[str, Test] = {"tally": lambda value: isinstance(value, dict) and set(_TALLY) == set(value)}
_TASKS: dict[str, dict[str, Test]] = {
    "calibrate": {"loops": lambda value: _count(value) and value > 0},
    "measure": {
        "values_ns": lambda value: _numbers(value) and all(map(_positive, value)),
        "cpu_ns": _numbers,
        "process_ns": _number,
        "overhead_share": _number,
        "pyperf": _pyperf,
    },
    "ratio": {
        "ratio": lambda value: isinstance(value, dict) and set(value) == set(_RATIO) and _rated(value),
        "rounds": lambda value: isinstance(value, dict) and all(map(_numbers, value.values())),
    },
}


def answer_fault(task: str, *, timed: bool, answer: Any) -> str | None:
    """The part of ``answer`` to ``task`` that is missing or not what it should be; None where it is whole."""
    if not isinstance(answer, dict):
        return "the whole of it"
    if "undefined" in answer:
        wanted: Mapping[str, Test] = {"undefined": _said}
    elif task in ("discover", "tally"):
        arms = task == "discover" and answer.get("slice") == "parts"
        wanted = _SLICE if timed or arms else _COUNTED
    else:
        wanted = _TASKS[task]
    fault = _first({**_ALWAYS, **wanted}, answer, [*_ALWAYS, *wanted])
    return fault or _first(_IF_THERE, answer, [name for name in _IF_THERE if name in answer])


def _first(tests: Mapping[str, Test], answer: Mapping[str, Any], names: Iterable[str]) -> str | None:
    return next((name for name in names if name not in answer or not tests[name](answer[name])), None)


def journalled(entries: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The answers of a journal by the question, as text; an entry that is none is passed over, and asked again.

    Whether an answer fits its question is looked at when the question is asked (:func:`answer_fault`).
    """
    found: dict[str, dict[str, Any]] = {}
    for entry in entries:
        name, answer = entry.get("asked"), entry.get("answer")
        if not isinstance(name, str) or not isinstance(answer, dict):
            continue
        if _first({**_ALWAYS, **_IF_THERE}, answer, [*_ALWAYS, *(key for key in _IF_THERE if key in answer)]) is None:
            found[name] = answer
    return found
