"""What the tests of span readers share: files in code, the run they say, its sums, and random damage."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from harness.formats.limits import FormatError, Limits
from harness.formats.run_build import build_run
from harness.formats.run_format import RunFormat, Source
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Issue, Tokens

PARTS = ("fresh_in", "cache_read", "cache_write", "out_total", "out_reasoning", "unattributed")


def read(reader: RunFormat, *files: Any, names: tuple[str, ...] = ()) -> RecordedRun:
    """The run that ``files`` (bytes, or values to write as JSON) say together."""
    bodies = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in files]
    named = names or tuple(f"{at}.json" for at in range(len(bodies)))
    sources = [Source(name, BytesIO(body), len(body)) for name, body in zip(named, bodies, strict=True)]
    return build_run("run", reader.name, reader.read(sources, Limits()))


def sums(run: RecordedRun) -> dict[str, int | None]:
    """Each token part over all requests, None where none knows it."""

    def total(part: str) -> int | None:
        known = [getattr(request.tokens, part) for request in run.requests if not request.copied]
        return sum(each for each in known if each is not None) if any(each is not None for each in known) else None

    return {part: total(part) for part in PARTS}


def only(run: RecordedRun) -> Tokens:
    """The tokens of the one request."""
    (request,) = run.requests
    return request.tokens


def codes(run: RecordedRun) -> list[str]:
    """The codes of all issues, each once, in order."""
    return sorted({issue.code.value for issue in run.issues})


def issue(run: RecordedRun, code: str) -> Issue:
    """The first issue with a code."""
    return next(each for each in run.issues if each.code.value == code)


def facts(run: RecordedRun) -> tuple[Any, ...]:
    """All that must not change when files are permuted or repeated: sums, ids and outcomes."""
    return (
        sums(run),
        sorted(request.request_id for request in run.requests),
        sorted((call.call_id, call.outcome.value, call.request_id) for call in run.calls),
        sorted((event.kind.value, event.detail, event.duration_ms) for event in run.events),
    )


_VALUES = (
    None, True, 0, -1, 1e308, 2**70, "", "x", [], {}, [1], {"a": 1}, "9" * 50, "2026-13-45", '{"a":[', "\ud800", [None],
)  # fmt: skip


def _places(value: Any, into: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, Mapping) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        into.append((value, key))
        _places(value[key], into)
    return into


def damaged(body: bytes, dice: random.Random) -> bytes:
    """``body`` with a few values replaced, or a few bytes changed, dropped and doubled."""
    lines = body.split(b"\n")
    at = dice.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except ValueError:
        value = None
    places = _places(value, [])
    if places and dice.random() < 0.6:
        for _ in range(dice.randint(1, 5)):
            holder, key = dice.choice(places)
            holder[key] = dice.choice(_VALUES)
        lines[at] = json.dumps(value).encode()
        return b"\n".join(lines)
    raw = bytearray(body)
    for _ in range(dice.randint(1, 8)):
        where = dice.randrange(len(raw) or 1)
        match dice.randrange(4):
            case 0:
                raw[where : where + 1] = bytes([dice.randrange(256)])
            case 1:
                del raw[where : where + dice.randint(1, 40)]
            case 2:
                raw[where:where] = raw[max(0, where - 30) : where]
            case _:
                raw[where:where] = bytes(dice.choice(b'{}[]",:0\\') for _ in range(3))
    return bytes(raw)


def survives(reader: RunFormat, body: bytes, seed: int) -> None:
    """Whatever is done to ``body``, nothing but FormatError leaves, no count is negative and no id is given twice."""
    made = damaged(body, random.Random(seed))
    assert 0 <= reader.sniff(made[:4096], "x") <= 1
    reader.origin(made[:4096], "x")
    try:
        run = read(reader, made)
    except FormatError:
        return
    assert len(run.recordings) == 1
    ids = [request.request_id for request in run.requests]
    assert len(ids) == len(set(ids))
    for request in run.requests:
        parts = (*PARTS, "out_visible", "cache_write_5m", "cache_write_1h", "cache_write_other")
        assert all((getattr(request.tokens, part) or 0) >= 0 for part in parts)
