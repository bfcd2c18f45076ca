"""The closed vocabularies of the syscall floor: verdict kinds with their rank, reasons, statuses, witnesses, taint.

Numbers only. How a reason is named, looked up and registered is in ``seams.syscall.reasons``, the ranks of
out-of-tree kinds are in ``seams.syscall.fold``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from types import MappingProxyType

__all__ = [
    "FOLD_RANK",
    "TAINT_RANK",
    "UNKNOWN_RANK",
    "Disposition",
    "ReasonCode",
    "Status",
    "Taint",
    "VerdictKind",
    "Witness",
]


class VerdictKind(IntEnum):
    """What may be done with a call or a result. Up to 1023 reserved; out-of-tree kinds begin at 1024."""

    ALLOW = 0
    DENY = 1
    TRANSFORM = 2
    QUARANTINE = 3
    REQUIRE_WITNESS = 4
    DEFER = 5
    INDETERMINATE = 6


FOLD_RANK: Mapping[int, int] = MappingProxyType(
    {
        VerdictKind.ALLOW: 0,
        VerdictKind.DEFER: 10,
        VerdictKind.INDETERMINATE: 15,
        VerdictKind.TRANSFORM: 20,
        VerdictKind.QUARANTINE: 30,
        VerdictKind.REQUIRE_WITNESS: 40,
        VerdictKind.DENY: 100,
    }
)
"""How restrictive a kind is: of several verdicts the highest rank wins."""

UNKNOWN_RANK = 100
"""The rank of a kind that nobody registered: as restrictive as a deny."""


class ReasonCode(IntEnum):
    """The closed vocabulary of refusals. Numbers are never reused; out-of-tree reasons begin at 1024."""

    NONE = 0
    DEFAULT_DENY = 1
    POLICY_BLOCK = 2
    SELF_MODIFY = 3
    LEASE_HELD = 4
    TRUST_VIOLATION = 5
    MALFORMED = 6
    MISROUTE = 7
    RATE_LIMITED = 8
    SECRET_EXFIL = 9
    UNWITNESSED = 10
    OVERSIZE = 11
    UNKNOWN_TOOL = 12
    RESULT_SECRET_DISCOVERED = 13  # reserved: raised by nothing here


class Disposition(Enum):
    """What the caller may do about a refusal."""

    RETRYABLE = "retryable"
    WAIT = "wait"
    ESCALATE = "escalate"
    TERMINAL = "terminal"


class Status(IntEnum):
    """How a call ended."""

    OK = 0
    ERROR = 1
    PENDING = 2


class Witness(Enum):
    """What a resolver found out about a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Taint(IntEnum):
    """How far a body may be believed. What says nothing of itself is tainted, so the numbers are no order."""

    TAINTED = 0
    TRUSTED = 1
    QUARANTINED = 2


TAINT_RANK: Mapping[int, int] = MappingProxyType({Taint.TRUSTED: 0, Taint.TAINTED: 1, Taint.QUARANTINED: 2})
"""The order of taint: a mark only ever rises in it. A label that is not in it counts as tainted."""
