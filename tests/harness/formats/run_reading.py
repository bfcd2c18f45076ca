"""What the tests of recorded-run formats share: bytes through a reader to a run, its sums, and damaged bytes."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from harness.formats.limits import Limits
from harness.formats.run_build import build_run
from harness.formats.run_format import RunFormat, Source
from kpis.terms.recorded import RecordedRun

PARTS = ("fresh_in", "cache_read", "cache_write", "out_total", "out_visible", "out_reasoning", "unattributed")


def read_files(reader: RunFormat, files: dict[str, bytes], limits: Limits | None = None) -> RecordedRun:
    """The run that ``files`` are, in the order in which they are given."""
    sources = [Source(name, BytesIO(data), len(data)) for name, data in files.items()]
    return build_run("run", reader.name, reader.read(sources, limits or Limits()))


def read_bytes(reader: RunFormat, data: bytes, name: str = "run.json") -> RecordedRun:
    """The run that one file is."""
    return read_files(reader, {name: data})


def read_json(reader: RunFormat, value: Any, name: str = "run.json") -> RecordedRun:
    """The run in a file that holds ``value`` as JSON."""
    return read_bytes(reader, json.dumps(value).encode(), name)


def read_path(reader: RunFormat, path: Path) -> RecordedRun:
    """The run in a file on disk, which the reader must also recognise."""
    data = path.read_bytes()
    assert reader.sniff(data[: 1 << 16], path.name) >= 0.95
    return read_bytes(reader, data, path.name)


def lines(*values: Any) -> bytes:
    """``values`` as JSON Lines."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in values)


def sums(run: RecordedRun) -> dict[str, int]:
    """Each token part over the requests that are not copied, None left out; and how many requests and calls."""
    counted = [each for each in run.requests if not each.copied]
    found = {part: sum(getattr(each.tokens, part) or 0 for each in counted) for part in PARTS}
    return {**found, "requests": len(counted), "calls": sum(not each.copied for each in run.calls)}


def codes(run: RecordedRun) -> list[str]:
    """The codes of a run's issues, sorted."""
    return sorted(each.code.value for each in run.issues)


def check_reader(reader: RunFormat, data: bytes, name: str = "run.json") -> RecordedRun:
    """Whatever the bytes: the reader answers, every file is a recording, and places point into it."""
    assert 0 <= reader.sniff(data, name) <= 1
    assert reader.origin(data, name).run
    run = read_bytes(reader, data, name)
    assert len(run.recordings) == 1
    for each in (*run.requests, *run.calls):
        assert each.file == name
    for request in run.requests:
        assert min([n for n in (request.tokens.fresh_in, request.tokens.out_total) if n is not None], default=0) >= 0
    return run


def almost(*words: str) -> st.SearchStrategy[Any]:
    """JSON values whose keys and texts are mostly ``words``: shapes that almost fit a format."""
    known = st.sampled_from(words)
    scalars = st.none() | st.booleans() | st.integers(-5, 1 << 70) | st.floats() | st.text(max_size=8) | known
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(known | st.text(max_size=4), inner, max_size=8),
        max_leaves=40,
    )


def damaged(whole: bytes) -> st.SearchStrategy[bytes]:
    """``whole`` cut, padded, or with a few bytes changed."""

    def change(at: int, piece: bytes, length: int) -> bytes:
        return whole[:at] + piece + whole[at + length :]

    spot = st.integers(0, len(whole))
    return st.builds(change, spot, st.binary(max_size=4), st.integers(0, 4)) | st.builds(
        lambda at, tail: whole[:at] + tail, spot, st.sampled_from((b"", b"\0" * 9, b"\n", b"}", b"garbage"))
    )
