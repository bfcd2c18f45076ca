"""A stored file of another machine, interpreter or month is no baseline: refused by name, whatever its numbers say."""

from __future__ import annotations

from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.judge.comparable import MOST_DAYS
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import noise, pyperf, pytest_benchmark

# A base that another machine made three times slower than ours would be.
STALE = noise(40, seed=1, centre=0.03)
SLOWER = noise(40, seed=2, centre=0.023)
OURS = {"date": "2026-11-30 06:00:00"}


def only(found: dict[str, Any]) -> dict[str, Any]:
    (row,) = found["rows"]
    return dict(row)


# https://github.com/fhightower/ioc-finder/pull/411: a regression of 2.3 times passed against such a base.
# https://github.com/VowpalWabbit/vowpal_wabbit/pull/4957: a change of version was blocked, and the runner had changed.
@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("cpu_model_name", "cpu_model"),
        ("cpu_count", "cpu_count"),
        ("python_version", "python_version"),
        ("python_implementation", "python_implementation"),
        ("platform", "platform"),
    ],
)
def test_a_base_of_another_machine_neither_passes_nor_blocks(key: str, field: str, gate_from: Judged) -> None:
    code, found = gate_from(
        pyperf({"parse": STALE}, **{key: 4 if key == "cpu_count" else "other"}), pyperf({"parse": SLOWER})
    )
    assert code is Exit.NO_BASELINE
    assert only(found)["state"] == "no-baseline"
    assert only(found)["evidence"][0].startswith(f"{field} differs: ")
    assert only(found)["ratio"] is None
    assert found["verdict"]["by"] == ["parse"]


# https://github.com/o1-labs/proof-systems/pull/3593: +11.7 % with p = 0.00 on an identical binary.
@pytest.mark.parametrize("n", [20, 2_000])
def test_more_samples_of_another_processor_make_it_no_more_certain(n: int, gate_from: Judged) -> None:
    base, head = noise(n, seed=1), noise(n, seed=2, centre=0.0117)
    code, found = gate_from(pyperf({"parse": base}), pyperf({"parse": head}, cpu_model_name="Model B"))
    assert code is Exit.NO_BASELINE
    assert (only(found)["ratio"], only(found)["low"], only(found)["alpha"]) == (None, None, None)
    assert gate_from(pyperf({"parse": base}), pyperf({"parse": head}))[0] is Exit.FAILED, (
        "on one machine it is a change"
    )


@pytest.mark.parametrize(("created", "code"), [("2026-11-01", Exit.FAILED), ("2026-10-29 23:59:59", Exit.NO_BASELINE)])
def test_a_base_of_long_ago_has_lost_its_machine(created: str, code: Exit, gate_from: Judged) -> None:
    """What no file states moves too: a base of last season says nothing of today, on the same host."""
    slower = noise(40, seed=2, centre=0.013)
    done, found = gate_from(pyperf({"parse": noise(40, seed=1)}, date=created), pyperf({"parse": slower}, **OURS))
    assert done is code
    if code is Exit.NO_BASELINE:
        (said,) = only(found)["evidence"]
        assert said.startswith(f"date differs: {created[:10]} against 2026-11-30")
        assert f"{MOST_DAYS + 2} days lie between them" in said
        assert "measure the base again" in said


def test_a_date_that_only_one_side_states_is_not_taken_for_the_same(gate_from: Judged) -> None:
    code, found = gate_from(pyperf({"parse": STALE}), pyperf({"parse": SLOWER}, **OURS))
    assert code is Exit.NO_BASELINE
    assert only(found)["evidence"] == ["date differs: not stated against 2026-11-30"]


def test_the_age_of_a_file_of_pytest_benchmark_counts_as_well(gate_from: Judged) -> None:
    base, head = (pytest_benchmark({"t.py::t": noise(9, seed=1)}) for _ in range(2))
    base["datetime"], head["datetime"] = "2026-03-01T06:00:00.25+00:00", "2026-11-30T06:00:00Z"
    code, found = gate_from(base, head)
    assert code is Exit.NO_BASELINE
    assert "date differs: 2026-03-01 against 2026-11-30" in only(found)["evidence"][0]


def test_one_benchmark_of_another_machine_spoils_the_pass_of_the_others(gate_from: Judged) -> None:
    base = pyperf({"parse": noise(40, seed=1), "plan": noise(40, seed=2)})
    head = pyperf({"parse": noise(40, seed=3), "plan": noise(40, seed=4)})
    for side, model in ((base, "Model A"), (head, "Model B")):
        del side["metadata"]["cpu_model_name"]
        side["benchmarks"][0]["metadata"]["cpu_model_name"] = model
        side["benchmarks"][1]["metadata"]["cpu_model_name"] = "Model A"
    code, found = gate_from(base, head)
    assert code is Exit.NO_BASELINE
    assert {row["name"]: row["state"] for row in found["rows"]} == {"parse": "no-baseline", "plan": "ok"}
