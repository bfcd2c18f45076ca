"""Which rules decide alone: what a rule says of itself, and the two lists of a deployment that overrule it.

The lists name built-in rules; a rule that somebody wrote follows its own severity, whatever it is called. A list that
is wrong in any place refuses the whole evaluation: a veto that was switched off by a typing error would go unseen.
"""

from __future__ import annotations

from collections.abc import Collection

from kpis.rules.utf16 import trimmed
from kpis.terms.evaluation import RuleFacts
from kpis.terms.evaluation_settings import Settings

__all__ = ["CriticalityError", "checked", "effective"]

_LISTS = (("criticalRules", "critical_rules"), ("nonCriticalRules", "non_critical_rules"))


class CriticalityError(ValueError):
    """The lists are wrong; the text names every place."""


def checked(settings: Settings, names: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The promoted and the demoted names.

    Args:
        settings: what the deployment chose.
        names: the built-in rules that a list may name.

    Raises:
        CriticalityError: something in them is no list, blank, unknown, or in both.
    """
    faults: list[str] = []
    read: list[frozenset[str]] = []
    for key, field in _LISTS:
        listed = getattr(settings, field)
        if not isinstance(listed, list | tuple):
            faults.append(f"{key} must be a list of rule names")
            read.append(frozenset())
            continue
        for entry in listed:
            if not isinstance(entry, str) or not trimmed(entry):
                faults.append(f"{key} holds {entry!r:.40}, which is no rule name")
            elif entry not in names:
                faults.append(f"{key} names {entry!r:.40}, which is no built-in rule")
        read.append(frozenset(entry for entry in listed if isinstance(entry, str)))
    promoted, demoted = read
    faults += [f"{name!r} is in both lists" for name in sorted(promoted & demoted)]
    if faults:
        raise CriticalityError(f"{'; '.join(faults)}. The rules are: {', '.join(sorted(names))}.")
    return promoted, demoted


def effective(rule: RuleFacts, promoted: frozenset[str], demoted: frozenset[str]) -> tuple[bool, bool]:
    """Whether the rule is critical here, and whether a list decided it."""
    if rule.custom:
        return rule.critical, False
    if rule.name in promoted:
        return True, True
    if rule.name in demoted:
        return False, True
    return rule.critical, False
