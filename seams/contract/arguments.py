"""Arguments as everybody reads them: the bytes of a call as one JSON object, or as none.

Whoever judges a call looks at the object, and what is sent on are the bytes. So bytes that two readers could take for
two objects are none: of a key that stands twice in one object, some readers keep the first value and some the last. The
same holds for what is nested so deep that where a reader ends depends on its stack.
"""

from __future__ import annotations

from json import JSONDecoder
from typing import Any, NoReturn

__all__ = ["NAMED", "NESTING", "no_twins", "plain_name", "read_arguments"]

NESTING = 128
"""Levels of lists and objects in arguments. What is deeper is no tool's argument, and a rung that walks it would end
where the interpreter's stack does, which depends on who called."""

NAMED = "named:"
"""The prefix under which a call may give a parameter too: who looks for ``x`` has to look at ``named:x`` as well."""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs, for a decoder's ``object_pairs_hook``.

    Raises:
        ValueError: a key stands there twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                raise ValueError(f"the key {key!r} stands there twice")
            keys.add(key)
    return found


_DECODE = JSONDecoder(parse_constant=_no_constant).decode
_DECODE_STRICTLY = JSONDecoder(parse_constant=_no_constant, object_pairs_hook=no_twins).decode


def read_arguments(raw: bytes) -> dict[str, Any] | None:
    """The object, ``{}`` where ``raw`` is empty; None where it is no object, has a key twice or is nested too deep."""
    if not raw:
        return {}
    try:
        text = raw.decode()
        found: Any = _DECODE(text)
        # Each pair has a colon: where there are no more colons than keys, there is no pair besides these, and no twin.
        if isinstance(found, dict) and len(found) != raw.count(b":"):
            found = _DECODE_STRICTLY(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    # Counted first: only an object with that many brackets can be that deep.
    if raw.count(b"{") + raw.count(b"[") > NESTING and _too_deep(found):
        return None
    return found


def plain_name(key: str) -> str:
    """The parameter that ``key`` stands for: ``x`` for ``x`` and for ``named:x``."""
    return key.removeprefix(NAMED)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(NESTING):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
