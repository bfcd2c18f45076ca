"""What a verdict was made with: the rules that ran, the settings, the accuracy that its numbers rest on.

Two verdicts with equal hashes are comparable: a new version of one rule, or another pattern in one that somebody wrote,
changes the first, a setting the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.judge.evaluation.accuracy import AccuracyTable
from harness.judge.evaluation.canonical import digest, in_code_units
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Correction, Need

__all__ = ["Provenance", "config_hash", "provenance_of", "ruleset_hash"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """``table`` is the name and the sha256 of the accuracy table, ``composer`` what it was composed by, if pinned."""

    ruleset: str
    config: str
    threshold: float
    per_rule: Mapping[str, object]
    corpus: str | None
    table: tuple[str, str] | None
    composer: Mapping[str, object] | None


@lru_cache(maxsize=256)
def _ruleset(rows: tuple[tuple[str | float, ...], ...]) -> str:
    by_name = {name: index for index, name in enumerate(in_code_units({str(row[0]) for row in rows}))}
    return digest([list(row) for row in sorted(rows, key=lambda row: by_name[str(row[0])])])


def _row(finding: Finding, *, definitions: bool) -> tuple[str | float, ...]:
    rule = finding.rule
    row = rule.name, finding.version, rule.kind.value, int(finding.critical), rule.weight
    return (*row, rule.definition) if definitions and rule.definition is not None else row


def ruleset_hash(findings: Sequence[Finding], *, definitions: bool = True) -> str:
    """The hash of what ran: name, version, kind, effective criticality and weight of each, sorted by name.

    ``definitions``: of a rule that somebody wrote, which has no version of its own, the digest of what it says as well.
    """
    return _ruleset(tuple([_row(item, definitions=definitions) for item in findings]))


def _names(found: object) -> list[str]:
    return in_code_units(str(name) for name in found) if isinstance(found, list | tuple) else []


def _composer(settings: Settings) -> dict[str, object]:
    return {
        "composer": settings.composer,
        "falsePassCost": settings.false_pass_cost,
        "onCriticalSkipped": settings.on_critical_skipped,
        "requiredEvidence": [need.value for need in Need if need in settings.required_evidence],
        "defaultsGate": settings.defaults_gate,
        "prior": settings.prior_chance,
        "priorMode": settings.prior_mode,
    }


def _sorted(thresholds: Mapping[str, object]) -> dict[str, object]:
    return {key: thresholds[key] for key in in_code_units(thresholds)}


class _Same:
    """Settings as a key: most cases share one object, and comparing it would cost what hashing it does."""

    __slots__ = ("settings",)

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __hash__(self) -> int:
        return id(self.settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.settings is self.settings


def config_hash(settings: Settings) -> str:
    """The hash of the settings, whatever the order of their keys.

    What this one call changed and what composes the verdict is in it only with ``composer_in_hash``.

    Raises:
        ValueError: a threshold is no finite number, text, truth value, list or object of such.
    """
    return _config(_Same(settings))


@lru_cache(maxsize=16)
def _config(same: _Same) -> str:
    settings = same.settings
    document: dict[str, object] = {
        "threshold": settings.threshold,
        "ruleThresholds": _sorted(settings.rule_thresholds),
        "criticalRules": _names(settings.critical_rules),
        "nonCriticalRules": _names(settings.non_critical_rules),
    }
    if settings.has(Correction.COMPOSER_IN_HASH):
        document |= _composer(settings)
        document["perCall"] = _sorted(settings.per_call)
    return digest(document)


def provenance_of(findings: Sequence[Finding], settings: Settings, table: AccuracyTable | None) -> Provenance:
    """The provenance of one verdict."""
    pinned = settings.has(Correction.ACCURACY_IS_PINNED)
    return Provenance(
        ruleset_hash(findings, definitions=settings.has(Correction.RULES_IN_HASH)),
        config_hash(settings),
        settings.threshold,
        settings.rule_thresholds,
        None if table is None else table.version,
        (table.name, table.sha256) if pinned and table is not None else None,
        _composer(settings) if pinned else None,
    )
