"""Two files of another tool, from bytes on disk to rows: nothing drops out, and nothing compared is said."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from harness.formats.limits import FormatError
from harness.jobs.compare_files import Compared, compare
from kpis.terms.comparison import State
from tests.harness.formats.benches import CASES, noise, pyperf, pytest_benchmark


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    """Compare two documents by way of files."""

    def run(base: object, head: object) -> Compared:
        for name, document in (("a", base), ("b", head)):
            (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        return compare(tmp_path / "a.json", tmp_path / "b.json")

    return run


def states(compared: Compared) -> dict[str, State]:
    return {row.name: row.comparison.state for row in compared.rows}


def test_a_slowdown_is_a_row_and_the_others_are_ok(judged: Any) -> None:
    slow = [value * 1.2 for value in noise(40, seed=3)]
    found = judged(
        pyperf({"parse": noise(40, seed=1), "plan": noise(40, seed=2)}),
        pyperf({"plan": slow, "parse": noise(40, seed=4)}),
    )
    assert states(found) == {"parse": State.OK, "plan": State.REGRESSED}
    assert [row.name for row in found.rows] == ["parse", "plan"]
    assert (found.coverage.wanted, found.coverage.seen, found.coverage.missing) == (2, 2, ())
    assert "one after the other" in " ".join(found.notices)


def test_a_renamed_benchmark_is_removed_and_new_even_if_it_is_slower(judged: Any) -> None:
    found = judged(
        pyperf({"parse": noise(40, seed=1), "plan": noise(40, seed=2)}),
        pyperf({"parse_all": [value * 4 for value in noise(40, seed=1)], "plan": noise(40, seed=5)}),
    )
    assert states(found) == {"parse": State.REMOVED, "plan": State.OK, "parse_all": State.NEW}
    assert found.coverage.missing == ("parse",)
    assert not found.coverage.complete


def test_no_match_is_nothing_compared(judged: Any) -> None:
    found = judged(pyperf({"a": noise(40, seed=1)}), pyperf({"b": noise(40, seed=1)}))
    assert states(found) == {"a": State.REMOVED, "b": State.NEW}
    assert found.coverage.seen == 0
    assert "nothing was compared" in found.notices[0]


def test_a_bench_that_raised_in_the_head_is_removed(judged: Any) -> None:
    found = judged(pytest_benchmark({"t.py::a": [1.0], "t.py::b": [1.0]}), pytest_benchmark({"t.py::a": [1.0]}))
    assert states(found) == {"t.py::a": State.INCONCLUSIVE, "t.py::b": State.REMOVED}


def test_two_empty_files_compare_nothing(judged: Any) -> None:
    found = judged(pytest_benchmark({}), pytest_benchmark({}))
    assert (found.rows, found.coverage.seen) == ((), 0)
    assert "nothing was compared" in found.notices[0]


def test_a_file_of_pytest_benchmark_is_one_process_whatever_its_rounds(judged: Any) -> None:
    found = judged(
        pytest_benchmark({"t.py::t": noise(5_000, seed=1)}),
        pytest_benchmark({"t.py::t": noise(5_000, seed=2, centre=0.1)}),
    )
    (row,) = found.rows
    assert (row.comparison.state, row.comparison.pairs) == (State.INCONCLUSIVE, 1)
    assert row.comparison.ratio == pytest.approx(10, rel=0.01)


def test_another_machine_is_no_baseline(judged: Any) -> None:
    found = judged(
        pyperf({"parse": noise(40, seed=1)}),
        pyperf({"parse": noise(40, seed=2, centre=0.001)}, cpu_model_name="Model B", hostname="other"),
    )
    (row,) = found.rows
    assert row.comparison.state is State.NO_BASELINE
    assert row.comparison.evidence == ("cpu_model differs: Model A against Model B",)
    assert found.coverage.missing == ("parse",)


def test_files_of_two_tools_are_no_baseline(judged: Any) -> None:
    found = judged(pyperf({"t.py::t": noise(40, seed=1)}), pytest_benchmark({"t.py::t": noise(40, seed=2)}))
    (row,) = found.rows
    assert row.comparison.state is State.NO_BASELINE
    assert "tool differs: pyperf against pytest-benchmark" in row.comparison.evidence[0]


def test_milliseconds_against_seconds_cannot_be_written_and_other_units_are_refused(judged: Any) -> None:
    found = judged(
        pyperf({"rate": noise(40, seed=1)}, unit="second"), pyperf({"rate": noise(40, seed=1)}, unit="integer")
    )
    assert found.rows[0].comparison.state is State.NO_BASELINE
    with pytest.raises(FormatError, match="must be second, byte or integer"):
        judged(pyperf({"rate": [1.0]}, unit="ms"), pyperf({"rate": [1.0]}))


def test_operations_a_second_are_better_when_higher(judged: Any) -> None:
    rate = {"unit": "integer", "direction": "higher"}
    faster = pyperf({"rate": [value * 1.3 for value in noise(40, seed=2)]}, **rate)
    found = judged(pyperf({"rate": noise(40, seed=1)}, **rate), faster)
    assert states(found) == {"rate": State.IMPROVED}


@pytest.mark.parametrize("other", ["same", "link", "hard", "copy", "packed", "indented"])
def test_a_file_against_itself_compares_nothing(other: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_bytes(blob := (CASES / "pyperf-levels.json").read_bytes())
    match other:
        case "same":
            second = first
        case "link":
            second.symlink_to(first)
        case "hard":
            second.hardlink_to(first)
        case "copy":
            second.write_bytes(blob)
        case "packed":
            second.write_bytes(gzip.compress(blob))
        case "indented":
            second.write_text(json.dumps(json.loads(blob), indent=3))
    found = compare(first, second)
    assert (found.rows, found.coverage.seen) == ((), 0)
    assert "against itself" in found.notices[0]


def test_equal_numbers_of_two_measurements_are_compared_and_said(judged: Any) -> None:
    values = noise(40, seed=1)
    found = judged(pyperf({"parse": values}), {**pyperf({"parse": values}), "more": "another file"})
    assert states(found) == {"parse": State.OK}
    assert "the same numbers" in " ".join(found.notices)


def test_swapped_files_and_other_versions_are_said(judged: Any) -> None:
    def dated(day: int, version: str) -> object:
        return pyperf({"a": noise(40, seed=day)}, date=f"2026-11-{day} 06:00:00", perf_version=version)

    said = " ".join(judged(dated(30, "2.11.0"), dated(29, "2.10.0")).notices)
    assert "The base file is the later one" in said
    assert "different versions of pyperf: 2.11.0 and 2.10.0" in said


def test_what_cannot_be_read_is_a_sentence_that_names_the_file(tmp_path: Path) -> None:
    there = CASES / "pyperf-levels.json"
    with pytest.raises(FormatError, match=r"cannot be read: No such file"):
        compare(there, tmp_path / "absent.json")
    with pytest.raises(FormatError, match="Is a directory"):
        compare(tmp_path, there)
    torn = tmp_path / "torn.json"
    torn.write_bytes(there.read_bytes()[:-30])
    with pytest.raises(FormatError, match=r"torn\.json is not JSON.*cut short"):
        compare(there, torn)
