"""What a deployment or one case chose about evaluation, from plain values: the keys of a case's ``config``.

A key that nobody knows, or a value of another kind, is refused by name: a typo in ``requiredEvidence`` or a threshold
must not become a case that passes. A threshold of another kind is refused where a deployment sets it; in a case it
costs the one rule its answer, and the verdict stays open if that rule decides. Null sets nothing. The two lists of
rules are kept as they came; whoever knows the rules checks them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from harness.formats.keys import Keys
from harness.formats.limits import FormatError
from kpis.terms.evaluation_settings import (
    COMPOSERS,
    ON_SKIPPED,
    PRIOR_MODES,
    PROFILES,
    THRESHOLD_LISTS,
    THRESHOLD_NUMBERS,
    Settings,
)
from kpis.terms.evaluation_words import Correction, Need

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


_LEAST = {"max_tool_repeats": 1}
"""Below these a number says nothing to the rule of the key."""


def settings_over(base: Settings, keys: Keys, *, deployed: bool = False) -> Settings:
    """``base`` with what ``keys`` chooses; thresholds are added key by key, and the last to set one has it.

    ``deployed``: they are a deployment's, so that a threshold which no rule could use is refused as well. With the
    corrections taken back thresholds are what the reference takes, which is anything.

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
            **(_thresholds(own, base, deployed=deployed) if own is not None else {}),
        }
    call = keys.object("per_call")
    if call is not None:
        chosen["per_call"] = {**base.per_call, **_thresholds(call, base, deployed=deployed)}
    made = replace(base, **{name: value for name, value in chosen.items() if value is not None})
    if made.composer == LEGACY and made.corrections:
        raise FormatError(
            f"{keys.at('composer')} is 'legacy', which only recomputes verdicts of the reference: it goes with "
            'mode = "reference"'
        )
    return made


def _thresholds(keys: Keys, base: Settings, *, deployed: bool) -> dict[str, Any]:
    if base.corrections:
        keys.only((*THRESHOLD_NUMBERS, *THRESHOLD_LISTS))
        if deployed:
            _usable(keys)
    found = keys.thresholds()
    if base.has(Correction.NULL_IS_UNSET):
        found = {key: value for key, value in found.items() if value is not None}
    return found


def _usable(keys: Keys) -> None:
    """Refuse a value that the rule of its key would not take."""
    for key in THRESHOLD_NUMBERS:
        value = keys.get(key)
        if isinstance(value, str) and _is_spelled(value):
            raise FormatError(
                f"{keys.at(key)} is a text (did you mean {value.strip()}, without quotes?), and has to be a number"
            )
        keys.number(key, _LEAST.get(key, -math.inf))
    for key in THRESHOLD_LISTS:
        if not all(text.strip() for text in keys.texts(key) or ()):
            raise FormatError(f"{keys.at(key)} holds a text that is empty or white space, which looks for nothing")


def _is_spelled(text: str) -> bool:
    """Whether the text spells a number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
