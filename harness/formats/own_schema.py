"""The words of this project's own trace format, ``loopladder.trace/1``: one JSON object a line.

An object's ``type`` says which term of :mod:`kpis.terms.trace` it is, its other keys are that term's fields, an
enumeration is its value, times are Unix milliseconds. So the format is written down once, in the terms themselves;
what is here is what a writer may leave out. This module refuses to read or write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

from harness.formats.pseudonym import safe_id
from kpis.terms.trace import Event, ModelUsage, Request, RunFacts, Thread, Tokens, ToolCall, Turn

__all__ = ["HEADER", "KINDS", "MAIN", "PARTS", "SCHEMA", "fields_of", "own_id"]

SCHEMA = "loopladder.trace/1"
MAIN = "main"
"""The thread of whatever names none."""

KINDS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "thread": Thread,
        "turn": Turn,
        "request": Request,
        "tool_call": ToolCall,
        "event": Event,
        "facts": RunFacts,
    }
)
"""The types of lines, in the order in which they are written."""

HEADER = ("schema", "run_id", "parent", "started", "source_version", "session_id", "project", "branch")
"""The keys of the first line."""

_NOT_WRITTEN = frozenset(("file", "line"))  # where something stands is for its reader to say
_OWN_ID = re.compile(r"[A-Za-z0-9_.:#/@+-]{1,200}")


def fields_of(term: type[Any]) -> tuple[str, ...]:
    """The fields of a term that stand in a line."""
    return tuple(each.name for each in fields(term) if each.name not in _NOT_WRITTEN)


PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"tokens": fields_of(Tokens), "by_model": fields_of(ModelUsage)}
)
"""The fields of the objects inside a line."""


def own_id(identifier: str) -> str:
    """An identifier as it stands where it looks like one, else a digest of it.

    One with ``#`` is known in its run alone: no other run is ever taken to hold the same request.
    """
    return identifier if _OWN_ID.fullmatch(identifier) else safe_id(identifier)
