"""A case that is evaluated: one output, and what is known of how it came about. Values only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle, Severity

__all__ = ["ABSENT", "Absent", "Case", "CustomRule", "TokenCounts", "ToolCall"]


class Absent(Enum):
    """A field that was not sent, which is not the field sent as null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a trajectory; ``input`` and ``output`` are any JSON, or ``ABSENT``."""

    tool_name: str
    input: object = ABSENT
    output: object = ABSENT
    error: str | None = None
    latency_ms: float | None = None


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of the call that made the output, each None when it was not sent."""

    prompt: float | None = None
    completion: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A rule somebody wrote: ``type`` and ``config`` as they came. ``rule_id`` and ``severity`` are a deployed rule's.

    ``bundle`` is the evaluation that it belongs to; ``weight`` counts in the score. ``digest`` is the sha256 of type
    and config, whatever the order of keys: worked out once, since one rule is asked about many cases.

    Raises:
        TypeError: the config mixes keys that are texts with others.
    """

    name: str
    type: str
    config: Mapping[str, object] = field(default_factory=dict)
    weight: float = 1.0
    bundle: Bundle = Bundle.CUSTOM
    rule_id: str | None = None
    severity: Severity | None = None
    digest: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        said = json.dumps([self.type, dict(self.config)], sort_keys=True, default=str)
        object.__setattr__(self, "digest", hashlib.sha256(said.encode("ascii")).hexdigest())


@dataclass(frozen=True, slots=True)
class Case:
    """One output with what is known of how it came about.

    ``tool_calls`` is None when no trajectory was sent and empty when none was made. ``eval_type`` is a bundle or, None,
    all of them; ``named_type`` says whether the case named it. ``extra`` holds the keys that are not ours; ``notes``
    are sentences on those of them that look like a typing error.
    """

    output: str
    id: str = ""
    input: str | None = None
    expected: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    cost: float | None = None
    tokens: TokenCounts | None = None
    eval_type: Bundle | None = None
    named_type: bool = False
    custom_rules: tuple[CustomRule, ...] = ()
    settings: Settings = field(default_factory=Settings)
    extra: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
