"""What a recorded run held to be true, what was shown of it, and what machine checks found.

Later events of one anchor or key replace earlier ones; ``seq`` orders them among all events of the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kpis.terms.context_words import Authority, Lifecycle, StateOp

__all__ = ["Anchor", "OracleVerdict", "Presented", "ShownValue", "StateChange", "VerdictOracle"]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What the run's state says of one anchor from here on; a later event of the same id replaces it."""

    seq: int
    anchor_id: str
    kind: str
    authority: Authority
    lifecycle: Lifecycle
    source_seq: int | None = None
    provenance_ok: bool | None = None


@dataclass(frozen=True, slots=True)
class StateChange:
    """A value of a key was set, superseded (by ``superseded_by``, where that is said) or retired."""

    seq: int
    key: str
    op: StateOp
    value: Any
    superseded_by: Any = None


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value that was presented as the current one of its key."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class Presented:
    """What was put before the model (at a request or in a checkpoint) or stood in the end (``at`` is ``final``)."""

    seq: int
    at: str
    anchors: tuple[str, ...] | None = None
    values: tuple[ShownValue, ...] | None = None


@dataclass(frozen=True, slots=True)
class VerdictOracle:
    """Which machine check spoke; its other fields stay with who ran it."""

    type: str


@dataclass(frozen=True, slots=True)
class OracleVerdict:
    """What a machine check found. ``passed`` is None where it could not be run."""

    seq: int
    oracle: VerdictOracle
    hard: bool
    critical: bool
    applicable: bool
    passed: bool | None
    detail: str = ""
