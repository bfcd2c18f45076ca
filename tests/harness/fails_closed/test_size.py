"""Parameters and metadata of any size: digested, or refused by the name of what is too large; never copied out."""

from __future__ import annotations

import json

import pytest

from harness.cli.exits import Exit
from harness.formats.limits import FormatError, Limits
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import load, noise, pyperf, pytest_benchmark

ROUNDS = {"t.py::t[table]": noise(30, seed=1)}


# https://github.com/ionelmc/pytest-benchmark/issues/96: a file of 1.8 GB, parameters and all.
def test_a_parameter_of_a_megabyte_leaves_no_trace_but_its_digest(gate_from: Judged) -> None:
    table = ["a row of the table"] * 60_000
    code, found = gate_from(pytest_benchmark(ROUNDS, {"table": table}), pytest_benchmark(ROUNDS, {"table": table[1:]}))
    assert code is Exit.NO_BASELINE
    assert "params (their digest) differs" in found["rows"][0]["evidence"][0]
    assert len(json.dumps(found)) < 4_000
    again = pytest_benchmark({"t.py::t[table]": noise(30, seed=2)}, {"table": table})
    same, _ = gate_from(pytest_benchmark(ROUNDS, {"table": table}), again)
    assert same is Exit.UNKNOWN, "the same parameters are compared, and one process is too few"


@pytest.mark.parametrize("tool", ["pyperf", "pytest-benchmark"])
def test_what_is_too_large_is_refused_by_the_name_of_the_benchmark(tool: str) -> None:
    if tool == "pyperf":
        document = pyperf({"small": [1.0], "huge": [1.0] * 20_000, "last": [1.0]})
    else:
        document = pytest_benchmark({"small": [1.0], "huge": [1.0] * 20_000, "last": [1.0]})
    with pytest.raises(FormatError, match=r"file\.json: .*larger than 50,000 bytes.* belongs to huge.*`python -m "):
        load(document, Limits(max_bytes=50_000))


def test_a_name_that_is_no_name_of_a_benchmark_is_not_guessed() -> None:
    with pytest.raises(FormatError, match=r"file\.json: The input is larger than 1,000 bytes and was not read\.$"):
        load(b"[" + b"1," * 4_000 + b"1]", Limits(max_bytes=1_000))
