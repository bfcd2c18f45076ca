"""Frozen tool-call traces: ``{"slice_id", "calls": [{"tool", "args", "meta", "class"}]}``.

The arguments stay the very bytes of the file, spaces included, because the identity of the trace is a hash over them
and an echoing engine sees them. A trace is authored or cut by hand, so a wrong shape is refused with the call's index
instead of being skipped. It refuses to judge the calls: ``class`` is what the author expects, and only carried; but it
is one of those that there are, since a call that states one is a call of the airline world.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from harness.formats.limits import FormatError, Limits, check_depth, printable
from harness.report.naming import typed
from seams.contract.turntax import TurnClass

__all__ = ["NAME", "read_tool_calls", "sniff", "trace_hash"]

NAME = "calls"

_KEYS = re.compile(rb'"(?:slice_id|calls)"\s*:')
_TOOL = re.compile(rb'"tool"\s*:|"calls"\s*:\s*\[\s*\]')
"""A call; or that there is none, which is for the reader to say."""


class _Trace(msgspec.Struct):
    calls: list[msgspec.Raw]
    slice_id: str = ""


class _Call(msgspec.Struct):
    tool: str
    args: msgspec.Raw = msgspec.Raw()
    meta: dict[str, str] | None = None
    expected: str | None = msgspec.field(default=None, name="class")


_decode_call = msgspec.json.Decoder(_Call).decode
_CLASSES = tuple(kind.value for kind in TurnClass)


class _Shape(NamedTuple):
    """Of an object: the keys that stand in it twice, and what is under ``calls``."""

    twice: tuple[str, ...]
    calls: Any


def _shape(pairs: list[tuple[str, Any]]) -> _Shape:
    times = Counter(key for key, _ in pairs)
    return _Shape(tuple(key for key, count in times.items() if count > 1), dict(pairs).get("calls"))


def _refuse_twins(blob: bytes, trace: _Trace, shown: str, look: str) -> None:
    """Refuse a key of ours that stands twice in one object: readers differ in which of the two they take."""
    # Digits stay text: how long a number may be is not asked here.
    whole = json.loads(blob, object_pairs_hook=_shape, parse_int=str, parse_float=str)
    for key in whole.twice:
        if key in _Trace.__struct_encode_fields__:
            raise FormatError(f"{shown} has the key {key} twice. {look}")
    for index, call in enumerate(whole.calls):
        for key in call.twice:
            if key in _Call.__struct_encode_fields__:
                place = f"line {_line(blob, trace.calls, index)}: call {index}"
                raise FormatError(f"{shown}, {place} has the key {key} twice. {look}")


def _line(blob: bytes, calls: Sequence[msgspec.Raw], index: int) -> int:
    """The line, from 1, on which a call begins."""
    at = 0
    for raw in calls[:index]:
        at = blob.index(bytes(raw), at) + len(bytes(raw))
    return blob.count(b"\n", 0, blob.index(bytes(calls[index]), at)) + 1


def sniff(head: bytes, filename: str) -> float:
    """How sure ``head`` is such a trace: 0 to 1."""
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
        return 0.0
    keys = len({match.group() for match in _KEYS.finditer(head)})
    named = 0.05 if filename.endswith(".json") else 0.0
    return (0.85 if keys >= 2 else 0.6) + named if keys and _TOOL.search(head) else 0.0


def trace_hash(slice_id: str, calls: Sequence[tuple[str, bytes, Mapping[str, str]]]) -> str:
    """The identity of a trace: 16 hex digits of SHA-256 over its name and, a call, tool, raw arguments and meta.

    ``calls`` are (tool, argument bytes as in the file, meta). Tool and arguments each end in a NUL byte, meta is
    ``key=value;`` in key order. What annotates a call (its class, a note) is not part of the work and not hashed.
    """
    digest = hashlib.sha256(_utf8(slice_id))
    for tool, args, meta in calls:
        digest.update(_utf8(tool) + b"\0" + args + b"\0")
        for key in sorted(meta):
            digest.update(_utf8(f"{key}={meta[key]};"))
    return digest.hexdigest()[:16]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def read_tool_calls(blob: bytes, filename: str, limits: Limits, path: str | None = None) -> dict[str, Any]:
    """The trace in ``blob`` as plain values; ``path`` is where advice finds the file, if not at ``filename``.

    Returns ``slice_id``, ``hash`` (see :func:`trace_hash`), ``world`` (``airline`` where any call says what class it
    expects, else ``default``: the file does not say) and ``calls``, each with ``tool``, ``args`` (raw JSON text, ``{}``
    where absent), ``meta`` and ``class`` (None where absent).

    Raises:
        FormatError: not such a trace; the sentence names ``filename`` and the call, counted from 0.
    """
    shown = printable(filename, 200)
    quoted = typed(filename if path is None else path)
    look = f"Look at it with: python -m json.tool {quoted}"
    if len(blob) > limits.max_bytes:
        raise FormatError(f"{shown} is larger than {limits.max_bytes:,} bytes and was not read. See: ls -l {quoted}")
    try:
        blob.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{shown} is not UTF-8 text: byte {error.start} is not. {look}") from None
    blob = blob.removeprefix(b"\xef\xbb\xbf")
    check_depth(blob, limits, shown)
    try:
        trace = msgspec.json.decode(blob, type=_Trace)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"{shown} is no tool-call trace: {printable(str(error), 160)}. {look}") from None
    if not trace.calls:
        raise FormatError(f"{shown} holds no call. {look}")
    hashed: list[tuple[str, bytes, Mapping[str, str]]] = []
    calls: list[dict[str, Any]] = []
    for index, raw in enumerate(trace.calls):
        try:
            call = _decode_call(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise FormatError(f"{shown}: call {index} cannot be used: {printable(str(error), 160)}. {look}") from None
        if not call.tool:
            raise FormatError(f"{shown}: call {index} names no tool. {look}")
        if call.expected is not None and call.expected not in _CLASSES:
            raise FormatError(
                f"{shown}, line {_line(blob, trace.calls, index)}: call {index} has the unknown class "
                f"{printable(call.expected, 40)!r}; it is one of {', '.join(_CLASSES)}. {look}"
            )
        args = bytes(call.args)
        meta = call.meta or {}
        hashed.append((call.tool, args, meta))
        calls.append({"tool": call.tool, "args": args.decode() or "{}", "meta": meta, "class": call.expected})
    _refuse_twins(blob, trace, shown, look)
    return {
        "slice_id": trace.slice_id,
        "hash": trace_hash(trace.slice_id, hashed),
        "world": "airline" if any(call["class"] is not None for call in calls) else "default",
        "calls": calls,
    }
