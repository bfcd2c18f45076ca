"""What the machine's own disturbances mean for a number: others at work, the processor's clocks, where it runs.

Refuses to take what could not be read for good news.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.jobs.doctor_finding import Finding, Severity

__all__ = ["of_noise"]

_STEAL = 0.01  # one percent of the time taken by the host is as large as the smallest change that a gate looks for


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
