"""pyperf's files: merged on reading, accepted by pyperf on writing, refused with the path where they are wrong."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats import pyperf_metadata, pyperf_write, pytest_benchmark_write
from harness.formats.limits import FormatError, Limits
from kpis.terms.bench import Bench, BenchFile, BenchNote, BenchTool, BenchUnit, MachineField, Process
from kpis.terms.kpi import Direction
from tests.harness.formats.benches import CASES, case, load, noise, pyperf


def test_three_levels_of_metadata_are_merged_the_inner_one_wins() -> None:
    first = case("pyperf-levels").benches[0]
    assert [process.loops for process in (*first.calibrations, *first.processes)] == [1024, 1024, 2048]
    assert first.processes[0].metadata["cpu_model_name"] == "Model A"
    assert first.processes[0].metadata["tags"] == ("small", "fast")
    assert first.machine[MachineField.CPU_COUNT] == "2"


def test_a_run_that_calibrated_is_no_process() -> None:
    first = case("pyperf-levels").benches[0]
    assert first.independent == 2
    assert [len(process.warmups) for process in first.calibrations] == [3]


def test_values_are_the_numbers_of_the_file() -> None:
    first, second = case("pyperf-levels").benches
    assert first.processes[0].values == (5.538598632504055e-08, 5.6185516350559794e-08)
    assert first.processes[0].warmups == ((1024, 5.8533996580290015e-08),)
    assert second.unit is BenchUnit.BYTE
    assert second.processes[1].values == (9007199254740993,)  # a float would make it ...992


def test_the_file_is_dated_by_its_first_run() -> None:
    read = case("pyperf-levels")
    assert (read.created, read.tool, read.tool_version) == ("2026-11-30 06:14:55.288597", BenchTool.PYPERF, "2.11.0")


def test_packed_files_are_known_by_content() -> None:
    data = (CASES / "pyperf-levels.json").read_bytes()
    assert load(gzip.compress(data)) == load(data)


def test_a_damaged_or_bursting_package_is_refused() -> None:
    packed = gzip.compress((CASES / "pyperf-levels.json").read_bytes())
    with pytest.raises(FormatError, match="damaged gzip"):
        load(packed[:-9])
    with pytest.raises(FormatError, match="larger than 1,000 bytes"):
        load(gzip.compress(b" " * 1_000_000), Limits(max_bytes=1_000))


def broken(change: Any) -> str:
    """The document of the authored case as text, after ``change``."""
    document = json.loads((CASES / "pyperf-levels.json").read_text(encoding="utf-8"))
    change(document)
    return json.dumps(document)


def at(*keys: Any, value: Any) -> Any:
    """A change that puts ``value`` at a path."""

    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        if value is KeyError:
            del document[keys[-1]]
        else:
            document[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (("benchmarks", 0, "runs", 1, "values", 1), float("nan"), r"not finite at \$\.benchmarks\[0\]\.runs\[1\]\.val"),
        (("benchmarks", 0, "runs", 2, "values", 0), float("inf"), r"not finite at \$\.benchmarks\[0\]\.runs\[2\]\.val"),
        (("benchmarks", 0, "runs", 1, "values", 1), None, r"\$\.benchmarks\[0\]\.runs\[1\]\.values\[1\] must be"),
        (("benchmarks", 0, "runs", 1, "values", 0), 0.0, r"values\[0\] must be a finite number above zero"),
        (("benchmarks", 0, "runs", 1, "values", 0), -1.0, r"values\[0\] must be a finite number above zero"),
        (("benchmarks", 0, "runs", 1, "values", 0), 10**400, r"values\[0\] must be a finite number above zero"),
        (("benchmarks", 0, "runs", 1, "values", 0), True, r"values\[0\] must be a finite number above zero"),
        (("benchmarks", 0, "runs", 1, "values"), "1.0", r"runs\[1\]\.values must be a list of numbers"),
        (("benchmarks", 0, "runs", 2, "values"), KeyError, r"runs\[2\] has neither values nor warmups"),
        (
            ("benchmarks", 0, "runs", 0, "warmups", 1),
            [0, 1.0],
            r"warmups\[1\]\[0\] must be a whole number of at least 1",
        ),
        (("benchmarks", 0, "runs", 0, "warmups", 1), [1], r"warmups\[1\] must be a pair"),
        (("benchmarks", 1, "runs"), KeyError, r"\$\.benchmarks\[1\]\.runs is missing"),
        (("benchmarks", 0, "runs"), [], r"at least one run"),
        (("benchmarks",), [], r"at least one benchmark"),
        (("benchmarks", 0, "metadata", "name"), KeyError, r"metadata\.name must be a name"),
        (("benchmarks", 0, "metadata", "loops"), 1.5, r"metadata\.loops must be a whole number"),
        (("benchmarks", 0, "metadata", "date"), {"a": 1}, r"metadata\.date must be a text, a number or a list"),
        (("metadata", "unit"), "minute", r"metadata\.unit must be second, byte or integer"),
        (("metadata", "direction"), "up", r"metadata\.direction must be lower, higher or neutral"),
        (("benchmarks", 1, "metadata", "name"), "café", r"two benchmarks called café"),
        (("version",), 6, r"version 6, and 1\.0 is read; rewrite it with `python -m pyperf convert"),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(keys: tuple[Any, ...], value: Any, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        load(broken(at(*keys, value=value)))
    assert str(caught.value).startswith("file.json")


def test_a_number_beyond_the_range_of_floats_is_infinite() -> None:
    text = (CASES / "pyperf-levels.json").read_text(encoding="utf-8").replace("5.434042357754798e-08", "1e999")
    with pytest.raises(FormatError, match=r"not finite at \$\.benchmarks\[0\]\.runs\[2\]\.values\[0\]"):
        load(text)


@pytest.mark.parametrize("key", ["cpu_model_name", "python_version", "hostname", "unit"])
def test_runs_of_two_machines_are_not_one_sample(key: str) -> None:
    other = {"cpu_model_name": "Model B", "python_version": "3.12", "hostname": "b", "unit": "byte"}[key]
    with pytest.raises(FormatError, match=rf"runs\[1\] differs from runs\[0\] in {key}"):
        load(broken(at("benchmarks", 0, "runs", 1, "metadata", key, value=other)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("café".encode("cp1252"), "not UTF-8 at byte 3"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b'{"version": "1.0", "bench', "cut short"),
        (b"", "not JSON"),
        (b"[" * 100 + b"]" * 100, "nests deeper than 64"),
        (b"{}", "none of the known formats"),
        (b"[]", "none of the known formats"),
        (b'{"schema": "harness.run/1", "readings": []}', r"the folder of its name that ends in \.samples"),
    ],
)
def test_foreign_encodings_and_torn_files_are_sentences(data: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        load(data)


def test_a_byte_order_mark_is_passed_over() -> None:
    data = (CASES / "pyperf-levels.json").read_bytes()
    assert load(b"\xef\xbb\xbf" + data) == load(data)


def following(gap_s: float) -> Bench:
    """24 runs of .5 s, each beginning ``gap_s`` after the end of the one before."""
    document = pyperf({"parse": noise(24, seed=1)})
    for step, run in enumerate(document["benchmarks"][0]["runs"]):
        began = datetime(2026, 11, 30, 6, 0) + timedelta(seconds=step * (0.5 + gap_s))
        run["metadata"] = {"date": began.isoformat(sep=" "), "duration": 0.5}
    return load(document).benches[0]


def test_runs_made_in_one_process_count_as_one() -> None:
    assert (following(0.0002).notes, following(0.0002).independent) == ((BenchNote.SHARED_PROCESS,), 1)
    assert (following(0.06).notes, following(0.06).independent) == ((), 24)
    assert following(-0.45).independent == 24  # alive together: two processes for sure
    stamp = {"date": "2026-11-30 06:00:00", "duration": 0.001}
    assert load(pyperf({"parse": noise(24, seed=1)}, **stamp)).benches[0].independent == 24


def test_the_workers_of_pyperf_are_processes(tmp_path: Path) -> None:
    script, target = tmp_path / "bench.py", tmp_path / "out.json"
    script.write_text("import pyperf\npyperf.Runner(values=1, warmups=0, processes=6).bench_func('sum', sum, (1, 2))\n")
    command = [sys.executable, str(script), "-q", "-o", str(target), "--min-time", "1e-4"]
    subprocess.run(command, check=True, capture_output=True)
    assert load(target.read_bytes()).benches[0].independent == 6


finite = st.floats(min_value=1e-300, max_value=1e300)
amounts = st.lists(finite | st.integers(1, 2**60), min_size=1, max_size=4).map(tuple)
warmups = st.lists(st.tuples(st.integers(1, 2**40), st.floats(min_value=0, max_value=1e300)), max_size=3).map(tuple)
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8).filter(str.strip)
facts = st.dictionaries(
    words.filter(lambda key: key not in pyperf_metadata.RESERVED),
    words | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False),
    max_size=3,
)


@st.composite
def files(draw: st.DrawFn) -> BenchFile:
    """A pyperf file of any shape that pyperf could write."""
    benches = []
    for name in draw(st.lists(words, min_size=1, max_size=3, unique=True)):
        unit = draw(st.sampled_from(BenchUnit))
        processes = draw(
            st.lists(st.builds(Process, amounts, warmups, st.integers(1, 2**40), facts), min_size=1, max_size=4)
        )
        benches.append(Bench(name, name, unit, tuple(processes), direction=draw(st.sampled_from(Direction))))
    return BenchFile(BenchTool.PYPERF, None, None, {}, tuple(benches))


@settings(max_examples=150, deadline=None)
@given(files())
def test_no_value_is_lost_on_the_way_through_a_file(file: BenchFile) -> None:
    written = pyperf_write.write(file)
    back = load(written)
    for before, after in zip(file.benches, back.benches, strict=True):
        assert (after.fullname, after.unit, after.direction) == (before.fullname, before.unit, before.direction)
        for one, two in zip(before.processes, after.processes, strict=True):
            assert repr(one.values) == repr(two.values)  # 1 and 1.0 are not the same number of a file
            assert (one.warmups, one.loops) == (two.warmups, two.loops)
            assert {key: two.metadata[key] for key in one.metadata} == one.metadata
    assert pyperf_write.write(back) == written


def test_a_real_file_comes_back_whole() -> None:
    read = case("pyperf-levels")
    assert load(pyperf_write.write(read)) == read


def test_pyperf_accepts_what_was_written(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    slow = [value * 1.5 for value in noise(20, seed=1)]
    old.write_bytes(pyperf_write.write(load(pyperf({"café": noise(20, seed=2), "b": noise(20, seed=3)}))))
    new.write_bytes(pyperf_write.write(load(pyperf({"café": slow, "b": noise(20, seed=3)}))))
    stats = run_pyperf("stats", old)
    assert stats.count("Total number of values: 20") == 2
    assert "café" in stats
    assert "1.5" in run_pyperf("compare_to", old, new)


def run_pyperf(*words: object) -> str:
    command = [sys.executable, "-X", "utf8", "-m", "pyperf", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pytest_benchmark_file_becomes_one_run(tmp_path: Path) -> None:
    read = case("pytest-data")
    target = tmp_path / "converted.json"
    target.write_bytes(pyperf_write.write(read))
    assert "Mean +- std dev: 2.25 us" in run_pyperf("stats", target)
    back = load(target.read_bytes())
    assert (back.tool, back.tool_version) == (BenchTool.PYTEST_BENCHMARK, "5.3.1")
    assert back.benches[0].independent == 1
    assert back.benches[0].processes[0].values == read.benches[0].processes[0].values
    assert back.benches[0].processes[0].loops == 100
    assert back.benches[0].machine == read.benches[0].machine
    assert back.benches[0].params_digest == read.benches[0].params_digest
    assert "own summary" in " ".join(pyperf_write.loses(read))


def test_what_pyperf_cannot_hold_is_refused_in_a_sentence() -> None:
    summary = case("pytest-summary")
    assert "holds values only" in " ".join(pyperf_write.loses(summary))
    with pytest.raises(FormatError, match="no value to write"):
        pyperf_write.write(summary)
    one = case("pytest-data").benches[0]
    frozen = replace(one, processes=(Process((0.0, 1.0)),))
    with pytest.raises(FormatError, match="value of zero"):
        pyperf_write.write(replace(summary, benches=(frozen,)))
    with pytest.raises(FormatError, match="no name for pyperf"):
        pyperf_write.write(replace(summary, benches=(replace(one, fullname="a\nb"),)))
    with pytest.raises(FormatError, match=r"not finite"):
        pyperf_write.write(replace(summary, benches=(replace(one, processes=(Process((float("inf"),)),)),)))


def test_a_file_written_twice_over_both_formats_keeps_its_values() -> None:
    read = case("pytest-data")
    there = load(pyperf_write.write(read))
    back = load(pytest_benchmark_write.write(there))
    assert back.benches[0].processes == read.benches[0].processes


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in places(each, (*path, key)))][0 if path else 1 :]


strange = st.sampled_from([None, True, -1, 0, 1.5, "", "a\nb", [], {}, [[]], {"a": {}}, [None], 10**400, "second"])


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["pyperf-levels", "pytest-data"]), st.data())
def test_a_strange_value_anywhere_is_read_or_refused_and_never_more(name: str, data: st.DataObject) -> None:
    document = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    at(*data.draw(st.sampled_from(places(document))), value=data.draw(strange))(document)
    try:
        file = load(document)
    except FormatError as error:
        assert "file.json" in str(error)
        return
    assert all(process.values for bench in file.benches for process in bench.processes)
    for writer in (pyperf_write, pytest_benchmark_write):
        try:
            assert len(load(writer.write(file)).benches) <= len(file.benches)
        except FormatError as error:
            assert "file.json" not in str(error)  # what was written can be read
