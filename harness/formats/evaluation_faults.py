"""What is wrong with a rule that somebody wrote, before any case is there to ask it about.

A deployment whose rule can never answer is refused when it is read: a rule that skips every case looks like one that
found nothing. A key that the type does not read is a fault here as well, since what it was to say is not done.
"""

from __future__ import annotations

from collections.abc import Mapping

from kpis.errors import did_you_mean
from kpis.rules.custom import LEAST_KEYS, MOST_KEYS, TYPES, USD_KEYS, custom_rule
from kpis.rules.subject import Subject
from kpis.terms.evaluation import Case, CustomRule
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import SkipClass

__all__ = ["CONFIG_KEYS", "fault_of"]

CONFIG_KEYS: Mapping[str, tuple[str, ...]] = {
    "regex_match": ("pattern",),
    "regex_no_match": ("pattern",),
    "min_length": LEAST_KEYS,
    "max_length": MOST_KEYS,
    "contains_keywords": ("keywords", "threshold"),
    "excludes_keywords": ("keywords",),
    "json_schema": ("schema",),
    "cost_threshold": USD_KEYS,
}
"""By type: the keys of its config."""


def fault_of(written: CustomRule, settings: Settings) -> str | None:
    """Why the rule could be asked of no case under ``settings``, or which key of its config is not read, else None."""
    if (known := CONFIG_KEYS.get(written.type)) is None:
        hint = did_you_mean(written.type, TYPES)
        return f"{written.name} is of the unknown type {written.type!r}{hint}; the types are {', '.join(TYPES)}"
    for key in written.config:
        if key not in known:
            hint, reads = did_you_mean(key, known), ", ".join(known)
            return f"{written.name} has the unknown key {key!r} in its config{hint}; {written.type} reads {reads}"
    # Every type reads its config before it looks at the case, so that one case stands for all.
    skip = custom_rule(written).evaluate(Subject(Case("", cost=0.0, settings=settings))).skip
    return skip.reason if skip is not None and skip.skip_class is SkipClass.CONFIG_INVALID else None
