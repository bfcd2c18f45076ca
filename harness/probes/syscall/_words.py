"""The instrument's own words for what a runtime says, and what may be told of it.

The names are those of the contract's closed vocabularies. A number outside of them reads ``KIND_<n>`` or
``REASON_<n>``, whatever the runtime calls it: a subject that renamed its verdicts would otherwise be judged by its own
names. A sentence may be committed with a run, so none holds recorded text: kinds, reasons, statuses and lengths only.
"""

from __future__ import annotations

import re
from typing import Any

from seams.contract.verdict import ReasonCode, Status, VerdictKind

__all__ = ["UNNAMED", "is_name", "kind_name", "reason_name", "reason_told", "result_told", "same_word", "verdict_told"]

UNNAMED = "UNNAMED"
"""Where a reason is given by a name that is none of the contract's."""

_KINDS = {kind.value: kind.name for kind in VerdictKind}
_REASONS = {code.value: code.name for code in ReasonCode}
_CORE = frozenset([*_KINDS.values(), *_REASONS.values()])
_NUMBERED = re.compile(r"(?:KIND|REASON)_\d{1,10}").fullmatch
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,39}").fullmatch


def kind_name(kind: int) -> str:
    """The contract's name of a kind, else ``KIND_<n>``."""
    return _KINDS.get(kind) or f"KIND_{int(kind)}"


def reason_name(code: int) -> str:
    """The contract's name of a reason, else ``REASON_<n>``."""
    return _REASONS.get(code) or f"REASON_{int(code)}"


def reason_told(name: object) -> str:
    """A reason that came as a text, where it is one of the contract's; free text has no place in a histogram."""
    return name if isinstance(name, str) and (name in _REASONS.values() or _NUMBERED(name)) else UNNAMED


def same_word(said: object, due: str) -> bool:
    """Whether ``said`` names the kind or the reason ``due``.

    What has a number only for us may have a name elsewhere; but none that means something else.
    """
    return said == due or (_NUMBERED(due) is not None and isinstance(said, str) and said not in _CORE)


def is_name(text: object) -> bool:
    """Whether ``text`` is how a rung or a gate is named; anything else may be something it was given."""
    return isinstance(text, str) and _NAME(text) is not None


def verdict_told(verdict: Any) -> str:
    """``KIND/REASON by rung``, or the type of what is no verdict."""
    kind, reason, by = (getattr(verdict, name, None) for name in ("kind", "reason", "by"))
    if not isinstance(kind, int) or not isinstance(reason, int):
        return f"no verdict but a {type(verdict).__name__}"
    return f"{kind_name(kind)}/{reason_name(reason)} by {by if is_name(by) else 'a rung without a name'}"


def result_told(result: Any) -> str:
    """Status and length of a result, or the type of what is none."""
    status, payload = getattr(result, "status", None), getattr(result, "payload", None)
    if not isinstance(payload, bytes) or status not in set(Status):
        return f"no result but a {type(result).__name__}"
    return f"status {Status(status).name} and {len(payload)} bytes"
