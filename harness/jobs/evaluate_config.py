"""What a deployment chose, from its TOML file: settings, accuracy table, rules of its own.

The keys are those of a case's ``config``; beside them stand ``mode``, ``accuracy`` and ``deployed_rules``. A case may
choose otherwise for itself, but not its mode and not its accuracy. What is broken in the file is refused before any
case comes: a threshold that is no number, a rule that could never be asked. The reference would skip it, case by case,
and so does ``mode = "reference"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.formats.evaluation_case import deployed_rule, refuse_twins
from harness.formats.evaluation_faults import fault_of
from harness.formats.evaluation_settings import KEYS, settings_over
from harness.formats.evaluation_toml import tables_in
from harness.formats.keys import WHOLE, Keys
from harness.formats.limits import FormatError, regular_bytes
from harness.judge.evaluation.accuracy import AccuracyTable
from harness.record.accuracy import REFERENCE, named_table
from kpis.rules.catalogue import NAMES
from kpis.rules.criticality import CriticalityError, checked
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import Settings

__all__ = ["MODES", "Deployment", "deployment", "reference"]

MODES = ("default", "reference")
"""``reference`` takes every correction back and rests on the reference's accuracy: it recomputes its verdicts."""

_OWN = ("mode", "accuracy", "deployed_rules")


@dataclass(frozen=True, slots=True)
class Deployment:
    """How every case is evaluated. Without a ``table`` detectors are unmeasured."""

    settings: Settings = field(default_factory=Settings)
    table: AccuracyTable | None = None
    rules: tuple[CustomRule, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Whether the answers are those of the reference, faults included."""
        return not self.settings.corrections


def reference() -> Deployment:
    """The reference, release 0.10.0, without any choice."""
    return Deployment(Settings(corrections=frozenset()), named_table(REFERENCE, Path()))


def deployment(path: Path) -> Deployment:
    """The deployment of the file at ``path``.

    Raises:
        FormatError: the file cannot be read, or something in it cannot be used; one sentence with its name.
    """
    again = f"Correct it, then run: python -m harness evaluate --config {path} FILE"
    try:
        body = regular_bytes(path)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}. Name a settings file: --config FILE") from None
    try:
        document = tables_in(body)
    except FormatError as error:
        raise FormatError(f"{path} {error}. {again}") from None
    try:
        return _of(document, path.parent)
    except (FormatError, CriticalityError) as error:
        raise FormatError(f"{path}: {str(error).rstrip('.')}. {again}") from None


def _of(document: dict[str, object], folder: Path) -> Deployment:
    keys = Keys(document, WHOLE)
    keys.only((*KEYS, *_OWN))
    base = reference() if keys.text("mode", MODES) == "reference" else Deployment()
    settings = settings_over(base.settings, keys, deployed=True)
    checked(settings, NAMES)  # here, or every case would be refused for it
    word = keys.text("accuracy")
    listed = keys.items("deployed_rules") or []
    rules = tuple(_rule(Keys(each, f"deployed_rules[{at}]"), settings) for at, each in enumerate(listed))
    if settings.corrections:
        refuse_twins(rules, WHOLE)
    return replace(
        base,
        settings=settings,
        table=base.table if word is None else named_table(word, folder),
        rules=rules,
    )


def _rule(keys: Keys, settings: Settings) -> CustomRule:
    closed = bool(settings.corrections)
    rule = deployed_rule(keys, closed=closed)
    if closed and (fault := fault_of(rule, settings)) is not None:
        raise FormatError(f"{keys.where}.definition: {fault}")
    return rule
