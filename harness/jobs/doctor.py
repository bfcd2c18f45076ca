"""What makes numbers noisy on this machine and how long our own start-up takes: facts with advice, nothing changed.

Every finding is one sentence about the machine and, where there is a remedy, one about what to type. Refuses to tune
anything itself and to fail a build: what is measured here depends on the hour.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import get_clock_info
from typing import Any

from harness.jobs.startup import StartUp, measure_all, site_hooks
from harness.measure.clock import clock_overhead_ns
from harness.measure.machine import environment, fingerprint, noise, slug
from harness.record.floors import calibration_fault, calibration_path

__all__ = [
    "Diagnosis",
    "Finding",
    "Severity",
    "diagnose",
    "examine",
    "of_calibration",
    "of_clock",
    "of_environment",
    "of_noise",
    "of_start",
]

_STEAL = 0.01  # one percent of the time taken by the host is as large as the smallest change that a gate looks for
_SLOW_CLOCK_NS = 1_000.0  # a stamp this long is a system call, where a vDSO read costs some tens of ns
_COARSE_CLOCK_NS = 1_000.0  # a value needs 1,000 ticks; ticks of 1 us still leave 5 ms values a hundredfold margin
_FAST_SOURCES = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page")
_SITE_MS = 5.0  # an eighth of the budget of a pair's worker: less than that explains no missed budget
_SLOWING = {
    "PYTHONDEVMODE": "development mode",
    "PYTHONMALLOC": "another allocator",
    "PYTHONTRACEMALLOC": "the tracing of allocations",
    "PYTHONASYNCIODEBUG": "asyncio's debug mode",
    "PYTHONPROFILEIMPORTTIME": "the timing of imports",
    "PYTHONMALLOCSTATS": "statistics of the allocator",
    "PYTHONPERFSUPPORT": "trampolines for perf",
}


class Severity(Enum):
    """How much a finding matters to a number."""

    GOOD = "good"
    NOTE = "note"
    NOISY = "noisy"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact as a sentence, and what to do about it (None where nothing is to be done).

    ``own`` marks what is about loopladder itself, which says nothing of the code that it measures.
    """

    severity: Severity
    fact: str
    advice: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything that was looked at, and what it means. Times in ns."""

    slug: str
    fingerprint: dict[str, Any]
    noise: dict[str, Any]
    environment: dict[str, Any]
    clock: dict[str, float]
    startup: tuple[StartUp, ...]
    findings: tuple[Finding, ...]


def diagnose(root: Path) -> list[Finding]:
    """The findings alone, for the project at ``root``."""
    return list(examine(root).findings)


def examine(root: Path) -> Diagnosis:
    """Look at the machine, the environment, the clock and our own start-up. Takes a few seconds; changes nothing."""
    facts, disturbed, setting = fingerprint(), noise(), environment()
    clock = {"overhead_ns": clock_overhead_ns()[0], "resolution_ns": get_clock_info("perf_counter").resolution * 1e9}
    startup = measure_all(root)
    findings = (
        *of_noise(disturbed, facts),
        *of_environment(setting),
        *of_clock(clock, facts.get("clocksource")),
        *of_start(startup, site_hooks()),
        *of_calibration(calibration_path(root, slug(facts))),
    )
    return Diagnosis(slug(facts), facts, disturbed, setting, clock, startup, findings)


def _load(seen: Mapping[str, Any], cores: int) -> list[Finding]:
    found = []
    if seen.get("load_average") is not None:
        load = seen["load_average"][0]
        fact = f"The load average is {load:g} on {cores} cores."
        if load > cores / 2:  # the gate keeps two workers alive: from here on they share processors with others
            found.append(Finding(Severity.NOISY, fact, "Stop what `top -o %CPU` shows, or measure later."))
        else:
            found.append(Finding(Severity.GOOD, fact))
    if seen.get("running"):
        count = seen["running"]
        fact = f"{count} other {'process is' if count == 1 else 'processes are'} running at this moment."
        found.append(Finding(Severity.NOISY, fact, "See them with `ps -eo stat,pid,comm --sort=-pcpu | grep ^R`."))
    if seen.get("steal") is not None and seen["steal"] > _STEAL:
        fact = f"The host has taken {seen['steal']:.1%} of the processor time since boot."
        found.append(
            Finding(
                Severity.NOISY,
                fact,
                "Take the median of more processes: `python -m harness run --all --full`.",
            )
        )
    if seen.get("swap_used"):
        fact = f"{seen['swap_used'] / 2**20:,.0f} MiB are swapped out."
        found.append(Finding(Severity.NOISY, fact, "Free memory; see `ps -eo rss,comm --sort=-rss | head`."))
    return found


def _processor(seen: Mapping[str, Any], cores: int) -> list[Finding]:
    found = []
    if seen.get("governor") is not None and seen["governor"] != "performance":
        fact = f"The frequency governor is {seen['governor']}, so that clocks rise and fall with the load."
        found.append(Finding(Severity.NOISY, fact, "`sudo cpupower frequency-set -g performance`."))
    if seen.get("turbo"):
        fact = "Turbo is on: speed depends on the temperature and on what other cores do."
        found.append(
            Finding(Severity.NOISY, fact, "`sudo python -m pyperf system tune`; `... system reset` undoes it.")
        )
    if seen.get("smt"):
        fact = "Two hardware threads share each core."
        found.append(
            Finding(Severity.NOTE, fact, "Leave a sibling idle: `taskset -c 0,2 python -m harness run --all`.")
        )
    if seen.get("aslr") is not None and seen["aslr"] != 2:
        fact = f"Address randomisation is at level {seen['aslr']}: all processes share one layout and its bias."
        found.append(Finding(Severity.NOISY, fact, "`sudo sysctl kernel.randomize_va_space=2`."))
    allowed = seen.get("affinity")
    if allowed is not None and len(allowed) < cores:
        fact = f"This process may use {len(allowed)} of {cores} cores."
        found.append(Finding(Severity.NOTE, fact, "See who set it with `taskset -p $$`."))
    if len(allowed or range(cores)) == 1:
        fact = "There is one core: the harness and the code under test take turns on it."
        found.append(Finding(Severity.NOISY, fact, "Measure on two cores or more."))
    return found


def of_noise(seen: Mapping[str, Any], facts: Mapping[str, Any]) -> list[Finding]:
    """What :func:`harness.measure.machine.noise` means on a machine with this fingerprint."""
    cores = facts.get("cores") or 1
    found = [*_load(seen, cores), *_processor(seen, cores)]
    if facts.get("system") != "Linux":
        fact = f"This is {facts.get('system')}; measuring is made for Linux."
        found.append(Finding(Severity.NOTE, fact, "`list`, `explain` and `catalog` serve here as well."))
    where = [
        name for name, key in (("a virtual machine", "virtual_machine"), ("a container", "container")) if seen.get(key)
    ]
    if where:
        fact = (
            f"This is {' and '.join(where)}: neighbours are unseen, and a number is one of this kind of machine only."
        )
        found.append(
            Finding(Severity.NOTE, fact, "Compare runs made here, one after the other: `python -m harness run --all`.")
        )
    unread = sorted(key for key, value in seen.items() if value is None)
    if unread:
        found.append(Finding(Severity.NOTE, f"These could not be read here: {', '.join(unread)}."))
    return found


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


def of_start(startup: tuple[StartUp, ...], hooks: tuple[str, ...]) -> list[Finding]:
    """Our own start-up against its budget, with the interpreter's share; ``hooks`` are .pth files that run code."""
    bare = next((each.median_ns for each in startup if each.budget_ms is None), None)
    found = []
    for each in startup:
        name = _shown(each.name)
        if each.median_ns is None:
            fact = f"{name} could not be timed: {each.error}."
            found.append(Finding(Severity.NOISY, fact, f"Try it: `{each.command}`.", own=True))
            continue
        took = each.median_ns / 1e6
        if each.budget_ms is None:
            found.append(_bare(name, took, each.site_ns, hooks))
            continue
        share = f", {bare / 1e6:.0f} ms of it the interpreter's own" if bare is not None else ""
        fact = f"{name} takes {took:.0f} ms of its budget of {each.budget_ms} ms{share}."
        over = took > each.budget_ms
        advice = (
            f"Find what it imports: `{each.command.replace('python ', 'python -X importtime ', 1)}`." if over else None
        )
        found.append(Finding(Severity.NOISY if over else Severity.GOOD, fact, advice, own=True))
    return found


