"""One byte string per JSON value: sorted keys, no spaces. Used where arguments are rewritten or compared.

It does not judge: bytes that are no JSON object are somebody else's finding.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["canonical"]

_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> bytes:
    """The compact JSON of ``value`` with sorted keys, in UTF-8; a lone surrogate keeps its own bytes."""
    return _ENCODE(value).encode("utf-8", "surrogatepass")
