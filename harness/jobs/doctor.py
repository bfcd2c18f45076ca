"""What makes numbers noisy on this machine and how long our own start-up takes: facts with advice, nothing changed.

Every finding is one sentence about the machine and, where there is a remedy, one about what to type. Refuses to tune
anything itself and to fail a build: what is measured here depends on the hour.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from time import get_clock_info
from typing import Any

from harness.jobs.doctor_finding import Finding, Severity
from harness.jobs.doctor_interpreter import of_clock, of_environment
from harness.jobs.doctor_machine import of_noise
from harness.jobs.doctor_start import of_start
from harness.jobs.startup import StartUp, measure_all, site_hooks
from harness.measure.clock import clock_overhead_ns
from harness.measure.machine import environment, fingerprint, noise, slug
from harness.record.floors import calibration_fault, calibration_path

__all__ = ["Diagnosis", "examine", "of_calibration"]


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


def of_calibration(file: Path) -> list[Finding]:
    """Whether the floors of this machine can be used, where the project has a file of them."""
    why = calibration_fault(file) if os.path.lexists(file) else None
    if why is None:
        return []
    named = shlex.quote(str(file))
    fact = f"The calibration of this machine, {file}, cannot be used: {why}. No gate would take a floor from it."
    return [Finding(Severity.NOISY, fact, f"Put it back with `git checkout -- {named}`.")]
