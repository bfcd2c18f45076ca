"""What the interpreter is set to, and what the clock that it reads costs: what they do to every timing of a run.

Refuses to list settings that no timing feels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.jobs.doctor_finding import Finding, Severity

__all__ = ["of_clock", "of_environment"]

_SLOW_CLOCK_NS = 1_000.0  # a stamp this long is a system call, where a vDSO read costs some tens of ns
_COARSE_CLOCK_NS = 1_000.0  # a value needs 1,000 ticks; ticks of 1 us still leave 5 ms values a hundredfold margin
_FAST_SOURCES = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_SLOWING = {
    "PYTHONDEVMODE": "development mode",
    "PYTHONMALLOC": "another allocator",
    "PYTHONTRACEMALLOC": "the tracing of allocations",
    "PYTHONASYNCIODEBUG": "asyncio's debug mode",
    "PYTHONPROFILEIMPORTTIME": "the timing of imports",
    "PYTHONMALLOCSTATS": "statistics of the allocator",
    "PYTHONPERFSUPPORT": "trampolines for perf",
}


def of_environment(setting: Mapping[str, Any]) -> list[Finding]:
    """What the interpreter's flags and variables mean."""
    found = []
    variables = setting.get("variables", {})
    for name, what in _SLOWING.items():
        if variables.get(name):
            found.append(Finding(Severity.NOISY, f"{name} is set: {what} changes every timing.", f"`unset {name}`."))
    if variables.get("PYTHONHASHSEED") not in (None, "random"):
        fact = "PYTHONHASHSEED is fixed: all processes of a run share one hash seed, and its bias is not seen."
        found.append(Finding(Severity.NOTE, fact, "`unset PYTHONHASHSEED`."))
    if setting.get("debug_build"):
        fact = "This interpreter is a debug build: its timings are not those of users."
        found.append(
            Finding(Severity.NOISY, fact, "Use a release build; `python -c 'import sysconfig as s; print(s)'`.")
        )
    return found


def of_clock(clock: Mapping[str, float], clocksource: str | None) -> list[Finding]:
    """What the measured clock means: what one stamp costs, how fine a tick is, and where it is read from."""
    overhead, resolution = clock["overhead_ns"], clock["resolution_ns"]
    named = f" from {clocksource}" if clocksource else ""
    fact = f"One stamp of the clock costs {overhead:.0f} ns; it ticks every {resolution:g} ns{named}."
    slow = overhead > _SLOW_CLOCK_NS or resolution > _COARSE_CLOCK_NS
    if not slow and (clocksource is None or clocksource in _FAST_SOURCES):
        return [Finding(Severity.GOOD, fact)]
    look = "`cat /sys/devices/system/clocksource/clocksource0/available_clocksource`"
    return [Finding(Severity.NOISY, fact, f"Single calls drown in it; see {look} for a faster one.")]
