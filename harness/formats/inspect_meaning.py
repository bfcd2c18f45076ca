"""What the counters of an Inspect log mean: whether cached tokens are part of the input, and reasoning of the output.

Whether cached tokens stand inside ``input_tokens`` has changed: since 0.3.184 (February 2026) they stand beside it, for
Google's models since 0.3.208 (April 2026); before, it depended on the provider. The total is the provider's own all
along, so where it is recorded its arithmetic decides, and the version only where the arithmetic fits both. This module
refuses to choose in silence: where nothing settles it, or the total overrules the version, the finding is named.
"""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

__all__ = ["Meaning", "Version", "meaning_of", "promised_by", "provider_of", "version_of"]

_BESIDE_SINCE = (0, 3, 184)
_GOOGLE_SINCE = (0, 3, 208)
_ALWAYS_BESIDE = frozenset(("anthropic", "bedrock"))
_GOOGLE = frozenset(("google", "vertex"))
_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,6})")

Version = tuple[int, ...]
"""Of Inspect: its three numbers."""


class Meaning(NamedTuple):
    """What a usage may mean: cached tokens are part of the input; reasoning is not part of the output."""

    inside: bool
    apart: bool


_MEANINGS = tuple(Meaning(*each) for each in product((False, True), repeat=2))


def provider_of(model: str | None) -> str | None:
    """The provider in a model's name, ``provider/model``; None where there is none."""
    return model.partition("/")[0].lower() if model and "/" in model else None


def version_of(told: str | None) -> Version | None:
    """The version that begins ``told``; None where none does."""
    found = _VERSION.match(told or "")
    return tuple(map(int, found.groups())) if found is not None else None


def promised_by(version: Version | None, model: str | None) -> bool | None:
    """Whether cached tokens are part of the input, by version and provider; None where neither tells."""
    provider = provider_of(model)
    if provider in _ALWAYS_BESIDE:
        return False
    if version is None:
        return None
    return version < (_GOOGLE_SINCE if provider in _GOOGLE else _BESIDE_SINCE)


def meaning_of(
    given: int, cached: int, out: int, reasoning: int, total: int | None, promised: bool | None
) -> tuple[Meaning, str | None]:
    """The meaning of the counters of one usage, and the finding that goes with it, if any.

    ``given`` is the input as recorded, ``promised`` what :func:`promised_by` said. The findings: ``other`` (the total
    overrules the version), ``unsettled`` (nothing tells), ``beside`` (more cached tokens than input).
    """
    usual = Meaning(bool(promised), False)
    fitting = [
        each
        for each in _MEANINGS
        if given + out + (0 if each.inside else cached) + (reasoning if each.apart else 0) == total
        and not (each.inside and cached > given)
    ]
    if promised is not None and usual in fitting:
        return usual, None
    inside = {each.inside for each in fitting}
    if fitting:
        if cached and len(inside) > 1 and promised is None:
            return fitting[0], "unsettled"
        kept = [each for each in fitting if each.inside == usual.inside] or fitting
        return kept[0], None if promised is None else "other"
    if cached and promised is None:
        return usual, "unsettled"
    if promised and cached > given:
        return Meaning(False, False), "beside"
    return usual, None
