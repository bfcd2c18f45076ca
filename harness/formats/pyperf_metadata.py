"""The metadata of pyperf's files: which keys have a meaning, and what several runs say alike.

A file stores once what its benches, or the runs of one, have in common; what another tool measured is marked by keys of
its own. Refuses runs that differ in what makes them one sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.formats.bench_json import Node
from harness.formats.limits import FormatError, printable
from kpis.terms.bench import MachineField, Metadata, Process

__all__ = ["MACHINE", "PARAMS", "RESERVED", "SHORT", "TOOL", "TOOL_VERSION", "agreeing", "metadata_of", "shared"]

MACHINE = {
    MachineField.CPU_MODEL: "cpu_model_name",
    MachineField.CPU_COUNT: "cpu_count",
    MachineField.PYTHON_VERSION: "python_version",
    MachineField.PYTHON_IMPLEMENTATION: "python_implementation",
    MachineField.PLATFORM: "platform",
    MachineField.HOSTNAME: "hostname",
}
# Runs that differ in one of these are not one sample; pyperf refuses to put them together too.
_COMMON = ("name", "unit", "inner_loops", "direction", "aslr", *MACHINE.values())
# Where a file made by another tool keeps what pyperf has no place for.
TOOL, TOOL_VERSION, SHORT, PARAMS = "tool", "tool_version", "short_name", "params_sha256"
RESERVED = frozenset(
    {*_COMMON, "loops", "date", "mem_max_rss", "duration", "perf_version", TOOL, TOOL_VERSION, SHORT, PARAMS}
)
"""Metadata with a meaning of its own here; the rest is carried along."""


def metadata_of(node: Node | None) -> dict[str, Any]:
    """The metadata at ``node``, lists of texts as tuples; none where there is no such node.

    Raises:
        FormatError: it is no object of texts, numbers and lists of texts.
    """
    if node is None:
        return {}
    if type(node.value) is not dict:
        raise node.refuse("an object")
    return {key: _fact(Node(value, f"{node.path}.{key}", node.where)) for key, value in node.value.items()}


def _fact(node: Node) -> str | int | float | tuple[str, ...]:
    value = node.value
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise node.refuse("a text, a number or a list of texts")


def agreeing(node: Node, runs: Sequence[Process]) -> Metadata:
    """The metadata of the first run, once all runs agree on what makes them one sample."""
    first = runs[0].metadata
    for index, run in enumerate(runs):
        for key in _COMMON:
            if run.metadata.get(key) != first.get(key):
                raise FormatError(
                    f"{printable(node.where)} cannot be read: {node.path}.runs[{index}] differs from runs[0] in {key}, "
                    "so that they are not one sample; keep such runs in files of their own with "
                    "`python -m pyperf convert`."
                )
    return first


def shared(every: Sequence[Metadata]) -> dict[str, Any]:
    """What all of ``every`` say alike. Type for type: 1 and 1.0 are equal, and hoisting one would lose the other."""
    if not every:
        return {}
    first = every[0]
    return {
        key: value
        for key, value in first.items()
        if all(type(each.get(key)) is type(value) and each.get(key) == value for each in every)
    }
