"""Settings of the interpreter and its clock: what is said of those that timings feel."""

from __future__ import annotations

import pytest

from harness.jobs.doctor_finding import Severity
from harness.jobs.doctor_interpreter import of_clock, of_environment


def test_a_plain_interpreter_gets_no_advice() -> None:
    assert of_environment({"variables": {}, "debug_build": False}) == []


@pytest.mark.parametrize("name", ["PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONTRACEMALLOC", "PYTHONASYNCIODEBUG"])
def test_variables_that_slow_python_down_are_noisy(name: str) -> None:
    (found,) = of_environment({"variables": {name: "1"}})
    assert found.severity is Severity.NOISY
    assert found.advice == f"`unset {name}`."


def test_a_fixed_hash_seed_and_a_debug_build_are_said() -> None:
    assert of_environment({"variables": {"PYTHONHASHSEED": "random"}}) == []
    (seed,) = of_environment({"variables": {"PYTHONHASHSEED": "0"}})
    assert seed.severity is Severity.NOTE
    (debug,) = of_environment({"debug_build": True})
    assert debug.severity is Severity.NOISY


@pytest.mark.parametrize(
    ("overhead", "resolution", "source", "severity"),
    [
        (40.0, 1.0, "tsc", Severity.GOOD),
        (40.0, 1.0, None, Severity.GOOD),
        (1500.0, 1.0, "tsc", Severity.NOISY),
        (40.0, 15.6e6, None, Severity.NOISY),
        (400.0, 1.0, "hpet", Severity.NOISY),
    ],
)
def test_a_slow_or_coarse_clock_is_noisy(
    overhead: float, resolution: float, source: str | None, severity: Severity
) -> None:
    (found,) = of_clock({"overhead_ns": overhead, "resolution_ns": resolution}, source)
    assert found.severity is severity
    assert f"{overhead:.0f} ns" in found.fact
