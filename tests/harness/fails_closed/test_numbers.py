"""What is not a finite number is refused where it is read and where it would be written, with the place of it."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest

from harness.formats.limits import FormatError
from harness.record.gate import encode
from harness.record.run import RunFileError
from kpis.terms.claim import Verdict, VerdictBasis, VerdictState
from kpis.terms.comparison import Comparison, State
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import noise, pyperf, pytest_benchmark
from tests.harness.gating.test_gate_page import file, row


# https://github.com/dotnet/BenchmarkDotNet/issues/1242 and https://github.com/google/benchmark/issues/2039
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1.0", "null", '"0.01"'])
@pytest.mark.parametrize("tool", ["pyperf", "pytest-benchmark"])
def test_a_file_with_what_is_no_time_gives_no_verdict_but_a_place(number: str, tool: str, gate_from: Judged) -> None:
    make: Any = pyperf if tool == "pyperf" else pytest_benchmark
    text = json.dumps(make({"t": [*noise(20, seed=1), 0.0125]})).replace("0.0125", number)
    where = (
        r"\$\.benchmarks\[0\]\.runs\[20\]\.values" if tool == "pyperf" else r"\$\.benchmarks\[0\]\.stats\.data\[20\]"
    )
    with pytest.raises(FormatError, match=rf"b\.json .*{where}"):
        gate_from(make({"t": noise(20, seed=1)}), text.encode())


ROW = row(State.OK, ratio=1.0, low=0.9, high=1.1, pairs=16, smallest_visible=0.02, alpha=0.2)
FILE = file([ROW], Verdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES))


@pytest.mark.parametrize("name", ["ratio", "low", "high", "smallest_visible", "alpha"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_gate_file_is_not_written_with_what_is_no_number(name: str, number: float) -> None:
    assert json.load(BytesIO(encode(FILE)))["rows"][0][name] is not None
    with pytest.raises(RunFileError, match=rf"rows\[0\]\.{name}"):
        encode(replace(FILE, rows=[replace(ROW, **{name: number})]))


@pytest.mark.parametrize("name", ["ratio", "low", "high"])
def test_a_comparison_cannot_hold_what_is_no_number(name: str) -> None:
    with pytest.raises(ValueError, match=f"The {name} of a comparison is a finite number or None"):
        Comparison(State.OK, **{name: float("nan")})
