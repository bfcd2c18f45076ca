"""A gate that compared nothing, or less than it was given, never ends green, and each way to end has its own code."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.formats.limits import FormatError
from tests.harness.cli.own import Command
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import noise, pyperf, pytest_benchmark
from tests.harness.gating.test_gate_command import git

PARSE, PLAN = noise(40, seed=1), noise(40, seed=2)
SLOW = [value * 1.3 for value in noise(40, seed=3)]


# https://github.com/ophi-dev/antlr-rust-runtime/pull/6: "0 result(s)" and exit 0.
@pytest.mark.parametrize(
    ("base", "head"),
    [
        (pyperf({"parse": PARSE}), pyperf({"plan": PLAN})),
        (pyperf({"parse": PARSE, "plan": PLAN}), pyperf({"parse": PARSE})),
        (pytest_benchmark({}), pytest_benchmark({})),
        (pytest_benchmark({}), pytest_benchmark({"t.py::t": PARSE})),
        (pytest_benchmark({"t.py::t": PARSE}), pytest_benchmark({})),
    ],
    ids=["renamed", "removed", "both-empty", "base-empty", "head-empty"],
)
def test_what_has_no_partner_is_code_5_whatever_the_rest_says(base: object, head: object, gate_from: Judged) -> None:
    code, found = gate_from(base, head)
    assert code is Exit.UNCOVERED
    assert found["verdict"]["passed"] is not True


def test_a_file_against_itself_is_code_5(gate_from: Judged) -> None:
    code, found = gate_from(pyperf({"parse": PARSE}), pyperf({"parse": PARSE}))
    assert code is Exit.UNCOVERED
    assert found["verdict"]["passed"] is not True
    assert found["rows"] == []


def test_a_faster_neighbour_does_not_make_up_for_a_benchmark_that_has_gone(gate_from: Judged) -> None:
    """A comparison over the common names alone would be green here."""
    base = pyperf({"parse": PARSE, "plan": PLAN})
    code, found = gate_from(base, pyperf({"plan": [value / 2 for value in PLAN]}))
    assert code is Exit.UNCOVERED
    assert {row["name"]: row["state"] for row in found["rows"]} == {"parse": "removed", "plan": "improved"}
    assert "parse" in found["verdict"]["by"]


# https://github.com/bheisler/criterion.rs/issues/824: "has regressed" and exit 0.
# https://github.com/edtechre/pybroker/pull/287: one exit code for a regression and for an absent environment.
@pytest.mark.parametrize(
    ("head", "words", "code"),
    [
        (pyperf({"parse": noise(40, seed=5)}), (), Exit.OK),
        (pyperf({"parse": SLOW}), (), Exit.FAILED),
        (pyperf({"parse": SLOW[:5]}), (), Exit.UNKNOWN),
        (pyperf({"parse": SLOW[:5]}), ("--strict",), Exit.FAILED),
        (pyperf({"parse": SLOW}, cpu_model_name="Model B"), (), Exit.NO_BASELINE),
        (pyperf({"plan": SLOW}), (), Exit.UNCOVERED),
    ],
    ids=["ok", "regressed", "inconclusive", "strict", "no-baseline", "nothing"],
)
def test_every_verdict_has_an_exit_code_of_its_own(
    head: object, words: tuple[str, ...], code: Exit, gate_from: Judged
) -> None:
    found, document = gate_from(pyperf({"parse": PARSE}), head, *words)
    assert found is code
    assert document["verdict"]["passed"] is (code is Exit.OK)


def test_a_file_that_cannot_be_read_is_no_verdict(gate_from: Judged, loopladder: Command, tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        gate_from(b"[1, 2", pyperf({"parse": PARSE}))
    done = loopladder("gate", "--from", "a.json", "absent.json", cwd=tmp_path)
    assert done.returncode == Exit.UNUSABLE
    assert len(done.stderr.splitlines()) == 1


def test_the_codes_that_exist_are_the_codes_that_the_readme_explains(repo: Path) -> None:
    text = (repo / "README.md").read_text(encoding="utf-8").partition("## Exit codes")[2]
    told = {int(code) for cell in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE) for code in cell.split(",")}
    assert told == {int(code) for code in Exit}


def test_a_result_is_not_written_over_a_file_that_is_compared(loopladder: Command, tmp_path: Path) -> None:
    """What is judged would be gone after its judgement, and the next gate would compare a verdict."""
    for name, values in (("a", PARSE), ("b", SLOW)):
        (tmp_path / f"{name}.json").write_text(json.dumps(pyperf({"parse": values})))
    before = (tmp_path / "b.json").read_bytes()
    done = loopladder("gate", "--from", "a.json", "b.json", "--json", "./b.json", cwd=tmp_path)
    assert (done.returncode, "Name another file" in done.stderr) == (Exit.UNUSABLE, True)
    assert (tmp_path / "b.json").read_bytes() == before


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_nor_over_another_name_of_that_file(link: Callable[..., None], loopladder: Command, tmp_path: Path) -> None:
    for name, values in (("a", PARSE), ("b", SLOW)):
        (tmp_path / f"{name}.json").write_text(json.dumps(pyperf({"parse": values})))
    link(tmp_path / "a.json", tmp_path / "other.json")
    before = (tmp_path / "a.json").read_bytes()
    done = loopladder("gate", "--from", "a.json", "b.json", "--json", "other.json", cwd=tmp_path)
    assert (done.returncode, "Name another file" in done.stderr) == (Exit.UNUSABLE, True)
    assert (tmp_path / "other.json").read_bytes() == before


@pytest.mark.parametrize(("words", "code"), [((), Exit.UNCOVERED), (("--strict",), Exit.FAILED)])
def test_of_a_benchmark_that_has_gone_and_one_that_is_undecided_the_highest_code_applies(
    words: tuple[str, ...], code: Exit, gate_from: Judged
) -> None:
    """Strict makes the undecided one a 1, which stands above the 5 of the one that has gone."""
    found, _ = gate_from(pyperf({"parse": PARSE, "plan": PLAN}), pyperf({"parse": SLOW[:5]}), *words)
    assert found is code


def test_strict_makes_no_failure_of_what_has_gone_alone(gate_from: Judged) -> None:
    base = pyperf({"parse": PARSE, "plan": PLAN})
    assert gate_from(base, pyperf({"parse": noise(40, seed=5)}), "--strict")[0] is Exit.UNCOVERED
    other = pyperf({"parse": SLOW}, cpu_model_name="Model B")
    assert gate_from(pyperf({"parse": PARSE}), other, "--strict")[0] is Exit.NO_BASELINE


def test_the_file_says_what_margin_its_rows_were_held_to(gate_from: Judged) -> None:
    _, document = gate_from(pyperf({"parse": PARSE}), pyperf({"parse": SLOW}))
    assert document["delta"] == 0.02


def test_a_selection_in_which_nothing_gates_is_no_pass(loopladder: Command, repository: Path) -> None:
    """A row that only reports is selected, and nothing that could have failed was compared."""
    rows = repository / "bench" / "kpis.toml"
    rows.write_text(rows.read_text().replace('gate = "exact"', 'gate = "report"'))
    git(repository, "commit", "--quiet", "--all", "--message", "it reports")
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", "--json", "-", cwd=repository)
    file: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == Exit.UNCOVERED
    assert (file["rows"], file["verdict"]["basis"]) == ([], "no_rules")
