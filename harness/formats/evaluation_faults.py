"""What is wrong with a rule that somebody wrote, before any case is there to ask it about.

A deployment whose rule can never answer is refused when it is read: a rule that skips every case looks like one that
found nothing. A key that the type does not read is a fault here as well, since what it was to say is not done.
"""

from __future__ import annotations

from harness.formats.limits import printable
from kpis.errors import did_you_mean
from kpis.rules.custom import TYPES, custom_rule
from kpis.rules.custom_keys import CONFIG_KEYS, told, unread
from kpis.rules.subject import Subject
from kpis.terms.evaluation import Case, CustomRule
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import SkipClass

__all__ = ["fault_of"]


def fault_of(written: CustomRule, settings: Settings) -> str | None:
    """Why the rule could be asked of no case under ``settings``, or which key of its config is not read, else None."""
    if written.type not in TYPES:
        hint = did_you_mean(written.type, TYPES)
        kind = printable(written.type)
        return f"{printable(written.name)} is of the unknown type {kind!r}{hint}; the types are {', '.join(TYPES)}"
    if (key := unread(written.type, written.config)) is not None:
        return f"{written.name} {told(written.type, key, did_you_mean(key, CONFIG_KEYS[written.type]))}"
    # Every type reads its config before it looks at the case, so that one case stands for all.
    skip = custom_rule(written).evaluate(Subject(Case("", cost=0.0, settings=settings))).skip
    return skip.reason if skip is not None and skip.skip_class is SkipClass.CONFIG_INVALID else None
