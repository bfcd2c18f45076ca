"""Any number of arms: each against the first, permutations over all labels, pass^k, dominance, and the front."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_compare_arms import ComparedArms, compare_arms
from harness.jobs.replay_compare_context import compare_contexts
from harness.jobs.replay_compare_file import encode_arms
from harness.jobs.replay_pass_k import pass_k_metric
from harness.record.replay import Replayed
from harness.record.replay_compare_schema import replay_compare_schema
from kpis.formulas.context.gates import GateState
from kpis.prices import shipped_prices
from tests.harness.jobs.context_runs import read, run
from tests.harness.jobs.session_files import SONNET, lines, put, verdicts
from tests.schema_check import faults

TABLE = shipped_prices()


def arm(folder: Path, *told: tuple[str, int, bool | None], prompt: int = 100) -> Replayed:
    """Runs of (case, replicate, passed), each with a price."""
    for case, replicate, passed in told:
        name = f"{case}.{replicate}"
        request = {"type": "request", "model": SONNET, "tokens": {"fresh_in": prompt, "cache_read": 0, "out_total": 10}}
        facts = {"type": "facts", "case_id": case, "replicate": replicate, "success": passed}
        head = {"schema": "loopladder.trace/1", "run_id": name}
        put(folder / f"{name}.jsonl", lines(head, request, facts))
    return replay([str(folder)], Asked(TABLE), processes=1)


def grid(folder: Path, passed: str, prompt: int = 100) -> Replayed:
    """An arm of cases with two replicates each: ``+`` passed, ``-`` failed, ``?`` was not judged."""
    said = {"+": True, "-": False, "?": None}
    return arm(folder, *((f"c{at // 2}", at % 2, said[each]) for at, each in enumerate(passed)), prompt=prompt)


@pytest.fixture
def found(tmp_path: Path) -> ComparedArms:
    """Of six blocks `b` passes five and `a` three; `c` is cheaper, and one of its runs is not judged."""
    return compare_arms({
        "a": grid(tmp_path / "a", "+-+-+-"),
        "b": grid(tmp_path / "b", "+++++-"),
        "c": grid(tmp_path / "c", "++-+?-", prompt=60),
    })  # fmt: skip


def test_each_arm_is_held_against_the_first(found: ComparedArms) -> None:
    assert [each.name for each in found.against] == ["b", "c"]
    b, c = (each.compared for each in found.against)
    assert (b.pairs, b.passed.table.both_pass, b.passed.table.candidate_only) == (6, 3, 2)
    assert b.passed.non_inferior is GateState.SATISFIED
    assert (c.passed.table.pairs, c.passed.table.reference_only, c.passed.unjudged) == (5, 1, 1)
    assert c.passed.non_inferior is GateState.VIOLATED


def test_labels_are_permuted_among_all_arms(found: ComparedArms) -> None:
    """By hand: in a block of three the two labels stand at six places, in one of two at two."""
    b = found.against[0].permuted
    assert b is not None
    assert (b.blocks, b.lacking, b.test.observed, b.test.exact) == (6, 1, 2, True)
    assert b.test.total == 6**5 * 2
    # Alike: blocks 1, 5 (of two) and 6. Blocks 2 and 4 (-++) and 3 (++-): -1, 0 and 1 at two places of six each, so
    # a sum of 2 or 3 has 3 + 1 of 27 ways.
    assert b.test.p == pytest.approx(4 / 27)


def test_pass_k_in_both_definitions(found: ComparedArms) -> None:
    a, b, c = found.standings
    assert [(each.k, each.windows.value, each.combinations.value) for each in a.pass_k] == [(1, 0.5, 0.5), (2, 0, 0)]
    assert b.pass_k[-1].windows.value == pytest.approx(2 / 3)
    assert (c.unjudged_cases, c.pass_k[0].windows.denominator) == (1, 4), "a case that nobody judged whole is left out"


def test_without_replicates_there_is_no_pass_k(tmp_path: Path) -> None:
    results = {name: arm(tmp_path / name, ("x", 0, True), ("y", 0, True)) for name in "ab"}
    assert {each.pass_k for each in compare_arms(results).standings} == {()}


def test_dominance_is_on_every_workload(tmp_path: Path, found: ComparedArms) -> None:
    b, c = found.against
    assert (b.parity, b.dominance, b.workloads) == (GateState.VIOLATED, GateState.VIOLATED, 3), "it is no cheaper"
    assert (c.parity, c.unknown) == (GateState.OPEN, 1), "one case of it is not judged"
    cheap = compare_arms({"a": grid(tmp_path / "a2", "++++"), "b": grid(tmp_path / "b2", "++++", prompt=50)})
    assert cheap.against[0].dominance is GateState.SATISFIED


@pytest.mark.parametrize(("second", "parity"), [("--++", "satisfied"), ("+-++", "satisfied"), ("--+-", "violated")])
def test_a_case_that_the_first_arm_never_passed_is_no_worse(second: str, parity: str, tmp_path: Path) -> None:
    arms = {"a": grid(tmp_path / "a", "--++"), "b": grid(tmp_path / "b", second, prompt=50)}
    (b,) = compare_arms(arms).against
    assert (b.parity.value, b.dominance.value, b.unknown) == (parity, parity, 0)


def test_a_case_that_nobody_judged_whole_stays_unknown(tmp_path: Path) -> None:
    arms = {"a": grid(tmp_path / "a", "--+-"), "b": grid(tmp_path / "b", "?-+-", prompt=50)}
    (b,) = compare_arms(arms).against
    assert (b.parity, b.unknown) == (GateState.OPEN, 1)


def test_what_stands_beside_the_cost_is_of_the_same_runs(tmp_path: Path) -> None:
    """The first arm has a third case, and two of its four attempts in common passed."""
    arms = {"a": grid(tmp_path / "a", "+--+++"), "b": grid(tmp_path / "b", "++++")}
    a, b = compare_arms(arms).standings
    assert (a.runs, a.attempts, a.judged, a.passed, a.success) == (6, 4, 4, 2, 0.5)
    assert (b.runs, b.attempts, b.judged, b.passed, b.success) == (4, 4, 4, 4, 1)


def test_a_transcript_has_no_gate_and_is_on_no_front(found: ComparedArms) -> None:
    assert (found.front.frontier, found.front.dominated, found.common) == ((), (), 6)
    assert "authority_loss_rate" in found.front.open["a"]
    assert found.front.open["c"][0] == "success"
    assert found.standings[0].cost == pytest.approx(6 * (100 * 3 + 10 * 15) / 1e6)


def test_a_front_of_runs_whose_gates_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gates = {"one": {}, "other": {}, "wrong": {"passed": False, "shown": ()}}
    arms = {}
    for name, told in gates.items():
        put(tmp_path / name / "r.jsonl", run(arm=name, **told))
        arms[name] = read(tmp_path / name)
    found = compare_arms(arms)
    assert "authority_loss_rate" in found.front.excluded["wrong"]
    assert {"one", "other"} <= found.front.open.keys(), "what is not recorded leaves an arm open"


def encoded(results: dict[str, Replayed], contexts: Any = None) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        encode_arms(compare_arms(results), contexts or [None] * (len(results) - 1), "t", 0)
    )
    return made


def test_the_file_is_as_published(tmp_path: Path) -> None:
    plain = {name: grid(tmp_path / name, "+-?+", prompt=90 + at) for at, name in enumerate("abc")}
    document = encoded(plain)
    assert faults(document, replay_compare_schema()) == []
    assert document["against_first"][0]["permutation"]["labellings"] == 6**3
    for name in ("one", "other"):
        put(tmp_path / name / "r.jsonl", run(arm=name))
    contexts = {name: read(tmp_path / name) for name in ("one", "other")}
    compared = compare_contexts(*(each.contexts for each in contexts.values()))
    document = encoded(contexts, [compared])
    assert faults(document, replay_compare_schema()) == []
    assert document["against_first"][0]["context"]["available"] == "satisfied"
    success = document["against_first"][0]["context"]["metrics"]["success"]["tally"]
    assert (success["wins"], success["ties"], success["losses"]) == (0, 1, 0)
    document["against_first"][0]["context"]["available"] = "yes"
    assert faults(document, replay_compare_schema()) != []


def test_what_explain_says_of_pass_k(tmp_path: Path) -> None:
    result = grid(tmp_path, "++-+?-")
    windows, subsets = (pass_k_metric(f"pass_k_{how}", result) for how in ("windows", "combinations"))
    assert windows is not None
    assert subsets is not None
    assert (windows.value, windows.numerator, windows.denominator, subsets.value) == (0.5, 1, 2, 0.5)
    assert windows.notes == (
        "At k 2, of 2 cases; by k 0.75 at 1, 0.5 at 2.",
        "Left out: cases with an attempt that nobody judged (1).",
    )
    assert pass_k_metric("context_regret_3", result) is None
    unjudged = pass_k_metric("pass_k_windows", arm(tmp_path / "u", ("x", 0, None)))
    assert unjudged is not None
    assert unjudged.undefined == "no case has all its attempts judged"


def test_the_published_sweep(cases: Path, tmp_path: Path) -> None:
    """Four arms of 24 cells, whose p and pass^k are published or follow exactly from the raw rows."""
    sweep = json.loads((cases / "context-metrics" / "results" / "sweep-96.json").read_bytes())
    rows = sweep["cells"] if isinstance(sweep, dict) else sweep
    for row in rows:
        name = f"{row['task_id']}.{row['replicate']}"
        told = verdicts(str(row["task_id"]), bool(row["reward"]), replicate=row["replicate"])
        put(tmp_path / row["arm"] / f"{name}.jsonl", told)
    arms = {
        name: replay([str(tmp_path / name)], Asked(TABLE), processes=1)
        for name in ("basic", "economy", "balanced", "quality")
    }
    found = compare_arms(arms)
    economy = found.against[0].permuted
    assert economy is not None
    assert (economy.blocks, economy.test.observed, economy.test.total) == (24, 3, 12**24)
    assert round(economy.test.p, 4) == 0.1612
    windows = {
        each.name: [(at.windows.numerator, at.windows.denominator) for at in each.pass_k] for each in found.standings
    }
    assert windows["economy"] == [(18, 24), (11, 18), (3, 6)]
    assert windows["quality"] == [(15, 24), (8, 18), (1, 6)]