def of_calibration(file: Path) -> list[Finding]:
    """Whether the floors of this machine can be used, where the project has a file of them."""
    why = calibration_fault(file) if os.path.lexists(file) else None
    if why is None:
        return []
    named = shlex.quote(str(file))
    fact = f"The calibration of this machine, {file}, cannot be used: {why}. No gate would take a floor from it."
    return [Finding(Severity.NOISY, fact, f"Put it back with `git checkout -- {named}`.")]


def _shown(name: str) -> str:
    """What was started, as a user would type it; a worker is started by nobody but us."""
    words = name.removeprefix("harness ")
    if words == name:
        return f"`{name}`"
    if words.startswith("worker"):
        return f"A worker{' with pyperf' if words.endswith('pyperf') else ''}"
    return f"`python -m harness {words}`"


def _bare(name: str, took: float, site_ns: float | None, hooks: tuple[str, ...]) -> Finding:
    """The interpreter alone: every process of any project pays for it, workers included."""
    fact = f"{name} takes {took:.0f} ms"
    if site_ns is None:
        return Finding(Severity.GOOD, fact + ".", own=True)
    fact += f", {max(0.0, site_ns / 1e6):.0f} ms of it for site-packages"
    if not hooks:
        return Finding(Severity.GOOD, fact + ".", own=True)
    files, run = ("the file", "runs") if len(hooks) == 1 else ("the files", "run")
    fact += f"; there {files} {', '.join(hooks)} {run} at every start of Python."
    if site_ns / 1e6 < _SITE_MS:
        return Finding(Severity.NOTE, fact, own=True)
    advice = f"Use an environment without {'it' if len(hooks) == 1 else 'them'}: `python -m venv .venv`."
    return Finding(Severity.NOISY, fact, advice, own=True)
