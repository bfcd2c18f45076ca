"""The page of measured accuracy: what it tells of each detector, and what it does not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from harness.formats.labelled import SHIPPED
from harness.jobs.measure_accuracy import measure
from harness.judge.evaluation.predictive import miss_rate, ppv
from harness.record.accuracy import OURS
from harness.report.accuracy_page import accuracy_page

HEAD = '{"schema": "harness.corpus/1", "rule": "RULE", "labelling": "human-verified"}\n'


def corpus(folder: Path, **cases: tuple[int, int]) -> str:
    """The page on so many bad and good cases of each rule."""
    for rule, (bad, good) in cases.items():
        said = [("TODO 512-44-9871", True)] * bad + [("A sentence of its own.", False)] * good
        lines = [
            json.dumps({"id": str(at), "bad": label, "case": {"output": f"{text} {at}"}})
            for at, (text, label) in enumerate(said)
        ]
        (folder / f"{rule}.jsonl").write_text(HEAD.replace("RULE", rule) + "\n".join(lines), encoding="utf-8")
    return accuracy_page(measure(folder, "mine"))


@pytest.mark.parametrize(("cases", "lacks"), [((2, 0), "good"), ((0, 3), "bad")])
def test_a_detector_without_both_labels_is_unmeasured(tmp_path: Path, cases: tuple[int, int], lacks: str) -> None:
    page = corpus(tmp_path, no_pii=cases)
    (row,) = re.findall(r"^\| `no_pii` .*$", page, re.MULTILINE)
    assert row.endswith(f" | unmeasured: no {lacks} case | unmeasured: no {lacks} case | - |")
    assert "No detector has both bad and good cases" in page
    assert "Brier score of all" not in page


def test_an_unmeasured_detector_states_no_chance(tmp_path: Path) -> None:
    page = corpus(tmp_path, no_pii=(2, 2), no_stub_output=(5, 0))
    assert "without the 1 unmeasured detector; Brier score of all" in page
    counted = re.findall(r"^\| 0\.\d{3} to [01]\.\d{3} \| (\d+) \|", page, re.MULTILINE)
    assert sum(map(int, counted)) == 4


@pytest.mark.parametrize(
    ("cases", "told"), [((30, 30), False), ((29, 30), True), ((20, 40), False), ((19, 41), True), ((60, 10), True)]
)
def test_few_or_lopsided_cases_are_told(tmp_path: Path, cases: tuple[int, int], told: bool) -> None:
    page = corpus(tmp_path, no_pii=cases)
    assert (f"`no_pii` has {cases[0]} bad and {cases[1]} good." in page) is told


def test_what_is_kept_is_printed_and_not_rounded_again() -> None:
    measured = measure(SHIPPED, OURS)
    page = accuracy_page(measured)
    assert "Too few cases" not in page
    for one in measured.rules:
        for of in (ppv, miss_rate):
            worth = of(one.rule, measured.table.version, one.counts, 0.5)
            assert f"{worth.point:.4f} ({worth.low:.4f} to {worth.high:.4f})" in page
