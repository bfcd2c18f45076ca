"""Numbers of different units or directions are never put into one ratio, and better is what the file says is better."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.formats.limits import FormatError
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import noise, pyperf

RATE = {"unit": "integer", "direction": "higher"}
TIME = {"unit": "second"}


def side(by: float, seed: int, **metadata: Any) -> dict[str, Any]:
    return pyperf({"t": [value * by for value in noise(40, seed=seed)]}, **metadata)


# https://github.com/benchmark-action/github-action-benchmark/issues/365: operations a second, smaller taken for better.
@pytest.mark.parametrize(
    ("more", "by", "code", "state"),
    [
        (RATE, 1.3, Exit.OK, "improved"),
        (RATE, 0.7, Exit.FAILED, "regressed"),
        (TIME, 1.3, Exit.FAILED, "regressed"),
        (TIME, 0.7, Exit.OK, "improved"),
        ({"unit": "integer"}, 1.3, Exit.UNKNOWN, "inconclusive"),
    ],
)
def test_a_rate_that_rises_passes_and_a_time_that_rises_does_not(
    more: dict[str, Any], by: float, code: Exit, state: str, gate_from: Judged
) -> None:
    done, found = gate_from(side(1.0, 1, **more), side(by, 2, **more))
    assert (done, found["rows"][0]["state"]) == (code, state)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ({"unit": "second"}, {"unit": "byte"}, "unit differs: second against byte"),
        (RATE, {"unit": "integer", "direction": "lower"}, "direction differs: higher against lower"),
        (RATE, {"unit": "integer"}, "direction differs: higher against neutral"),
    ],
)
def test_a_unit_or_direction_that_changed_is_no_baseline(
    old: dict[str, Any], new: dict[str, Any], field: str, gate_from: Judged
) -> None:
    done, found = gate_from(side(1.0, 1, **old), side(1.0, 2, **new))
    assert (done, found["rows"][0]["state"], found["rows"][0]["evidence"]) == (Exit.NO_BASELINE, "no-baseline", [field])


@pytest.mark.parametrize("unit", ["ms", "us", "seconds", ""])
def test_milliseconds_are_refused_and_not_read_as_seconds(unit: str, gate_from: Judged) -> None:
    """Against microseconds they would make a ratio of a thousand, or hide one."""
    with pytest.raises(FormatError, match=r"b\.json .*unit must be second, byte or integer"):
        gate_from(side(1.0, 1), side(1.0, 2, unit=unit))
