"""pytest-benchmark's files: one process a file, digests in place of parameters, summaries that are no samples."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats import pytest_benchmark_write
from harness.formats.limits import FormatError, Limits
from kpis.terms.bench import Bench, BenchFile, BenchNote, BenchTool, BenchUnit, MachineField, Process
from tests.harness.formats.benches import case, load, noise, pyperf, pytest_benchmark

needs_the_tool = pytest.mark.skipif(
    importlib.util.find_spec("pytest_benchmark") is None, reason="pytest-benchmark is not installed"
)


def test_the_rounds_of_a_file_are_one_process() -> None:
    read = case("pytest-data")
    (only,) = read.benches
    assert only.independent == 1
    assert only.processes[0].values == (1e-06, 2e-06, 2e-06, 4e-06)
    assert only.processes[0].loops == 100
    assert (only.name, only.fullname) == ("test_sum[one]", "test_x.py::test_sum[one]")
    assert (read.tool, read.tool_version) == (BenchTool.PYTEST_BENCHMARK, "5.3.1")


def test_the_machine_is_known_by_the_same_words_as_elsewhere() -> None:
    assert case("pytest-data").benches[0].machine == {
        MachineField.CPU_MODEL: "Model A",
        MachineField.CPU_COUNT: "2",
        MachineField.PYTHON_VERSION: "3.11.7",
        MachineField.PYTHON_IMPLEMENTATION: "CPython",
        MachineField.PLATFORM: "Linux-6.1-x86_64",
        MachineField.HOSTNAME: "box",
    }


def test_a_summary_is_no_sample() -> None:
    (only,) = case("pytest-summary").benches
    assert (only.independent, only.processes, only.notes) == (0, (), (BenchNote.NO_SAMPLES,))
    assert (only.reported["median"], only.reported["rounds"]) == (2e-06, 4)


def test_a_file_whose_every_bench_raised_holds_none() -> None:
    assert load(pytest_benchmark({})).benches == ()


def digest(params: object) -> str | None:
    return load(pytest_benchmark({"t.py::t": [1.0]}, params)).benches[0].params_digest


def test_parameters_become_a_digest_whatever_their_size() -> None:
    small, large = digest({"n": 1}), digest({"n": ["x" * 100] * 20_000})
    assert small is not None
    assert large is not None
    assert len(small) == len(large) == 64
    assert small != large


def test_the_order_and_the_addresses_of_parameters_do_not_count() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    at = "UNSERIALIZABLE[<job.Job object at 0x7f{}>]"
    assert digest({"job": at.format("aa00")}) == digest({"job": at.format("bb11")})
    assert digest(None) is None


def test_a_huge_file_is_refused_and_the_bench_named() -> None:
    document = pytest_benchmark({"t.py::small": [1.0], "t.py::huge": [1.0], "t.py::last": [1.0]})
    document["benchmarks"][1]["params"] = {"table": ["x" * 50] * 2_000}
    with pytest.raises(FormatError, match=r"file\.json: .*larger than 50,000 bytes.*t\.py::huge"):
        load(document, Limits(max_bytes=50_000))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("data", [1.0, float("nan")], r"not finite at \$\.benchmarks\[0\]\.stats\.data\[1\]"),
        ("data", [1.0, float("inf")], r"not finite at \$\.benchmarks\[0\]\.stats\.data\[1\]"),
        ("data", [1.0, None], r"\$\.benchmarks\[0\]\.stats\.data\[1\] must be a finite number"),
        ("data", [-1.0], r"data\[0\] must be a finite number of at least zero"),
        ("data", {"a": 1}, r"data must be a list of numbers"),
        ("iterations", 0, r"iterations must be a whole number of at least 1"),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(key: str, value: Any, said: str) -> None:
    document = pytest_benchmark({"t.py::t": [1.0]})
    document["benchmarks"][0]["stats"][key] = value
    with pytest.raises(FormatError, match=said):
        load(json.dumps(document))


def test_missing_keys_and_doubled_names_are_refused() -> None:
    document = pytest_benchmark({"t.py::t": [1.0]})
    del document["benchmarks"][0]["fullname"]
    with pytest.raises(FormatError, match=r"\$\.benchmarks\[0\]\.fullname is missing"):
        load(document)
    document = pytest_benchmark({"t.py::t": [1.0]})
    document["benchmarks"] *= 2
    with pytest.raises(FormatError, match=r"two benchmarks called t\.py::t"):
        load(document)


def test_control_characters_of_a_strangers_name_stay_out_of_messages() -> None:
    document = pytest_benchmark({"t.py::\x1b[31mred": [1.0]})
    document["benchmarks"] *= 2
    with pytest.raises(FormatError) as caught:
        load(document)
    assert "\x1b" not in str(caught.value)


names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=12)
rounds = st.lists(st.floats(min_value=0, max_value=1e100) | st.integers(0, 2**60), min_size=1, max_size=30).map(tuple)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(names, st.tuples(rounds, st.integers(1, 10**9)), min_size=1, max_size=4))
def test_no_value_is_lost_on_the_way_through_a_file(benches: dict[str, tuple[tuple[float, ...], int]]) -> None:
    file = BenchFile(
        BenchTool.PYTEST_BENCHMARK,
        "5.3.1",
        "2026-11-30T06:14:57+00:00",
        {},
        tuple(
            Bench(name, name, BenchUnit.SECOND, (Process(values, loops=loops),), params_digest="ab" * 32)
            for name, (values, loops) in benches.items()
        ),
    )
    back = load(pytest_benchmark_write.write(file))
    assert [bench.fullname for bench in back.benches] == list(benches)
    for bench, (values, loops) in zip(back.benches, benches.values(), strict=True):
        assert repr(bench.processes[0].values) == repr(values)
        assert bench.processes[0].loops == loops
        assert bench.params_digest == "ab" * 32


@pytest.mark.parametrize("name", ["pytest-data", "pytest-summary"])
def test_a_real_file_comes_back_whole(name: str) -> None:
    read = case(name)
    assert load(pytest_benchmark_write.write(read)) == read


def test_what_the_format_cannot_hold_is_said() -> None:
    read = case("pyperf-levels")
    lost = " ".join(pytest_benchmark_write.loses(read))
    assert "Which process a value came from is lost" in lost
    assert "Warm-ups" in lost
    assert "resident is left out: it is in byte" in lost
    back = load(pytest_benchmark_write.write(read))
    assert [bench.fullname for bench in back.benches] == ["café"]
    assert back.benches[0].independent == 1
    assert back.benches[0].processes[0].values == tuple(v for p in read.benches[0].processes for v in p.values)
    with pytest.raises(FormatError, match="no time in seconds"):
        pytest_benchmark_write.write(replace(read, benches=read.benches[1:]))


@needs_the_tool
def test_the_tool_shows_what_was_written(tmp_path: Path) -> None:
    paths = []
    for place, slower in (("0001_old", 1.0), ("0002_new", 2.0)):
        document = pyperf({"parse": [value * slower for value in noise(20, seed=1)]})
        paths.append(tmp_path / f"{place}.json")
        paths[-1].write_bytes(pytest_benchmark_write.write(load(document)))
    script = "from pytest_benchmark.cli import main; main()"
    command = [sys.executable, "-c", script, "compare", *map(str, paths), "--columns=median,rounds,outliers"]
    alone = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone, check=False)
    assert done.returncode == 0, done.stderr
    assert "benchmark: 2 tests" in done.stdout
    assert "(2.00)" in done.stdout


@needs_the_tool
def test_a_summary_equals_the_tools_own(tmp_path: Path) -> None:
    from pytest_benchmark.stats import Stats

    for n in range(1, 14):
        values = noise(n, seed=n, spread=0.3)
        stats = Stats()
        for value in values:
            stats.update(value)
        written = json.loads(pytest_benchmark_write.write(load(pyperf({"parse": values}))))["benchmarks"][0]["stats"]
        for key in ("min", "max", "mean", "stddev", "rounds", "median", "ops", "total"):
            assert written[key] == pytest.approx(getattr(stats, key)), key
        if n % 2 == 0:
            assert written["iqr"] == pytest.approx(stats.iqr)


@needs_the_tool
def test_what_the_tool_writes_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('n', [1, (2, 3)], ids=['one', 'two'])\n"
        "def test_sum(benchmark, n): benchmark(sum, [1, 2])\n"
        "def test_raises(benchmark): benchmark(lambda: 1 / 0)\n"
    )
    out = tmp_path / "out.json"
    options = ["--benchmark-min-rounds=3", "--benchmark-max-time=0.0001", f"--benchmark-json={out}"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(tmp_path),
        *options,
    ]
    alone = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_XDIST")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=alone, check=False)
    assert out.exists(), done.stdout + done.stderr
    read = load(out.read_bytes())
    assert [bench.name for bench in read.benches] == ["test_sum[one]", "test_sum[two]"]
    assert all(bench.independent == 1 and len(bench.processes[0].values) >= 3 for bench in read.benches)
    assert read.benches[0].params_digest != read.benches[1].params_digest
    assert MachineField.CPU_COUNT in read.benches[0].machine
