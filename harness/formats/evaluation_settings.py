"""What a deployment or one case chose about evaluation, from plain values: the keys of a case's ``config``.

A key that nobody knows, or a value of another kind, is refused by name: a typo in ``requiredEvidence`` must not become
a case that passes. The two lists of rules are kept as they came; whoever knows the rules checks them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.formats.keys import Keys
from harness.formats.limits import FormatError
from kpis.terms.evaluation_settings import COMPOSERS, ON_SKIPPED, PRIOR_MODES, PROFILES, Settings
from kpis.terms.evaluation_words import Need

__all__ = ["KEYS", "LEGACY", "settings_over"]

LEGACY = "legacy"

KEYS = (
    "composer",
    "criticalRules",
    "defaultsGate",
    "falsePassCost",
    "nonCriticalRules",
    "onCriticalSkipped",
    "per_call",
    "prior",
    "priorMode",
    "profile",
    "requiredEvidence",
    "ruleThresholds",
    "threshold",
)


def settings_over(base: Settings, keys: Keys) -> Settings:
    """``base`` with what ``keys`` chooses; thresholds are added key by key, and the last to set one has it.

    Raises:
        FormatError: a key or a value cannot be used.
    """
    chosen: dict[str, Any] = {
        "threshold": keys.number("threshold"),
        "critical_rules": keys.get("criticalRules"),
        "non_critical_rules": keys.get("nonCriticalRules"),
        "composer": keys.text("composer", COMPOSERS),
        "false_pass_cost": keys.number("falsePassCost", 0),
        "on_critical_skipped": keys.text("onCriticalSkipped", ON_SKIPPED),
        "defaults_gate": keys.truth("defaultsGate"),
        "prior": keys.number("prior", 0, 1),
        "prior_mode": keys.text("priorMode", PRIOR_MODES),
    }
    needs = keys.texts("requiredEvidence", [need.value for need in Need])
    if needs is not None:
        chosen["required_evidence"] = tuple(dict.fromkeys(Need(need) for need in needs))
    profile = keys.text("profile", list(PROFILES))
    own = keys.object("ruleThresholds")
    if profile is not None or own is not None:
        chosen["rule_thresholds"] = {
            **base.rule_thresholds,
            **(PROFILES[profile] if profile is not None else {}),
            **(own.thresholds() if own is not None else {}),
        }
    call = keys.object("per_call")
    if call is not None:
        chosen["per_call"] = {**base.per_call, **call.thresholds()}
    made = replace(base, **{name: value for name, value in chosen.items() if value is not None})
    if made.composer == LEGACY and made.corrections:
        raise FormatError(
            f"{keys.where}.composer is 'legacy', which only recomputes verdicts of the reference: it goes with "
            'mode = "reference"'
        )
    return made
