"""What a rule declares of itself and what it found in a case: values only; the case is told from here as well.

A rule turns a case into a ``RuleClaim``: it fired, it stayed quiet, or it skipped and says why. It refuses to say pass
or fail; the judge composes a verdict from findings. All places in texts count UTF-16 code units, as the published
schema does: one emoji is two.
"""

from __future__ import annotations

from dataclasses import dataclass

from kpis.terms.claim import ClaimState
from kpis.terms.evaluation_case import ABSENT, Absent, Case, CustomRule, TokenCounts, ToolCall
from kpis.terms.evaluation_words import (
    Bundle,
    FailureClass,
    Mechanism,
    Need,
    Question,
    RuleKind,
    SkipClass,
    ThresholdSource,
)

__all__ = [
    "ABSENT",
    "Absent",
    "Case",
    "Citation",
    "Count",
    "CustomRule",
    "EvidenceItem",
    "Finding",
    "Pattern",
    "RuleClaim",
    "RuleFacts",
    "Skip",
    "Span",
    "TokenCounts",
    "ToolCall",
    "ToolCallAt",
    "Value",
]


@dataclass(frozen=True, slots=True)
class Value:
    """The statistic that a rule measured."""

    stat: str
    unit: str
    value: float


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch ``start`` up to ``end`` of the text ``source`` (``output``), in UTF-16 units; it holds no text."""

    source: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """A named sign and how often it was seen, where a place cannot be given."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ToolCallAt:
    """The call number ``index`` of the trajectory, from nought."""

    index: int
    tool_name: str
    label: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that was looked up, and what came of it. No rule here makes one: they look nothing up."""

    url: str
    status: str


@dataclass(frozen=True, slots=True)
class Count:
    """A statistic beside the number that it was held against, and who chose that number."""

    stat: str
    unit: str
    value: float
    threshold: float | None = None
    source: ThresholdSource | None = None


EvidenceItem = Span | Pattern | ToolCallAt | Citation | Count


@dataclass(frozen=True, slots=True)
class Skip:
    """Why a rule gave no answer, as a class and as a sentence."""

    skip_class: SkipClass
    reason: str


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What a rule declares of itself, whatever it is shown.

    ``needs`` is what it looks at, ``classes`` the failures that it looks for, ``critical`` its own word on whether its
    firing alone decides; ``rule_id`` is that of a deployed rule and ``custom`` says that somebody wrote it.
    ``definition`` is the digest of what such a rule says, which has no version.
    """

    name: str
    bundle: Bundle
    weight: float
    kind: RuleKind
    mechanism: Mechanism
    needs: tuple[Need, ...]
    question: Question | None
    classes: tuple[FailureClass, ...]
    critical: bool = False
    version: int = 1
    custom: bool = False
    rule_id: str | None = None
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class RuleClaim:
    """What one rule found in one case. ``state`` is fired, quiet, or unknown, and ``skip`` says why it is unknown.

    ``score`` is 0 to 1, and 1 when quiet. That of a skipped rule never counts: it is 0, or 1 where the skip itself
    reads as nothing wrong. ``note`` is one sentence for people.

    Raises:
        ValueError: a claim that is unknown without its skip, or a skip beside one that is known.
    """

    state: ClaimState
    score: float
    note: str
    value: Value | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    skip: Skip | None = None

    def __post_init__(self) -> None:
        if (self.state is ClaimState.UNKNOWN) is (self.skip is None):
            raise ValueError("A rule says why it gave no answer, and only then.")


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's claim with what the settings make of the rule: what the judge composes.

    ``critical`` is the effective one, ``critical_by_config`` says that a list decided it; ``saw`` are those of the
    rule's needs that the case carried, as the rule lists them. ``told_version`` is the version that the answer names
    where that is not the rule's own.
    """

    rule: RuleFacts
    claim: RuleClaim
    critical: bool
    critical_by_config: bool
    saw: tuple[Need, ...]
    told_version: int | None = None

    @property
    def version(self) -> int:
        """The version of the rule, as the answer names it."""
        return self.rule.version if self.told_version is None else self.told_version
