"""What a deployment chose about evaluation: thresholds, criticality, how a verdict is composed.

Everything has a default, and every default is a recommendation. The two criticality lists are kept as they came, so
that whoever checks them can name each entry that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kpis.terms.evaluation_words import Correction, Need

__all__ = [
    "COMPOSERS",
    "DEFAULT_PRIOR",
    "ON_SKIPPED",
    "PRIOR_MODES",
    "PROFILES",
    "THRESHOLD_LISTS",
    "THRESHOLD_NUMBERS",
    "Settings",
]

DEFAULT_PRIOR = 0.5

COMPOSERS = ("risk", "legacy")
ON_SKIPPED = ("unknown", "fail", "pass")
PRIOR_MODES = ("per-output", "per-class")

THRESHOLD_NUMBERS = (
    "min_output_length",
    "min_length",
    "min_sentences",
    "keyword_overlap",
    "topic_consistency",
    "topic_consistency_min_words",
    "cost_threshold",
    "max_token_ratio",
    "max_tool_repeats",
)
"""The keys under which a built-in rule looks for a number of one's own; the first two are one."""

THRESHOLD_LISTS = ("blocklist", "stub_markers")
"""The keys under which a built-in rule looks for texts of one's own."""

PROFILES: Mapping[str, Mapping[str, float]] = {
    "server": {
        "cost_threshold": 0.1,
        "keyword_overlap": 0.35,
        "max_token_ratio": 5,
        "max_tool_repeats": 3,
        "min_output_length": 50,
        "min_sentences": 2,
        "topic_consistency": 0.33,
    }
}
"""Thresholds that a deployment sets without its user setting them: a third reads .33 there, and so as configured."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of one evaluation.

    ``rule_thresholds`` are the deployment's numbers by key, ``per_call`` those of this call, which win; a value is kept
    as it came, of whatever type. ``critical_rules`` and ``non_critical_rules`` name rules that are promoted and
    demoted. ``false_pass_cost`` is what a bad output that passes costs, in good outputs that are blocked.
    ``on_critical_skipped`` is one of ``ON_SKIPPED``; ``defaults_gate`` lets shipped thresholds decide. ``prior`` is the
    chance that an output is bad before anything looks at it, None where nobody set it.
    """

    threshold: float = 0.7
    rule_thresholds: Mapping[str, object] = field(default_factory=dict)
    per_call: Mapping[str, object] = field(default_factory=dict)
    critical_rules: object = ()
    non_critical_rules: object = ()
    composer: str = "risk"
    false_pass_cost: float = 1.0
    on_critical_skipped: str = "unknown"
    required_evidence: tuple[Need, ...] = ()
    defaults_gate: bool = False
    prior: float | None = None
    prior_mode: str = "per-output"
    corrections: frozenset[Correction] = frozenset(Correction)

    @property
    def prior_chance(self) -> float:
        """The prior that holds: the one that was set, else the one that ships."""
        return DEFAULT_PRIOR if self.prior is None else self.prior

    def has(self, correction: Correction) -> bool:
        """Whether the answers carry this correction."""
        return correction in self.corrections
