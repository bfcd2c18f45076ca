"""Which facts of a machine a stored number belongs to, and which of them differ now.

A count needs the workload (in its row), the interpreter and the dependencies; a time needs the processor and the kernel
besides. Refuses to take a fact that only one side states for being equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["EXACT", "TIME", "differing", "stated"]

EXACT = ("dependencies_sha256", "implementation", "python")
"""What a count belongs to; keys of :func:`harness.measure.machine.fingerprint`."""

TIME = ("architecture", "cores", "cpu_flags_sha256", "cpu_model", "kernel")
"""What a time belongs to besides. One model name covers several makes of processor, and their flags tell them apart."""


def stated(facts: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, str | int]:
    """Those of ``names`` that ``facts`` state, as a file holds them."""
    return {name: facts[name] for name in names if facts.get(name) is not None}


def differing(recorded: Mapping[str, Any], facts: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """One phrase for each of ``names`` in which ``facts`` differ from what is ``recorded``."""
    return [
        f"{name} differs: {_shown(recorded.get(name))} on record, {_shown(facts.get(name))} in this run"
        for name in names
        if recorded.get(name) != facts.get(name)
    ]


def _shown(fact: Any) -> str:
    if fact is None:
        return "not stated"
    text = str(fact)
    return text[:12] if len(text) == 64 else text  # a digest
