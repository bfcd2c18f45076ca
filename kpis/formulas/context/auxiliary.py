"""What compaction itself asked of a model: calls, input and output tokens, summaries and rationales apart.

Calls are counted from what is durable; tokens only from the provider's own usage, so that a call without it leaves the
tokens unknown and the count right. A run that claims to compact without a model must not have any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

__all__ = ["NO_MODEL", "AuxiliaryCall", "AuxiliaryKind", "AuxiliaryUse", "auxiliary", "contradiction"]

NO_MODEL = "none"
"""The semantic mode of a run whose folds ask no model."""


class AuxiliaryKind(Enum):
    """What a compaction asked for."""

    SUMMARY = "summary"
    RATIONALE = "rationale"


@dataclass(frozen=True, slots=True)
class AuxiliaryCall:
    """One model call on behalf of a fold, with the provider's tokens where it told them."""

    kind: AuxiliaryKind
    input_tokens: float | None
    output_tokens: float | None


@dataclass(frozen=True, slots=True)
class AuxiliaryUse:
    """Calls and tokens of one kind or of both; tokens are None where a call did not tell them."""

    calls: int
    input_tokens: float | None
    output_tokens: float | None


def auxiliary(calls: Iterable[AuxiliaryCall], kind: AuxiliaryKind | None = None) -> AuxiliaryUse:
    """All calls together, or those of ``kind``. No call at all used 0 tokens."""
    counted = [call for call in calls if kind is None or call.kind is kind]
    return AuxiliaryUse(
        len(counted),
        _sum([call.input_tokens for call in counted]),
        _sum([call.output_tokens for call in counted]),
    )


def contradiction(use: AuxiliaryUse, semantic_mode: str | None) -> str | None:
    """What is wrong with ``use`` in a run of ``semantic_mode`` (None: not said): one sentence, or None."""
    if semantic_mode == NO_MODEL and (use.calls or use.input_tokens or use.output_tokens):
        return f"The run says that its folds ask no model, and records {use.calls} such calls: one of both is wrong."
    return None


def _sum(tokens: list[float | None]) -> float | None:
    known = [each for each in tokens if each is not None]
    return sum(known) if len(known) == len(tokens) else None
