"""What a gate takes from an interrupted one: pairs and loops that hold; the rest is measured again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from harness.gating import timed as timing
from harness.gating.kept import kept_holds
from harness.jobs import gate as job
from harness.measure.pairs import Pair
from harness.record.store import StoreError
from kpis.terms.comparison import ComparisonWarn
from tests.harness.gating.test_gate_command import repository as repository
from tests.harness.gating.test_gate_flow import edited as edited
from tests.harness.gating.test_gate_flow import gated
from tests.harness.gating.test_gate_flow import quick as quick

SIX = [1.0] * 6
PAIR: dict[str, Any] = {
    "wall": {"base": SIX, "head": SIX},
    "cpu": {"base": SIX, "head": [0.0] * 6},
    "displaced": {"base": 0, "head": 3},
    "left": 0,
    "seconds": 0.5,
}
VOID = {"void": ["head", "error", "It broke."]}


def test_what_was_kept_holds() -> None:
    assert kept_holds("pair k 0 34", PAIR)
    assert kept_holds("calibrate k", {"loops": 34})
    assert kept_holds("pair k 0 34", VOID)
    assert kept_holds("calibrate k", VOID)


SPOILT_PAIRS: list[Any] = [
    {},
    None,
    5,
    [],
    *({name: part for name, part in PAIR.items() if name != left} for left in PAIR),
    *(
        {**PAIR, "wall": {"base": SIX, "head": head}}
        for head in ([], [0.0] * 6, [float("nan")] * 6, ["1"] * 6, "111111", None, SIX[1:], [-1.0] * 6, [5e-324] * 6)
    ),
    {**PAIR, "cpu": {"base": SIX, "head": [-1.0] * 6}},
    {**PAIR, "wall": {"base": SIX}},
    {**PAIR, "displaced": {"base": 0, "head": 0.5}},
    {**PAIR, "seconds": "long"},
    {**PAIR, "left": -1},
    *({"void": void} for void in (["head"], [], None, "abc", ["both", "error", "x"], ["head", 5, "x"])),
]


@pytest.mark.parametrize("answer", SPOILT_PAIRS)
def test_a_pair_that_was_tampered_with_is_none(answer: Any) -> None:
    assert not kept_holds("pair k 0 34", answer)


@pytest.mark.parametrize("loops", [0, -1, 10**30, 1.0, "34", None, True, float("nan")])
def test_loops_that_were_tampered_with_are_none(loops: Any) -> None:
    assert not kept_holds("calibrate k", {"loops": loops})


def _interrupted(edited: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as patch:

        def full(*_words: object, **_more: object) -> None:
            raise StoreError("The disk is full.")

        patch.setattr(job, "write_atomic", full)
        found = gated(edited)
    assert str(found.trouble) == "The disk is full."
    (journal,) = edited.glob(".harness/runs/*.journal")
    return journal


def test_a_resumed_gate_measures_again_what_does_not_hold(
    edited: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = _interrupted(edited, monkeypatch)
    first, *entries = journal.read_text().splitlines()
    spoilt = []
    for number, entry in enumerate(map(json.loads, entries)):
        if number in (0, 2, 5):
            entry["answer"] = {"loops": 10**30, "wall": {"base": [], "head": []}}
        spoilt.append(json.dumps(entry))
    spoilt += [json.dumps({"did": 5, "answer": PAIR}), json.dumps({"did": ["x"]})]
    journal.write_text("\n".join([first, *spoilt]) + "\n")
    again = []
    real = timing.run_pair

    def counted(*words: Any, **more: Any) -> Pair:
        again.append(more)
        return real(*words, **more)

    monkeypatch.setattr(timing, "run_pair", counted)
    assert gated(edited, resume=True).file.verdict.passed
    assert len(again) == 2


@pytest.mark.parametrize("changes", [{"argv": 5}, {"seed": "x"}, {"seed": None}])
def test_a_header_that_does_not_hold_is_no_interrupted_gate(
    changes: dict[str, Any], edited: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = _interrupted(edited, monkeypatch)
    first, *entries = journal.read_text().splitlines()
    header = {name: part for name, part in {**json.loads(first), **changes}.items() if part is not None}
    journal.write_text("\n".join([json.dumps(header), *entries]) + "\n")
    with pytest.raises(StoreError, match="no interrupted gate"):
        gated(edited, resume=True)


def test_a_row_says_what_its_pairs_left_behind(edited: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = timing.run_pair

    def littered(*words: Any, **more: Any) -> Pair:
        pair = real(*words, **more)
        pair.left = 2
        return pair

    monkeypatch.setattr(timing, "run_pair", littered)
    (row,) = (row for row in gated(edited).file.rows if row.kpi == "work_ns")
    (said,) = (notice.message for notice in row.warnings if notice.code is ComparisonWarn.LEFTOVER)
    assert said.startswith(f"{2 * row.pairs} processes")


def test_a_name_that_is_no_text_is_part_of_the_head(edited: Path, quick: None) -> None:
    (edited / "odd").mkdir()
    (edited / "odd" / os.fsdecode(b"\xff\xfe.txt")).write_text("x")
    assert gated(edited).file.verdict.passed
