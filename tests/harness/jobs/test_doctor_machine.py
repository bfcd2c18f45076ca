"""Disturbances of the machine: each is a fact with something to type, and what could not be read is no good news."""

from __future__ import annotations

import pytest

from harness.jobs.doctor_finding import Finding, Severity
from harness.jobs.doctor_machine import of_noise
from tests.harness.jobs.machines import LINUX, QUIET


def only(findings: list[Finding], severity: Severity) -> list[Finding]:
    return [finding for finding in findings if finding.severity is severity]


def test_a_quiet_machine_gets_no_advice() -> None:
    found = of_noise(QUIET, LINUX)
    assert [finding.severity for finding in found] == [Severity.GOOD]
    assert found[0].fact == "The load average is 0.25 on 4 cores."


@pytest.mark.parametrize(
    ("key", "value", "severity", "fact", "advice"),
    [
        ("load_average", [2.5, 0, 0], Severity.NOISY, "The load average is 2.5 on 4 cores.", "`top"),
        ("running", 1, Severity.NOISY, "1 other process is running", "`ps "),
        ("running", 3, Severity.NOISY, "3 other processes are running", "`ps "),
        ("steal", 0.034, Severity.NOISY, "The host has taken 3.4% of", "`python -m harness run --all --full`"),
        ("swap_used", 5 * 2**20, Severity.NOISY, "5 MiB are swapped out.", "`ps "),
        ("governor", "powersave", Severity.NOISY, "governor is powersave", "`sudo cpupower"),
        ("turbo", True, Severity.NOISY, "Turbo is on", "pyperf system tune`"),
        ("smt", True, Severity.NOTE, "Two hardware threads", "`taskset -c 0,2"),
        ("aslr", 0, Severity.NOISY, "randomisation is at level 0", "`sudo sysctl kernel.randomize_va_space=2`"),
        ("affinity", [0, 1], Severity.NOTE, "may use 2 of 4 cores", "`taskset -p"),
        ("container", True, Severity.NOTE, "This is a container:", "`python -m harness run --all`"),
        ("virtual_machine", True, Severity.NOTE, "This is a virtual machine:", "`python -m harness run --all`"),
    ],
)
def test_each_disturbance_is_a_fact_with_something_to_type(
    key: str, value: object, severity: Severity, fact: str, advice: str
) -> None:
    found = [finding for finding in of_noise({**QUIET, key: value}, LINUX) if finding.severity is not Severity.GOOD]
    assert len(found) == 1
    assert found[0].severity is severity
    assert fact in found[0].fact
    assert advice in (found[0].advice or "")


def test_one_core_and_another_system_are_said() -> None:
    assert any(
        "There is one core" in finding.fact for finding in of_noise({**QUIET, "affinity": None}, {**LINUX, "cores": 1})
    )
    assert any("This is Darwin" in finding.fact for finding in of_noise(QUIET, {**LINUX, "system": "Darwin"}))


def test_what_cannot_be_read_is_said_once_and_is_not_good_news() -> None:
    found = of_noise(dict.fromkeys(QUIET), {})
    assert only(found, Severity.GOOD) == []
    named = next(finding.fact for finding in found if "could not be read" in finding.fact)
    assert all(key in named for key in QUIET)
