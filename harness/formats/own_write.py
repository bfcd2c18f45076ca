"""Writes a recorded run in this project's own trace format, so that any reader's run can be kept, cut and compared.

What has its usual value is left out. ``mutates`` and ``polling`` are always written, because their absence has a
meaning of its own: the reader then looks the tool's name up. This module refuses to write issues and places in files:
they belong to one reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

import msgspec

from harness.formats.own_schema import KINDS, SCHEMA, fields_of
from kpis.terms.recorded import RecordedRun

__all__ = ["encode_trace"]

_ALWAYS = frozenset(("mutates", "polling"))
_encode = msgspec.json.Encoder().encode


def encode_trace(run: RecordedRun) -> Iterator[bytes]:
    """The lines of ``run``, each with its line feed: a header, then threads, turns, requests, calls, events, facts."""
    first = run.recordings[0] if run.recordings else None
    started = [each.t_start for each in run.recordings if each.t_start is not None]
    header: dict[str, Any] = {"schema": SCHEMA, "run_id": run.run_id, "started": min(started, default=None)}
    if first is not None:
        for key in ("source_version", "session_id", "project", "branch"):
            header[key] = getattr(first, key)
    yield _line({key: value for key, value in header.items() if value is not None})
    held = zip(KINDS, (run.threads, run.turns, run.requests, run.calls, run.events, run.facts), strict=True)
    for kind, terms in held:
        for term in terms:
            yield _line({"type": kind, **_plain(term)})


def _plain(term: Any) -> dict[str, Any]:
    """A term as an object, without what has its usual value."""
    usual = {each.name: each.default for each in fields(term) if each.default is not MISSING}
    told: dict[str, Any] = {}
    for name in fields_of(type(term)):
        value = getattr(term, name)
        if name in _ALWAYS or name not in usual or value is not usual[name]:
            told[name] = _value(value)
    if "provenance" in told and not told["provenance"]:
        del told["provenance"]
    return told


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return _plain(value)
    if isinstance(value, tuple):
        return [_value(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _value(each) for key, each in sorted(value.items())}
    return value


def _line(told: dict[str, Any]) -> bytes:
    try:
        return _encode(told) + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which no decoder would take back
        return _encode(_paired(told)) + b"\n"


def _paired(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_paired(each) for each in value]
    return {key: _paired(each) for key, each in value.items()} if isinstance(value, dict) else value
