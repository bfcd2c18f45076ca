"""Whatever the bytes: readers let out FormatError only, and a cut file yields what stood before the cut."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.claude_code import ClaudeCode
from harness.formats.detect import detect
from harness.formats.jsonl_session import JsonlSession
from harness.formats.limits import FormatError, Limits
from harness.formats.session_data import session_data
from harness.formats.toolcalls import read_tool_calls
from harness.formats.trace_build import build, totals
from harness.formats.workload import workload_from

from .reading import CASES, read

_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_KEYS = [
    "type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "agentId", "requestId", "version", "timestamp",
    "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "subtype", "compactMetadata", "toolUseResult",
    "message", "id", "model", "content", "stop_reason", "usage", "input_tokens", "output_tokens", "cache_creation",
    "name", "text", "input", "tool_use_id", "is_error", "turn", "role", "tool", "args", "meta", "class", "calls",
]  # fmt: skip
_words = st.sampled_from(
    ["user", "assistant", "system", "tool_use", "tool_result", "text", "compact_boundary", "u1", "u2"]
)
_shaped = st.recursive(
    _scalars | _words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=6),
    max_leaves=20,
)


def _lines(objects: list[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def _read_everything(data: bytes) -> None:
    """Each reader on ``data``: a value or a FormatError, and anything else fails the test."""
    for reader in (ClaudeCode(), JsonlSession()):
        assert 0 <= reader.sniff(data, "run.jsonl") <= 1
        try:
            trace = build(reader.read(BytesIO(data), Limits()))
        except FormatError:
            continue
        json.dumps(session_data(trace), allow_nan=False)
        assert totals(trace)["requests"] == len(trace.requests)
    for attempt in (
        lambda: detect(data, "run.jsonl"),
        lambda: read_tool_calls(data, "run.json", Limits()),
        lambda: workload_from(data, "run.jsonl", "run.jsonl", Limits(), "replay"),
    ):
        try:
            attempt()
        except FormatError as error:
            assert str(error).isprintable()


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_arbitrary_bytes(data: bytes) -> None:
    _read_everything(data)


@given(st.lists(_json, max_size=6))
@settings(deadline=None)
def test_arbitrary_json_lines(objects: list[Any]) -> None:
    _read_everything(_lines(objects))


@given(st.lists(st.dictionaries(st.sampled_from(_KEYS), _shaped, max_size=12), max_size=6))
@settings(max_examples=300, deadline=None)
def test_lines_that_almost_fit(objects: list[Any]) -> None:
    _read_everything(_lines(objects))


@given(st.sampled_from(sorted(CASES.glob("*.jsonl"))), st.data())
@settings(max_examples=150, deadline=None)
def test_a_flipped_byte_never_breaks_a_reader(path: Path, data: st.DataObject) -> None:
    body = bytearray(path.read_bytes())
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    _read_everything(bytes(body))


@given(st.sampled_from(sorted(CASES.glob("*.jsonl"))), st.data())
@settings(max_examples=150, deadline=None)
def test_a_session_cut_at_any_byte_yields_the_requests_before_the_cut(path: Path, data: st.DataObject) -> None:
    body = path.read_bytes()
    at = data.draw(st.integers(0, len(body)))
    whole = body[: body.rfind(b"\n", 0, at) + 1]
    cut = {request.request_id for request in read(body[:at]).requests}
    before = {request.request_id for request in read(whole).requests}
    everything = {request.request_id for request in read(body).requests}
    assert before <= cut <= everything
    # The cut line adds a request only if it was complete but for its line feed.
    assert cut == before or body[at : at + 1] in (b"\n", b"")


@given(st.sampled_from(sorted(CASES.glob("*.jsonl"))), st.binary(min_size=1, max_size=30))
@settings(deadline=None)
def test_garbage_behind_a_session_changes_no_total(path: Path, garbage: bytes) -> None:
    body = path.read_bytes()
    added = garbage.replace(b"{", b"x").replace(b"\n", b" ").replace(b"\r", b" ")
    before, after = read(body), read(body + added)
    assert totals(after) == totals(before)
    if added.strip(b"\0 \t\x0b\x0c"):
        assert len(after.issues) > len(before.issues)
