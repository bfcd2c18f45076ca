"""What the id of an evaluation follows from beside the case: all that may change its answer.

The same question has the same id, and another question another: other settings, another accuracy table, another pattern
in a written rule, another version of a built-in one. The hashes in an answer say less in the mode of the reference,
which has its own idea of what is comparable; an id is ours in either.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum

from harness import __version__
from harness.jobs.evaluate_config import Deployment
from kpis.rules.catalogue import BUILT_IN
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import Settings

__all__ = ["ENGINE", "ID_LENGTH", "judged_by"]

ENGINE = f"loopladder {__version__}"
ID_LENGTH = 16
"""Hexadecimal digits of an id."""


def judged_by(deployment: Deployment) -> bytes:
    """The sha256 of everything by which ``deployment`` judges a case, whatever the order of keys."""
    settings, table = deployment.settings, deployment.table
    document = {
        "engine": ENGINE,
        "built_in": [(rule.facts.name, rule.facts.version) for rule in BUILT_IN],
        "settings": {each.name: getattr(settings, each.name) for each in fields(Settings)},
        "accuracy": None if table is None else (table.name, table.sha256),
        "rules": [
            # The digest is of the config, which is there already, as it was spelled.
            {each.name: getattr(rule, each.name) for each in fields(CustomRule) if each.init}
            for rule in deployment.rules
        ],
    }
    return hashlib.sha256(json.dumps(_spelled(document), sort_keys=True, default=_plain).encode("ascii")).digest()


def _spelled(value: object) -> object:
    """``value`` with each number in one spelling: 2 and 2.0 are the same choice."""
    if isinstance(value, Mapping):
        return {key: _spelled(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(str(_plain(each)) for each in value)
    return dict(value) if isinstance(value, Mapping) else str(value)
