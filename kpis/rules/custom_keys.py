"""The keys that each type of written rule reads from its config, and what is said of any other.

A key that nobody reads was to say something, which is then not done: a rule with ``shema`` would hold the output
against nothing and stay quiet. The reference passes such keys over.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["CONFIG_KEYS", "LEAST_KEYS", "MOST_KEYS", "USD_KEYS", "told", "unread"]

# The names of one number: the first that is there counts.
LEAST_KEYS = ("min_length", "length", "min")
MOST_KEYS = ("max_length", "length", "max")
USD_KEYS = ("max_cost", "max_usd")

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

_LONGEST = 40
"""Characters of a key that are shown."""


def unread(kind: str, config: Mapping[str, object]) -> str | None:
    """The first key of ``config`` that a rule of type ``kind``, one that there is, does not read, else None."""
    known = CONFIG_KEYS[kind]
    return next((key for key in config if key not in known), None)


def told(kind: str, key: str, hint: str = "") -> str:
    """What is said of such a key, as the end of a sentence; ``hint`` may say what was meant."""
    return f"has the unknown key {key[:_LONGEST]!r} in its config{hint}; {kind} reads {', '.join(CONFIG_KEYS[kind])}"
