"""What is asserted, with its evidence and how sure it is; and the one verdict that claims compose to.

Gates, ratchets, replays and evaluations answer in these two shapes. A claim says that its rule fired, stayed quiet or
could not tell; it refuses to say pass or fail. A verdict says pass, fail or unknown, on what basis and because of
which claims; ``passed`` is no field, so that it cannot contradict the state.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = [
    "Claim",
    "ClaimKind",
    "ClaimState",
    "Confidence",
    "Coverage",
    "Evidence",
    "Gap",
    "Risk",
    "Uncertainty",
    "UncertaintyBasis",
    "Verdict",
    "VerdictBasis",
    "VerdictState",
]


class ClaimKind(Enum):
    """What kind of assertion a rule makes."""

    MEASUREMENT = "measurement"  # a number beside the verdict: it never decides
    DETECTION = "detection"  # a statement that may be wrong at a stated rate
    POLICY = "policy"  # a limit that somebody set, or an exact count: true by definition


class ClaimState(Enum):
    """Whether the rule found what it looks for."""

    FIRED = "fired"
    QUIET = "quiet"
    UNKNOWN = "unknown"


class Gap(Enum):
    """Why a claim is unknown."""

    INCONCLUSIVE = "inconclusive"
    VOID = "void"
    NO_BASELINE = "no-baseline"
    REMOVED = "removed"
    NEW = "new"  # there is nothing yet to compare with, and nothing is owed


class UncertaintyBasis(Enum):
    """Where the error rate of a claim is known from."""

    PUBLISHED_ACCURACY = "published_accuracy"
    DEFINITION = "definition"
    UNMEASURED = "unmeasured"


class VerdictState(Enum):
    """What the judge says."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


class VerdictBasis(Enum):
    """The layer that decided."""

    POLICY_GATE = "policy_gate"
    DETECTOR_VETO = "detector_veto"
    CRITICAL_UNKNOWN = "critical_unknown"
    REQUIRED_EVIDENCE_MISSING = "required_evidence_missing"
    RISK_OVER_LOSS = "risk_over_loss"
    CLEAN = "clean"
    NO_RULES = "no_rules"


class Confidence(Enum):
    """Whether the deciding numbers lie clear of the line that they are held against."""

    DECISIVE = "decisive"
    MARGINAL = "marginal"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a claim rests on: a place in an artifact (``pointer``), or a sentence.

    Raises:
        ValueError: neither a pointer nor a text, or a pointer into an artifact without its hash.
    """

    artifact: str | None = None
    pointer: str | None = None
    text: str | None = None

    def __post_init__(self) -> None:
        if self.pointer is None and self.text is None:
            raise ValueError("Evidence is a pointer or a text; this one has neither.")
        if self.pointer is not None and self.artifact is None:
            raise ValueError(f"The pointer {self.pointer!r} needs the sha256 of the artifact that it points into.")


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """How sure a claim is.

    ``at_least`` and ``at_most`` bound the worsening as a fraction (.03: 3 % worse; negative: better), 97.5 % each.
    ``smallest_visible`` as in a comparison. ``table`` is the sha256 of the published accuracy that ``basis`` names.
    """

    basis: UncertaintyBasis
    alpha: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    smallest_visible: float | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if (self.basis is UncertaintyBasis.PUBLISHED_ACCURACY) is (self.table is None):
            raise ValueError("A published accuracy names its table by sha256, and nothing else does.")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was wanted was seen: pairs of a point, points of a gate. ``missing`` are names."""

    wanted: int
    seen: int
    missing: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing that was wanted is missing."""
        return self.seen >= self.wanted and not self.missing


@dataclass(frozen=True, slots=True)
class Claim:
    """One assertion of one rule; ``rule`` is the id of a KPI point or of an evaluation rule.

    Raises:
        ValueError: an unknown claim without its gap, or a gap beside a claim that is known.
    """

    rule: str
    kind: ClaimKind
    state: ClaimState
    critical: bool = False
    gap: Gap | None = None
    evidence: tuple[Evidence, ...] = ()
    uncertainty: Uncertainty | None = None
    coverage: Coverage | None = None

    def __post_init__(self) -> None:
        if (self.state is ClaimState.UNKNOWN) is (self.gap is None):
            raise ValueError(f"{self.rule}: a claim says why it is unknown, and only then.")


@dataclass(frozen=True, slots=True)
class Risk:
    """The probability that an output or a trajectory is bad, with its interval. A gate of KPIs has none."""

    p_bad: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Pass, fail or unknown; on what basis; by which rules; how close to the line."""

    state: VerdictState
    basis: VerdictBasis
    by: tuple[str, ...] = ()
    risk: Risk | None = None
    confidence: Confidence | None = None

    @property
    def passed(self) -> bool:
        """Whether the state is pass: unknown is not."""
        return self.state is VerdictState.PASS
